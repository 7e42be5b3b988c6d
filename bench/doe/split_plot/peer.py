"""The same split-plot problems by pyoptex (coordinate exchange), as a Markdown table.

The value is computed here from the design that came out: 100 |X' V^-1 X|^(1/p) / n, V = I + Z Z'.
"""

import contextlib
import io
import itertools
import sys
import time

import numpy as np
from pyoptex._seed import set_seed
from pyoptex.doe.fixed_structure import Factor
from pyoptex.doe.fixed_structure.splitk_plot import (
    Plot,
    create_parameters,
    create_splitk_plot_design,
    default_fn,
)
from pyoptex.doe.fixed_structure.splitk_plot.metric import Dopt
from pyoptex.utils.model import model2Y2X, partial_rsm_names

PROBLEMS = [
    (1, 2, "quadratic", 4, 12),
    (1, 2, "quadratic", 5, 20),
    (1, 2, "quadratic", 7, 21),
    (2, 2, "quadratic", 7, 21),
    (2, 2, "quadratic", 8, 32),
    (1, 4, "quadratic", 6, 30),
    (2, 3, "quadratic", 10, 40),
    (2, 3, "interactions", 8, 32),
    (3, 4, "quadratic", 12, 48),
]
EFFECTS = {"quadratic": "quad", "interactions": "tfi"}


def value(design, whole_plots, model):
    n, k = design.shape
    columns = [np.ones(n)] + [design[:, f] for f in range(k)]
    columns += [design[:, f] * design[:, g] for f, g in itertools.combinations(range(k), 2)]
    if model == "quadratic":
        columns += [design[:, f] ** 2 for f in range(k)]
    x = np.stack(columns, axis=1)
    plot = np.arange(n) // (n // whole_plots)
    v = np.eye(n) + (plot[:, None] == plot[None, :])
    sign, log_det = np.linalg.slogdet(x.T @ np.linalg.solve(v, x))
    return 100 * np.exp(log_det / x.shape[1]) / n if sign > 0 else 0.0


def search(hard, easy, model, whole_plots, runs, levels, tries):
    set_seed(1)
    easy_plot = Plot(level=0, size=runs // whole_plots)
    hard_plot = Plot(level=1, size=whole_plots)
    values = np.linspace(-1, 1, levels)
    factors = [
        Factor(f"x{f + 1}", hard_plot if f < hard else easy_plot, type="continuous", levels=values)
        for f in range(hard + easy)
    ]
    terms = partial_rsm_names({str(f.name): EFFECTS[model] for f in factors})
    parameters = create_parameters(factors, default_fn(factors, Dopt(), model2Y2X(terms, factors)))
    began = time.time()
    with contextlib.redirect_stderr(io.StringIO()):
        design, _ = create_splitk_plot_design(parameters, n_tries=tries)
    seconds = time.time() - began
    return value(design.to_numpy(dtype=float), whole_plots, model), seconds


def main():
    search(*PROBLEMS[0], levels=3, tries=1)  # compiles
    print("|hard, easy|model|whole plots|runs|three levels, 10 tries|s|300 tries|s|21 levels, 30 tries|s|")
    print("|-|-|-|-|-|-|-|-|-|-|")
    for problem in PROBLEMS:
        print("|{}, {}|{}|{}|{}|".format(*problem), end="")
        for levels, tries in ((3, 10), (3, 300), (21, 30)):
            found, seconds = search(*problem, levels, tries)
            print(f"{found:.4f}|{seconds:.1f}|", end="")
            sys.stdout.flush()
        print()


main()

#!/usr/bin/env python3
"""D-optimal designs by doetune and by other packages, side by side, as a Markdown table.

usage: compare.py DOETUNE

Quadratic models on [-1, 1]^K. Each value is computed here from the design that came out:
100 |X'X|^(1/p) / n. The packages run in one process each turn, one after the other.
"""
import contextlib
import csv
import io
import itertools
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

PROBLEMS = [(2, 6), (3, 10), (4, 15), (5, 30)]
TRIES = 100  # of pyoptex; dexpy tries once a call and is called as often


def value(design):
    n, k = design.shape
    columns = [np.ones(n)] + [design[:, f] for f in range(k)]
    columns += [design[:, f] * design[:, g]
                for f, g in itertools.combinations_with_replacement(range(k), 2)]
    x = np.stack(columns, axis=1)
    sign, log_det = np.linalg.slogdet(x.T @ x)
    return 100 * np.exp(log_det / x.shape[1]) / n if sign > 0 else 0.0


def doetune(program, k, n):
    with tempfile.TemporaryDirectory() as directory:
        factors = "".join(f"  x{f + 1}: {{low: -1, high: 1, step: 0.00001}}\n" for f in range(k))
        study = pathlib.Path(directory) / "s.yaml"
        study.write_text(f"seed: 1\ncommand: [/bin/true]\nfactors:\n{factors}model: quadratic\n"
                         f"design: {{type: d-optimal, runs: {n}}}\nresponses: {{y: {{}}}}\n")
        subprocess.run([program, "plan", study, "-o", f"{directory}/s"], check=True,
                       capture_output=True)
        with open(f"{directory}/s/plan.csv") as plan:
            return np.array([[float(row[f"x{f + 1}"]) for f in range(k)]
                             for row in csv.DictReader(plan)])


def pyoptex(k, n):
    from pyoptex._seed import set_seed
    from pyoptex.doe.fixed_structure import Factor
    from pyoptex.doe.fixed_structure.splitk_plot import (
        Plot, create_parameters, create_splitk_plot_design, default_fn)
    from pyoptex.doe.fixed_structure.splitk_plot.metric import Dopt
    from pyoptex.utils.model import model2Y2X, partial_rsm_names
    set_seed(1)
    plot = Plot(level=0, size=n)
    factors = [Factor(f"x{f + 1}", plot, type="continuous", levels=np.linspace(-1, 1, 21))
               for f in range(k)]
    terms = partial_rsm_names({str(f.name): "quad" for f in factors})
    parameters = create_parameters(factors, default_fn(factors, Dopt(), model2Y2X(terms, factors)))
    design, _ = create_splitk_plot_design(parameters, n_tries=TRIES)
    return design.to_numpy(dtype=float)


def dexpy(k, n):
    from dexpy.model import ModelOrder
    from dexpy.optimal import build_optimal
    designs = [build_optimal(k, order=ModelOrder.quadratic, run_count=n).to_numpy(dtype=float)
               for _ in range(TRIES)]
    return max(designs, key=value)


def timed(search, *arguments):
    began = time.time()
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            design = search(*arguments)
    except Exception as error:  # a package that does not work here is a fact of the table
        return f"fails: {type(error).__name__}", time.time() - began
    return f"{value(design):.4f}", time.time() - began


def main():
    timed(pyoptex, 2, 6)  # compiles
    print(f"|K|n|doetune|seconds|pyoptex, {TRIES} tries|seconds|dexpy, best of {TRIES}|seconds|")
    print("|-|-|-|-|-|-|-|-|")
    for k, n in PROBLEMS:
        cells = []
        for text, seconds in (timed(doetune, sys.argv[1], k, n), timed(pyoptex, k, n),
                              timed(dexpy, k, n)):
            cells += [text, f"{seconds:.2f}"]
        print(f"|{k}|{n}|" + "|".join(cells) + "|", flush=True)


if __name__ == "__main__":
    main()

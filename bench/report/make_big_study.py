#!/usr/bin/env python3
"""Writes a study file and its runs: by default 1,000 runs, 10 factors (one categorical), 8 responses.

usage: make_big_study.py FOLDER [RUNS [FACTORS [RESPONSES]]]

Runs lie at random usable settings; responses are quadratics with noise, half of them with a limit.
The same numbers every time.
"""

import csv
import pathlib
import random
import sys


def settings_of(rng, factors):
    levels = ["fp32", "fp16", "int8"]
    return [rng.choice(levels) if f == 0 else rng.randint(1, 33) for f in range(factors)]


def surface(rng, factors):
    """A quadratic of coded settings with coefficients that fade."""
    linear = [rng.gauss(0, 10) for _ in range(factors)]
    pairs = {(a, b): rng.gauss(0, 3) for a in range(factors) for b in range(a, factors)}
    return lambda x: (200 + sum(c * v for c, v in zip(linear, x)) +
                      sum(c * x[a] * x[b] for (a, b), c in pairs.items()))


def coded(settings):
    return [["fp32", "fp16", "int8"].index(s) - 1 if isinstance(s, str) else (s - 17) / 16
            for s in settings]


def study_text(factors, responses):
    lines = ["study: big", "seed: 1", "command: [./bench]", "factors:",
             "  precision: {levels: [fp32, fp16, int8], baseline: fp32}"]
    lines += [f"  f{f}: {{low: 1, high: 33, type: integer, baseline: 1}}"
              for f in range(1, factors)]
    lines += ["model: quadratic", "responses:"]
    for r in range(responses):
        goal = ("goal: maximize", "goal: at_most, high: 260")[r % 2]
        lines.append(f"  y{r}: {{unit: ms, {goal}}}")
    return "\n".join(lines) + "\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    runs, factors, responses = (int(a) for a in (sys.argv[2:] + ["1000", "10", "8"][len(sys.argv) - 2:]))
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(1)
    surfaces = [surface(rng, factors) for _ in range(responses)]
    (folder / "big.yaml").write_text(study_text(factors, responses))
    with open(folder / "big.csv", "w", newline="") as file:
        out = csv.writer(file)
        names = ["precision"] + [f"f{f}" for f in range(1, factors)]
        out.writerow(names + [f"y{r}" for r in range(responses)])
        for _ in range(runs):
            settings = settings_of(rng, factors)
            x = coded(settings)
            out.writerow(settings + [round(s(x) + rng.gauss(0, 4), 3) for s in surfaces])


if __name__ == "__main__":
    main()

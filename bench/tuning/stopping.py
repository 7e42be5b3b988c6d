#!/usr/bin/env python3
"""When a search should end: the true value of the recommended settings where it does, and after how many runs.

    bench/tuning/stopping.py TABLES [--searches N] [--noise SD ...] [--budget RUNS] [--cases NAME ...]

A search ends when a run was expected to gain less than 1 % of the best so many times in a row
(`patience`). TABLES as for compare.py. Needs the Python module: PYTHONPATH=build/release/python.
"""
import argparse
import pathlib
import random

import cases
from doetune import _core

TOLERANCE = 0.01
PATIENCE = [3, 4, 5, 6, 8, None]


def search(case, noise, seed, budget):
    """The number of runs of the start, and of each run after it the expected gain, and the worth of the
    recommendation before it: a fraction of the best, 0 where it fails."""
    table = {tuple(settings[name] for name in case.factors): values for settings, values in case.rows}
    key = lambda settings: tuple(settings[name] for name in case.factors)

    def utility(at):
        values = table.get(at)
        if values is None or any(values[name] > high for name, high in case.limits.items()):
            return 0
        return values[case.response] if case.maximize else 1 / values[case.response]

    best, generator = max(map(utility, table)), random.Random(seed)
    problem = _core.Problem(f"seed: {seed}\n" + case.study())

    def run(settings):
        values = table.get(key(settings))
        noisy = {name: value * (1 + noise * generator.gauss(0, 1)) for name, value in (values or {}).items()}
        problem.add(settings, values is not None, noisy)

    start = problem.start(budget)
    for settings in start:
        run(settings)
    gains, worth = [], []
    while len(start) + len(gains) < budget and (proposed := problem.next(1, [])):
        answer = problem.answer()
        worth.append(utility(key(answer)) / best if answer else 0)
        gains.append(proposed[0]["expected_gain"])
        run(proposed[0]["settings"])
    return len(start), gains, worth


def end_of(gains, patience):
    """The number of runs after the start; all where the search does not end by itself."""
    small = 0
    for made, gain in enumerate(gains):
        small = small + 1 if gain is not None and gain < TOLERANCE else 0
        if small == patience:
            return made
    return len(gains) - 1


def quantile(values, fraction):
    return sorted(values)[int(fraction * (len(values) - 1))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=pathlib.Path)
    parser.add_argument("--searches", type=int, default=8)
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.03])
    parser.add_argument("--budget", type=int, default=40)
    parser.add_argument("--cases", nargs="+")
    options = parser.parse_args()
    wanted = [case for case in cases.all_cases(options.tables) if not options.cases or case.name in options.cases]
    print("| noise | patience | searches | runs | mean | median | worst tenth | within 2 % | failing |")
    print("|---|---|---|---|---|---|---|---|---|")
    for noise in options.noise:
        made = [search(case, noise, seed, options.budget) for case in wanted for seed in range(1, options.searches + 1)]
        for patience in PATIENCE:
            ends = [(start, worth, end_of(gains, patience)) for start, gains, worth in made]
            runs = sum(start + end for start, _, end in ends) / len(ends)
            values = [worth[end] for _, worth, end in ends]
            print(f"| {noise:g} | {patience or 'no end'} | {len(values)} | {runs:.1f} | {sum(values) / len(values):.3f} | "
                  f"{quantile(values, 0.5):.3f} | {quantile(values, 0.1):.3f} | "
                  f"{sum(value >= 0.98 for value in values)} | {values.count(0)} |", flush=True)


if __name__ == "__main__":
    main()

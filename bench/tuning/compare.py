#!/usr/bin/env python3
"""The true value of recommended settings after so many runs, by doetune and by other tuners.

    bench/tuning/compare.py TABLES|--held-out [--doetune PROGRAM] [--cases NAME ...] [--tuners NAME ...]
                            [--searches N] [--noise SD ...] [--budgets RUNS ...] [--json FILE]

TABLES is the directory of recorded tables (storm_ss_*.csv, triton_resnet50.csv); with --held-out, the systems
of held_out_cases.py are searched. Tuners: doetune, one-shot and random (by `doetune replay`); tpe, gp and cmaes
of Optuna, smac and ax (tuners.py), which recommend their best feasible run, as measured. Their packages: optuna
with cmaes, smac, ax-platform.
"""
import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import cases
import held_out_cases
import tuners

STARTS_BY_BUDGET = {"smac"}  # a search of its own for each budget, as doetune has
OURS = {"doetune": "tune", "one-shot": "one-shot", "random": "random"}


class System:
    """A case as an objective, and the true worth of settings: a fraction of the best, 0 if they fail."""

    def __init__(self, case):
        self.case = case
        self.table = {tuple(settings[name] for name in case.factors): values for settings, values in case.rows}
        self.best = max(filter(None, map(self.utility, self.table)))

    def utility(self, key):
        values = self.table.get(key)
        if values is None or any(values[name] > high for name, high in self.case.limits.items()):
            return 0
        return values[self.case.response] if self.case.maximize else 1 / values[self.case.response]

    def worth(self, key):
        return self.utility(key) / self.best

    def measure(self, key, noise, generator):
        values = self.table.get(key)
        if values is None:
            return None
        return {name: value * (1 + noise * generator.gauss(0, 1)) for name, value in values.items()}


def search_with(name, system, budgets, noise, seed):
    """The worth of the best run so far, as measured, after each budget."""
    if name in STARTS_BY_BUDGET and len(budgets) > 1:
        return [search_with(name, system, [budget], noise, seed)[0] for budget in budgets]
    case, generator = system.case, random.Random(seed)
    tuner = tuners.TUNERS[name](name, case, max(budgets), seed)
    best, worth = None, []
    for run in range(1, max(budgets) + 1):
        key = tuple(levels[level] for levels, level in zip(case.factors.values(), tuner.ask()))
        values = system.measure(key, noise, generator)
        value = values and values[case.response]
        excess = {limit: math.log(values[limit] / high) if values else 1.0 for limit, high in case.limits.items()}
        tuner.tell(value, excess)
        feasible = values is not None and max(excess.values(), default=0) <= 0
        if feasible and (best is None or (value > best[0]) == case.maximize):
            best = (value, key)
        if run in budgets:
            worth.append(system.worth(best[1]) if best else 0)
    return worth


def search_with_doetune(program, case, directory, strategy, options):
    study, table = case.write(directory)
    command = [program, "replay", study, table, "--json", "--strategy", strategy, "--searches", str(options.searches),
               "--noise", str(options.current_noise), "--budget", ",".join(map(str, options.budgets))]
    budgets = json.loads(subprocess.check_output(command))["strategies"][0]["budgets"]
    return list(zip(*(budget["worth"] for budget in budgets)))


def quantile(values, fraction):
    return sorted(values)[int(fraction * (len(values) - 1))]


def worth_of(tuner, case, directory, options):
    if tuner in OURS:
        return search_with_doetune(options.doetune, case, directory, OURS[tuner], options)
    system = System(case)
    return [search_with(tuner, system, options.budgets, options.current_noise, seed)
            for seed in range(options.searches)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parents[2]
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("tables", type=pathlib.Path, nargs="?")
    which.add_argument("--held-out", action="store_true")
    parser.add_argument("--doetune", default=root / "build/release/bin/doetune")
    parser.add_argument("--cases", nargs="+")
    parser.add_argument("--tuners", nargs="+", default=["doetune", "tpe", "random"])
    parser.add_argument("--searches", type=int, default=100)
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.03])
    parser.add_argument("--budgets", type=int, nargs="+", default=[15, 20, 30, 40, 60])
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    results = []
    print(f"{os.cpu_count()} processors; {options.searches} searches: median / worst tenth / failing")
    print("| case | noise | tuner | " + " | ".join(f"{runs} runs" for runs in options.budgets) + " | s |")
    print("|---|---|---|" + "---|" * (len(options.budgets) + 1))
    with tempfile.TemporaryDirectory() as place:
        for case in held_out_cases.held_out_cases() if options.held_out else cases.all_cases(options.tables):
            if options.cases and case.name not in options.cases:
                continue
            for options.current_noise in options.noise:
                for tuner in options.tuners:
                    begin = time.monotonic()
                    worth = worth_of(tuner, case, pathlib.Path(place), options)
                    took = time.monotonic() - begin
                    columns = list(zip(*worth))
                    results.append({"case": case.name, "noise": options.current_noise, "tuner": tuner,
                                    "budgets": options.budgets, "worth": columns})
                    cells = " | ".join(f"{quantile(column, 0.5):.3f} / {quantile(column, 0.1):.3f} / {column.count(0)}"
                                       for column in columns)
                    print(f"| {case.name} | {options.current_noise:g} | {tuner} | {cells} | {took:.0f} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

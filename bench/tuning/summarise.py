#!/usr/bin/env python3
"""Tables with 95 % intervals, in Markdown, of what compare.py --json wrote.

    bench/tuning/summarise.py FILE ... [--noise SD] [--reference TUNER]

A case and tuner is taken from the last file that has it. Intervals: Wilson's of fractions; the bootstrap's of
the difference of two means (percentiles of 4,000 draws, searches as units). Searches of one number use the same
random numbers within a tuner only, so that two tuners' are not paired.
"""
import argparse
import json
import math
import pathlib
import random
import sys

from compare import quantile

NEAR = 0.98  # of the best: "within 2 %"
NAMES = {"tpe": "TPE", "gp": "GP", "cmaes": "CMA-ES", "smac": "SMAC3", "ax": "Ax"}  # of tuners, where they are shown


def mean(values):
    return sum(values) / len(values)


def wilson(count, of, z=1.96):
    """E. B. Wilson, Journal of the American Statistical Association 22 (1927), 209-212."""
    share, spread = count / of, z * z / of
    centre, half = share + spread / 2, z * math.sqrt(share * (1 - share) / of + spread / of / 4)
    return max(0.0, (centre - half) / (1 + spread)), min(1.0, (centre + half) / (1 + spread))


def difference(ours, theirs, generator, draws=4000):
    """Of the means, with its interval."""
    drawn = sorted(mean(generator.choices(ours, k=len(ours))) - mean(generator.choices(theirs, k=len(theirs)))
                   for _ in range(draws))
    return mean(ours) - mean(theirs), drawn[int(0.025 * draws)], drawn[int(0.975 * draws)]


def read(files, noise):
    results = {}
    for file in files:
        for result in json.loads(file.read_text(encoding="utf-8")):
            if result["noise"] == noise:
                results.setdefault(result["case"], {})[result["tuner"]] = result
    return results


def table(head, rows):
    lines = ["| " + " | ".join(row) + " |" for row in [head, *rows]]
    lines.insert(1, "|---" * len(head) + "|")
    return "\n".join(lines)


def by_case(results, budgets):
    """Median and worst tenth of each tuner, and how many searches recommended what fails."""
    rows = []
    for case, tuners in results.items():
        for tuner, result in tuners.items():
            cells = [f"{quantile(worth, 0.5):.3f} / {quantile(worth, 0.1):.3f}" +
                     (f" ({worth.count(0)} fail)" if worth.count(0) else "") for worth in result["worth"]]
            rows.append([case if tuner == next(iter(tuners)) else "", NAMES.get(tuner, tuner), *cells])
    return table(["case", "tuner", *(f"{runs} runs" for runs in budgets)], rows)


def differences(results, budgets, reference):
    """The mean of the reference minus that of each other tuner."""
    generator = random.Random(1)
    rows = []
    for case, tuners in results.items():
        ours = tuners[reference]["worth"]
        others = [tuner for tuner in tuners if tuner != reference]
        for tuner in others:
            cells = ["{:+.3f} ({:+.3f} to {:+.3f})".format(*difference(a, b, generator))
                     for a, b in zip(ours, tuners[tuner]["worth"])]
            rows.append([case if tuner == others[0] else "", NAMES.get(tuner, tuner), *cells])
    return table(["case", f"{reference} minus", *(f"{runs} runs" for runs in budgets)], rows)


def totals(results, budgets):
    """Over all cases: searches within 2 % of the best, and recommendations that fail."""
    rows = []
    for tuner in dict.fromkeys(tuner for tuners in results.values() for tuner in tuners):
        found = [tuners[tuner]["worth"] for tuners in results.values() if tuner in tuners]
        columns = [[worth for case in found for worth in case[i]] for i in range(len(budgets))]
        near = []
        for column in columns:
            count = sum(worth >= NEAR for worth in column)
            low, high = wilson(count, len(column))
            near.append(f"{100 * count / len(column):.0f} ({100 * low:.0f} to {100 * high:.0f})")
        everything = [worth for column in columns for worth in column]
        low, high = wilson(everything.count(0), len(everything))
        fails = f"{100 * everything.count(0) / len(everything):.2f} ({100 * low:.2f} to {100 * high:.2f})"
        rows.append([NAMES.get(tuner, tuner), str(len(found)), *near, fails])
    return table(["tuner", "cases", *(f"{runs} runs" for runs in budgets), "fail"], rows)


def places(results, reference):
    """In how many places the reference's median, and its worst tenth, is at least each other tuner's."""
    count, best = 0, [0, 0]
    for tuners in results.values():
        for i, ours in enumerate(tuners[reference]["worth"]):
            count += 1
            for which, fraction in enumerate((0.5, 0.1)):
                others = [quantile(result["worth"][i], fraction) for tuner, result in tuners.items()
                          if tuner != reference]
                best[which] += quantile(ours, fraction) >= max(others, default=0)
    return f"{reference} is the best or equal in {best[0]} (median) and {best[1]} (worst tenth) of {count} places."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    parser.add_argument("--noise", type=float, default=0.03)
    parser.add_argument("--reference", default="doetune")
    options = parser.parse_args()
    results = read(options.files, options.noise)
    budgets = next(iter(next(iter(results.values())).values()))["budgets"]
    print("Median / worst tenth of the true value of the recommended settings:\n")
    print(by_case(results, budgets), places(results, options.reference), sep="\n\n")
    print("\nPercent of all searches within 2 % of the best, and of all recommendations that fail:\n")
    print(totals(results, budgets))
    print("\nDifference of means:\n")
    print(differences(results, budgets, options.reference))
    return 0


if __name__ == "__main__":
    sys.exit(main())

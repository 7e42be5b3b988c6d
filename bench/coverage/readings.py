#!/usr/bin/env python3
"""Simulated memory readings: how often recommended settings run out of memory, and how often doetune said so.

    bench/coverage/readings.py DOETUNE [--seeds N]

Programs of two to four factors whose memory is a sum of products, one with a step. Completed runs report what
they used, exactly as memory repeats itself, and the capacity is known; a rate that rises with the same factors
is maximised with a noise of 3 %. Designs: a face-centred CCD run twice (with centre runs), a Latin hypercube,
and half as many random points, each run twice. "Said" is one minus the probability of completing that
`optimize` reports, "fail" the fraction that does run out of memory; "value" is the rate of the others as a
fraction of the best on a grid (which can be exceeded).
"""
import argparse
import concurrent.futures
import csv
import itertools
import json
import math
import pathlib
import random
import subprocess
import tempfile

LOG, LINEAR = "log2", None
TWO = {"batch": (1, 32, LOG), "executors": (1, 6, LINEAR)}
THREE = {"batch": (1, 64, LOG), "length": (128, 2048, LOG), "executors": (1, 4, LINEAR)}
FOUR = {"batch": (1, 64, LOG), "length": (1, 16, LOG), "executors": (1, 4, LINEAR), "cache": (1, 16, LINEAR)}

# name: factors, memory, typical capacity, rate
PROGRAMS = {
    "product": (TWO, lambda s: 4 + s["executors"] * (3 + 0.35 * s["batch"]), 32,
                lambda s: s["executors"] * s["batch"] / (1 + 0.12 * s["batch"]) / (1 + 0.05 * (s["executors"] - 1) ** 2)),
    "step": (TWO, lambda s: 5 + s["executors"] * (1.2 + 0.6 * s["batch"] ** 0.8) + (4 if s["batch"] > 12 else 0), 36,
             lambda s: s["batch"] ** 0.7 * s["executors"] ** 0.5),
    "three factors": (THREE, lambda s: 6 + s["executors"] * (1.5 + 6e-4 * s["batch"] * s["length"]), 70,
                      lambda s: s["batch"] ** 0.6 * s["executors"] ** 0.5 * s["length"] ** 0.2),
    "four factors": (FOUR, lambda s: 6 + 2 * s["cache"] + s["executors"] * (1.5 + 0.0512 * s["batch"] * s["length"]), 72,
                     lambda s: s["batch"] ** 0.6 * s["executors"] ** 0.5 * (s["length"] * s["cache"]) ** 0.2),
}
DESIGNS = ("face-centred, twice", "Latin hypercube", "few points, twice")
RUNS = {2: 12, 3: 18, 4: 26}  # of the last two designs


def setting(factor, position):
    low, high, scale = factor
    return round(low * (high / low) ** position if scale else low + (high - low) * position)


def positions(kind, k, chance):
    """Points of the unit cube."""
    runs = RUNS[k]
    if kind == DESIGNS[1]:
        columns = [[(i + 0.5) / runs for i in range(runs)] for _ in range(k)]
        for column in columns:
            chance.shuffle(column)
        return list(zip(*columns))
    if kind == DESIGNS[2]:
        return 2 * [tuple(chance.random() for _ in range(k)) for _ in range(runs // 2)]
    centre = (0.5,) * k
    faces = [centre[:i] + (end,) + centre[i + 1:] for i in range(k) for end in (0, 1)]
    return 2 * [*itertools.product((0, 1), repeat=k), *faces, centre, centre, centre]


def study_file(factors, capacity):
    each = (f"{name}: {{low: {low}, high: {high}, type: integer{', scale: log2' if scale else ''}}}"
            for name, (low, high, scale) in factors.items())
    return (f'command: ["true"]\nfactors: {{{", ".join(each)}}}\ndesign: {{type: fccd}}\nresponses:\n'
            f"  memory: {{unit: GiB, capacity: {capacity}}}\n  rate: {{goal: maximize, transform: log}}\n")


def recommendation(doetune, program, kind, seed, directory):
    """(said to complete, completes, value), or None without an answer."""
    factors, memory, typical, rate = PROGRAMS[program]
    chance = random.Random(f"{program} {kind} {seed}")
    capacity = typical * math.exp(chance.gauss(0, 0.25))
    runs = [{name: setting(factor, at) for (name, factor), at in zip(factors.items(), point)}
            for point in positions(kind, len(factors), chance)]
    (directory / "study.yaml").write_text(study_file(factors, capacity), encoding="utf-8")
    with open(directory / "runs.csv", "w", encoding="utf-8", newline="") as table:
        out = csv.writer(table)
        out.writerow([*factors, "memory", "rate", "status"])
        for run in runs:
            measured = [memory(run), rate(run) * math.exp(chance.gauss(0, 0.03))]
            completes = memory(run) <= capacity
            out.writerow([*run.values(), *(measured if completes else ["", ""]), "completed" if completes else "infeasible"])
    call = lambda *words: subprocess.run([doetune, *words], cwd=directory, capture_output=True, text=True)
    call("import", "study.yaml", "runs.csv", "-o", "measured")
    answer = json.loads(call("optimize", "measured", "--json").stdout or "{}")
    if "settings" not in answer:
        return None
    grid = (dict(zip(factors, point)) for point in itertools.product(
        *(sorted({setting(factor, i / 12) for i in range(13)}) for factor in factors.values())))
    best = max(rate(s) for s in grid if memory(s) <= capacity)
    chosen = answer["settings"]
    return answer.get("feasibility", 1), memory(chosen) <= capacity, rate(chosen) / best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("doetune", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=16)
    options = parser.parse_args()
    doetune = options.doetune.resolve()

    def one(case):
        with tempfile.TemporaryDirectory() as directory:
            return recommendation(doetune, *case, pathlib.Path(directory))

    everything = []
    for program, kind in itertools.product(PROGRAMS, DESIGNS):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(one, [(program, kind, seed) for seed in range(options.seeds)]))
        given = [answer for answer in answers if answer]
        everything += given
        values = [value for _, completes, value in given if completes]
        print(f"{program:14} {kind:20} {len(given):3} answers; said {sum(1 - said for said, _, _ in given) / len(given):.3f}, "
              f"fail {sum(not completes for _, completes, _ in given) / len(given):.3f}; "
              f"value {sum(values) / max(1, len(values)):.2f}", flush=True)
    sure = [completes for said, completes, _ in everything if said > 0.99]
    print(f"all: {len(everything)} answers; fail {sum(not completes for _, completes, _ in everything) / len(everything):.3f}; "
          f"said above 0.99: {len(sure)}, of which {sure.count(False)} fail")


if __name__ == "__main__":
    main()

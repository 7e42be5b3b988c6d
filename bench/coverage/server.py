#!/usr/bin/env python3
"""A simulated inference server: how often recommended settings run, keep the limit, and how good they are.

    bench/coverage/server.py DOETUNE [--seeds N] [--runs N ...] [--memory]

Four factors: executors, batch, cache, prefill chunk. A third of the settings need more
memory than there is. Throughput is maximised under a limit on the latency; both scatter by 3 % from
run to run. Each study is planned, measured and optimised by DOETUNE, and its
recommendation compared with the best of all settings that run and keep the limit (on average).
With --memory, completed runs also report the memory they used (within 1 %), whose capacity is known.
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

LEVELS = {
    "executors": [1, 2, 3, 4, 5, 6],
    "batch": [1, 2, 4, 8, 16, 32, 64],
    "cache": [2, 4, 8, 16],
    "chunk": [64, 128, 256, 512, 1024],
}
LATENCY_LIMIT = 1.8  # s
STUDY = """\
command: ["true"]
factors:
  executors: {{low: 1, high: 6, type: integer}}
  batch: {{levels: [1, 2, 4, 8, 16, 32, 64], scale: log2}}
  cache: {{levels: [2, 4, 8, 16], unit: GiB, scale: log2}}
  chunk: {{levels: [64, 128, 256, 512, 1024], scale: log2}}
{known}seed: {seed}
design: {{type: {design}, runs: {runs}}}
{model}
responses:
  throughput: {{unit: tokens/s, goal: maximize, transform: log}}
  latency: {{unit: s, goal: at_most, high: {limit}, transform: log}}
  {memory}
run: {{telemetry: 0}}
"""


def memory(s):
    """GiB of 80."""
    return 3 + s["executors"] * (6 + s["cache"] + 0.14 * s["batch"] + 0.005 * s["chunk"])


def hits(s):
    """The fraction of requests whose prefix is in the cache."""
    return 1 - math.exp(-s["cache"] / (2 + s["batch"] / 10))


def step(s):
    """Seconds of one decoding step of an executor."""
    return 0.02 + 0.0011 * s["batch"] + 0.004 * (s["executors"] - 1)


def throughput(s):
    slots = s["executors"] / (1 + 0.03 * (s["executors"] - 1) ** 2)
    prefill = 1.2 + 0.08 * math.log2(s["chunk"] / 256) ** 2 - 0.6 * hits(s)
    return slots * s["batch"] / step(s) / prefill


def latency(s):
    prefill = (1.5 - hits(s)) * (0.15 + 0.25 * math.sqrt(s["batch"] / 16)) * (1 + 0.1 * math.log2(1024 / s["chunk"]))
    return 20 * step(s) + prefill


def completes(s):
    return memory(s) <= 80


def best_of_all():
    everything = (dict(zip(LEVELS, values)) for values in itertools.product(*LEVELS.values()))
    return max(throughput(s) for s in everything if completes(s) and latency(s) <= LATENCY_LIMIT)


def study(doetune, runs, seed, known, directory, design="space-filling", model="", reads=False):
    """One study: the recommended settings, or None."""
    text = STUDY.format(seed=seed, design=design, memory="memory: {unit: GiB, capacity: 80}" if reads else "", model=f"model: {model}\n" if model else "", runs=runs, limit=LATENCY_LIMIT,
                        known="infeasible_when: {executors: higher, batch: higher, cache: higher, chunk: higher}\n" if known else "")
    (directory / "server.yaml").write_text(text, encoding="utf-8")
    run = lambda *arguments, ok=(0,): subprocess.run([doetune, *arguments], cwd=directory, capture_output=True, text=True)
    run("plan", "server.yaml", "-o", "plan")
    noise = random.Random(1000 * runs + seed)
    with open(directory / "plan/plan.csv", encoding="utf-8") as sheet, \
            open(directory / "results.csv", "w", encoding="utf-8", newline="") as table:
        out = csv.writer(table)
        out.writerow([*LEVELS, "throughput", "latency", *(["memory"] if reads else []), "status"])
        for row in csv.DictReader(sheet):
            s = {name: float(row[name]) for name in LEVELS}
            scatter = [math.exp(0.03 * noise.gauss(0, 1)) for _ in range(2)]
            if completes(s):
                read = [memory(s) * math.exp(0.01 * noise.gauss(0, 1))] if reads else []
                out.writerow([*(row[name] for name in LEVELS), throughput(s) * scatter[0], latency(s) * scatter[1], *read, "completed"])
            else:
                out.writerow([*(row[name] for name in LEVELS), "", "", *([""] if reads else []), "infeasible"])
    run("import", "server.yaml", "results.csv", "-o", "measured")
    answer = run("optimize", "measured", "--json").stdout
    try:
        answer = json.loads(answer)
    except json.JSONDecodeError:
        return None
    settings = answer.get("settings") or (answer.get("measured") or {}).get("settings")
    return {name: float(settings[name]) for name in LEVELS} if settings else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("doetune", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--runs", type=int, nargs="+", default=[16, 24, 40])
    parser.add_argument("--design", default="space-filling")
    parser.add_argument("--model", default="")
    parser.add_argument("--memory", action="store_true")
    options = parser.parse_args()
    doetune = options.doetune.resolve()
    everything = [dict(zip(LEVELS, values)) for values in itertools.product(*LEVELS.values())]
    print(f"{sum(not completes(s) for s in everything) / len(everything):.0%} of the settings do not run")
    best = best_of_all()

    def one(case):
        with tempfile.TemporaryDirectory() as directory:
            return study(doetune, *case, pathlib.Path(directory), options.design, options.model, options.memory)

    for known in (False, True):
        for runs in options.runs:
            cases = [(runs, seed, known) for seed in range(1, options.seeds + 1)]
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                answers = list(pool.map(one, cases))
            given = [s for s in answers if s]
            fails = sum(not completes(s) for s in given)
            late = sum(completes(s) and latency(s) > LATENCY_LIMIT for s in given)
            values = sorted(throughput(s) / best for s in given if completes(s) and latency(s) <= LATENCY_LIMIT)
            median = values[len(values) // 2] if values else math.nan
            print(f"{runs} runs{', memory rule known' if known else '':20} {len(given)} of {len(answers)} answers; "
                  f"{fails} do not run, {late} exceed the limit; the others have "
                  f"{sum(values) / max(1, len(values)):.1%} (median {median:.1%}) of the best", flush=True)


if __name__ == "__main__":
    main()

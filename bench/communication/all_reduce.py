#!/usr/bin/env python3
"""Compares ways to sum over processes: the workload all-reduce, and training steps.

all_reduce.py NAME=FOLDER,TRANSPORT ...   (FOLDER has all-reduce and train-data-parallel)

Each round starts every way once, by mpirun, in turn; a table has the medians over rounds, and the
smallest and largest. Raw results go to standard output, one JSON document a line."""
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROUNDS = 5
SIZES = [1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20]
RANKS = [2, 4]
TRAINING = [("small-cnn", 64), ("resnet-20", 32), ("alexnet", 8)]


def run(ranks, folder, transport, program, *arguments):
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    threads = max(1, len(os.sched_getaffinity(0)) // ranks)
    done = subprocess.run(
        ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks),
         str(pathlib.Path(folder, program)), "--transport", transport, *map(str, arguments)],
        capture_output=True, text=True, env={**os.environ, **root, "OMP_NUM_THREADS": str(threads),
                                             "GOMP_SPINCOUNT": "1000"})
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["responses"]


def main():
    ways = {}
    for argument in sys.argv[1:]:
        name, _, rest = argument.partition("=")
        ways[name] = rest.rsplit(",", 1)
    cases = {}
    for ranks in RANKS:
        for size in SIZES:
            cases[f"{ranks} ranks, {size} B, ms"] = (ranks, "all-reduce", "latency", [
                "--message_bytes", size, "--iterations", 20 if size < 4 << 20 else 2,
                "--warmup", 0.1, "--duration", 0.3])
        for network, batch in TRAINING:
            cases[f"{ranks} ranks, step of {network}, ms"] = (
                ranks, "train-data-parallel", "step_time", [
                    "--network", network, "--batch_size", batch, "--baseline", "false",
                    "--warmup", 0.1, "--duration", 0.6, "--values", 3])
    results = {case: {name: [] for name in ways} for case in cases}
    for _ in range(ROUNDS):
        for case, (ranks, program, response, arguments) in cases.items():
            for name, (folder, transport) in ways.items():
                value = 1e3 * run(ranks, folder, transport, program, *arguments)[response]
                results[case][name].append(value)
                print(json.dumps({"case": case, "way": name, "ms": value}), flush=True)
    print("| case | " + " | ".join(ways) + " |\n|---|" + "---|" * len(ways))
    for case, each in results.items():
        print(f"| {case} | " + " | ".join(
            f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"
            for values in each.values()) + " |")


main()

#!/usr/bin/env python3
"""Images per second of our CPU engine and of ONNX Runtime on the same networks, weights, input and threads.

All stay loaded and take turns (A B C A B C ...), so a change in the machine's load meets all alike.
Needs `pip install numpy onnx onnxruntime`; see README.md.
"""
import argparse
import itertools
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime

from onnx_network import onnx_model

# Input heights: the networks' own (0) but for tracknet, whose 360 rows cost 90 times a ResNet-50.
NETWORKS = {"tiny-yolov2": 0, "yolov2": 0, "darknet-19": 0, "alexnet": 0, "googlenet": 0, "inception-v3": 0,
            "resnet-50": 0, "resnet-152": 0, "tracknet": 72}
SECONDS_A_TURN = 0.2  # at least; a batch that takes longer is one turn


class Ours:
    def __init__(self, program, network, height, batch, precision, instructions, threads, folder):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), GOMP_SPINCOUNT="1000")  # as executors have it
        if instructions != "all":
            environment["ONEDNN_MAX_CPU_ISA"] = instructions
        command = [program, network, str(height), str(batch), precision, str(threads), folder]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)
        if self.process.stdout.readline().strip() != "ready":
            sys.exit("bench_inference did not start")
        self.output = np.fromfile(f"{folder}/output.f32", np.float32)

    def seconds(self, repetitions):
        self.process.stdin.write(f"{repetitions}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class OnnxRuntime:
    def __init__(self, folder, batch, threads):
        model, (_, channels, height, width) = onnx_model(folder, batch)
        nhwc = np.fromfile(f"{folder}/input.f32", np.float32).reshape(batch, height, width, channels)
        self.input = {"input": np.ascontiguousarray(nhwc.transpose(0, 3, 1, 2))}
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.force_spinning_stop", "1")  # or its threads would slow down ours
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.output = self.session.run(None, self.input)[0].transpose(0, 2, 3, 1).ravel()

    def seconds(self, repetitions):
        start = time.perf_counter()
        for _ in range(repetitions):
            self.session.run(None, self.input)
        return time.perf_counter() - start


def difference(ours, theirs):
    """Largest difference as a part of the largest output; of grey levels, the share of pixels that differ."""
    if np.array_equal(theirs, np.rint(theirs)):
        return float(np.mean(ours != theirs))
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def compare(program, network, height, batch, precisions, instruction_sets, threads, rounds):
    """A row for each of our precisions and instruction sets: images/s of both (best and median round) and the median
    ratio of the pairs."""
    kinds = list(itertools.product(precisions, instruction_sets))
    with tempfile.TemporaryDirectory() as folder:
        ours = [Ours(program, network, height, batch, *kind, threads, folder) for kind in kinds]
        peer = OnnxRuntime(folder, batch, threads)
    turns = [(each, max(1, round(SECONDS_A_TURN / each.seconds(1)))) for each in [peer, *ours]]
    seconds = [[each.seconds(count) / count for each, count in turns] for _ in range(rounds)]
    for each in ours:
        each.close()
    theirs = [row[0] for row in seconds]
    for index, ((precision, instructions), each) in enumerate(zip(kinds, ours), start=1):
        mine = [row[index] for row in seconds]
        yield {"network": network, "threads": threads, "batch": batch, "precision": precision,
               "instructions": instructions,
               "ours": [batch / pick(mine) for pick in (min, statistics.median)],
               "peer": [batch / pick(theirs) for pick in (min, statistics.median)],
               "best": min(theirs) / min(mine),
               "ratio": statistics.median(b / a for a, b in zip(mine, theirs)),
               "difference": difference(each.output, peer.output)}


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        about = dict(line.split(":", 1) for line in info if ":" in line)
    about = {name.strip(): value.strip() for name, value in about.items()}
    flags = about.get("flags", "").split()
    widest = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "no AVX2")
    return f"{about.get('model name', 'unknown')} ({widest})"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="path of bench_inference")
    parser.add_argument("--all", action="store_true", help="all networks, batches 1, 8 and 32, 1 and 2 threads, "
                        "fp32 and bf16: the table of results.md")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=["tiny-yolov2"])
    parser.add_argument("--height", type=int, help="input rows; else the network's own, and 72 for tracknet")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--precisions", nargs="+", choices=["fp32", "bf16"], default=["fp32", "bf16"])
    parser.add_argument("--instruction-sets", nargs="+", default=["all"], metavar="ISA",
                        help="that oneDNN may use: AVX2, AVX512_CORE, ... (ONEDNN_MAX_CPU_ISA), without bf16 below AVX512_CORE; all: those there are")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=22, help="begin no further setting after this")
    options = parser.parse_args()
    if options.all:
        options.networks, options.batches, options.threads = list(NETWORKS), [1, 8, 32], [1, 2]
    return options


def main():
    options = arguments()
    print(f"{cpu_name()}, {os.cpu_count()} cores, {platform.system()}; ONNX Runtime {onnxruntime.__version__} (fp32), "
          f"onnx {onnx.__version__}; {options.rounds} rounds; load average at the start {os.getloadavg()[0]:.1f}\n")
    print("| batch | threads | network | ours | instructions | ours, images/s: best (median) "
          "| ONNX Runtime: best (median) | ratio of best | median ratio | difference |")
    print("|-|-|-|-|-|-|-|-|-|-|")
    end = time.monotonic() + 60 * options.minutes
    left_out = []
    for batch, threads, network in itertools.product(options.batches, options.threads, options.networks):
        if time.monotonic() > end:
            left_out.append(f"{network} (batch {batch}, threads {threads})")
            continue
        height = NETWORKS[network] if options.height is None else options.height
        for row in compare(options.program, network, height, batch, options.precisions, options.instruction_sets, threads,
                           options.rounds):
            print("| {batch} | {threads} | {network} | {precision} | {instructions} "
                  "| {ours[0]:.1f} ({ours[1]:.1f}) | {peer[0]:.1f} ({peer[1]:.1f}) | {best:.2f} | {ratio:.2f} | {difference:.0e} |".format(**row),
                  flush=True)
    if left_out:
        print(f"\nLeft out after {options.minutes:g} minutes: {', '.join(left_out)}.")
    print(f"\nLoad average at the end {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Images per second of our CPU engine and of ONNX Runtime on the same network, weights, input and threads.

Both stay loaded and take turns (A B A B ...), so a change in the machine's load meets both alike.
Needs `pip install numpy onnx onnxruntime`; see README.md.
"""
import argparse
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
from onnx import TensorProto, helper, numpy_helper

# (filters, kernel, pooling stride or 0) of tiny-yolov2; all but the last layer are leaky.
TINY_YOLOV2 = [(16, 3, 2), (32, 3, 2), (64, 3, 2), (128, 3, 2), (256, 3, 2), (512, 3, 1),
               (1024, 3, 0), (1024, 3, 0), (125, 1, 0)]


def onnx_model(weights, size, batch):
    """The network as ONNX, with the weights that our program wrote, in its order."""
    nodes, initializers, at, channels, last = [], [], 0, 3, "input"
    for i, (filters, kernel, pool) in enumerate(TINY_YOLOV2):
        count = filters * channels * kernel * kernel
        w = weights[at:at + count].reshape(filters, channels, kernel, kernel)
        b = weights[at + count:at + count + filters]
        at += count + filters
        initializers += [numpy_helper.from_array(w, f"w{i}"), numpy_helper.from_array(b, f"b{i}")]
        nodes.append(helper.make_node("Conv", [last, f"w{i}", f"b{i}"], [f"conv{i}"], kernel_shape=[kernel] * 2,
                                      pads=[kernel // 2] * 4))
        last, channels = f"conv{i}", filters
        if i + 1 < len(TINY_YOLOV2):
            nodes.append(helper.make_node("LeakyRelu", [last], [f"leaky{i}"], alpha=0.1))
            last = f"leaky{i}"
        if pool:
            pads = [0, 0, 0, 0] if pool == 2 else [0, 0, 1, 1]
            nodes.append(helper.make_node("MaxPool", [last], [f"pool{i}"], kernel_shape=[2, 2],
                                          strides=[pool, pool], pads=pads))
            last = f"pool{i}"
    assert at == weights.size
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "tiny-yolov2", [value("input", TensorProto.FLOAT, [batch, 3, size, size])],
                              [value(last, TensorProto.FLOAT, [batch, 125, size // 32, size // 32])], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return model.SerializeToString()


class Ours:
    def __init__(self, program, size, batch, precision, threads, folder):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), GOMP_SPINCOUNT="1000")  # as executors have it
        command = [program, "tiny-yolov2", str(size), str(batch), precision, str(threads), folder]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)
        if self.process.stdout.readline().strip() != "ready":
            sys.exit("bench_inference did not start")

    def seconds(self, repetitions):
        self.process.stdin.write(f"{repetitions}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class OnnxRuntime:
    def __init__(self, folder, size, batch, threads):
        weights = np.fromfile(f"{folder}/weights.f32", np.float32)
        nhwc = np.fromfile(f"{folder}/input.f32", np.float32).reshape(batch, size, size, 3)
        self.input = {"input": np.ascontiguousarray(nhwc.transpose(0, 3, 1, 2))}
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(onnx_model(weights, size, batch), options,
                                                    providers=["CPUExecutionProvider"])

    def output_nhwc(self):
        return self.session.run(None, self.input)[0].transpose(0, 2, 3, 1)

    def seconds(self, repetitions):
        start = time.perf_counter()
        for _ in range(repetitions):
            self.session.run(None, self.input)
        return time.perf_counter() - start


def compare(program, size, batch, precision, threads, rounds):
    """One row: images/s of both (best and median round) and their ratio (of the best, and median of the pairs)."""
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(program, size, batch, precision, threads, folder)
        peer = OnnxRuntime(folder, size, batch, threads)
        mine = np.fromfile(f"{folder}/output.f32", np.float32)
        theirs = peer.output_nhwc().ravel()
        difference = float(np.abs(mine - theirs).max() / np.abs(theirs).max())
        repetitions = max(1, round(0.25 / max(peer.seconds(1), ours.seconds(1))))
        pairs = [(ours.seconds(repetitions), peer.seconds(repetitions)) for _ in range(rounds)]
        ours.close()
    images = repetitions * batch
    return {"precision": precision, "threads": threads, "batch": batch,
            "ours": [images / pick(a for a, _ in pairs) for pick in (min, statistics.median)],
            "onnxruntime": [images / pick(b for _, b in pairs) for pick in (min, statistics.median)],
            "ratio_of_best": min(b for _, b in pairs) / min(a for a, _ in pairs),
            "ratio": statistics.median(b / a for a, b in pairs),
            "difference": difference}


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        return next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), "unknown")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="path of bench_inference")
    parser.add_argument("--size", type=int, default=416, help="input pixels")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--precisions", nargs="+", default=["fp32", "bf16"])
    parser.add_argument("--rounds", type=int, default=25)
    options = parser.parse_args()
    print(f"{cpu_name()}, {os.cpu_count()} cores, {platform.system()}; ONNX Runtime {onnxruntime.__version__}, "
          f"onnx {onnx.__version__}; tiny-yolov2 at {options.size} pixels, {options.rounds} rounds\n")
    print("| precision (ours) | threads | batch | ours, images/s: best (median) "
          "| ONNX Runtime fp32, images/s: best (median) | ratio of best | median ratio of pairs | largest difference |")
    print("|-|-|-|-|-|-|-|-|")
    for precision in options.precisions:
        for threads in options.threads:
            for batch in options.batches:
                row = compare(options.program, options.size, batch, precision, threads, options.rounds)
                print("| {precision} | {threads} | {batch} | {ours[0]:.1f} ({ours[1]:.1f}) "
                      "| {onnxruntime[0]:.1f} ({onnxruntime[1]:.1f}) | {ratio_of_best:.2f} | {ratio:.2f} "
                      "| {difference:.1e} |".format(**row), flush=True)


if __name__ == "__main__":
    main()

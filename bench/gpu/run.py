#!/usr/bin/env python3
"""Everything that a machine with a GPU is asked, in one go: builds, tests, looks for memory errors, times inference
and training against PyTorch and the roofline. Writes results.json and results.md into a folder. Each part may fail alone.

    bench/gpu/run.py OUT [--programs DIR] [--device cuda] [--budget 580]
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = ["test_workloads_cudnn", "test_workloads_cuda_engine", "test_workloads_cuda_training", "bench_gpu",
           "bench_training"]
# Multiply-accumulates of an image; a training step takes three times as many.
MULTIPLY_ACCUMULATES = {"resnet-50": 4.089e9, "alexnet": 0.714e9}
STEPS = 20  # of a training's timing
# Where PyTorch is not there to measure them: an H200's, as published for dense bf16 and measured by others.
ASSUMED = {"operations_per_s": 790e12, "bytes_per_s": 4.3e12, "assumed": True}


class Session:
    """Runs the parts, each within the time that is left, and keeps what they said."""

    def __init__(self, out, budget):
        self.out, self.end, self.parts, self.now = out, time.monotonic() + budget, [], None

    def left(self):
        return self.end - time.monotonic()

    def run(self, name, command, most, **options):
        """Standard output of the command, or None; the part and its end go into the report."""
        limit = min(most, self.left())
        part = {"name": name, "command": " ".join(map(str, command))}
        start = time.monotonic()
        try:
            if limit <= 1:
                raise TimeoutError("no time was left")
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=limit, check=False,
                                  **options)
            part["exit"] = done.returncode
            (self.out / f"{name.replace(' ', '-')}.log").write_text(done.stdout + done.stderr, encoding="utf-8")
            if done.returncode != 0:
                part["error"] = (done.stderr or done.stdout).strip()[-600:]
            return done.stdout if done.returncode == 0 else None
        except (OSError, TimeoutError, subprocess.TimeoutExpired) as error:
            part["error"] = str(error)[-600:]
            return None
        finally:
            part["seconds"] = round(time.monotonic() - start, 1)
            self.parts.append(part)
            print(f"{name}: {part.get('error', 'done')} ({part['seconds']} s)", flush=True)


def build(session):
    folder = session.out / "build"
    configured = session.run("configure", ["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
                                           "-DDOETUNE_CUDA=ON", "-DDOETUNE_WITH_BENCHMARKS=ON",
                                           "-DCMAKE_CUDA_ARCHITECTURES=native"], 120)
    if configured is not None:
        session.run("build", ["cmake", "--build", folder, "-j", os.cpu_count() or 1, "--target", *TARGETS], 420)
    return folder / "bin"


def lines(text):
    """The JSON objects among the lines of a program's output."""
    found = []
    for line in (text or "").splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def has_torch():
    return subprocess.run([sys.executable, "-c", "import torch; assert torch.cuda.is_available()"],
                          capture_output=True, check=False).returncode == 0


def measure(session, programs, options):
    """Rows of our program and of PyTorch, and the ceilings that the roofline is of."""
    ceilings, peer = dict(ASSUMED), pathlib.Path(__file__).with_name("torch_peer.py")
    torch_is_there = has_torch()
    if torch_is_there:
        ceilings = (lines(session.run("ceilings", [sys.executable, peer, "ceilings"], 60)) or [ceilings])[-1]
    ours, theirs = [], []
    for network in options.networks:
        for batch in options.batches:
            command = [programs / "bench_gpu", options.device, network, options.precision, batch, options.seconds,
                       ceilings["operations_per_s"], ceilings["bytes_per_s"]]
            ours += lines(session.run(f"{network} batch {batch}", command, 90))
        if torch_is_there:
            command = [sys.executable, peer, network, options.seconds, *options.batches]
            theirs += lines(session.run(f"torch {network}", command, 150))
    return {"ceilings": ceilings, "ours": ours, "torch": theirs}


def training(session, programs, options):
    """Rows of training steps, ours and PyTorch's."""
    peer = pathlib.Path(__file__).with_name("torch_peer.py")
    torch_is_there = has_torch()
    ours, theirs = [], []
    for network in options.training_networks:
        for batch in options.training_batches:
            command = [programs / "bench_training", network, batch, options.precision, 1, options.device]
            said = session.run(f"train {network} batch {batch}", command, 120, input=f"{STEPS}\n" * 3)
            turns = [float(line.split()[0]) for line in (said or "").splitlines()[1:]]
            if turns:
                ours.append({"network": network, "batch": batch, "images_per_s": STEPS * batch / min(turns)})
        if torch_is_there:
            command = [sys.executable, peer, "train", network, 2 * options.seconds, *options.training_batches]
            theirs += lines(session.run(f"torch train {network}", command, 200))
    return {"training": ours, "torch_training": theirs}


def training_table(results):
    peers = {(row["network"], row["batch"]): row["images_per_s"] for row in results["torch_training"]}
    yield "\n| training | batch | images/s | of the ceiling of operations | PyTorch | ratio |\n|-|-|-|-|-|-|"
    for row in results["training"]:
        peer = peers.get((row["network"], row["batch"]))
        against = [f"{peer:.0f}", f"{row['images_per_s'] / peer:.2f}"] if peer else ["", ""]
        work = 6 * MULTIPLY_ACCUMULATES.get(row["network"], 0)
        share = 100 * work * row["images_per_s"] / results["ceilings"]["operations_per_s"]
        cells = [row["network"], row["batch"], f"{row['images_per_s']:.0f}", f"{share:.1f} %", *against]
        yield "| " + " | ".join(map(str, cells)) + " |"


def table(results):
    peers = {(row["network"], row["batch"]): row["images_per_s"] for row in results["torch"]}
    yield ("| network | batch | images/s | of roofline | PyTorch | ratio | from floats | from pictures | in turn "
           "| gain of overlap | GPU memory, MiB | prepared, s |")
    yield "|" + "-|" * 12
    for row in results["ours"]:
        peer = peers.get((row["network"], row["batch"]))
        against = [f"{peer:.0f}", f"{row['resident_images_per_s'] / peer:.2f}"] if peer else ["", ""]
        cells = [row["network"], row["batch"], f"{row['resident_images_per_s']:.0f}",
                 f"{100 * row['roofline_fraction']:.1f} %", *against, f"{row['floats_images_per_s']:.0f}",
                 f"{row['pictures_images_per_s']:.0f}", f"{row['pictures_in_turn_images_per_s']:.0f}",
                 f"{row['pictures_images_per_s'] / row['pictures_in_turn_images_per_s']:.2f}",
                 f"{row['device_bytes'] / 2**20:.0f}", f"{row['prepared_s']:.1f}"]
        yield "| " + " | ".join(map(str, cells)) + " |"


def report(results):
    ceilings = results["ceilings"]
    device = results["ours"][0]["device"] if results["ours"] else "no device"
    yield f"# {device}\n"
    yield (f"Ceilings{' (assumed)' if ceilings.get('assumed') else ''}: {ceilings['operations_per_s'] / 1e12:.0f} "
           f"TFLOP/s, {ceilings['bytes_per_s'] / 1e12:.2f} TB/s. Load average {results['load'][0]:.1f} at the start.\n")
    yield from table(results)
    yield from training_table(results)
    yield "\n| part | seconds | result |\n|-|-|-|"
    for part in results["parts"]:
        said = part.get("error", "done").replace("\n", " ").replace("|", "/")
        yield f"| {part['name']} | {part['seconds']} | {said} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--programs", type=pathlib.Path, help="where the programs are; nothing is built then")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--networks", nargs="+", default=["resnet-50", "tiny-yolov2"])
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 8, 64, 256])
    parser.add_argument("--training-networks", nargs="+", default=["resnet-50", "alexnet"],
                        choices=sorted(MULTIPLY_ACCUMULATES))
    parser.add_argument("--training-batches", type=int, nargs="+", default=[32, 256])
    parser.add_argument("--seconds", type=float, default=0.5, help="of each timing")
    parser.add_argument("--budget", type=float, default=580, help="seconds for everything")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()
    session = Session(options.out.resolve(), options.budget)
    session.run("gpu", ["nvidia-smi"], 20)
    programs = (options.programs or build(session)).resolve()
    session.run("tests without gpu", [programs / "test_workloads_cudnn"], 60)
    os.environ["DOETUNE_TEST_GPU"] = "1"  # a test that finds no GPU has failed
    session.run("tests", [programs / "test_workloads_cuda_engine"], 120)
    favourites = dict(os.environ, DOETUNE_CUDNN_TIMED="0")
    session.run("training tests", [programs / "test_workloads_cuda_training"], 240, env=favourites)
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    # Timing cuDNN's proposals would run hundreds of its kernels under the tool.
    session.run("memcheck", [sanitizer, "--tool", "memcheck", "--error-exitcode", "9",
                             programs / "test_workloads_cuda_engine", "[layers]"], 150, env=favourites)
    session.run("training memcheck", [sanitizer, "--tool", "memcheck", "--error-exitcode", "9",
                                      programs / "test_workloads_cuda_training", "gradients of every layer kind*"], 150,
                env=favourites)
    results = training(session, programs, options)  # first, for the inference tables are long
    results |= measure(session, programs, options) | {"load": load, "parts": session.parts}
    (options.out / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (options.out / "results.md").write_text("\n".join(report(results)) + "\n", encoding="utf-8")
    sys.exit(1 if any("error" in part for part in session.parts) else 0)


if __name__ == "__main__":
    main()

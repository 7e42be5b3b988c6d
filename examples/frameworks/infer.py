#!/usr/bin/env python3
"""Images per second of one network in one framework: doetune's own engine, ONNX Runtime, or PyTorch.

All run the network that doetune writes down (layers, weights, one batch and what comes out of it), are held against that
output, and are timed alike: batch after batch, from numbers in host memory to numbers in host memory, after a warm-up.
Prints one JSON object. Exit codes: 0 done, 1 failed, 2 an argument is wrong, 77 the framework is not installed, or cannot
run these settings.
"""
import argparse
import importlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

PEERS = {"onnxruntime": ("numpy", "onnx", "onnxruntime"), "pytorch": ("numpy", "torch"),
         "pytorch-compile": ("numpy", "torch")}
# Largest difference from doetune's fp32, as a part of the largest output. Precisions that round weights and activations
# to 8 or 11 bits differ by more than their unit roundoff, since errors go through all layers.
TOLERANCES = {"fp32": 1e-4, "tf32": 2e-2, "bf16": 1e-1, "fp16": 2e-2}


class CannotRun(Exception):
    """The framework is missing, or lacks the precision or the device."""


def installed(framework):
    """The modules of a framework by name."""
    modules = {}
    for name in PEERS[framework]:
        try:
            modules[name] = importlib.import_module(name)
        except ImportError as error:
            raise CannotRun(f"{framework} needs {name}, which does not load in {sys.executable} ({error}); "
                            f"install it by: {sys.executable} -m pip install {' '.join(PEERS[framework])}") from error
    return modules


def run_workload(options, *more):
    """The result of doetune's workload network-inference for these settings."""
    command = [options.doetune, "workload", "network-inference", "--model", options.network,
               "--batch_size", str(options.batch_size), "--threads", str(options.threads), "--device", options.device,
               "--seed", str(options.seed), *more]
    if options.input_size:
        command += ["--input_size", str(options.input_size)]
    # A request file in the environment is this script's own. Threads that wait shall not spin for long, as in doetune's
    # executors: where cores are shared they would keep those from working that they wait for.
    environment = {"GOMP_SPINCOUNT": "1000"}
    environment |= {name: value for name, value in os.environ.items()
                    if name not in ("DOETUNE_REQUEST", "DOETUNE_RESULT")}
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, check=False)
    except OSError as error:
        raise SystemExit(f"infer.py: {options.doetune} cannot be started ({error}); put doetune into PATH, or name it "
                         "by --doetune") from error
    if done.returncode:
        sys.exit(done.returncode if done.returncode > 0 else 1)
    return json.loads(done.stdout.splitlines()[-1])


class Case:
    """A network with weights (as a list of pairs: of filters x channels x rows x columns, and biases), a batch, and
    its output; images are batch x channels x height x width."""

    def __init__(self, numpy, folder, batch):
        self.folder = folder = pathlib.Path(folder)
        self.network = json.loads((folder / "network.json").read_text())
        self.layers = self.network["layers"]
        self.batch = batch
        self.input = self.images(numpy, folder / "input.f32", self.network["input"])
        self.output = self.images(numpy, folder / "output.f32", self.layers[-1]["output"])
        numbers = numpy.fromfile(folder / "weights.f32", numpy.float32)
        self.weights, at = [], 0
        for layer in self.layers:
            if layer["op"] != "convolution":
                continue
            shape = (layer["filters"], self.input_shape(layer)[0], *layer["kernel"])
            count = shape[0] * shape[1] * shape[2] * shape[3]
            self.weights.append((numbers[at:at + count].reshape(shape), numbers[at + count:at + count + shape[0]]))
            at += count + shape[0]
        if at != numbers.size:
            raise ValueError(f"weights.f32 holds {numbers.size} numbers, the network has {at}")

    def images(self, numpy, path, shape):
        channels, height, width = shape
        values = numpy.fromfile(path, numpy.float32).reshape(self.batch, height, width, channels)
        return numpy.ascontiguousarray(values.transpose(0, 3, 1, 2))

    def input_shape(self, layer):
        index = layer["inputs"][0]
        return self.network["input"] if index < 0 else self.layers[index]["output"]


# -- ONNX Runtime ---------------------------------------------------------------------------------


def onnxruntime_batch(modules, case, options):
    """A function that runs one batch and returns its output."""
    runtime = modules["onnxruntime"]
    if options.precision != "fp32":
        raise CannotRun("onnxruntime is run in fp32 alone: its CPU provider has no convolution in another precision")
    providers = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
    there = runtime.get_available_providers()
    device = options.device if options.device != "auto" else "cuda" if providers["cuda"] in there else "cpu"
    if providers[device] not in there:
        raise CannotRun(f"this onnxruntime has no {providers[device]}")
    session_options = runtime.SessionOptions()
    session_options.intra_op_num_threads = options.threads
    session_options.inter_op_num_threads = 1
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "inference"))
    model, _ = importlib.import_module("onnx_network").onnx_model(case.folder, case.batch)
    session = runtime.InferenceSession(model, session_options, providers=[providers[device]])
    return lambda: session.run(None, {"input": case.input})[0]


# -- PyTorch --------------------------------------------------------------------------------------


def torch_activated(functional, value, slope):
    if slope == 1:
        return value
    return functional.relu_(value) if slope == 0 else functional.leaky_relu_(value, slope)


def torch_reorg(case, layer):
    """Darknet's: space to depth of the same memory seen as stride x stride times larger planes."""
    (channels, height, width), stride = case.input_shape(layer), layer["stride"]
    planes = (case.batch, channels // stride ** 2, height, stride, width, stride)
    out = (case.batch, *layer["output"])
    return lambda x: x.contiguous().view(planes).permute(0, 3, 5, 1, 2, 4).reshape(out)


def torch_layer(torch, case, layer, weights):
    """A function of a layer's inputs."""
    functional, kind = torch.nn.functional, layer["op"]
    if kind == "convolution":
        w, b = next(weights)
        stride, pad, slope = layer["stride"], tuple(layer["pad"]), layer["slope"]
        if layer["kernel"] == case.input_shape(layer)[1:] and pad == (0, 0):  # fully connected: a matrix product
            matrix = w.contiguous().flatten(1)  # columns in the order of channels x rows x columns
            return lambda x: torch_activated(
                functional, functional.linear(x.contiguous().flatten(1), matrix, b), slope)[:, :, None, None]
        return lambda x: torch_activated(functional, functional.conv2d(x, w, b, stride, pad), slope)
    if kind == "max_pool":
        kernel, stride, before, after = (layer[field] for field in ("kernel", "stride", "pad_before", "pad_after"))
        if before == after:
            return lambda x: functional.max_pool2d(x, kernel, stride, before)
        if before == 0 and stride > 1:  # windows over the far edges, as rounding sizes up has them
            rounded = functional.max_pool2d(torch.zeros(1, *case.input_shape(layer)), kernel, stride, ceil_mode=True)
            if list(rounded.shape[1:]) == layer["output"]:
                return lambda x: functional.max_pool2d(x, kernel, stride, ceil_mode=True)
        return lambda x: functional.max_pool2d(
            functional.pad(x, (before, after) * 2, value=float("-inf")), kernel, stride)
    if kind == "average_pool":
        kernel, stride, pad = layer["kernel"], layer["stride"], layer["pad"]
        if kernel == case.input_shape(layer)[1:]:
            return lambda x: x.mean((2, 3), keepdim=True)
        return lambda x: functional.avg_pool2d(x, kernel, stride, pad, count_include_pad=True)
    if kind == "local_response_norm":
        size, alpha, beta, bias = (layer[field] for field in ("size", "alpha", "beta", "bias"))
        return lambda x: functional.local_response_norm(x, size, alpha, beta, bias)
    if kind == "sum":
        return lambda x, y: torch_activated(functional, x + y, layer["slope"])
    if kind == "upsample":
        return lambda x: functional.interpolate(x, scale_factor=layer["factor"], mode="nearest")
    if kind == "channel_arg_max":
        return lambda x: x.argmax(1, keepdim=True).to(torch.float32)
    if kind == "reorg":
        return torch_reorg(case, layer)
    if kind == "route":
        return lambda *x: x[0] if len(x) == 1 else torch.cat(x, 1)
    raise CannotRun(f"infer.py knows no layer '{kind}'")


def last_readers(layers):
    """For each layer, those whose outputs nobody reads after it."""
    last = {index: reader for reader, layer in enumerate(layers) for index in layer["inputs"]}
    return [[index for index, reader in last.items() if reader == at and index >= 0] for at in range(len(layers))]


def pytorch_batch(modules, case, options):
    """A function that runs one batch and returns its output."""
    torch = modules["torch"]
    if options.device == "cuda" and not torch.cuda.is_available():
        raise CannotRun("PyTorch sees no GPU")
    device = "cuda" if options.device != "cpu" and torch.cuda.is_available() else "cpu"
    if device == "cpu" and options.precision in ("tf32", "fp16"):
        raise CannotRun(f"{options.precision} is left to GPUs")
    torch.set_num_threads(options.threads)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = options.precision == "tf32"
    torch.backends.cudnn.benchmark = True
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(options.precision, torch.float32)
    layout = {"memory_format": torch.channels_last}
    weights = iter([(torch.tensor(w).to(device, kind, **layout), torch.tensor(b).to(device, kind))
                    for w, b in case.weights])
    steps = [torch_layer(torch, case, layer, weights) for layer in case.layers]
    finished = last_readers(case.layers)

    def network(x):
        values = []
        for index, (layer, step) in enumerate(zip(case.layers, steps)):
            values.append(step(*(x if i < 0 else values[i] for i in layer["inputs"])))
            for gone in finished[index]:
                values[gone] = None
        return values[-1]

    if options.framework == "pytorch-compile":
        network = torch.compile(network)
    host = torch.tensor(case.input)

    def batch():
        with torch.inference_mode():
            return network(host.to(device, kind, **layout)).to("cpu", torch.float32).numpy()

    return batch


# -- measuring ------------------------------------------------------------------------------------


def check(numpy, output, case, precision):
    difference = float(numpy.abs(output - case.output).max() / numpy.abs(case.output).max())
    if case.network["head"]["kind"] == "heat_map":  # grey levels: two that are all but equally likely may swap
        difference = float((output != case.output).mean())
    if not difference <= TOLERANCES[precision]:
        raise ValueError(f"the output differs from doetune's by {difference:.2g}, more than {TOLERANCES[precision]:g}")
    return difference


def measure(run, batch, warmup_s, duration_s):
    """Responses of batches one after another."""
    end = time.monotonic() + warmup_s
    run()
    while time.monotonic() < end:
        run()
    begin, times = time.monotonic(), []
    while not times or time.monotonic() < begin + duration_s:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    window = [begin, time.monotonic()]
    latency = statistics.fmean(times)
    return {"responses": {"throughput": batch / latency, "latency": latency}, "series": {"latency": times[:10000]},
            "window": window}


def run_peer(options):
    modules = installed(options.framework)
    start = onnxruntime_batch if options.framework == "onnxruntime" else pytorch_batch
    with tempfile.TemporaryDirectory() as folder:
        run_workload(options, "--dump", folder, "--roofline", "off", "--warmup", "0", "--duration", "0")
        case = Case(modules["numpy"], folder, options.batch_size)
        run = start(modules, case, options)
    difference = check(modules["numpy"], run(), case, options.precision)
    result = measure(run, options.batch_size, options.warmup, options.duration)
    library = modules["onnxruntime" if options.framework == "onnxruntime" else "torch"]
    result["notes"] = {"engine": f"{options.framework} {library.__version__}", "difference": difference}
    return result


def run_doetune(options):
    result = run_workload(options, "--precision", options.precision, "--roofline", "off", "--warmup", str(options.warmup),
                          "--duration", str(options.duration))
    result["responses"] = {name: result["responses"][name] for name in ("throughput", "latency")}
    return result


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    whole = {"type": int}
    parser.add_argument("--framework", required=True, choices=["doetune", *PEERS])
    parser.add_argument("--network", default="tiny-yolov2", help="a model of doetune's workload network-inference")
    parser.add_argument("--batch_size", default=1, **whole)
    parser.add_argument("--threads", default=1, **whole)
    parser.add_argument("--input_size", default=0, help="height in pixels; default: the network's own", **whole)
    parser.add_argument("--precision", default="fp32", choices=list(TOLERANCES))
    parser.add_argument("--device", default="cpu", choices=["auto", "cpu", "cuda"])
    parser.add_argument("--warmup", default=1.0, type=float, help="seconds")
    parser.add_argument("--duration", default=3.0, type=float, help="seconds")
    parser.add_argument("--seed", default=1, help="of weights and images", **whole)
    parser.add_argument("--doetune", default="doetune", help="the program")
    options = parser.parse_args()
    if options.batch_size < 1 or options.threads < 1:
        parser.error("--batch_size and --threads must be at least 1")
    return options


def main():
    options = parse_arguments()
    try:
        result = run_doetune(options) if options.framework == "doetune" else run_peer(options)
    except (CannotRun, MemoryError, ValueError, RuntimeError) as error:
        print(f"infer.py: {error}", file=sys.stderr)
        no_memory = isinstance(error, MemoryError) or "out of memory" in str(error).lower()
        sys.exit(77 if no_memory or isinstance(error, CannotRun) else 1)
    print(json.dumps(result))


if __name__ == "__main__":
    main()

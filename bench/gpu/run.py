#!/usr/bin/env python3
"""Everything that a machine with a GPU is asked, the most important first: does it load, is it right, how fast is it.
What is checked is checked at the same time, and what is timed is alone.

    run.py OUT [--programs DIR] [--parts NAME ...] [--budget SECONDS]

Runs in a bundle (bundle.sh) or in the tree with programs that are built. After each part, OUT/results.json and
OUT/results.md have all that is known so far, and OUT/logs what each step printed, also one that ran out of time. A
part that fails does not keep the others from running; the exit code is 1 if any step failed.
"""
import argparse
import concurrent.futures
import contextlib
import csv
import glob
import json
import os
import pathlib
import queue
import shutil
import signal
import site
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
# Multiply-accumulates of an image; a training step takes three times as many.
MULTIPLY_ACCUMULATES = {"resnet-50": 4.089e9, "alexnet": 0.714e9}
STEPS = 20  # of a training's timing
# Where nothing measures them: an H200's, as published for dense bf16 and measured by others.
ASSUMED = {"operations_per_s": 790e12, "bytes_per_s": 4.3e12, "assumed": True}


class Session:
    """Runs steps, each within the time that is left, and keeps what they printed."""

    def __init__(self, options):
        self.options, self.out, self.programs = options, options.out.resolve(), options.programs.resolve()
        self.end = time.monotonic() + options.budget
        self.peers = {}
        self.parts, self.results = [], {"ceilings": dict(ASSUMED), "load": os.getloadavg()[0]}
        (self.out / "logs").mkdir(parents=True, exist_ok=True)
        os.environ["LD_LIBRARY_PATH"] = ":".join(library_folders())
        os.environ["PATH"] = f"{self.programs}:{os.environ['PATH']}"
        if options.device == "cuda":
            os.environ["DOETUNE_TEST_GPU"] = "1"  # a test that finds no GPU has failed

    def left(self):
        return self.end - time.monotonic()

    def run(self, name, command, most, text="", part=None, **environment):
        """Standard output of the command, or None if it failed; the step goes into the report."""
        part = part or self.parts[-1]
        log = self.out / "logs" / (name.replace(" ", "-").replace("/", "-")[:100] + ".log")
        step = {"name": name, "command": " ".join(map(str, command))}
        start = time.monotonic()
        try:
            printed, step["exit"] = run_logged(command, log, min(most, self.left()), text, environment)
            if "skipped: " in printed:  # a test, for want of a GPU
                step["skipped"] = True
            if step["exit"] != 0:
                step["error"] = (log.read_text(errors="replace").strip() or f"exit code {step['exit']}")[-600:]
        except (OSError, TimeoutError) as error:
            printed, step["error"] = None, str(error)[-600:]
        step["seconds"] = round(time.monotonic() - start, 1)
        part["steps"].append(step)
        said = step.get("error", "skipped" if "skipped" in step else "done")
        print(f"  {name}: {last_line(said)} ({step['seconds']} s)", flush=True)
        return None if "error" in step else printed

    def do(self, name):
        """A part, alone."""
        start = self.begin(name)
        self.guard(self.parts[-1], lambda: PARTS[name](self))
        self.parts[-1]["seconds"] = round(time.monotonic() - start, 1)
        self.write()

    def check(self, names):
        """Parts that only make jobs, whose jobs run at the same time."""
        jobs = []
        for name in names:
            self.begin(name)
            part = self.parts[-1]
            for job in self.guard(part, lambda name=name: list(CHECKS[name](self))) or []:
                jobs.append((part, job))
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for part, (title, command, most, environment) in jobs:
                pool.submit(self.run, title, command, most, part=part, **environment)
        for part in self.parts[len(self.parts) - len(names):]:
            part["seconds"] = round(sum(step["seconds"] for step in part["steps"]), 1)
        self.write()

    def begin(self, name):
        print(f"{name}:", flush=True)
        self.parts.append({"name": name, "steps": []})
        return time.monotonic()

    def guard(self, part, work):
        """What work returns. Whatever goes wrong in it, the other parts go on."""
        try:
            return work()
        except Exception as error:
            part["steps"].append({"name": part["name"], "seconds": 0, "error": f"{type(error).__name__}: {error}"})
            print(f"  {error}", flush=True)
        return None

    def write(self):
        written = self.results | {"parts": self.parts}
        (self.out / "results.json").write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
        (self.out / "results.md").write_text("\n".join(report(written)) + "\n", encoding="utf-8")

    def settle(self):
        """PyTorch's processes have compiled, or are ended: from now on, what is timed is alone."""
        for peer in self.peers.values():
            peer.wait_until_ready(min(peer.begun + self.options.compile, self.end) - time.monotonic())
            if not peer.ready:
                peer.end()

    def ask(self, name):
        """The rows of a peer that was held, which ends then; none if there is none."""
        if name not in self.peers:
            return []
        step, start = {"name": f"torch {name}"}, time.monotonic()
        rows = self.peers.pop(name).ask(min(60, self.left()))
        if not rows:
            step["error"] = (self.out / "logs" / peer_log(name)).read_text(errors="replace")[-600:] or "no answer"
        step["seconds"] = round(time.monotonic() - start, 1)
        self.parts[-1]["steps"].append(step)
        print(f"  torch {name}: {last_line(step.get('error', 'done'))} ({step['seconds']} s)", flush=True)
        return rows

    def failed(self):
        return [step["name"] for part in self.parts for step in part["steps"] if "error" in step]


def peer_log(name):
    return f"torch-{name}.log".replace(" ", "-")


class Peer:
    """A process of PyTorch that compiles, and is timed when it is asked."""

    def __init__(self, command, log):
        self.lines, self.ready, self.begun = queue.Queue(), False, time.monotonic()
        with open(log, "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=errors, text=True, start_new_session=True,
                                            env={**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "2"})
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def next_line(self, most):
        try:
            return self.lines.get(timeout=max(0, most))
        except queue.Empty:
            return ""

    def wait_until_ready(self, most):
        end = time.monotonic() + most
        while not self.ready and not self.ended() and (line := self.next_line(end - time.monotonic())):
            self.ready = line.strip() == "ready"

    def ask(self, most):
        rows = []
        if self.ready:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
            rows = json_lines(self.next_line(most))
        self.end()
        return rows

    def ended(self):
        return self.process.stdin.closed

    def end(self):
        if self.ended():
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()


def run_logged(command, log, limit, text, environment):
    """Output and exit code. A command that is out of time is killed with all of its processes."""
    if limit <= 1:
        raise TimeoutError("no time was left")
    with open(log, "w+", encoding="utf-8", errors="replace") as output, open(f"{log}.errors", "w+") as errors:
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=output, stderr=errors,
                                   env={**os.environ, **environment}, text=True, start_new_session=True)
        try:
            process.communicate(text, timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise TimeoutError(f"not done after {limit:.0f} s") from None
        finally:
            errors.seek(0)
            output.seek(0)
            printed = output.read()
            output.write(errors.read())
            os.unlink(errors.name)
    return printed, process.returncode


def last_line(text):
    return text.strip().splitlines()[-1][:150]


def library_folders():
    """The bundle's, then those of NVIDIA's Python packages, then what is set."""
    sites = {*site.getsitepackages(), site.getusersitepackages(), *filter(None, sys.path)}
    packages = sorted(folder for place in sites for folder in glob.glob(f"{place}/nvidia/*/lib"))
    return [str(HERE / "lib"), *packages, "/usr/local/cuda/lib64", *os.environ.get("LD_LIBRARY_PATH", "").split(":")]


def json_lines(text):
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


def libraries(session):
    """Every program finds every library."""
    for program in sorted(path for path in session.programs.rglob("*") if path.is_file()):
        if b"\x7fELF" != program.read_bytes()[:4]:
            continue
        printed = session.run(f"ldd {program.name}", ["ldd", program], 10) or ""
        missing = [line.split()[0] for line in printed.splitlines() if "not found" in line]
        if missing:
            session.parts[-1]["steps"][-1]["error"] = "not found: " + ", ".join(missing)
            print(f"    not found: {', '.join(missing)}", flush=True)


def smoke(session):
    options = session.options
    if options.device == "cuda":
        session.run("nvidia-smi", ["nvidia-smi"], 20)
    session.run("smoke", [session.programs / "bench_gpu", options.device, "tiny-yolov2", options.precision, 1, 0.2,
                          ASSUMED["operations_per_s"], ASSUMED["bytes_per_s"]], 20)


def each_alone(session, program, which, most):
    """One that hangs or ends the program takes no other with it."""
    program = session.programs / program
    listed = ""
    with contextlib.suppress(OSError):  # the step says what is wrong
        # The exit code is the number of tests.
        listed = subprocess.run([program, "--list-test-names-only"], capture_output=True, text=True, check=False).stdout
    if not listed:
        yield f"list {program.name}", [program, "--list-tests"], 20, {}
    for name in filter(which, listed.splitlines()):
        escaped = name.replace("\\", "\\\\").replace(",", "\\,").replace("[", "\\[")
        yield name, [program, escaped], most, {"DOETUNE_CUDNN_TIMED": "0"}


def layers(session):
    yield from each_alone(session, "test_workloads_cuda_engine", lambda name: True, 120)
    yield from each_alone(session, "test_workloads_cuda_language", lambda name: True, 120)


def gradients(session):
    yield from each_alone(session, "test_workloads_cuda_training", lambda name: "gradient" in name, 120)


def training(session):
    yield from each_alone(session, "test_workloads_cuda_training", lambda name: "gradient" not in name, 120)


def memcheck(session):
    """compute-sanitizer on our kernels. Timing cuDNN's proposals would run hundreds of its kernels under it."""
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    for name, program, cases in [("memcheck", "test_workloads_cuda_engine", "[layers]"),
                                 ("training memcheck", "test_workloads_cuda_training", "gradients of every layer*"),
                                 ("language memcheck", "test_workloads_cuda_language", "a cache of fewer bits*")]:
        yield (name, [sanitizer, "--tool", "memcheck", "--error-exitcode", "9", session.programs / program, cases],
               150, {"DOETUNE_CUDNN_TIMED": "0"})


def peers(session):
    """PyTorch compiles everything at the same time, each batch in a process that is timed later."""
    if not has_torch():
        return []
    options, commands = session.options, {}
    for part, kind, networks, batches, seconds in [
            ("timings", [], options.networks, options.batches, options.seconds),
            ("training-timings", ["train"], options.training_networks, options.training_batches, 2 * options.seconds)]:
        for network in networks if part in options.parts else []:
            for batch in batches:
                commands[" ".join([*kind, f"{network} batch {batch}"])] = [*kind, network, seconds, batch]
    if "language" in options.parts:
        commands["language"] = ["language", "llama-3-8b", 512, 64, 1, 8, 64]
    for name, words in commands.items():
        command = [sys.executable, HERE / "torch_peer.py", *words]
        session.peers[name] = Peer(command, session.out / "logs" / peer_log(name))
    return []


def workload(session, name, program, settings, most=60):
    """Its responses, or none."""
    words = [word for key, value in settings.items() for word in (f"--{key}", value)]
    printed = session.run(name, [session.programs / "workloads" / program, *words], most)
    return {**settings, **json_lines(printed)[-1]["responses"]} if json_lines(printed) else None


def ceilings(session):
    """Peak rates: by PyTorch, else by our own products and copies."""
    session.settle()
    if has_torch():
        found = json_lines(session.run("torch ceilings", [sys.executable, HERE / "torch_peer.py", "ceilings"], 60))
        session.results["ceilings"] = (found or [dict(ASSUMED)])[-1]
    device, precision = session.options.device, session.options.precision
    size = 8192 if device == "cuda" else 512
    rows = [workload(session, "gemm", "gemm", {"size": size, "precision": precision, "device": device}),
            workload(session, "copy", "copy", {"size": 1024 if device == "cuda" else 16, "device": device})]  # MiB
    session.results["own_ceilings"] = [row for row in rows if row]


def timings(session):
    """Each batch in a process of its own, ours and PyTorch's in turn."""
    peak, options = session.results["ceilings"], session.options
    ours, theirs = session.results.setdefault("ours", []), session.results.setdefault("torch", [])
    session.settle()
    for network in options.networks:
        for batch in options.batches:
            command = [session.programs / "bench_gpu", options.device, network, options.precision, batch,
                       options.seconds, peak["operations_per_s"], peak["bytes_per_s"]]
            ours += json_lines(session.run(f"{network} batch {batch}", command, 90))
            theirs += session.ask(f"{network} batch {batch}")


def training_timings(session):
    options = session.options
    ours, theirs = session.results.setdefault("training", []), session.results.setdefault("torch_training", [])
    session.settle()
    for network in options.training_networks:
        for batch in options.training_batches:
            command = [session.programs / "bench_training", network, batch, options.precision, 1, options.device]
            printed = session.run(f"train {network} batch {batch}", command, 120, text=f"{STEPS}\n" * 3)
            turns = [float(line.split()[0]) for line in (printed or "").splitlines()[1:]]
            if turns:
                ours.append({"network": network, "batch": batch, "images_per_s": STEPS * batch / min(turns)})
            theirs += session.ask(f"train {network} batch {batch}")


def profiles(session):
    """Time and bytes of each kernel, by Nsight Compute and PyTorch's profiler. The plans are in the cache by now."""
    options, largest = session.options, max(session.options.batches)
    counters = ["gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum"]
    start = [shutil.which("ncu") or "/usr/local/cuda/bin/ncu", "--clock-control", "none", "--cache-control", "none",
             "--csv", "--page", "raw", "--metrics", ",".join(counters), "--launch-skip"]
    # A decoder has the profile begin once it is prepared; the first step reads the prompts.
    works = [(f"llama-3-8b batch {batch}", (330, 600),
              ["--profile-from-start", "no", session.programs / "workloads" / "llm-inference", "--model", "llama-3-8b",
               "--precision", "bf16", "--cache_precision", "bf16", "--device", options.device, "--batch_size", batch,
               "--prompt_tokens", 512, "--output_tokens", 64, "--prefill_chunk", 512 * batch, "--warmup", 0,
               "--duration", 0.01, "--roofline", "off", "--requests", 1], None, "") for batch in (1, 8, 64)]
    works += [(f"{network} batch {batch}", (0, 600), [session.programs / "bench_gpu", options.device, network,
                                                 options.precision, batch, 0, 1, 1], ["profile", network, batch], "")
              for network in options.networks for batch in (largest, 1)]
    works += [(f"train {network} batch {max(options.training_batches)}", (0, 1200),
               [session.programs / "bench_training", network, max(options.training_batches), options.precision, 1,
                options.device], ["profile-train", network, max(options.training_batches)], "2\n")
              for network in options.training_networks]
    session.results["profiles"] = {}
    for name, (skipped, profiled), command, peer, text in works:
        printed = session.run(f"profile {name}", [*start, skipped, "--launch-count", profiled, *command], 90, text=text)
        session.results["profiles"][name] = kernels(printed or "", counters)
        if peer and options.peer_profiles and has_torch():
            session.run(f"torch profile {name}", [sys.executable, HERE / "torch_peer.py", *peer], 90)


def kernels(printed, counters):
    """[name, launches, sum of each counter] of each kernel in the profiler's table, the longest first."""
    table = list(csv.reader(printed.splitlines()))
    first = next((i for i, row in enumerate(table) if "Kernel Name" in row), len(table))
    totals = {}
    for row in table[first + 2:]:  # after the names and the units
        if len(row) != len(table[first]):
            continue
        heads = table[first]
        fields = dict(zip(heads, row))
        total = totals.setdefault(fields["Kernel Name"], [0] * (1 + len(counters)))
        total[0] += 1
        for i, counter in enumerate(counters):
            total[1 + i] += float(fields[counter].replace(",", "") or 0)
    return sorted(([name, *total] for name, total in totals.items()), key=lambda row: -row[2])


def language(session):
    """Language models: all prompts of a batch in a step, then answers of 64 tokens."""
    small = {"layers": 2, "width": 64, "heads": 4, "kv_heads": 2, "ffn_width": 128, "vocabulary": 500,
             "positions": 1024, "device": "cpu", "prompt_tokens": 64, "output_tokens": 8, "duration": 0.2, "warmup": 0}
    session.results["language"] = []
    session.settle()
    for model, batch, prompt, cache in [
            ("tinyllama-1.1b", 1, 512, "bf16"), ("llama-3-8b", 1, 512, "bf16"), ("llama-3-8b", 2, 512, "bf16"),
            ("llama-3-8b", 8, 512, "bf16"), ("llama-3-8b", 32, 512, "bf16"), ("llama-3-8b", 64, 512, "bf16"),
            ("llama-3-8b", 64, 512, "int8"), ("llama-3-8b", 64, 512, "fp8"), ("llama-3-8b", 256, 128, "bf16")]:
        settings = {"model": model, "batch_size": batch, "cache_precision": cache, "precision": "bf16",
                    "device": "cuda", "prompt_tokens": prompt, "output_tokens": 64, "prefill_chunk": batch * prompt,
                    "requests": batch, "warmup": 1, "duration": 2}
        if session.options.device == "cpu":
            settings |= small
        row = workload(session, f"{model} batch {batch} {cache}", "llm-inference", settings)
        session.results["language"] += [row] if row else []
    session.results["torch_language"] = [row for rows in session.ask("language") for row in rows["rows"]]


def sharing(session):
    """Executors of one GPU: processes that take turns or run at once, threads with streams or parts of the GPU."""
    settings = {"model": "tiny-yolov2", "precision": session.options.precision, "device": session.options.device,
                "channels": 32, "decode_rate": 5, "interval": 1, "batch_size": 8, "warmup": 1, "duration": 4}
    if session.options.device == "cpu":
        settings |= {"channels": 2, "input_size": 64, "interval": 0.2, "warmup": 0.2, "duration": 0.4}
    kinds = ["process", "mps", "stream", "green"] if session.options.device == "cuda" else ["process", "stream"]
    session.results["sharing"] = []
    for executors in (1, 2, 4):
        for kind in kinds if executors > 1 else kinds[:1]:
            row = workload(session, f"{executors} executors, {kind}", "stream-inference",
                           {"executors_per_gpu": executors, "sharing": kind, **settings})
            session.results["sharing"] += [row] if row else []


def communication(session):
    row = workload(session, "NCCL with one rank", "all-reduce", {"ranks": 1, "transport": "nccl"})
    session.results["communication"] = [row] if row else []


def study(session):
    """A designed experiment over executors, batch size and decoding rate, to its report."""
    folder = session.out / "study"
    shutil.rmtree(folder, ignore_errors=True)
    yaml = (HERE / "executors.yaml").read_text(encoding="utf-8")
    if session.options.device == "cpu":
        yaml = (yaml.replace("device: cuda", "device: cpu").replace("bf16", session.options.precision)
                .replace("channels: 32, interval: 1, warmup: 1, duration: 5",
                         "input_size: 64, channels: 2, interval: 0.5, warmup: 0.1, duration: 1"))
    (session.out / "study.yaml").write_text(yaml, encoding="utf-8")
    for words, most in [(["plan", session.out / "study.yaml", "-o", folder], 20), (["run", folder], 280),
                        (["report", folder], 60)]:
        session.run(f"doetune {words[0]}", [session.programs / "doetune", *words], most)


# In order of what is to be known first. The ceilings are needed by the timings.
FIRST = {"libraries": libraries, "smoke": smoke}
CHECKS = {"layers": layers, "gradients": gradients, "training": training, "memcheck": memcheck, "peers": peers}
PARTS = FIRST | {"ceilings": ceilings, "timings": timings, "training-timings": training_timings,
                 "language": language, "sharing": sharing,
                 "communication": communication, "study": study, "profiles": profiles}


def against(row, rate, peers):
    peer = {(other["network"], other["batch"]): other["images_per_s"] for other in peers}.get(
        (row["network"], row["batch"]))
    return [f"{peer:.0f}", f"{rate / peer:.2f}"] if peer else ["", ""]


def line(cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def training_table(results):
    if not results.get("training"):
        return
    yield "\n| training | batch | images/s | of the ceiling of operations | PyTorch | ratio |\n|-|-|-|-|-|-|"
    for row in results["training"]:
        work = 6 * MULTIPLY_ACCUMULATES.get(row["network"], 0) * row["images_per_s"]
        yield line([row["network"], row["batch"], f"{row['images_per_s']:.0f}",
                    f"{100 * work / results['ceilings']['operations_per_s']:.1f} %",
                    *against(row, row["images_per_s"], results["torch_training"])])


def inference_table(results):
    if not results.get("ours"):
        return
    yield ("\n| network | batch | images/s | of roofline | PyTorch | ratio | from floats | from pictures | in turn "
           "| gain of overlap | GPU memory, MiB | prepared, s |")
    yield "|" + "-|" * 12
    for row in results["ours"]:
        yield line([row["network"], row["batch"], f"{row['resident_images_per_s']:.0f}",
                    f"{100 * row['roofline_fraction']:.1f} %",
                    *against(row, row["resident_images_per_s"], results["torch"]),
                    f"{row['floats_images_per_s']:.0f}", f"{row['pictures_images_per_s']:.0f}",
                    f"{row['pictures_in_turn_images_per_s']:.0f}",
                    f"{row['pictures_images_per_s'] / row['pictures_in_turn_images_per_s']:.2f}",
                    f"{row['device_bytes'] / 2**20:.0f}", f"{row['prepared_s']:.1f}"])


def language_table(results):
    if not results.get("language"):
        return
    yield ("\n| model | batch | cache | answers, tokens/s | PyTorch | ratio | next token, ms | PyTorch | ratio "
           "| decode, GB/s | of the bandwidth | of roofline |")
    yield "|" + "-|" * 12
    peers = {(row["model"], row["batch"]): row for row in results.get("torch_language", [])}
    for row in results["language"]:
        bandwidth, rate = row.get("decode_bandwidth", 0), row["output_tokens_per_second"]
        gap = row.get("inter_token_latency")  # none where every answer has one token
        peer = peers.get((row["model"], row["batch_size"])) if row["cache_precision"] == "bf16" else None
        rates, gaps = ["", ""], ["", ""]
        if peer:
            rates = [f"{peer['output_tokens_per_s']:.0f}", f"{rate / peer['output_tokens_per_s']:.2f}"]
        if peer and gap:
            gaps = [f"{1000 * peer['next_token_s']:.2f}", f"{peer['next_token_s'] / gap:.2f}"]
        yield line([row["model"], row["batch_size"], row["cache_precision"], f"{rate:.0f}", *rates,
                    f"{1000 * gap:.2f}" if gap else "", *gaps, f"{bandwidth:.0f}",
                    f"{100e9 * bandwidth / results['ceilings']['bytes_per_s']:.1f} %",
                    f"{100 * row['roofline_fraction']:.1f} %"])


def sharing_table(results):
    if not results.get("sharing"):
        return
    yield "\n| executors | sharing | images/s | processing time, s |\n|-|-|-|-|"
    for row in results["sharing"]:
        yield line([row["executors_per_gpu"], row["sharing"], f"{row['throughput']:.0f}",
                    f"{row['processing_time']:.3f}"])


def report(results):
    peak = results["ceilings"]
    device = results["ours"][0]["device"] if results.get("ours") else "no device was measured"
    yield f"# {device}\n"
    yield (f"Ceilings{' (assumed)' if peak.get('assumed') else ''}: {peak['operations_per_s'] / 1e12:.0f} TFLOP/s, "
           f"{peak['bytes_per_s'] / 1e12:.2f} TB/s. Load average {results['load']:.1f} at the start.")
    yield from inference_table(results)
    yield from training_table(results)
    yield from language_table(results)
    yield from sharing_table(results)
    yield "\n| part | seconds | steps | skipped | failed |\n|-|-|-|-|-|"
    for part in results["parts"]:
        counts = [sum(key in step for step in part["steps"]) for key in ("skipped", "error")]
        yield line([part["name"], part["seconds"], len(part["steps"]), *counts])
    for part in results["parts"]:
        for step in part["steps"]:
            if "error" in step:
                yield f"\n{part['name']}, {step['name']} ({step['seconds']} s):\n\n```\n{step['error']}\n```"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    bundled = HERE / "bin"
    built = HERE.parents[1] / "build/bench/bin"
    parser.add_argument("--programs", type=pathlib.Path, default=bundled if bundled.is_dir() else built)
    every = [*FIRST, *CHECKS, *filter(lambda name: name not in FIRST, PARTS)]
    parser.add_argument("--parts", nargs="+", choices=every, default=every)
    parser.add_argument("--jobs", type=int, default=max(1, min(12, os.cpu_count() - 2)), help="checks at a time")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--networks", nargs="+", default=["resnet-50", "tiny-yolov2"])
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 8, 64, 256])
    parser.add_argument("--training-networks", nargs="+", default=["resnet-50", "alexnet"],
                        choices=sorted(MULTIPLY_ACCUMULATES))
    parser.add_argument("--training-batches", type=int, nargs="+", default=[32, 256])
    parser.add_argument("--peer-profiles", action="store_true", help="profile PyTorch's kernels too")
    parser.add_argument("--compile", type=float, default=180,
                        help="seconds from the start of a process of PyTorch's until it has compiled")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each timing")
    parser.add_argument("--budget", type=float, default=580, help="seconds for everything")
    options = parser.parse_args()
    session = Session(options)
    for name in filter(FIRST.get, options.parts):
        session.do(name)
    session.check([name for name in options.parts if name in CHECKS])
    for name in options.parts:
        if name in PARTS and name not in FIRST:
            session.do(name)
    for peer in session.peers.values():
        peer.end()
    failed = session.failed()
    print(f"{sum(len(part['steps']) for part in session.parts)} steps, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

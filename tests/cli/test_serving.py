#!/usr/bin/env python3
"""The studies of examples/serving: llama.cpp's really runs; the others start the null server, in the
place of servers that need a GPU, with the options that the study file gives them.

usage: test_serving.py DOETUNE SOURCE_TREE
"""
import csv
import json
import re
import shutil
import subprocess
import sys

from cli_case import CliCase, DOETUNE, TREE, main

EXAMPLE = TREE / "examples/serving"
NULL_SERVER = DOETUNE.parent / "null_server"
ENVIRONMENT = DOETUNE.parent.parent / "llama-cpp-environment"  # kept, so that it is installed once

# The options of each server that the studies use, by its own argument parser: vllm/engine/arg_utils.py
# and vllm/entrypoints of vLLM 0.33.0, sglang/srt/arg_groups/fields of SGLang 0.5.23, command_line_parser.cc of Triton.
OPTIONS = {
    "vllm": """--host --port --max-model-len --tensor-parallel-size --max-num-seqs --max-num-batched-tokens
        --kv-cache-dtype --block-size --speculative-config --enable-chunked-prefill --no-enable-chunked-prefill""",
    "sglang": """--model-path --host --port --context-length --tp-size --max-running-requests --max-prefill-tokens
        --kv-cache-dtype --page-size --chunked-prefill-size --speculative-algorithm
        --speculative-num-draft-tokens""",
    "triton": "--model-repository --http-port --allow-grpc --allow-metrics",
}

# Refuses any other option and becomes the null server.
STAND_IN = """#!/usr/bin/env python3
import json, os, sys
arguments = sys.argv[1:]
unknown = [a for a in arguments if a.startswith("--") and a not in {options!r}.split()]
if unknown:
    sys.exit("unknown options: " + " ".join(unknown))
if "--speculative-config" in arguments:
    json.loads(arguments[arguments.index("--speculative-config") + 1])
if "--model-repository" in arguments:
    place = os.path.join(arguments[arguments.index("--model-repository") + 1], "resnet50/config.pbtxt")
    assert "instance_group [{{ count: " in open(place).read()
port = arguments[arguments.index("{port}") + 1]
os.execv({server!r}, [{server!r}, "--port", port])
"""


class Serving(CliCase):
    def records(self, study):
        lines = (self.directory / study / "runs.jsonl").read_text().splitlines()
        return [record for record in map(json.loads, lines) if "status" in record]

    def adapted(self, name, *changes):
        """The study file with shorter measurements, which any machine can make."""
        text = (EXAMPLE / f"{name}.yaml").read_text()
        for old, new in [(r"warmup: \d+", "warmup: 0.05"), (r"duration: \d+", "duration: 0.2"), *changes]:
            text, count = re.subn(old, new, text)
            self.assertGreater(count, 0, old)
        self.write(f"{name}.yaml", text)

    def run_one(self, name, env, **settings):
        """Plans the study and executes the first run with these settings."""
        self.doetune("plan", f"{name}.yaml", env=env)
        with open(self.directory / name / "plan.csv", newline="") as file:
            run = next(row["run"] for row in csv.DictReader(file)
                       if all(row[factor] == value for factor, value in settings.items()))
        self.doetune("run", name, "--only", run, expect=5, env=env)
        return self.records(name)[-1]

    def null_run(self, name, program, load, port="--port"):
        self.adapted(name, (r"  gpus_per_run: .*\n", ""), load)
        for folder in ("bin", "tmp"):
            (self.directory / folder).mkdir()
        stand_in = STAND_IN.format(options=OPTIONS[name], port=port, server=str(NULL_SERVER))
        self.write_program(f"bin/{program}", stand_in)
        record = self.run_one(name, {"PATH": f"{self.directory}/bin:/usr/bin:/bin",
                                       "TMPDIR": f"{self.directory}/tmp",
                                       "PYTHONPATH": f"{self.directory}/modules"})
        self.assertEqual(record["status"], "completed", record.get("reason"))
        self.assertIn("set_up_s", record)
        return record

    def test_vllm(self):
        record = self.null_run("vllm", "vllm", (r"request_rate: \{low: 1, high: 128, unit: requests/s, baseline: 8", "request_rate: {low: 400, high: 800"))
        self.assertGreaterEqual(record["responses"]["request_rate"], 400)
        self.assertGreater(record["responses"]["output_tokens_per_second"], 0)

    def test_sglang(self):
        # Its module is run by python3; the stand-in is a package of that name.
        (self.directory / "modules/sglang").mkdir(parents=True)
        self.write("modules/sglang/__init__.py", "")
        self.write("modules/sglang/launch_server.py", STAND_IN.format(options=OPTIONS["sglang"], port="--port",
                                                              server=str(NULL_SERVER)))
        record = self.null_run("sglang", "unused", (r"request_rate: \{low: 1, high: 128, unit: requests/s, baseline: 8", "request_rate: {low: 400, high: 800"))
        self.assertGreaterEqual(record["responses"]["request_rate"], 400)

    def test_triton(self):
        shutil.copy(EXAMPLE / "start_triton.sh", self.directory)
        (self.directory / "models/resnet50").mkdir(parents=True)
        self.write("models/resnet50/config.pbtxt", 'backend: "onnxruntime"\n')
        record = self.null_run("triton", "tritonserver", (r"concurrency: \{low: 1, high: 512, type: integer, baseline: 8", "concurrency: {low: 2, high: 4, type: integer"), port="--http-port")
        self.assertGreaterEqual(record["responses"]["concurrency"], 2)
        self.assertGreater(record["responses"]["requests_per_second"], 0)
        self.assertEqual(list((self.directory / "tmp").glob("*/resnet50")), [])  # no copy is left behind

    def test_the_template_is_such_a_study(self):
        self.doetune("init", "--template", "serving", "serving.yaml")
        refused = self.doetune("plan", "serving.yaml", expect=3)
        self.assertIn("cannot run 'vllm'", refused.stderr)
        self.assertIn("18 runs", self.doetune("plan", "--elsewhere", "serving.yaml").stdout)
        self.doetune("run", "serving", expect=3)  # it needs the program, and first of all a GPU

    def test_a_plan_for_elsewhere_is_checked_but_for_its_programs(self):
        self.doetune("init", "--template", "serving", "serving.yaml")
        text = (self.directory / "serving.yaml").read_text()
        self.write("serving.yaml", text.replace('"{port}"', '"{prot}"', 1))
        refused = self.doetune("plan", "--elsewhere", "serving.yaml", expect=3)
        self.assertIn("there is no '{prot}'; did you mean 'port'?", refused.stderr)

    def test_llama_cpp(self):
        python = ENVIRONMENT / "bin/python3"
        if not python.exists() or subprocess.run([python, "-c", "import xllamacpp, gguf"], stderr=subprocess.DEVNULL).returncode:
            subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
            installed = subprocess.run([python, "-m", "pip", "install", "-q", "xllamacpp", "gguf", "numpy"],
                                       capture_output=True, text=True)
            if installed.returncode != 0:
                self.skipTest(f"llama.cpp cannot be installed here: {installed.stderr[-300:]}")
        subprocess.run([python, EXAMPLE / "make_model.py", self.directory / "model.gguf"], check=True)
        shutil.copy(EXAMPLE / "serve_llama_cpp.py", self.directory)
        # Few requests, and one thread: several wait for each other in loops where processors are busy.
        self.adapted("llama-cpp", (r"request_rate: \{low: 1, high: 256, unit: requests/s, baseline: 16", "request_rate: {low: 2, high: 4"),
                     (r'<= 0.25"', '<= 30"'), (r'output_tokens: "8..24"', "output_tokens: 2"), ("token_p90", "token_p50"),
                     ("requests: 64", "requests: 12"))
        record = self.run_one("llama-cpp", {"PATH": f"{ENVIRONMENT}/bin:/usr/bin:/bin"}, threads="1")
        self.assertEqual(record["status"], "completed", record.get("reason"))
        self.assertGreaterEqual(record["responses"]["request_rate"], 2)
        self.assertGreater(record["responses"]["time_to_first_token_p50"], 0)


if __name__ == "__main__":
    main()

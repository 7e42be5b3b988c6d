"""What Spark adds to short runs: bench_spark.py DOETUNE [RUNS] [SECONDS].

RUNS runs that sleep for SECONDS as tasks of one application on local-cluster with two slots, beside their
sum over the slots. spark-submit must be in PATH.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SLOTS = 2


def main():
    doetune = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 0.5
    study = {
        "study": "short",
        "command": ["sh", "-c", f'sleep {seconds}; echo "{{{{\\"y\\": 1}}}}" >"$1"', "short", "{result}"],
        "factors": {"x": {"low": 0, "high": 1}},
        "model": "linear",
        "design": {"type": "full-factorial", "replicates": runs // 2},
        "responses": {"y": {"goal": "maximize"}},
        "run": {"launcher": "spark",
                "spark": {"master": f"local-cluster[{SLOTS},1,512]",
                          "options": ["--conf", "spark.executor.memory=512m"]}},
    }
    with tempfile.TemporaryDirectory(prefix="dt-bench-") as directory:
        work = pathlib.Path(directory)
        (work / "short.yaml").write_text(json.dumps(study))
        subprocess.run([doetune, "plan", "short.yaml"], cwd=work, check=True, stdout=subprocess.DEVNULL)
        journal = work / "short/runs.jsonl"
        began = time.monotonic()
        process = subprocess.Popen([doetune, "run", "short"], cwd=work, stderr=subprocess.DEVNULL)
        first = last = None
        while process.poll() is None:
            done = journal.read_bytes().count(b'"completed"') if journal.exists() else 0
            if first is None and done:
                first = (time.monotonic(), done)
            if done >= runs and last is None:
                last = time.monotonic()
            time.sleep(0.02)
        total = time.monotonic() - began
    if process.returncode != 0:
        sys.exit(f"doetune run ended with exit code {process.returncode}")
    ideal = runs * seconds / SLOTS
    steady = (last or time.monotonic()) - first[0]
    steady_ideal = (runs - first[1]) * seconds / SLOTS
    print(f"{runs} runs of {seconds} s over {SLOTS} slots: {ideal:.1f} s; doetune run {total:.1f} s "
          f"({total / ideal:.2f} times), from the first result {steady:.1f} s ({steady / steady_ideal:.2f} times)")


if __name__ == "__main__":
    main()

"""What the tests of searches share: a system with a best configuration, its study, and what holds for every search."""
import csv
import os
import subprocess
import time

from cli_case import CliCase, DOETUNE

# Throughput is best at 6 executors and a batch of 8; memory does not suffice for more than 60 images
# at a time, nor with a file `cannot` for anything; with `broken` the program fails; `same` and
# `noise` replace the response.
BENCH = """#!/usr/bin/env python3
import json, os, random, sys, time
executors, batch, run = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
time.sleep(float(os.environ.get("SLOW", 0)))
if os.path.exists("broken"):
    sys.exit("no such model")
if os.path.exists("cannot") or executors * batch > 60:
    sys.exit(77)
error = random.Random(run)
y = 1000 - 20 * (executors - 6) ** 2 - 1.5 * (batch - 8) ** 2 + error.gauss(0, 2)
y = 5 if os.path.exists("same") else error.gauss(100, 10) if os.path.exists("noise") else y
print(json.dumps({"throughput": y, "latency": 2 * batch + executors}))
"""

STUDY = """seed: 3
command: [./bench, "{executors}", "{batch}", "{run}"]
factors:
  executors: {levels: [1, 2, 3, 4, 5, 6, 7, 8], baseline: 1}
  batch: {levels: [1, 2, 4, 8, 16, 32], scale: log2, baseline: 2}
responses:
  throughput: {unit: images/s, goal: maximize}
  latency: {unit: ms, goal: at_most, high: 30}
run: {retries: 0, timeout: 1 min, telemetry: 0}
confirm: {runs: 2}
"""

# More noise, and a baseline that is nearly as good as the best.
NOISY = BENCH.replace("gauss(0, 2)", "gauss(0, 20)")
NEARLY_BEST = STUDY.replace("baseline: 1}", "baseline: 4}").replace("baseline: 2}", "baseline: 8}")


class SearchCase(CliCase):
    study, program = STUDY, BENCH

    def rows(self, table="results.csv"):
        with open(self.directory / "tune" / table, newline="") as file:
            return list(csv.DictReader(file))

    def touch(self, name):
        self.write(name, "")

    def check_runs(self, budget):
        """Within the budget, no infeasible configuration twice, no run lost."""
        rows = self.rows()
        self.assertLessEqual(len(rows), budget)
        infeasible = set()
        for row in rows:
            settings = (row["executors"], row["batch"])
            if row["point_type"] == "proposed":
                self.assertNotIn(settings, infeasible)
            if row["status"] == "infeasible":
                infeasible.add(settings)
        self.assertEqual([int(row["run"]) for row in rows], list(range(1, len(rows) + 1)))
        return rows

    def started(self, *arguments, slow, **popen):
        """A search that goes on, in which each run takes `slow` seconds; its first run has begun."""
        search = subprocess.Popen([str(DOETUNE), "tune", "tune.yaml", *map(str, arguments)], cwd=self.directory, text=True,
                                  env={**os.environ, "SLOW": str(slow)}, **popen)
        self.addCleanup(search.wait)
        self.addCleanup(search.kill)
        until = time.monotonic() + 60
        while not (self.directory / "tune/runs/0001.1").exists():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        return search

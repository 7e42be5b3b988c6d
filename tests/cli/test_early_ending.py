#!/usr/bin/env python3
"""A search that ends runs early, as a user types it.

usage: test_early_ending.py DOETUNE SOURCE_TREE
"""
import json
import signal
import subprocess
import time

from cli_case import CliCase, DOETUNE, main

# Each run measures for 12 steps and reports its estimate after each; best at 6 executors and a batch of
# 8. `steps` notes how many each attempt made.
BENCH = """#!/usr/bin/env python3
import json, math, os, random, sys, time
executors, batch, run = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
error = random.Random(run)
y = 1000 - 20 * (executors - 6) ** 2 - 1.5 * (batch - 8) ** 2 + error.gauss(0, 2)
with open(os.environ["DOETUNE_PROGRESS"], "a") as progress, open("steps", "a") as steps:
    for step in range(1, 13):
        time.sleep(0.05)
        estimate = y - 200 * math.exp(-step) + error.gauss(0, 2)
        print(json.dumps({"step": step, "responses": {"throughput": estimate}}), file=progress, flush=True)
        print(run, file=steps, flush=True)
print(json.dumps({"throughput": y}))
"""

STUDY = """seed: 3
command: [./bench, "{executors}", "{batch}", "{run}"]
factors:
  executors: {levels: [1, 2, 3, 4, 5, 6, 7, 8], baseline: 1}
  batch: {levels: [1, 2, 4, 8, 16, 32], scale: log2, baseline: 2}
responses:
  throughput: {unit: images/s, goal: maximize}
run: {retries: 0, timeout: 1 min, telemetry: 0, jobs: 2, end_early: {runs: 4}}
confirm: {runs: 2}
"""


class EarlyEnding(CliCase):
    study, program = STUDY, BENCH

    def search(self, *arguments):
        return self.doetune("tune", "tune.yaml", "--budget", 24, "--tolerance", 0, *arguments)

    def test_clearly_worse_runs_are_ended_and_the_best_is_found(self):
        """The search is killed once, right after it ended a run, and goes on."""
        search = subprocess.Popen([str(DOETUNE), "tune", "tune.yaml", "--budget", "24", "--tolerance", "0"],
                                  cwd=self.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 120
        while time.monotonic() < until and search.poll() is None and \
                not list(self.directory.glob("tune/runs/*/ended_early")):
            time.sleep(0.01)
        search.send_signal(signal.SIGKILL)
        search.wait()
        decided = [file.parent.name for file in self.directory.glob("tune/runs/*/ended_early")]
        self.assertTrue(decided)
        done = self.search()
        self.assertIn("CONFIRMED: 2 runs of this configuration", done.stdout)
        rows = self.rows()
        ended = [row for row in rows if row["status"] == "ended_early"]
        attempts = {(row["run"], row["attempt"]) for row in ended}
        self.assertTrue(attempts >= {tuple(str(int(number)) for number in name.split(".")) for name in decided})
        self.assertEqual({row["point_type"] for row in ended}, {"proposed"})
        self.assertTrue(all(row["status"] in ("completed", "ended_early") for row in rows))
        best = max(float(row["throughput"]) for row in rows if row["status"] == "completed")
        steps = [int(line) for line in (self.directory / "steps").read_text().split()]
        for row in ended:
            self.assertLess(1000 - 20 * (int(row["executors"]) - 6) ** 2 - 1.5 * (int(row["batch"]) - 8) ** 2, best)
            if row["attempt"] == "1":  # a run under way was lost when the search was killed
                self.assertLess(steps.count(int(row["run"])), 12)
        # A configuration that was ended is not proposed again.
        proposed = [(row["executors"], row["batch"]) for row in rows if row["point_type"] == "proposed"]
        for row in ended:
            self.assertEqual(proposed.count((row["executors"], row["batch"])), 1)
        optimum = json.loads((self.directory / "tune/optimum.json").read_text())
        self.assertEqual(optimum["settings"], {"executors": 6, "batch": 8})
        self.check_what_is_shown(ended)

    def check_what_is_shown(self, ended):
        status = self.json_of("status", "tune")
        self.assertEqual(status["ended_early"], len(ended))
        self.assertEqual((status["failed"], status["remaining"]), (0, 0))
        text = self.doetune("status", "tune").stdout
        self.assertIn("ended_early: at step ", text)
        self.assertIn("Nothing to do: all", self.doetune("run", "tune").stderr)
        record = [json.loads(line) for line in (self.directory / "tune/runs.jsonl").read_text().splitlines()
                  if '"ended_early"' in line and line.startswith('{"run"')][0]
        low, high = record["bounds"]["throughput"]
        self.assertIsNone(low)
        self.assertLess(high, 1000)
        self.assertRegex(record["reason"], r"at step \d+, throughput would have been .* at best, against ")
        self.doetune("report", "tune")
        page = (self.directory / "tune/report/report.html").read_text()
        count = len(ended)
        self.assertIn(f"{count} {'run' if count == 1 else 'runs'} ended early as clearly worse than the best", page)
        self.assertRegex(page, r"completed, \d+ ended early")
        # As a table for another study, they are still runs that ended early, and not measurements.
        self.doetune("import", "tune.yaml", "tune/results.csv", "-o", "other")
        self.assertEqual(self.json_of("status", "other")["ended_early"], len(ended))

    def test_without_the_key_all_runs_are_made_to_their_ends(self):
        self.write("tune.yaml", STUDY.replace("jobs: 2, end_early: {runs: 4}", "jobs: 4"))
        self.doetune("tune", "tune.yaml", "--budget", 10)
        self.assertEqual({row["status"] for row in self.rows()}, {"completed"})


if __name__ == "__main__":
    main()

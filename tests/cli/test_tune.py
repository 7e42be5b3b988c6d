#!/usr/bin/env python3
"""The sequential search, as a user types it. Its replay against a table: test_replay.py.

usage: test_tune.py DOETUNE SOURCE_TREE
"""
import csv
import json
import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter

from cli_case import CliCase, DOETUNE, main

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

# A server for each level of a kernel.
SERVED = """run: {retries: 0, telemetry: 0, set_up: [./serve, "{kernel}"], ready: [test, -e, "ready-{kernel}"], ready_within: 20 s}
confirm: {runs: 1}
"""

# More noise, and a baseline that is nearly as good as the best.
NOISY = BENCH.replace("gauss(0, 2)", "gauss(0, 20)")
NEARLY_BEST = STUDY.replace("baseline: 1}", "baseline: 4}").replace("baseline: 2}", "baseline: 8}")


class Tune(CliCase):
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

    def test_from_nothing_to_confirmed_settings(self):
        done = self.doetune("tune", "tune.yaml", "--budget", 24)
        self.assertIn("CONFIRMED: 2 runs of this configuration", done.stdout)
        self.assertIn("expected gain", done.stderr)
        self.assertIn("The search ends: ", done.stderr)
        self.assertIn("Next: doetune report tune", done.stderr)
        self.assertNotIn("warning", done.stderr)
        rows = self.check_runs(24)
        self.assertEqual((rows[0]["executors"], rows[0]["batch"]), ("1", "2"))  # today's settings first
        types = [row["point_type"] for row in rows]
        self.assertEqual((types.count("space-filling"), types.count("confirmation")), (6, 2))
        self.assertIn("proposed", types)
        optimum = json.loads((self.directory / "tune/optimum.json").read_text())
        self.assertEqual(optimum["settings"], {"executors": 6, "batch": 8})
        # It is a study like any other, of its own words.
        self.assertIn("CONFIRMED", self.doetune("report", "tune").stdout)
        page = (self.directory / "tune/report/report.html").read_text()
        story = page[page.index('<section id="search"'):]
        story = story[:story.index("</section>")]
        best = max((row for row in rows if row["point_type"] == "proposed" and row["throughput"]),
                   key=lambda row: float(row["throughput"]))
        self.assertRegex(story, "The search improved throughput from .* in run 1 to .* in run " + best["run"])
        for phase in ("Start", "Search", "Confirmation", "The search ended: "):
            self.assertIn(phase, story)
        figures = {file.stem: ElementTree.parse(file) for file in (self.directory / "tune/report/figures").iterdir()}
        self.assertIn("search-throughput", figures)
        self.assertIn("gaussian-process", self.doetune("fit", "tune").stdout)
        # What is finished stays as it is.
        self.doetune("tune", "tune", "--budget", 24)
        self.assertEqual(self.rows(), rows)

    def test_a_search_that_was_killed_goes_on(self):
        search = subprocess.Popen([str(DOETUNE), "tune", "tune.yaml", "--budget", "20"], cwd=self.directory,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env={**os.environ, "SLOW": "0.3"})
        journal = self.directory / "tune/runs.jsonl"
        until = time.monotonic() + 60
        while time.monotonic() < until and (not journal.exists() or journal.read_text().count('"status"') < 8):
            time.sleep(0.05)
        search.send_signal(signal.SIGKILL)
        search.wait()
        before = journal.read_text().count('"status"')
        self.assertGreaterEqual(before, 8)
        self.doetune("tune", "tune")  # its budget is known
        rows = self.check_runs(20)
        self.assertGreater(len(rows), before)
        self.assertTrue(all(row["status"] in ("completed", "infeasible") for row in rows))

    def test_the_design_of_the_study_is_the_start(self):
        self.write("tune.yaml", STUDY + "design: {type: d-optimal, runs: 8}\nmodel: linear\n")
        self.doetune("tune", "tune.yaml", "--budget", 16)
        types = [row["point_type"] for row in self.check_runs(16)]
        self.assertEqual(types[:8], ["optimal"] * 8)
        self.assertIn("design has 8 runs", self.error_of("tune", "tune.yaml", "--budget", 7, "-o", "b", expect=3))
        self.assertIn("proposed", types)

    def test_several_runs_at_a_time(self):
        self.doetune("tune", "tune.yaml", "--budget", 19, "--jobs", 3)
        types = [row["point_type"] for row in self.check_runs(19)]
        self.assertEqual(types.count("proposed") % 3, 0)

    def test_a_program_that_never_works(self):
        self.touch("broken")
        done = self.doetune("tune", "tune.yaml", "--budget", 20, expect=5)
        self.assertIn("Search stopped: no run has completed", done.stderr)
        self.assertIn("no such model", done.stderr)
        self.assertEqual(sum(row["status"] == "failed" for row in self.rows()), 3)
        self.assertIn("no such model", self.json_of("tune", "tune", expect=5)["error"])

    def test_a_region_where_the_program_fails(self):
        """It is left like one that cannot run: a failed run is made again as often as `retries` says, and no more."""
        self.write_program("bench", BENCH.replace("sys.exit(77)", 'sys.exit("tile size not supported")'))
        self.write("tune.yaml", STUDY.replace("retries: 0", "retries: 1"))
        self.doetune("tune", "tune.yaml", "--budget", 24)
        rows = self.rows()
        failed = [row for row in rows if row["status"] == "failed"]
        self.assertTrue(failed)
        self.assertEqual({row["attempt"] for row in failed}, {"2"})
        self.assertLessEqual(sum(row["point_type"] == "proposed" for row in failed), 3, failed)
        optimum = json.loads((self.directory / "tune/optimum.json").read_text())
        self.assertEqual(optimum["settings"], {"executors": 6, "batch": 8})
        self.doetune("report", "tune")
        contours = (self.directory / "tune/report/figures/contour-throughput-executors-batch.svg").read_text()
        for row in failed:
            self.assertIn(f"run {row['run']}: failed", contours)
        # They may have been fixed since: once more with another call.
        self.doetune("tune", "tune", "--budget", 24)
        self.assertEqual({row["attempt"] for row in self.rows() if row["status"] == "failed"}, {"4"})

    def test_a_failed_repetition_condemns_no_configuration(self):
        """The third run of the best configuration fails, for another reason than its settings."""
        self.write_program("bench", BENCH.replace("error = random", """if (executors, batch) == (6, 8):
    with open("best", "a+") as file:
        file.write("x")
        file.seek(0)
        if len(file.read()) == 3:
            sys.exit("connection reset by peer")
error = random""", 1))
        self.write("tune.yaml", STUDY.replace("runs: 2", "runs: 4"))
        done = self.doetune("tune", "tune.yaml", "--budget", 26, expect=(0, 5))
        best = [row for row in self.rows() if (row["executors"], row["batch"]) == ("6", "8")]
        self.assertEqual([row["status"] for row in best].count("failed"), 1)
        self.assertGreaterEqual(len(best), 4)
        self.assertNotIn("this configuration cannot run:", done.stdout + done.stderr)
        optimum = json.loads((self.directory / "tune/optimum.json").read_text())
        self.assertEqual(optimum["settings"], {"executors": 6, "batch": 8})

    def test_a_level_whose_server_does_not_start_is_left(self):
        self.write_program("bench", """#!/bin/sh
awk -v batch=$1 'BEGIN { print "{\\"throughput\\": " 100 - (batch - 8) ^ 2 / 10 "}" }'
""")
        self.write_program("serve", "#!/bin/sh\n[ $1 != c ] || exit 1\ntouch ready-$1; exec sleep 100\n")
        self.write("tune.yaml", """command: [./bench, "{batch}", "{kernel}"]
factors:
  batch: {low: 1, high: 16}
  kernel: {levels: [a, b, c], hard_to_change: true}
responses: {throughput: {goal: maximize}}
""" + SERVED)
        self.doetune("tune", "tune.yaml", "--budget", 20, expect=(0, 5, 8))
        tried = {row["whole_plot"] for row in self.rows() if row["kernel"] == "c"}
        self.assertLessEqual(len(tried), 2, self.rows())

    def test_no_run_is_spent_on_a_level_whose_server_cannot_run(self):
        """Once it is known, also where a run was skipped for it."""
        self.write_program("bench", """#!/bin/sh
awk -v batch=$1 'BEGIN { print "{\\"throughput\\": " batch "}" }'
""")
        self.write_program("serve", "#!/bin/sh\ncase $1 in c|d) exit 77;; esac\ntouch ready-$1; exec sleep 100\n")
        self.write("tune.yaml", """command: [./bench, "{batch}", "{kernel}"]
factors:
  kernel: {levels: [a, b, c, d], hard_to_change: true}
  batch: {levels: [1, 2, 4]}
  workers: {levels: [1, 2]}
responses: {throughput: {goal: maximize}}
""" + SERVED)
        self.doetune("tune", "tune.yaml", "--budget", 20, expect=(0, 5, 8))
        known = set()
        for record in self.records():
            row = self.rows("plan.csv")[record["run"] - 1]
            if row["point_type"] == "proposed":
                self.assertNotIn(row["kernel"], known, self.rows())
            if record["status"] == "infeasible" and not record.get("same_as"):
                known.add(row["kernel"])
        self.assertTrue(known)

    def a_system_that_changes(self):
        """From the 14th run on large settings cannot run, which were the best."""
        self.write_program("bench", """#!/usr/bin/env python3
import json, os, sys
executors, batch = float(sys.argv[1]), float(sys.argv[2])
with open("made", "a") as file:
    file.write("x")
if os.path.getsize("made") > 13 and executors * batch > 20:
    sys.exit(77)
print(json.dumps({"throughput": executors * batch ** 0.5 - 0.08 * executors * batch, "latency": 1}))
""")
        self.write("tune.yaml", """command: [./bench, "{workers}", "{batch}"]
factors:
  batch: {levels: [1, 2, 4, 8, 16], scale: log2, baseline: 1}
  workers: {low: 1, high: 4, type: integer, baseline: 1}
responses:
  throughput: {goal: maximize, unit: images/s}
run: {telemetry: 0}
confirm: {runs: 3}
""")

    def test_settings_that_can_no_longer_run(self):
        self.a_system_that_changes()
        first = self.doetune("tune", "tune.yaml", "--budget", 40, expect=(0, 5, 8))
        rows = self.rows()
        executed = Counter()
        for record in self.records():
            row = rows[record["run"] - 1]
            if (row["point_type"], row["status"]) == ("confirmation", "infeasible") and "same_as" not in record:
                executed[row["workers"], row["batch"]] += 1
        self.assertTrue(executed)
        self.assertEqual(set(executed.values()), {1}, rows)  # one run is enough
        self.assertIn("next:", first.stderr.partition("The search goes on")[2], first.stderr)
        cannot = {(row["workers"], row["batch"]) for row in rows if row["status"] == "infeasible"}
        for run in re.findall(r"Best measured: run (\d+)", first.stdout)[1:]:  # the first: before it is known
            row = rows[int(run) - 1]
            self.assertNotIn((row["workers"], row["batch"]), cannot, first.stdout)

    def test_the_budget_holds_after_a_confirmation_that_failed(self):
        self.a_system_that_changes()
        self.doetune("tune", "tune.yaml", "--budget", 26, expect=(0, 5, 8))
        for _ in range(2):
            self.doetune("tune", "tune", expect=(0, 5, 8))
            self.assertLessEqual(len(self.rows()), 26)

    def test_a_baseline_that_cannot_run_is_not_confirmed(self):
        self.write("tune.yaml", STUDY.replace("baseline: 1}", "baseline: 8}").replace("baseline: 2}", "baseline: 32}"))
        done = self.doetune("tune", "tune.yaml", "--budget", 20)
        self.assertIn("The baseline is not run: it was infeasible", done.stderr)
        self.assertIn("CONFIRMED", done.stdout)
        self.assertNotIn("baseline", {row["point_type"] for row in self.rows()})

    def test_a_baseline_that_always_fails_is_not_confirmed(self):
        self.write_program("bench", BENCH.replace("error = ", 'executors == 1 and sys.exit("no workers")\nerror = '))
        done = self.doetune("tune", "tune.yaml", "--budget", 20)
        self.assertIn("The baseline is not run: it was infeasible", done.stderr)
        self.assertIn("CONFIRMED", done.stdout)

    def test_the_best_lies_beside_what_cannot_run(self):
        """What completed once, and may not do so again, is repeated rather than given up for something safe."""
        self.write_program("bench", """#!/usr/bin/env python3
import json, random, sys
a, b, run = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
if a < 4:
    sys.exit(77)
print(json.dumps({"y": 100 / (a * b) + random.Random(run).gauss(0, 0.1)}))
""")
        for seed in 1, 2:
            self.write("tune.yaml", f"""seed: {seed}
command: [./bench, "{{a}}", "{{b}}", "{{run}}"]
factors: {{a: {{low: 1, high: 10, baseline: 1}}, b: {{levels: [1, 2, 4, 8], baseline: 8}}}}
responses: {{y: {{goal: maximize}}}}
run: {{telemetry: 0}}
""")
            done = self.doetune("tune", "tune.yaml", "--budget", 24, "-o", f"of-{seed}")
            self.assertIn("CONFIRMED", done.stdout)
            settings = json.loads((self.directory / f"of-{seed}/optimum.json").read_text())["settings"]
            self.assertEqual(settings["b"], 1)
            self.assertLess(settings["a"], 4.5)

    def test_what_is_known_to_be_harder_is_not_tried(self):
        self.write_program("bench", """#!/usr/bin/env python3
import json, sys
batch, width = int(sys.argv[1]), {"s": 1, "m": 2, "l": 4}[sys.argv[2]]
if batch * width > 256:
    sys.exit(77)
print(json.dumps({"tokens": batch ** 0.7 * width ** 0.3}))
""")
        self.write("tune.yaml", """seed: 3
command: [./bench, "{batch}", "{kernel}"]
factors:
  batch: {low: 1, high: 1024, type: integer, scale: log2}
  kernel: {levels: [s, m, l]}
infeasible_when: {batch: higher}
responses: {tokens: {goal: maximize}}
run: {telemetry: 0}
""")
        self.doetune("tune", "tune.yaml", "--budget", 30)
        lowest = {}
        for row in self.rows():
            batch, limit = int(row["batch"]), lowest.get(row["kernel"], 1e9)
            if row["point_type"] == "proposed":
                self.assertLess(batch, limit, self.rows())
            if row["status"] == "infeasible":
                lowest[row["kernel"]] = min(batch, limit)
        self.assertTrue(lowest)

    def test_a_best_value_near_0(self):
        """Of such a best no gain is a small fraction: the range of what was measured counts."""
        self.write_program("bench", """#!/usr/bin/env python3
import json, sys
print(json.dumps({"loss": (float(sys.argv[1]) - 3) ** 2 + (float(sys.argv[2]) - 1) ** 2}))
""")
        self.write("tune.yaml", """command: [./bench, "{x}", "{w}"]
factors: {x: {low: 0, high: 6, step: 0.5}, w: {low: 0, high: 3, step: 0.5}}
responses: {loss: {goal: minimize}}
run: {telemetry: 0}
""")
        done = self.doetune("tune", "tune.yaml", "--budget", 40)
        self.assertIn("The search ends: another run is expected to gain", done.stderr)
        self.assertLess(len(self.rows()), 36)
        self.assertEqual(json.loads((self.directory / "tune/optimum.json").read_text())["settings"], {"x": 3, "w": 1})
        for gain in re.findall(r"expected gain ([\d.]+) %", done.stderr):
            self.assertLess(float(gain), 1000)

    def test_others_that_ask_meanwhile_do_not_end_the_search(self):
        search = subprocess.Popen([str(DOETUNE), "tune", "tune.yaml", "--budget", "14"], cwd=self.directory,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "SLOW": "0.1"})
        self.addCleanup(search.wait)
        self.addCleanup(search.kill)
        until = time.monotonic() + 60
        while not (self.directory / "tune/runs/0001.1").exists():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        while search.poll() is None:
            asked = subprocess.Popen([str(DOETUNE), "next", "tune"], cwd=self.directory, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            time.sleep(0.2)
            asked.kill()
            asked.wait()
        self.assertEqual(search.returncode, 0, search.communicate()[1])
        self.check_runs(14)

    def test_what_comes_next_is_the_search(self):
        self.write("tune.yaml", STUDY + "design: {type: space-filling, runs: 8}\n")
        self.doetune("next", "tune.yaml", "--budget", 20)
        self.assertIn("Next: doetune tune tune", self.doetune("status", "tune").stderr)
        self.doetune("run", "tune")  # the start; the search has not ended
        self.assertIn("Next: doetune tune tune", self.doetune("status", "tune").stderr)
        self.doetune("tune", "tune")
        self.assertIn("Next: doetune report tune", self.doetune("status", "tune").stderr)

    def test_ctrl_c_ends_the_search_after_the_run(self):
        for runs in (2, 8):  # of the start, and after it, when no other run is planned
            search = subprocess.Popen([str(DOETUNE), "tune", "tune.yaml", "--budget", "24", "-o", f"after-{runs}"],
                                      cwd=self.directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                      text=True, env={**os.environ, "SLOW": "0.4"})
            journal = self.directory / f"after-{runs}/runs.jsonl"
            self.addCleanup(search.wait)
            self.addCleanup(search.kill)
            until = time.monotonic() + 60
            while not journal.exists() or journal.read_text().count('"status"') < runs:
                self.assertLess(time.monotonic(), until)
                time.sleep(0.02)
            search.send_signal(signal.SIGINT)
            errors = search.communicate(timeout=300)[1]
            self.assertEqual(search.returncode, 130, errors)
            self.assertIn("continues where it stopped", errors)
            self.assertLessEqual(journal.read_text().count('"status"'), runs + 2)

    def test_no_level_stays_untried(self):
        """A level is better than its neighbours suggest; whole plots of a few levels are no excuse."""
        self.write_program("bench", """#!/bin/sh
case $2 in c) best=130;; *) best=100;; esac
awk -v best=$best -v batch=$1 'BEGIN { print "{\\"throughput\\": " best - (batch - 8) ^ 2 / 10 "}" }'
""")
        for kind in "", ", hard_to_change: true":
            name = "hard" if kind else "easy"
            self.write(f"{name}.yaml", f"""command: [./bench, "{{batch}}", "{{kernel}}"]
factors:
  batch: {{levels: [1, 2, 4, 8, 16], scale: log2}}
  kernel: {{levels: [a, b, c, d, e, f]{kind}}}
responses: {{throughput: {{goal: maximize}}}}
run: {{retries: 0, telemetry: 0}}
confirm: {{runs: 1}}
""")
            self.doetune("tune", f"{name}.yaml", "--budget", 24)
            with open(self.directory / name / "results.csv", newline="") as file:
                self.assertEqual({row["kernel"] for row in csv.DictReader(file)}, set("abcdef"))
            optimum = json.loads((self.directory / name / "optimum.json").read_text())
            self.assertEqual(optimum["settings"]["kernel"], "c")

    def test_constraints_that_nothing_meets(self):
        for key, text in ("constraints", 'constraints: ["batch > 100"]'), ("forbidden", 'forbidden: [{batch: ">= 0"}]'):
            self.write("tune.yaml", STUDY + text + "\n")
            line = len((STUDY + text).splitlines())
            for command in "tune", "next":
                self.assertRegex(self.error_of(command, "tune.yaml", expect=3), rf"tune.yaml:{line}:\d+: the constraints allow none")

    def test_settings_that_never_run(self):
        self.touch("cannot")
        done = self.doetune("tune", "tune.yaml", "--budget", 12, expect=5)
        self.assertIn("12 runs were tried, and none has completed", done.stdout)  # none kept for a confirmation
        self.check_runs(12)
        done = self.doetune("tune", "tune", "--budget", 48, expect=5)
        self.assertIn("The search ends: no run has completed, and no other is likely to\n", done.stderr)
        self.assertLess(len(self.check_runs(48)), 24)
        again = self.doetune("tune", "tune", "--tolerance", 0, expect=5)  # whoever wants them all gets them
        self.assertIn("48 of 48 runs have been made", again.stderr)

    def test_constant_responses(self):
        self.touch("same")
        done = self.doetune("tune", "tune.yaml", "--budget", 40)
        self.assertIn("The search ends: all completed runs have given the same throughput", done.stderr)
        self.assertIn("NO GAIN", done.stdout)
        rows = self.check_runs(40)
        self.assertEqual(sum(row["status"] == "completed" for row in rows), 6 + 5 + 2)  # the best known is the baseline
        settings = [(row["executors"], row["batch"]) for row in rows if row["point_type"] == "proposed"]
        self.assertEqual(len(settings), len(set(settings)))  # it looked elsewhere each time

    def test_constants_that_miss_a_limit(self):
        """A limit that some configuration may meet is looked for, although the goal never varies."""
        self.touch("same")
        self.write("tune.yaml", STUDY.replace("high: 30", "high: 3"))  # 1 executor, a batch of 1
        self.doetune("tune", "tune.yaml", "--budget", 40, expect=(0, 6))  # at the limit, a prediction may exceed it
        latencies = [float(row["latency"]) for row in self.rows() if row["latency"]]
        self.assertGreater(latencies.index(3), 6 + 5)

    def test_nothing_but_noise(self):
        self.touch("noise")
        done = subprocess.run([str(DOETUNE), "tune", "tune.yaml", "--budget", "20"], cwd=self.directory,
                              capture_output=True, text=True, timeout=300)
        self.assertIn(done.returncode, (0, 5, 8), done.stderr)
        self.assertIn("The search ends: ", done.stderr)
        self.check_runs(20)

    def test_the_directory_of_another_study(self):
        self.doetune("next", "tune.yaml", "-o", "other")
        self.write("tune.yaml", STUDY.replace("16, 32]", "16]"))
        self.assertRegex(self.error_of("next", "tune.yaml", "-o", "other", expect=3), "tune.yaml:5:.*factors.batch differs from that of the study")
        self.write("tune.yaml", STUDY.replace("./bench", "./other"))
        self.assertRegex(self.error_of("next", "tune.yaml", "-o", "other", expect=3), ":2:.*command differs from that of the study")

    def test_a_study_that_was_edited_goes_on(self):
        """What can be changed after planning is written to the directory, and what the search chose stays."""
        read = self.directory / "other/study.yaml"
        self.doetune("next", "tune.yaml", "-o", "other")
        first = read.read_text()
        self.assertNotIn("Written", self.doetune("next", "tune.yaml", "-o", "other").stderr)
        self.write("tune.yaml", "# goals\n" + STUDY.replace("high: 30", "high: 25").replace("retries: 0", "retries: 2"))
        self.assertIn("Written to other/study.yaml: responses and run of tune.yaml",
                      self.doetune("next", "tune.yaml", "-o", "other").stderr)
        text = read.read_text()
        self.assertIn("# goals", text)
        for line in ("design: {type: space-filling", "fit: {surface: gaussian-process}"):
            self.assertIn(line, first)
            self.assertIn(line, text)
        read.write_text(text.replace("high: 25", "high: 20"))  # edited last
        self.assertNotIn("Written", self.doetune("next", "tune.yaml", "-o", "other").stderr)
        self.assertIn("high: 20", read.read_text())

    def test_a_study_in_braces(self):
        self.write("flow.yaml", '{"factors": {"x": {"low": 0, "high": 4}},\n "responses": {"y": {"goal": "maximize"}}}\n')
        self.doetune("next", "flow.yaml")
        self.assertIn("gaussian-process", (self.directory / "flow/study.yaml").read_text())

    def each_run_took_a_second(self):
        """Writes so into the journal."""
        journal = self.directory / "tune/runs.jsonl"
        lines = []
        for line in journal.read_text().splitlines():
            text = line.rpartition(',"crc":')[0]
            text = re.sub(r'"start":"[^"]*"', f'"start":"2026-11-28T10:00:{len(lines):02}.000Z"', text)
            text = re.sub(r'"duration_s":[^,]*', '"duration_s":1', text)
            lines.append(self.journal_line(text) + "\n")
        journal.write_text("".join(lines))

    def test_a_limit_on_the_time(self):
        """The time that is used does not depend on this machine: 12 s are, and of 16.6 s the rest is enough for the four
        runs that confirm, and for no other."""
        self.write("tune.yaml", STUDY + "design: {type: space-filling, runs: 12}\n")
        self.doetune("tune", "tune.yaml", "--time", "0.001 s")
        self.each_run_took_a_second()
        done = self.doetune("tune", "tune.yaml", "--budget", 80, "--time", "16.6 s", "--tolerance", 0)
        self.assertIn("The search ends: 12 s of 17 s used; another run would leave too little for the confirmation",
                      done.stderr)
        self.assertEqual(Counter(row["point_type"] for row in self.rows()),
                         {"space-filling": 12, "confirmation": 2, "baseline": 2})
        self.assertIn("--time: expected a time", self.error_of("tune", "tune", "--time", "soon", expect=2))

    def test_a_limit_on_the_time_that_the_start_exceeds(self):
        done = self.doetune("tune", "tune.yaml", "--time", "0.5 s", env={"SLOW": "0.2"})
        self.assertRegex(done.stderr, r"The search ends: .* s of 0\.5 s used\n")
        self.assertEqual({row["point_type"] for row in self.rows()}, {"space-filling"})
        self.assertIn("Next: doetune confirm tune", done.stderr)
        # Neither is anything confirmed beyond a limit that is used up, nor said without a document.
        document = self.json_of("tune", "tune", "--time", "0.5 s")
        self.assertEqual((document["runs_added"], document["status"]), (0, "UNCONFIRMED"))
        self.assertEqual(document["settings"], json.loads((self.directory / "tune/optimum.json").read_text())["settings"])

    def test_no_means_to_confirm_what_is_not_there(self):
        """The exit code is that of `confirm`, also where nothing is left to confirm with."""
        self.write("tune.yaml", STUDY.replace("high: 30", "high: 1"))  # no configuration meets it
        self.doetune("tune", "tune.yaml", "--budget", 7, expect=6)
        self.touch("cannot")
        self.doetune("tune", "tune.yaml", "--budget", 3, "-o", "none", expect=(5, 6))

    def test_small_budgets(self):
        done = self.doetune("tune", "tune.yaml", "--budget", 1, expect=5)
        self.assertIn("Next: doetune tune tune --budget", done.stderr)
        self.assertEqual(len(self.rows()), 1)
        unconfirmed = self.doetune("tune", "tune", "--budget", 7)
        self.assertRegex(unconfirmed.stdout, r"(?s)UNCONFIRMED: .*\n  executors = \d, batch = \d+\n")
        self.doetune("tune", "tune", "--budget", 20)  # more may be given later
        self.check_runs(20)

    def test_the_limits_are_kept(self):
        """What is not given again is as it was, whichever command goes on."""
        self.doetune("tune", "tune.yaml", "--time", "0.5 s", "--budget", 30, env={"SLOW": "0.2"})
        kept = json.loads((self.directory / "tune/search.json").read_text())
        self.assertEqual((kept["budget"], kept["time_s"], kept["tolerance"]), (30, 0.5, 0.01))
        self.assertIn("of 0.5 s used", kept["end"])
        rows = self.rows()
        for command in "tune", "next":
            self.doetune(command, "tune")
            self.assertEqual(self.rows(), rows)
        self.doetune("tune", "tune", "--time", "10 min", "--budget", 14)
        self.assertGreater(len(self.check_runs(14)), len(rows))
        (self.directory / "tune/search.json").write_text("[")
        self.assertIn("search.json: is damaged", self.error_of("tune", "tune", expect=4))
        self.doetune("report", "tune")  # what was measured is there
        (self.directory / "tune/search.json").write_text('{"budget": -3, "small_gains": 1e18, "tolerance": "x", "front": 1, "end": []}')
        self.doetune("tune", "tune")
        (self.directory / "tune/search.json").write_text('{"end": "\\u001b[31mred"}')
        self.assertNotIn("\x1b", self.doetune("next", "tune").stdout)

    def test_a_budget_that_is_used_up(self):
        self.doetune("next", "tune.yaml")
        for command in "tune", "next":
            self.assertIn("design has 6 runs; expected at most the budget, 5",
                          self.error_of(command, "tune", "--budget", 5, expect=3))
        self.assertFalse((self.directory / "tune/results.csv").exists())
        self.assertIn("Next: doetune confirm tune", self.doetune("tune", "tune", "--budget", 6).stderr)
        self.assertEqual(len(self.check_runs(6)), 6)
        self.assertIn("6 of 5 runs have been made", self.doetune("tune", "tune", "--budget", 5).stderr)

    def test_what_is_kept_for_a_confirmation_seeks_something_to_confirm(self):
        self.write("tune.yaml", STUDY.replace("high: 30", "high: 1"))  # no configuration meets it
        done = self.doetune("tune", "tune.yaml", "--budget", 12, expect=6)
        self.assertIn("The search ends: 12 of 12 runs have been made\n", done.stderr)
        self.assertEqual({row["point_type"] for row in self.check_runs(12)}, {"space-filling", "proposed"})

    def test_goals_that_cannot_be_met(self):
        """The search ends soon, with what comes nearest and a limit that can be met."""
        self.write("tune.yaml", STUDY.replace("high: 30", "high: 1"))
        done = self.doetune("tune", "tune.yaml", "--budget", 48, expect=6)
        self.assertIn("The search ends: no run meets the limits, and no other is likely to\n", done.stderr)
        self.assertLess(len(self.check_runs(48)), 24)
        self.assertIn("INFEASIBLE", done.stdout)
        self.assertIn('Next: doetune optimize tune --goal "latency=at_most:3', done.stderr)

    def test_the_only_configuration_within_a_limit_is_the_worst_otherwise(self):
        """Its value is the end of the goal's ramp, which nobody has stated: it is the optimum all the same."""
        self.write("tune.yaml", STUDY.replace("high: 30", "high: 3"))
        done = self.doetune("tune", "tune.yaml", "--budget", 16)
        self.assertIn("CONFIRMED", done.stdout)
        optimum = json.loads((self.directory / "tune/optimum.json").read_text())
        self.assertEqual(optimum["settings"], {"executors": 1, "batch": 1})
        self.assertEqual([response["goal_met"] for response in optimum["responses"].values()], [True, True])

    def test_values_without_a_logarithm(self):
        """They cannot be compared: their configurations count as failed, are said, and are not proposed again."""
        self.write_program("bench", """#!/bin/sh
echo "{\\"throughput\\": $(( $1 > 5 ? 0 : 10 * $1 + $2 ))}"
""")
        self.write("tune.yaml", STUDY.replace("goal: maximize", "goal: maximize, transform: log")
                   .replace("  latency: {unit: ms, goal: at_most, high: 30}\n", ""))
        done = self.doetune("tune", "tune.yaml", "--budget", 30)
        self.assertRegex(done.stderr, r"run \d+ counts as failed: throughput has a value that `transform: log` does not take")
        proposed = Counter((row["executors"], row["batch"]) for row in self.rows() if row["point_type"] == "proposed")
        zero = [row for row in self.rows() if row["throughput"] == "0"]
        self.assertTrue(zero)
        for row in zero:
            self.assertLessEqual(proposed[row["executors"], row["batch"]], 1)
        self.assertEqual(json.loads((self.directory / "tune/optimum.json").read_text())["settings"],
                         {"executors": 5, "batch": 32})
        report = self.doetune("report", "tune").stdout
        self.assertIn("CONFIRMED", report)
        # The journal keeps what was measured.
        self.assertEqual({row["status"] for row in zero}, {"completed"})
        self.assertNotIn("counts as failed", self.doetune("fit", "tune", "--transform", "none").stderr)

    def test_runs_that_are_under_way_are_not_handed_out(self):
        search = subprocess.Popen([str(DOETUNE), "tune", "tune.yaml", "--budget", "20"], cwd=self.directory,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "SLOW": "30"})
        self.addCleanup(search.wait)
        self.addCleanup(search.kill)
        until = time.monotonic() + 60
        while not (self.directory / "tune/runs/0001.1").exists():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        self.assertIn(f"in use by another doetune (process {search.pid}", self.error_of("next", "tune", expect=4))

    def test_mistakes(self):
        for change, code, message in [
                (("goal: maximize", "goal: at_least, low: 5"), 3, "a search needs a response with the goal"),
                (("[./bench", "[./bensh"), 3, "bensh")]:
            with self.subTest(message):
                for design in "", "design: {type: d-optimal, runs: 8}\n":
                    self.write("wrong.yaml", STUDY.replace(*change) + design)
                    self.assertIn(message, self.error_of("tune", "wrong.yaml", expect=code))
                    self.assertFalse((self.directory / "wrong").exists())
        self.assertIn("--budget: expected", self.error_of("tune", "tune.yaml", "--budget", 0, expect=2))
        self.assertIn("--tolerance: expected", self.error_of("tune", "tune.yaml", "--tolerance", "x", expect=2))
        self.assertFalse((self.directory / "tune").exists())

    def test_a_budget_of_gpu_time_or_energy(self):
        self.assertIn("use no GPUs", self.error_of("tune", "tune.yaml", "--gpu-time", "1h", expect=2))
        for energy in ("much", "5", "-1 J", "5 kW"):
            self.assertIn("--energy: expected an energy", self.error_of("tune", "tune.yaml", "--energy", energy, expect=2))
        self.assertIn("record no power", self.error_of("tune", "tune.yaml", "--energy", "2 kWh", expect=2))
        # Without sensors that is known once there are runs.
        self.doetune("next", "tune.yaml", "--budget", 16)
        limits = self.directory / "tune/search.json"
        limits.write_text(json.dumps({**json.loads(limits.read_text()), "energy_j": 7.2e6}))
        self.assertIn("no run has recorded the power", self.doetune("tune", "tune").stderr)
        # Runs that are told of a GPU each use its time.
        self.write("gpus.yaml", STUDY.replace("run: {", "run: {gpus_per_run: 1, ") + "study: gpus\n")
        done = self.doetune("tune", "gpus.yaml", "--gpus", "0,1", "--budget", 80, "--gpu-time", "10 s", "--tolerance", 0,
                            env={"SLOW": "0.2"})
        self.assertRegex(done.stderr, "of 10 s of GPU time used")

    def test_the_front_of_two_goals(self):
        """Throughput is best at 6 executors and a batch of 8, latency where both are 1: the front is between them."""
        self.write("one.yaml", STUDY)
        self.write("tune.yaml", STUDY.replace("goal: at_most, high: 30", "goal: minimize"))
        done = self.doetune("tune", "tune.yaml", "--budget", 24, "--front")
        self.assertIn("Pareto front of", done.stdout)
        lines = [line for line in done.stdout.splitlines() if line.startswith("  ")]
        self.assertGreaterEqual(len(lines), 4)
        self.assertIn("executors = 6, batch = 8", done.stdout)
        self.assertIn("executors = 1, batch = 1", done.stdout)
        self.assertLessEqual(max(map(len, lines)), 80)
        points = re.findall(r"throughput ([\d.]+) images/s, latency ([\d.]+) ms", " ".join(done.stdout.split()))
        points = sorted({(float(throughput), float(latency)) for throughput, latency in points})
        self.assertGreaterEqual(len(points), 4)
        latencies = [latency for _, latency in points]
        self.assertEqual(latencies, sorted(latencies), "a point is dominated")
        self.assertNotIn("confirmation", {row["point_type"] for row in self.check_runs(24)})
        self.assertIn("pareto", json.loads((self.directory / "tune/optimum.json").read_text()))
        for command in "tune", "next":
            self.assertIn("the study has one goal", self.error_of(command, "one.yaml", "--front", "-o", "one", expect=2))

    def test_what_a_confirmation_contradicts_is_learnt_from(self):
        """The same search twice; the second time the runs that confirm are much slower."""
        self.doetune("tune", "tune.yaml", "--budget", 40, "-o", "tune")
        types = [row["point_type"] for row in self.rows()]
        first = min(types.index("confirmation"), types.index("baseline"))
        (self.directory / "tune").rename(self.directory / "before")
        self.write_program("bench", BENCH.replace("print(", f"y -= 300 * ({first} < run <= {first + 4})\nprint(", 1))
        done = subprocess.run([str(DOETUNE), "tune", "tune.yaml", "--budget", "40"], cwd=self.directory,
                              capture_output=True, text=True, timeout=300)
        self.assertIn(done.returncode, (0, 5, 8), done.stderr)
        self.assertIn("NOT CONFIRMED", done.stdout)
        self.assertIn("The search goes on", done.stderr)
        types = [row["point_type"] for row in self.check_runs(40)]
        self.assertIn("proposed", types[first:])
        # What was to confirm is fitted, and what is recomfixed now has confirmation runs of its own.
        runs = json.loads((self.directory / "tune/optimum.json").read_text())["confirmation"]
        self.assertGreater(types[first:].count("confirmation"), 2)
        self.assertIsNotNone(runs)

    def test_a_gain_that_is_not_shown_at_first(self):
        """A true gain of 8.7 %, noise of 2 %: two runs of each do not show it, four do."""
        self.write_program("bench", NOISY)
        self.write("tune.yaml", NEARLY_BEST)
        done = self.doetune("tune", "tune.yaml", "--budget", 30)
        self.assertRegex(done.stdout, r"(?s)INCONCLUSIVE: 2 runs.*\nCONFIRMED: 4 runs")
        self.assertIn("do not show whether there is a gain", done.stderr)
        self.assertEqual(done.stderr.count("Next: "), 1)
        types = [row["point_type"] for row in self.check_runs(30)]
        self.assertEqual((types.count("confirmation"), types.count("baseline")), (4, 4))
        # One JSON document. Too few runs left, or with a confirmation that has been repeated: no more.
        told = self.json_of("tune", "tune.yaml", "--budget", 30, "-o", "again")
        self.assertEqual(told["confirmation"]["judgement"], "confirmed")
        short = self.json_of("tune", "tune.yaml", "--budget", 16, "-o", "short", expect=5)
        self.assertEqual(short["confirmation"]["doubt"], "gain")
        self.touch("noise")
        done = self.doetune("tune", "tune.yaml", "--budget", 60, "-o", "nothing", expect=(0, 5, 8))
        self.assertLessEqual(done.stderr.count("do not show whether"), 1)

    def test_a_factor_that_is_hard_to_change(self):
        self.write("tune.yaml", STUDY.replace("baseline: 1}", "baseline: 1, hard_to_change: true}"))
        self.doetune("tune", "tune.yaml", "--budget", 24)
        rows = [row for row in self.check_runs(24) if row["point_type"] in ("space-filling", "proposed")]
        for before, after in zip(rows, rows[1:]):  # whole plots are consecutive runs with the same settings
            same = before["whole_plot"] == after["whole_plot"]
            self.assertEqual(same, before["executors"] == after["executors"], (before, after))
        self.assertLess(len({row["whole_plot"] for row in rows}), len(rows))
        optimum = json.loads((self.directory / "tune/optimum.json").read_text())
        self.assertEqual(optimum["settings"]["executors"], 6)
        self.assertIn(optimum["settings"]["batch"], (4, 8))  # 976 and 1000 images/s
        self.doetune("report", "tune")

    def test_one_usable_level(self):
        """A factor that cannot vary says nothing, and stops nothing: the best of the other is found."""
        self.write("tune.yaml", STUDY + 'constraints: ["batch == 4"]\n')
        done = self.doetune("tune", "tune.yaml", "--budget", 16)
        self.assertIn("another run is expected to gain ", done.stderr)
        self.check_runs(16)
        optimum = json.loads((self.directory / "tune/optimum.json").read_text())
        self.assertEqual(optimum["settings"], {"executors": 6, "batch": 4})


if __name__ == "__main__":
    main()

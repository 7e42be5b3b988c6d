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

from cli_case import DOETUNE, main
from search_case import BENCH, NEARLY_BEST, NOISY, STUDY, SearchCase


class Tune(SearchCase):
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

    def test_others_that_run_meanwhile_do_not_end_the_search(self):
        search = self.started("--budget", 14, slow=0.1, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while search.poll() is None:
            others = [subprocess.Popen([str(DOETUNE), "run", "tune"], cwd=self.directory, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL) for _ in range(4)]
            for other in others:
                other.wait()
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

    def test_other_goals_are_searched_for(self):
        """That the first goals had little left to gain says nothing about them."""
        self.doetune("tune", "tune.yaml", "--budget", 30)
        before = len(self.rows())
        self.write("tune.yaml", STUDY.replace("goal: maximize", "goal: target, target: 990, low: 0, high: 2000"))
        done = self.doetune("tune", "tune.yaml", "--budget", 50, expect=(0, 5, 8))
        self.assertIn("Written to tune/study.yaml: responses", done.stderr)
        proposed = [row for row in self.rows()[before:] if row["point_type"] == "proposed"]
        self.assertGreaterEqual(len(proposed), 4)

    def test_goals_that_cannot_be_searched_for_are_not_written(self):
        self.doetune("next", "tune.yaml", "-o", "tune")
        text = (self.directory / "tune/study.yaml").read_text()
        self.write("tune.yaml", STUDY.replace("goal: maximize", "goal: at_least, low: 11"))
        self.assertIn("a search needs a response with the goal maximize", self.error_of("tune", "tune.yaml", expect=3))
        self.assertEqual((self.directory / "tune/study.yaml").read_text(), text)

    def test_a_limit_that_is_met_exactly(self):
        """Without noise its prediction is on either side of what was measured."""
        self.write_program("bench", """#!/usr/bin/env python3
import json, random, sys
x, y, run = map(int, sys.argv[1:])
f = 10 - (x - 6) ** 2 / 6 - (y - 3) ** 2 / 3
print(json.dumps({"f": f * (1 + random.Random(run).gauss(0, 0.02)), "workers": x + y}))
""")
        self.write("tune.yaml", """command: [./bench, "{x}", "{y}", "{run}"]
factors: {x: {low: 0, high: 10, type: integer}, y: {low: 0, high: 8, type: integer}}
responses: {f: {goal: maximize}, workers: {goal: at_least, low: 14}}
run: {telemetry: 0}
confirm: {runs: 2}
""")
        self.doetune("tune", "tune.yaml", "--budget", 18, expect=(0, 5))
        optimum = json.loads((self.directory / "tune/optimum.json").read_text())
        self.assertEqual(optimum["settings"]["x"] + optimum["settings"]["y"], 14, optimum["settings"])

    def test_a_study_in_braces(self):
        self.write("flow.yaml", '{"factors": {"x": {"low": 0, "high": 4}},\n "responses": {"y": {"goal": "maximize"}}}\n')
        self.doetune("next", "flow.yaml")
        self.assertIn("gaussian-process", (self.directory / "flow/study.yaml").read_text())

    def test_runs_that_are_under_way_are_not_handed_out(self):
        search = self.started("--budget", 20, slow=30, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
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


if __name__ == "__main__":
    main()

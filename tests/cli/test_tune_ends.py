#!/usr/bin/env python3
"""Where a search ends: its limits, and goals that leave nothing to gain.

usage: test_tune_ends.py DOETUNE SOURCE_TREE
"""
import json
import re
import subprocess
import time
from collections import Counter

from cli_case import DOETUNE, main
from search_case import BENCH, STUDY, SearchCase


class TuneEnds(SearchCase):
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

    def test_constraints_that_nothing_meets(self):
        for key, text in ("constraints", 'constraints: ["batch > 100"]'), ("forbidden", 'forbidden: [{batch: ">= 0"}]'):
            self.write("tune.yaml", STUDY + text + "\n")
            line = len((STUDY + text).splitlines())
            for command in "tune", "next":
                self.assertRegex(self.error_of(command, "tune.yaml", expect=3), rf"tune.yaml:{line}:\d+: the constraints allow none")

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

    def test_a_limit_on_the_time_with_several_runs_at_a_time(self):
        """One run alone takes as long as two together: of 17.6 s nothing is left for it."""
        self.write("tune.yaml", STUDY + "design: {type: space-filling, runs: 12}\n")
        self.doetune("tune", "tune.yaml", "--time", "0.001 s")
        self.each_run_took_a_second()
        done = self.doetune("tune", "tune.yaml", "--budget", 80, "--time", "17.6 s", "--tolerance", 0, "--jobs", 2)
        self.assertIn("another run would leave too little for the confirmation", done.stderr)
        self.assertNotIn("proposed", {row["point_type"] for row in self.rows()})
        self.assertIn("confirmation", {row["point_type"] for row in self.rows()})

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

    def test_one_usable_level(self):
        """A factor that cannot vary says nothing, and stops nothing: the best of the other is found."""
        self.write("tune.yaml", STUDY + 'constraints: ["batch == 4"]\n')
        done = self.doetune("tune", "tune.yaml", "--budget", 16)
        self.assertIn("another run is expected to gain ", done.stderr)
        self.check_runs(16)
        optimum = json.loads((self.directory / "tune/optimum.json").read_text())
        self.assertEqual(optimum["settings"], {"executors": 6, "batch": 4})

    def test_one_configuration(self):
        """There is nothing to search, which is said before any run."""
        self.write("tune.yaml", STUDY + 'constraints: ["batch == 4", "executors == 3"]\n')
        error = self.error_of("tune", "tune.yaml", expect=3)
        self.assertRegex(error, r"tune.yaml:\d+:\d+: there is one configuration only, executors = 3, batch = 4")
        self.assertFalse((self.directory / "tune").exists())

    def test_one_configuration_that_can_run(self):
        """The search tries all, and says what to do."""
        self.write_program("bench", BENCH.replace("executors * batch > 60", "executors != 3"))
        self.write("tune.yaml", STUDY + 'constraints: ["batch == 4"]\n')
        done = self.doetune("tune", "tune.yaml", "--budget", 20, "-o", "a search", expect=5)
        self.assertIn("every configuration has been tried", done.stderr)
        self.assertIn("Next: make a new study, with wider ranges or more levels", done.stderr)
        for command in "optimize", "fit", "confirm":
            self.assertIn("Next: make a new study", self.doetune(command, "a search", expect=5).stderr)

    def test_a_directory_with_a_space(self):
        self.doetune("tune", "tune.yaml", "--budget", 8, "-o", "a search", expect=(0, 5, 8))
        for command in "optimize", "report":
            for line in re.findall("Next: doetune .*", self.doetune(command, "a search").stderr):
                self.assertIn("'a search'", line)


if __name__ == "__main__":
    main()

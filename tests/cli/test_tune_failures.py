#!/usr/bin/env python3
"""A search among settings that cannot run, or whose runs fail.

usage: test_tune_failures.py DOETUNE SOURCE_TREE
"""
import json
import os
import re
from collections import Counter

from cli_case import main
from search_case import BENCH, STUDY, SearchCase

# A server for each level of a kernel.
SERVED = """run: {retries: 0, telemetry: 0, set_up: [./serve, "{kernel}"], ready: [test, -e, "ready-{kernel}"], ready_within: 20 s}
confirm: {runs: 1}
"""


class TuneFailures(SearchCase):
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

    def test_no_value_has_a_logarithm(self):
        """The search ends after the start, and goes on without the transform."""
        self.write_program("bench", "#!/bin/sh\necho \"{\\\"throughput\\\": -$1}\"\n")
        study = STUDY.replace("  latency: {unit: ms, goal: at_most, high: 30}\n", "")
        self.write("tune.yaml", study.replace("goal: maximize", "goal: maximize, transform: log"))
        done = self.doetune("tune", "tune.yaml", "--budget", 30, expect=5)
        self.assertIn("The search ends: all runs so far have failed in the same way (throughput has a value that "
                      "`transform: log` does not take", done.stderr)
        self.assertEqual({row["point_type"] for row in self.rows()}, {"space-filling"})
        count = len(self.rows())
        self.assertIn(f"{count} of {count} runs completed, {count} of them with values that cannot be used",
                      self.doetune("status", "tune").stdout)
        self.write("tune.yaml", study)
        self.doetune("tune", "tune.yaml", "--budget", 30, expect=(0, 5, 8))
        self.assertIn("proposed", {row["point_type"] for row in self.rows()})


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A study from its plan to its confirmation, as a user types it.

usage: test_confirm.py DOETUNE SOURCE_TREE
"""
import csv
import json
import os
import signal
import subprocess
import time

from cli_case import CliCase, DOETUNE, main

# y = 100 - 20 a^2 - 10 (b - 0.5)^2 and cost = 10 + 4 a + 2 b, each with an error of its own in
# every run. The system slows down where a file `drift` holds a share; with `cannot`,
# nothing but today's settings can run.
BENCH = """#!/usr/bin/env python3
import json, os, random, sys, time
a, b, run = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
if os.path.exists("cannot") and (a, b) != (-1, -1):
    sys.exit(77)
time.sleep(float(os.environ.get("SLOW", 0)))
error = random.Random(1000 + run)
share = float(open("drift").read()) if os.path.exists("drift") else 1
print(json.dumps({"y": share * (100 - 20 * a * a - 10 * (b - 0.5) ** 2) + error.gauss(0, 0.5),
                  "cost": 10 + 4 * a + 2 * b + error.gauss(0, 0.1)}))
"""

STUDY = """seed: 7
command: [./bench, "{a}", "{b}", "{run}"]
factors:
  a: {low: -1, high: 1, baseline: -1}
  b: {low: -1, high: 1, baseline: -1}
responses:
  y: {unit: points, goal: maximize}
  cost: {unit: s, goal: at_most, high: 14}
run: {retries: 0, timeout: 1 min, telemetry: 0}
confirm: {runs: 4}
"""


class Confirm(CliCase):
    study, program = STUDY, BENCH

    def rows(self, table):
        with open(self.directory / "tune" / table, newline="") as file:
            return list(csv.DictReader(file))

    def measured_study(self):
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune")
        return len(self.rows("plan.csv"))

    def test_an_optimum_where_every_run_fails(self):
        """Once the runs that confirm it have failed as well, it is not proposed again."""
        self.write_program("bench", """#!/usr/bin/env python3
import json, random, sys
a, b, run = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
if (a, b) == (1, 1):
    sys.exit("boom")
print(json.dumps({"y": 10 * a + 5 * b + random.Random(run).gauss(0, 0.1), "cost": 1}))
""")
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune", expect=5)
        self.doetune("optimize", "tune")
        optimum = self.directory / "tune/optimum.json"
        self.assertEqual(json.loads(optimum.read_text())["settings"], {"a": 1, "b": 1})
        failed = self.doetune("confirm", "tune", expect=8)
        self.assertIn("NOT CONFIRMED: this configuration cannot run: a = 1, b = 1", failed.stderr)
        self.doetune("optimize", "tune")
        self.assertNotEqual(json.loads(optimum.read_text())["settings"], {"a": 1, "b": 1})
        self.assertIn("CONFIRMED", self.doetune("confirm", "tune").stdout)

    def test_a_confidence_that_cannot_be_reached(self):
        """Of settings that are practically as sure as any, the goal decides: (2, 8), not (5, 5) in the middle."""
        self.write_program("bench", """#!/usr/bin/env python3
import json, random, sys
x, z, run = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
error = random.Random(7920 + 31 * run)
print(json.dumps({"y": 60 - (x - 2) ** 2 - (z - 8) ** 2 + error.gauss(0, 0.5), "l": x + z + error.gauss(0, 0.3)}))
""")
        for confidence in 0.9, 0.99, 0.999:
            with self.subTest(confidence):
                name = f"of-{confidence}"
                self.write("tune.yaml", f"""command: [./bench, "{{x}}", "{{z}}", "{{run}}"]
factors: {{x: {{low: 0, high: 10, type: integer}}, z: {{low: 0, high: 10, type: integer}}}}
design: {{type: fccd, center_runs: 6}}
responses: {{y: {{goal: maximize}}, l: {{goal: within, low: 9.5, high: 10.5, confidence: {confidence}}}}}
run: {{telemetry: 0}}
""")
                self.doetune("plan", "tune.yaml", "-o", name)
                self.doetune("run", name)
                self.doetune("optimize", name)
                optimum = json.loads((self.directory / name / "optimum.json").read_text())
                self.assertEqual(optimum["settings"], {"x": 2, "z": 8})

    def test_a_true_prediction_is_confirmed(self):
        planned = self.measured_study()
        self.assertIn("Next: doetune confirm tune", self.doetune("optimize", "tune").stderr)
        told = self.doetune("report", "tune")
        self.assertIn("UNCONFIRMED", told.stdout)
        self.assertIn("Next: doetune confirm tune", told.stderr)
        before = json.loads((self.directory / "tune/optimum.json").read_text())
        self.assertIsNone(before["confirmation"])

        dry = json.loads(self.doetune("confirm", "tune", "--dry-run", "--json").stdout)
        self.assertEqual([run["run"] for run in dry["runs"]], list(range(planned + 1, planned + 9)))
        self.assertEqual(len(self.rows("plan.csv")), planned)

        told = self.doetune("confirm", "tune")
        self.assertIn("CONFIRMED: 4 runs of this configuration agree", told.stdout)
        self.assertIn("agrees", told.stdout)
        self.assertIn("Next: doetune report tune", told.stderr)
        self.assertLessEqual(max(map(len, told.stdout.splitlines())), 80)
        rows = self.rows("results.csv")
        types = [row["point_type"] for row in rows[planned:]]
        self.assertEqual((types.count("confirmation"), types.count("baseline")), (4, 4))
        self.assertTrue(all(row["status"] == "completed" for row in rows))

        after = json.loads((self.directory / "tune/optimum.json").read_text())
        self.assertEqual(after["settings"], before["settings"])
        self.assertEqual(after["responses"], before["responses"])  # judged by runs it has not seen
        self.assertEqual(after["confirmation"]["judgement"], "confirmed")
        mine = [float(row["y"]) for row in rows if row["point_type"] == "confirmation"]
        self.assertAlmostEqual(after["confirmation"]["responses"]["y"]["mean"], sum(mine) / 4)
        self.assertGreater(after["confirmation"]["responses"]["y"]["gain"]["interval"][0], 0)
        page = self.doetune("report", "tune").stdout
        self.assertIn("CONFIRMED", page)
        self.assertNotIn("UNCONFIRMED", page)

        # Again: nothing is run; with a larger number, the rest is.
        self.doetune("confirm", "tune")
        self.assertEqual(len(self.rows("plan.csv")), planned + 8)
        more = json.loads(self.doetune("confirm", "tune", "-n", "5", "--json").stdout)
        self.assertEqual((more["status"], more["runs_added"]), ("CONFIRMED", 2))

    def test_a_mean_says_which_it_is_and_never_reads_as_its_limit(self):
        # Calls at the same settings are 3 % above and below 24.96 in turn: of an even number that
        # is the geometric mean. To the digits that its interval leaves, it is 25.0.
        self.write_program("bench", """#!/usr/bin/env python3
import json, os, sys
a, b = float(sys.argv[1]), float(sys.argv[2])
calls = f"{a} {b}"
open(calls, "a").write("x")
print(json.dumps({"y": 100 - 20 * a * a - 10 * (b - 0.5) ** 2,
                  "cost": 24.96 * 1.03 ** (1 - 2 * (os.path.getsize(calls) % 2))}))
""")
        (self.directory / "tune.yaml").write_text(STUDY.replace("high: 14}", "high: 25, transform: log}"))
        self.measured_study()
        told = self.doetune("confirm", "tune").stdout
        self.assertIn("cost 24.96 s (geometric mean; at most 25 s)", " ".join(told.split()))
        self.assertIn("mean of cost: the geometric mean of its runs, because its surface is fitted on the log scale",
                      " ".join(told.split()))
        row = next(line for line in told.splitlines() if line.startswith("  cost [s]"))
        self.assertRegex(row, r" 24\.96 +agrees +at most 25 s$")
        self.assertLessEqual(max(map(len, told.splitlines())), 80)
        page = (self.directory / "tune/report").joinpath("report.html")
        self.doetune("report", "tune")
        self.assertIn("24.96 s", page.read_text())
        self.assertIn(">geometric mean<", page.read_text())

    def test_a_system_that_drifts_is_not_confirmed(self):
        self.measured_study()
        (self.directory / "drift").write_text("0.8")
        told = self.doetune("confirm", "tune", expect=8)
        self.assertIn("NOT CONFIRMED", told.stdout)
        self.assertIn("DISAGREES", told.stdout)
        headline = " ".join(told.stdout.split())
        self.assertIn("20 % below the prediction", headline)
        self.assertIn("the surface is wrong at both, or the system has changed since the plan was run", headline)
        self.assertIn("NOT CONFIRMED", self.doetune("report", "tune").stdout)
        self.assertIn("Next: doetune status tune", told.stderr)
        self.assertIn("Next: doetune status tune", self.doetune("optimize", "tune").stderr)

    def test_an_interrupted_confirmation_goes_on(self):
        planned = self.measured_study()
        running = subprocess.Popen([str(DOETUNE), "confirm", "tune"], cwd=self.directory,
                                   env={**os.environ, "SLOW": "0.3"}, stderr=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, text=True)
        journal = self.directory / "tune/runs.jsonl"
        for _ in range(600):
            if journal.read_bytes().count(b'"status"') >= planned + 2:
                break
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        _, error = running.communicate(timeout=300)
        self.assertEqual(running.returncode, 130, error)
        self.assertIn("Next: doetune confirm tune", error)
        told = self.doetune("report", "tune").stdout
        self.assertIn("UNCONFIRMED", told)
        self.assertIn("for confirmation have not been made", " ".join(told.split()))
        done = json.loads(self.doetune("confirm", "tune", "--json").stdout)
        self.assertEqual((done["status"], done["runs_added"]), ("CONFIRMED", 0))
        self.assertEqual(len(self.rows("plan.csv")), planned + 8)
        attempts = [row["attempt"] for row in self.rows("results.csv")]
        self.assertEqual(attempts, ["1"] * (planned + 8))  # none was made twice

    def test_run_goes_on_with_a_confirmation_too(self):
        planned = self.measured_study()
        self.doetune("confirm", "tune", "-n", "1")
        (self.directory / "tune/stop").touch()
        self.doetune("confirm", "tune", expect=130)
        (self.directory / "tune/stop").unlink()
        self.doetune("run", "tune")
        self.assertEqual(len([row for row in self.rows("results.csv")
                              if row["status"] == "completed"]), planned + 8)
        self.assertIn("CONFIRMED", self.doetune("optimize", "tune").stdout)

    def test_settings_that_cannot_run_are_not_confirmed(self):
        self.measured_study()
        before = json.loads(self.doetune("optimize", "tune", "--json").stdout)
        (self.directory / "cannot").touch()
        told = self.doetune("confirm", "tune", expect=8)
        self.assertIn("NOT CONFIRMED: this configuration cannot run", told.stderr)
        self.assertIn("could not run", " ".join(told.stdout.split()))
        after = json.loads(self.doetune("optimize", "tune", "--json").stdout)
        self.assertNotEqual(after["settings"], before["settings"])  # nor recommended again

    def test_confirmation_runs_can_be_fitted(self):
        planned = self.measured_study()
        self.doetune("confirm", "tune")
        told = self.doetune("fit", "tune", "--with-confirmation").stdout
        self.assertIn("With confirmation and baseline runs, against the plan's runs alone", told)
        self.assertIn(f"{planned} -> {planned + 8}", told)
        fits = {with_them: json.loads(self.doetune("fit", "tune", "--json", *with_them).stdout)
                for with_them in ((), ("--with-confirmation",))}
        self.assertEqual([fit["responses"]["y"]["n"] for fit in fits.values()], [planned, planned + 8])
        self.assertIn("the best configuration",
                      self.doetune("optimize", "tune", "--with-confirmation").stdout)
        added = self.doetune("augment", "tune", "--runs", "2", "--include-confirmation", "--dry-run").stdout
        self.assertIn("counted as part of the design: `doetune fit --with-confirmation` fits them too", added)
        self.doetune("augment", "tune", "--axial", "--include-confirmation", expect=2)

    def test_what_cannot_be_confirmed(self):
        self.doetune("plan", "tune.yaml")
        told = self.doetune("confirm", "tune", expect=5)  # nothing has run
        self.assertIn("Next: doetune run tune", told.stderr)
        self.doetune("run", "tune")
        self.doetune("confirm", "tune", "-n", "0", expect=2)
        self.doetune("confirm", "tune", "--run", "3", expect=2)  # no abbreviations
        study = self.directory / "tune/study.yaml"
        study.write_text(study.read_text().replace("high: 14", "high: 1"))
        told = self.doetune("confirm", "tune", expect=6)
        self.assertIn("cost", told.stderr)
        self.assertEqual(len(self.rows("plan.csv")), len(self.rows("results.csv")))

    def test_a_goal_edited_later_does_not_inherit_the_confirmation(self):
        self.measured_study()
        self.doetune("confirm", "tune")
        study = self.directory / "tune/study.yaml"
        study.write_text(study.read_text().replace("high: 14", "high: 8"))
        told = " ".join(self.doetune("report", "tune").stdout.split())
        self.assertIn("UNCONFIRMED", told)
        self.assertIn("Another configuration was run for confirmation", told)


if __name__ == "__main__":
    main()

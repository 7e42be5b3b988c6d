#!/usr/bin/env python3
"""The largest load under limits: found in each run, a response like others; what may go wrong.

usage: test_search.py DOETUNE SOURCE_TREE
"""
import json

from cli_case import CliCase, main

# An M/M/1 queue (theory: mean time in it = 1 / (capacity - rate)). Its capacity grows with workers
# and falls with batch. `flaky` makes one call fail; above `crash_above` each call does.
QUEUE = """#!/usr/bin/env python3
import json, os, sys, time
workers, batch, rate = map(float, sys.argv[1:4])
factors = json.load(open(os.environ["DOETUNE_REQUEST"]))["factors"]
assert factors == {"workers": workers, "batch": batch, "rate": rate}, factors
if os.path.exists("stuck"):  # from the fourth call on
    with open("stuck", "a+") as calls:
        calls.write("x")
        calls.seek(0)
        time.sleep(1000 if len(calls.read()) > 3 else 0)
if os.path.exists("flaky"):
    os.remove("flaky")
    sys.exit("connection reset")
if rate > float(os.environ.get("CRASH_ABOVE", "inf")):
    sys.exit("overloaded")
capacity = max(0.1, float(os.environ.get("CAPACITY", 50)) * workers - batch)
time_s = 1 / (capacity - rate) if rate < capacity else 10 * rate / capacity
print("time:", time_s)
print(json.dumps({"responses": {"throughput": min(rate, capacity)}, "precision": {"throughput": 0.01}}))
"""

STUDY = """seed: 3
command: [./bench, "{workers}", "{batch}", "{rate}"]
factors:
  workers: {low: 1, high: 4, type: integer, baseline: 1}
  batch: {low: 0, high: 10, baseline: 0}
  rate: {low: 1, high: 1000, unit: requests/s, search: largest, limits: {time: "<= 0.05", throughput: ">= 0.5"}}
responses:
  rate: {goal: maximize}
  time: {unit: s, pattern: "time: (.*)"}
  throughput: {unit: requests/s}
model: linear
design: {type: d-optimal, runs: 6}
run: {retries: 0, timeout: 1 min, telemetry: 0}
"""


class Search(CliCase):
    study, program = STUDY, QUEUE

    def first_run(self, expect=0, **env):
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune", "--only", 1, expect=expect, env=env)
        return self.records()[-1]

    def test_the_load_found_is_a_response(self):
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune")
        for row in self.rows():
            truth = 50 * float(row["workers"]) - float(row["batch"]) - 20
            self.assertLessEqual(float(row["rate"]), truth)
            self.assertGreater(float(row["rate"]), truth / 1.05)
            self.assertLessEqual(float(row["time"]), 0.05)  # that of the call at the answer
            self.assertEqual(row["throughput"], row["rate"])
        record = self.records()[0]
        self.assertIn("time = ", record["notes"]["calls"])
        self.assertLess(record["half_width"]["rate"], 0.06)
        self.assertNotIn("flags", record)
        optimum = json.loads(self.doetune("optimize", "tune", "--json").stdout)
        self.assertEqual(optimum["settings"]["workers"], 4)
        self.assertAlmostEqual(optimum["responses"]["rate"]["mean"], 180, delta=10)
        self.assertIn("requests/s", (self.doetune("fit", "tune").stdout))

    def test_limits_that_no_load_meets_are_recorded(self):
        record = self.first_run(expect=5, CAPACITY="4")
        self.assertEqual(record["status"], "infeasible")
        self.assertRegex(record["reason"], r"no rate meets the limits, not even the lowest: at 1 "
                                           r"time = .* > 0.05 \(.* % beyond the limit\)")

    def test_limits_that_every_load_meets_are_flagged(self):
        record = self.first_run(expect=5, CAPACITY="100000")
        self.assertEqual(record["responses"]["rate"], 1000)
        self.assertNotIn("rate", record.get("half_width", {}))
        self.assertRegex(record["flags"][0], "every rate up to the highest, 1000, meets the limits "
                                             r"\(.* there\); the largest may lie above the range")

    def test_a_call_that_fails_is_made_again(self):
        self.write("flaky", "")
        record = self.first_run(expect=5)
        self.assertEqual(record["status"], "completed")
        self.assertTrue((self.directory / "tune/runs/0001.1/calls/2/stdout").exists())

    def test_a_load_that_cannot_be_measured_is_too_large(self):
        record = self.first_run(expect=5, CRASH_ABOVE="9")
        self.assertEqual(record["status"], "completed")
        self.assertLessEqual(record["responses"]["rate"], 9)
        self.assertGreater(record["responses"]["rate"], 8.5)
        self.assertIn("overloaded", record["notes"]["calls"])

    def test_a_program_that_fails_at_the_lowest_load_has_failed(self):
        record = self.first_run(expect=5, CRASH_ABOVE="0")
        self.assertEqual(record["status"], "failed")
        self.assertIn("overloaded", record["reason"])

    def test_the_time_limit_ends_a_search_with_what_is_known(self):
        self.write("tune.yaml", STUDY.replace("1 min", "15 s"))
        self.write("stuck", "")
        record = self.first_run(expect=5)
        self.assertEqual(record["status"], "completed")
        self.assertIn("the time limit ended the search", record["flags"][0])

    def test_a_dry_run_and_a_check(self):
        self.doetune("plan", "tune.yaml")
        self.assertIn("doetune-search", self.doetune("run", "tune", "--dry-run").stdout)
        self.assertIn("rate", self.doetune("check", "tune.yaml").stdout)

    def test_other_limits_are_other_runs(self):
        self.doetune("plan", "tune.yaml")
        study = self.directory / "tune/study.yaml"
        study.write_text(study.read_text().replace("<= 0.05", "<= 0.5"))
        self.assertIn("was changed after planning", self.doetune("status", "tune", expect=4).stderr)

    def test_mistakes_are_told_with_their_place(self):
        limits = ', limits: {time: "<= 0.05", throughput: ">= 0.5"}'
        for change, told in {
            (limits, ""): "search: largest needs limits",
            ("<= 0.05", "0.05"): "expected a comparison with a number",
            ('time: "<=', 'tim: "<='): "there is no measured response 'tim'; did you mean 'time'?",
            ("low: 1, high: 1000", "low: 0, high: 1000"): "needs a range above 0",
            ("  rate: {goal: maximize}\n", ""): "add it to responses, as rate: {goal: maximize}",
            (", search: largest", ""): "limits need search: largest",
            ("baseline: 1}", "baseline: 1, search: largest, limits: {time: \"<= 1\"}}"): "only one factor",
            ("unit: requests/s, search", "hard_to_change: true, search"): "cannot be hard to change",
        }.items():
            self.write("tune.yaml", STUDY.replace(*change))
            done = self.doetune("plan", "tune.yaml", expect=3)
            self.assertIn(told, done.stderr)
            self.assertRegex(done.stderr, r"tune.yaml:\d+:\d+: ")


if __name__ == "__main__":
    main()

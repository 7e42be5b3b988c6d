#!/usr/bin/env python3
"""The sequential search whose runs the user makes: `next` and `tell`, and runs that report steps.

usage: test_next_and_tell.py DOETUNE SOURCE_TREE
"""
import csv
import fcntl
import json
import random
import threading

from cli_case import CliCase, main
from search_case import NEARLY_BEST, STUDY


class NextAndTell(CliCase):
    """The same search, with runs that the user makes."""
    study = "\n".join(line for line in STUDY.splitlines() if not line.startswith(("command", "run:"))) + "\n"

    def asked(self, *arguments):
        return self.json_of("next", "tune.yaml", *arguments)["runs"]

    noise = 0

    def make(self, run, lacking=0):
        settings, which = run["settings"], ["tell", "tune", "--run", run["run"]]
        if settings["executors"] * settings["batch"] > 60:
            return self.doetune(*which, "--infeasible")
        y = 1000 - 20 * (settings["executors"] - 6) ** 2 - 1.5 * (settings["batch"] - 8) ** 2 + run["run"] % 3
        y += random.Random(run["run"]).gauss(0, self.noise)
        return self.doetune(*which, f"throughput={y - lacking}", f"latency={2 * settings['batch'] + settings['executors']}")

    def search(self, *arguments, lacking=0):
        """All runs that `next` asks for, and why there are no more. Confirmation runs are lower than they should be."""
        made = []
        while True:
            told = self.json_of("next", "tune.yaml", *arguments)
            if not told["runs"]:
                return made, told["end"]
            for run in told["runs"]:
                self.assertEqual("end" in told, run["point_type"] in ("confirmation", "baseline"))
                self.make(run, lacking if run["point_type"] == "confirmation" else 0)
                made.append(run)

    def test_a_search_by_hand_ends_and_is_confirmed(self):
        first = self.json_of("next", "tune.yaml", "--budget", 24)["runs"]
        made, end = self.search()  # the budget is known
        self.assertEqual(made[:1], first)
        self.assertLessEqual(len(made), 24)
        self.assertTrue(end)
        types = [run["point_type"] for run in made]
        self.assertEqual([types.count(word) for word in ("confirmation", "baseline")], [2, 2])
        self.assertTrue(set(types[-4:]) == {"confirmation", "baseline"})
        done = self.doetune("next", "tune")
        self.assertTrue(done.stdout.startswith(f"The search has ended: {end}\nCONFIRMED: 2 runs"), done.stdout)
        self.assertEqual(self.json_of("next", "tune")["verdict"]["status"], "CONFIRMED")
        self.assertIn("Next: doetune report tune", done.stderr)
        self.assertIn("CONFIRMED", self.doetune("confirm", "tune").stdout)
        self.assertEqual(json.loads((self.directory / "tune/optimum.json").read_text())["settings"],
                         {"executors": 6, "batch": 8})
        # Whoever wants more gives more.
        self.assertEqual(self.json_of("next", "tune", "--budget", 40, "--tolerance", 0)["runs"][0]["point_type"], "proposed")

    def test_a_gain_that_a_search_by_hand_does_not_show_at_first(self):
        self.noise = 20
        self.write("tune.yaml", "".join(line for line in NEARLY_BEST.splitlines(True) if not line.startswith("command")))
        made, end = self.search("--budget", 30)
        types = [run["point_type"] for run in made]
        self.assertEqual((types.count("confirmation"), types.count("baseline")), (4, 4))
        self.assertTrue(end)
        self.assertIn("CONFIRMED: 4 runs", self.doetune("report", "tune").stdout)

    def test_a_confirmation_that_lacked_runs_gets_them_with_other_limits(self):
        self.noise = 20
        self.write("tune.yaml", "".join(line for line in NEARLY_BEST.splitlines(True) if not line.startswith("command")))
        made, _ = self.search("--budget", 16)
        self.assertEqual([run["point_type"] for run in made].count("confirmation"), 2)
        self.doetune("confirm", "tune", expect=5)  # inconclusive
        more, end = self.search("--budget", 30, "--tolerance", 0.9)  # no other run is worth it
        self.assertEqual({run["point_type"] for run in more}, {"confirmation", "baseline"})
        self.assertTrue(end)

    def test_others_that_write_in_the_directory_are_waited_for(self):
        run = self.asked()[0]
        for step in (lambda: self.make(run), lambda: self.asked("--budget", 30), self.asked,
                     lambda: self.doetune("augment", "tune", "--runs", 1, "--design", "space-filling")):
            with open(self.directory / "tune/lock") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                release = threading.Timer(1, lambda: fcntl.flock(lock, fcntl.LOCK_UN))
                release.start()
                step()
                release.join()

    def test_several_that_begin_at_once(self):
        """One makes the directory, and all get the same run."""
        answers = []
        callers = [threading.Thread(target=lambda: answers.append(self.asked())) for _ in range(4)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        self.assertEqual(answers, answers[:1] * 4)

    def test_first_runs_that_all_fail(self):
        """Nobody is asked to make more of them, until one works or the study wants it."""
        for run in self.asked("--batch", 3):
            self.doetune("tell", "tune", "--run", run["run"], "--failed", "no such model")
        done = self.doetune("next", "tune", expect=5)
        self.assertIn("failed in the same way (no such model)", done.stdout)
        self.assertIn("Next: doetune tell tune --run 1", done.stderr)
        self.write("tune/study.yaml", (self.directory / "tune/study.yaml").read_text() + "run: {on_failure: continue}\n")
        self.assertEqual(self.asked()[0]["run"], 4)
        self.write("tune/study.yaml", (self.directory / "tune/study.yaml").read_text().replace("run: {on", "# {on"))
        self.doetune("next", "tune", expect=5)
        self.make({"run": 2, "settings": {"executors": 2, "batch": 4}})
        self.assertEqual(self.json_of("next", "tune")["runs"][0]["run"], 4)

    def test_limits_given_while_it_is_confirmed(self):
        """A search that is over goes on with other limits, whenever these are given."""
        self.json_of("next", "tune.yaml", "--budget", 14)
        while (run := self.asked()[0])["point_type"] != "confirmation":
            self.make(run)
        self.assertEqual(self.asked("--budget", 40, "--tolerance", 0), [run])
        while (run := self.asked()[0])["point_type"] in ("confirmation", "baseline"):
            self.make(run)
        self.assertEqual(run["point_type"], "proposed")

    def test_a_confirmation_by_hand_is_kept(self):
        self.write("tune.yaml", self.study + "design: {type: d-optimal, runs: 14}\n")
        for run in self.json_of("next", "tune.yaml", "--batch", 14)["runs"]:
            done = self.make(run)
        self.assertIn("Next: doetune next tune", done.stderr)
        self.doetune("confirm", "tune", expect=5)
        while runs := self.json_of("next", "tune")["runs"]:
            done = self.make(runs[0])
            self.assertIn(runs[0]["point_type"], ("confirmation", "baseline"))
        self.assertIn("Next: doetune confirm tune", done.stderr)
        self.assertEqual(self.json_of("next", "tune")["end"], "the confirmation runs of the optimum have been made")
        self.assertEqual(len(self.rows("plan.csv")), 18)
        (self.directory / "tune/search.json").unlink()  # a directory of an earlier version
        self.assertEqual(self.json_of("next", "tune")["runs"], [])
        self.assertEqual(self.json_of("next", "tune", "--budget", 60)["runs"][0]["point_type"], "proposed")

    def test_what_contradicts_a_search_by_hand_is_learnt_from(self):
        made, end = self.search("--budget", 40, lacking=300)
        self.assertLessEqual(len(made), 40)
        types = [run["point_type"] for run in made]
        self.assertIn("proposed", types[types.index("confirmation"):])
        self.assertTrue(end)
        # What helps is more of the search, also where it ended with runs left.
        state = self.directory / "tune/search.json"
        state.write_text(json.dumps({**json.loads(state.read_text()), "budget": 60}))
        self.assertIn("Next: doetune next tune --budget ", self.doetune("optimize", "tune", expect=(0, 6)).stderr)

    def test_a_run_that_failed_is_not_to_do(self):
        self.make(self.asked("--budget", 14)[0])
        run = self.asked()[0]
        self.doetune("tell", "tune", "--run", run["run"], "--failed", "the node died")
        self.search()
        status = self.doetune("status", "tune")
        self.assertNotIn("to do", status.stdout)
        self.assertIn("Next: doetune report tune", status.stderr)

    def test_the_front_is_printed_at_the_end(self):
        self.write("tune.yaml", self.study.replace("goal: at_most, high: 30", "goal: minimize"))
        self.search("--budget", 14, "--front")
        done = self.doetune("next", "tune")
        self.assertRegex(done.stdout, "^The search has ended: .*\nPareto front of [0-9]+ configurations")
        self.assertIn("Next: doetune report tune", done.stderr)

    def test_a_batch(self):
        made, end = self.search("--budget", 20, "--batch", 3)
        self.assertLessEqual(len(made), 20)
        self.assertTrue(end)
        self.assertEqual([run["point_type"] for run in made[-4:]].count("confirmation"), 2)

    def test_a_planned_experiment_is_confirmed(self):
        self.write("tune.yaml", self.study + "design: {type: d-optimal, runs: 12}\n")
        self.doetune("next", "tune.yaml")
        self.assertIn("neither a workload nor a command", self.error_of("run", "tune", expect=3))
        for number, row in enumerate(self.rows("plan.csv"), 1):
            self.make({"run": number, "settings": {name: float(row[name]) for name in ("executors", "batch")}})
        self.assertIn("Next: doetune confirm tune", self.doetune("optimize", "tune").stderr)
        dry = self.doetune("confirm", "tune", "--dry-run")
        self.assertEqual(len(self.rows("plan.csv")), 12)
        done = self.doetune("confirm", "tune", expect=5)
        self.assertEqual(done.stdout.splitlines()[1:], dry.stdout.splitlines()[1:])
        self.assertNotIn("tell", dry.stderr)
        self.assertIn("Next: doetune tell tune --run 13 ...", done.stderr)
        self.assertEqual(self.json_of("confirm", "tune", expect=5)["confirmation"]["missing"], 4)
        self.assertIn("(baseline)", done.stdout)
        for number, row in list(enumerate(self.rows("plan.csv"), 1))[12:]:
            self.make({"run": number, "settings": {name: float(row[name]) for name in ("executors", "batch")}})
        self.assertIn("measured mean", self.doetune("confirm", "tune", expect=(0, 5, 8)).stdout)

    def rows(self, table):
        with open(self.directory / "tune" / table, newline="") as file:
            return list(csv.DictReader(file))

    def test_a_search_by_hand(self):
        def measured(settings):
            return 1000 - 20 * (settings["executors"] - 6) ** 2 - 1.5 * (settings["batch"] - 8) ** 2

        first = self.asked("--batch", 3)
        self.assertEqual([run["run"] for run in first], [1, 2, 3])
        self.assertEqual(first[0]["settings"], {"executors": 1, "batch": 2})
        self.assertEqual(self.asked("--batch", 3), first)  # until they are told
        for _ in range(14):
            run = self.asked()[0]
            settings, which = run["settings"], ["tell", "tune", "--run", run["run"]]
            if settings["executors"] * settings["batch"] > 60:
                self.doetune(*which, "--infeasible")
            else:
                latency = 2 * settings["batch"] + settings["executors"]
                self.doetune(*which, f"throughput={measured(settings)}", f"latency={latency}")
        with open(self.directory / "tune/results.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["status"] for row in rows if row["status"]}, {"completed", "infeasible"})
        self.assertIn("proposed", {row["point_type"] for row in rows})
        self.doetune("optimize", "tune")
        optimum = json.loads((self.directory / "tune/optimum.json").read_text())
        self.assertEqual(optimum["settings"], {"executors": 6, "batch": 8})

    def test_what_is_told_is_checked_and_kept(self):
        self.asked("--batch", 2)
        tell = ["tell", "tune", "--run", 1]
        self.assertIn("RESPONSE=VALUE", self.error_of(*tell, "throughput", expect=2))
        self.assertIn("did you mean 'latency'", self.error_of(*tell, "throughput=1", "latenzy=2", expect=3))
        self.assertIn("'latency' is given twice", self.error_of(*tell, "latency=1", "latency=2", expect=2))
        self.assertIn("'latency' is missing", self.error_of(*tell, "throughput=1", expect=3))
        self.assertIn("expected RESPONSE", self.error_of(*tell, "throughput=nan", "latency=1", expect=2))
        self.assertIn("1 to 6", self.error_of("tell", "tune", "--run", 7, "throughput=1", "latency=1", expect=3))
        self.assertIn("which run?", self.error_of("tell", "tune", "throughput=1", "latency=1", expect=2))
        self.assertIn("not both", self.error_of(*tell, "--infeasible", "--failed", "x", expect=2))
        self.assertIn("no responses", self.error_of(*tell, "--infeasible", "latency=1", expect=2))
        self.assertIn("is for --infeasible", self.error_of(*tell, "--reason", "too large", "latency=1", expect=2))
        self.assertTrue(self.json_of(*tell, "throughput=1", "latency=2")["recorded"])
        self.assertFalse(self.json_of(*tell, "throughput=1", "latency=2")["recorded"])
        self.assertIn("already has a different result", self.error_of(*tell, "throughput=1", "latency=3", expect=3))
        for recorded in (True, False):
            failed = self.json_of("tell", "tune", "--run", 2, "--failed", "no such file")
            self.assertEqual(failed["recorded"], recorded)
        self.doetune("tell", "tune", "--run", 2, "throughput=3", "latency=2")  # what failed may be made again
        journal = (self.directory / "tune/runs.jsonl").read_text()
        self.assertEqual(journal.count('"status"'), 3)

    def test_what_was_told_by_mistake_is_corrected(self):
        self.asked("--batch", 2)
        tell = ["tell", "tune", "--run", 1]
        self.doetune(*tell, "throughput=1", "latency=2")
        self.assertIn("give --correct if that was told by mistake", self.error_of(*tell, "throughput=10", "latency=2", expect=3))
        self.assertTrue(self.json_of(*tell, "throughput=10", "latency=2", "--correct")["recorded"])
        self.assertFalse(self.json_of(*tell, "throughput=10", "latency=2", "--correct")["recorded"])
        self.assertEqual([row["throughput"] for row in self.rows("results.csv")[:2]], ["10", ""])
        self.doetune(*tell, "--infeasible", "--reason", "out of memory", "--correct")
        self.assertEqual(self.rows("results.csv")[0]["status"], "infeasible")
        self.assertIn("out of memory", self.doetune("status", "tune").stdout)
        journal = (self.directory / "tune/runs.jsonl").read_text()
        self.assertEqual(journal.count('"status"'), 3)

    def test_values_that_the_transform_does_not_take(self):
        for transform, value, needs in (("log", 0, "positive responses"), ("sqrt", -1, "responses of at least 0"),
                                        ("logit", 1.5, "fractions between 0 and 1")):
            self.write("tune.yaml", self.study.replace("unit: ms,", f"unit: ms, transform: {transform},"))
            self.doetune("next", "tune.yaml", "-o", transform)
            self.assertIn(f"run 1: latency: `transform: {transform}` needs {needs}; found {value}",
                          self.error_of("tell", transform, "--run", 1, "throughput=1", f"latency={value}", expect=3))


class StepsThatAreTold(CliCase):
    """Runs that their user makes, ended early by what they report."""
    study = """
factors: {rate: {low: 0, high: 1, step: 0.05}, width: {low: 1, high: 9, type: integer}}
responses: {accuracy: {goal: maximize}}
run: {end_early: {runs: 5}}
"""

    @staticmethod
    def accuracy(settings, step=100):
        end = 0.95 - 2 * (settings["rate"] - 0.4) ** 2 - 0.01 * (settings["width"] - 6) ** 2
        return end * (1 - 2 ** -step)

    def tell(self, run, *words):
        return self.json_of("tell", "tune", "--run", run["run"], *words)

    def make(self, run):
        """Up to ten steps; what the last word is told, and after how many steps."""
        for step in range(1, 11):
            told = self.tell(run, "--step", step, f"accuracy={self.accuracy(run['settings'], step)}")
            if told["status"] != "running":
                return told, step
        return self.tell(run, f"accuracy={self.accuracy(run['settings'])}"), 10

    def test_a_run_that_is_clearly_worse_is_over(self):
        ended = None
        while not ended:
            run = self.json_of("next", "tune.yaml", "--budget", 24)["runs"][0]
            self.assertLess(run["run"], 24)
            told, steps = self.make(run)
            ended = run if told["status"] == "ended_early" else None
        self.assertLess(steps, 8)  # later, little is left to save
        self.assertRegex(told["reason"], rf"^at step {steps}, accuracy would have been 0\.\d+ at best, against 0\.\d+$")
        record = json.loads((self.directory / "tune/runs.jsonl").read_text().splitlines()[-1])
        self.assertEqual((record["run"], record["status"]), (run["run"], "ended_early"))
        self.assertGreaterEqual(record["bounds"]["accuracy"][1], self.accuracy(run["settings"]))
        # Who asks again, after an interruption perhaps, hears the same; it has no other end.
        again = self.tell(run, "--step", 1, "accuracy=0.1")
        self.assertEqual((again["status"], again["reason"]), ("ended_early", told["reason"]))
        self.assertEqual((told["recorded"], again["recorded"]), (True, False))
        self.assertIn("already has a different result, ended_early",
                      self.error_of("tell", "tune", "--run", run["run"], "accuracy=1", expect=3))
        following = self.json_of("next", "tune")["runs"][0]
        self.assertGreater(following["run"], run["run"])
        self.assertNotEqual(following["settings"], run["settings"])
        self.assertIn("can be stopped: ended_early: at step", self.doetune(
            "tell", "tune", "--run", run["run"], "--step", 1, "accuracy=0.1").stdout)

    def test_runs_of_the_start_go_on(self):
        run = self.json_of("next", "tune.yaml", "--budget", 24)["runs"][0]
        self.assertEqual(self.doetune("tell", "tune", "--run", 1, "--step", 1, "accuracy=-1e9").stdout.strip(),
                         "run 1 goes on")
        self.assertEqual(self.json_of("next", "tune")["runs"], [run])  # it has no result yet
        self.assertIn("in progress, according to `doetune tell --step`: #1", self.doetune("status", "tune").stdout)

    def test_what_is_told_is_checked(self):
        self.json_of("next", "tune.yaml")
        tell = ["tell", "tune", "--run", 1, "--step"]
        self.assertIn("expected a number", self.error_of(*tell, "soon", "accuracy=1", expect=2))
        self.assertIn("what is reported", self.error_of(*tell, 1, expect=2))
        self.assertEqual(self.json_of(*tell, 1, "accuracy=nan")["status"], "running")  # it diverges
        self.assertIn("did you mean 'accuracy'", self.error_of(*tell, 1, "acuracy=1", expect=3))
        self.assertIn("a run in progress", self.error_of(*tell, 1, "accuracy=1", "--infeasible", expect=2))
        self.assertIn("no --reason", self.error_of(*tell, 1, "accuracy=1", "--reason", "slow", expect=2))
        self.assertIn("expected a planned run", self.error_of("tell", "tune", "--run", 0, "accuracy=1", expect=3))
        self.assertIn("expected a planned run", self.error_of("tell", "tune", "--run", 99, "--step", 1, "accuracy=1", expect=3))
        self.doetune("tell", "tune", "--run", 1, "accuracy=0.5")
        self.assertIn("run 1 has ended: completed", self.error_of(*tell, 1, "accuracy=1", expect=3))


if __name__ == "__main__":
    main()

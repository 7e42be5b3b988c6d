#!/usr/bin/env python3
"""The first minutes: templates, the check of a study by one run, the demo."""
import fcntl
import json
import os
import re
from unittest import mock

from cli_case import STUDY, CliCase, main

TEMPLATES = ("inference", "training", "own-inference", "own-training", "import", "serving", "slurm")


class FirstSteps(CliCase):
    def workloads(self):
        return [entry["name"] for entry in self.json_of("workloads")["workloads"]]

    def test_every_template_is_valid_and_plans(self):
        import jsonschema
        import yaml
        schema = json.loads(self.doetune("schema").stdout)
        self.assertEqual(set(TEMPLATES), set(re.findall(
            r"(?:\. |; )([a-z-]+): ", " ".join(self.doetune("init", "--help").stdout.split()))))
        for program in ("bench", "train", "vllm"):
            self.write_program(program, "#!/bin/sh\nexit 1\n")
        path = mock.patch.dict(os.environ, PATH=f"{self.directory}:{os.environ['PATH']}")
        path.start()
        self.addCleanup(path.stop)
        for name in TEMPLATES:
            file = f"{name}.yaml"
            self.doetune("init", "--template", name, file)
            text = (self.directory / file).read_text()
            jsonschema.validate(yaml.safe_load(text), schema)
            self.assertLessEqual(max(map(len, text.splitlines())), 100, name)
            self.assertGreater(text.count("#"), 1, name)
            self.assertEqual(text, self.doetune("init", "-t", name, "-").stdout)
            if name != "import":
                # What stands there as a comment is valid too.
                self.assertEqual(text.count("# confirm: "), 1, name)
                confirmed = yaml.safe_load(text.replace("# confirm: ", "confirm: "))
                jsonschema.validate(confirmed, schema)
                self.assertIn("runs", confirmed["confirm"])
            if name == "import":
                continue
            if yaml.safe_load(text).get("workload") not in (None, *self.workloads()):
                continue  # a tree without workloads
            self.assertGreater(self.json_of("plan", file)["evaluation"]["runs"], 10)

    def test_the_template_of_an_import_takes_a_table(self):
        self.doetune("init", "-t", "import", "mine.yaml")
        rows = [(t, b) for t in (1, 8, 16) for b in (1, 8, 64)]
        self.write("mine.csv", "threads,batch_size,throughput,latency\n" + "".join(
            f"{t},{b},{100 * t + b},{5 + b}\n" for t, b in rows))
        self.doetune("import", "mine.yaml", "mine.csv")
        self.assertEqual(self.json_of("status", "mine")["completed"], 9)

    def test_init_says_what_it_cannot_do(self):
        self.assertIn("did you mean 'slurm'",
                      self.error_of("init", "--template", "slrum", expect=2))
        self.error_of("init", "--demo", "--template", "slurm", expect=2)
        self.doetune("init")
        self.assertIn("--force replaces it", self.error_of("init", expect=2))
        self.doetune("init", "--force")
        self.error_of("init", "-", "--json", expect=2)
        self.assertFalse((self.directory / "-").exists())

    def test_a_check_makes_one_run_and_leaves_nothing(self):
        before = sorted(path.name for path in self.directory.iterdir())
        told = self.doetune("check", "tune.yaml")
        self.assertEqual(before, sorted(path.name for path in self.directory.iterdir()))
        self.assertIn("14 runs", told.stdout)
        self.assertRegex(told.stdout, r"#\d+ a=0 b=2 completed after")
        self.assertRegex(told.stdout, r"y +9\.\d+ +points")  # 10 - 0 - 1, and the ripple
        self.assertIn("The whole plan would take about", told.stdout)
        self.assertIn("Next: doetune plan tune.yaml", told.stderr)
        document = self.json_of("check", "tune.yaml")
        self.assertEqual((document["settings"], document["status"]), ({"a": 0, "b": 2}, "completed"))
        self.assertAlmostEqual(document["responses"]["y"], 9, delta=0.02)
        self.assertGreaterEqual(document["plan_s"], 14 * document["duration_s"] * 0.99)

    def test_a_factor_that_the_command_omits_is_reported(self):
        self.write("half.yaml", STUDY.replace('"{a}", "{b}"', '"{a}", "1"'))
        self.assertIn("note: 'b' is not among the arguments", self.doetune("plan", "half.yaml").stdout)
        self.write("whole.yaml", STUDY.replace('"{a}", "{b}"', '"{request}"'))  # it reads them all
        self.assertNotIn("among the arguments", self.doetune("plan", "whole.yaml").stdout)

    def test_a_planned_study_is_checked_too(self):
        self.doetune("plan", "tune.yaml")
        files = sorted(path.name for path in (self.directory / "tune").iterdir())
        self.assertIn("Next: doetune run tune", self.doetune("check").stderr)
        self.assertEqual(files, sorted(path.name for path in (self.directory / "tune").iterdir()))

    def test_a_check_that_fails_shows_what_was_printed(self):
        self.write_program("bench", "#!/bin/sh\necho starting; echo no such model >&2; exit 3\n")
        shown = self.doetune("check", "tune.yaml", expect=5).stdout
        for words in ("failed", "exit code 3", "  starting", "  no such model"):
            self.assertIn(words, shown)
        self.write_program("bench", "#!/bin/sh\necho '{\"x\": 3}'\n")
        shown = self.doetune("check", "tune.yaml", expect=5).stdout
        self.assertRegex(shown, "'?y'?")
        self.assertIn('{"x": 3}', shown)
        self.write_program("bench", "#!/bin/sh\nexit 77\n")
        self.assertEqual(self.json_of("check", "tune.yaml", expect=5)["status"], "infeasible")
        self.assertIn("bensh", self.error_of("check", self.altered("./bench", "./bensh"), expect=3))

    def next_of(self, done):
        return done.stderr.split("Next: doetune ")[1].split()[0]

    def test_runs_that_all_fail_lead_to_their_cause(self):
        self.write_program("bench", "#!/bin/sh\necho first >&2; echo no such model >&2; exit 3\n")
        self.doetune("plan", "tune.yaml")
        run = self.doetune("run", "tune", expect=5)
        self.assertIn("stopping: the first 3 runs failed in the same way", run.stderr)
        self.assertIn("0 of 14 runs completed\n  runs 1 to 3 failed: exit code 3: no such model\n"
                      "    tune/runs/0003.1/stderr\nLast output of run 3:\nfirst\nno such model\n", run.stderr)
        self.assertEqual(self.next_of(run), "check")
        status = self.doetune("status", "tune")
        self.assertIn("  runs 1 to 3 failed: exit code 3: no such model\n"
                      "    tune/runs/0003.1/stderr\n", status.stdout)
        self.assertLessEqual(max(map(len, status.stdout.splitlines())), 80)
        for command in ("fit", "optimize", "report", "confirm"):
            self.assertEqual(self.next_of(self.doetune(command, "tune", expect=5)), "check")
        self.assertEqual(self.next_of(status), "check")
        check = self.doetune("check", "tune", expect=5)
        self.assertIn("  no such model", check.stdout)
        self.assertIn("Next: doetune check tune (after fixing this in tune", check.stderr)
        self.write_program("bench", "#!/bin/sh\necho '{\"y\": 1}'\n")
        self.assertEqual(self.next_of(self.doetune("check", "tune")), "run")
        self.assertEqual(self.next_of(self.doetune("run", "tune")), "report")

    def test_the_last_line_of_a_failed_run_is_reported(self):
        # It ends well, but prints no result: what it printed tells why.
        self.write_program("bench", "#!/bin/sh\necho cache is cold\n")
        self.doetune("plan", "tune.yaml")
        told = self.doetune("run", "tune", expect=5).stderr
        self.assertIn("    tune/runs/0003.1/stdout: cache is cold\n", told)
        self.write_program("bench", "#!/bin/sh\nexit 77\n")  # nothing can run, nothing is printed
        self.doetune("run", "tune")
        self.assertEqual(self.next_of(self.doetune("status", "tune")), "check")

    def altered(self, old, new):
        self.write("altered.yaml", (self.directory / "tune.yaml").read_text().replace(old, new))
        return "altered.yaml"

    def test_a_check_runs_no_hooks_and_tries_once(self):
        self.write_program("bench", "#!/bin/sh\necho x >>tries; exit 3\n")
        file = self.altered("retries: 0", "retries: 3, after_run: [touch, hook], after_all: [touch, hook]")
        self.doetune("check", file, expect=5)
        self.assertEqual((self.directory / "tries").read_text(), "x\n")
        self.assertFalse((self.directory / "hook").exists())

    def left_check(self):
        """The directory of a killed check: its attempt, and the environment that leads to it."""
        temporary = self.directory / "tmp"
        attempt = temporary / ".doetune-check-abcdef/study/runs/0001.1"
        (attempt / "claim").mkdir(parents=True)
        return attempt, {"TMPDIR": str(temporary)}

    def test_what_a_killed_check_left_is_removed(self):
        self.doetune("plan", "tune.yaml")
        attempt, where = self.left_check()
        self.doetune("run", "tune", env=where)
        self.assertEqual(os.listdir(where["TMPDIR"]), [])

    def test_a_missing_temporary_directory_stops_a_check_only(self):
        self.doetune("plan", "tune.yaml")
        where = {"TMPDIR": str(self.directory / "none")}
        self.doetune("run", "tune", env=where)
        self.assertIn("TMPDIR: ", self.doetune("check", "tune", expect=4, env=where).stderr)

    def test_a_check_on_another_machine_keeps_its_directory(self):
        self.doetune("plan", "tune.yaml")
        attempt, where = self.left_check()
        with open(attempt.parents[1] / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the file only, as a lock from another machine
            self.doetune("run", "tune", env=where)
            self.assertEqual(os.listdir(attempt), ["claim"])
        self.doetune("run", "tune", env=where)
        self.assertEqual(os.listdir(where["TMPDIR"]), [])

    def test_a_run_that_a_killed_check_left_on_another_machine_is_stopped(self):
        self.doetune("plan", "tune.yaml")
        attempt, where = self.left_check()
        (attempt / "alive").touch()
        self.doetune("run", "tune", env=where)
        self.assertTrue((attempt / "cancel").exists())
        os.utime(attempt / "alive", (0, 0))  # no heartbeat any more
        self.doetune("run", "tune", env=where)
        self.assertEqual(os.listdir(where["TMPDIR"]), [])

    def test_the_demo_comes_to_a_report(self):
        self.doetune("init", "--demo")
        if "stream-inference" not in self.workloads():
            self.skipTest("the workload is not built")
        self.doetune("plan", "demo.yaml")
        self.doetune("run", "demo")
        self.doetune("report", "demo")
        self.assertTrue((self.directory / "demo/report/report.html").exists())


if __name__ == "__main__":
    main()

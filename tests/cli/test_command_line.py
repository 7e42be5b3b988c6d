#!/usr/bin/env python3
"""The command line as a user types it: files, exit codes, messages, JSON.

usage: test_command_line.py DOETUNE SOURCE_TREE
"""
import csv
import json
import os
import pathlib
import re
import signal
import shutil
import subprocess
import time

from cli_case import BENCH, DOETUNE, TREE, CliCase, main
from cli_case import STUDY as WITHOUT_TELEMETRY

STUDY = WITHOUT_TELEMETRY.replace(", telemetry: 0", "")


class CommandLine(CliCase):
    def setUp(self):
        super().setUp()
        self.write("tune.yaml", STUDY)

    def rows_of(self, study, table):
        with open(self.directory / study / table, newline="") as file:
            return list(csv.DictReader(file))

    def test_doctor_describes_this_machine_and_hides_secrets(self):
        secret = {"MY_TOKEN": "hunter2", "LD_LIBRARY_PATH": "/somewhere:" * 30,
                  "DOETUNE_NVML": "/nowhere/libnvidia-ml.so.1"}
        told = self.doetune("doctor", env=secret)
        for word in ("processors", "memory", "GPUs        none", "/nowhere/libnvidia-ml.so.1"):
            self.assertIn(word, told.stdout)
        self.assertNotIn("\x1b", told.stdout)
        self.assertLessEqual(max(map(len, told.stdout.splitlines())), 80)
        document = json.loads(self.doetune("doctor", "--json", env=secret).stdout)
        self.assertEqual(document["conditions"]["environment"]["inherited"]["MY_TOKEN"], "(hidden)")
        self.assertNotIn("hunter2", json.dumps(document))
        self.assertEqual(document["conditions"]["gpus"], [])
        self.assertTrue(all(finding["remedy"] for finding in document["findings"]))

    def test_every_quantity_and_verdict_is_in_the_documents(self):
        page = (TREE / "docs/telemetry.md").read_text()
        names = re.findall(r'Quantity\{"(\w+)"', (TREE / "study/telemetry_quantities.cpp").read_text())
        names += re.findall(r'BottleneckRule\{\s*"(\w+)"',
                            (TREE / "runner/telemetry/bottleneck.cpp").read_text())
        self.assertGreater(len(names), 40)
        for name in names:
            self.assertIn(f"| `{name}` |", page)

    def test_from_plan_to_report(self):
        plan = self.doetune("plan", "tune.yaml")
        self.assertIn("D-efficiency", plan.stdout)
        self.assertIn("14 runs", plan.stdout)
        self.assertIn("Next: doetune run tune", plan.stderr)
        self.doetune("fit", expect=5)  # nothing has run yet
        self.doetune("optimize", expect=5)
        self.doetune("report", expect=5)  # a page that says so
        self.assertTrue((self.directory / "tune/report/report.html").exists())
        self.assertIn("14 to do", self.doetune("status").stdout)
        run = self.doetune("run")
        self.assertNotIn("\x1b", run.stdout + run.stderr)
        status = self.json_of("status")
        self.assertEqual((status["completed"], status["remaining"]), (14, 0))
        optimum = self.json_of("optimize")
        self.assertAlmostEqual(optimum["settings"]["a"], 0, delta=0.05)
        self.assertAlmostEqual(optimum["settings"]["b"], 1, delta=0.05)
        self.assertAlmostEqual(optimum["responses"]["y"]["mean"], 10, delta=0.05)
        self.assertTrue(optimum["global"])
        self.assertAlmostEqual(optimum["baseline"]["responses"]["y"]["mean"], 5, delta=0.05)
        self.doetune("report")
        page = (self.directory / "tune/report/report.html").read_text()
        self.assertIn("tune", page)
        before = (self.directory / "tune/runs.jsonl").read_bytes()
        self.assertNotIn("Nothing to do", run.stderr)
        self.assertIn("Nothing to do: all 14 runs have been made", self.doetune("run").stderr)
        self.assertEqual(before, (self.directory / "tune/runs.jsonl").read_bytes())

    def test_results_open_as_a_plain_table(self):
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune")
        with open(self.directory / "tune/results.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(list(rows[0])[:7],
                         ["run", "standard_order", "point_type", "block", "replicate", "a", "b"])
        self.assertEqual([int(row["run"]) for row in rows], list(range(1, 15)))
        for row in rows:
            a, b = float(row["a"]), float(row["b"])
            self.assertAlmostEqual(float(row["y"]), 10 - a * a - (b - 1) ** 2, delta=0.011)
            self.assertEqual(row["status"], "completed")

    def test_a_model_without_a_constant_is_noted(self):
        for model, noted in (('[a, b]', True), ('["1", a, b]', False), ("linear", False)):
            self.write("model.yaml", STUDY + f"model: {model}\n")
            shown = self.doetune("plan", "model.yaml", "-o", f"model-{noted}-{len(model)}").stdout
            self.assertEqual('the model has no intercept (the term "1")' in shown, noted, shown)

    def test_whole_plots_and_a_budget(self):
        (self.directory / "split.yaml").write_text(
            STUDY.replace("baseline: 1", "baseline: 1, hard_to_change: true")
            + "design: {type: d-optimal, budget: 1 h, run_cost: 3 min, change_cost: 5 min}\n")
        shown = self.doetune("plan", "split.yaml").stdout
        self.assertIn("whole plot", shown.splitlines()[0])
        self.assertIn("planned cost", shown)
        self.doetune("run", "split")
        for table in "plan.csv", "results.csv":
            rows = self.rows_of("split", table)
            plots = [row["whole_plot"] for row in rows]
            # Runs of a whole plot follow one another, with the same setting of a.
            changes = sum(before != after for before, after in zip(plots, plots[1:]))
            self.assertEqual(changes + 1, len(set(plots)))
            self.assertEqual(len({(row["whole_plot"], row["a"]) for row in rows}), len(set(plots)))
            self.assertLessEqual(3 * len(rows) + 5 * len(set(plots)), 60)
        self.doetune("fit", "split")
        self.doetune("report", "split")
        self.assertIn("whole plot", self.doetune("augment", "split", "--runs", 3).stdout)
        self.doetune("run", "split")
        self.doetune("import", "split.yaml", "split/results.csv", "-o", "again")
        again = self.rows_of("again", "plan.csv")
        self.assertEqual(len(rows) + 3, len(again))
        self.assertEqual(plots, [row["whole_plot"] for row in again][:len(plots)])

    def test_published_fccd(self):
        # Reference: normal equations in 60-digit arithmetic over the same 20 published runs.
        example = TREE / "examples/published-fccd"
        self.doetune("import", example / "fccd.yaml", example / "fccd_yolo_spark.csv")
        fit = self.json_of("fit")["responses"]["throughput"]
        reference = [2507.8909090909091, 569.8, -56.3, 499.7, -82.375, 285.875, 71.375,
                     -424.72727272727273, 192.77272727272727, -489.22727272727273]
        for row, value in zip(fit["coefficients"], reference):
            self.assertAlmostEqual(row["estimate"] / value, 1, delta=1e-10, msg=row["term"])
        optimum = self.json_of("optimize")
        self.assertTrue(optimum["feasible"])
        self.assertTrue(1800 <= optimum["responses"]["throughput"]["mean"] <= 2500)
        self.assertTrue(0.5 <= optimum["responses"]["processing_time"]["mean"] <= 1.0)

    def test_published_space_filling(self):
        # Reference: R's lm over the same 20 published runs, with the terms that the study's selection keeps.
        example = TREE / "examples/train-classifier-space-filling"
        self.doetune("import", example / "published.yaml", example / "cifar100_space_filling.csv", "-o", "s")
        fit = self.json_of("fit", "s")["responses"]["accuracy"]
        reference = {"1": 48.365, "epochs": 9.85899712640622, "batch_size": -3.19554737844193,
                     "lr_step": 5.69485190393808}
        estimates = {row["term"]: row["estimate"] for row in fit["coefficients"]}
        self.assertEqual(list(reference), list(estimates))
        for term, value in reference.items():
            self.assertAlmostEqual(estimates[term] / value, 1, delta=1e-10, msg=term)

    def test_goals_and_holds_on_the_command_line(self):
        example = TREE / "examples/published-fccd"
        self.doetune("import", example / "fccd.yaml", example / "fccd_yolo_spark.csv", "-o", "s")
        held = self.json_of("optimize", "s", "--hold", "executors_per_gpu=1", expect=6)
        self.assertEqual(held["settings"]["executors_per_gpu"], 1)
        self.assertFalse(held["feasible"])
        maximal = self.json_of("optimize", "s", "--goal", "throughput=maximize",
                               "--goal", "processing_time=at_most:7")
        self.assertGreater(maximal["responses"]["throughput"]["mean"], 3000)
        for wrong in (["--goal", "thruput=maximize"], ["--goal", "throughput=maximise"],
                      ["--goal", "throughput=within:3"], ["--goal", "throughput"],
                      ["--hold", "executors=1"], ["--hold", "executors_per_gpu=9"],
                      ["--model", "cubist"], ["--transform", "logs"]):
            self.doetune("optimize", "s", *wrong, expect=2)

    def test_usage_errors(self):
        self.assertIn("did you mean 'report'?", self.doetune("reprot", expect=2).stderr)
        self.assertIn("did you mean '--force'?",
                      self.doetune("plan", "tune.yaml", "--forse", expect=2).stderr)
        self.doetune("plan", "tune.yaml", "--forc", expect=2)  # abbreviations are not guessed
        self.doetune("plan", expect=2)
        self.doetune("plan", "a", "b", expect=2)
        self.doetune(expect=2)
        self.assertIn("Commands:", self.doetune("--help").stdout)
        self.assertIn("doetune ", self.doetune("--version").stdout)
        for name in ("init", "plan", "run", "status", "import", "fit", "optimize", "report", "export",
                     "designs", "workloads", "workload", "schema"):
            self.assertRegex(self.doetune(name, "--help").stdout, "\nExamples?:\n")

    def test_study_file_errors(self):
        (self.directory / "bad.yaml").write_text(STUDY.replace("goal:", "gaol:"))
        error = self.doetune("plan", "bad.yaml", expect=3).stderr
        self.assertIn("bad.yaml:7:21", error)
        self.assertIn("did you mean 'goal'?", error)
        self.doetune("plan", "missing.yaml", expect=3)

    def test_what_cannot_be_run_is_pointed_at(self):
        def error_of(old, new):
            self.assertIn(old, STUDY)
            (self.directory / "bad.yaml").write_text(STUDY.replace(old, new))
            return self.doetune("plan", "bad.yaml", expect=3).stderr

        error = error_of("./bench", "./bensh")
        self.assertIn("bad.yaml:2:11: ", error)
        self.assertIn("bensh", error)
        self.assertFalse((self.directory / "bad").exists())
        error = error_of('{b}"]', '{c}"]')
        self.assertIn("bad.yaml:2:27: ", error)
        self.assertIn("{c}", error)
        error = error_of("run: {", "run: {launcher: slrum, ")
        self.assertIn("bad.yaml:8:17: ", error)
        self.assertIn("slrum", error)
        self.assertIn("nothing to run", error_of("command:", "# command:"))
        error = error_of('command: [./bench, "{a}", "{b}"]', "workload: stream-inferense")
        self.assertIn("bad.yaml:2:11: ", error)
        self.assertIn("did you mean 'stream-inference'?", error)

    def test_factors_of_a_bundled_workload_are_checked(self):
        text = (TREE / "examples/fccd-stream-inference/fccd.yaml").read_text()
        lines = text.replace("batch_size:", "bacth_size:")
        (self.directory / "w.yaml").write_text(lines)
        error = self.doetune("plan", "w.yaml", expect=3).stderr
        self.assertIn("did you mean 'batch_size'?", error)
        before = lines[: lines.index("bacth_size:")]
        place = (before.count("\n") + 1, len(before) - before.rfind("\n"))
        self.assertIn("w.yaml:{}:{}: factor 'bacth_size'".format(*place), error)

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([str(DOETUNE), "designs", "--json"], stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left", done.stderr)

    def test_directory_errors(self):
        self.doetune("status", expect=4)
        self.doetune("plan", "tune.yaml")
        self.doetune("plan", "tune.yaml", expect=4)
        self.doetune("plan", "tune.yaml", "--force")
        (self.directory / "tune/plan.csv").unlink()
        self.assertIn("plan.csv", self.doetune("run", "tune", expect=4).stderr)

    def test_a_read_only_directory_is_said_to_be(self):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root to become someone without rights")
        nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
        if subprocess.run([*nobody, str(DOETUNE), "--version"], capture_output=True).returncode:
            self.skipTest("the program cannot be reached by others")
        self.doetune("plan", "tune.yaml")
        error = self.doetune("run", "tune", prefix=nobody, expect=4).stderr
        self.assertIn("ermission denied", error)

    def test_interrupt_drains_then_resumes(self):
        self.doetune("plan", "tune.yaml")
        running = subprocess.Popen([str(DOETUNE), "run", "tune"], cwd=self.directory,
                                   env={**os.environ, "SLOW": "0.3"}, stderr=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, text=True)
        self.wait_for_runs(2)
        running.send_signal(signal.SIGINT)
        _, error = running.communicate(timeout=300)
        self.assertEqual(running.returncode, 130, error)
        done = self.json_of("status")["completed"]
        self.assertTrue(2 <= done < 14, done)
        self.doetune("run", "tune")
        status = self.json_of("status")
        self.assertEqual((status["completed"], status["cancelled"]), (14, 0))

    def test_only_one_writer(self):
        self.doetune("plan", "tune.yaml")
        running = subprocess.Popen([str(DOETUNE), "run", "tune"], cwd=self.directory,
                                   env={**os.environ, "SLOW": "0.3"}, stderr=subprocess.DEVNULL)
        self.wait_for_runs(1)
        error = self.doetune("run", "tune", expect=4).stderr
        self.assertIn(f"process {running.pid}", error)
        running.send_signal(signal.SIGINT)
        running.wait(timeout=300)

    def wait_for_runs(self, count):
        journal = self.directory / "tune/runs.jsonl"
        for _ in range(600):
            if journal.exists() and journal.read_text().count('"status"') >= count:
                return
            time.sleep(0.05)
        self.fail("no runs")

    def test_a_question_of_the_moment_does_not_replace_the_answer(self):
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune")
        self.doetune("optimize", "tune")
        self.doetune("fit", "tune")
        before = [(self.directory / "tune" / name).read_bytes() for name in ("optimum.json", "fit.json")]
        other = self.json_of("optimize", "tune", "--goal", "y=minimize")
        self.assertEqual(other["goals"]["y"]["goal"], "minimize")
        self.doetune("fit", "tune", "--model", "linear")
        self.assertEqual(before, [(self.directory / "tune" / name).read_bytes()
                                  for name in ("optimum.json", "fit.json")])

    def test_formulas_can_be_edited_after_the_runs(self):
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune")
        study = self.directory / "tune/study.yaml"
        study.write_text(study.read_text().replace("run:", '  twice: {formula: "y * 2"}\nrun:'))
        fits = self.json_of("fit", "tune")["responses"]
        for once, twice in zip(fits["y"]["coefficients"], fits["twice"]["coefficients"]):
            self.assertAlmostEqual(2 * once["estimate"], twice["estimate"], delta=1e-9)

    def test_only_and_dry_run(self):
        self.doetune("plan", "tune.yaml")
        self.assertEqual(len(self.json_of("run", "tune", "--dry-run")["runs"]), 14)
        self.doetune("run", "tune", "--only", "", expect=2)
        self.doetune("run", "tune", "--launcher", "slrum", expect=2)
        dry = self.doetune("run", "tune", "--dry-run", "--only", "3,5-6").stdout
        self.assertEqual([line.split()[0] for line in dry.splitlines() if line.startswith("#")],
                         ["#3", "#5", "#6"])
        self.assertFalse((self.directory / "tune/runs.jsonl").exists())
        some = self.doetune("run", "tune", "--only", "3,5-6", expect=5)
        self.assertIn("Next: doetune run tune", some.stderr)
        self.assertEqual(self.json_of("status")["completed"], 3)
        self.doetune("run", "tune", "--only", "15", expect=2)

    def test_retry_chooses_which_ends_are_tried_anew(self):
        (self.directory / "bench").write_text("#!/bin/sh\n[ $1 = -2 ] && exit 3\necho '{\"y\": 1}'\n")
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune", expect=5)
        failed = self.json_of("status")["failed"]
        self.assertGreater(failed, 0)
        (self.directory / "bench").write_text("#!/bin/sh\necho '{\"y\": 2}'\n")
        told = self.doetune("run", "tune", "--retry", "none", expect=5).stderr
        self.assertIn(f"Nothing to do: {14 - failed} of 14 runs completed", told)
        self.doetune("run", "tune", "--retry", "lost,timed_out", expect=5)
        self.assertEqual(self.json_of("status")["failed"], failed)
        self.assertIn("did you mean 'failed'", self.doetune("run", "tune", "--retry", "fialed",
                                                            expect=2).stderr)
        self.doetune("run", "tune", "--retry", "failed")
        self.assertEqual(self.json_of("status")["failed"], 0)

    def test_a_dry_run_shows_slots_and_cost(self):
        study = STUDY.replace("run: {", "run: {gpus_per_run: 2, ")
        (self.directory / "tune.yaml").write_text(study)
        self.doetune("plan", "tune.yaml")
        dry = self.json_of("run", "tune", "--dry-run", "--gpus", "GPU-a,GPU-b,GPU-c")
        self.assertEqual(dry["runs"][0]["gpus"], ["GPU-a", "GPU-b"])
        self.assertEqual(dry["runs"][0]["environment"]["CUDA_VISIBLE_DEVICES"], "GPU-a,GPU-b")
        self.assertAlmostEqual(dry["expected_s"], 14 * 0.1)
        self.assertAlmostEqual(dry["expected_gpu_hours"], 14 * 2 * 0.1 / 3600)
        self.assertIn("needs 2 GPUs, but there are 1",
                      self.doetune("run", "tune", "--dry-run", "--gpus", "0", expect=3).stderr)
        text = self.doetune("run", "tune", "--dry-run", "--gpus", "0,1", "--only", "1").stdout
        self.assertIn("#1 GPU 0,1", text)
        self.assertIn("GPU-hours", text)

    def test_a_clock_that_jumps_changes_no_run(self):
        library = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
        if library is None:
            self.skipTest("faketime is not installed")
        offset = self.directory / "offset"
        offset.write_text("+0")
        jump = "#!/bin/sh\n[ $1 = -2 ] && echo '-9y' >offset || echo '+9y' >offset\nsleep 0.05\n"
        (self.directory / "bench").write_text(jump + "echo '{\"y\": 1}'\n")
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune", env={
            "LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(offset),
            "FAKETIME_NO_CACHE": "1", "DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            # Where doetune is built with a sanitizer, whose library wants to be the first.
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"})
        rows = self.rows_of("tune", "results.csv")
        self.assertEqual({row["status"] for row in rows}, {"completed"})
        self.assertEqual({row["attempt"] for row in rows}, {"1"})
        self.assertGreater(len({row["start"][:4] for row in rows}), 1)  # it did jump
        for row in rows:
            self.assertLess(float(row["duration_s"]), 60)

    def test_between_equally_desirable_runs_the_value_decides(self):
        (self.directory / "bench").write_text(
            "#!/bin/sh\nawk -v a=$1 'BEGIN { printf \"{\\\"y\\\": %g}\", a < -1 ? -1 : a < 1 ? 5 : 800 }'\n")
        (self.directory / "tune.yaml").write_text(STUDY.replace("maximize", "minimize"))
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune")
        best = self.json_of("status")["best_run"]
        self.assertEqual(self.rows_of("tune", "results.csv")[best - 1]["y"], "-1")

    def test_the_best_run_is_the_measured_one_and_at_the_end_the_reports(self):
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune", "--only", "1-5", expect=5)
        measured = {row["run"]: float(row["y"]) for row in self.rows_of("tune", "results.csv") if row["y"]}
        self.assertEqual(len(measured), 5)
        self.assertEqual(str(self.json_of("status")["best_run"]), max(measured, key=measured.get))
        (self.directory / "bench").write_text(BENCH.replace("a=$1", '[ "$1 $2" = "-2 4" ] && exit 3\na=$1'))
        self.doetune("run", "tune", expect=5)
        status = self.json_of("status")
        self.assertEqual((status["failed"], status["completed"]), (1, 13))
        self.doetune("optimize", "tune")
        optimum = json.loads((self.directory / "tune/optimum.json").read_text())
        self.assertEqual(status["best_run"], optimum["best_measured"]["run"])

    def test_status_shows_what_is_under_way_and_can_watch(self):
        self.doetune("plan", "tune.yaml")
        run = subprocess.Popen([str(DOETUNE), "run", "tune"], cwd=self.directory,
                               env={**os.environ, "SLOW": "0.5"}, stderr=subprocess.DEVNULL)
        while not (self.directory / "tune/runs.jsonl").exists():
            time.sleep(0.02)
        watched = self.doetune("status", "tune", "--watch").stdout
        self.assertEqual(run.wait(), 0)
        # A line a run that ends meanwhile, where it is no terminal.
        numbers = [int(number) for number in re.findall(r"\[\d+/14\] #(\d+) .* completed in ", watched)]
        self.assertTrue(numbers)
        self.assertEqual(numbers, list(range(numbers[0], 15)))
        self.assertIn("14 of 14 runs completed", watched)
        self.doetune("status", "tune", "--watch", "--json", expect=2)

    def test_failures_are_recorded_and_do_not_stop_the_rest(self):
        (self.directory / "bench").write_text("#!/bin/sh\n[ $1 = -2 ] && exit 3\necho '{\"y\": 1}'\n")
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune", expect=5)
        status = self.json_of("status")
        self.assertEqual((status["failed"], status["completed"]), (3, 11))
        self.doetune("report", "tune")

    def test_settings_that_cannot_run_are_not_recommended(self):
        # y rises to the corner (2, 4), where the program runs out of memory.
        (self.directory / "bench").write_text(
            "#!/bin/sh\n[ $1 = 2 ] && [ $2 = 4 ] && exit 77\n"
            "awk -v a=$1 -v b=$2 'BEGIN { printf \"{\\\"y\\\": %g}\", a + b }'\n")
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune")
        optimum = self.json_of("optimize", "tune")["settings"]
        self.assertNotEqual((optimum["a"], optimum["b"]), (2, 4))

    def test_the_study_file_schema_accepts_what_doetune_accepts(self):
        import jsonschema
        import yaml
        schema = json.loads(self.doetune("schema").stdout)
        studies = sorted((TREE / "examples").rglob("*.yaml"))
        self.assertTrue(studies)
        self.doetune("init", "template.yaml")
        for study in [*studies, self.directory / "template.yaml", self.directory / "tune.yaml"]:
            jsonschema.validate(yaml.safe_load(study.read_text()), schema)
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate({"factors": {"a": {"lwo": 1}}, "responses": {}}, schema)

    def test_init_plans(self):
        self.doetune("init")
        self.doetune("init", expect=2)
        self.assertIn("20 runs", self.doetune("plan", "study.yaml").stdout)

    def test_designs_are_evaluated_before_they_run(self):
        alone = self.json_of("evaluate", "tune.yaml")
        self.doetune("plan", "tune.yaml")
        planned = self.json_of("evaluate", "tune")
        for key in ("runs", "d_efficiency", "g_efficiency", "i_average_variance"):
            self.assertEqual(alone[key], planned[key], key)
        # A 3^2 factorial for a quadratic: |X'X| = 5184 (theory), D = 100 * 5184^(1/6) / 9.
        levels = [(a, b) for a in (-2, 0, 2) for b in (0, 2, 4)]
        (self.directory / "grid.csv").write_text(
            "a,b\n" + "".join(f"{a},{b}\n" for a, b in levels))
        both = self.json_of("evaluate", "grid.csv", "--model", "quadratic", "--compare", "tune")
        self.assertAlmostEqual(both["d_efficiency"], 100 * 5184 ** (1 / 6) / 9, places=9)
        self.assertEqual(both["compare"]["runs"], planned["runs"])
        text = self.doetune("evaluate", "grid.csv", "--model", "quadratic").stdout
        self.assertIn("correlations between effects", text)
        self.doetune("evaluate", "nowhere.csv", expect=4)
        self.assertIn("no terms", self.doetune("evaluate", "grid.csv", "--model", "",
                                               expect=3).stderr)
        for text, said in (("a,b\n1,2\n3,\n1,4\n", "odd.csv:3: column 'b' is empty"),
                           ("a,a\n1,2\n3,4\n", "two columns are named 'a'")):
            (self.directory / "odd.csv").write_text(text)
            self.assertIn(said, self.doetune("evaluate", "odd.csv", expect=3).stderr)
        self.doetune("evaluate", "grid.csv", "--model", "quadratik", expect=3)

    def test_runs_are_added_to_a_study_that_has_some(self):
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune")
        runs = self.json_of("status", "tune")["completed"]
        dry = self.json_of("augment", "tune", "--runs", "3", "--dry-run")
        self.assertEqual(len(dry["added"]), 3)
        self.assertEqual(self.json_of("status", "tune")["planned"], runs)
        added = self.json_of("augment", "tune", "--runs", "3")
        self.assertEqual(added["added"], dry["added"])
        before = (self.directory / "tune" / "results.csv").read_text().splitlines()[:runs + 1]
        self.doetune("run", "tune")
        after = (self.directory / "tune" / "results.csv").read_text().splitlines()
        self.assertEqual(after[:runs + 1], before)
        self.assertEqual(len(after), 1 + runs + 3)
        self.assertIn("did you mean 'd-optimal'", self.doetune(
            "augment", "tune", "--runs", "2", "--design", "d-optimum", expect=2).stderr)
        self.doetune("augment", "tune", "--runs", "2", "--axial", expect=2)

    def test_an_outlying_run_is_reported_and_measured_once_more(self):
        # The first measurement at (2, 0) is 3 points too high.
        (self.directory / "bench").write_text(BENCH.replace(
            "awk ", '[ "$a $b" = "2 0" ] && [ ! -e wild ] && touch wild && exec echo "{\\"y\\": 8}"\nawk '))
        quiet = STUDY.replace("retries: 0", "retries: 0, telemetry: 0")
        (self.directory / "tune.yaml").write_text(quiet)
        self.doetune("plan", "tune.yaml")
        rows = self.rows_of("tune", "plan.csv")
        wild = next(row for row in rows if (row["a"], row["b"]) == ("2", "0"))
        self.doetune("run", "tune", "--rerun", wild["run"], expect=2)  # has not completed yet
        told = self.doetune("run", "tune").stderr
        self.assertIn(f"Run {wild['run']} is suspect: y: outlier", told)
        self.assertIn(f"`doetune run tune --rerun {wild['run']}`", told)
        self.assertEqual(len(self.rows_of("tune", "plan.csv")), 14)
        self.doetune("run", "tune", "--rerun", "", expect=2)
        self.doetune("run", "tune", "--rerun", "15", expect=2)
        self.doetune("run", "tune", "--rerun", "3", "--only", "3", expect=2)
        dry = self.doetune("run", "tune", "--rerun", wild["run"], "--dry-run").stdout
        self.assertIn("#15", dry)
        self.assertEqual(len(self.rows_of("tune", "plan.csv")), 14)
        again = self.doetune("run", "tune", "--rerun", wild["run"]).stderr
        self.assertNotIn("is suspect", again)
        results = self.rows_of("tune", "results.csv")
        self.assertEqual(len(results), 15)
        for column in ("standard_order", "point_type", "block", "a", "b"):
            self.assertEqual(results[14][column], wild[column])
        self.assertEqual((results[14]["replicate"], results[int(wild["run"]) - 1]["y"]), ("2", "8"))
        self.assertAlmostEqual(float(results[14]["y"]), 5, delta=0.02)
        self.assertEqual(self.json_of("fit", "tune")["responses"]["y"]["n"], 15)  # both stay

    def test_a_study_may_ask_for_outlying_runs_to_be_measured_once_more(self):
        (self.directory / "bench").write_text(BENCH.replace(
            "awk ", '[ "$a $b" = "2 0" ] && exec echo "{\\"y\\": 8}"\nawk '))
        (self.directory / "tune.yaml").write_text(
            STUDY.replace("retries: 0", "retries: 0, telemetry: 0, outliers: rerun"))
        self.doetune("plan", "tune.yaml")
        told = self.doetune("run", "tune").stderr
        self.assertRegex(told, r"Measuring run \d+ again \(outliers: rerun\)")
        self.assertEqual([row["y"] for row in self.rows_of("tune", "results.csv")
                          if (row["a"], row["b"]) == ("2", "0")], ["8", "8"])
        self.doetune("run", "tune")  # wild again, and measured once more only once
        self.assertEqual(len(self.rows_of("tune", "plan.csv")), 15)

    def test_status_reports_flagged_runs(self):
        (self.directory / "bench").write_text(
            '#!/bin/sh\necho "{\\"responses\\": {\\"y\\": $1}, \\"steady\\": $([ $2 = 0 ] || echo true; '
            '[ $2 = 0 ] && echo false)}"\n')
        (self.directory / "tune.yaml").write_text(
            STUDY.replace("retries: 0", "retries: 0, telemetry: 0"))
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune")
        unsteady = [int(row["run"]) for row in self.rows_of("tune", "plan.csv") if row["b"] == "0"]
        flagged = self.json_of("status", "tune")["flagged"]
        self.assertEqual([run["run"] for run in flagged], unsteady)
        self.assertEqual(flagged[0]["flags"], ["the measurement never became steady"])
        shown = self.doetune("status", "tune").stdout
        self.assertIn("3 runs flagged", shown)
        self.assertRegex(shown, r"runs \d+, \d+ and \d+: the measurement never became steady")
        found = self.json_of("fit", "tune")["findings"]
        self.assertIn("--rerun", found[0]["remedy"])  # 3 of 14 runs are less than a quarter

    def test_fit_reports_lack_of_fit_once_and_what_to_do(self):
        (self.directory / "bench").write_text(BENCH.replace("0.01 * sin(100 * a + 7 * b)", "0.1 * sin(7 * $3)")
                                              .replace("-v b=\"$b\"", "-v b=\"$b\" -v run=\"$3\"")
                                              .replace("$3)", "run)"))
        (self.directory / "tune.yaml").write_text(STUDY.replace('"{b}"', '"{b}", "{run}"'))
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune")
        told = " ".join(self.doetune("fit", "tune", "--model", "linear").stdout.split())
        self.assertEqual(told.count("the scatter of replicated runs"), 1)
        self.assertEqual(told.count("lack of fit is significant"), 1)
        self.assertIn("! `doetune fit tune --model quadratic` fits these runs better.", told)
        self.assertEqual(told.count("predicts new runs poorly") + told.count("New runs are predicted poorly"), 1)

    def test_settings_of_zero_have_no_sign(self):
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune")
        self.assertNotRegex(self.doetune("optimize", "tune").stdout, r"(^|[ (])-0( |$)")

    def test_lists(self):
        self.assertIn("fccd", [d["type"] for d in self.json_of("designs")["designs"]])
        self.assertIn("stream-inference",
                      [w["name"] for w in self.json_of("workloads")["workloads"]])
        shown = self.doetune("workloads").stdout
        self.assertIn("images that an executor runs through the network at a time", " ".join(shown.split()))
        for listed in shown, self.doetune("designs").stdout:
            self.assertLessEqual(max(len(line) for line in listed.splitlines()), 80)

    def test_a_bundled_workload_by_hand(self):
        error = self.doetune("workload", "stream-inferense", expect=2).stderr
        self.assertIn("did you mean 'stream-inference'?", error)
        self.doetune("workload", "gemm/../gemm", expect=2)


if __name__ == "__main__":
    main()

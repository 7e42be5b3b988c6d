#!/usr/bin/env python3
"""doetune.tune: functions with a known best, that fail, that cannot run, and interruptions."""
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

import doetune

STUDY = {"seed": 2,
         "factors": {"executors": {"levels": [1, 2, 3, 4, 5, 6, 7, 8], "baseline": 1},
                     "batch": {"levels": [1, 2, 4, 8, 16, 32], "scale": "log2", "baseline": 2}},
         "responses": {"throughput": {"goal": "maximize"}, "latency": {"goal": "at_most", "high": 30}},
         "confirm": {"runs": 2}}


def system(executors, batch):
    if executors * batch > 60:
        raise doetune.Infeasible
    return {"throughput": 1000 - 20 * (executors - 6) ** 2 - 1.5 * (batch - 8) ** 2, "latency": 2 * batch + executors}


def quiet(*_):
    pass


class Tune(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.directory = pathlib.Path(self.folder.name) / "study"

    def test_the_best_is_found_and_confirmed(self):
        said = []
        best = doetune.tune(system, STUDY, budget=22, say=said.append)
        self.assertEqual(best.settings, {"executors": 6, "batch": 8})
        self.assertEqual(best.status, "CONFIRMED")
        runs = best.study.runs()
        self.assertLessEqual(len(runs), 22)
        infeasible = runs[runs["status"] == "infeasible"]
        self.assertFalse(infeasible.duplicated(["executors", "batch"]).any())
        self.assertTrue(any("The search ends" in line for line in said))

    def test_running_out_of_memory_is_infeasible(self):
        class OutOfMemoryError(RuntimeError):  # as PyTorch's
            pass

        def out_of_memory(executors, batch):
            if executors * batch > 60:
                raise OutOfMemoryError("64 GiB")
            return system(executors, batch)

        said = []
        study = doetune.tune(out_of_memory, STUDY, budget=16, say=said.append).study
        self.assertEqual(set(study.runs()["status"]), {"completed", "infeasible"})
        self.assertTrue(any(line.endswith("cannot run: 64 GiB") for line in said))
        self.assertEqual(self.reasons_of(study), {"64 GiB"})

    def test_why_settings_cannot_run_is_kept(self):
        def never(executors, batch):
            raise doetune.Infeasible("needs 90 GB") if executors > 4 else doetune.Infeasible

        study = doetune.tune(never, STUDY, budget=8, say=quiet).study
        self.assertEqual(self.reasons_of(study), {"needs 90 GB", "reported by the user as infeasible"})

    @staticmethod
    def reasons_of(study):
        """Of the runs that could not be made, from the journal."""
        records = [json.loads(line) for line in (study.directory / "runs.jsonl").read_text().splitlines()]
        return {record["reason"] for record in records if record.get("status") == "infeasible"}

    def test_runs_that_are_clearly_worse_end_early(self):
        steps, swallowed = [], []

        def train(rate, width):
            end = 0.95 - 2 * (rate - 0.4) ** 2 - 0.01 * (width - 6) ** 2
            steps.append(0)
            for epoch in range(1, 11):
                steps[-1] = epoch
                try:
                    doetune.report_progress(epoch, end * (1 - 2 ** -epoch))
                except doetune.EndedEarly as ended:
                    swallowed.append(str(ended))
                    if len(swallowed) % 2:
                        raise
                    return 0  # what a run returns that has been ended is ignored
            return end

        best = doetune.tune(train, {
            "factors": {"rate": {"low": 0, "high": 1, "step": 0.05}, "width": {"low": 1, "high": 9, "type": "integer"}},
            "responses": {"accuracy": {"goal": "maximize"}}, "run": {"end_early": {"runs": 5}}}, budget=24, say=quiet)
        self.assertEqual(best.settings, {"rate": 0.4, "width": 6})
        statuses = best.study.runs()["status"]
        self.assertGreater(len(swallowed), 0)
        self.assertEqual((statuses == "ended_early").sum(), len(swallowed))
        self.assertEqual([number < 8 for number in steps], list(statuses == "ended_early"))
        self.assertRegex(swallowed[0], r"^at step \d, accuracy would have been 0\.\d+ at best, against 0\.\d+$")
        doetune.report_progress(1, 0.5)  # nobody's run

    def test_an_interrupted_search_goes_on(self):
        """The runs before an interruption are not made again, and those after it as if it had not been."""
        calls = []

        def interrupted(executors, batch):
            if len(calls) == 9:
                calls.append("interrupted")
                raise KeyboardInterrupt
            calls.append((executors, batch))
            return system(executors, batch)

        with self.assertRaises(KeyboardInterrupt):
            doetune.tune(interrupted, STUDY, directory=self.directory, budget=20, say=quiet)
        doetune.tune(interrupted, STUDY, directory=self.directory, budget=20, say=quiet)
        calls.remove("interrupted")
        whole = []
        doetune.tune(lambda **settings: whole.append(tuple(settings.values())) or system(**settings), STUDY,
                     budget=20, say=quiet)
        self.assertEqual(calls, whole)

    def test_a_function_that_always_fails_ends_the_search(self):
        calls = []

        def broken(executors, batch):
            calls.append(executors)
            raise RuntimeError("no such model")

        with self.assertRaisesRegex(RuntimeError, "no such model"):
            doetune.tune(broken, STUDY, directory=self.directory, budget=20, say=quiet)
        self.assertEqual(len(calls), 3)
        self.assertEqual(list(doetune.open(self.directory).runs()["status"][:3]), ["failed"] * 3)

    def test_what_failed_is_made_again_by_the_next_call(self):
        study = {"factors": {"x": {"low": 0, "high": 10, "type": "integer"}}, "responses": {"y": {"goal": "maximize"}}}
        with self.assertRaises(NameError):
            doetune.tune(lambda x: undefined, study, directory=self.directory, budget=14, say=quiet)  # noqa: F821
        best = doetune.tune(lambda x: 10 - (x - 2) ** 2, study, directory=self.directory, budget=14, say=quiet)
        self.assertEqual(best.settings, {"x": 2})
        self.assertEqual(set(best.study.runs()["status"]), {"completed"})

    def test_what_is_no_response_is_a_failed_run(self):
        for returned, reason in ((None, "expected a dict"), ({"throughput": float("nan"), "latency": 1}, "finite"), ({"latency": 1}, "no throughput"),
                                 ({"throughput": "fast", "latency": 1}, "finite")):
            said = []
            with self.assertRaisesRegex(ValueError, reason):
                doetune.tune(lambda returned=returned, **_: returned, STUDY, budget=16, say=said.append)
            kept = pathlib.Path(said[-1].split(" are in ")[1].split(";")[0])
            self.assertEqual(list(doetune.open(kept).runs()["status"][:3]), ["failed"] * 3)
            shutil.rmtree(kept.parent)

    def test_what_the_transform_does_not_take_is_a_failed_run(self):
        def y(x):
            doetune.report_progress(1, 0)
            return max(0, 6 - x)

        study = {"factors": {"x": {"low": 0, "high": 9, "type": "integer"}},
                 "responses": {"y": {"goal": "maximize", "transform": "log"}}, "run": {"end_early": True}}
        best = doetune.tune(y, study, budget=14, say=quiet)
        self.assertEqual(best.settings, {"x": 0})
        self.assertEqual(set(best.study.runs()["status"]), {"completed", "failed"})

    def test_a_single_number_is_the_only_response(self):
        study = {"factors": {"x": {"low": 0, "high": 10, "step": 1}}, "responses": {"y": {"goal": "minimize"}}}
        best = doetune.tune(lambda x: (x - 7) ** 2 + 1, study, budget=12, say=quiet)
        self.assertEqual(best.settings["x"], 7)

    def test_constants_and_a_budget_of_one(self):
        constant = doetune.tune(lambda **_: {"throughput": 5, "latency": 1}, STUDY, budget=12, say=quiet)
        self.assertLessEqual(len(constant.study.runs()), 12)
        self.assertEqual(len(doetune.tune(system, STUDY, budget=1, say=quiet).study.runs()), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
"""Studies in Python: plans, results, fits and optima."""
import concurrent.futures
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import numpy
import pandas

import doetune

STUDY = {"seed": 4,
         "factors": {"a": {"low": -2, "high": 2}, "b": {"low": 0, "high": 4},
                     "kind": {"levels": ["plain", "fused"]}},
         "design": {"type": "d-optimal", "runs": 24},
         "responses": {"y": {"goal": "maximize", "unit": "images/s"}}}


def y(a, b, kind):
    """A quadratic: its coefficients in coded units are known."""
    return 10 - a * a - (b - 1) ** 2 + (3 if kind == "fused" else 0)


class Study(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.directory = pathlib.Path(self.folder.name) / "study"

    def made(self, noise=0.0):
        study = doetune.plan(STUDY, self.directory)
        random = numpy.random.default_rng(1)
        while runs := study.next(batch=8):
            if runs[0].expected_gain is not None:
                break
            for run in runs:
                study.tell(run, {"y": y(**run.settings) + noise * random.normal()})
            if not study.runs()["status"].isna().any():
                break
        return study

    def test_a_plan_is_a_table(self):
        study = doetune.plan(STUDY, self.directory)
        runs = study.runs()
        self.assertEqual(list(runs.columns), ["point_type", "block", "a", "b", "kind", "status", "y"])
        self.assertEqual(list(runs.index), list(range(1, 25)))
        self.assertTrue(runs["a"].between(-2, 2).all() and runs["b"].between(0, 4).all())
        self.assertEqual(set(runs["kind"]), {"plain", "fused"})
        self.assertTrue(runs["status"].isna().all())
        self.assertEqual(list(study.factors["name"]), ["a", "b", "kind"])
        self.assertEqual(study.responses, ["y"])

    def test_the_coefficients_are_those_of_the_function(self):
        """Theory: a quadratic without noise is found, here in coded units a = 2 c, b = 2 c + 2."""
        fit = self.made().fit()
        found = fit.coefficients("y").set_index("term")["estimate"]
        self.assertAlmostEqual(found["a^2"], -4, 9)
        self.assertAlmostEqual(found["b^2"], -4, 9)
        self.assertAlmostEqual(found["b"], -4, 9)
        self.assertAlmostEqual(found["a"], 0, 9)

    def test_predictions_are_arrays_with_intervals(self):
        fit = self.made(noise=0.1).fit()
        points = pandas.DataFrame(itertools.product([-1, 0, 1.5], [0, 1, 3], ["plain", "fused"]),
                                  columns=["a", "b", "kind"], index=range(100, 118))
        predicted = fit.predict(points)
        self.assertEqual(list(predicted.index), list(points.index))
        truth = numpy.array([y(**row) for row in points.to_dict("records")])
        self.assertLess(numpy.abs(predicted["y"].to_numpy() - truth).max(), 0.4)
        self.assertTrue((predicted["y_next_low"] < predicted["y_mean_low"]).all())
        self.assertTrue((predicted["y_mean_low"] < predicted["y"]).all())
        self.assertTrue((predicted["y"] < predicted["y_mean_high"]).all())

    def test_the_optimum_is_that_of_the_function(self):
        optimum = self.made(noise=0.05).optimum()
        self.assertEqual(optimum.settings["kind"], "fused")
        self.assertAlmostEqual(optimum.settings["a"], 0, delta=0.1)
        self.assertAlmostEqual(optimum.settings["b"], 1, delta=0.1)
        self.assertEqual(optimum.status, "UNCONFIRMED")
        self.assertIn("y", optimum.predictions)
        held = self.made_again().optimum(hold={"kind": "plain"})
        self.assertEqual(held.settings["kind"], "plain")
        page = optimum._repr_html_()
        self.assertIn("<svg", page)
        for figure in optimum.figures.values():
            ElementTree.fromstring(figure.svg)
        self.assertIn("fused", page)

    def made_again(self):
        return doetune.open(self.directory)

    def test_the_report_is_written(self):
        self.assertIn("<html", self.made(noise=0.1).report().read_text())

    def test_the_figures_are_those_of_the_report(self):
        study = self.made(noise=0.1)
        written = {path.stem for path in study.report().parent.rglob("*.svg")}
        self.assertGreater(len(written), 10)
        self.assertEqual(set(study.optimum().figures), written)

    def test_a_run_is_told_once(self):
        study = doetune.plan(STUDY, self.directory)
        first = study.next()[0]
        self.assertEqual(study.next()[0], first)
        self.assertTrue(study.tell(first, {"y": 1}))
        self.assertFalse(study.tell(first, {"y": 1}))
        with self.assertRaisesRegex(doetune.StudyError, "run 1"):
            study.tell(first, {"y": 2})
        self.assertTrue(study.tell(2, infeasible=True))
        self.assertTrue(study.tell(3, failed="no such file"))
        self.assertEqual(list(study.runs()["status"][:3]), ["completed", "infeasible", "failed"])
        with self.assertRaises(ValueError):
            study.tell(4)

    def test_levels_are_as_they_were_written(self):
        written = {"flag": [True, False], "mixed": [1, 2, "auto"], "text": ["1", "2"], "half": ["0.10", "0.5"],
                   "number": [1, 2.5], "grid": numpy.array([8, 16])}
        study = doetune.plan({"factors": {name: {"levels": levels} for name, levels in written.items()},
                              "design": {"type": "d-optimal"}, "model": "linear", "responses": {"y": {"goal": "maximize"}}},
                             self.directory)
        for run in study.next(batch=100):
            for name, setting in run.settings.items():
                self.assertTrue(any(setting is level or (type(setting) is type(level) and setting == level)
                                    for level in list(written[name])), (name, setting))
            study.tell(run, {"y": (3 if run.settings["flag"] else 0) + run.settings["number"]})
        optimum = study.optimum()
        self.assertIs(optimum.settings["flag"], True)
        self.assertAlmostEqual(optimum.predict(optimum.settings)["y"][0], 5.5)
        for false in (False, numpy.False_, "false", "FALSE"):
            self.assertAlmostEqual(optimum.predict({**optimum.settings, "flag": false})["y"][0], 2.5)
            self.assertIs(study.optimum(hold={"flag": false}).settings["flag"], False)

    def test_an_optimum_is_a_fit(self):
        optimum = self.made(noise=0.05).optimum()
        self.assertIn("a^2", list(optimum.coefficients("y")["term"]))
        with self.assertRaisesRegex(ValueError, "77"):
            self.made_again().optimum(hold={"a": 77})
        with self.assertRaisesRegex(ValueError, "no factor 'zz'"):
            optimum.predict({"a": 1, "b": 1, "kind": "plain", "zz": 3})
        with self.assertRaisesRegex(ValueError, "expected .*gaussian-process"):
            self.made_again().fit(surface="foo")

    def test_a_search_goes_on_only_with_the_same_study(self):
        study = {"factors": {"x": {"low": 0, "high": 4, "type": "integer"}}, "responses": {"y": {"goal": "maximize"}}}
        doetune.search(study, self.directory, budget=8)
        doetune.search({**study, "responses": {"y": {"goal": "minimize"}}}, self.directory)  # goals may change
        self.assertIn('"minimize"', (self.directory / "study.yaml").read_text())
        with self.assertRaisesRegex(doetune.StudyError, "factors.x"):
            doetune.search({**study, "factors": {"x": {"low": 0, "high": 5, "type": "integer"}}}, self.directory)
        with self.assertRaisesRegex(doetune.StudyError, "responses.z"):
            doetune.search({**study, "responses": {"z": {"goal": "maximize"}}}, self.directory)

    def test_a_search_ends_with_a_confirmation(self):
        study = doetune.search({"factors": {"x": {"low": 0, "high": 9, "type": "integer", "baseline": 0}},
                                "responses": {"y": {"goal": "maximize"}}, "confirm": {"runs": 2}}, self.directory, budget=20)
        while runs := study.next(batch=2):
            self.assertEqual(bool(study.end), runs[0].point_type in ("confirmation", "baseline"))
            for run in runs:
                study.tell(run, {"y": 50 - (run.settings["x"] - 6) ** 2 + 0.1 * (run.run % 3)})
        self.assertLessEqual(len(study.runs()), 20)
        self.assertEqual((study.optimum().settings, study.optimum().status), ({"x": 6}, "CONFIRMED"))
        again = doetune.search(study.directory / "study.yaml", self.directory, budget=30, tolerance=0)
        self.assertEqual(again.next()[0].point_type, "proposed")
        with self.assertRaises(ValueError):
            doetune.search(study.directory / "study.yaml", self.directory, tolerance=-1)

    def test_what_was_told_by_mistake_is_corrected(self):
        study = doetune.plan(STUDY, self.directory)
        study.tell(1, {"y": 1})
        with self.assertRaisesRegex(doetune.StudyError, "told by mistake"):
            study.tell(1, {"y": 2})
        self.assertTrue(study.tell(1, {"y": 2}, correct=True))
        self.assertEqual(study.runs()["y"][1], 2)

    def test_text_in_braces_is_a_study_too(self):
        text = json.dumps({"factors": {"x": {"low": 0, "high": 4}}, "responses": {"y": {"goal": "maximize"}}})
        for at, written in enumerate((text, json.dumps(json.loads(text), indent=1))):
            study = doetune.search(written, self.directory.parent / str(at), budget=8)
            self.assertEqual(len(study.runs()), 4)

    def test_several_threads_tell(self):
        study = doetune.plan(STUDY, self.directory)
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            told = list(threads.map(lambda run: study.tell(run, {"y": y(**run.settings)}), study.next(batch=24)))
        self.assertEqual(told, [True] * 24)
        self.assertTrue((study.runs()["status"] == "completed").all())

    def test_a_fit_predicts_what_completes(self):
        study = doetune.plan(STUDY, self.directory)
        for run in study.next(batch=24):
            if run.settings["a"] > 1:
                study.tell(run, infeasible="needs 90 GB")
            else:
                study.tell(run, {"y": y(**run.settings)})
        fit = study.fit()
        completes = fit.predict([{"a": a, "b": 1, "kind": "plain"} for a in (-2, 2)])["completes"]
        self.assertGreater(completes[0], 0.9)
        self.assertLess(completes[1], 0.1)
        self.assertGreater(fit.document["feasibility"]["infeasible"], 0)

    def test_several_processes_begin_one_search(self):
        """Each joins the one that is faster: at the start none finds the directory."""
        program = ("import sys, doetune\n"
                   "print('ready', flush=True)\n"
                   "sys.stdin.readline()\n"
                   "study = {'factors': {'x': {'low': 0, 'high': 4}}, 'responses': {'y': {'goal': 'maximize'}}}\n"
                   "print(len(doetune.search(study, sys.argv[1], budget=12).runs()))\n")
        workers = [subprocess.Popen([sys.executable, "-c", program, self.directory], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(6)]
        for worker in workers:
            worker.stdout.readline()
        for worker in workers:
            worker.stdin.write("go\n")
            worker.stdin.flush()
        ended = [worker.communicate() for worker in workers]
        self.assertEqual({error for _, error in ended}, {""})
        self.assertEqual(len({told for told, _ in ended}), 1)

    def test_mistakes_are_explained(self):
        with self.assertRaisesRegex(doetune.StudyError, "did you mean 'high'"):
            doetune.plan({"factors": {"a": {"low": 1, "hig": 2}}}, self.directory)
        study = doetune.plan(STUDY, self.directory)
        with self.assertRaisesRegex(doetune.StudyError, "measures no response 'z'"):
            study.tell(1, {"z": 1})
        with self.assertRaisesRegex(ValueError, "no value of the factor 'b'"):
            self.made_elsewhere().fit().predict([{"a": 1, "kind": "plain"}])
        with self.assertRaisesRegex(ValueError, "did you mean 'fused'"):
            self.made_elsewhere().fit().predict([{"a": 1, "b": 1, "kind": "fuse"}])
        with self.assertRaises(doetune.DirectoryError):
            doetune.open(self.directory / "nowhere")

    def made_elsewhere(self):
        self.directory = self.directory.parent / "other"
        return doetune.open(self.directory) if self.directory.exists() else self.made(noise=0.1)

    def test_a_study_file_is_read_from_its_path_too(self):
        file = pathlib.Path(self.folder.name) / "mine.yaml"
        file.write_text("factors: {a: {low: 0, high: 1}}\nresponses: {y: {goal: maximize}}\ndesign: {type: fccd}\n")
        self.assertEqual(doetune.plan(file, self.directory).name, "mine")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

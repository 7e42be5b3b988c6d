#!/usr/bin/env python3
"""Studies in Python: plans, results, fits and optima."""
import itertools
import pathlib
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
        self.assertEqual(list(runs.columns), ["type", "block", "a", "b", "kind", "status", "y"])
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

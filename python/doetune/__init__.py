"""Finds the best settings of a system with few, well-chosen runs.

    import doetune

    best = doetune.tune(system, {
        "factors": {"batch": {"levels": [1, 2, 4, 8, 16], "scale": "log2"},
                    "workers": {"low": 1, "high": 8, "type": "integer"}},
        "responses": {"throughput": {"goal": "maximize"}}}, budget=24)

A study is what a study file holds: a dict of its keys, the path of a YAML file, or its text.
"""
from doetune._core import DesignError, DirectoryError, StudyError, __version__
from doetune.study import Fit, Optimum, Run, Study, open, plan, search
from doetune.tuning import EndedEarly, Infeasible, report_progress, tune

__all__ = ["DesignError", "DirectoryError", "EndedEarly", "Fit", "Infeasible", "Optimum", "Run", "Study",
           "StudyError", "__version__", "open", "plan", "report_progress", "search", "tune"]

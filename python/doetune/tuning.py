"""Tunes a Python function run by run."""
import pathlib
import shutil
import tempfile
import weakref

from doetune import _core
from doetune.study import Run, search


class Infeasible(Exception):
    """Raised by a function whose settings cannot run: recorded, learnt from, and never tried again."""


_PATIENCE = 3  # runs that fail at the start before the search gives up


def tune(function, study, *, directory=None, budget=None, tolerance=0.01, say=print):
    """Calls `function(**settings)`, run by run, where the goals are likely to gain, and confirms what it finds.

    The function returns a dict of the study's responses, or the number of the only one. It raises Infeasible
    where settings cannot run; running out of memory counts as that, any other exception as a failed run. If
    all runs fail at the start, the third exception is raised.

    `budget` is the number of runs in all, with those that confirm. The search ends earlier where another run
    is expected to gain less than `tolerance`, as a fraction of the best, three times in a row. With a
    `directory` the same call goes on after an interruption; otherwise the study is kept in a temporary one.
    Returns the study's optimum.
    """
    temporary = tempfile.mkdtemp(prefix="doetune-") if directory is None else None
    found = search(study, directory or pathlib.Path(temporary) / "study", budget)
    if temporary:
        weakref.finalize(found, shutil.rmtree, temporary, ignore_errors=True)
    if budget is None:
        budget = 10 * (len(found.factors) + 1)
    loop = _Loop(function, found, say)
    while True:
        steps = _core.Search(found.directory, budget, tolerance)
        while runs := steps.next(1):
            loop.make(Run(**runs[0]))
        say(f"The search ends: {steps.reason}")
        before = len(found.runs())
        if not steps.may_confirm or not found.confirm(steps.confirmations):
            break
        while runs := steps.next(1) if _has_pending(found) else []:
            loop.make(Run(**runs[0]))
        is_over = found.optimum().status != "NOT CONFIRMED" or steps.runs_left <= 0
        if is_over or len(found.runs()) == before:
            break
    optimum = found.optimum()
    optimum.study = found
    say(optimum.verdict)
    return optimum


def _has_pending(study):
    return study.runs()["status"].isna().any()


class _Loop:
    def __init__(self, function, study, say):
        self.function, self.study, self.say = function, study, say
        self.failed = 0 if study.runs()["status"].isna().all() else None  # None: some run has ended otherwise

    def make(self, run):
        try:
            responses = self.function(**run.settings)
        except Exception as error:
            if isinstance(error, (Infeasible, MemoryError)) or type(error).__name__ == "OutOfMemoryError":
                self._tell(run, "cannot run", infeasible=True)
                return
            self._tell(run, f"failed: {error}", failed=f"{type(error).__name__}: {error}")
            if self.failed is not None:
                self.failed += 1
                if self.failed >= _PATIENCE:
                    raise
            return
        if not isinstance(responses, dict):
            responses = {self.study.responses[0]: responses}
        self._tell(run, ", ".join(f"{name} {value:.4g}" for name, value in responses.items()), responses)

    def _tell(self, run, outcome, responses=None, **otherwise):
        self.study.tell(run, responses, **otherwise)
        if "failed" not in otherwise:
            self.failed = None
        settings = ", ".join(f"{name} = {value}" for name, value in run.settings.items())
        self.say(f"run {run.run}: {settings}: {outcome}")

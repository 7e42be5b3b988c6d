"""Tunes a Python function by Bayesian optimisation."""
import contextvars
import math
import pathlib
import shutil
import tempfile
import weakref

from doetune.study import search


class Infeasible(Exception):
    """Raised by a function whose settings cannot run: recorded with its text, learnt from, and never tried again."""


class EndedEarly(Exception):
    """Raised by report_progress where a run is ended: it is clearly worse than the best one. Do not catch it."""


_under_way = contextvars.ContextVar("the run that doetune.tune makes", default=None)


def report_progress(step, responses):
    """In a function that doetune.tune calls: the current estimate of what it will return, after so many steps.

    Does nothing elsewhere, nor in threads and processes that the function starts. Raises EndedEarly if the study's
    `run: {end_early: true}` ends the run, whose return value is then ignored.
    """
    progress = _under_way.get()
    if progress is not None:
        progress.report(step, responses)


_PATIENCE = 3  # runs that fail at the start before the search gives up


def tune(function, study, *, directory=None, budget=None, tolerance=None, say=print):
    """Calls `function(**settings)` where the goals are expected to improve most, and confirms what it finds.

    The function returns a dict of the study's responses, or the number of the only one. It raises Infeasible
    where settings cannot run; running out of memory counts as that. Any other exception, and a response that
    is missing or not a finite number, is a failed run; where none with the same settings has completed, these
    count as settings that cannot run. If all runs fail at the start, the third exception is raised.

    `budget` is the total number of runs, including confirmation runs (default: 10 per factor plus 10). The search
    ends earlier if another run is expected to gain less than `tolerance`, as a fraction of the best (default:
    0.01), five times in a row. With a `directory` the same call goes on after an interruption, and makes failed
    runs again; otherwise the study is kept in a temporary one, which stays if the search is interrupted. `say`
    takes a line about each run; None: nobody does. Returns the study's optimum.
    """
    say = say or (lambda text: None)
    temporary = tempfile.mkdtemp(prefix="doetune-") if directory is None else None
    try:
        found = search(study, directory or pathlib.Path(temporary) / "study", budget, tolerance)
        optimum = _Tuning(function, found, say).run()
    except BaseException:
        if temporary and (pathlib.Path(temporary) / "study").exists():
            say(f"The runs so far are in {temporary}/study; pass that path as `directory` to continue.")
        raise
    if temporary:  # it lives as long as the study
        weakref.finalize(found, shutil.rmtree, temporary, ignore_errors=True)
    say(optimum.verdict)
    return optimum


class _Progress:
    """That of one run; `ended` says why it has been ended, if so."""

    def __init__(self, study, run, named):
        self._study, self._run, self._named, self.ended = study, run, named, None

    def report(self, step, responses):
        self.ended = self.ended or self._study.tell_step(self._run, step, self._named(responses))
        if self.ended:
            raise EndedEarly(self.ended)


class _Tuning:
    def __init__(self, function, study, say):
        self._function, self._study, self._say = function, study, say
        self._measured = study._core.responses(False)
        self._failed = 0  # runs, as long as none has worked

    def run(self):
        self._make_failed_again()
        said = ""
        while True:
            runs, end = self._study.next(1), self._study.end
            if end and end != said:
                self._say(f"The search ends: {end}")
            said = end
            if not runs:
                return self._answer()
            self._make(runs[0])

    def _answer(self):
        optimum = self._study.optimum()
        optimum.study = self._study
        return optimum

    def _make_failed_again(self):
        """What failed in an earlier call may have been fixed since."""
        rows = self._study._core.runs()
        if any(row.get("status") in ("completed", "infeasible") for row in rows):
            self._failed = None
        for run in self._study._as_runs({"run": row["run"], "settings": row["settings"]}
                                        for row in rows if row.get("status") == "failed"):
            self._make(run)

    def _make(self, run):
        progress = _Progress(self._study, run, self._named)
        before = _under_way.set(progress)
        try:
            responses = self._responses_of(self._function(**run.settings))
            if not progress.ended:
                self._tell(run, ", ".join(f"{name} {value:.4g}" for name, value in responses.items()), responses)
        except Exception as error:
            if progress.ended:
                self._say_of(run, f"ended early: {progress.ended}")
                return
            if isinstance(error, (Infeasible, MemoryError)) or type(error).__name__ == "OutOfMemoryError":
                why = str(error)
                self._tell(run, f"cannot run: {why}" if why else "cannot run", infeasible=why or True)
                return
            self._tell(run, f"failed: {error}", failed=f"{type(error).__name__}: {error}")
            if self._failed is not None:
                self._failed += 1
                if self._failed >= _PATIENCE:
                    raise
            return
        finally:
            _under_way.reset(before)
        if progress.ended:
            self._say_of(run, f"ended early: {progress.ended}")

    def _named(self, returned):
        """The responses of a dict that may have more, or the number of the only one by its name. Raises ValueError."""
        if isinstance(returned, dict):
            return {name: value for name, value in returned.items() if name in self._measured}
        if len(self._measured) != 1:
            raise ValueError(f"found {returned!r}; expected a dict of {', '.join(self._measured)}")
        return {self._measured[0]: returned}

    def _responses_of(self, returned):
        """The responses as finite numbers. Raises ValueError."""
        returned = self._named(returned)
        missing = [name for name in self._measured if name not in returned]
        if missing:
            raise ValueError(f"the function returned no {', '.join(missing)}")
        values = {}
        for name in self._measured:
            try:
                values[name] = float(returned[name])
            except (TypeError, ValueError):
                values[name] = math.nan
            if not math.isfinite(values[name]):
                raise ValueError(f"{name}: expected a finite number, found {returned[name]!r}")
        return values

    def _tell(self, run, outcome, responses=None, **otherwise):
        self._study.tell(run, responses, **otherwise)
        if "failed" not in otherwise:
            self._failed = None
        self._say_of(run, outcome)

    def _say_of(self, run, outcome):
        settings = ", ".join(f"{name} = {value}" for name, value in run.settings.items())
        self._say(f"run {run.run}: {settings}: {outcome}")

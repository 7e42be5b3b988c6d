"""Studies in their directories: the same files that the program `doetune` reads and writes."""
import dataclasses
import html
import json
import math
import os
import pathlib

import pandas

from doetune import _core


def plan(study, directory):
    """Plans a designed experiment in a new directory. Raises StudyError, naming what is wrong."""
    return Study(_core.Study.planned(pathlib.Path(directory), *_text_of(study)), _Levels(study))


def search(study, directory, budget=None, tolerance=None):
    """Begins a search for the best settings with the runs of its start; one that is in the directory goes on,
    if it is of the same study. Goals, models, fits, `run` and `confirm` may have changed: they are taken up,
    those of a file if it was edited after the directory's study.yaml.

    `budget` is the total number of runs, including confirmation runs (default: 10 per factor plus 10). The
    search ends earlier if another run is expected to gain less than `tolerance`, as a fraction of the best
    (default: 0.01), five times in a row. `next` keeps both in the directory; a search that has ended goes on
    if it is opened with others.
    """
    if budget is not None and budget < 1:
        raise ValueError(f"budget: expected at least 1 run, found {budget}")
    if tolerance is not None and not tolerance >= 0:
        raise ValueError(f"tolerance: expected a fraction of the best, found {tolerance}")
    found = _core.Study.searched(pathlib.Path(directory), *_text_of(study), budget, tolerance)
    return Study(found, _Levels(study))


def open(directory):
    """The study in a directory."""
    return Study(_core.Study(pathlib.Path(directory)))


def _text_of(study):
    """The text of a study file, and the path of the file, if there is one."""
    is_text = isinstance(study, str) and ("\n" in study or (":" in study and not os.path.exists(study)))
    if isinstance(study, (str, os.PathLike)) and not is_text:
        return pathlib.Path(study).read_text(), pathlib.Path(study).absolute()
    if not is_text:  # a line for each key; JSON is YAML as well
        study = "".join(f"{key}: {json.dumps(value, default=_as_plain)}\n" for key, value in study.items())
    return study, None


def _as_plain(value):
    """A number or an array of NumPy, or any other sequence, for JSON."""
    return value.tolist() if hasattr(value, "tolist") else list(value)


class _Levels:
    """The levels of a study that is a dict, as its user wrote them: True and not "true", "1" and not 1."""

    def __init__(self, study=None):
        self._written = {}
        factors = study.get("factors", {}) if isinstance(study, dict) else {}
        for name, factor in factors.items():
            levels = factor.get("levels") if isinstance(factor, dict) else None
            if levels is not None:
                self._written[name] = {_text_or_number(level): level for level in levels}

    def as_written(self, settings):
        return {name: self._written.get(name, {}).get(_text_or_number(value), value)
                for name, value in settings.items()}


def _text_or_number(level):
    """The same for a level however it is written."""
    if isinstance(level, bool):
        return str(level).lower()
    try:
        return float(level)
    except (TypeError, ValueError):
        return str(level)


@dataclasses.dataclass(frozen=True)
class Run:
    """A run to make. What was just proposed has the gain expected of it, relative to the best."""
    run: int
    settings: dict
    point_type: str = ""
    expected_gain: float | None = None
    completes: float | None = None


class Study:
    """A study directory. Every call reads it anew: others may work with it as well, and a call waits until
    they have written. Let only one ask for next runs; several may tell."""

    def __init__(self, core, levels=None):
        self._core = core
        self._levels = levels or _Levels()

    @property
    def directory(self):
        return self._core.path

    @property
    def name(self):
        return self._core.name

    @property
    def factors(self):
        """Name, unit, and range or levels of each factor."""
        return pandas.DataFrame(self._core.factors)

    @property
    def responses(self):
        return self._core.responses(True)

    def runs(self):
        """The run sheet with what was measured: one row a run; missing values are NaN."""
        rows = [{**{key: row[key] for key in ("run", "point_type", "block")},
                 **self._levels.as_written(row["settings"]), "status": row.get("status"),
                 **row.get("responses", {})} for row in self._core.runs()]
        columns = ["run", "point_type", "block", *(factor["name"] for factor in self._core.factors), "status",
                   *self.responses]
        table = pandas.DataFrame(rows)
        return table.reindex(columns=[*columns, *(name for name in table if name not in columns)]).set_index("run")

    def next(self, batch=1):
        """The runs to make next: those that are planned and have not been told, else proposals, which are
        added to the plan. Asking again without telling gives the same runs.

        Once the search has ended, `end` says why, and the next runs confirm what it found. If they contradict
        it, the search goes on. Empty once there is nothing left to do.
        """
        if batch < 1:
            raise ValueError(f"batch: expected at least 1 run, found {batch}")
        return self._as_runs(self._core.next(batch))

    def _as_runs(self, rows):
        return [Run(**{**row, "settings": self._levels.as_written(row["settings"])}) for row in rows]

    @property
    def end(self):
        """Why the search has ended; empty while it goes on."""
        return self._core.end

    def tell(self, run, responses=None, *, infeasible=False, failed=None, correct=False):
        """Records what came of a run, durably: its responses, that its settings cannot run (`infeasible` is True,
        or a text that says why), or why it failed.

        Returns False, and changes nothing, if the same was recorded before; StudyError if something else was,
        unless `correct` says that it was told by mistake.
        """
        if (responses is None) + (not infeasible) + (failed is None) != 2:
            raise ValueError("give the responses of a run, infeasible=True or why, or failed=why")
        number = run.run if isinstance(run, Run) else run
        if infeasible:
            reason = infeasible if isinstance(infeasible, str) else "reported by the user as infeasible"
            return self._core.tell(number, {}, "infeasible", reason, correct)
        if failed is not None:
            return self._core.tell(number, {}, "failed", str(failed), correct)
        values = {name: float(value) for name, value in responses.items()}
        return self._core.tell(number, values, "completed", "", correct)

    def tell_step(self, run, step, responses):
        """Records what a run in progress currently estimates its final responses, or some of them, to be, after so
        many steps. Values that are not finite are left out.

        Returns why the run is ended early, if the study's run.end_early asks for that: it is then recorded, and
        need not go on. Else None.
        """
        number = run.run if isinstance(run, Run) else run
        values = {name: float(value) for name, value in responses.items() if math.isfinite(value)}
        return self._core.tell_step(number, float(step), values)

    def confirm(self, runs=5):
        """Plans runs at the optimum, and as many at the baseline; next() gives them. Returns their numbers;
        none if no settings meet the goals."""
        return self._core.confirm(runs)

    def fit(self, *, model=None, surface=None):
        """The surfaces of all responses, as the study file says or by another model or surface."""
        return Fit(_core.Fitted(self.directory, False, model, surface), self._levels)

    def optimum(self, *, model=None, surface=None, hold=None):
        """The settings that meet the goals best, with factors of `hold` fixed."""
        return Optimum(_core.Fitted(self.directory, True, model, surface, hold or {}), self._levels)

    def report(self):
        """Writes the report, and returns the path of its page."""
        return _core.Fitted(self.directory, True).report()

    def __repr__(self):
        told = sum("status" in row for row in self._core.runs())
        return f"<doetune.Study {self.name}: {told} of {len(self._core.runs())} runs, in {self.directory}>"


class Fit:
    """Surfaces of the responses of a study. `document` is fit.json."""

    def __init__(self, core, levels=None):
        self._core = core
        self._levels = levels or _Levels()

    @property
    def document(self):
        return json.loads(self._core.fit_json())

    def coefficients(self, response):
        """One row for each coefficient of the polynomial of a response, in coded units."""
        return pandas.DataFrame(json.loads(self._core.fit_json())["responses"][response]["coefficients"])

    def predict(self, settings):
        """The responses at settings, a DataFrame or dicts: for each response its prediction and the 95 %
        intervals of the mean and of the next run; `completes`, its probability, if some could not."""
        if isinstance(settings, dict):
            settings = [settings]
        rows = settings.to_dict("records") if isinstance(settings, pandas.DataFrame) else list(settings)
        tables = self._core.predict(rows)
        columns = {}
        for name, table in tables.items():
            if name == "":
                columns["completes"] = table[:, 0]
                continue
            for column, what in enumerate(("", "mean_low", "mean_high", "next_low", "next_high")):
                columns[f"{name}_{what}" if what else name] = table[:, column]
        return pandas.DataFrame(columns, index=settings.index if isinstance(settings, pandas.DataFrame) else None)

    @property
    def figures(self):
        """The report's figures by name; a notebook draws each."""
        return {name: Figure(name, title, svg) for name, title, svg in self._core.figures()}

    def _repr_html_(self):
        return "".join(figure._repr_html_() for figure in self.figures.values())


class Optimum(Fit):
    """The answer of a study. `document` is optimum.json."""

    @property
    def document(self):
        return json.loads(self._core.optimum_json())

    @property
    def settings(self):
        """The settings to use; None if the runs do not support an answer."""
        best = self._core.best
        return best and self._levels.as_written(best)

    @property
    def status(self):
        """CONFIRMED, NOT CONFIRMED, INCONCLUSIVE, ...: as in optimum.json."""
        return self._core.verdict[0]

    @property
    def verdict(self):
        """The answer in a sentence or two."""
        return self._core.verdict[1]

    @property
    def predictions(self):
        """The responses at the settings: prediction and 95 % intervals."""
        return self.predict([self.settings]) if self.settings else pandas.DataFrame()

    def __repr__(self):
        return f"<doetune.Optimum {self.settings}: {self.verdict}>"

    def _repr_html_(self):
        settings = pandas.Series(self.settings or {}, name="setting", dtype=object).to_frame().to_html()
        return f"<p><b>{html.escape(self.verdict)}</b></p>{settings}{super()._repr_html_()}"


@dataclasses.dataclass(frozen=True)
class Figure:
    name: str
    title: str
    svg: str = dataclasses.field(repr=False)

    def _repr_html_(self):
        return f"<figure style='max-width:44em'><figcaption>{html.escape(self.title)}</figcaption>{self.svg}</figure>"

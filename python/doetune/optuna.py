"""doetune's search as a sampler of Optuna: the objective stays as it is.

    study = optuna.create_study(direction="maximize", sampler=doetune.optuna.Sampler(seed=1))
    study.optimize(objective, n_trials=30, catch=(MemoryError,))
"""
import json
import math
import random
import threading
import warnings

import optuna
from optuna.distributions import CategoricalDistribution, IntDistribution
from optuna.trial import TrialState

from doetune import _core

_PROPOSED = "doetune:settings"  # attribute of a trial: what was proposed for it
_MAX_STEPS = 100_000            # above which a range is searched as if it were continuous
_MIN_VALUES = 3                 # of a constraint, before it is modelled
_ATTEMPTS = 2                   # at settings that fail for an unknown reason
_RACES = 5                      # lost to other workers, which proposed the same at the same time


class Sampler(optuna.samplers.BaseSampler):
    """Proposes each trial where the objective is likely to gain, the trial to complete and its constraints
    (trial.set_constraint) to hold. Trials under way are taken into account, so several workers may share a study.
    A float without a step is tried in steps of at most a hundredth of its range, with log=True of a tenth of its
    value; a second study of a narrower range refines what the first found.

    search_space  the distributions of all parameters, by name; without it the first trial is random and the
                  parameters are those that all trials so far have in common. Parameters that are not in it are
                  sampled at random. Give the distributions that the objective asks for.
    budget        the number of trials there will be: the search starts with at most half of them
    failed        what a trial that failed says: "infeasible", its settings cannot run, or "unknown", nothing,
                  so that the same settings may be tried once more, but not a third time.
                  Optuna does not tell why a trial failed: an objective with other reasons to fail, or a study
                  that is interrupted, wants "unknown". Infinite objectives and trials that are pruned before
                  they report a value are infeasible either way; other pruned trials count with their last value.
    """

    def __init__(self, *, seed=None, search_space=None, budget=None, failed="infeasible"):
        if failed not in ("infeasible", "unknown"):
            raise ValueError(f"failed: expected 'infeasible' or 'unknown', found {failed!r}")
        self._seed = random.randrange(2**31) if seed is None else int(seed)
        self._budget = budget
        self._failed = failed
        self._given_space = search_space
        self._space = optuna.search_space.IntersectionSearchSpace()
        self._random = optuna.samplers.RandomSampler(seed=seed)
        self._starts = {}
        self._warned_of = set()
        self._lock = threading.Lock()

    def __getstate__(self):  # for processes; the copy has a lock of its own
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state):
        vars(self).update(state, _lock=threading.Lock())

    def reseed_rng(self):
        self._random.reseed_rng()

    def infer_relative_search_space(self, study, trial):
        self._raise_error_if_multi_objective(study)
        space = self._given_space or self._space.calculate(study)
        return {name: distribution for name, distribution in space.items() if not distribution.single()}

    def sample_independent(self, study, trial, param_name, param_distribution):
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def sample_relative(self, study, trial, search_space):
        if not search_space:
            return {}
        space = _Space(search_space)
        with self._lock:
            for _ in range(_RACES):
                settings = self._proposed(study, trial, space)
                if settings is None:
                    return {}
                study._storage.set_trial_system_attr(trial._trial_id, _PROPOSED, json.dumps(settings))
                if not self._is_taken(study, trial, space, settings):
                    break
        return space.params(settings)

    def _warn_of_distributions(self, space, trials):
        """Once of each parameter that the objective does not ask for as `search_space` says."""
        for name, (given, asked) in space.differences(trials).items():
            if name not in self._warned_of:
                self._warned_of.add(name)
                warnings.warn(f"{name}: search_space has {given}, but the objective asks for {asked}; only values of "
                              "the first are searched, and trials with others are not learnt from", stacklevel=2)

    @staticmethod
    def _is_taken(study, trial, space, settings):
        """Whether another process has just proposed the same for an earlier trial."""
        return any(other.number < trial.number and not other.state.is_finished() and
                   space.settings_of(other) == settings for other in study.get_trials(deepcopy=False))

    def _proposed(self, study, trial, space):
        """The settings of a trial; None if there are no others left."""
        others = [past for past in study.get_trials(deepcopy=False) if past.number != trial.number]
        self._warn_of_distributions(space, others)
        known = [(past, space.settings_of(past)) for past in others]
        known = [(past, settings) for past, settings in known if settings is not None]
        ended = [(past, settings) for past, settings in known if past.state.is_finished()]
        limits = _limits_of([past for past, _ in ended])
        text = space.study(study.direction, len(limits), self._seed)
        problem = _core.Problem(text)
        for past, settings in ended:
            values = _values_of(past, limits)
            if values is not None or past.state != TrialState.FAIL or self._failed == "infeasible":
                problem.add(settings, values is not None, values or {})
        if text not in self._starts:
            self._starts = {text: problem.start(self._budget)}
        starts, begun = self._starts[text], [settings for _, settings in known]
        open_starts = [settings for settings in starts if settings not in begun]
        if open_starts and len(begun) < len(starts):
            return open_starts[0]
        under_way = [settings for past, settings in known if not past.state.is_finished()]
        if self._failed == "unknown":
            failed = [settings for past, settings in ended if past.state == TrialState.FAIL]
            under_way += [settings for at, settings in enumerate(failed)
                          if failed[:at + 1].count(settings) == _ATTEMPTS]
        proposed = problem.next(1, under_way)
        return proposed[0]["settings"] if proposed else None


def _limits_of(trials):
    """The names of the constraints that enough trials have."""
    counts = {}
    for trial in trials:
        for name, value in trial.constraints.items():
            is_known = math.isfinite(value) and _values_of(trial, []) is not None
            counts[name] = counts.get(name, 0) + is_known
    return sorted(name for name, count in counts.items() if count >= _MIN_VALUES)


def _values_of(trial, limits):
    """What the search learns from a trial that ended; None if its settings cannot run."""
    value = None
    if trial.state == TrialState.COMPLETE:
        value = trial.value
    elif trial.state == TrialState.PRUNED and trial.intermediate_values:
        value = trial.intermediate_values[max(trial.intermediate_values)]
    if value is None or not math.isfinite(value):
        return None
    constraints = {f"limit{at}": trial.constraints.get(name) for at, name in enumerate(limits)}
    finite = {name: amount for name, amount in constraints.items() if amount is not None and math.isfinite(amount)}
    return {"objective": value, **finite}


class _Space:
    """A search space as factors. Factors are named by their place and levels by their number, whatever the
    parameters and choices are called."""

    def __init__(self, search_space):
        self._parameters = [_Parameter(f"x{at}", name, search_space[name])
                            for at, name in enumerate(sorted(search_space))]

    def study(self, direction, limits, seed):
        """The text of a study file."""
        goal = "minimize" if direction == optuna.study.StudyDirection.MINIMIZE else "maximize"
        responses = {"objective": {"goal": goal}}
        responses.update({f"limit{at}": {"goal": "at_most", "high": 0, "of": "mean"} for at in range(limits)})
        factors = {parameter.factor: parameter.description() for parameter in self._parameters}
        return json.dumps({"seed": seed, "factors": factors, "responses": responses})

    def settings_of(self, trial):
        """The settings of a trial: its parameters, and what was proposed for those that it has not asked for. None
        if a value is not one of the search space."""
        proposed = json.loads(trial.system_attrs.get(_PROPOSED, "null")) or {}
        if proposed.keys() != {parameter.factor for parameter in self._parameters}:
            proposed = {}
        settings = {}
        for parameter in self._parameters:
            if parameter.name in trial.params:
                value = trial.params[parameter.name]
                if not parameter.has(value):
                    return None
                settings[parameter.factor] = parameter.setting(value)
            elif parameter.factor in proposed:
                settings[parameter.factor] = proposed[parameter.factor]
            else:
                return None
        return settings

    def differences(self, trials):
        """By name of a parameter that trials have with another distribution: the one here, and that of a trial."""
        return {parameter.name: (parameter.distribution, trial.distributions[parameter.name])
                for parameter in self._parameters for trial in trials
                if trial.distributions.get(parameter.name, parameter.distribution) != parameter.distribution}

    def params(self, settings):
        return {parameter.name: parameter.value(settings[parameter.factor]) for parameter in self._parameters}


class _Parameter:
    """A parameter as a factor: choices are numbered, and integers of many steps are searched as if they
    were continuous."""

    def __init__(self, factor, name, distribution):
        self.factor, self.name, self.distribution = factor, name, distribution
        self._is_choice = isinstance(distribution, CategoricalDistribution)
        step = None if self._is_choice else distribution.step
        self._steps = round((distribution.high - distribution.low) / step) if step else None
        self._is_fine = self._steps is not None and self._steps > _MAX_STEPS

    def description(self):
        distribution = self.distribution
        if self._is_choice:
            return {"levels": [f"c{at}" for at in range(len(distribution.choices))]}
        if distribution.log:
            whole = isinstance(distribution, IntDistribution) and not self._is_fine
            scale = {"type": "integer", "scale": "log2"} if whole else {"scale": "log10"}
            return {"low": distribution.low, "high": distribution.high, **scale}
        if self._steps is None or self._is_fine:
            return {"low": distribution.low, "high": distribution.high}
        return {"low": 0, "high": self._steps, "type": "integer"}  # in steps from the low end

    def has(self, value):
        if self._is_choice:
            return value in self.distribution.choices
        return self.distribution._contains(self.distribution.to_internal_repr(value))

    def setting(self, value):
        distribution = self.distribution
        if self._is_choice:
            return f"c{int(distribution.to_internal_repr(value))}"
        if self._steps is None or self._is_fine or distribution.log:
            return value
        return round((value - distribution.low) / distribution.step)

    def value(self, setting):
        distribution = self.distribution
        if self._is_choice:
            return distribution.to_external_repr(int(setting[1:]))
        if self._steps is None:
            return min(max(setting, distribution.low), distribution.high)
        if distribution.log and not self._is_fine:
            return int(setting)
        steps = round((setting - distribution.low) / distribution.step) if self._is_fine else setting
        value = distribution.low + steps * distribution.step
        # 3 * 0.1 is above 0.3, which Optuna would replace by a random value.
        return int(value) if isinstance(distribution, IntDistribution) else min(value, distribution.high)

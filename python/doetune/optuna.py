"""doetune's search as a sampler of Optuna: the objective stays as it is.

    study = optuna.create_study(direction="maximize", sampler=doetune.optuna.Sampler(seed=1))
    study.optimize(objective, n_trials=30, catch=(MemoryError,))
"""
import json
import random

import optuna
from optuna.distributions import CategoricalDistribution, IntDistribution
from optuna.trial import TrialState

from doetune import _core


class Sampler(optuna.samplers.BaseSampler):
    """Proposes each trial where the objective is likely to gain, the trial to complete and its constraints
    (trial.set_constraint) to hold.

    A trial that failed, or was pruned before it reported a value, counts as settings that cannot run: name in
    `catch` of study.optimize what running out of memory raises. A pruned trial counts with the last value
    that it reported. Trials under way are taken into account, so several workers may share a study.

    search_space  the distributions of all parameters, by name, as in GridSampler; without it the first trial
                  is random and the parameters are those that all trials so far have in common. Parameters
                  that are not in it are sampled at random.
    budget        the number of trials there will be: the search starts with at most half of them
    """

    def __init__(self, *, seed=None, search_space=None, budget=None):
        self._seed = random.randrange(2**31) if seed is None else seed
        self._budget = budget
        self._given_space = search_space
        self._space = optuna.search_space.IntersectionSearchSpace()
        self._random = optuna.samplers.RandomSampler(seed=seed)
        self._starts = {}

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
        trials = [past for past in study.get_trials(deepcopy=False)
                  if past.number != trial.number and _has(past, search_space)]
        ended = [past for past in trials if past.state.is_finished()]
        space = _Space(search_space)
        limits = sorted({name for past in ended for name in past.constraints})
        text = space.study(study.direction, len(limits), self._seed)
        problem = _core.Problem(text)
        for past in ended:
            values = _values_of(past, limits)
            problem.add(space.settings(past.params), values is not None, values or {})
        under_way = [space.settings(past.params) for past in trials if not past.state.is_finished()]
        begun = [space.settings(past.params) for past in trials]
        if text not in self._starts:
            self._starts = {text: problem.start(self._budget)}
        open_starts = [settings for settings in self._starts[text] if settings not in begun]
        if open_starts and len(begun) < len(self._starts[text]):
            return space.params(open_starts[0])
        proposed = problem.next(1, under_way)
        return space.params(proposed[0]["settings"]) if proposed else {}


def _has(trial, search_space):
    return all(trial.distributions.get(name) == distribution for name, distribution in search_space.items())


def _values_of(trial, limits):
    """What the search learns from a trial that ended; None if its settings cannot run."""
    values = {f"limit{at}": trial.constraints[name] for at, name in enumerate(limits) if name in trial.constraints}
    if trial.state == TrialState.COMPLETE:
        return {"objective": trial.value, **values}
    if trial.state == TrialState.PRUNED and trial.intermediate_values:
        return {"objective": trial.intermediate_values[max(trial.intermediate_values)], **values}
    return None


class _Space:
    """A search space as factors. Factors are named by their place and levels by their number, whatever the
    parameters and choices are called."""

    def __init__(self, search_space):
        self._parameters = [(f"x{at}", name, search_space[name]) for at, name in enumerate(sorted(search_space))]

    def study(self, direction, limits, seed):
        """The text of a study file."""
        goal = "minimize" if direction == optuna.study.StudyDirection.MINIMIZE else "maximize"
        responses = {"objective": {"goal": goal}}
        responses.update({f"limit{at}": {"goal": "at_most", "high": 0, "of": "mean"} for at in range(limits)})
        factors = {factor: _factor(distribution) for factor, _, distribution in self._parameters}
        return json.dumps({"seed": seed, "factors": factors, "responses": responses})

    def settings(self, params):
        return {factor: (f"c{int(distribution.to_internal_repr(params[name]))}"
                         if isinstance(distribution, CategoricalDistribution) else params[name])
                for factor, name, distribution in self._parameters}

    def params(self, settings):
        return {name: (distribution.to_external_repr(int(settings[factor][1:]))
                       if isinstance(distribution, CategoricalDistribution) else settings[factor])
                for factor, name, distribution in self._parameters}


def _factor(distribution):
    if isinstance(distribution, CategoricalDistribution):
        return {"levels": [f"c{at}" for at in range(len(distribution.choices))]}
    if isinstance(distribution, IntDistribution):
        if distribution.step > 1:
            return {"levels": list(range(distribution.low, distribution.high + 1, distribution.step))}
        factor = {"low": distribution.low, "high": distribution.high, "type": "integer"}
        return {**factor, "scale": "log2"} if distribution.log and distribution.low > 0 else factor
    factor = {"low": distribution.low, "high": distribution.high}
    if distribution.step:
        factor["step"] = distribution.step
    if distribution.log:
        factor["scale"] = "log10"
    return factor

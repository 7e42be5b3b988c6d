#!/usr/bin/env python3
"""doetune.optuna.Sampler in real studies of Optuna."""
import json
import logging
import math
import sys
import unittest

import optuna

import doetune.optuna

optuna.logging.set_verbosity(optuna.logging.CRITICAL)
logging.disable(logging.CRITICAL)


def objective(trial):
    """1030 at best: 6 executors, a batch of 8, None, a rate of 0.01."""
    executors = trial.suggest_int("system.executors", 1, 8)
    batch = trial.suggest_int("batch", 1, 32, log=True)
    precision = trial.suggest_categorical("precision", ["fp32", None, True])
    rate = trial.suggest_float("rate", 1e-4, 1e-1, log=True)
    if executors * batch > 60:
        raise MemoryError
    trial.set_constraint("latency", 2 * batch + executors - 30)
    bonus = 30 if precision is None else 0
    return 1000 - 20 * (executors - 6) ** 2 - 1.5 * (batch - 8) ** 2 + bonus - 50 * (math.log10(rate) + 2) ** 2


def feasible(study):
    return [trial for trial in study.get_trials(states=[optuna.trial.TrialState.COMPLETE])
            if max(trial.constraints.values(), default=0) <= 0]


class Sampler(unittest.TestCase):
    def test_the_best_is_nearly_found_in_thirty_trials(self):
        study = optuna.create_study(direction="maximize", sampler=doetune.optuna.Sampler(seed=1))
        study.optimize(objective, n_trials=30, catch=(MemoryError,))
        self.assertGreater(max(trial.value for trial in feasible(study)), 1015)
        failed = [tuple(trial.params.items()) for trial in study.get_trials(states=[optuna.trial.TrialState.FAIL])]
        self.assertEqual(len(failed), len(set(failed)))

    def test_a_space_that_is_given_is_searched_from_the_first_trial(self):
        space = {"x": optuna.distributions.FloatDistribution(0, 10, step=0.5),
                 "n": optuna.distributions.IntDistribution(0, 100, step=10)}
        sampler = doetune.optuna.Sampler(seed=3, search_space=space, budget=16)
        study = optuna.create_study(sampler=sampler)
        study.optimize(lambda trial: (trial.suggest_float("x", 0, 10, step=0.5) - 3.5) ** 2 +
                       (trial.suggest_int("n", 0, 100, step=10) / 10 - 6) ** 2 + 1, n_trials=16)
        self.assertEqual(study.best_params, {"x": 3.5, "n": 60})

    def test_seeds_repeat(self):
        def values(seed):
            study = optuna.create_study(direction="maximize", sampler=doetune.optuna.Sampler(seed=seed))
            study.optimize(objective, n_trials=14, catch=(MemoryError,))
            return [trial.params for trial in study.trials]

        self.assertEqual(values(5), values(5))
        self.assertNotEqual(values(5), values(6))

    def test_several_workers_do_not_propose_the_same(self):
        study = optuna.create_study(direction="maximize", sampler=doetune.optuna.Sampler(seed=1))
        study.optimize(objective, n_trials=12, catch=(MemoryError,))
        asked = [study.ask() for _ in range(4)]
        for trial in asked:  # all are under way before any is told
            trial.suggest_int("system.executors", 1, 8)
            trial.suggest_int("batch", 1, 32, log=True)
            trial.suggest_categorical("precision", ["fp32", None, True])
            trial.suggest_float("rate", 1e-4, 1e-1, log=True)
        self.assertEqual(len({tuple(trial.params.items()) for trial in asked}), 4)

    def test_threads_do_not_propose_the_same(self):
        space = {"x": optuna.distributions.IntDistribution(0, 1000), "y": optuna.distributions.IntDistribution(0, 1000)}
        study = optuna.create_study(sampler=doetune.optuna.Sampler(seed=1, search_space=space))
        study.optimize(lambda trial: (trial.suggest_int("x", 0, 1000) - 300) ** 2 / 1e5 +
                       (trial.suggest_int("y", 0, 1000) - 600) ** 2 / 1e5, n_trials=6, n_jobs=6)
        self.assertEqual(len({tuple(trial.params.items()) for trial in study.trials}), 6)

    def test_infinite_values_and_lone_constraints_do_not_blind_it(self):
        def partly_infinite(trial):
            x = trial.suggest_float("x", 0, 10)
            if trial.number == 1:
                trial.set_constraint("alone", 1.0)
            return math.inf if x > 5 else (x - 4) ** 2

        study = optuna.create_study(sampler=doetune.optuna.Sampler(seed=2))
        study.optimize(partly_infinite, n_trials=16)
        self.assertLess(min(trial.value for trial in study.trials), 0.05)

    def test_large_ranges_and_steps(self):
        def large(trial):
            n = trial.suggest_int("n", 1, 10**7, log=True)
            m = trial.suggest_int("m", 0, 200_000, step=2)
            k = trial.suggest_int("k", 5, 25, step=5)
            f = trial.suggest_float("f", 0, 1, step=0.25)
            return (math.log10(n) - 4) ** 2 + (m / 1e5 - 1) ** 2 + (k / 10 - 1.5) ** 2 + (f - 0.75) ** 2

        study = optuna.create_study(sampler=doetune.optuna.Sampler(seed=1))
        study.optimize(large, n_trials=30)
        self.assertEqual({trial.state.name for trial in study.trials}, {"COMPLETE"})
        self.assertLess(study.best_value, 0.1)
        self.assertTrue(all(trial.params["m"] % 2 == 0 and trial.params["k"] % 5 == 0 for trial in study.trials))

    def test_a_parameter_that_is_not_asked_for(self):
        space = {"kind": optuna.distributions.CategoricalDistribution(["a", "b"]),
                 "x": optuna.distributions.IntDistribution(0, 5)}

        def conditional(trial):
            if trial.suggest_categorical("kind", ["a", "b"]) == "a":
                return 3.0
            return abs(trial.suggest_int("x", 0, 5) - 2)

        study = optuna.create_study(sampler=doetune.optuna.Sampler(seed=1, search_space=space))
        study.optimize(conditional, n_trials=12)
        self.assertEqual(study.best_params, {"kind": "b", "x": 2})

    def test_the_upper_end_of_a_range_in_steps(self):
        """3 * 0.1 is not 0.3: the top level is proposed as such, and found."""
        space = {"x": optuna.distributions.FloatDistribution(0, 0.3, step=0.1),
                 "y": optuna.distributions.FloatDistribution(0, 0.7, step=0.1)}
        study = optuna.create_study(sampler=doetune.optuna.Sampler(seed=1, search_space=space))
        study.optimize(lambda trial: 1 - trial.suggest_float("x", 0, 0.3, step=0.1) -
                       trial.suggest_float("y", 0, 0.7, step=0.1), n_trials=14)
        self.assertEqual(study.best_params, {"x": 0.3, "y": 0.7})
        for trial in study.trials:  # nothing that was proposed has been replaced by a random value
            proposed = json.loads(trial.system_attrs["doetune:settings"])
            self.assertEqual(doetune.optuna._Space(space).settings_of(trial), proposed)

    def test_what_is_learnt_is_what_was_run(self):
        """A parameter that the user fixed is not that which was proposed."""
        space = {"kind": optuna.distributions.CategoricalDistribution(["a", "b"]),
                 "x": optuna.distributions.IntDistribution(0, 5), "y": optuna.distributions.IntDistribution(0, 5)}
        study = optuna.create_study(sampler=doetune.optuna.Sampler(seed=1, search_space=space))
        for kind in "ab":
            study.enqueue_trial({"kind": kind})

        def without_y(trial):
            return (trial.suggest_categorical("kind", ["a", "b"]) == "a") + trial.suggest_int("x", 0, 5)

        study.optimize(without_y, n_trials=2)
        learnt = [doetune.optuna._Space(space).settings_of(trial)["x0"] for trial in study.trials]
        self.assertEqual(learnt, ["c0", "c1"])

    def test_settings_that_fail_again_and_again_are_left(self):
        def fails_at_the_best(trial):
            x = trial.suggest_int("x", 0, 10)
            if x == 7:
                raise RuntimeError
            return abs(x - 7)

        space = {"x": optuna.distributions.IntDistribution(0, 10)}
        sampler = doetune.optuna.Sampler(seed=1, search_space=space, failed="unknown")
        study = optuna.create_study(sampler=sampler)
        study.optimize(fails_at_the_best, n_trials=14, catch=(RuntimeError,))
        self.assertLessEqual(len(study.get_trials(states=[optuna.trial.TrialState.FAIL])), 2)
        self.assertIn(study.best_params["x"], (6, 8))

    def test_failures_that_say_nothing(self):
        space = {"x": optuna.distributions.IntDistribution(0, 10)}
        sampler = doetune.optuna.Sampler(seed=1, search_space=space, failed="unknown")
        study = optuna.create_study(sampler=sampler)
        failed = []

        def fails_once(trial):
            x = trial.suggest_int("x", 0, 10)
            if x == 7 and not failed:
                failed.append(x)
                raise RuntimeError
            return abs(x - 7)

        study.optimize(fails_once, n_trials=14, catch=(RuntimeError,))
        self.assertEqual(study.best_params, {"x": 7})
        with self.assertRaises(ValueError):
            doetune.optuna.Sampler(failed="fatal")

    def test_pruned_trials_count_with_their_last_value(self):
        def pruned(trial):
            x = trial.suggest_int("x", 0, 20)
            trial.report(abs(x - 13), 1)
            if x < 5:
                raise optuna.TrialPruned
            return abs(x - 13)

        study = optuna.create_study(sampler=doetune.optuna.Sampler(seed=2))
        study.optimize(pruned, n_trials=15)
        self.assertEqual(study.best_params, {"x": 13})

    def test_a_search_space_that_is_not_the_objectives(self):
        """A warning names both distributions, and what both have is learnt from."""
        space = {"x": optuna.distributions.IntDistribution(1, 8), "y": optuna.distributions.IntDistribution(1, 8)}
        study = optuna.create_study(sampler=doetune.optuna.Sampler(seed=1, search_space=space))
        with self.assertWarnsRegex(UserWarning, "^x: .*high=8.*high=16") as warned:
            study.optimize(lambda trial: abs(trial.suggest_int("x", 1, 16) - 6) + trial.suggest_int("y", 1, 8),
                           n_trials=16)
        self.assertEqual(len(warned.warnings), 1)
        self.assertEqual(study.best_params, {"x": 6, "y": 1})

    def test_several_objectives_are_refused(self):
        study = optuna.create_study(directions=["maximize", "minimize"], sampler=doetune.optuna.Sampler(
            search_space={"x": optuna.distributions.FloatDistribution(0, 1)}))
        with self.assertRaises(ValueError):
            study.ask().suggest_float("x", 0, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

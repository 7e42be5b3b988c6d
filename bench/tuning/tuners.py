"""Other tuners at their defaults, asked for one run after another.

A tuner has `ask()`, which gives the numbers of the levels of the next run, and `tell(value, excess)`:
the measured response, or None where the run could not complete, and the logarithm of each limited
response over its limit (positive: missed; 1 where the run did not complete).
"""
import logging
import tempfile
import warnings


class Optuna:
    """TPE, Gaussian process and CMA-ES. What fails or misses a limit is told as a constraint; CMA-ES,
    which has none, is told the worst value so far."""

    def __init__(self, name, case, runs, seed):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        samplers = {"tpe": optuna.samplers.TPESampler, "gp": optuna.samplers.GPSampler,
                    "cmaes": optuna.samplers.CmaEsSampler}
        self.case, self.constrained, self.penalty = case, name != "cmaes", Penalty(case)
        self.study = optuna.create_study(direction="maximize" if case.maximize else "minimize",
                                         sampler=samplers[name](seed=seed))

    def ask(self):
        self.trial = self.study.ask()
        return [self.trial.suggest_int(factor, 0, len(levels) - 1) for factor, levels in self.case.factors.items()]

    def tell(self, value, excess):
        penalised = self.penalty.of(value, excess)
        if self.constrained:
            for limit, amount in excess.items():
                self.trial.set_constraint(limit, amount)
            self.trial.set_constraint("completes", 1.0 if value is None else -1.0)
        self.study.tell(self.trial, value if self.constrained and value is not None else penalised)


class Smac:
    """SMAC3's facade for hyperparameters (random forests). It knows failed runs, and no limits: a run
    that misses one is told the worst value so far. Its start depends on the number of runs."""

    def __init__(self, _, case, runs, seed):
        import ConfigSpace
        import smac
        logging.disable(logging.WARNING)
        warnings.filterwarnings("ignore")
        space = ConfigSpace.ConfigurationSpace(seed=seed)
        space.add([ConfigSpace.Integer(factor, (0, len(levels) - 1)) for factor, levels in case.factors.items()])
        self.folder = tempfile.TemporaryDirectory()
        scenario = smac.Scenario(space, n_trials=runs, seed=seed, deterministic=True,
                                 output_directory=self.folder.name)
        self.case, self.penalty = case, Penalty(case)
        self.optimizer = smac.HyperparameterOptimizationFacade(scenario, lambda _, seed=0: 0.0, overwrite=True,
                                                               logging_level=False)

    def ask(self):
        self.info = self.optimizer.ask()
        return [self.info.config[factor] for factor in self.case.factors]

    def tell(self, value, excess):
        from smac.runhistory.dataclasses import TrialValue
        from smac.runhistory.enumerations import StatusType
        cost = self.penalty.of(value, excess)
        status = StatusType.CRASHED if value is None else StatusType.SUCCESS
        self.optimizer.tell(self.info, TrialValue(cost=-cost if self.case.maximize else cost, status=status))


class Ax:
    """Ax's default: a Sobol start, then Bayesian optimisation by BoTorch with its outcome constraints. A run that did
    not complete is told as the worst value so far and as missing the limits: marked as failed, it is proposed again."""

    def __init__(self, _, case, runs, seed):
        from ax.api.client import Client
        from ax.api.configs import RangeParameterConfig
        logging.disable(logging.WARNING)
        warnings.filterwarnings("ignore")
        self.case, self.client, self.penalty = case, Client(random_seed=seed), Penalty(case)
        self.client.configure_experiment([RangeParameterConfig(name=factor, parameter_type="int",
                                                               bounds=(0, len(levels) - 1))
                                          for factor, levels in case.factors.items()])
        self.client.configure_optimization(objective=case.response if case.maximize else f"-{case.response}",
                                           outcome_constraints=[f"{limit} <= 0.0" for limit in case.limits] or None)

    def ask(self):
        (self.trial, parameters), = self.client.get_next_trials(max_trials=1).items()
        return [parameters[factor] for factor in self.case.factors]

    def tell(self, value, excess):
        penalised = self.penalty.of(value, excess)
        self.client.complete_trial(trial_index=self.trial, raw_data={
            self.case.response: penalised if value is None else value, **excess})


class Penalty:
    """For a tuner that does not know why a run is of no use: 0 of what is maximised, else the worst value so far; before
    any, the worst of the case."""

    def __init__(self, case):
        self.maximize, self.worst = case.maximize, None
        self.worst_of_all = max(values[case.response] for _, values in case.rows if values)

    def of(self, value, excess):
        if value is not None and max(excess.values(), default=0) <= 0:
            self.worst = value if self.worst is None else max(value, self.worst)
            return value
        if self.maximize:
            return 0.0
        return self.worst_of_all if self.worst is None else self.worst


TUNERS = {"tpe": Optuna, "gp": Optuna, "cmaes": Optuna, "smac": Smac, "ax": Ax}

#!/usr/bin/env python3
"""The best run after so many, on problems whose factors are continuous: by doetune and by Optuna's samplers.

    PYTHONPATH=build/release/python bench/tuning/continuous.py [--problems NAME ...] [--tuners NAME ...]
                                                               [--searches N] [--budgets RUNS ...]

Functions of numbers between 0 and 1, to be maximised, without noise; `server` runs out of memory and has a limit.
Packages: doetune (pip install ., or the path above, with pandas), optuna with cmaes.
"""
import argparse
import math

import numpy


def hartmann6(x):
    """Dixon & Szegoe (1978): six factors, 3.322 at best, and a second hill of 3.203."""
    a = numpy.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8],
                     [17, 8, 0.05, 10, 0.1, 14]])
    p = 1e-4 * numpy.array([[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
                            [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]])
    return numpy.array([1, 1.2, 3, 3.2]) @ numpy.exp(-(a * (x - p) ** 2).sum(axis=1)), {}


def rosenbrock4(x):
    """A curved valley, on a logarithmic scale: 0 at best."""
    z = 4 * x - 2
    return -math.log1p((100 * (z[1:] - z[:-1] ** 2) ** 2 + (1 - z[:-1]) ** 2).sum()), {}


def ten_factors(x):
    """Four of ten factors matter, one with an edge, a fifth hardly: 10.2 at best."""
    hill = 20 * (x[0] - 0.3) ** 2 + 10 * (x[2] - 0.7) ** 2 + 8 * (x[0] - 0.3) * (x[2] - 0.7)
    return 10 - hill - 6 * abs(x[5] - 0.45) - 5 * (x[8] - 0.6) ** 2 + 0.2 * x[1], {}


def server(x):
    """An inference server of six factors: its throughput, within 80 GiB and a latency."""
    batch, executors, chunk = 2 ** (7 * x[0]), 1 + 7 * x[1], 2 ** (4 + 6 * x[2])
    rate = 0.5 + 0.5 * x[3]
    if 4 + executors * (6 + 0.12 * batch * (1 + x[5])) + 0.002 * chunk * executors > 80:
        return None
    throughput = (1000 * executors ** 0.8 * batch / (batch + 12 + 6 * x[5]) * rate * (1 - 0.3 * (x[4] - 0.6) ** 2)
                  * chunk / (chunk + 60) / (1 + 0.02 * executors ** 2))
    return throughput, {"latency": (5 + 0.8 * batch + 0.05 * chunk) * (1 + 0.1 * executors) / rate}


def ackley8(x):
    """Ackley (1987), eight factors: a funnel with many small hills, 0 at best."""
    z = 3 * (x - 0.37)
    return (20 * math.exp(-0.2 * math.sqrt((z @ z) / len(z))) - 20
            + math.exp(numpy.cos(2 * math.pi * z).mean()) - math.e), {}


PROBLEMS = {"hartmann6": (hartmann6, 6, {}), "rosenbrock4": (rosenbrock4, 4, {}), "ten-factors": (ten_factors, 10, {}),
            "server": (server, 6, {"latency": 60}), "ackley8": (ackley8, 8, {})}


class Doetune:
    def __init__(self, _, size, limits, runs, seed):
        from doetune import _core
        factors = "".join(f"  x{i}: {{low: 0, high: 1}}\n" for i in range(size))
        goals = "".join(f"  {name}: {{goal: at_most, high: {high}, transform: log}}\n" for name, high in limits.items())
        self.problem = _core.Problem(f"seed: {seed}\nfactors:\n{factors}responses:\n  y: {{goal: maximize}}\n{goals}")
        self.size, self.waiting = size, list(self.problem.start(runs))

    def ask(self):
        if not self.waiting:
            self.waiting = [proposal["settings"] for proposal in self.problem.next(1, [])]
        self.settings = self.waiting.pop(0)
        return [self.settings[f"x{i}"] for i in range(self.size)]

    def tell(self, value, limited, _):
        self.problem.add(self.settings, value is not None, {} if value is None else {"y": value, **limited})


class Optuna:
    """What fails or misses a limit is told as a constraint; CMA-ES, which has none, is told the worst value so far."""

    def __init__(self, name, size, limits, runs, seed):
        import optuna
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        samplers = {"tpe": optuna.samplers.TPESampler, "cmaes": optuna.samplers.CmaEsSampler,
                    "gp": optuna.samplers.GPSampler}
        self.size, self.constrained, self.worst = size, name != "cmaes", 0.0
        self.study = optuna.create_study(direction="maximize", sampler=samplers[name](seed=seed))

    def ask(self):
        self.trial = self.study.ask()
        return [self.trial.suggest_float(f"x{i}", 0, 1) for i in range(self.size)]

    def tell(self, value, limited, excess):
        if value is not None:
            self.worst = min(self.worst, value)
        if self.constrained:
            self.trial.set_constraint("feasible", excess)
        good = value is not None and (self.constrained or excess <= 0)
        self.study.tell(self.trial, value if good else self.worst)


def search(tuner, problem, runs, seed):
    """The best value after each run; nothing before one is feasible."""
    function, size, limits = PROBLEMS[problem]
    asked = (Doetune if tuner == "doetune" else Optuna)(tuner, size, limits, runs, seed)
    best, path = -math.inf, []
    for _ in range(runs):
        value, limited = function(numpy.array(asked.ask())) or (None, {})
        excess = 1.0 if value is None else max((math.log(limited[name] / high) for name, high in limits.items()), default=-1.0)
        value = None if value is None else float(value)
        asked.tell(value, limited, excess)
        if excess <= 0:
            best = max(best, value)
        path.append(best)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=PROBLEMS)
    parser.add_argument("--tuners", nargs="+", default=["doetune", "tpe"], choices=["doetune", "tpe", "cmaes", "gp"])
    parser.add_argument("--searches", type=int, default=40)
    parser.add_argument("--budgets", type=int, nargs="+", default=[20, 30, 40, 60])
    options = parser.parse_args()
    print(f"| problem | tuner | {' | '.join(f'{runs} runs' for runs in options.budgets)} |")
    print("|---|---|" + "---|" * len(options.budgets))
    for problem in options.problems:
        for tuner in options.tuners:
            paths = numpy.array([search(tuner, problem, max(options.budgets), seed + 1) for seed in range(options.searches)])
            after = [paths[:, runs - 1] for runs in options.budgets]
            cells = [f"{numpy.median(best):.4g} / {numpy.quantile(best, 0.1, method='lower'):.4g}" for best in after]
            print(f"| {problem} | {tuner} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

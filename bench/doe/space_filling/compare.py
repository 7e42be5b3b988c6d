"""Centred L2 discrepancy and smallest distance of Latin hypercubes that other packages find.

Run beside `bench_space_filling`; prints a Markdown table. Needs numpy, scipy, openturns and pydoe.
"""
import time

import numpy as np
import openturns as ot
import pydoe
from scipy.spatial.distance import pdist
from scipy.stats import qmc

SIZES = [(10, 2), (10, 3), (20, 3), (20, 4), (25, 3), (30, 5), (30, 6)]


def centred(points):
    """The same hypercube at the middle of its cells."""
    ranks = np.argsort(np.argsort(points, axis=0), axis=0)
    return (ranks + 0.5) / len(points)


def scipy_random_cd(n, k):
    return qmc.LatinHypercube(k, scramble=False, optimization="random-cd", seed=1).random(n)


def openturns_annealing(criterion):
    def design(n, k):
        ot.RandomGenerator.SetSeed(1)
        lhs = ot.LHSExperiment(ot.JointDistribution([ot.Uniform(0, 1)] * k), n)
        lhs.setAlwaysShuffle(True)
        lhs.setRandomShift(False)
        profile = ot.GeometricProfile(10.0, 0.999, 50000)
        return np.array(ot.SimulatedAnnealingLHS(lhs, criterion, profile).generate())

    return design


def pydoe_maximin(n, k):
    return pydoe.lhs(k, samples=n, criterion="centermaximin", iterations=1000)


PEERS = {
    "scipy random-cd": scipy_random_cd,
    "openturns annealing, C2": openturns_annealing(ot.SpaceFillingC2()),
    "openturns annealing, PhiP": openturns_annealing(ot.SpaceFillingPhiP(50)),
    "pydoe centermaximin, 1000 tries": pydoe_maximin,
}

print("|package|runs|factors|CD2|squared distance on 1 .. n|seconds|")
print("|-|-|-|-|-|-|")
for name, peer in PEERS.items():
    for n, k in SIZES:
        begin = time.perf_counter()
        points = peer(n, k)
        seconds = time.perf_counter() - begin
        points = centred(points)
        cd2 = np.sqrt(qmc.discrepancy(points, method="CD"))
        distance = round((pdist(points).min() * n) ** 2)
        print(f"|{name}|{n}|{k}|{cd2:.5f}|{distance}|{seconds:.1f}|", flush=True)

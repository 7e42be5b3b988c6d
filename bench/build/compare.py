#!/usr/bin/env python3
"""Processor time that it takes to build doetune, of two commits in turn.

    bench/build/compare.py OLD NEW [--what WHAT ...]
    bench/build/compare.py OLD NEW --sample N [--preset PRESET]

OLD and NEW are commits. Each is checked out into a temporary directory and built there without a
compiler cache; user and system time of all processes are added up. WHAT is one or more of
  program     what examples/fccd-stream-inference/run.sh builds: doetune and stream-inference
  tests       everything of the release preset, with tests
  asan        everything of the asan preset, with tests
  one-source  after `tests`: a source of reports/ has changed; until the tests of reports are over
  factor-h    after `tests`: doe/factor.h has changed; until everything is built

--sample estimates instead, in minutes: N compilations of each commit, drawn at random from all of
the preset's (with tests) and run in turn, give the time of all compilations (`all`) and of those
that depend on doe/factor.h (`factor-h`), with their standard errors. Links, tests and the few
sources that include generated ones are left out.
"""
import argparse
import json
import math
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

STEPS = {"program": "release", "tests": "release", "asan": "asan", "one-source": "release", "factor-h": "release"}


def processor_seconds():
    """Of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Tree:
    """One commit, checked out and built."""

    def __init__(self, commit, directory):
        self.directory = directory
        subprocess.run(["git", "worktree", "add", "--detach", "--quiet", directory, commit], check=True)
        self.environment = {**os.environ, "CCACHE_DISABLE": "1"}

    def run(self, *command, **options):
        return subprocess.run(command, cwd=self.directory, env=self.environment, check=True,
                              stdout=subprocess.DEVNULL, **options)

    def configure(self, preset, tests):
        self.run("cmake", "--preset", preset, f"-DDOETUNE_WITH_TESTS={'ON' if tests else 'OFF'}")

    def build(self, preset, *targets):
        self.run("cmake", "--build", "--preset", preset, *(["--target", *targets] if targets else []))

    def change(self, name):
        """A change that a compiler cache would not see through either: another line at the end."""
        with open(self.directory / name, "a", encoding="utf-8") as file:
            file.write("\n// changed\n")

    def measure(self, what):
        preset = STEPS[what]
        self.configure(preset, what != "program")
        if what == "one-source":
            self.change("reports/figures/effect_figures.cpp")
        elif what == "factor-h":
            self.change("doe/factor.h")
        begin, before = time.monotonic(), processor_seconds()
        if what == "program":
            self.build(preset, "doetune", "stream-inference")
        elif what == "one-source":
            self.build(preset, "test_report")
            self.run(next((self.directory / "build/release").rglob("test_report")))
        else:
            self.build(preset)
        return processor_seconds() - before, time.monotonic() - begin

    def compilations(self, preset):
        """The commands that compile a source that is not generated itself."""
        self.configure(preset, True)
        build = self.directory / "build" / preset
        entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
        return [entry for entry in entries if pathlib.Path(entry["directory"], entry["file"]).exists()]

    def compile(self, entry):
        """The processor seconds of one compilation, and whether it depends on doe/factor.h."""
        depends = self.directory / "depends.d"
        before = processor_seconds()
        try:
            self.run("sh", "-c", f"cd '{entry['directory']}' && {entry['command']} -MD -MF '{depends}'",
                     stderr=subprocess.DEVNULL)
        except subprocess.CalledProcessError:
            return None  # it includes what another step of the build generates
        return processor_seconds() - before, "doe/factor.h" in depends.read_text(encoding="utf-8")

    def remove(self):
        subprocess.run(["git", "worktree", "remove", "--force", self.directory], check=True)


def total(values, count):
    """The estimate of a sum over `count` from a random sample without replacement, and its standard error."""
    n = len(values)
    mean = sum(values) / n
    variance = sum((value - mean) ** 2 for value in values) / (n - 1)
    return count * mean, count * math.sqrt(variance / n * (1 - n / count))


def sample(trees, preset, size):
    entries = [tree.compilations(preset) for tree in trees]
    drawn = [random.Random(1).sample(all_of_tree, min(size, len(all_of_tree))) for all_of_tree in entries]
    results = [[], []]
    for turn in range(size):
        for tree, chosen, result in zip(trees, drawn, results):
            if turn < len(chosen):
                result.append(tree.compile(chosen[turn]))
    results = [[one for one in result if one is not None] for result in results]
    for what, counted in (("all", lambda result: result[0]), ("factor-h", lambda result: result[0] * result[1])):
        (old, old_error), (new, new_error) = (
            total([counted(one) for one in result], len(all_of_tree)) for result, all_of_tree in zip(results, entries))
        error = new / old * math.hypot(old_error / old, new_error / new)
        print(f"{preset:8} {what:9} old {old:6.0f} +- {old_error:4.0f} CPU-s of {len(entries[0])}"
              f"   new {new:6.0f} +- {new_error:4.0f} CPU-s of {len(entries[1])}"
              f"   ratio {new / old:.2f} +- {error:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--what", nargs="+", choices=STEPS, default=list(STEPS), metavar="WHAT")
    parser.add_argument("--sample", type=int, metavar="N")
    parser.add_argument("--preset", choices=("release", "asan"), default="release")
    options = parser.parse_args()
    os.chdir(pathlib.Path(__file__).resolve().parents[2])
    print(f"{os.cpu_count()} processors, {subprocess.check_output(['c++', '--version'], text=True).splitlines()[0]}")
    with tempfile.TemporaryDirectory() as place:
        trees = [Tree(commit, pathlib.Path(place) / name) for name, commit in (("old", options.old), ("new", options.new))]
        try:
            if options.sample:
                sample(trees, options.preset, options.sample)
                return 0
            for what in options.what:
                old, new = (tree.measure(what) for tree in trees)
                print(f"{what:10}  old {old[0]:6.0f} CPU-s {old[1]:6.0f} s   new {new[0]:6.0f} CPU-s {new[1]:6.0f} s"
                      f"   ratio {new[0] / old[0]:.2f}", flush=True)
        finally:
            for tree in trees:
                tree.remove()
    return 0


if __name__ == "__main__":
    sys.exit(main())

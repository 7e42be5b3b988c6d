#!/usr/bin/env python3
"""Processor time that it takes to build doetune, of two commits in turn.

    bench/build/compare.py OLD NEW [--what WHAT ...]

OLD and NEW are commits. Each is checked out into a temporary directory and built there without a
compiler cache; user and system time of all processes are added up. WHAT is one or more of
  program     what examples/fccd-stream-inference/run.sh builds: doetune and stream-inference
  tests       everything of the release preset, with tests
  asan        everything of the asan preset, with tests
  one-source  after `tests`: a source of reports/ has changed; until the tests of reports are over
  factor-h    after `tests`: doe/factor.h has changed; until everything is built
"""
import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

STEPS = {"program": "release", "tests": "release", "asan": "asan", "one-source": "release", "factor-h": "release"}


class Tree:
    """One commit, checked out and built."""

    def __init__(self, commit, directory):
        self.directory = directory
        subprocess.run(["git", "worktree", "add", "--detach", "--quiet", directory, commit], check=True)
        self.environment = {**os.environ, "CCACHE_DISABLE": "1"}

    def run(self, *command):
        subprocess.run(command, cwd=self.directory, env=self.environment, check=True, stdout=subprocess.DEVNULL)

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
        begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        if what == "program":
            self.build(preset, "doetune", "stream-inference")
        elif what == "one-source":
            self.build(preset, "test_report")
            self.run(self.directory / "build/release/tests/reports/test_report")
        else:
            self.build(preset)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return used, time.monotonic() - begin

    def remove(self):
        subprocess.run(["git", "worktree", "remove", "--force", self.directory], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--what", nargs="+", choices=STEPS, default=list(STEPS), metavar="WHAT")
    options = parser.parse_args()
    os.chdir(pathlib.Path(__file__).resolve().parents[2])
    print(f"{os.cpu_count()} processors, {subprocess.check_output(['c++', '--version'], text=True).splitlines()[0]}")
    with tempfile.TemporaryDirectory() as place:
        trees = [Tree(commit, pathlib.Path(place) / name) for name, commit in (("old", options.old), ("new", options.new))]
        try:
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

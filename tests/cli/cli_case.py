"""What the tests of the command line share: a directory with a study and its program, and doetune.

usage of each test: test_X.py DOETUNE SOURCE_TREE
"""
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib

DOETUNE = pathlib.Path(sys.argv[1]).resolve()
TREE = pathlib.Path(sys.argv[2]).resolve()

# A program with a known quadratic surface: y = 10 - a^2 - (b - 1)^2, plus a small ripple.
BENCH = """#!/bin/sh
a=$1 b=$2
[ -z "$SLOW" ] || sleep "$SLOW"
awk -v a="$a" -v b="$b" 'BEGIN {
  printf "{\\"y\\": %.17g}\\n", 10 - a * a - (b - 1) * (b - 1) + 0.01 * sin(100 * a + 7 * b) }'
"""

STUDY = """seed: 5
command: [./bench, "{a}", "{b}"]
factors:
  a: {low: -2, high: 2, baseline: 1}
  b: {low: 0, high: 4, baseline: 3}
responses:
  y: {unit: points, goal: maximize}
run: {retries: 0, timeout: 1 min, expected: 0.1 s, telemetry: 0}
"""


class CliCase(unittest.TestCase):
    study, program = STUDY, BENCH  # tune.yaml, and the bench that it runs

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="doetune-cli-"))
        os.chmod(self.directory, 0o755)
        self.addCleanup(shutil.rmtree, self.directory, True)
        self.write_program("bench", self.program)
        self.write("tune.yaml", self.study)

    def write(self, name, text):
        (self.directory / name).write_text(text)

    def write_program(self, name, text):
        self.write(name, text)
        (self.directory / name).chmod(0o755)

    @staticmethod
    def journal_line(text):
        """A line of a journal, of a record that lacks its checksum and the closing brace."""
        return f'{text},"crc":"{zlib.crc32(text.encode()):08x}"}}'

    def hold_after(self, runs):
        """The program waits when it has begun so many runs, until release()."""
        self.write("hold", "")
        waits = f"echo x >>begun\nwhile [ -e hold ] && [ $(wc -l <begun) -gt {runs} ]; do sleep 0.05; done\n"
        self.write_program("bench", self.program.replace("a=$1", waits + "a=$1", 1))
        self.write("tune.yaml", self.study.replace("timeout: 1 min", "timeout: 10 min"))

    def release(self):
        (self.directory / "hold").unlink()

    def doetune(self, *arguments, expect=0, env=None, prefix=()):
        # Without a display nothing is opened.
        clean = {key: value for key, value in os.environ.items()
                 if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
        done = subprocess.run([*prefix, str(DOETUNE), *map(str, arguments)], cwd=self.directory,
                              capture_output=True, text=True, env={**clean, **(env or {})},
                              stdin=subprocess.DEVNULL, timeout=900)
        expected = expect if isinstance(expect, tuple) else (expect,)
        self.assertIn(done.returncode, expected,
                      f"doetune {arguments}:\n{done.stdout}\n{done.stderr}")
        return done

    def error_of(self, *arguments, expect):
        """What it says on standard error; nothing may be on standard output."""
        done = self.doetune(*arguments, expect=expect)
        if "--json" not in arguments:  # which has its own document of errors
            self.assertEqual(done.stdout, "", arguments)
        return done.stderr

    def json_of(self, *arguments, expect=0):
        document = json.loads(self.doetune(*arguments, "--json", expect=expect).stdout)
        self.assertIn("schema_version", document)
        return document

    def rows(self):
        """Of tune/results.csv."""
        with open(self.directory / "tune/results.csv", newline="") as file:
            return list(csv.DictReader(file))

    def records(self):
        """Of the runs in the journal of tune/."""
        lines = (self.directory / "tune/runs.jsonl").read_text().splitlines()
        return [record for record in map(json.loads, lines) if "status" in record]

    def planned_and_run(self):
        self.doetune("plan", "tune.yaml")
        self.doetune("run", "tune")


def main():
    unittest.main(argv=sys.argv[:1], verbosity=2)

#!/usr/bin/env python3
"""Every command with --json prints one document, and it is what `doetune schema --of COMMAND` says: no key is missing,
none is untold. The same of the files that commands write. A command without a line here fails.

usage: test_json_documents.py DOETUNE SOURCE_TREE
"""
import json
import re

import jsonschema

from cli_case import CliCase, main

BENCH = """#!/bin/sh
[ "$1 $2 $3" = "2 4 slow" ] && exit 77
awk -v a="$1" -v b="$2" -v c="$3" 'BEGIN {
  printf "{\\"y\\": %.17g, \\"z\\": %.17g}\\n", 10 - a * a - (b - 1) * (b - 1) + (c == "fast") + 0.01 * sin(1e4 * sin(3 * a + 7 * b + (c == "fast"))),
    exp(0.3 * a + 0.01 * sin(1e4 * sin(5 * a + 3 * b + (c == "fast")))) }'
"""

STUDY = """seed: 5
command: [./bench, "{a}", "{b}", "{c}"]
factors:
  a: {low: -2, high: 2, step: 0.25, baseline: 1}
  b: {low: 0, high: 4, step: 0.25, baseline: 3}
  c: {levels: [slow, fast], baseline: slow}
design: {type: d-optimal, runs: 24}
responses:
  y: {unit: points, goal: maximize}
  z: {unit: s, goal: at_most, high: 2, transform: log}
run: {retries: 0, timeout: 1 min, expected: 0.1 s}
"""

# What is to be run, in this order, each with its exit code; {} becomes the study directory.
CALLS = [
    ("init", ["init", "new.yaml"], 0),
    ("check", ["check", "tune.yaml"], 0),
    ("plan", ["plan", "tune.yaml"], 0),
    ("evaluate", ["evaluate", "tune.yaml"], 0),
    ("evaluate", ["evaluate", "tune", "--compare", "tune.yaml"], 0),
    ("status", ["status", "tune"], 0),
    ("fit", ["fit", "tune"], 5),
    ("optimize", ["optimize", "tune"], 5),
    ("report", ["report", "tune", "--format", "json"], 5),
    ("run", ["run", "tune", "--dry-run"], 0),
    ("run", ["run", "tune"], 0),
    ("status", ["status", "tune"], 0),
    ("fit", ["fit", "tune"], 0),
    ("fit", ["fit", "tune", "--selection", "backward", "--transform", "box-cox"], 0),
    ("fit", ["fit", "tune", "--model", "auto"], 0),
    ("fit", ["fit", "tune", "--surface", "gaussian-process"], 0),
    ("fit", ["fit", "tune", "--surface", "fixed-plus-linear", "--surface-factor", "a"], 0),
    ("fit", ["fit", "tune", "--loss", "huber"], 0),
    ("optimize", ["optimize", "tune"], 0),
    ("optimize", ["optimize", "tune", "--goal", "y=at_least:20"], 6),
    ("confirm", ["confirm", "tune", "-n", "2", "--dry-run"], 0),
    ("confirm", ["confirm", "tune", "-n", "2"], 0),
    ("augment", ["augment", "tune", "--runs", "2", "--dry-run"], 0),
    ("restore", ["restore", "tune"], 0),
    ("report", ["report", "tune", "--format", "html,md,json"], 0),
    ("export", ["export", "tune", "--to", "r"], 0),
    ("import", ["import", "tune.yaml", "tune/results.csv", "-o", "again"], 0),
    ("tune", ["tune", "search.yaml", "--budget", "14"], 0),
    ("next", ["next", "search.yaml", "-o", "asked", "--batch", "2"], 0),
    ("tell", ["tell", "asked", "--run", "1", "y=3", "z=1"], 0),
    ("replay", ["replay", "search.yaml", "table.csv", "--searches", "1", "--budget", "4"], 0),
    ("doctor", ["doctor"], 0),
    ("designs", ["designs"], 0),
    ("workloads", ["workloads"], 0),
    ("workload", ["workload", "gemm", "--size", "64"], 0),
    ("completion", ["completion", "bash"], 0),
    ("man", ["man", "plan"], 0),
    ("schema", ["schema"], 0),
    ("schema", ["schema", "--of", "status"], 0),
]

FILES = [("fit.json", "tune/fit.json"), ("optimum.json", "tune/optimum.json"), ("report.json", "tune/report/report.json")]


def strict(schema):
    """The schema with the keys it does not name forbidden, so that none is left untold."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict):
        closed["additionalProperties"] = False
    return closed


class JsonDocuments(CliCase):
    study, program = STUDY, BENCH

    def printed(self, *arguments, expect=0):
        return self.doetune(*arguments, expect=expect, env={"OMP_NUM_THREADS": "1"}).stdout

    def validate(self, document, name):
        schema = json.loads(self.printed("schema", "--of", name))
        self.assertEqual(schema["$schema"], "http://json-schema.org/draft-07/schema#")
        jsonschema.Draft7Validator.check_schema(schema)
        for shape in [schema] if name == "schema" else [schema, strict(schema)]:
            error = jsonschema.exceptions.best_match(jsonschema.Draft7Validator(shape).iter_errors(document))
            self.assertIsNone(error, error and f"{list(error.path)}: {error.message[:500]}")

    def test_every_command(self):
        self.write("search.yaml", STUDY.replace("design: {type: d-optimal, runs: 24}\n", "model: linear\n"))
        rows = [f"{a},{b},{c},{10 - a * a - b},{a * a}" for a in (-2, 0, 2) for b in (0, 4) for c in ("slow", "fast")]
        self.write("table.csv", "\n".join(["a,b,c,y,z", *rows]) + "\n")
        commands = re.findall(r"^  ([a-z]+)  +\S", self.printed("--help"), re.M)
        self.assertIn("status", commands)
        self.assertLessEqual(set(commands), {name for name, _, _ in CALLS})
        for name, arguments, expect in CALLS:
            with self.subTest(" ".join(arguments)):
                document = json.loads(self.printed(*arguments, "--json", expect=expect))
                self.validate(document, name)
        for name, file in FILES:
            with self.subTest(file):
                self.validate(json.loads((self.directory / file).read_text()), name)

    def test_whole_plots(self):
        (self.directory / "split.yaml").write_text(STUDY.replace("baseline: 1}", "baseline: 1, hard_to_change: true}"))
        self.validate(json.loads(self.printed("plan", "split.yaml", "--json")), "plan")
        self.printed("run", "split")
        self.validate(json.loads(self.printed("fit", "split", "--json")), "fit")

    def test_failures(self):
        self.write("bad.yaml", STUDY.replace("low: -2", "lo: -2", 1))
        for arguments, code, position in [
                (["plan", "bad.yaml"], 3, ("bad.yaml", 4, 7)),
                (["status", "nowhere"], 4, None),
                (["plan", "tune.yaml", "--forse"], 2, None),
                (["stauts"], 2, None)]:
            with self.subTest(" ".join(arguments)):
                ended = self.doetune(*arguments, "--json", expect=code)
                document = json.loads(ended.stdout)
                self.validate(document, "error")
                self.assertEqual(document["exit_code"], code)
                self.assertEqual(document["error"] + "\n", ended.stderr)
                found = tuple(document.get(key) for key in ("file", "line", "column"))
                self.assertEqual(found, position or (None, None, None))
        self.assertEqual(self.doetune("status", "nowhere", expect=4).stdout, "")

    def test_a_fit_without_runs_has_an_error(self):
        self.printed("plan", "tune.yaml")
        document = json.loads(self.printed("fit", "tune", "--json", expect=5))
        self.assertEqual(document["error"], "no run has completed")
        self.validate(document, "fit")
        self.printed("run", "tune")
        self.assertNotIn("error", json.loads(self.printed("fit", "tune", "--json")))

    def test_a_document_that_nobody_prints(self):
        self.printed("schema", "--of", "statsu", expect=2)


if __name__ == "__main__":
    main()

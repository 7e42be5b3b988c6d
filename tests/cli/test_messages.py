#!/usr/bin/env python3
"""What is said of a user's mistakes: where it is, what was expected, the nearest name."""
import shutil

from cli_case import STUDY, CliCase, main

# What is changed in the study file, and what the message must have.
STUDY_FILE = [
    ("low: -2,", "low: -2, {", "4:", "a { or [ is not closed"),
    ("  a:", "\ta:", "YAML takes no tabs"),
    ("  b:", "   b:", ":5:4:", "this line is indented unlike those that it belongs to"),
    ("seed", "sead", ":1:1:", "did you mean 'seed'?"),
    ("low: -2", "lo: -2", ":4:7:", "did you mean 'low'?"),
    ("low: -2", "low: two", ":4:12:", "expected a number, found 'two'"),
    ("low: -2", "low: 5", ":4:6:", "low (5) must be below high (2)"),
    ("maximize", "maximise", ":7:27:", "did you mean 'maximize'?"),
    ("goal: maximize", "goal: within", ":7:6:", "needs 'low'"),
    ("baseline: 1", "baseline: 9", ":4:35:", "(-2 to 2)"),
    ("1 min", "1 minute", ":8:", "10 min"),
    ("responses:", "model: quadratik\nresponses:", ":6:8:", "did you mean 'quadratic'?"),
    ("responses:", "design: {type: fcccd}\nresponses:", ":6:16:", "did you mean 'fccd'?"),
    ("responses:", "design: {type: d-optimal, runs: 3}\nresponses:", ":6:9: design:", "6 runs or more"),
    ("responses:", "design: {type: ccd, alpha: rotatabel}\nresponses:", ":6:9: design:", "rotatable"),
    ("responses:", "constraints: [a + c <= 1]\nresponses:", ":6:", "'c' is not known here"),
    ("responses:", "constraints: [a + b < -99]\nresponses:", "design:", "no runs that are allowed"),
    ("command: [./bench", "command: [./bensh", ":2:11:", "bensh"),
]

# A table to import, and what the message must have.
TABLES = [
    ("a,b,yy\n1,2,3\n", "d.csv:1:", "no column 'y'"),
    ("a;b;y\n1;2;3\n", "d.csv:1:", "separated by commas"),
    ("a,b,y\n1,x,3\n", "d.csv:2:", "'x' is no setting of factor 'b'; expected a number from 0 to 4"),
    ("a,b,y\n9,2,3\n", "d.csv:2:", "'9' is no setting of factor 'a'; expected a number from -2 to 2"),
    ("a,b,y\n1,2,nan\n", "d.csv:2:", "response 'y': 'nan' is no finite number"),
    ("a,b,y\n1,2\n", "d.csv:2:", "2 cells, the header has 3"),
    ("a,b,y,status\n1,2,3,infeasable\n", "d.csv:2:", "did you mean 'infeasible'?"),
    ("a,b,y,block\n1,2,3,x\n", "d.csv:2:", "no whole number from 1"),
    ("a,b,y\n\"1,2,3\n", "line 2", "never closed"),
    ("", "d.csv", "no rows"),
]

# Arguments, the exit code, and what the message must have.
ARGUMENTS = [
    (["stauts"], 2, "did you mean 'status'?"),
    (["plan", "tune.yaml", "--forse"], 2, "did you mean '--force'?"),
    (["plan", "tune.yaml", "--forc"], 2, "did you mean '--force'?"),
    (["plan", "tune.yaml", "-o"], 2, "needs a value: --output DIR"),
    (["plan", "tune.yaml", "--output="], 2, "needs a value: --output DIR"),
    (["plan", "tune.yaml", "--force=yes"], 2, "--force takes no value"),
    (["plan", "tune.yml"], 3, "did you mean 'tune.yaml'?"),
    (["plan", "tune.yaml"], 4, "choose another -o DIR"),
    (["evaluate", "tune.yam"], 3, "did you mean 'tune.yaml'?"),
    (["import", "tune.yaml", "tabel.csv"], 3, "did you mean 'table.csv'?"),
    (["status", "tunee"], 4, "did you mean 'tune'?"),
    (["status", "tune.yaml"], 4, "did you mean 'tune'?"),
    (["run", "tune", "--jobs", "many"], 2, "expected a whole number"),
    (["run", "tune", "--jobs", "0"], 2, "at least 1"),
    (["run", "tune", "--launcher", "slrum"], 2, "did you mean 'slurm'?"),
    (["run", "tune", "--retry", "fialed"], 2, "did you mean 'failed'?"),
    (["run", "tune", "--only", "99"], 2, "from 1 to 14"),
    (["fit", "tune", "--surface", "amdal"], 2, "did you mean 'amdahl'?"),
    (["fit", "tune", "--law-factor", "aa"], 2, "did you mean 'a'?"),
    (["fit", "tune", "--model", "quadratik"], 2, "did you mean 'quadratic'?"),
    (["fit", "tune", "--transform", "lgo"], 2, "did you mean 'log'?"),
    (["optimize", "tune", "--goal", "yy=maximize"], 2, "did you mean 'y'?"),
    (["optimize", "tune", "--goal", "y=maximise"], 2, "did you mean 'maximize'?"),
    (["optimize", "tune", "--goal", "y=within:3"], 2, "needs two numbers"),
    (["optimize", "tune", "--goal", "y=within:5,3"], 2, "5 must be below 3"),
    (["optimize", "tune", "--hold", "a=9"], 2, "expected a number from -2 to 2"),
    (["optimize", "tune", "--hold", "aa=1"], 2, "did you mean 'a'?"),
    (["optimize", "tune", "--contour", "a"], 2, "expected two factors"),
    (["optimize", "tune", "--contour", "a,bb"], 2, "did you mean 'b'?"),
    (["optimize", "tune", "--contour", "a,b", "--response", "yy"], 2, "did you mean 'y'?"),
    (["augment", "tune"], 2, "give one of"),
    (["augment", "tune", "--runs", "2", "--design", "d-optimum"], 2, "did you mean 'd-optimal'?"),
    (["augment", "tune", "--fold-over", "--factor", "bb"], 2, "did you mean 'b'?"),
]


class Messages(CliCase):
    def assert_says(self, error, words, what):
        for word in words:
            self.assertIn(word, error, what)
        self.assertNotIn("internal error", error, what)
        self.assertNotIn("exception", error, what)

    def test_of_the_study_file(self):
        for old, new, *words in STUDY_FILE:
            self.assertIn(old, STUDY)
            self.write("bad.yaml", STUDY.replace(old, new, 1))
            self.assert_says(self.error_of("plan", "bad.yaml", expect=3), ["bad.yaml:", *words], new)

    def test_of_tables(self):
        for text, *words in TABLES:
            self.write("d.csv", text)
            error = self.error_of("import", "tune.yaml", "d.csv", expect=3)
            self.assert_says(error, words, text)

    def test_of_the_command_line(self):
        self.planned_and_run()
        self.write("table.csv", "")
        for arguments, code, *words in ARGUMENTS:
            self.assert_says(self.error_of(*arguments, expect=code), words, arguments)

    def test_of_a_damaged_study_directory(self):
        self.planned_and_run()

        def said(change, expect=4):
            shutil.rmtree(self.directory / "bad", ignore_errors=True)
            shutil.copytree(self.directory / "tune", self.directory / "bad")
            change(self.directory / "bad")
            return self.doetune("status", "bad", expect=expect)

        def edited(name, edit):
            def change(directory):
                lines = (directory / name).read_text().splitlines(keepends=True)
                edit(lines)
                (directory / name).write_text("".join(lines))
            return change

        def put(line, text):
            def edit(lines):
                lines[line] = text
            return edit

        self.assertIn("bad/plan.csv: line 3: 2 cells, expected 7",
                      said(edited("plan.csv", put(2, "x,y\n")), expect=3).stderr)
        self.assertIn("line 1: expected the columns run,standard_order",
                      said(edited("plan.csv", put(0, "runs\n")), expect=3).stderr)
        self.assertIn("plan.json: is damaged", said(edited("plan.json", lambda l: l.clear())).stderr)
        self.assertIn("study.yaml is missing", said(lambda d: (d / "study.yaml").unlink()).stderr)
        self.assertIn("no plan.json", said(lambda d: (d / "plan.json").unlink()).stderr)
        self.assertIn("not a doetune journal", said(
            lambda d: (d / "runs.jsonl").write_text("hello\n")).stderr)
        told = said(edited("runs.jsonl", put(3, "{}\n")), expect=0)
        self.assertIn("bad/runs.jsonl:4: damaged line", told.stdout)

    def test_where_nothing_can_be_written(self):
        error = self.error_of("init", "nowhere/x.yaml", expect=4)
        self.assert_says(error, ["nowhere/x.yaml: cannot be written"], "init")


if __name__ == "__main__":
    main()

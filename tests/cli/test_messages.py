#!/usr/bin/env python3
"""What is said of a user's mistakes: where it is, what was expected, the nearest name."""
import os
import shutil

from cli_case import STUDY, CliCase, main

# What is changed in the study file, and what the message must have.
STUDY_FILE = [
    ("low: -2,", "low: -2, {", "4:", "a { or [ is not closed"),
    ("  a:", "\ta:", "YAML does not allow tabs"),
    ("  b:", "   b:", ":5:4:", "the indentation of this line does not match"),
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
    ("responses:", "constraints: [a + b < -99]\nresponses:", ":6:14: design:", "no settings that the constraints allow"),
    ("responses:", "design: {type: fccd}\nmodel: cubic\nresponses:", ":6:9: design fccd: 14 runs do not determine the model"),
    ("responses:", "design: {type: table, file: tabel.csv}\nresponses:", ":6:29: design.file:",
     "did you mean 'table.csv'?"),
    ("responses:", "model: [\"1\", a, \"a*c\"]\nresponses:", ":6:17: model term 'a*c'", "expected one of a, b"),
    ("  y:", "  a:", ":7:3: response 'a': a factor already has this name"),
    ("telemetry: 0", "launcher: ssh", ":8:62: run.launcher: ssh needs run.ssh.hosts"),
    ("telemetry: 0", "environment: {A=B: 1}", "'A=B' is not a variable name"),
    ("telemetry: 0", "after_run: [nowhere]", ":8:", "cannot run 'nowhere'"),
    ("command: [./bench", "command: [./bensh", ":2:11:", "did you mean '", "/bench'?"),
]

# A table to import, and what the message must have.
TABLES = [
    ("a,b,yy\n1,2,3\n", "d.csv:1:", "no column 'y'"),
    ("a|b|y\n1|2|3\n", "d.csv:1:", "separated by commas"),
    ("a,b,y\n1,x,3\n", "d.csv:2:", "'x' is not a setting of factor 'b'; expected a number from 0 to 4"),
    ("a,b,y\nnine,2,3\n", "d.csv:2:", "'nine' is not a setting of factor 'a'; expected a number from -2 to 2"),
    ("a,b,y\n1,2,nan\n", "d.csv:2: response 'y': expected a number", "found 'nan'"),
    ("\ufeffa,b,y\r\n\r\nnine,2,3\r\n", "d.csv:3: 'nine' is not a setting"),
    ("a,b,y\n1,2,3,4\n", "d.csv:2:", "4 cells, but the header has 3; write decimals with a point"),
    ("a,a,b,y\n1,1,2,3\n", "d.csv:1: two columns are named 'a'"),
    ("a,b,y,status,status\n1,2,3,failed,failed\n", "d.csv:1: two columns are named 'status'"),
    ("a,b,y\n1,\x1b[31m2,3\n", "d.csv:2: this is not text (UTF-8"),
    ("a,b,y\n1,2\n", "d.csv:2:", "2 cells, but the header has 3"),
    ("a,b,y,status\n1,2,3,infeasable\n", "d.csv:2:", "did you mean 'infeasible'?"),
    ("a,b,y,block\n1,2,3,1\n1,2,4,x\n", "d.csv:3: block: expected an integer of at least 1, or names"),
    ("a,b,y\n\"1,2,3\n", "d.csv:2:", "never closed"),
    ("", "d.csv:1: the table is empty"),
    ("a,b,y\n", "d.csv:1: the table has no rows below its header"),
]

# Arguments, the exit code, and what the message must have.
ARGUMENTS = [
    (["stauts"], 2, "did you mean 'status'?"),
    (["--versio"], 2, "did you mean '--version'?"),
    (["confirm", "tune", "-n", "0"], 2, "doetune confirm: --runs: expected an integer of at least 1, found '0'"),
    (["report", "tune", "--outpt", "x"], 2, "did you mean '--output'?"),
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
    (["run", "tune", "--jobs", "many"], 2, "expected an integer"),
    (["run", "tune", "--jobs", "0"], 2, "doetune run: --jobs: expected an integer of at least 1, found '0'"),
    (["run", "tune", "--only", "3-"], 2, "doetune run: --only: expected run numbers from 1 to 14", "'3-'"),
    (["run", "tune", "--launcher", "ssh"], 3, "tune/study.yaml:8:6: the launcher ssh needs run.ssh.hosts"),
    (["run", "tune", "--launcher", "slrum"], 2, "did you mean 'slurm'?"),
    (["run", "tune", "--retry", "fialed"], 2, "did you mean 'failed'?"),
    (["run", "tune", "--only", "99"], 2, "from 1 to 14"),
    (["evaluate", "tune", "--model", "1,aa"], 3, "model term 'aa': there is no factor 'aa'; did you mean 'a'?"),
    (["fit", "tune", "--surface", "amdal"], 2, "did you mean 'amdahl'?"),
    (["fit", "tune", "--surface-factor", "aa"], 2, "did you mean 'a'?"),
    (["fit", "tune", "--surface", "amdahl"], 2, "name it with --surface-factor: a, b"),
    (["fit", "tune", "--model", "quadratik"], 2, "did you mean 'quadratic'?"),
    (["fit", "tune", "--transform", "lgo"], 2, "did you mean 'log'?"),
    (["fit", "tune", "--transform", "bxo-cox"], 2, "did you mean 'box-cox'?"),
    (["fit", "tune", "--transform", "power(x)"], 2, "power(0.3)"),
    (["optimize", "tune", "--response", "y"], 2, "--contour"),
    (["optimize", "tune", "--goal", "y"], 2, "expected RESPONSE=GOAL, e.g. throughput=maximize, found 'y'"),
    (["optimize", "tune", "--hold", "a"], 2, "expected FACTOR=SETTING"),
    (["optimize", "tune", "--goal", "yy=maximize"], 2, "did you mean 'y'?"),
    (["optimize", "tune", "--goal", "y=maximise"], 2, "did you mean 'maximize'?"),
    (["optimize", "tune", "--goal", "y=within:3"], 2, "needs two numbers"),
    (["optimize", "tune", "--goal", "y=within:5,3"], 2, "low (5) must be below high (3)"),
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
        self.write("table.csv", "")
        for old, new, *words in STUDY_FILE:
            self.assertIn(old, STUDY)
            self.write("bad.yaml", STUDY.replace(old, new, 1))
            self.assert_says(self.error_of("plan", "bad.yaml", expect=3), ["bad.yaml:", *words], new)

    def test_of_the_program_come_before_the_search_for_a_design(self):
        text = STUDY.replace("command: [./bench", "command: [./nowhere", 1)
        self.write("bad.yaml", text.replace("responses:", "design: {type: d-optimal, runs: 3}\nresponses:", 1))
        self.assert_says(self.error_of("plan", "bad.yaml", expect=3), ["bad.yaml:2:11:", "./nowhere'"], "order")

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

    def test_of_factors_that_were_changed_after_planning(self):
        self.planned_and_run()
        self.write("tune.yaml", STUDY.replace("high: 2", "high: 3"))
        later = (self.directory / "tune/study.yaml").stat().st_mtime + 1
        os.utime(self.directory / "tune.yaml", (later, later))
        for command in (["run", "tune"], ["confirm", "tune"], ["augment", "tune", "--runs", "2"]):
            self.assert_says(self.error_of(*command, expect=2),
                             ["in: factors; runs cannot be changed after planning", "touch tune/study.yaml"], command)
        os.utime(self.directory / "tune/study.yaml", (later + 1, later + 1))
        self.doetune("run", "tune")

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

        self.assertIn("bad/plan.csv:3: 2 cells, but the header has 7",
                      said(edited("plan.csv", put(2, "x,y\n")), expect=3).stderr)
        self.assertIn("bad/plan.csv:1: expected the columns run,standard_order",
                      said(edited("plan.csv", put(0, "r,s,p,b,c,a,b\n")), expect=3).stderr)
        self.assertIn("bad/plan.csv:3: 'x' is not a setting of factor 'a'; expected a number from -2",
                      said(edited("plan.csv", put(2, "2,3,axial,1,1,x,2\n")), expect=3).stderr)
        self.assertIn("plan.json:1: is damaged", said(edited("plan.json", lambda l: l.clear())).stderr)
        self.assertIn("plan.json:3: is damaged", said(edited("plan.json", put(2, "}}\n"))).stderr)
        self.assertIn("study.yaml is missing", said(lambda d: (d / "study.yaml").unlink()).stderr)
        self.assertIn("no plan.json", said(lambda d: (d / "plan.json").unlink()).stderr)
        self.assertIn("bad/plan.json: is damaged: key 'hash' not found; `doetune restore bad`",
                      said(edited("plan.json", lambda l: l.__setitem__(
                          slice(None), [line.replace('"hash"', '"hsah"') for line in l]))).stderr)
        self.assertIn("bad/plan.csv:2: there is no point type 'centre'; did you mean 'center'?",
                      said(edited("plan.csv", put(1, "1,9,centre,1,1,0,2\n")), expect=3).stderr)
        self.assertIn("runs.jsonl:1: not a doetune journal", said(
            lambda d: (d / "runs.jsonl").write_text("hello\n")).stderr)
        told = said(edited("runs.jsonl", put(3, "{}\n")), expect=0)
        self.assertIn("bad/runs.jsonl:4: damaged line", told.stdout)

    def test_of_usage_begin_with_the_command(self):
        self.planned_and_run()
        for arguments, code, *_ in ARGUMENTS:
            if code == 2 and arguments[0] not in ("stauts", "--versio"):
                self.assertTrue(self.error_of(*arguments, expect=2).startswith(f"doetune {arguments[0]}: "),
                                arguments)

    def test_of_several_studies_has_a_command(self):
        self.doetune("plan", "tune.yaml", "-o", "one")
        self.doetune("plan", "tune.yaml", "-o", "two")
        self.assert_says(self.error_of("fit", expect=4),
                         ["as in `doetune status one`:\n  one\n  two\n"], "several")

    def test_where_nothing_can_be_written(self):
        error = self.error_of("init", "nowhere/x.yaml", expect=4)
        self.assert_says(error, ["nowhere/x.yaml: cannot be written"], "init")
        self.assert_says(self.error_of("init", ".", expect=2), [". is a directory"], "init .")
        self.assert_says(self.error_of("man", "-o", "bench", expect=4), ["bench/man1: Not a directory"], "man")
        self.planned_and_run()
        error = self.error_of("export", "tune", "--to", "csv", "-o", ".", expect=4)
        self.assert_says(error, [".: is a directory; name a file"], "export")
        self.assertFalse((self.directory / "..partial").exists())


if __name__ == "__main__":
    main()

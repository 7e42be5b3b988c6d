#!/usr/bin/env python3
"""A study whose files were lost, are older than its journal, or were changed: what is said, and the way back."""
import json
import shutil

from cli_case import CliCase, main

FILES = ("study.yaml", "plan.csv", "plan.json")


class Restore(CliCase):
    def copy(self, to, *names, source="tune"):
        (self.directory / to).mkdir(exist_ok=True)
        for name in names:
            shutil.copy(self.directory / source / name, self.directory / to / name)

    def sheet(self):
        return (self.directory / "tune/plan.csv").read_text()

    def test_a_power_cut_that_left_the_files_empty(self):
        self.planned_and_run()
        before = self.sheet()
        for name in FILES:
            self.write(f"tune/{name}", "")
        for command in (["run", "tune"], ["status", "tune"], ["plan", "tune.yaml"]):
            self.assertIn("`doetune restore tune`", self.error_of(*command, expect=4))
        restored = self.json_of("restore", "tune")
        self.assertEqual(restored["files"], list(FILES))
        self.assertEqual(self.sheet(), before)
        self.assertIn("14 of 14 runs completed", self.doetune("status", "tune").stdout)
        self.assertIn("nothing to restore", self.doetune("restore", "tune").stdout)

    def test_a_sheet_older_than_its_journal(self):
        self.planned_and_run()
        self.copy("backup", *FILES)
        self.doetune("confirm", "tune", "-n", "2")
        newer = self.sheet()
        self.copy("tune", *FILES, source="backup")
        status = self.doetune("status", "tune").stdout
        self.assertIn("14 of 14 runs completed", status)
        self.assertRegex(status, r"warning: .*left out: runs 15, 16, 17, 18, not in plan.csv.*`doetune restore tune`")
        self.assertEqual(len(self.json_of("status", "tune")["warnings"]), 1)
        for command in (["augment", "tune", "--runs", "4"], ["run", "tune"]):
            error = self.doetune(*command, expect=4).stderr
            self.assertIn("older than the journal", error)
            self.assertIn("`doetune restore tune`", error)
        self.doetune("restore", "tune")
        self.assertEqual(self.sheet(), newer)
        self.assertIn("18 of 18 runs completed", self.doetune("status", "tune").stdout)

    def test_a_range_that_was_changed(self):
        self.planned_and_run()
        study = self.directory / "tune/study.yaml"
        study.write_text(study.read_text().replace("high: 2", "high: 6"))
        error = self.error_of("optimize", "tune", expect=4)
        self.assertIn("tune/study.yaml:4:3: factors.a: planned as 'continuous from -2 to 2', now", error)
        # What the message says to do works.
        self.write("wider.yaml", study.read_text())
        self.doetune("import", "wider.yaml", "tune/results.csv", "-o", "wider")
        self.assertIn("14 of 14", self.doetune("status", "wider").stdout)

    def test_a_range_that_was_narrowed(self):
        self.planned_and_run()
        study = self.directory / "tune/study.yaml"
        study.write_text(study.read_text().replace("high: 2", "high: 1"))
        self.assertIn("`doetune import", self.error_of("optimize", "tune", expect=4))
        self.write("narrower.yaml", study.read_text())
        imported = self.doetune("import", "narrower.yaml", "tune/results.csv", "-o", "narrower")
        self.assertRegex(imported.stderr, r"warning: \d+ of 14 runs outside the range of 'a', -2 to 1")
        best = self.json_of("optimize", "narrower")["settings"]
        self.assertLessEqual(best["a"], 1)

    def test_an_attempt_whose_record_was_left_out_is_not_recovered(self):
        self.planned_and_run()
        journal = self.directory / "tune/runs.jsonl"
        kept = journal.read_text().split("\n")
        self.write("tune/runs.jsonl", "\n".join(line for line in kept if '"run":3,' not in line))
        self.assertIn("started but not recorded: #3;", self.doetune("status", "tune").stdout)
        changed = []
        for line in kept:
            if '"run":3,' in line:
                record = json.loads(line[:line.rindex(',"crc"')] + "}")
                record["settings"] = dict.fromkeys(record["settings"], "0.125")
                text = json.dumps(record, separators=(",", ":"))[:-1]
                line = self.journal_line(text)
            changed.append(line)
        self.write("tune/runs.jsonl", "\n".join(changed))
        status = self.doetune("status", "tune").stdout
        self.assertIn("left out: run 3, measured at other settings", status)
        self.assertNotIn("started but not recorded", status)

    def test_damaged_lines_are_reported_by_every_reader(self):
        self.planned_and_run()
        journal = self.directory / "tune/runs.jsonl"
        lines = journal.read_text().split("\n")
        lines[5] = lines[5].replace("completed", "Completed")
        journal.write_text("\n".join(lines))
        for command in (["fit"], ["optimize"], ["report"], ["export", "--to", "csv"], ["augment", "--runs", "1"]):
            said = self.doetune(command[0], "tune", *command[1:]).stderr
            self.assertIn("warning: tune/runs.jsonl:6: damaged line, ignored", said, command)

    def test_a_journal_without_a_sheet(self):
        self.doetune("plan", "tune.yaml")
        self.assertIn("no run sheet", self.error_of("restore", "tune", expect=4))
        self.assertIn("did you mean", self.error_of("restore", "tun", expect=4))


if __name__ == "__main__":
    main()

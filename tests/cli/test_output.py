#!/usr/bin/env python3
"""Standard input, output and error that are closed, or that cannot be written."""
import json
import subprocess

from cli_case import DOETUNE, CliCase, main

PROBLEM = "the output could not be written"


class Output(CliCase):
    def code_of(self, redirections, *arguments):
        """The exit code, and what came on standard error where that was kept."""
        done = subprocess.run(["sh", "-c", f'exec "$0" "$@" {redirections}', DOETUNE, *arguments],
                              cwd=self.directory, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=300)
        return done.returncode, done.stderr

    def test_runs_are_made_without_standard_error(self):
        self.doetune("plan", "tune.yaml")
        for runs, redirections in [("1-4", "2>&-"), ("5-8", "2>/dev/full")]:
            self.assertEqual(self.code_of(redirections, "run", "tune", "--only", runs)[0], 5)
        self.assertEqual(self.code_of("2>&-", "run", "tune")[0], 0)
        self.assertEqual(self.json_of("status", "tune")["completed"], 14)

    def test_mistakes_keep_their_exit_code_without_standard_error(self):
        for redirections in ["2>&-", "2>/dev/full"]:
            self.assertEqual(self.code_of(redirections)[0], 2)
            self.assertEqual(self.code_of(redirections, "stauts")[0], 2)
            self.assertEqual(self.code_of(redirections, "status", "nowhere")[0], 4)

    def test_closed_descriptors_are_no_file_of_the_study(self):
        """A file that is opened gets the lowest free number: 2 is then where progress is written."""
        self.doetune("plan", "tune.yaml")
        self.assertEqual(self.code_of("<&- >&- 2>&-", "run", "tune")[0], 0)
        self.assertEqual(self.json_of("status", "tune")["completed"], 14)
        self.assertRegex((self.directory / "tune/lock").read_text(), r"^process \d+ on \S+\n$")
        for line in (self.directory / "tune/runs.jsonl").read_text().splitlines():
            json.loads(line)

    def test_an_answer_that_is_lost_is_an_error(self):
        self.planned_and_run()
        for arguments in [("status", "tune"), ("status", "tune", "--json"), ("fit", "tune"),
                          ("run", "tune", "--json"), ("optimize", "tune", "--json"), ("--help",),
                          ("schema",)]:
            for redirections in [">/dev/full", ">&-"]:
                code, said = self.code_of(redirections, *arguments)
                self.assertEqual(code, 1, (arguments, redirections))
                self.assertIn(PROBLEM, said)
                self.assertNotIn("internal error", said)

    def test_a_file_stop_ends_run_at_once_with_or_without_a_terminal(self):
        self.doetune("plan", "tune.yaml")
        (self.directory / "tune/stop").touch()
        said = self.error_of("run", "tune", expect=130)
        self.assertIn("stopping: tune/stop exists; remove it to continue\n", said)
        self.assertIn("Next: rm tune/stop && doetune run tune\n", said)
        (self.directory / "tune/stop").unlink()
        self.doetune("run", "tune")

    def test_what_prints_no_answer_needs_no_standard_output(self):
        self.doetune("plan", "tune.yaml")
        self.assertEqual(self.code_of(">&-", "run", "tune")[0], 0)
        self.assertEqual(self.code_of(">/dev/full", "run", "tune")[0], 0)


if __name__ == "__main__":
    main()

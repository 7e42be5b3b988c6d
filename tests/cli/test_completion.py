#!/usr/bin/env python3
"""What shells complete: bash for real, the others as far as they are installed."""
import os
import shutil
import subprocess
import unittest

from cli_case import DOETUNE, CliCase, main

ASK = """
PATH="$1:$PATH"
source <(doetune completion bash)
COMP_LINE="$2" COMP_POINT=${#2}
$(complete -p doetune | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Completion(CliCase):
    def completed(self, line):
        done = subprocess.run(["bash", "--norc", "-c", ASK, "bash", str(DOETUNE.parent), line],
                              cwd=self.directory, capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""), line)
        return [word for word in done.stdout.splitlines() if word]

    def test_bash_completes_commands_and_options(self):
        self.assertEqual(self.completed("doetune pl"), ["plan"])
        self.assertEqual(self.completed("doetune help opt"), ["optimize"])
        self.assertEqual(self.completed("doetune plan --f"), ["--force"])
        self.assertEqual(self.completed("doetune plan --nothing"), [])
        self.assertEqual(self.completed("doetune plam --f"), [])
        commands = self.completed("doetune ")
        for word in ("init", "check", "plan", "run", "status", "fit", "optimize", "completion"):
            self.assertIn(word, commands)

    def test_bash_completes_what_options_may_be(self):
        self.assertEqual(self.completed("doetune fit --surface am"), ["amdahl", "amdahl-time"])
        self.assertEqual(self.completed("doetune fit --surface=sat"), ["saturation"])
        self.assertEqual(self.completed("doetune augment --design d-"), ["d-optimal"])
        self.assertEqual(self.completed("doetune run --retry failed,lo"), ["failed,lost"])
        self.assertEqual(self.completed("doetune completion f"), ["fish"])
        self.assertEqual(self.completed("doetune init --template own-t"), ["own-training"])

    def test_bash_completes_files_and_names_of_the_study(self):
        self.doetune("plan", "tune.yaml")
        (self.directory / "results").mkdir()
        self.write("table.csv", "a,b,y\n")
        self.assertEqual(self.completed("doetune status "), ["results/", "tune"])
        self.assertEqual(self.completed("doetune plan tu"), ["tune.yaml", "tune/"])
        self.assertEqual(self.completed("doetune import tune.yaml ta"), ["table.csv"])
        self.assertEqual(self.completed("doetune optimize tune --goal "), ["y="])
        self.assertEqual(self.completed("doetune optimize tune --goal y=at"), ["at_most:", "at_least:"])
        self.assertEqual(self.completed("doetune optimize --hold "), ["a=", "b="])
        self.assertEqual(self.completed("doetune optimize --contour a,"), ["a,a", "a,b"])

    def test_a_study_that_cannot_be_read_completes_nothing(self):
        self.doetune("plan", "tune.yaml")
        self.write("tune/study.yaml", "factors: [")
        self.assertEqual(self.completed("doetune optimize tune --goal "), [])

    def test_every_option_of_every_command_is_offered(self):
        for command in self.completed("doetune "):
            if command in ("help", "workload"):
                continue
            shown = self.doetune(command, "--help").stdout
            for option in self.completed(f"doetune {command} --"):
                self.assertIn(option, shown)
                self.assertNotIn(" arg", shown)  # every value has a name

    def test_other_shells_accept_their_scripts(self):
        for shell, check in (("zsh", ["-n"]), ("fish", ["--no-execute"])):
            self.write("script", self.doetune("completion", shell).stdout)
            if shutil.which(shell) is None:
                continue
            done = subprocess.run([shell, *check, "script"], cwd=self.directory,
                                  capture_output=True, text=True, timeout=300)
            self.assertEqual((done.returncode, done.stderr), (0, ""), shell)

    @unittest.skipIf(shutil.which("fish") is None, "fish is not installed")
    def test_fish_completes(self):
        ask = "doetune completion fish | source; complete -C 'doetune fit --surface am'"
        done = subprocess.run(["fish", "-c", ask], cwd=self.directory, capture_output=True,
                              text=True, timeout=300,
                              env={**os.environ, "PATH": f"{DOETUNE.parent}:{os.environ['PATH']}",
                                   "HOME": str(self.directory)})
        self.assertEqual([line.strip() for line in done.stdout.splitlines()],
                         ["amdahl", "amdahl-time"], done.stderr)

    def test_another_shell_is_refused(self):
        self.assertIn("expected one of bash, zsh, fish",
                      self.error_of("completion", "tcsh", expect=2))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Help and the manual: complete, from the same tables, and without a formatter's complaint."""
import re
import shutil
import subprocess
import unittest

from cli_case import CliCase, main


class Manual(CliCase):
    def commands(self):
        listed = self.doetune("--help").stdout.split("Commands:\n")[1]
        return re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)

    def test_help_leads_with_examples_that_begin_as_they_should(self):
        for command in self.commands():
            shown = self.doetune("help", command).stdout
            self.assertEqual(shown, self.doetune(command, "--help").stdout)
            self.assertRegex(shown.splitlines()[2], "^Examples?:$")
            self.assertIn(f"doetune {command}", shown.splitlines()[3])
            self.assertLess(shown.index("Example"), shown.index("Usage:"))
            for option in shown.split("Options:")[1].splitlines():
                self.assertRegex(option, r"^$|^  -\w, --|^      --|^ {7,}\S", command)
            self.assertLessEqual(max(map(len, shown.splitlines())), 80, shown)
        self.assertIn("did you mean 'plan'", self.error_of("help", "plam", expect=2))

    def test_pages_have_every_command_option_and_key(self):
        self.doetune("man", "--output", "pages")
        pages = self.directory / "pages"
        main_page = (pages / "man1/doetune.1").read_text()
        for command in self.commands():
            self.assertIn(f"\\fB{command}\\fR", main_page)
            page = (pages / f"man1/doetune-{command}.1").read_text().replace("\\-", "-")
            self.assertEqual(page, self.doetune("man", command).stdout.replace("\\-", "-"))
            for option in re.findall(r"--[a-z-]+", self.doetune(command, "--help")
                                     .stdout.split("Options:")[1]):
                self.assertIn(option, page)
        study = (pages / "man5/doetune-study.5").read_text()

        def keys(schema):
            for name, value in schema.get("properties", {}).items():
                yield name
                yield from keys(value)
            for inner in ("items", "additionalProperties"):
                if isinstance(schema.get(inner), dict):
                    yield from keys(schema[inner])
            for inner in schema.get("anyOf", []):
                yield from keys(inner)

        import json
        names = list(keys(json.loads(self.doetune("schema").stdout)))
        self.assertGreater(len(names), 100)
        for name in names:
            self.assertIn(f".TP\n\\fB{name}\\fR\n", study)

    @unittest.skipIf(shutil.which("groff") is None, "groff is not installed")
    def test_groff_has_no_warnings(self):
        self.doetune("man", "--output", "pages")
        for page in sorted((self.directory / "pages").rglob("*.[15]")):
            done = subprocess.run(["groff", "-man", "-ww", "-k", "-Tutf8", str(page)],
                                  capture_output=True, text=True, timeout=300)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page.name)
            self.assertIn("doetune", done.stdout)

    @unittest.skipIf(shutil.which("mandoc") is None, "mandoc is not installed")
    def test_mandoc_has_no_complaints(self):
        self.doetune("man", "--output", "pages")
        for page in sorted((self.directory / "pages").rglob("*.[15]")):
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "style", str(page)],
                                  capture_output=True, text=True, timeout=300)
            # The name and its summary are one line, which makewhatis reads.
            self.assertRegex(page.read_text(), r'^\.TH "[A-Z\\-]+" [15] "2\d{3}-\d\d-\d\d" ')
            told = [line for line in done.stdout.splitlines() if ":3:" not in line]
            self.assertEqual(told, [], page.name)

    def test_an_unknown_page_is_reported(self):
        self.assertIn("did you mean 'study'", self.error_of("man", "studdy", expect=2))
        for command in self.commands():  # the list is whole
            self.assertRegex(self.error_of("man", "nope", expect=2), rf"[ ,]{command}(,|$)")

    def test_usage_has_no_blank_at_its_end(self):
        self.assertIn("usage: doetune schema\n", self.error_of("schema", "x", expect=2))
        self.assertIn("usage: doetune plan STUDY.yaml\n", self.error_of("plan", "x", "y", expect=2))


if __name__ == "__main__":
    main()

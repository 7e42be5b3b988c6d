#!/usr/bin/env python3
"""The site: built without a warning, with every page, read without a network.

usage: test_site.py FOLDER_OF_PROGRAMS SOURCE_TREE
"""
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAMS, TREE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="doetune-site-")
        cls.addClassCleanup(folder.cleanup)
        built = subprocess.run([sys.executable, TREE / "docs/site/build.py", PROGRAMS, folder.name],
                               capture_output=True, text=True, timeout=900)
        if built.returncode != 0:
            raise AssertionError(built.stdout + built.stderr)
        cls.site = pathlib.Path(folder.name).resolve() / "site"

    def text(self, page):
        return (self.site / page).read_text()

    def test_every_page_of_the_tree_is_in_it(self):
        for page in (TREE / "docs").rglob("*.md"):
            if TREE / "docs/site" not in page.parents:
                self.assertTrue((self.site / page.relative_to(TREE).with_suffix(".html")).exists(), page)

    def test_nothing_is_fetched_from_elsewhere(self):
        of_pages = re.compile(r'<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)="(?:https?:|/)[^"]*')
        of_styles = re.compile(r"url\(['\"]?(?:https?:|/)[^)]*")
        for kind, fetched in (("html", of_pages), ("css", of_styles)):
            for file in self.site.rglob(f"*.{kind}"):
                self.assertEqual(fetched.findall(file.read_text()), [], file)

    def test_all_that_pages_and_styles_name_is_there(self):
        named = re.compile(r'<(?:script|img|link)\b[^>]*\b(?:src|href)="([^"#?]+)')
        imported = re.compile(r"@import url\(['\"]?([^)'\"]+)")
        for kind, of in (("html", named), ("css", imported)):
            for file in self.site.rglob(f"*.{kind}"):
                for name in of.findall(file.read_text()):
                    self.assertTrue((file.parent / name).exists(), f"{file}: {name}")

    def test_generated_pages_name_all_that_the_programs_know(self):
        def asked(*arguments):
            return json.loads(subprocess.run([PROGRAMS / "doetune", *arguments], check=True,
                                             capture_output=True, text=True).stdout)
        designs = self.text("docs/generated/designs.html")
        for design in asked("designs", "--json")["designs"]:
            self.assertIn(f"<h2>{design['type']}<", designs)
        workloads = self.text("docs/generated/workloads.html")
        for workload in asked("workloads", "--json")["workloads"]:
            self.assertIn(f"<h2>{workload['name']}<", workloads)
        keys = self.text("docs/generated/study-file.html")
        for key in asked("schema")["properties"]:
            self.assertIn(f">{key}<", keys)
        commands = self.text("docs/generated/commands.html")
        sources = {source.stem for source in (TREE / "cli/commands").glob("*.cpp")} - {"commands"}
        self.assertTrue(sources)
        for name in sources:
            self.assertIn(f"<h2>{name}<", commands)

    def test_the_search_knows_the_pages(self):
        self.assertIn("desirability", self.text("searchindex.js"))


if __name__ == "__main__":
    if any(importlib.util.find_spec(name) is None for name in ("sphinx", "myst_parser", "furo")):
        print("skipped: Debian's furo, python3-myst-parser or python3-sphinx-copybutton is missing")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])

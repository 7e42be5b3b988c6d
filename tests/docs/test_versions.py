#!/usr/bin/env python3
"""The changelog, the build and the program agree on the version and the date of its release.

usage: test_versions.py FOLDER_OF_PROGRAMS SOURCE_TREE
"""
import datetime
import pathlib
import re
import subprocess
import sys
import unittest

PROGRAMS, TREE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
RELEASE = re.compile(r"^## (\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)$")


def sections_of_changelog():
    return re.findall(r"^## .*$", (TREE / "CHANGELOG.md").read_text(), re.MULTILINE)


def told_by(*arguments):
    return subprocess.run([PROGRAMS / "doetune", *arguments], check=True, capture_output=True,
                          text=True).stdout


class Versions(unittest.TestCase):
    def setUp(self):
        # Keep a Changelog: "Unreleased" first, then versions, the newest first.
        self.first, *released = sections_of_changelog()
        self.releases = [RELEASE.match(section) for section in released]
        self.assertTrue(all(self.releases), f"not '## X.Y.Z - YYYY-MM-DD': {released}")
        self.version, self.date = self.releases[0].groups()

    def test_the_changelog_begins_with_what_is_not_released_yet(self):
        self.assertEqual(self.first, "## Unreleased")

    def test_versions_of_the_changelog_fall_and_dates_do_not_rise(self):
        versions = [tuple(map(int, release[1].split("."))) for release in self.releases]
        self.assertEqual(versions, sorted(set(versions), reverse=True))
        dates = [datetime.date.fromisoformat(release[2]) for release in self.releases]
        self.assertEqual(dates, sorted(dates, reverse=True))

    def test_the_build_has_the_newest_version_and_its_date(self):
        build = (TREE / "CMakeLists.txt").read_text()
        self.assertEqual(re.search(r"project\(doetune VERSION (\S+)", build)[1], self.version)
        self.assertEqual(re.search(r"set\(DOETUNE_RELEASED (\S+?)\)", build)[1], self.date)

    def test_the_program_and_its_manual_state_them(self):
        self.assertEqual(told_by("--version"), f"doetune {self.version}\n")
        title = told_by("man").splitlines()[0]
        self.assertIn(f'"{self.date}" "doetune {self.version}"', title)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

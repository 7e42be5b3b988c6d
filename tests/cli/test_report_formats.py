#!/usr/bin/env python3
"""doetune report in every format: files, messages where they cannot be made, opening on a desktop.

usage: test_report_formats.py DOETUNE SOURCE_TREE
"""
import json
import os
import re
import shutil
import subprocess
import time
import xml.etree.ElementTree as ElementTree

from cli_case import CliCase, DOETUNE, TREE, main

EXAMPLE = TREE / "examples/published-fccd"
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")


class ReportFormats(CliCase):
    def setUp(self):
        super().setUp()
        self.doetune("import", EXAMPLE / "fccd.yaml", EXAMPLE / "fccd_yolo_spark.csv")
        self.report = self.directory / "fccd/report"

    def test_html_alone_unless_asked(self):
        shown = self.doetune("report", "fccd").stdout
        self.assertIn("fccd/report/report.html written", shown)
        self.assertEqual({file.name for file in self.report.iterdir()}, {"report.html", "figures"})
        for file in (self.report / "figures").iterdir():
            self.assertEqual(file.suffix, ".svg")
            ElementTree.parse(file)  # a browser's page forgives what a file of its own must not have

    def test_markdown_and_data(self):
        files = json.loads(self.doetune("report", "fccd", "--format", "md,json", "--json").stdout)["files"]
        self.assertFalse((self.report / "report.html").exists())
        text = (self.report / "report.md").read_text()
        for image in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text):
            self.assertTrue((self.report / image).is_file(), image)
        for heading in "Answer", "What matters", "Can I trust it?", "Runs", "Provenance":
            self.assertIn(f"\n## {heading}\n", text)
        self.assertNotRegex(text, r"<(svg|table|p|div|span)\b")
        data = json.loads((self.report / "report.json").read_text())
        self.assertEqual(data["optimum"], json.loads((self.directory / "fccd/optimum.json").read_text()))
        self.assertEqual(data["fit"], json.loads((self.directory / "fccd/fit.json").read_text()))
        self.assertEqual([run["run"] for run in data["runs"]], list(range(1, 21)))
        self.assertEqual({f"fccd/report/{figure['file']}" for figure in data["figures"]},
                         {file for file in files if file.endswith(".svg")})

    def test_figures_as_pdf_and_png(self):
        if not shutil.which("rsvg-convert"):
            self.skipTest("needs librsvg2-bin")
        self.doetune("report", "fccd", "--format", "pdf,png")
        figures = sorted((self.report / "figures").glob("*.svg"))
        self.assertTrue(figures)
        for figure in figures:
            self.assertEqual(figure.with_suffix(".pdf").read_bytes()[:5], b"%PDF-")
            self.assertEqual(figure.with_suffix(".png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_the_converter_that_is_missing_is_named(self):
        error = self.doetune("report", "fccd", "--format", "html,pdf", env={"PATH": "/nowhere"}, expect=2).stderr
        self.assertIn("apt install librsvg2-bin", error)
        self.assertFalse(self.report.exists())

    def test_formats_that_do_not_exist(self):
        self.assertIn("did you mean 'html'?", self.doetune("report", "fccd", "--format", "htm", expect=2).stderr)
        self.doetune("report", "fccd", "--format", "", expect=2)

    def test_a_folder_that_cannot_be_written(self):
        self.doetune("report", "fccd")
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root to become someone without rights")
        if subprocess.run([*NOBODY, DOETUNE, "--version"], capture_output=True).returncode:
            self.skipTest("the program cannot be reached by others")
        self.directory.chmod(0o755)
        (self.directory / "fccd").chmod(0o777)
        for arguments in (), ("--format", "md"), ("--format", "json"):
            error = self.doetune("report", "fccd", *arguments, prefix=NOBODY, expect=4).stderr
            self.assertIn("fccd/report", error)
            self.assertIn("ermission denied", error)

    def test_another_folder(self):
        written = self.doetune("report", "fccd", "-o", "elsewhere", "--format", "html,md")
        self.assertIn("elsewhere/report.html written", written.stdout)
        self.assertIn("open elsewhere/report.html", written.stderr)
        self.assertTrue((self.directory / "elsewhere/report.md").is_file())
        for file in "report", "fit.json", "optimum.json":
            self.assertFalse((self.directory / "fccd" / file).exists(), file)

    def test_opening(self):
        said = self.doetune("report", "fccd", "--open").stderr
        self.assertIn("no desktop", said)
        self.assertIn("open fccd/report/report.html", said)
        opener, log = self.directory / "bin/xdg-open", self.directory / "opened"
        opener.parent.mkdir()
        opener.write_text(f'#!/bin/sh\nprintf %s "$1" >"{log}.part" && mv "{log}.part" "{log}"\n')
        opener.chmod(0o755)
        desktop = {"DISPLAY": ":7", "PATH": f"{opener.parent}:{os.environ['PATH']}"}
        said = self.doetune("report", "fccd", "--open", env=desktop).stderr
        self.assertNotIn("no desktop", said)
        for _ in range(500):
            if log.exists():
                break
            time.sleep(0.02)
        self.assertEqual(log.read_text(), str(self.report / "report.html"))


if __name__ == "__main__":
    main()

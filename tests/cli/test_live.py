#!/usr/bin/env python3
"""The report that is served while runs are made. What a browser makes of it: test_live_in_browser.py.

usage: test_live.py DOETUNE SOURCE_TREE
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

from cli_case import DOETUNE, CliCase, main


class Live(CliCase):
    def started(self, *arguments, slow="0.3"):
        """A command with --live, and its address."""
        process = subprocess.Popen([str(DOETUNE), *arguments], cwd=self.directory, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, "SLOW": slow})
        self.addCleanup(self.ended, process)
        address = re.match(r"Live report: (http://127\.0\.0\.1:\d+/[0-9a-f]{32}/)\n",
                           process.stderr.readline())
        return process, address[1]

    def ended(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def get(self, address):
        with urllib.request.urlopen(address, timeout=300) as response:
            return response.read().decode()

    def state(self, address):
        return json.loads(self.get(address + "state.json"))

    def until(self, address, condition):
        end = time.monotonic() + 300
        while time.monotonic() < end:
            state = self.state(address)
            if condition(state):
                return state
            time.sleep(0.05)
        self.fail(f"never: {state}")

    def serving(self, process):
        """The process id of what serves for a command."""
        names = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        end = time.monotonic() + 300
        while time.monotonic() < end:
            for child in names.read_text().split():
                with contextlib.suppress(FileNotFoundError):  # a run has ended meanwhile
                    if pathlib.Path(f"/proc/{child}/comm").read_text() == "doetune-live\n":
                        return int(child)
        self.fail("nothing serves")

    def test_a_page_follows_the_runs_and_the_report_stays(self):
        self.hold_after(2)
        self.doetune("plan", "tune.yaml")
        process, address = self.started("run", "tune", "--live")
        self.assertIn("<script>", self.get(address))
        state = self.until(address, lambda state: state["done"] >= 1)
        self.assertEqual((state["phase"], state["planned"], state["name"]), ("running", 14, "tune"))
        self.release()
        # The page asks every two seconds, to the end, and then has the last report.
        state = self.until(address, lambda state: state["phase"] != "running")
        self.assertEqual((state["phase"], state["done"], state["in_progress"], state["problem"]),
                         ("finished", 14, [], ""))
        self.assertEqual(state["file"], "tune/report/report.html")
        self.assertRegex(state["best"], r"^#\d+ a=\S+ b=\S+: y [-\d.]+ points$")
        served = self.get(address + "report.html")
        output, told = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(told.splitlines()[-1], "tune/report/report.html written")
        self.assertNotIn("warning", told)
        # It is what `doetune report` writes.
        files = {name: (self.directory / "tune" / name).read_text()
                 for name in ("report/report.html", "fit.json", "optimum.json")}
        self.assertEqual(files["report/report.html"], served)
        self.doetune("report", "tune")
        for name, text in files.items():
            self.assertEqual((self.directory / "tune" / name).read_text(), text)
        with self.assertRaises(urllib.error.URLError):
            self.get(address)  # nothing is left behind

    def test_runs_do_not_wait_for_nor_fail_with_what_serves_them(self):
        self.doetune("plan", "tune.yaml")
        process, address = self.started("run", "tune", "--live", slow="0.1")
        child = self.serving(process)
        self.until(address, lambda state: state["planned"] > 0)  # it is at work
        threads = [int(thread.name) for thread in pathlib.Path(f"/proc/{child}/task").iterdir()]
        self.assertIn(19, [os.getpriority(os.PRIO_PROCESS, thread) for thread in threads])
        os.kill(child, signal.SIGKILL)
        output, told = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0)
        self.assertIn("warning: the live report ended before the runs did", told)
        self.assertEqual((self.directory / "tune/results.csv").read_text().count("completed"), 14)

    def test_what_serves_ends_with_a_killed_command(self):
        self.doetune("plan", "tune.yaml")
        process, address = self.started("run", "tune", "--live")
        child = self.serving(process)
        process.kill()
        process.wait()
        end = time.monotonic() + 300
        while pathlib.Path(f"/proc/{child}").exists() and time.monotonic() < end:
            time.sleep(0.02)
        self.assertFalse(pathlib.Path(f"/proc/{child}").exists())

    def test_failed_runs_are_told_and_markup_stays_text(self):
        self.write_program("bench", "#!/bin/sh\necho '<script>alert(1)</script>' >&2\nexit 3\n")
        self.doetune("plan", "tune.yaml")
        process, address = self.started("run", "tune", "--live")
        process.wait(300)
        output, told = process.communicate()
        self.assertEqual(process.returncode, 5)
        page = (self.directory / "tune/report/report.html").read_text()
        self.assertNotIn("<script>alert", page)

    def test_an_interrupted_study_has_its_report(self):
        self.hold_after(3)
        self.doetune("plan", "tune.yaml")
        process, address = self.started("run", "tune", "--live")
        self.until(address, lambda state: state["done"] >= 2)
        os.kill(process.pid, signal.SIGINT)
        self.release()
        self.assertEqual(self.until(address, lambda state: state["phase"] != "running")["phase"],
                         "interrupted")
        self.get(address + "report.html")
        process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130)
        self.assertTrue((self.directory / "tune/report/report.html").exists())

    def test_a_search_counts_to_its_budget(self):
        process, address = self.started("tune", "tune.yaml", "--budget", "9", "--live", slow="0")
        self.assertEqual(self.until(address, lambda state: state["done"] >= 1)["planned"], 9)
        process.communicate(timeout=300)
        self.assertIn('id="search"', (self.directory / "tune/report/report.html").read_text())

    def test_mistakes_in_options_are_reported_before_the_address(self):
        self.doetune("plan", "tune.yaml")
        for command, option, value in (("run", "--only", "99"), ("run", "--retry", "nothing"), ("run", "--jobs", "0"),
                                       ("tune", "--tolerance", "much"), ("tune", "--batch", "0")):
            told = self.error_of(command, "tune", "--live", option, value, expect=2)
            self.assertIn(option, told)
            self.assertNotIn("Live report", told)

    def test_a_port_that_cannot_be_used(self):
        self.doetune("plan", "tune.yaml")
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            told = self.error_of("run", "tune", f"--live={port}", expect=2)
            self.assertIn(f"--live: port {port} of 127.0.0.1 cannot be used", told)
        for port in (-1, 65536):
            self.assertIn("expected a port", self.error_of("run", "tune", f"--live={port}", expect=2))
        self.assertFalse((self.directory / "tune/runs").exists())


if __name__ == "__main__":
    main()

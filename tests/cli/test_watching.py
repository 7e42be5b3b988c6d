#!/usr/bin/env python3
"""What is seen of runs under way: on a terminal (a pseudo-terminal) and elsewhere."""
import os
import pty
import re
import signal
import struct
import subprocess
import fcntl
import termios
import time

from cli_case import DOETUNE, CliCase, main


class Screen:
    """As much of a terminal as is written for: lines, cursor up, erasing, no wrapping."""

    def __init__(self):
        self.lines = [""]
        self.row = 0

    def feed(self, text):
        for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r\n|\r|\n|[^\x1b\r\n]+", text):
            if part in ("\r\n", "\n"):
                self.row += 1
                while len(self.lines) <= self.row:
                    self.lines.append("")
                self.column = 0
            elif part == "\r":
                self.column = 0
            elif part.startswith("\x1b["):
                self.control(part)
            else:
                line = self.lines[self.row]
                column = getattr(self, "column", 0)
                self.lines[self.row] = line[:column].ljust(column) + part + line[column + len(part):]
                self.column = column + len(part)

    def control(self, part):
        if part.endswith("A"):
            self.row = max(0, self.row - int(part[2:-1]))
        elif part == "\x1b[K":
            self.lines[self.row] = self.lines[self.row][:getattr(self, "column", 0)]
        elif part == "\x1b[J":
            self.lines[self.row] = self.lines[self.row][:getattr(self, "column", 0)]
            del self.lines[self.row + 1:]

    def text(self):
        return "\n".join(self.lines)


class Watching(CliCase):
    def on_terminal(self, *arguments, env=None, columns=80, rows=24):
        """All that a command writes to a terminal of that size, and its exit code."""
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        process = subprocess.Popen([str(DOETUNE), *arguments], cwd=self.directory, stdin=child,
                                   stdout=child, stderr=child,
                                   env={**os.environ, "TERM": "xterm", "LANG": "C.UTF-8",
                                        **(env or {})})
        os.close(child)
        written = b""
        while True:
            try:
                read = os.read(parent, 65536)
            except OSError:
                break
            if not read:
                break
            written += read
        os.close(parent)
        return written.decode(), process.wait(timeout=300)

    def test_a_run_on_a_terminal_is_one_line_that_goes_away(self):
        self.doetune("plan", "tune.yaml")
        written, code = self.on_terminal("run", "tune", env={"SLOW": "0.2"})
        self.assertEqual(code, 0)
        self.assertRegex(written, r"\[\d+/14\] #\d+ a=[-\d.]+ b=[\d.]+ · #\d+: [-\d.]+ points · 0:0\d · ETA 0:0\d")
        # A value stands beside the number of its own run, which is not the one under way.
        for under_way, measured in re.findall(r"\] #(\d+) [^\r\n]* · #(\d+): ", written):
            self.assertNotEqual(under_way, measured)
        drawn = re.findall(r"\r\x1b\[K([^\r\n]*)", written)
        self.assertLessEqual(max(map(len, drawn)), 79)
        screen = Screen()
        screen.feed(written)
        self.assertNotIn("ETA", screen.text())
        self.assertIn("Next: doetune report tune", screen.text())

    def test_a_run_elsewhere_is_a_line_each(self):
        self.doetune("plan", "tune.yaml")
        told = self.doetune("run", "tune").stderr
        self.assertEqual(len(re.findall(
            r"^\[\d+/14\] #\d+ a=\S+ b=\S+ completed in [\d.]+ s: [-\d.]+ points$", told, re.M)), 14)
        self.assertNotIn("\x1b", told)

    def started(self):
        self.doetune("plan", "tune.yaml")
        run = subprocess.Popen([str(DOETUNE), "run", "tune"], cwd=self.directory,
                               env={**os.environ, "SLOW": "0.3"}, stderr=subprocess.DEVNULL)
        self.addCleanup(run.wait, 60)
        while not (self.directory / "tune/runs.jsonl").exists():
            time.sleep(0.02)
        return run

    def test_watching_redraws_in_place(self):
        self.started()
        written, code = self.on_terminal("status", "tune", "--watch")
        self.assertEqual(code, 0)
        self.assertNotIn("\x1b[2J", written)  # what was there before stays
        self.assertRegex(written, r"\x1b\[\d+A")
        screen = Screen()
        screen.feed(written)
        self.assertEqual(screen.text().count("runs completed"), 1)
        self.assertIn("14 of 14 runs completed", re.sub(r"\x1b\[[0-9;]*m", "", screen.text()))

    def test_a_small_terminal_shows_what_fits(self):
        self.started()
        written, code = self.on_terminal("status", "tune", "--watch", rows=3)
        self.assertEqual(code, 0)
        self.assertLessEqual(max(map(int, re.findall(r"\x1b\[(\d+)A", written)), default=0), 2)

    def test_watching_elsewhere_reports_each_run_once(self):
        self.started()
        told = self.doetune("status", "tune", "--watch").stdout
        first = int(re.match(r"tune: (\d+) of 14 runs completed\n", told)[1])
        ended = re.findall(r"#(\d+) a=\S+ b=\S+ completed in", told)
        self.assertEqual(ended, [str(run) for run in range(first + 1, 15)])
        self.assertEqual(told.count("14 of 14 runs completed"), 1)
        self.assertNotIn("\x1b", told)

    def test_watching_elsewhere_reports_the_state_at_once(self):
        self.doetune("plan", "tune.yaml")
        run = subprocess.Popen([str(DOETUNE), "run", "tune", "--only", "1"], cwd=self.directory,
                               env={**os.environ, "SLOW": "600"}, stderr=subprocess.DEVNULL)
        while not list(self.directory.glob("tune/runs/*/claim")):
            time.sleep(0.02)
        watch = subprocess.Popen([str(DOETUNE), "status", "tune", "--watch"], cwd=self.directory,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            self.assertEqual(watch.stdout.readline(), "tune: 0 of 14 runs completed\n")
        finally:
            for _ in range(2):  # the second stops the run under way
                run.send_signal(signal.SIGINT)
                time.sleep(0.2)
            run.wait(300)
        told, error = watch.communicate(timeout=300)
        self.assertIn("stopped by the user", told)  # the run's end
        self.assertIn("Next: ", error)

    def test_status_while_runs_are_made_says_how_to_watch_them(self):
        self.started()
        self.assertIn("Next: doetune status tune --watch", self.doetune("status", "tune").stderr)

    def test_colours_only_where_they_are_wanted(self):
        self.planned_and_run()
        self.assertIn("\x1b[1m", self.on_terminal("status", "tune")[0])
        for unwanted in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\x1b", self.on_terminal("status", "tune", env=unwanted)[0])
        self.assertNotIn("\x1b", self.doetune("status", "tune").stdout)


class Figures(CliCase):
    def shown(self, *arguments, lang="C.UTF-8"):
        shown = self.doetune(*arguments, env={"LC_ALL": "", "LC_CTYPE": "", "LANG": lang}).stdout
        self.assertLessEqual(max(map(len, shown.splitlines())), 80, shown)
        return shown

    def test_profiles_stand_under_the_answer(self):
        self.planned_and_run()
        for command in ("fit", "optimize"):
            shown = self.shown(command, "tune")
            self.assertIn("y [points] along each factor through the optimum (▲)", shown)
            self.assertTrue(any("\u2801" <= c <= "\u28ff" for c in shown))
            marks = [line for line in shown.splitlines() if "▲───" in line][0]
            self.assertEqual(marks.count("▲"), 2)
            plain = self.shown(command, "tune", lang="C")
            profile = plain[plain.index("y [points] along"):]
            self.assertTrue(profile.isascii(), profile)

    def test_a_contour_has_labels_runs_and_the_optimum(self):
        self.planned_and_run()
        shown = self.shown("optimize", "tune", "--contour", "a,b")
        self.assertEqual(shown.count("★"), 2)  # in the figure, in the legend
        self.assertEqual(shown.count("●"), 9 + 1)  # the settings, and the legend
        self.assertRegex(shown, r"[⠁-⣿][-\d.]+[⠁-⣿]")  # a label in its line
        self.assertNotIn("░", shown)
        limited = self.shown("optimize", "tune", "--contour", "a,b", "--goal", "y=at_least:5")
        self.assertIn("░ a limit is violated", limited)
        self.assertTrue(self.shown("optimize", "tune", "--contour", "b,a", lang="C").isascii())

    def test_the_optimum_lies_where_the_surface_is_highest(self):
        # y = 10 - a^2 - (b - 1)^2: the middle of a, a quarter up b.
        self.planned_and_run()
        figure = [line for line in self.shown("optimize", "tune", "--contour", "a,b").splitlines()
                  if line.count("│") == 2]
        row = next(i for i, line in enumerate(figure) if "★" in line)
        column = figure[row].index("★") - figure[row].index("│") - 1
        width = len(figure[row]) - figure[row].index("│") - 2
        self.assertAlmostEqual(column / width, 0.5, delta=0.05)
        self.assertAlmostEqual(row / len(figure), 0.75, delta=0.06)


if __name__ == "__main__":
    main()

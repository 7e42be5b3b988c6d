#!/usr/bin/env python3
"""Every command line in README.md, CONTRIBUTING.md and docs/ does what its page says.

usage: test_commands.py FOLDER_OF_PROGRAMS SOURCE_TREE [PAGE...]

Each page is run from top to bottom by one shell in a folder of its own:

    ```console                 lines after "$ " are executed; other lines show output, and are not
    $ doetune plan fccd.yaml   compared. The exit code must be 0, or that of a comment at the
    ```                        end of the line, "# exit 5: some runs are missing".
    ```yaml fccd.yaml          a block with a file's name is that file.
    ```
    <!-- test: COMMANDS -->    executed, but not shown to readers.
    <!-- not run: REASON -->   the next block is left alone; the test prints the reason.

`bench` in PATH is a made-up program to tune; workloads named in stand_in.py answer at once, for the
real ones are not what a page is about.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAMS, TREE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
HERE = pathlib.Path(__file__).resolve().parent
PIECE = re.compile(r"^<!-- (?P<word>test|not run): (?P<text>.*?) *-->$|"
                   r"^```(?P<language>\w+)(?: (?P<file>[\w./-]+))?\n(?P<body>.*?)^```$",
                   re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"#.*\bexit (\d+)\b")


def commands_of(block):
    """The commands of a console block; one goes on where its line ends with a backslash."""
    commands, goes_on = [], False
    for line in block.splitlines():
        if goes_on:
            commands[-1] += "\n" + line
        elif line.startswith("$ "):
            commands.append(line[2:])
        goes_on = (goes_on or line.startswith("$ ")) and line.endswith("\\")
    return commands


def step(command):
    """A command, and its exit code for the test on file descriptor 3."""
    documented = EXIT.search(command)
    return f"{command}\necho $? {documented.group(1) if documented else 0} >&3\n"


def script_of(page):
    """The page as a shell script, its commands in order, and the reasons of what is left out."""
    script, commands, reasons, left_out = "", [], [], False
    for piece in PIECE.finditer(page):
        if piece["word"] == "not run":
            reasons.append(piece["text"])
            left_out = True
            continue
        if piece["word"] == "test":
            script, commands = script + step(piece["text"]), [*commands, piece["text"]]
        elif piece["file"] and not left_out:
            script += f"mkdir -p $(dirname {piece['file']})\n"
            script += f"cat > {piece['file']} <<'END OF FILE'\n{piece['body']}END OF FILE\n"
        elif piece["language"] == "console" and not left_out:
            for command in commands_of(piece["body"]):
                script, commands = script + step(command), [*commands, command]
        left_out = False
    return script, commands, reasons


class Page(unittest.TestCase):
    def __init__(self, path):
        super().__init__()
        self.path = path

    def id(self):
        return str(self.path.relative_to(TREE))

    def shortDescription(self):
        return None

    def __str__(self):
        return self.id()

    def environment(self, folder):
        stand_ins = folder / "stand-ins"
        stand_ins.mkdir()
        for name in ("stream-inference", "train-classifier"):
            (stand_ins / name).symlink_to(HERE / "stand_in.py")
        path = f"{PROGRAMS}:{HERE / 'programs'}:{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "HOME": str(folder), "DOETUNE_WORKLOADS": str(stand_ins),
                "DOETUNE_PROGRAMS": str(PROGRAMS), "NO_COLOR": "1"}

    def runTest(self):
        script, commands, reasons = script_of(self.path.read_text())
        for reason in reasons:
            print(f"{self.id()}: not run: {reason}")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="doetune-docs-"))
        self.addCleanup(shutil.rmtree, folder, True)
        work = folder / "work"
        work.mkdir()
        (work / "examples").symlink_to(TREE / "examples")
        codes = folder / "codes"
        begin = time.monotonic()
        done = subprocess.run(["bash", "-c", f"exec 3>'{codes}'\n{script}"], cwd=work,
                              env=self.environment(folder), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                              encoding="utf-8", errors="replace")  # two streams cut into each other
        print(f"{time.monotonic() - begin:.1f} s", end=" ")
        ends = [line.split() for line in codes.read_text().splitlines()]
        for command, (code, documented) in zip(commands, ends):
            self.assertEqual(code, documented, f"exit code of: {command}\n{done.stdout}")
        self.assertEqual(len(ends), len(commands), f"the page stops early\n{done.stdout}")


class EveryBlock(unittest.TestCase):
    """What looks like a command is one that the pages' tests see."""

    def test_commands_are_in_console_blocks(self):
        for path in PAGES:
            for block in re.finditer(r"^```(\w*)[^\n]*\n(.*?)^```$", path.read_text(),
                                     re.MULTILINE | re.DOTALL):
                if block[1] in ("", "sh", "bash", "shell"):
                    self.assertNotRegex(block[2], r"(?m)^(\$ |doetune |cmake -|sudo |export |\./)",
                                        f"{path}: a command outside of a console block")


PAGES = [TREE / "README.md", TREE / "CONTRIBUTING.md", *sorted((TREE / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if TREE / "docs/site" not in page.parents]

if __name__ == "__main__":
    chosen = [pathlib.Path(page).resolve() for page in sys.argv[3:]]
    suite = unittest.TestSuite(Page(page) for page in chosen or PAGES)
    suite.addTest(EveryBlock("test_commands_are_in_console_blocks"))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    sys.exit(not result.wasSuccessful())

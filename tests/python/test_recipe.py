#!/usr/bin/env python3
"""The programs of docs/recipes/python.md do what the page says, from top to bottom.

usage: test_recipe.py SOURCE_TREE
"""
import contextlib
import io
import logging
import os
import pathlib
import re
import sys
import tempfile
import unittest

TREE = pathlib.Path(sys.argv[1])


class Recipe(unittest.TestCase):
    def test_it_runs(self):
        logging.disable(logging.CRITICAL)
        page = (TREE / "docs/recipes/python.md").read_text()
        programs = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        self.assertGreaterEqual(len(programs), 5)
        names, said = {}, io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said):
            os.chdir(folder)
            for program in programs:
                exec(compile(program, "python.md", "exec"), names)
            os.chdir("/")
        self.assertIn("{'executors': 6, 'batch': 8} CONFIRMED", said.getvalue())
        self.assertIn("{'a': 0, 'b': 1}", said.getvalue().replace(".0", ""))
        self.assertGreater(names["study"].best_value, 980)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

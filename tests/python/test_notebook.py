#!/usr/bin/env python3
"""The notebook of examples/notebook runs from top to bottom and shows its figures.

usage: test_notebook.py SOURCE_TREE
"""
import pathlib
import sys
import unittest

import nbclient
import nbformat

TREE = pathlib.Path(sys.argv[1])


class Notebook(unittest.TestCase):
    def test_it_runs(self):
        notebook = nbformat.read(TREE / "examples/notebook/tune_a_function.ipynb", as_version=4)
        nbclient.NotebookClient(notebook, timeout=900, kernel_name="python3").execute()
        shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
        pages = [output["data"]["text/html"] for output in shown if "text/html" in output.get("data", {})]
        self.assertGreaterEqual(sum(page.count("<svg") for page in pages), 3)
        self.assertTrue(any("CONFIRMED" in output.get("text", "") for output in shown))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

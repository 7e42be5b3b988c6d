#!/usr/bin/env python3
"""What the documents show of study files is YAML, and each key has the form that the schema asks for.

usage: test_yaml.py FOLDER_OF_PROGRAMS SOURCE_TREE
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

import jsonschema
import yaml

PROGRAMS, TREE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
BLOCK = re.compile(r"^```yaml.*?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks():
    """(where, text) of each block of YAML in the tree's documents."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=TREE, check=True, capture_output=True, text=True)
    for name in listed.stdout.split():
        page = (TREE / name).read_text()
        for match in BLOCK.finditer(page):
            yield f"{name}:{page.count(chr(10), 0, match.start()) + 1}", match[1]


class Yaml(unittest.TestCase):
    def test_sections_have_the_form_of_the_schema(self):
        schema = json.loads(subprocess.run([PROGRAMS / "doetune", "schema"], check=True, capture_output=True).stdout)
        checked = 0
        for where, text in blocks():
            with self.subTest(where):
                study = yaml.safe_load(text)
                known = schema["properties"].keys() & (study if isinstance(study, dict) else {})
                if known:
                    self.assertEqual(known, study.keys())
                for key in known:
                    jsonschema.validate({key: study[key]}, {**schema, "required": []})
                    checked += 1
        self.assertGreater(checked, 10)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

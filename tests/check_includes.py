#!/usr/bin/env python3
"""Each room includes only the rooms that docs/architecture.md lets it: the arrows of the tree."""
import pathlib
import re
import sys

ALLOWED = {
    "doe": {"doe"},
    "surfaces": {"surfaces", "doe"},
    "study": {"study", "doe"},
    "runner": {"runner", "study", "doe"},
    "reports": {"reports", "doe", "surfaces", "study"},
    "cli": {"cli", "doe", "surfaces", "study", "runner", "reports"},
    "runner/measurement": {"runner/measurement"},
    "workloads": {"workloads", "runner/measurement"},
}


def allows(allowed, name):
    return any(name.startswith(room + "/") for room in allowed)


root = pathlib.Path(__file__).resolve().parent.parent
include = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
failures, checked = [], 0
for room, allowed in ALLOWED.items():
    for source in sorted((root / room).rglob("*")):
        if source.suffix not in {".h", ".cpp", ".cu", ".cuh"}:
            continue
        for name in include.findall(source.read_text()):
            checked += 1
            if not allows(allowed, name):
                failures.append(f"{source.relative_to(root)} includes {name}: {room} may use {sorted(allowed)}")
            elif not (root / name).is_file():
                failures.append(f"{source.relative_to(root)} includes {name}: write it from the root")
print("\n".join(failures) or f"{checked} includes keep to the arrows")
sys.exit(1 if failures or checked == 0 else 0)

#!/usr/bin/env python3
"""Every #include keeps to the arrows of docs/architecture.md: between modules, and between the
folders of a module where these are layers."""
import pathlib
import re
import sys

# A module includes itself and these.
MODULES = {
    "base": [],
    "doe": ["base"],
    "surfaces": ["base", "doe"],
    "study": ["base", "doe"],
    "analysis": ["base", "doe", "surfaces", "study"],
    "tuning": ["base", "doe", "surfaces", "study", "analysis"],
    "runner": ["base", "doe", "study"],
    "runner/measurement": [],
    "reports": ["base", "doe", "surfaces", "study", "analysis"],
    "python": ["base", "doe", "surfaces", "study", "analysis", "tuning", "reports"],
    "cli": ["base", "doe", "surfaces", "study", "analysis", "tuning", "runner", "reports"],
    "workloads": ["base", "runner/measurement"],
}

# From the bottom up: a folder includes itself and those before it. Headers that stand beside the
# folders are listed where their place is.
LAYERS = {
    "study": ["error.h", "files.h", "run_settings.h", "study.h", "run_record.h", "argument_template.h",
              "experimental_region.h", "file", "tables", "formats", "plan.h", "evaluation_json.h", "directory"],
    "cli": ["terminal", "command.h", "failure.h", "documents.h", "files", "options", "runs", "live", "help", "commands"],
    "runner": ["measurement", "processes", "telemetry", "attempts", "conditions", "launchers", "servers", "search", "loop", "programs"],
    "reports": ["markup", "json", "figures", "page", "exports", "documents"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
SOURCES = {".h", ".cpp", ".cu", ".cuh"}
root = pathlib.Path(__file__).resolve().parent.parent


def is_in(name, folders):
    return any(name.startswith(folder + "/") for folder in folders)


def complaint(source, name):
    """What is wrong with `source`, a path from the root, including `name`; None where nothing is."""
    if not (root / name).is_file():
        return "write it from the root"
    module = "runner/measurement" if is_in(source, ["runner/measurement"]) else source.split("/")[0]
    allowed = [module, *MODULES[module]]
    if not is_in(name, allowed):
        return f"{module} may use {', '.join(allowed)}"
    layers = LAYERS.get(module, [])
    source_layer, name_layer = source.split("/")[1], name.split("/")[1]
    if not is_in(name, [module]) or source_layer not in layers:
        return None
    below = layers[: layers.index(source_layer) + 1]
    return None if name_layer in below else f"{module}/{source_layer} may use {', '.join(below)}"


failures, checked = [], 0
for module in sorted({name.split("/")[0] for name in MODULES}):
    for path in sorted((root / module).rglob("*")):
        if path.suffix not in SOURCES:
            continue
        source = path.relative_to(root).as_posix()
        for name in INCLUDE.findall(path.read_text()):
            checked += 1
            if wrong := complaint(source, name):
                failures.append(f"{source} includes {name}: {wrong}")
print("\n".join(failures) or f"{checked} includes keep to the arrows")
sys.exit(1 if failures or checked == 0 else 0)

"""Reference pages written from what the programs say of themselves."""
import json
import math
import subprocess


def ask(doetune, *arguments):
    return subprocess.run([doetune, *arguments], check=True, capture_output=True, text=True).stdout


def cell(text):
    """Text as it may stand in a cell of a table."""
    return str(text).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines) + "\n"


def commands(doetune):
    """Names in the order of `doetune --help`, whose list has two spaces before each."""
    listed = ask(doetune, "--help").split("Commands:\n")[1].split("\n\n")[0]
    names = [line.split()[0] for line in listed.splitlines()
             if line.startswith("  ") and not line.startswith("   ")]
    page = "# Commands\n\nWhat `doetune COMMAND --help` says.\n\n"
    for name in names:
        page += f"## {name}\n\n```text\n{ask(doetune, name, '--help').strip()}\n```\n\n"
    return page


def kind_of(schema):
    """What a key may hold, in words. Any scalar counts as text: YAML tells `8` and `x` apart."""
    if "enum" in schema:
        return ", ".join(f"`{cell(word)}`" for word in schema["enum"])
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return " or ".join(dict.fromkeys(kind_of(one) for one in schema[choice]))
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {kind_of(schema.get('items', {}))}"
    if kind == "object":
        each = schema.get("additionalProperties")
        return f"name: {kind_of(each)}, ..." if isinstance(each, dict) else "section"
    if isinstance(kind, list):
        return "number or text" if kind[0] == "number" else "text"
    bounds = [f"{word} {schema[key]:g}" for key, word in (("minimum", "from"), ("maximum", "to"))
              if abs(schema.get(key, math.inf)) < 1e9]
    return " ".join([kind, *bounds])


def objects_in(schema):
    """The objects with keys that a schema may be, under it or one of its choices."""
    if schema.get("properties"):
        yield schema
    extra = schema.get("additionalProperties")
    parts = [*schema.get("anyOf", []), *schema.get("oneOf", []), schema.get("items", {}),
             extra if isinstance(extra, dict) else {}]
    for part in parts:
        if part:
            yield from objects_in(part)


def sections(name, schema):
    """One section for the keys of an object, then one for each key that is an object itself."""
    rows, inner = [], []
    required = set(schema.get("required", []))
    for key, value in schema["properties"].items():
        mark = " (required)" if key in required else ""
        rows.append([f"`{key}`{mark}", kind_of(value), cell(value.get("description", ""))])
        path = f"{name}.{key}" if name else key
        path += ".NAME" if isinstance(value.get("additionalProperties"), dict) else ""
        inner += [(path, one) for one in objects_in(value)]
    title = f"`{name}`" if name else "The whole file"
    text = f"## {title}\n\n" + table(["key", "value", "meaning"], rows)
    return text + "".join(sections(*section) for section in inner)


def study_file(doetune):
    return ("# Keys of the study file\n\nWhat `doetune schema` says; [the reference](../reference.md) "
            "explains how they are related.\n\n") + sections("", json.loads(ask(doetune, "schema")))


def designs(doetune):
    page = "# Design types\n\nWhat `doetune designs` says; [which to take](../designs.md).\n\n"
    for design in json.loads(ask(doetune, "designs", "--json"))["designs"]:
        options = ", ".join(f"`{option}`" for option in design["options"]) or "none"
        page += (f"## {design['type']}\n\n{design['summary']}\n\nOptions: {options}. "
                 f"Model unless given: {design['default_model']}.\n\nSource: {design['source']}\n\n")
    return page


def workloads(doetune):
    page = ("# Bundled workloads\n\nWhat `doetune workloads` says: any of the factors can be a fixed "
            "setting. [How they work](../../workloads/README.md).\n\n")
    for workload in json.loads(ask(doetune, "workloads", "--json"))["workloads"]:
        factors = [[f"`{factor['name']}`", cell(f"{factor['settings']} {factor['unit']}".strip()),
                    cell(factor["default"].replace("null", "")), cell(factor["description"])]
                   for factor in workload["factors"]]
        responses = [[f"`{response['name']}`", cell(response["unit"]), cell(response["description"])]
                     for response in workload["responses"]]
        page += (f"## {workload['name']}\n\n{cell(workload['summary'])}\n\n"
                 + table(["factor", "settings", "default", "meaning"], factors)
                 + table(["response", "unit", "meaning"], responses))
    return page


def write(doetune, folder):
    folder.mkdir(parents=True)
    for name, page in (("commands", commands), ("study-file", study_file), ("designs", designs),
                       ("workloads", workloads)):
        (folder / f"{name}.md").write_text(page(doetune))

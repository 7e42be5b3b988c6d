#!/usr/bin/env python3
"""Makes the site of the tree's pages: build.py FOLDER_OF_PROGRAMS OUTPUT_FOLDER

The pages are staged in OUTPUT/source as they lie in the tree, so that links between them hold; the
programs write what can be asked of them (generated.py) and the figures; Sphinx makes OUTPUT/site.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import generated

TREE = pathlib.Path(__file__).resolve().parents[2]
SITE = TREE / "docs/site"
# What pages are made of, or link to.
PAGES = {".md", ".svg", ".csv", ".json", ".yaml", ".sh", ".py", ".R", ".txt", ".ipynb"}
FOLDERS = ("docs", "examples", "bench", "workloads")
FILES = ("CONTRIBUTING.md", "CHANGELOG.md", "LICENSE")
# Put under a page that lists its folder's pages, so that the sidebar has them too.
PAGES_BELOW = "\n```{toctree}\n:hidden:\n:glob:\n\n*/**\n```\n"


def with_captions(page):
    """A block that is a file (see tests/docs/test_commands.py) shows the file's name."""
    return re.sub(r"^```(\w+) ([\w./-]+)$", r"```{code-block} \1\n:caption: \2", page, flags=re.MULTILINE)


def stage(source):
    """The tree's pages with what they link to; README.md is the first page and has the contents."""
    for folder in FOLDERS:
        for file in sorted((TREE / folder).rglob("*")):
            inside = file.relative_to(TREE)
            if not file.is_file() or file.suffix not in PAGES or SITE in file.parents:
                continue
            (source / inside).parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".md":
                (source / inside).write_text(with_captions(file.read_text()))
            else:
                shutil.copyfile(file, source / inside)
    for file in FILES:
        shutil.copyfile(TREE / file, source / file)
    contents = (SITE / "contents.md").read_text()
    (source / "index.md").write_text(with_captions((TREE / "README.md").read_text()) + contents)
    for folder in ("examples", "bench"):
        with open(source / folder / "README.md", "a") as page:
            page.write(PAGES_BELOW)
    shutil.copytree(SITE / "static", source / "static")


def draw(doetune, source):
    """The figures of the explanation: the report of the published study, from its own runs."""
    example, work = TREE / "examples/published-fccd", source.parent / "figures"
    shutil.rmtree(work, ignore_errors=True)
    for arguments in (("import", example / "fccd.yaml", example / "fccd_yolo_spark.csv", "-o", work),
                      ("report", work)):
        subprocess.run([doetune, *arguments], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE)
    figures = source / "docs/explanation/figures"
    figures.mkdir()
    for figure in (work / "report").glob("**/*.svg"):
        shutil.copy(figure, figures)


def bring_shared_styles(site):
    """Debian's theme imports a style from a place of Debian's web servers; a site on a disk has it inside."""
    style = site / "_static/styles/furo.css"
    shutil.copy("/usr/share/javascript/normalize.css/normalize.css", style.parent)
    style.write_text(style.read_text().replace("/javascript/normalize.css/normalize.css", "normalize.css"))


def main():
    programs, output = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    source, site = output / "source", output / "site"
    for folder in (source, site):
        shutil.rmtree(folder, ignore_errors=True)
    source.mkdir(parents=True)
    stage(source)
    generated.write(programs / "doetune", source / "docs/generated")
    draw(programs / "doetune", source)
    subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", SITE,
                    "-d", output / "doctrees", source, site], check=True,
                   env={**os.environ, "SOURCE_DATE_EPOCH": "0"})
    bring_shared_styles(site)
    print(f"{site}/index.html")


if __name__ == "__main__":
    main()

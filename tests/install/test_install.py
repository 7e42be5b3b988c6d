#!/usr/bin/env python3
"""An installed doetune works from any place: installed, moved, used, and built against.

usage: test_install.py BUILD_DIRECTORY SOURCE_TREE CMAKE
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, TREE = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
CMAKE = sys.argv[3]

STUDY = """workload: copy
settings: {device: cpu, warmup: 0.01, duration: 0.05, threads: 1}
factors:
  size: {levels: [0.0625, 0.25, 1], scale: log2, unit: MiB}
  kind: {levels: [copy, triad]}
model: linear
design: {type: full-factorial}
responses:
  bandwidth: {unit: GB/s, goal: maximize, transform: log}
run: {timeout: 1 min, telemetry: 0}
"""


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600,
                          stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="doetune-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        run(CMAKE, "--install", BUILD, "--prefix", cls.folder / "first")
        cls.prefix = cls.folder / "a second place"
        (cls.folder / "first").rename(cls.prefix)
        cls.doetune = cls.prefix / "bin/doetune"

    def test_no_file_names_the_tree_or_the_prefix_it_was_installed_to(self):
        texts = [file for file in self.prefix.rglob("*") if file.suffix in {".cmake", ".h", ".pc"}]
        self.assertGreater(len(texts), 100)
        for file in texts:
            for place in (TREE, BUILD, self.folder / "first"):
                self.assertNotIn(f"{place}/", file.read_text(), file)

    def test_library_paths_are_relative_to_the_file(self):
        programs = [*(self.prefix / "bin").iterdir(), *(self.prefix / "libexec/doetune").rglob("*")]
        programs = [file for file in programs if file.is_file()]
        self.assertGreaterEqual(len(programs), 11)
        for file in programs:
            for line in run("readelf", "-d", file).splitlines():
                if "(RPATH)" in line or "(RUNPATH)" in line:
                    for path in line[line.index("[") + 1:line.rindex("]")].split(":"):
                        self.assertTrue(path.startswith("$ORIGIN/"), f"{file}: {line}")

    def test_manual_pages_and_completions_are_where_shells_look(self):
        for place in ("man/man1/doetune.1", "bash-completion/completions/doetune",
                      "zsh/vendor-completions/_doetune", "fish/vendor_completions.d/doetune.fish"):
            self.assertIn("doetune", (self.prefix / "share" / place).read_text(), place)

    def test_a_study_of_a_bundled_workload(self):
        listed = json.loads(run(self.doetune, "workloads", "--json"))
        self.assertEqual({workload["name"] for workload in listed["workloads"]},
                         {file.name for file in (self.prefix / "libexec/doetune/workloads").iterdir()})
        study = self.folder / "study"
        study.mkdir()
        (study / "copies.yaml").write_text(STUDY)
        # Nothing but the moved tree: no other doetune in PATH, no place of the workloads given.
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(study)}
        for arguments in (("plan", "copies.yaml"), ("run",), ("report",)):
            run(self.doetune, *arguments, cwd=study, env=environment)
        status = json.loads(run(self.doetune, "status", "--json", cwd=study, env=environment))
        self.assertEqual((status["completed"], status["remaining"]), (6, 0))
        self.assertTrue((study / "copies/report/report.html").exists())

    def test_a_program_is_built_against_it(self):
        build = self.folder / "example"
        run(CMAKE, "-S", TREE / "examples/cpp-library", "-B", build,
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        cache = (build / "CMakeCache.txt").read_text()
        self.assertIn(f"doetune_DIR:PATH={self.prefix}/", cache)
        run(CMAKE, "--build", build)
        # The best of the formula in main.cpp is 900 at 6 and 8, with a ripple of 3 in place of noise.
        best = run(build / "tune-a-function").splitlines()[-1]
        self.assertRegex(best, r"^best: 6 workers, wait (7\.5|8|8\.5) ms: (89[7-9]|90[0-3])\.")

        # search.cpp finds the top of its formula, where memory does not suffice for a quarter of it.
        self.assertEqual(run(build / "search").splitlines()[-1], "best: 6 workers, batch 8")

    def test_the_headers_of_all_contracts_are_there_with_what_they_include(self):
        include = self.prefix / "include/doetune"
        modules = ("base", "doe", "surfaces", "study", "analysis", "tuning", "runner/*", "reports/*")
        headers = [file.relative_to(include).as_posix() for module in modules
                   for file in sorted(include.glob(f"{module}/*.h"))]
        self.assertGreater(len(headers), 60)
        source = "".join(f'#include "{header}"\n' for header in headers)
        run("c++", "-std=c++20", "-fsyntax-only", "-x", "c++", "-I", include,
            "-isystem", "/usr/include/eigen3", self.write("headers.cpp", source))

    def write(self, name, text):
        file = self.folder / name
        file.write_text(text)
        return file


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

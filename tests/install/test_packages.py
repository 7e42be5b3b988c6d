#!/usr/bin/env python3
"""The packages: each has what it promises, and asks for nothing that a machine without a GPU lacks.

usage: test_packages.py BUILD_DIRECTORY CPACK SOURCE_TREE
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

BUILD, TREE = (pathlib.Path(argument).resolve() for argument in (sys.argv[1], sys.argv[3]))
CPACK = sys.argv[2]
# What every machine has: the C library and the loader.
OF_THE_MACHINE = re.compile(r"^(/lib64/)?(ld-linux|linux-vdso|lib(c|m|dl|rt|util|pthread|resolv)\.so)")


def output(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="doetune-packages-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name).resolve()
        output(CPACK, "--config", BUILD / "CPackConfig.cmake", "-B", cls.folder)
        cls.debs = {output("dpkg-deb", "-f", deb, "Package").strip(): deb
                    for deb in cls.folder.glob("*.deb")}
        cls.with_cuda = (BUILD / "bin/libdoetune_cuda.so").exists()
        cls.with_mpi = (BUILD / "bin/libdoetune_mpi.so").exists()

    def files_of(self, package):
        listed = output("dpkg-deb", "-c", self.debs[package])
        return {line.split()[5].removeprefix("./") for line in listed.splitlines()}

    def test_each_package_has_its_part(self):
        self.assertEqual(set(self.debs), {"doetune", "libdoetune-dev"} |
                         ({"doetune-cuda"} if self.with_cuda else set()) |
                         ({"doetune-mpi"} if self.with_mpi else set()))
        program = self.files_of("doetune")
        self.assertLessEqual({"usr/bin/doetune", "usr/bin/doetune-attempt"}, program)
        for workload in (BUILD / "bin/workloads").iterdir():
            self.assertIn(f"usr/libexec/doetune/workloads/{workload.name}", program)
        self.assertLessEqual({"usr/share/man/man1/doetune.1.gz",
                              "usr/share/bash-completion/completions/doetune"}, program)
        self.assertIn("usr/lib/cmake/doetune/doetune-config.cmake", self.files_of("libdoetune-dev"))
        libraries = [file for file in program if file.endswith((".h", ".a", ".so"))]
        self.assertEqual(libraries, ["usr/libexec/doetune/libdoetune_spark.so"])  # which Spark's Python opens

    def test_dependencies_are_debians_and_none_is_of_a_gpu(self):
        for package, deb in self.debs.items():
            depends = output("dpkg-deb", "-f", deb, "Depends")
            self.assertRegex(depends, r"\blibc6\b|\blibeigen3-dev\b")
            self.assertNotRegex(depends, r"(?i)cuda|cudnn|cublas|nccl|nvidia", package)

    def test_each_package_has_the_programs_version_its_changes_and_its_licence(self):
        version = output(BUILD / "bin/doetune", "--version").split()[1]
        self.assertIn(f"\n## {version} - ", (TREE / "CHANGELOG.md").read_text())
        for package, deb in self.debs.items():
            self.assertEqual(output("dpkg-deb", "-f", deb, "Version").strip(), version, package)
            unpacked = self.folder / "unpacked" / package
            unpacked.mkdir(parents=True)
            output("dpkg-deb", "-x", deb, unpacked)
            documents = unpacked / "usr/share/doc" / package
            self.assertEqual((documents / "CHANGELOG.md").read_text(),
                             (TREE / "CHANGELOG.md").read_text())
            # Debian policy 12.5: the text of a common licence is referred to, not packaged.
            self.assertIn("/usr/share/common-licenses/Apache-2.0",
                          (documents / "copyright").read_text())
            self.assertFalse((documents / "LICENSE").exists(), package)

    def test_the_tarball_has_the_text_of_the_licence(self):
        with tarfile.open(next(self.folder.glob("*.tar.gz"))) as archive:
            root = archive.getnames()[0].split("/")[0]
            licence = archive.extractfile(f"{root}/share/doc/doetune/LICENSE").read()
        self.assertEqual(licence, (TREE / "LICENSE").read_bytes())

    def test_the_tarball_needs_the_c_library_alone(self):
        with tarfile.open(next(self.folder.glob("*.tar.gz"))) as archive:
            archive.extractall(self.folder)
        root = next(self.folder.glob("doetune-*-linux-*/"))
        moved = root.rename(self.folder / "moved")
        programs = [*(moved / "bin").iterdir(), *(moved / "libexec/doetune/workloads").iterdir()]
        self.assertGreaterEqual(len(programs), 11)
        for program in programs:
            for line in output("ldd", program).splitlines():
                name, _, place = line.strip().partition(" => ")
                if not OF_THE_MACHINE.match(name):
                    library = pathlib.Path(place.split(" (")[0]).resolve()
                    self.assertEqual(library.parent, moved / "lib/doetune", f"{program}: {line}")


if __name__ == "__main__":
    for tool in ("dpkg-deb", "dpkg-shlibdeps", "file"):
        if shutil.which(tool) is None:
            print(f"skipped: there is no {tool}")
            sys.exit(77)
    unittest.main(argv=sys.argv[:1])

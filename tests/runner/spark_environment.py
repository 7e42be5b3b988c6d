"""Apache Spark for tests: installed once beside the programs, and quick to start."""

import collections
import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77  # the exit code that ctest counts as skipped
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # compiled for a short life
QUICK_OPTIONS = [argument for setting in (
    "spark.executor.memory=512m", "spark.driver.memory=512m", "spark.ui.enabled=false",
    f"spark.driver.extraJavaOptions={QUICK}", f"spark.executor.extraJavaOptions={QUICK}")
    for argument in ("--conf", setting)]


Process = collections.namedtuple("Process", "pid ppid pgid sid arguments")


def processes():
    """All processes of this machine."""
    listing = subprocess.run(["ps", "-eo", "pid=,ppid=,pgid=,sid=,args="], text=True, stdout=subprocess.PIPE).stdout
    rows = [line.split(None, 4) for line in listing.splitlines()]
    return [Process(*map(int, row[:4]), row[4]) for row in rows]


def processes_of(word, directory):
    """Processes whose command line has the word, started for a study below the directory."""
    everything = processes()
    groups = {process.pgid for process in everything if str(directory) in process.arguments}
    return [process.pid for process in everything if process.pgid in groups and word in process.arguments]


def install_spark(program):
    """PySpark in a virtual environment beside the program's folder, first in PATH; or skips the tests."""
    if not shutil.which("java"):
        print("skipped: Spark needs Java (Debian: openjdk-17-jre-headless)")
        sys.exit(SKIPPED)
    environment = pathlib.Path(program).parent.parent / "spark-environment"
    if not (environment / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        installed = subprocess.run([environment / "bin/python3", "-m", "pip", "install", "-q",
                                    "pyspark==3.5.1", "pyarrow==26.0.1", "pandas==2.3.3"], text=True, capture_output=True)
        if installed.returncode != 0:
            print(f"skipped: Spark cannot be installed here: {installed.stderr[-300:]}")
            sys.exit(SKIPPED)
        (environment / "installed").touch()
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PATH"] = f"{environment / 'bin'}:{os.environ['PATH']}"

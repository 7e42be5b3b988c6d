"""Apache Spark for tests: installed once beside the programs, and quick to start."""

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


def processes_of(word, directory):
    """Processes whose command line has the word, started for a study below the directory."""
    listing = subprocess.run(["ps", "-eo", "pid,pgid,args"], text=True, stdout=subprocess.PIPE).stdout
    lines = [line.split(None, 2) for line in listing.splitlines()[1:]]
    groups = {line[1] for line in lines if str(directory) in line[2]}
    return [int(line[0]) for line in lines if line[1] in groups and word in line[2]]


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

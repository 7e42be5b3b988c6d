#!/usr/bin/env python3
"""How long `doetune report` takes for the 20 published runs, the whole command as a user types it.

usage: bench_report.py DOETUNE [REPETITIONS]
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "published-fccd"


def seconds(command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    doetune = pathlib.Path(sys.argv[1]).resolve()
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory(prefix="doetune-bench-") as folder:
        study = pathlib.Path(folder) / "study"
        seconds([doetune, "import", EXAMPLE / "fccd.yaml", EXAMPLE / "fccd_yolo_spark.csv",
                 "-o", study])
        times = [seconds([doetune, "report", study]) for _ in range(repetitions)]
        files = list((study / "report").iterdir())
        page = (study / "report" / "report.html").stat().st_size
    print(f"doetune report, 20 runs: median {statistics.median(times) * 1000:.0f} ms, "
          f"fastest {min(times) * 1000:.0f} ms, slowest {max(times) * 1000:.0f} ms "
          f"of {repetitions}; {len(files)} files, report.html {page / 1e6:.2f} MB")


if __name__ == "__main__":
    main()

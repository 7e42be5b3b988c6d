"""What doetune adds to Slurm: bench_slurm.py DOETUNE [RUNS].

On a cluster of this script's own (two nodes of eight processors, fake), RUNS jobs of a program that
only writes its result: by plain sbatch, then by doetune's launcher slurm; as many steps by plain srun in
one allocation, then by slurm-pilot. Each is repeated, best of three.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

CLUSTER_SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tests/runner/slurm_cluster.sh"
AT_ONCE = 8


def cluster(directory, *arguments):
    return subprocess.run([CLUSTER_SCRIPT, directory, *arguments], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def wait_until_empty():
    while subprocess.run(["squeue", "-h"], stdout=subprocess.PIPE, check=True).stdout:
        time.sleep(0.05)


def program(work, run):
    return f'echo "{{\\"y\\": 1}}" >{work}/plain.{run}'


def plain_jobs(work, runs):
    def submit(run):
        subprocess.run(["sbatch", "--parsable", "--output=/dev/null", "--time=2", "--wrap",
                        program(work, run)], check=True, stdout=subprocess.DEVNULL)

    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(submit, range(runs)))
    while sum(1 for _ in work.glob("plain.*")) < runs:
        time.sleep(0.05)
    return time.monotonic() - began


def plain_steps(work, runs):
    def step(run):
        subprocess.run(["srun", "--exact", "-n1", "-c1", "--mpi=none", "sh", "-c",
                        program(work, run)], check=True)

    # As doetune does it: nodes first, then steps in them.
    began = time.monotonic()
    job = subprocess.run(["sbatch", "--parsable", "--output=/dev/null", f"-n{AT_ONCE}", "-N1", "--time=5",
                          "--wrap", "sleep 300"], check=True, text=True, stdout=subprocess.PIPE)
    os.environ["SLURM_JOB_ID"] = job.stdout.strip()
    while "R" not in subprocess.run(["squeue", "-h", "-o", "%t"], text=True, check=True,
                                    stdout=subprocess.PIPE).stdout.split():
        time.sleep(0.05)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(step, range(runs)))
    taken = time.monotonic() - began
    subprocess.run(["scancel", os.environ.pop("SLURM_JOB_ID")], check=True)
    return taken


def by_doetune(doetune, work, runs, run_section):
    study = {
        "study": "noop",
        "command": ["sh", "-c", 'echo "{{\\"y\\": 1}}" >"$1"', "noop", "{result}"],
        "factors": {"x": {"low": 0, "high": 1}},
        "model": "linear",
        "design": {"type": "full-factorial", "replicates": runs // 2},
        "responses": {"y": {"goal": "maximize"}},
        "run": run_section,
    }
    (work / "noop.yaml").write_text(json.dumps(study))
    subprocess.run([doetune, "plan", "noop.yaml"], cwd=work, check=True, stdout=subprocess.DEVNULL)
    began = time.monotonic()
    subprocess.run([doetune, "run", "noop"], cwd=work, check=True, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def best_of_three(measure):
    times = []
    for _ in range(3):
        with tempfile.TemporaryDirectory(prefix="dt-bench-") as work:
            wait_until_empty()
            times.append(measure(pathlib.Path(work)))
    return min(times)


def main():
    doetune = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    slurm = {"launcher": "slurm", "slurm": {"queued": runs}}
    pilot = {"launcher": "slurm-pilot", "jobs": AT_ONCE}
    with tempfile.TemporaryDirectory(prefix="dt-slurm-") as directory:
        os.environ["SLURM_CONF"] = cluster(directory, "start", "2")
        try:
            print(f"| {runs} runs | s | ms a run |\n| --- | --- | --- |")
            for what, measure in (
                    ("jobs, plain sbatch", lambda work: plain_jobs(work, runs)),
                    ("jobs, doetune", lambda work: by_doetune(doetune, work, runs, slurm)),
                    (f"steps, plain srun, {AT_ONCE} at once", lambda work: plain_steps(work, runs)),
                    (f"steps, doetune, {AT_ONCE} at once",
                     lambda work: by_doetune(doetune, work, runs, pilot))):
                seconds = best_of_three(measure)
                print(f"| {what} | {seconds:.2f} | {1000 * seconds / runs:.0f} |", flush=True)
        finally:
            cluster(directory, "stop")


if __name__ == "__main__":
    main()

"""Studies that the doetune program executes in tests of launchers: made, run, killed, checked."""

import collections
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

SKIPPED = 77  # the exit code that ctest counts as skipped


def processes_under(directory):
    """Programs of attempts below a directory that still run, known by their environment."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            state = (process / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if b"DOETUNE_RESULT=" + os.fsencode(directory) in environment and state not in "ZX":
            found.append(int(process.name))
    return found


def servers_under(directory):
    """Processes of servers, and of what they started, that still run: all know their port."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (b"DOETUNE_PORT=" in (process / "environ").read_bytes()
                    and (process / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
                    and os.readlink(process / "cwd") == os.fspath(directory)):
                found.append(int(process.name))
        except OSError:
            continue
    return found


# A server with a worker. It notes each start: its instances, port and node. Three instances do not
# fit into memory. Where there is a file `dying`, it ends at the second request.
SERVER = """
import os, socket, sys, time
instances, port = sys.argv[1], int(sys.argv[2])
with open("starts", "a") as file:
    file.write(f"{instances} {port} {os.environ.get('SLURMD_NODENAME', '')}\\n")
if instances == "3":
    sys.exit("CUDA out of memory")
if os.fork() == 0:
    os.setsid()
    time.sleep(600)
listener = socket.create_server(("127.0.0.1", port))
requests = 0
while True:
    connection = listener.accept()[0]
    requests += connection.recv(1000).startswith(b"GET /work")
    if requests == 2 and os.path.exists("dying"):
        os.remove("dying")
        sys.exit("worker 3 lost")
    connection.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\n")
    connection.close()
"""

# What a run does first: it asks the server, on the server's node.
ASK = ('set -e; exec 3<>"/dev/tcp/$DOETUNE_HOST/$DOETUNE_PORT"; printf "GET /work" >&3; '
       'read -r answer <&3; grep -q " $DOETUNE_PORT $SLURMD_NODENAME\$" starts')


class Study:
    """A study of so many runs; each tells of its execution, sleeps and writes its result."""

    def __init__(self, doetune, directory, runs, run_section, seconds=0.1, script="", servers=False):
        self.doetune = doetune
        self.path = pathlib.Path(directory)
        self.path.mkdir(parents=True)
        self.runs = runs
        self.executions = self.path / "executions"
        command = (f'echo "$1 $2" >>"{self.executions}"; {script or ":"}; sleep {seconds}; '
                   'echo "{{\\"y\\": $1}}" >"$3"')
        section = {"timeout": "1 min", "stop_grace": "1 s", "retries": {"failed": 0, "lost": 10}}
        section.update(run_section)
        study = {
            "study": "it's 50%j",
            "command": ["sh", "-c", command, "workload", "{run}", "{attempt}", "{result}"],
            "factors": {"x": {"low": 0, "high": 1}},
            "model": "linear",
            "design": {"type": "full-factorial", "replicates": (runs + 1) // 2},
            "responses": {"y": {"goal": "maximize"}},
            "run": section,
        }
        if servers:
            (self.path / "server.py").write_text(SERVER)
            study["command"][0] = "bash"
            section["retries"]["failed"] = 2
            study["factors"]["instances"] = {"levels": [1, 2, 3], "hard_to_change": True}
            study["model"] = ["instances", "x"]
            study["design"] = {"type": "d-optimal", "runs": runs, "whole_plots": 3}
            section.update({"set_up": ["python3", "server.py", "{instances}", "{port}"],
                            "ready": "http://{host}:{port}/", "telemetry": 0})
        (self.path / "study.yaml").write_text(json.dumps(study))
        self.directory = self.path / "the study's 50%j"
        self.started = []
        planned = self.call("plan", "study.yaml", "-o", self.directory.name)
        assert planned.returncode == 0, planned.stderr

    def add_tools(self):
        """A folder for a stage, with a program that tells where a run is executed."""
        (self.path / "tools").mkdir()
        (self.path / "tools/tell").write_text("#!/bin/sh\npwd; dirname $DOETUNE_RESULT\n")
        (self.path / "tools/tell").chmod(0o755)

    def edit(self, change):
        """Changes what the study directory says."""
        file = self.directory / "study.yaml"
        study = json.loads(file.read_text())
        change(study)
        file.write_text(json.dumps(study))

    def call(self, *arguments):
        return subprocess.run([self.doetune, *arguments], cwd=self.path, text=True,
                              capture_output=True, timeout=300)

    def start(self, *arguments, env=None):
        with open(self.path / "output", "a") as output:
            doetune = subprocess.Popen([self.doetune, "run", self.directory.name, *arguments],
                                       cwd=self.path, stdout=output, stderr=output, env=env)
        self.started.append(doetune)
        return doetune

    def end(self):
        """Leaves no doetune behind, should the test have failed."""
        for doetune in self.started:
            doetune.kill()
            doetune.wait()

    def run(self, timeout=300):
        """Returns doetune's exit code."""
        doetune = self.start()
        try:
            return doetune.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"doetune did not end; it said:\n{self.words()}") from None

    def words(self):
        return (self.path / "output").read_text()

    def records(self):
        journal = self.directory / "runs.jsonl"
        if not journal.exists():
            return []
        lines = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
        return [line for line in lines if "sheet" not in line]

    def completed(self):
        return [record for record in self.records() if record["status"] == "completed"]

    def wait_for(self, holds, timeout=300):
        end = time.monotonic() + timeout
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"nothing came of it; doetune said:\n{self.words()}")
            time.sleep(0.02)

    def executed(self):
        """Attempts of each run that began."""
        attempts = collections.defaultdict(list)
        if self.executions.exists():
            for line in self.executions.read_text().splitlines():
                run, attempt = line.split()
                attempts[int(run)].append(int(attempt))
        return attempts


class ClusterTest(unittest.TestCase):
    def make_study(self, *arguments, **settings):
        study = Study(*arguments, **settings)
        self.addCleanup(study.end)
        return study

    def check_complete(self, study):
        """Every run is completed exactly once, and was not executed again after that."""
        completed = {}
        for record in study.completed():
            self.assertNotIn(record["run"], completed, "completed twice")
            completed[record["run"]] = record["attempt"]
            self.assertEqual(record["responses"]["y"], record["run"])
        self.assertEqual(len(completed), study.runs, study.words())
        for run, attempts in study.executed().items():
            self.assertEqual(len(attempts), len(set(attempts)), f"run {run}: an attempt ran twice")
            self.assertLessEqual(max(attempts), completed[run], f"run {run}: after it was completed")
        self.assertEqual(processes_under(study.directory), [])

    def check_served(self, study):
        """Whole plots that fit into memory are complete, the others infeasible; nothing is left."""
        status = {record["run"]: record for record in study.records()}
        self.assertEqual(len(status), study.runs, study.words())
        for record in status.values():
            large = record["settings"]["instances"] == "3"
            self.assertEqual(record["status"], "infeasible" if large else "completed", record)
        completed = collections.Counter(record["run"] for record in study.completed())
        self.assertEqual(set(completed.values()), {1})
        self.assertTrue(any("set_up_s" in record for record in study.completed()))
        reasons = [record.get("reason", "") for record in study.records()]
        # Once, or for each of the whole plots with these settings that were set up at the same time.
        executed = [reason for reason in reasons if "not executed" not in reason]
        self.assertIn(sum("out of memory" in reason for reason in executed), (1, 2), reasons)
        study.wait_for(lambda: not servers_under(study.path))

    def stop(self, study):
        """Starts the study, and presses Ctrl-C twice when two runs have begun."""
        doetune = study.start()
        study.wait_for(lambda: len(study.executed()) >= 2)
        doetune.send_signal(signal.SIGINT)
        time.sleep(0.2)
        doetune.send_signal(signal.SIGINT)
        self.assertEqual(doetune.wait(300), 130, study.words())

    def check_runs_end_with_doetune(self, study, hold, stage):
        """Runs in the stage, which sleep while there is a file `hold`, end soon after doetune was killed; the next
        doetune makes them again."""
        hold.touch()
        doetune = study.start()
        study.wait_for(lambda: len(study.executed()) == 2)
        self.assertTrue(processes_under(stage))
        doetune.send_signal(signal.SIGKILL)
        doetune.wait()
        study.wait_for(lambda: not processes_under(stage))
        hold.unlink()
        self.assertEqual(study.run(), 0, study.words())
        self.check_complete(study)

    def run_under_fire(self, study, kills, random, between=(0.1, 1.5), check=None):
        """Kills doetune at random moments, then lets it finish."""
        acknowledged = []
        for _ in range(kills):
            doetune = study.start()
            time.sleep(random.uniform(*between))
            doetune.send_signal(signal.SIGKILL)
            doetune.wait()
            now = [(record["run"], record["attempt"]) for record in study.completed()]
            self.assertEqual(now[:len(acknowledged)], acknowledged)
            acknowledged = now
        self.assertEqual(study.run(), 0, study.words())
        (check or self.check_complete)(study)

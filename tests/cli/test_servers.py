#!/usr/bin/env python3
"""Whole plots with a server: set up once, used by each run, torn down; and what may go wrong.

usage: test_servers.py DOETUNE SOURCE_TREE
"""
import collections
import json
import os
import signal
import socket
import subprocess
import time

from cli_case import CliCase, DOETUNE, main

# A server of the given number of instances; 8 of them do not fit into memory. Each start adds a line
# to `starts`. The files deaf, broken and dying make it never answer, never start, or end at the
# second request.
SERVER = """#!/usr/bin/env python3
import http.server, os, signal, sys, time
instances, port = int(sys.argv[1]), int(sys.argv[2])
with open("starts", "a") as file:
    file.write(f"{os.getpid()} {port} {instances}\\n")
if instances == 8:
    sys.exit("RuntimeError: CUDA out of memory")
if os.path.exists("broken"):
    sys.exit("no such model")
if os.path.exists("deaf"):
    time.sleep(60)
if os.fork() == 0:  # a worker, which must not be left behind either
    time.sleep(600)
time.sleep(float(os.environ.get("START", 0.1)))
requests = 0
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global requests
        if self.path == "/work":
            requests += 1
            until = time.process_time() + float(os.environ.get("WORK", 0))
            while time.process_time() < until:
                pass
            if os.path.exists("dying") and requests == 2:
                os.remove("dying")
                print("worker 3 lost", file=sys.stderr, flush=True)
                os._exit(9)
        self.send_response(200 if self.path in ("/work", "/health") else 503)
        self.end_headers()
        self.wfile.write(str(instances).encode())
    def log_message(self, *arguments):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""

# The load: it asks the server once.
LOAD = """#!/usr/bin/env python3
import json, os, random, sys, time, urllib.request
batch, host, port = float(sys.argv[1]), sys.argv[2], sys.argv[3]
server = json.load(open(os.environ["DOETUNE_REQUEST"]))["server"]
assert (server["host"], str(server["port"])) == (host, port) == (os.environ["DOETUNE_HOST"], os.environ["DOETUNE_PORT"])
instances = float(urllib.request.urlopen(f"http://{host}:{port}/work").read())
time.sleep(float(os.environ.get("SLOW", 0)))
error = random.Random(f"{batch} {port}").gauss(0, 2)
print(json.dumps({"throughput": 100 * instances + 10 * batch + error}))
"""

STUDY = """study: tune
seed: 3
command: [./bench, "{batch}", "{host}", "{port}"]
factors:
  instances: {levels: [1, 2, 4], hard_to_change: true}
  batch: {low: 1, high: 16}
model: ["1", instances, batch]
design: {type: d-optimal, runs: 8, whole_plots: 4}
responses:
  throughput: {unit: images/s, goal: maximize}
run:
  set_up: [./server, "{instances}", "{port}"]
  ready: "http://{host}:{port}/health"
  ready_within: 30 s
  retries: 1
  telemetry: 0
"""


class Servers(CliCase):
    study, program = STUDY, LOAD

    def setUp(self):
        super().setUp()
        self.write_program("server", SERVER)

    def starts(self):
        file = self.directory / "starts"
        return [line.split() for line in file.read_text().splitlines()] if file.exists() else []

    def check_no_process_is_left(self):
        for process in os.listdir("/proc"):
            if not process.isdigit():
                continue
            try:
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    command = file.read()
                place = os.readlink(f"/proc/{process}/cwd")
            except OSError:
                continue
            self.assertFalse(place == str(self.directory) and b"server" in command, command)

    def planned(self, study=STUDY):
        self.write("tune.yaml", study)
        self.doetune("plan", "tune.yaml")

    def run_all(self, expect=0, **env):
        done = self.doetune("run", "tune", expect=expect, env=env)
        self.check_no_process_is_left()
        return done

    def test_a_search_sets_up_a_server_for_each_whole_plot(self):
        """Most for the load is 4 instances and a batch of 16; a server has up to four runs in a row."""
        plain = [line for line in STUDY.splitlines() if not line.startswith(("model", "design"))]
        self.write("tune.yaml", "\n".join(plain) + "\n")
        # Times are measured: confirmation runs may disagree with what a disturbed run was, code 8.
        self.doetune("tune", "tune.yaml", "--budget", 18, expect=(0, 8))
        self.check_no_process_is_left()
        rows = self.rows()
        self.assertEqual({row["status"] for row in rows}, {"completed"})
        searched = [row for row in rows if row["point_type"] in ("space-filling", "proposed")]
        plots = collections.OrderedDict((row["whole_plot"], row["instances"]) for row in rows)
        self.assertEqual([start[2] for start in self.starts()], list(plots.values()))
        self.assertLess(len({row["whole_plot"] for row in searched}), len(searched) * 2 / 3)
        optimum = json.loads((self.directory / "tune/optimum.json").read_text())
        self.assertEqual(optimum["settings"]["instances"], 4)
        self.assertGreater(optimum["settings"]["batch"], 15)

    def test_each_whole_plot_has_one_server(self):
        self.planned()
        dry = self.doetune("run", "tune", "--dry-run").stdout
        self.assertEqual(dry.count("set up: "), 4)
        self.assertIn("{port}", dry)
        self.run_all()
        self.assertEqual(len(self.starts()), 4)
        rows = self.rows()
        self.assertEqual({row["status"] for row in rows}, {"completed"})
        # In the order of the plan, which randomises the plots and the runs within them.
        by_start = sorted(rows, key=lambda row: row["start"])
        self.assertEqual([row["run"] for row in by_start], [row["run"] for row in rows])
        self.assertEqual([start[2] for start in self.starts()],
                         list(collections.OrderedDict((row["whole_plot"], row["instances"]) for row in rows).values()))
        # The time to set it up is that of the first run of each plot, and not part of its duration.
        times = [record["set_up_s"] for record in self.records() if "set_up_s" in record]
        self.assertEqual(len(times), 4)
        self.assertTrue(all(time > 0.1 for time in times))
        self.assertIn("whole plots", self.doetune("fit", "tune").stdout)
        self.check_costs_of_the_next_plan(times)

    def test_what_a_server_uses_counts_for_the_run(self):
        """Three seconds of processor time for each request are the run's own, and disturb nobody."""
        measured = STUDY.replace("telemetry: 0", "telemetry: 10").replace("responses:", "responses:\n  cores_used: {}")
        self.planned(measured.replace("[1, 2, 4]", "[1, 2]").replace("runs: 8, whole_plots: 4", "runs: 4, whole_plots: 2"))
        self.run_all(WORK="3")
        for record in self.records():
            used_s = record["responses"]["cores_used"] * record["duration_s"]
            self.assertGreater(used_s, 2, record)  # by readings a second apart
            self.assertLess(record["responses"]["cores_used"], 1.5, record)  # nor twice

    def check_costs_of_the_next_plan(self, set_up_times):
        # A budget of five set-ups and twelve runs, in the times that the records have.
        change = sum(set_up_times) / len(set_up_times)
        run = sum(record["duration_s"] for record in self.records()) / 8
        budget = f"budget: {5 * change + 12.5 * run:.6f} s"
        self.write("next.yaml", STUDY.replace("runs: 8, whole_plots: 4", budget + ", whole_plots: 5"))
        self.assertIn("set run_cost", self.error_of("plan", "next.yaml", expect=3))
        planned = self.doetune("plan", "next.yaml", "--costs-of", "tune").stdout
        self.assertIn("d-optimal with 12 runs", planned)
        self.assertRegex(planned, r"as measured in tune: run_cost .* 8 runs; change_cost .* 4 servers")
        self.assertIn("no run has completed", self.error_of("plan", "next.yaml", "--costs-of", "next", expect=3))

    def test_several_whole_plots_at_a_time(self):
        self.planned()
        self.doetune("run", "tune", "--jobs", 2)
        self.check_no_process_is_left()
        self.assertEqual(len(self.starts()), 4)
        self.assertEqual(len({start[1] for start in self.starts()[:2]}), 2)  # ports

    def test_without_hard_to_change_factors_each_run_has_a_server(self):
        self.planned(STUDY.replace(", hard_to_change: true", "").replace(", whole_plots: 4", ""))
        self.run_all()
        self.assertEqual(len(self.starts()), 8)

    def test_settings_of_which_the_server_cannot_run(self):
        self.planned(STUDY.replace("[1, 2, 4]", "[1, 8]").replace("runs: 8, whole_plots: 4", "runs: 16, whole_plots: 8"))
        self.run_all()
        big = [row for row in self.rows() if row["instances"] == "8"]
        self.assertGreater(len({row["whole_plot"] for row in big}), 1)
        self.assertEqual({row["status"] for row in big}, {"infeasible"})
        self.assertEqual(sum(start[2] == "8" for start in self.starts()), 1)
        reasons = [record["reason"] for record in self.records() if record["status"] == "infeasible"]
        self.assertEqual(sum("not executed" in reason for reason in reasons), len(reasons) - 1)
        self.assertTrue(all("out of memory" in reason for reason in reasons), reasons)

    def test_a_server_that_is_to_be_set_up_again_when_another_shows_that_it_cannot_run(self):
        once = 'if instances == 8 and not os.path.exists("tried"):\n    open("tried", "w").close()\n    sys.exit("no such model")\n'
        self.write_program("server", SERVER.replace("if instances == 8:", once + "if instances == 8:"))
        self.planned(STUDY.replace("[1, 2, 4]", "[1, 8]").replace("runs: 8, whole_plots: 4", "runs: 16, whole_plots: 8"))
        self.run_all()
        big = [row["status"] for row in self.rows() if row["instances"] == "8"]
        self.assertEqual(set(big), {"infeasible"})
        self.assertIn("failed", [record["status"] for record in self.records()])

    def test_a_server_that_never_starts(self):
        self.planned()
        self.write("broken", "")
        done = self.run_all(expect=5)
        self.assertIn("first 3 runs failed in the same way", done.stderr)
        self.assertIn("no such model", done.stderr)
        self.assertLessEqual(len(self.starts()), 8)
        os.remove(self.directory / "broken")
        self.run_all()
        self.assertEqual({row["status"] for row in self.rows()}, {"completed"})

    def test_a_server_that_is_never_ready(self):
        self.planned(STUDY.replace("ready_within: 30 s", "ready_within: 2 s").replace("retries: 1", "retries: 0"))
        self.write("deaf", "")
        self.run_all(expect=5)
        first = self.records()[0]
        self.assertEqual(first["status"], "timed_out")
        self.assertIn("not ready within 2 s: Connection refused", first["reason"])
        self.assertTrue(first["in_set_up"])

    def test_a_server_at_the_port_of_another_is_never_mistaken_for_it(self):
        # All want the same port. While the second starts, the first answers there.
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = str(probe.getsockname()[1])
        self.write_program("bench", LOAD.replace("assert (", "assert True or ("))
        self.planned(STUDY.replace("{port}", port).replace("runs: 8, whole_plots: 4", "runs: 4, whole_plots: 2")
                     .replace("retries: 1", "retries: 30\n  jobs: 2"))
        self.run_all(START="0.5", SLOW="0.3")
        for row in self.rows():
            of_its_server = 100 * float(row["instances"]) + 10 * float(row["batch"])
            self.assertLess(abs(float(row["throughput"]) - of_its_server), 20)

    def test_a_server_that_dies_is_set_up_again(self):
        self.planned()
        self.write("dying", "")
        self.run_all()
        self.assertEqual({row["status"] for row in self.rows()}, {"completed"})
        self.assertEqual(len(self.starts()), 5)
        failed = [record for record in self.records() if record["status"] == "failed"]
        self.assertEqual(len(failed), 1)
        self.assertIn("its server ended: exit code 9: worker 3 lost", failed[0]["reason"])

    def test_killed_at_any_time_nothing_is_left_or_lost(self):
        self.planned()
        for pause in (0.3, 0.5, 0.7, 0.9, 1.2):
            process = subprocess.Popen([str(DOETUNE), "run", "tune"], cwd=self.directory,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       env={**os.environ, "SLOW": "0.1"})
            time.sleep(pause)
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.run_all()
        completed = collections.Counter(record["run"] for record in self.records()
                                        if record["status"] == "completed")
        self.assertEqual(completed, {run: 1 for run in range(1, 9)})

    def test_the_first_interrupt_lets_the_run_finish(self):
        self.planned()
        process = subprocess.Popen([str(DOETUNE), "run", "tune"], cwd=self.directory, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "SLOW": "1"})
        until = time.monotonic() + 30
        while time.monotonic() < until and not list(self.directory.glob("tune/runs/*/claim")):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130)
        self.check_no_process_is_left()
        self.assertEqual([record["status"] for record in self.records()], ["completed"])
        self.run_all()

    def test_a_command_tells_when_it_is_ready_and_one_ends_it(self):
        self.write_program("is-up", "#!/bin/sh\n[ -e up-$1 ] || { echo not yet >&2; exit 1; }\n")
        self.write_program("up", "#!/bin/sh\n./server \"$1\" \"$2\" & sleep 0.3; touch up-$2; wait\n")
        self.write_program("down", "#!/bin/sh\necho \"$1\" >>downs\n")
        self.planned(STUDY.replace("[./server,", "[./up,")
                     .replace('ready: "http://{host}:{port}/health"', 'ready: [./is-up, "{port}"]')
                     + '  tear_down: [./down, "{port}"]\n')
        self.run_all()
        downs = (self.directory / "downs").read_text().split()
        self.assertEqual(downs, [start[1] for start in self.starts()])

    def test_check_makes_one_run_with_its_server(self):
        done = self.doetune("check", "tune.yaml")
        self.assertIn("completed", done.stdout)
        self.assertNotIn("is not among the arguments", done.stdout)
        self.check_no_process_is_left()

    def test_mistakes_in_the_study(self):
        def error(old, new):
            self.write("wrong.yaml", STUDY.replace(old, new))
            return self.error_of("plan", "wrong.yaml", expect=3)
        self.assertRegex(error('"{instances}", "{port}"]', '"{batch}", "{port}"]'),
                         r"wrong.yaml:12:\d+: run.set_up: '{batch}' changes within a whole plot")
        self.assertIn("did you mean 'port'", error('./server, "{instances}", "{port}"', './server, "{prot}"'))
        self.assertIn("expected http://HOST:PORT/PATH", error("http://{host}:{port}/health", "localhost"))
        self.assertIn("run.ready: needs run.set_up", error('set_up: [./server, "{instances}", "{port}"]', "jobs: 1"))
        self.assertIn("server2", error("[./server,", "[./server2,"))


main()

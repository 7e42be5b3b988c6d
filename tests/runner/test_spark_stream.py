"""The workload spark-stream-inference in applications on clusters of this machine (local-cluster).

test_spark_stream.py DOETUNE. Exit code 77 where Java or Spark is missing and Spark cannot be installed.
"""

import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from spark_environment import QUICK, install_spark, processes, processes_of

# One image for every camera, so that every micro-batch has the same boxes.
SETTINGS = {"model": "tiny-yolov2", "input_size": 64, "frame_width": 64, "frame_height": 64, "source_fps": 1,
            "clip_seconds": 1, "decode_rate": 1, "channels": 4, "interval": 0.5, "batch_size": 2,
            "executors_per_gpu": 2, "confidence_threshold": 0.01, "arrival": "immediate", "warmup": 0.5,
            "duration": 0.1, "batches": 4, "device": "cpu"}


def arguments(settings):
    return [word for name, value in settings.items() for word in (f"--{name}", str(value))]


class Streams(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dt-stream-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"),
                            "TMPDIR": str(self.folder), "JAVA_TOOL_OPTIONS": QUICK}

    def result(self, process, code=0):
        out, errors = process.communicate(timeout=600)
        self.assertEqual(process.returncode, code, errors[-3000:])
        return json.loads(out.splitlines()[-1]) if code == 0 else errors

    def check_nothing_runs(self, program=None):
        """Neither in the program's session, nor what names the folder."""
        def left():
            return [process for process in processes()
                    if (program and process.sid == program.pid) or str(self.folder) in process.arguments]

        until = time.monotonic() + 180
        while left() and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(left(), [])

    def wait_for_micro_batch(self, number, process):
        until = time.monotonic() + 120
        while not any(self.folder.glob(f"spark-*/checkpoint/commits/{number}")):
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)

    def check_nothing_is_left(self, program=None):
        self.check_nothing_runs(program)
        self.assertEqual(list(self.folder.glob("spark-*")), [])


class OwnApplication(Streams):
    """Each stream starts an application of its own."""

    def start(self, program="spark-stream-inference", **changes):
        return subprocess.Popen([WORKLOADS / program, *arguments({**SETTINGS, **changes})], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment,
                                start_new_session=True)

    @staticmethod
    def executors_at_work(program):
        """Those of the program's executors that have a Python worker."""
        own = [process for process in processes() if process.sid == program.pid]
        at_work = {process.ppid for process in own if "pyspark.daemon" in process.arguments}
        return [process.pid for process in own
                if process.pid in at_work and "CoarseGrainedExecutorBackend" in process.arguments]

    def test_it_finds_what_the_stream_of_our_own_executors_does(self):
        own = self.result(self.start("stream-inference"))
        process = self.start()
        spark = self.result(process)
        self.assertGreater(own["responses"]["detections_per_image"], 0)
        self.assertEqual(spark["responses"]["detections_per_image"], own["responses"]["detections_per_image"])
        self.assertEqual(spark["notes"]["images"], 2 * spark["notes"]["micro_batches"])
        self.assertGreater(spark["responses"]["processing_time"], spark["responses"]["spark_time"])
        self.assertGreater(spark["responses"]["spark_time"], 0)
        self.assertGreater(spark["notes"]["empty_micro_batch_s"], 0)
        self.check_nothing_is_left(process)

    def test_an_executor_that_is_killed_is_replaced_and_nothing_outlives_the_program(self):
        process = self.start(batches=100000)
        self.addCleanup(process.kill)
        self.wait_for_micro_batch(8, process)
        folders = sorted(self.folder.glob("spark-*/coming/*"))
        self.assertEqual(len(folders), 4)
        os.kill(processes_of("CoarseGrainedExecutorBackend", self.folder)[0], signal.SIGKILL)
        self.wait_for_micro_batch(14, process)
        # A query ends where a folder is gone that it has just found.
        self.assertEqual(sorted(self.folder.glob("spark-*/coming/*")), folders)
        process.kill()
        process.communicate()
        self.check_nothing_runs(process)

    def test_executors_that_die_in_each_micro_batch_end_the_stream(self):
        process = self.start(batches=100000)
        self.addCleanup(process.kill)
        self.wait_for_micro_batch(8, process)
        until = time.monotonic() + 200
        while process.poll() is None and time.monotonic() < until:
            for executor in self.executors_at_work(process):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(executor, signal.SIGKILL)
            time.sleep(0.2)
        self.assertRegex(self.result(process, code=1).splitlines()[-1], "Spark: Lost task .* executor .* exited")
        self.check_nothing_is_left(process)

    def test_a_master_that_is_not_there(self):
        errors = self.result(self.start(master="spark://127.0.0.1:9"), code=1)
        self.assertIn("the master spark://127.0.0.1:9 cannot be reached", errors.splitlines()[-1])

    def test_no_spark(self):
        errors = self.result(self.start(submit="/nowhere/spark-submit"), code=1)
        self.assertIn("The workload needs Spark", errors)


class ServedApplication(Streams):
    """Streams share an application that was started before."""

    @staticmethod
    def free_port():
        """None that the system takes for connections while the application starts."""
        while True:
            port = random.randrange(20000, 30000)
            with socket.socket() as probe, contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port

    def serve(self, executors):
        """An application that will listen: its process, and its port."""
        port = self.free_port()
        server = subprocess.Popen([WORKLOADS / "spark-stream-inference", "--serve", f"127.0.0.1:{port}",
                                   "--executors_per_gpu", str(executors)],
                                  stderr=(self.folder / "server").open("w"), env=self.environment,
                                  start_new_session=True)
        self.addCleanup(self.kill, server)
        return server, port

    @staticmethod
    def kill(server):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()

    def ask(self, port, user=None):
        """What the application answers to a question without content; an error where it does not listen."""
        command = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo '{{}}' >&3 && cat <&3"
        return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=600, user=user)

    def wait_until_it_listens(self, server, port):
        until = time.monotonic() + 300
        while self.ask(port).returncode != 0:
            self.assertIsNone(server.poll(), (self.folder / "server").read_text())
            self.assertLess(time.monotonic(), until)
            time.sleep(0.3)

    def read(self, port, **changes):
        """The process that reads a stream of the application at the port, as `doetune run` starts it."""
        request = {"settings": {**SETTINGS, **changes}, "server": {"host": "127.0.0.1", "port": port}}
        paths = {f"DOETUNE_{name}": str(self.folder / f"{name.lower()}.json") for name in ("REQUEST", "RESULT")}
        pathlib.Path(paths["DOETUNE_REQUEST"]).write_text(json.dumps(request))
        reader = subprocess.Popen([WORKLOADS / "spark-stream-inference"], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env={**self.environment, **paths})
        self.addCleanup(reader.kill)
        return reader

    def stream(self, port, **changes):
        """The exit code of a stream of the application at the port, its messages, and its result."""
        reader = self.read(port, **changes)
        _, errors = reader.communicate(timeout=600)
        return reader.returncode, errors, self.folder / "result.json"

    def test_one_application_serves_one_stream_after_another(self):
        server, port = self.serve(executors=2)
        self.wait_until_it_listens(server, port)
        with self.subTest("processes of its own user alone"):
            answer = self.ask(port)
            self.assertIn("error", answer.stdout, answer.stderr + (self.folder / "server").read_text())
            if os.geteuid() == 0:
                self.assertNotIn("error", self.ask(port, user=65534).stdout)
        with self.subTest("settings that cannot run are infeasible"):
            code, errors, _ = self.stream(port, precision="fp16")
            self.assertEqual(code, 77, errors)
            self.assertIn("fp16", errors.splitlines()[-1])
        with self.subTest("micro-batches that come too fast wait or are dropped"):
            # Spark cannot end one in a twentieth of a second.
            code, errors, result = self.stream(port, arrival="realtime", interval=0.05, channels=40, batches=10, queue_limit=1)
            self.assertEqual(code, 0, errors)
            responses = json.loads(result.read_text())["responses"]
            self.assertGreater(responses["scheduling_delay"], 0)
            self.assertGreater(responses["dropped_share"], 0)
            # At most one interval, and the micro-batch that was with Spark when it became ready.
            self.assertLess(responses["scheduling_delay"], 0.2 + 2 * responses["processing_time"])
        with self.subTest("a stream whose reader is killed leaves nothing behind"):
            reader = self.read(port, batches=100000)
            self.wait_for_micro_batch(8, reader)
            reader.kill()
            reader.communicate()
            until = time.monotonic() + 120
            while any(self.folder.glob("spark-*")) and time.monotonic() < until:
                time.sleep(0.1)
            self.assertEqual(list(self.folder.glob("spark-*")), [])
        server.terminate()
        server.wait(300)
        self.check_nothing_runs(server)

    def test_a_port_that_is_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            done = subprocess.run([WORKLOADS / "spark-stream-inference", "--serve",
                                   f"127.0.0.1:{other.getsockname()[1]}", "--master", "local[1]"],
                                  text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env=self.environment, timeout=600)
        self.assertEqual(done.returncode, 1)
        self.assertIn("Address already in use", done.stdout)

    def test_one_application_serves_the_runs_of_a_whole_plot(self):
        settings = {name: value for name, value in SETTINGS.items()
                    if name not in ("executors_per_gpu", "batch_size")}
        study = {
            "study": "plots", "workload": "spark-stream-inference", "settings": settings,
            "factors": {"executors_per_gpu": {"levels": [1, 2], "hard_to_change": True},
                        "batch_size": {"levels": [1, 2]}},
            "responses": {"throughput": {"goal": "maximize"}, "spark_time": {}},
            "model": "linear", "design": {"type": "d-optimal", "runs": 4, "whole_plots": 2},
            "run": {"set_up": [str(DOETUNE), "workload", "spark-stream-inference", "--serve", "{host}:{port}",
                               "--executors_per_gpu", "{executors_per_gpu}"],
                    "ready": "tcp://{host}:{port}", "ready_within": "2 min"}}
        (self.folder / "plots.yaml").write_text(json.dumps(study))
        for command in (["plan", "plots.yaml"], ["run", "plots"]):
            done = subprocess.run([DOETUNE, *command], cwd=self.folder, env=self.environment, text=True,
                                  capture_output=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        records = [json.loads(line) for line in (self.folder / "plots/runs.jsonl").read_text().splitlines()]
        records = [record for record in records if "status" in record]
        self.assertEqual([record["status"] for record in records], ["completed"] * 4,
                         [record.get("reason") for record in records])
        self.assertEqual(len(list((self.folder / "plots/plots").glob("*"))), 2)
        self.check_nothing_is_left()


if __name__ == "__main__":
    DOETUNE = pathlib.Path(sys.argv.pop(1)).resolve()
    WORKLOADS = DOETUNE.parent / "workloads"
    install_spark(DOETUNE)
    unittest.main()

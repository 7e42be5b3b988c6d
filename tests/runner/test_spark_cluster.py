"""The launcher spark with applications on clusters of this machine (local-cluster).

test_spark_cluster.py DOETUNE. Exit code 77 where Java or Spark is missing and Spark cannot be installed.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from cluster_study import ASK, ClusterTest
from spark_environment import QUICK_OPTIONS, install_spark, processes_of

# With two executors of one processor each.
LOCAL = {"master": "local-cluster[2,1,512]", "options": QUICK_OPTIONS}


def kill_one_of(word, study):
    """Kills a process of Spark's, once there is one: the runs of an earlier doetune may end before."""
    def killed():
        for process in processes_of(word, study.path):
            try:
                os.kill(process, signal.SIGKILL)
                return True
            except ProcessLookupError:
                pass
        return False

    study.wait_for(killed)


class Standalone:
    """Spark's own cluster manager with one worker, on which a script finds two GPUs."""

    def __init__(self, folder):
        find = folder / "find-gpus"
        find.write_text("#!/bin/sh\necho '" + json.dumps({"name": "gpu", "addresses": ["4", "6"]}) + "'\n")
        find.chmod(0o755)
        (folder / "worker.conf").write_text("spark.worker.resource.gpu.amount 2\n"
                                            f"spark.worker.resource.gpu.discoveryScript {find}\n")
        self.log = folder / "master"
        self.processes = []
        self.start("master.Master", self.log, "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.worker = [folder / "worker", "--cores", "4", "--memory", "2g", "--webui-port", "0",
                       "--work-dir", folder / "work", "--properties-file", folder / "worker.conf"]

    def start(self, what, log, *arguments):
        with open(log, "w") as output:
            self.processes.append(subprocess.Popen(
                [shutil.which("spark-class"), f"org.apache.spark.deploy.{what}", *arguments],
                stdout=output, stderr=output, env={**os.environ, "SPARK_NO_DAEMONIZE": "1"}))

    def url(self):
        found = re.search(r"Starting Spark master at (spark://\S+)", self.log.read_text())
        return found and found[1]

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


class SparkTest(ClusterTest):
    def study(self, runs, spark=LOCAL, **settings):
        section = {"launcher": "spark", "jobs": 4, "spark": spark}
        section.update(settings.pop("run", {}))
        return self.make_study(DOETUNE, WORK / self.id().rpartition(".")[2], runs, section, **settings)

    def test_doetune_executor_and_driver_killed_in_turn(self):
        study = self.study(10, seconds=0.5)
        doetune = study.start()
        study.wait_for(study.completed)
        doetune.send_signal(signal.SIGKILL)
        doetune.wait()
        done = len(study.completed())
        doetune = study.start()
        study.wait_for(lambda: len(study.completed()) > done)
        kill_one_of("CoarseGrainedExecutorBackend", study)
        study.wait_for(lambda: len(study.completed()) > done + 2)
        kill_one_of("SparkSubmit", study)
        self.assertEqual(doetune.wait(300), 0, study.words())
        self.check_complete(study)
        self.assertIn("Spark's application has ended", study.words())
        self.assertEqual(processes_of("", study.directory), [])

    def test_gpus_of_a_standalone_cluster_are_shared(self):
        folder = WORK / "standalone"
        folder.mkdir()
        cluster = Standalone(folder)
        self.addCleanup(cluster.end)
        note = 'echo "begin $CUDA_VISIBLE_DEVICES" >>uses; trap "echo end $CUDA_VISIBLE_DEVICES >>uses" EXIT'
        study = self.study(16, {"options": QUICK_OPTIONS}, script=note, seconds=0.5,
                           run={"gpus_per_run": 1, "runs_per_gpu": 2, "jobs": 8})
        study.wait_for(cluster.url)
        cluster.start("worker.Worker", *cluster.worker, cluster.url())
        section = {"master": cluster.url(), "options": [*QUICK_OPTIONS, "--conf", "spark.executor.resource.gpu.amount=2",
                                                        "--conf", "spark.executor.cores=4"]}
        study.edit(lambda file: file["run"].update(spark=section))
        self.assertEqual(study.run(), 0, study.words() + cluster.log.read_text())
        self.check_complete(study)
        self.assertEqual({record["gpu"] for record in study.completed()}, {"4", "6"})
        users, most = collections.Counter(), collections.Counter()
        for line in (study.path / "uses").read_text().splitlines():
            what, gpu = line.split()
            users[gpu] += 1 if what == "begin" else -1
            most[gpu] = max(most[gpu], users[gpu])
        self.assertEqual(dict(most), {"4": 2, "6": 2})

    def test_servers_of_whole_plots(self):
        study = self.study(6, script=ASK, servers=True)
        (study.path / "dying").touch()
        self.assertEqual(study.run(), 0, study.words())
        self.check_served(study)

    def test_a_master_that_is_not_there(self):
        study = self.study(2, {**LOCAL, "master": "spark://127.0.0.1:9"})
        self.assertEqual(study.run(), 3, study.words())
        self.assertIn("the master spark://127.0.0.1:9 cannot be reached", study.words())
        self.assertEqual(study.executed(), {})

    def test_executors_that_die_in_each_task(self):
        # The parent of doetune-attempt is Spark's worker; its parent's parent, the executor.
        kill = ('attempt=$(ps -o ppid= $$); worker=$(ps -o ppid= $attempt); '
                'daemon=$(ps -o ppid= $worker); kill -9 $(ps -o ppid= $daemon); sleep 20')
        study = self.study(2, script=kill, run={"retries": {"failed": 0, "lost": 0}})
        study.run()
        self.assertEqual({record["status"] for record in study.records()}, {"lost"}, study.words())

    def test_no_spark(self):
        study = self.study(2, {"submit": "/nowhere/spark-submit"})
        self.assertEqual(study.run(), 3, study.words())
        self.assertIn("run.spark.submit", study.words())


if __name__ == "__main__":
    DOETUNE = os.path.abspath(sys.argv.pop(1))
    install_spark(DOETUNE)
    with tempfile.TemporaryDirectory(prefix="dt-spark-") as directory:
        WORK = pathlib.Path(directory)
        unittest.main()

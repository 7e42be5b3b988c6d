"""The launcher spark with applications on clusters of this machine (local-cluster).

test_spark_cluster.py DOETUNE. Exit code 77 where Java or Spark is missing and Spark cannot be installed.
"""

import os
import pathlib
import signal
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
        self.assertEqual(doetune.wait(90), 0, study.words())
        self.check_complete(study)
        self.assertIn("Spark's application has ended", study.words())
        self.assertEqual(processes_of("", study.directory), [])

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

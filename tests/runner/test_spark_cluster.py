"""The launcher spark with applications on clusters of this machine (local-cluster).

test_spark_cluster.py DOETUNE. Exit code 77 where Java or Spark is missing and Spark cannot be installed.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from cluster_study import SKIPPED, ClusterTest

# With two executors of one processor each.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # compiled for a short life
LOCAL = {"master": "local-cluster[2,1,512]",
         "options": [argument for setting in (
             "spark.executor.memory=512m", "spark.driver.memory=512m", "spark.ui.enabled=false",
             f"spark.driver.extraJavaOptions={QUICK}", f"spark.executor.extraJavaOptions={QUICK}")
             for argument in ("--conf", setting)]}


def processes_of(word, directory):
    """Processes whose command line has the word, started for a study below the directory."""
    listing = subprocess.run(["ps", "-eo", "pid,pgid,args"], text=True, stdout=subprocess.PIPE).stdout
    lines = [line.split(None, 2) for line in listing.splitlines()[1:]]
    groups = {line[1] for line in lines if str(directory) in line[2]}
    return [int(line[0]) for line in lines if line[1] in groups and word in line[2]]


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


def install_spark():
    """PySpark in a virtual environment beside the programs, kept so that it is installed once."""
    if not shutil.which("java"):
        print("skipped: Spark needs Java (Debian: openjdk-17-jre-headless)")
        sys.exit(SKIPPED)
    environment = pathlib.Path(DOETUNE).parent.parent / "spark-environment"
    if not (environment / "bin/spark-submit").exists():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        installed = subprocess.run([environment / "bin/python3", "-m", "pip", "install", "-q", "pyspark==3.5.1"],
                                   text=True, capture_output=True)
        if installed.returncode != 0:
            print(f"skipped: Spark cannot be installed here: {installed.stderr[-300:]}")
            sys.exit(SKIPPED)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PATH"] = f"{environment / 'bin'}:{os.environ['PATH']}"


if __name__ == "__main__":
    DOETUNE = os.path.abspath(sys.argv.pop(1))
    install_spark()
    with tempfile.TemporaryDirectory(prefix="dt-spark-") as directory:
        WORK = pathlib.Path(directory)
        unittest.main()

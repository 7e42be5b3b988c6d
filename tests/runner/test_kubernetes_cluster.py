"""The launcher kubernetes with kubectl and a stand-in for the API server and its nodes.

test_kubernetes_cluster.py DOETUNE. Exit code 77 where there is no kubectl.
"""

import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time
import unittest

from cluster_study import ASK, SKIPPED, ClusterTest
from kubernetes_cluster import Cluster


class KubernetesTest(ClusterTest):
    def setUp(self):
        self.directory = WORK / self.id().rpartition(".")[2]
        (self.directory / "cluster").mkdir(parents=True)
        self.cluster = Cluster(self.directory / "cluster", os.environ["PATH"])
        self.addCleanup(self.cluster.end)
        os.environ["KUBECONFIG"] = str(self.cluster.kubeconfig())

    def study(self, runs, kubernetes=(), shared=True, run=(), **settings):
        path = self.directory / "study"
        section = {"launcher": "kubernetes", "jobs": 4, "kubernetes": {
            "image": "doetune:1", "poll": 0.2, **dict(kubernetes)}, **dict(run)}
        if shared:
            section["kubernetes"]["volumes"] = [{"host_path": str(self.directory)}]
        return self.make_study(DOETUNE, path, runs, section, **settings)

    def just_begun(self):
        """Jobs whose runs of two seconds have most of their time left."""
        jobs = []
        for name in self.cluster.running():
            claim = pathlib.Path(self.cluster.jobs[name]["metadata"]["annotations"]["doetune/directory"], "claim")
            if claim.exists() and time.time() - claim.stat().st_mtime < 0.8:
                jobs.append(name)
        return jobs

    def check_clean(self, study):
        """Nothing is left in the cluster."""
        study.wait_for(lambda: not self.cluster.jobs and not self.cluster.pods)

    def test_doetune_killed_then_a_pod_evicted_then_the_api_server_gone(self):
        study = self.study(10, seconds=2)
        doetune = study.start()
        study.wait_for(lambda: study.completed() and self.cluster.running())
        doetune.send_signal(signal.SIGKILL)
        doetune.wait()
        done = len(study.completed())
        doetune = study.start()
        study.wait_for(lambda: len(study.completed()) > done)
        begun = []
        study.wait_for(lambda: begun.extend(self.just_begun()) or begun)
        self.cluster.evict(begun[0])
        study.wait_for(lambda: len(study.completed()) > done + 2)
        self.cluster.stop()
        study.wait_for(lambda: "Kubernetes does not answer" in study.words())
        self.cluster.start()
        self.assertEqual(doetune.wait(300), 0, study.words())
        self.check_complete(study)
        self.assertIn("Kubernetes answers again", study.words())
        self.check_clean(study)
        self.assertEqual(len(self.cluster.created), len(set(self.cluster.created)))
        # Fewer where doetune was killed before it had created a Job.
        self.assertLessEqual(len(self.cluster.created), len(study.records()))
        self.assertTrue(any("Evicted" in record.get("reason", "") for record in study.records()))
        self.assertEqual({record["host"] for record in study.completed()}, {"node-1"})
        self.assertTrue(all(record["conditions"] for record in study.completed()))

    def test_without_a_shared_directory(self):
        # The run writes into the study's folder, which only here is the same in the pod.
        study = self.study(4, shared=False, run={"telemetry": 10}, script="echo words; echo problems >&2; sleep 0.5")
        self.assertEqual(study.run(), 0, study.words())
        self.check_complete(study)
        self.check_clean(study)
        first = study.directory / "runs" / "0001.1"
        self.assertEqual((first / "stdout").read_text(), "words\n")
        self.assertEqual((first / "stderr").read_text(), "problems\n")
        self.assertTrue(all(record["telemetry"] and record["conditions"] for record in study.completed()))

    def test_without_a_shared_directory_doetune_is_killed(self):
        study = self.study(4, shared=False, seconds=2)
        doetune = study.start()
        study.wait_for(lambda: len(self.cluster.running()) > 2)
        doetune.send_signal(signal.SIGKILL)
        doetune.wait()
        self.assertEqual(study.run(), 0, study.words())
        self.check_complete(study)
        self.assertEqual(len(self.cluster.created), 4)
        self.check_clean(study)

    def test_servers_of_whole_plots(self):
        study = self.study(6, script=ASK, servers=True)
        self.assertEqual(study.run(), 0, study.words())
        self.check_served(study)
        self.check_clean(study)
        self.assertLess(len(self.cluster.created), 6)

    def test_an_image_that_cannot_be_pulled(self):
        study = self.study(4, {"image": "doetune:2"}, run={"retries": 0})
        self.assertEqual(study.run(), 5, study.words())
        self.assertIn("the image doetune:2 cannot be pulled", study.words())
        self.assertIn("run.kubernetes.image", study.words())
        self.assertEqual(study.executed(), {})
        self.check_clean(study)

    def test_a_pod_over_its_memory_limit_is_infeasible(self):
        study = self.study(2, seconds=20, run={"jobs": 1})
        study.start("--only", "1")
        study.wait_for(self.cluster.running)
        study.wait_for(study.executed)
        self.cluster.kill_out_of_memory(self.cluster.running()[0])
        study.wait_for(study.records)
        self.assertEqual(study.records()[0]["status"], "infeasible", study.words())
        self.assertIn("OOMKilled", study.records()[0]["reason"])

    def test_no_node_and_then_ctrl_c(self):
        self.cluster.full = True
        study = self.study(2, {"poll": 0.1})
        doetune = study.start()
        study.wait_for(lambda: "3 Insufficient nvidia.com/gpu" in study.words())
        doetune.send_signal(signal.SIGINT)
        doetune.send_signal(signal.SIGINT)
        study.wait_for(lambda: "stopping" in study.words())
        doetune.send_signal(signal.SIGINT)
        self.assertEqual(doetune.wait(300), 130, study.words())
        self.check_clean(study)

    def test_ctrl_c_ends_a_running_pod(self):
        study = self.study(2, seconds=20)
        doetune = study.start()
        study.wait_for(lambda: len(study.executed()) == 2)
        doetune.send_signal(signal.SIGINT)
        study.wait_for(lambda: "stopping" in study.words())
        doetune.send_signal(signal.SIGINT)
        self.assertEqual(doetune.wait(300), 130, study.words())
        self.assertEqual({record["status"] for record in study.records()}, {"cancelled"})
        self.check_clean(study)

    def test_a_job_deleted_by_somebody_is_made_again(self):
        study = self.study(2, seconds=1)
        doetune = study.start()
        study.wait_for(study.executed)
        with self.cluster.lock:
            self.cluster.delete(self.cluster.running()[0])
        self.assertEqual(doetune.wait(300), 0, study.words())
        self.check_complete(study)
        self.assertIn("lost", {record["status"] for record in study.records()})

    def test_what_is_wrong_is_said_before_anything_is_run(self):
        study = self.study(2)
        self.cluster.refuses = (401, "Unauthorized", "Unauthorized")
        self.assertEqual(study.run(), 3)
        self.assertIn("Kubernetes refuses this user", study.words())
        self.cluster.refuses = None
        self.cluster.stop()
        self.assertEqual(study.run(), 3)
        self.assertIn("the API server of Kubernetes does not answer", study.words())
        self.cluster.start()
        nothing = self.directory / "nothing"
        nothing.mkdir()
        self.assertEqual(study.start(env={**os.environ, "PATH": str(nothing)}).wait(300), 3)
        self.assertIn("install it (Debian: kubernetes-client)", study.words())
        self.assertEqual(study.records(), [])

    def test_an_image_without_doetune(self):
        study = self.study(2, {"program": "/nowhere/doetune-attempt"}, run={"retries": 0})
        self.assertEqual(study.run(), 5, study.words())
        self.assertIn("the image needs it in its PATH", study.words())


if __name__ == "__main__":
    DOETUNE = os.path.abspath(sys.argv.pop(1))
    if not shutil.which("kubectl"):
        print("skipped: kubectl is missing (Debian: kubernetes-client)")
        sys.exit(SKIPPED)
    os.environ["PATH"] = f"{pathlib.Path(DOETUNE).parent}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory(prefix="dt-kubernetes-") as directory:
        WORK = pathlib.Path(directory)
        os.environ["HOME"] = directory  # kubectl keeps what it learns of the API there
        unittest.main()

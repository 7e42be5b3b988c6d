"""The launchers slurm and slurm-pilot on a real cluster that this test starts, breaks and stops.

test_slurm_cluster.py DOETUNE. Exit code 77 where Slurm or the right to start it is missing.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from cluster_study import ASK, SKIPPED, ClusterTest, processes_under

HERE = pathlib.Path(__file__).resolve().parent
SLURM = {"poll": "0.5 s"}

# Twenty steps towards the accuracy of these settings.
TRAINING = """
import json, os, sys, time
rate, width = map(float, sys.argv[1:])
end = 0.95 - 2 * (rate - 0.4) ** 2 - 0.01 * (width - 6) ** 2
for step in range(1, 21):
    time.sleep(0.06)
    with open(os.environ["DOETUNE_PROGRESS"], "a") as progress:
        print(json.dumps({"step": step, "responses": {"accuracy": end * (1 - 2.718 ** (-step / 2))}}), file=progress)
with open(os.environ["DOETUNE_RESULT"], "w") as result:
    json.dump({"responses": {"accuracy": end}}, result)
"""


def cluster(*arguments):
    return subprocess.run([HERE / "slurm_cluster.sh", CLUSTER, *arguments], text=True, check=True,
                          stdout=subprocess.PIPE).stdout


def squeue(form):
    return subprocess.run(["squeue", "-h", "-t", "pending,running", "-o", form], text=True,
                          stdout=subprocess.PIPE).stdout.split()


class SlurmTest(ClusterTest):
    def setUp(self):
        cluster("heal")
        self.began = time.monotonic()

    def tearDown(self):
        print(f"{self.id().rpartition('.')[2]}: {time.monotonic() - self.began:.1f} s", flush=True)

    def study(self, runs, launcher="slurm", name="", **settings):
        section = {"launcher": launcher, "slurm": SLURM, **settings.pop("run", {})}
        return self.make_study(DOETUNE, WORK / (self.id().rpartition(".")[2] + name), runs, section,
                               **settings)

    def check_all(self, study):
        self.check_complete(study)
        study.wait_for(lambda: not squeue("%j") and not cluster("jobs"))

    def test_runs_get_gpus_from_slurm(self):
        study = self.study(12, run={"gpus_per_run": 1}, script='test -n "$CUDA_VISIBLE_DEVICES"')
        self.assertEqual(study.run(), 0, study.words())
        self.check_all(study)
        self.assertEqual({record["gpu"] for record in study.completed()}, {"0", "1"})

    def test_ranks_run_on_both_nodes(self):
        ranks = 'echo $SLURMD_NODENAME >>"$3".$SLURM_PROCID; [ $SLURM_PROCID = 0 ] || exit 0'
        study = self.study(2, script=ranks, run={"processes": 4, "slurm": {**SLURM, "nodes": 2}})
        self.assertEqual(study.run(), 0, study.words())
        nodes = sorted(file.read_text().strip()
                       for file in study.directory.glob("runs/0001.1/result.json.*"))
        self.assertEqual(len(nodes), 4)
        self.assertEqual(set(nodes), {"n1", "n2"})

    def test_training_on_both_nodes_over_mpi(self):
        if not (pathlib.Path(DOETUNE).parent / "libdoetune_mpi.so").exists():
            self.skipTest("built without MPI")
        folder = WORK / "training"
        folder.mkdir(parents=True)
        (folder / "study.yaml").write_text(json.dumps({
            "study": "training", "workload": "train-data-parallel",
            "settings": {"network": "small-cnn", "batch_size": 8, "baseline": "false", "threads": 1,
                         "warmup": 0, "duration": 0.1, "values": 3},
            "factors": {"bucket_mb": {"levels": [0.05, 1]}},
            "model": "linear", "design": {"type": "full-factorial"},
            "responses": {"throughput": {"goal": "maximize"}},
            "run": {"launcher": "slurm", "processes": 2, "slurm": {**SLURM, "nodes": 2},
                    "environment": {"SLURM_MPI_TYPE": "pmix"}}}))
        for arguments in (["plan", "study.yaml", "-o", "training"], ["run", "training"]):
            done = subprocess.run([DOETUNE, *arguments], cwd=folder, text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        results = [json.loads(file.read_text()) for file in folder.glob("training/runs/*/result.json")]
        self.assertEqual([(each["notes"]["transport"], each["notes"]["ranks"])
                          for each in results], [("mpi", 2)] * 2)

    def test_a_rank_that_dies_ends_the_others(self):
        # Rank 0 forks nothing: Slurm without cgroups does not find the child of a shell that it has just killed.
        ranks = "[ $SLURM_PROCID = 0 ] || kill -9 $$; exec sleep 600"
        study = self.study(2, script=ranks, run={"processes": 2, "slurm": {**SLURM, "nodes": 2}})
        study.run()
        self.assertEqual([(record["status"], "exit code" in record["reason"])
                          for record in study.records()], [("failed", True)] * 2, study.records())
        study.wait_for(lambda: not squeue("%j") and not cluster("jobs"))

    @unittest.skipUnless(shutil.which("mpirun"), "no Open MPI")
    def test_ranks_in_a_pilot_stay_on_a_node(self):
        for starter, rank in (("mpirun", "$OMPI_COMM_WORLD_RANK"), ("srun", "$SLURM_PROCID")):
            ranks = f'echo $SLURMD_NODENAME >>"$3".{rank}; [ {rank} = 0 ] || exit 0'
            study = self.study(2, "slurm-pilot", script=ranks, name=starter,
                               run={"processes": 4, "ranks": starter})
            self.assertEqual(study.run(), 0, study.words())
            nodes = [file.read_text() for file in
                     study.directory.glob("runs/0001.1/result.json.*")]
            self.assertEqual(len(nodes), 4)
            self.assertEqual(len(set(nodes)), 1)

    def test_doetune_killed_at_random_moments(self):
        study = self.study(24, seconds=0.3)
        self.run_under_fire(study, 6, random.Random(2026))
        self.check_all(study)

    def test_pilot_and_doetune_killed_at_random_moments(self):
        study = self.study(24, "slurm-pilot", seconds=0.3, run={"jobs": 4})
        self.run_under_fire(study, 4, random.Random(2027))
        self.check_all(study)

    def test_servers_of_whole_plots(self):
        # Each has a job of its own, in which its runs are executed.
        study = self.study(6, servers=True, script=ASK, seconds=0.3)
        (study.path / "dying").touch()
        doetune = study.start()
        study.wait_for(lambda: study.executed())
        subprocess.run(["scancel", *squeue("%i")], check=True)
        study.wait_for(lambda: study.completed())
        doetune.kill()
        self.assertEqual(study.run(), 0, study.words())
        self.check_served(study)
        study.wait_for(lambda: not squeue("%j") and not cluster("jobs"))

    def test_servers_in_a_pilot(self):
        study = self.study(6, "slurm-pilot", servers=True, script=ASK, run={"jobs": 2})
        self.run_under_fire(study, 2, random.Random(2030), check=self.check_served)
        study.wait_for(lambda: not squeue("%j") and not cluster("jobs"))

    def staged(self, runs, files=("tools",), **settings):
        """Nodes execute the runs in the stage: nothing but the executions is noted in the study's folder."""
        stage = {"to": str(STAGE), "files": list(files)}
        study = self.study(runs, "slurm-pilot", run={"jobs": 2, "slurm": {**SLURM, "nodes": 2, "stage": stage}},
                           **settings)
        study.add_tools()
        return study

    def folder_of(self, study):
        """The study's in the stage: that of the last run."""
        return pathlib.Path((sorted(study.directory.glob("runs/*/stdout"))[-1]).read_text().split("\n")[0]).parent

    def test_a_stage_for_nodes_without_the_study_directory(self):
        study = self.staged(6, script="tools/tell; echo problems >&2")
        self.assertEqual(study.run(), 0, study.words())
        self.check_all(study)
        self.assertIn("copied tools to ", study.words())
        folder, first = self.folder_of(study), study.directory / "runs/0001.1"
        self.assertEqual(folder.parent, STAGE)
        self.assertEqual((first / "stdout").read_text(), f"{folder}/files\n{folder}/runs/0001.1\n")
        self.assertEqual((first / "stderr").read_text(), "problems\n")
        self.assertTrue(all(record["conditions"] for record in study.completed()))
        self.assertEqual(list((folder / "runs").iterdir()), [])
        self.assertFalse((study.directory / "stage.tar").exists())

    def test_runs_in_a_stage_end_with_doetune(self):
        hold = STAGE.parent / "hold"
        study = self.staged(4, script=f"tools/tell; if [ -e {hold} ]; then sleep 100; fi")
        self.check_runs_end_with_doetune(study, hold, STAGE)
        self.check_all(study)

    def test_runs_in_a_stage_are_stopped(self):
        study = self.staged(4, files=(), seconds=60)
        self.stop(study)
        study.wait_for(lambda: not squeue("%j") and not processes_under(STAGE))
        self.assertEqual({record["status"] for record in study.records()}, {"cancelled"})

    def test_the_pilot_of_a_stage_is_cancelled(self):
        study = self.staged(6, script="tools/tell", seconds=1)
        doetune = study.start()
        study.wait_for(lambda: study.completed())
        subprocess.run(["scancel", *squeue("%i")], check=True)
        self.assertEqual(doetune.wait(300), 0, study.words())
        self.check_all(study)
        self.assertEqual(study.words().count("copied tools"), 2)

    def test_files_of_a_stage_that_are_not_there(self):
        study = self.staged(2, files=("absent",))
        study.run()
        self.assertIn("the files of run.slurm.stage could not be copied", study.words())
        self.assertIn("absent", study.words())

    def test_a_stage_needs_a_pilot(self):
        study = self.study(2, run={"slurm": {**SLURM, "stage": {"to": "/tmp"}}})
        self.assertEqual(study.run(), 3, study.words())
        self.assertIn("write run: {launcher: slurm-pilot}", study.words())

    def test_pilot_cancelled_on_the_way(self):
        study = self.study(16, "slurm-pilot", seconds=0.4, run={"jobs": 4})
        doetune = study.start()
        study.wait_for(lambda: study.completed())
        subprocess.run(["scancel", *squeue("%i")], check=True)
        self.assertEqual(doetune.wait(300), 0, study.words())
        self.check_all(study)

    def test_scancel_is_the_clusters_failure_not_the_runs(self):
        # Slurm signals the program, too, often before doetune-attempt: its end says nothing then.
        for code in ("143", "1", "0"):
            study = self.study(8, name=code, script=f"trap 'exit {code}' TERM", seconds=1.5)
            doetune = study.start()
            study.wait_for(lambda: len(study.executed()) >= 2)
            subprocess.run(["scancel", *squeue("%i")], check=True)
            self.assertEqual(doetune.wait(300), 0, study.words())
            self.assertLessEqual({record["status"] for record in study.records()},
                                 {"completed", "lost"}, study.records())
            self.assertIn("lost", [record["status"] for record in study.records()])
            self.check_all(study)

    def test_a_search_ends_runs_early(self):
        folder = WORK / "early"
        folder.mkdir(parents=True)
        (folder / "train.py").write_text(TRAINING)
        (folder / "study.yaml").write_text(json.dumps({
            "study": "early", "command": ["python3", "train.py", "{rate}", "{width}"],
            "factors": {"rate": {"low": 0, "high": 1, "step": 0.05}, "width": {"low": 1, "high": 9, "type": "integer"}},
            "responses": {"accuracy": {"goal": "maximize"}},
            "run": {"launcher": "slurm", "jobs": 1, "slurm": SLURM, "end_early": {"runs": 5}}}))
        done = subprocess.run([DOETUNE, "tune", "study.yaml", "-o", "early", "--budget", "16"], cwd=folder,
                              text=True, capture_output=True, timeout=300)
        lines = [json.loads(line) for line in (folder / "early/runs.jsonl").read_text().splitlines()]
        records = [line for line in lines if "status" in line]
        self.assertEqual({record["status"] for record in records}, {"completed", "ended_early"}, done.stderr)
        for record in records:
            if record["status"] == "ended_early":
                self.assertRegex(record["reason"], "^at step .*accuracy would have been .* at best, against")
        until = time.monotonic() + 30
        while squeue("%j") or processes_under(folder):
            self.assertLess(time.monotonic(), until, "something is left")
            time.sleep(0.1)

    def test_pilot_whose_room_is_lost(self):
        # A step whose srun is killed before it started anything keeps its processors.
        study = self.study(4, "slurm-pilot", seconds=0.2, run={"jobs": 1})
        doetune = study.start()
        study.wait_for(lambda: study.completed())
        pilot = squeue("%i")[0]
        hold = ["srun", f"--jobid={pilot}", "--exact", "--ntasks=1", "--nodes=1", "--mpi=none",
                "--chdir=/", "--gres=none", "sleep", "1000"]
        with subprocess.Popen(hold, stderr=subprocess.DEVNULL) as step:
            self.addCleanup(step.kill)
            self.assertEqual(doetune.wait(300), 0, study.words())
        self.check_all(study)

    def test_z_controller_killed_and_restarted(self):
        study = self.study(48, seconds=1)
        doetune = study.start()
        study.wait_for(lambda: len(study.completed()) >= 3)
        cluster("ctld", "kill")
        study.wait_for(lambda: "does not answer" in study.words())
        cluster("ctld", "start")
        until = time.monotonic() + 120
        while doetune.poll() is None and time.monotonic() < until:
            cluster("resume")  # a job that was started by both controllers drains its node
            time.sleep(0.5)
        self.assertEqual(doetune.returncode, 0, study.words())
        self.assertIn("answers again", study.words())
        self.check_complete(study)  # such a controller may queue jobs again that are long over

    def test_slurmd_killed_while_its_jobs_run(self):
        study = self.study(12, seconds=3, run={"slurm": {**SLURM, "options": ["--exclude=n2"]}})
        doetune = study.start()
        study.wait_for(lambda: len(study.executed()) >= 4)
        cluster("node", "1", "kill")
        study.wait_for(lambda: len(study.completed()) >= 4)  # its jobs went on
        cluster("node", "1", "start")
        self.assertEqual(doetune.wait(300), 0, study.words())
        self.check_all(study)

    def test_node_crashed(self):
        study = self.study(20, seconds=8)
        doetune = study.start()
        # Each node has eight places, so that some of these are on the second.
        study.wait_for(lambda: len(study.executed()) >= len(study.completed()) + 12)
        cluster("node", "2", "crash")
        study.wait_for(lambda: any(record["status"] == "lost" for record in study.records()))
        cluster("node", "2", "start")
        self.assertEqual(doetune.wait(300), 0, study.words())
        self.check_all(study)

    def test_stopped_by_the_user(self):
        study = self.study(30, seconds=20)
        self.stop(study)
        study.wait_for(lambda: not squeue("%j") and not cluster("jobs"))
        self.assertEqual({record["status"] for record in study.records()}, {"cancelled"})

    def test_what_slurm_refuses(self):
        study = self.study(2, run={"slurm": {**SLURM, "partition": "nowhere"}})
        self.assertNotEqual(study.run(), 0)
        self.assertIn("Invalid partition", study.records()[0]["reason"])


def main():
    global DOETUNE, CLUSTER, WORK, STAGE
    DOETUNE = os.path.abspath(sys.argv.pop(1))
    missing = [name for name in ("slurmctld", "slurmd", "sbatch", "munged")
               if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
    if missing or os.geteuid() != 0:
        print("skipped:", ", ".join(missing) or "needs root")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="dt-slurm-") as temporary:
        CLUSTER = pathlib.Path(temporary) / "c"
        WORK = pathlib.Path(temporary) / "work of 100%"
        STAGE = pathlib.Path(temporary) / "stage"
        CLUSTER.mkdir()
        try:
            os.environ["SLURM_CONF"] = cluster("start", "2").strip()
        except subprocess.CalledProcessError:
            print("skipped: no cluster can be started here")
            return SKIPPED
        try:
            return 0 if unittest.main(exit=False, verbosity=2).result.wasSuccessful() else 1
        finally:
            cluster("stop")


if __name__ == "__main__":
    sys.exit(main())

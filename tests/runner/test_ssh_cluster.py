"""The launcher ssh with a server of this test's own on this machine.

test_ssh_cluster.py DOETUNE. Exit code 77 where OpenSSH's server is missing.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from cluster_study import ASK, SKIPPED, ClusterTest, processes_under


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """An sshd with keys and a port of its own, that lets the present user in."""

    def __init__(self, directory):
        self.port = free_port()
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory / key],
                           check=True)
        (directory / "config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {directory / 'host'}\n"
            f"AuthorizedKeysFile {directory / 'user.pub'}\nStrictModes no\nUsePAM no\n"
            f"PidFile none\nPasswordAuthentication no\nMaxStartups 100\n")
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)  # which it insists on
        self.process = subprocess.Popen(
            [shutil.which("sshd", path="/usr/sbin:/usr/bin"), "-D", "-f", directory / "config"],
            stderr=subprocess.DEVNULL)
        self.options = ["-F", "none", "-p", str(self.port), "-i", str(directory / "user"),
                        "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
                        "-o", "LogLevel=ERROR"]

    def answers(self):
        for _ in range(600):
            if subprocess.run(["ssh", "-o", "BatchMode=yes", *self.options, "127.0.0.1", "true"],
                              stderr=subprocess.DEVNULL).returncode == 0:
                return True
            time.sleep(0.1)
        return False

    def sessions(self):
        """The server's processes for connections, which are its children."""
        listing = subprocess.run(["pgrep", "-P", str(self.process.pid)], text=True,
                                 stdout=subprocess.PIPE).stdout
        return [int(pid) for pid in listing.split()]


class SshTest(ClusterTest):
    def study(self, runs, hosts, **settings):
        section = {"launcher": "ssh", "ssh": {"hosts": hosts, "options": SERVER.options}}
        section.update(settings.pop("run", {}))
        return self.make_study(DOETUNE, WORK / self.id().rpartition(".")[2], runs, section,
                               **settings)

    def test_runs_share_out_hosts_and_gpus(self):
        hosts = [{"name": "127.0.0.1", "jobs": 2, "gpus": ["3", "5"]}, "localhost"]
        study = self.study(12, hosts[:1], run={"gpus_per_run": 1},
                           script='test "$CUDA_VISIBLE_DEVICES" != ""')
        self.assertEqual(study.run(), 0, study.words())
        self.check_complete(study)
        self.assertEqual({record["gpu"] for record in study.completed()}, {"3", "5"})

    def test_connection_lost_while_runs_go_on(self):
        study = self.study(4, [{"name": "127.0.0.1", "jobs": 4}], seconds=2)
        doetune = study.start()
        study.wait_for(lambda: len(study.executed()) == 4)
        for pid in SERVER.sessions():
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(doetune.wait(300), 0, study.words())
        self.check_complete(study)
        self.assertEqual(len(study.records()), 4)  # nothing was repeated

    def test_doetune_killed_at_random_moments(self):
        study = self.study(20, [{"name": "127.0.0.1", "jobs": 3}], seconds=0.3)
        self.run_under_fire(study, 4, random.Random(2028))

    def test_whole_plots_with_servers(self):
        study = self.study(6, [{"name": "127.0.0.1", "jobs": 2}], servers=True, script=ASK)
        (study.path / "dying").touch()
        self.run_under_fire(study, 3, random.Random(2029), check=self.check_served)

    def staged(self, runs, to=None, files=("tools",), **settings):
        ssh = {"hosts": [{"name": "127.0.0.1", "jobs": 2}], "options": SERVER.options,
               "stage": {"to": str(to or WORK.parent / "stage" / self.id().rpartition(".")[2]), "files": list(files)}}
        return self.study(runs, [], run={"ssh": ssh, **settings.pop("run", {})}, **settings)

    def test_a_stage_for_hosts_without_the_study_directory(self):
        # The run tells where it is executed. It notes that in the study's folder, which only here is there.
        study = self.staged(4, script="tools/tell; echo problems >&2; sleep 0.5", run={"telemetry": 10})
        study.add_tools()
        self.assertEqual(study.run(), 0, study.words())
        self.check_complete(study)
        self.assertIn("copied tools to 127.0.0.1:", study.words())
        folder, = (WORK.parent / "stage" / self.id().rpartition(".")[2]).iterdir()
        first = study.directory / "runs/0001.1"
        self.assertEqual((first / "stdout").read_text(), f"{folder}/files\n{folder}/runs/0001.1\n")
        self.assertEqual((first / "stderr").read_text(), "problems\n")
        self.assertTrue(all(record["telemetry"] and record["conditions"] for record in study.completed()))
        self.assertEqual(list((folder / "runs").iterdir()), [])
        conditions = [json.loads(file.read_text()) for file in (study.directory / "conditions").glob("*.json")]
        self.assertEqual({each["environment"]["set"]["DOETUNE_STAGED"] for each in conditions}, {"tools"})

    def test_runs_in_a_stage_end_with_doetune(self):
        hold = WORK.parent / "hold"
        study = self.staged(4, files=(), script=f"if [ -e {hold} ]; then sleep 100; fi")
        self.check_runs_end_with_doetune(study, hold, WORK.parent / "stage")

    def test_a_stage_that_cannot_be_made(self):
        study = self.staged(2, to="/proc/nowhere")
        (study.path / "tools").mkdir()
        study.run()
        self.assertIn("the files of run.ssh.stage could not be copied to 127.0.0.1", study.words())

    def test_a_file_for_the_stage_that_is_not_there(self):
        study = self.staged(2, files=("absent",), run={"retries": {"failed": 0}})
        study.run()
        self.assertIn("absent", study.words())

    def test_host_without_a_name(self):
        study = self.study(6, ["no-such-host.invalid", "127.0.0.1"])
        self.assertEqual(study.run(), 0, study.words())
        self.check_complete(study)
        self.assertIn("host no-such-host.invalid is not used any more", study.words())

    def test_no_host_left(self):
        study = self.study(6, ["no-such-host.invalid"])
        self.assertEqual(study.run(), 3)
        self.assertIn("no host of run.ssh.hosts can be reached", study.words())

    def test_stopped_by_the_user(self):
        study = self.study(6, [{"name": "127.0.0.1", "jobs": 2}], seconds=30)
        self.stop(study)
        self.assertEqual({record["status"] for record in study.records()}, {"cancelled"})
        study.wait_for(lambda: not processes_under(study.directory))


def main():
    global DOETUNE, SERVER, WORK
    DOETUNE = os.path.abspath(sys.argv.pop(1))
    if not shutil.which("sshd", path="/usr/sbin:/usr/bin") or not shutil.which("ssh"):
        print("skipped: no sshd, or no ssh")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="dt-ssh-") as temporary:
        os.chmod(temporary, 0o755)
        WORK = pathlib.Path(temporary) / "work of 100%"
        SERVER = Server(pathlib.Path(temporary))
        try:
            if not SERVER.answers():
                print("skipped: sshd does not let this user in")
                return SKIPPED
            return 0 if unittest.main(exit=False).result.wasSuccessful() else 1
        finally:
            SERVER.process.kill()


if __name__ == "__main__":
    sys.exit(main())

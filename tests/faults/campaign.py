#!/usr/bin/env python3
"""Faults of every kind, at random moments: nothing acknowledged is lost, mistaken or doubled.

campaign.py DOETUNE LIBRARY [--rounds N] [--seed N] [--only NAME] [--file-system NAME]

LIBRARY is failing_calls, which makes system calls of doetune fail and its clock jump. One round has each kind of fault
at least once and takes about a minute; the counts of all rounds are printed at the end.
"""
import argparse
import collections
import errno
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

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "runner"))
from cluster_study import Study, processes_under  # noqa: E402

RUNS = 6
SUSPENDED_S = 3.5


class Broken(Exception):
    """A promise that was not kept."""


class Impossible(Exception):
    """What this machine does not allow."""


def require(holds, words):
    if not holds:
        raise Broken(words)


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class Mounted:
    """A file system in a file, for as long as the block lasts; made anew where its type is given."""

    MAKE = {"ext4": ("mkfs.ext4", "-q", "-F"), "xfs": ("mkfs.xfs", "-q", "-f"),
            "btrfs": ("mkfs.btrfs", "-q", "-f")}

    def __init__(self, image, directory, make=None):
        self.image, self.directory, self.make = image, directory, make

    def command(self, *arguments):
        try:
            done = subprocess.run([*map(str, arguments)], capture_output=True, text=True)
        except FileNotFoundError as problem:
            raise Impossible(str(problem)) from problem
        if done.returncode != 0:
            raise Impossible(f"{arguments[0]}: {done.stderr.strip()}")

    def __enter__(self):
        if self.make:
            self.command(*self.MAKE[self.make], self.image)
        self.command("mount", "-o", "loop", self.image, self.directory)
        return self

    def __exit__(self, *_):
        if subprocess.run(["umount", self.directory], stderr=subprocess.DEVNULL).returncode != 0:
            subprocess.run(["umount", "--lazy", self.directory], check=True)


class Campaign:
    def __init__(self, doetune, library, directory, seed, file_system):
        self.doetune = os.path.abspath(doetune)
        self.file_system = file_system
        self.library = os.path.abspath(library)
        self.directory = pathlib.Path(directory)
        self.random = random.Random(seed)
        self.studies = 0
        self.made = []
        self.counts = collections.Counter()
        self.broken = []

    # What the kinds of faults are made of.

    def study(self, seconds=0.15, daemons=False, below=None, **run):
        """RUNS runs; where wished, each leaves two daemons, one without an environment."""
        self.studies += 1
        path = (below or self.directory) / f"{self.studies}"
        script = "; ".join(f"{wiped}setsid sleep 3600 >/dev/null 2>&1 & echo $! >>{path}/daemons"
                           for wiped in ("", "env -i ")) if daemons else ""
        section = {"telemetry": 0, "launcher": "local", "timeout": "20 s", **run}
        self.made.append(Study(self.doetune, path, RUNS, section, seconds=seconds, script=script))
        return self.made[-1]

    def clean_up(self):
        for study in self.made:
            study.end()
            for pid in self.pids(study):
                if alive(pid):
                    os.kill(pid, signal.SIGKILL)
        self.made.clear()

    def call(self, *arguments, directory=None, **settings):
        settings.setdefault("stdout", subprocess.DEVNULL)
        settings.setdefault("stderr", subprocess.PIPE)
        done = subprocess.run([self.doetune, *map(str, arguments)], cwd=directory, text=True,
                              stdin=subprocess.DEVNULL, timeout=300, **settings)
        require(0 <= done.returncode < 128 or done.returncode == 130,
                f"{' '.join(map(str, arguments))} crashed ({done.returncode}): {done.stderr}")
        return done

    def kill(self, process, within):
        """SIGKILL at a random moment; True where it was not over before."""
        time.sleep(self.random.uniform(0, within))
        process.kill()
        return process.wait() == -signal.SIGKILL

    @staticmethod
    def pids(study):
        file = study.path / "daemons"
        return [int(pid) for pid in file.read_text().split()] if file.exists() else []

    def finish(self, study, directory=None):
        """What was acknowledged stays; a last run completes each run exactly once."""
        directory = directory or study.directory
        study.directory = directory
        acknowledged = [(record["run"], record["attempt"]) for record in self.completed(study)]
        done = self.call("run", directory)
        require(done.returncode == 0, f"the last run ended with {done.returncode}: {done.stderr}")
        completed = [(record["run"], record["attempt"]) for record in self.completed(study)]
        require(completed[:len(acknowledged)] == acknowledged, "acknowledged runs were lost")
        require(sorted(run for run, _ in completed) == list(range(1, RUNS + 1)),
                f"not each run once: {completed}")
        for record in self.completed(study):
            require(record["responses"]["y"] == record["run"], f"a wrong value: {record}")
        last = dict(completed)
        for run, attempts in study.executed().items():
            require(len(attempts) == len(set(attempts)), f"an attempt of run {run} ran twice")
            require(max(attempts) <= last[run], f"run {run} was executed after it was completed")
        left = [pid for pid in self.pids(study) if alive(pid)]
        require(not left, f"{len(left)} processes of attempts were left")

    @staticmethod
    def acknowledged(study):
        """The number of completed runs that doetune, started once, has told of. A record that is only
        in the journal may not be on the disk yet."""
        return study.words().count(" completed in ")

    @staticmethod
    def completed(study):
        """The records of completed runs, of the journal's whole lines."""
        journal = study.directory / "runs.jsonl"
        records = []
        for line in journal.read_text().splitlines()[1:] if journal.exists() else []:
            try:
                records.append(json.loads(line))
            except ValueError:
                continue
        return [record for record in records if record.get("status") == "completed"]

    # The kinds of faults.

    def killed_run(self):
        study = self.study(daemons=True)
        for _ in range(3):
            self.kill(study.start(), 1)
        self.finish(study)

    def killed_plan(self):
        study = self.study()
        shutil.rmtree(study.directory)
        process = subprocess.Popen([self.doetune, "plan", "study.yaml", "-o", "planned"],
                                   cwd=study.path, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.kill(process, 0.05)
        again = self.call("plan", "study.yaml", "-o", "planned", directory=study.path)
        require(again.returncode == 0 or "already contains a plan" in again.stderr,
                f"the same command does not make the plan: {again.stderr}")
        self.finish(study, study.path / "planned")

    def killed_augment(self):
        study = self.study()
        self.call("run", study.directory)
        before = self.completed(study)
        process = subprocess.Popen([self.doetune, "augment", study.directory, "--runs", "2"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.kill(process, 0.05)
        require(self.completed(study) == before, "acknowledged runs were lost")
        self.call("status", study.directory)
        done = self.call("run", study.directory)
        require(done.returncode == 0, done.stderr)
        runs = [record["run"] for record in self.completed(study)]
        require(len(runs) == len(set(runs)), "a run was completed twice")

    def killed_import(self):
        path = self.directory / f"import{self.studies}"
        self.studies += 1
        path.mkdir()
        rows = 400
        (path / "mine.csv").write_text(
            "x,y\n" + "".join(f"{row % 10},{row}\n" for row in range(rows)))
        (path / "mine.yaml").write_text("study: mine\nfactors: {x: {low: 0, high: 9}}\n"
                                        "responses: {y: {goal: maximize}}\n")
        process = subprocess.Popen([self.doetune, "import", "mine.yaml", "mine.csv"], cwd=path,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.kill(process, 0.4)
        done = self.call("import", "mine.yaml", "mine.csv", directory=path)
        status = self.call("status", "mine", "--json", directory=path, stdout=subprocess.PIPE)
        require(status.returncode == 0 and json.loads(status.stdout)["completed"] == rows,
                f"the import is neither there nor made again: {done.stderr}")

    def flipped_bit(self):
        study = self.study(seconds=0)
        self.call("run", study.directory)
        whole = study.directory.with_name("whole")
        shutil.copytree(study.directory, whole)
        before = self.completed(study)
        files = sorted(file for file in whole.rglob("*") if file.is_file() and file.stat().st_size)
        for file in files + 9 * [whole / "study.yaml"]:
            shutil.rmtree(study.directory)
            shutil.copytree(whole, study.directory)
            damaged = study.directory / file.relative_to(whole)
            content = bytearray(damaged.read_bytes())
            bit = self.random.randrange(8 * len(content))
            content[bit // 8] ^= 1 << bit % 8
            damaged.write_bytes(content)
            for command in ("status", "fit", "run"):
                self.call(command, study.directory, errors="replace")
            if damaged.name == "study.yaml":
                answer = self.call("optimize", study.directory, "--json", errors="replace",
                                   stdout=subprocess.PIPE)
                require(answer.returncode != 0
                        or 0 <= json.loads(answer.stdout)["settings"]["x"] <= 1,
                        f"study.yaml, bit {bit}: settings outside of the plan are recommended")
            if damaged.name in ("runs.jsonl", "study.yaml"):
                continue
            require(self.completed(study)[:len(before)] == before,
                    f"{damaged.name}, bit {bit}: acknowledged runs were lost")

    def closed_descriptors(self):
        for closed in range(1, 8):
            study = self.study(seconds=0)
            which = [number for number in range(3) if closed >> number & 1]
            closing = " ".join(f"{number}>&-" if number else "<&-" for number in which)
            done = subprocess.run(["sh", "-c", f'exec "$0" run "$1" {closing}', self.doetune,
                                   study.directory], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=300)
            require(0 <= done.returncode < 128, f"{which} closed: crashed ({done.returncode})")
            lock = study.directory / "lock"
            require(not lock.exists() or b"completed" not in lock.read_bytes(),
                    f"{which} closed: progress was written into the lock")
            self.finish(study)

    def suspended(self):
        study = self.study(seconds=0.5, timeout=f"{SUSPENDED_S - 1} s")
        doetune = study.start()
        study.wait_for(study.executed)
        doetune.send_signal(signal.SIGSTOP)
        time.sleep(SUSPENDED_S)
        doetune.send_signal(signal.SIGCONT)
        require(doetune.wait(300) == 0, study.words())
        require({record["status"] for record in study.records()} == {"completed"},
                f"not all completed: {study.records()}")
        self.finish(study)

    def jumping_clock(self):
        """The clock on the wall is set back and forth, also while doetune is suspended."""
        study = self.study(seconds=0.4)
        clock = study.path / "clock"
        clock.write_text("0")
        doetune = study.start(env={**os.environ, "LD_PRELOAD": self.library, "FAULT_CLOCK": str(clock)})
        study.wait_for(study.executed)
        for jump in self.random.sample((-86400, -3, 3, 3600, 10**7), 4):
            suspended = self.random.random() < 0.5
            if suspended:
                doetune.send_signal(signal.SIGSTOP)
            clock.with_suffix(".new").write_text(str(jump))
            clock.with_suffix(".new").replace(clock)
            time.sleep(self.random.uniform(0, 0.5))
            if suspended:
                doetune.send_signal(signal.SIGCONT)
        require(doetune.wait(300) == 0, study.words())
        for record in study.records():
            require(record["status"] == "completed", f"not completed: {record}")
            require(0.3 < record["duration_s"] < 20, f"a clock's jump was measured: {record}")
        self.finish(study)

    def killed_workload(self):
        """A bundled workload, which shares memory and files with its own processes."""
        self.studies += 1
        path = self.directory / f"{self.studies}"
        path.mkdir()
        (path / "study.yaml").write_text(json.dumps({
            "study": "gemm", "workload": "gemm", "model": "linear",
            "settings": {"precision": "fp32", "duration": 0.2, "warmup": 0},
            "factors": {"size": {"low": 64, "high": 512, "type": "integer"}},
            "design": {"type": "full-factorial", "replicates": RUNS // 2},
            "responses": {"rate": {"goal": "maximize"}},
            "run": {"telemetry": 0, "launcher": "local"}}))
        planned = self.call("plan", "study.yaml", directory=path)
        require(planned.returncode == 0, planned.stderr)
        journal = path / "study" / "runs.jsonl"
        kept = []
        for last in (False, False, False, True):
            process = subprocess.Popen([self.doetune, "run", "study"], cwd=path,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if last:
                require(process.wait(300) == 0, "the last run did not complete the plan")
            else:
                self.kill(process, 1.5)
            records = [json.loads(line) for line in journal.read_text().splitlines()[1:]
                       if line.endswith("}")] if journal.exists() else []
            completed = [record["run"] for record in records if record.get("status") == "completed"]
            require(completed[:len(kept)] == kept, "acknowledged runs were lost")
            kept = completed
        require(sorted(kept) == list(range(1, RUNS + 1)), f"not each run once: {kept}")
        left = processes_under(str(path))
        require(not left, f"{len(left)} processes of attempts were left")

    def moved(self):
        study = self.study(daemons=True, seconds=1)
        doetune = study.start()
        study.wait_for(lambda: len(self.pids(study)) >= 2)
        doetune.kill()
        doetune.wait()
        moved = study.path / "moved"
        how = self.random.choice(("moved", "linked", "from inside"))
        if how == "moved":
            study.directory.rename(moved)
            return self.finish(study, moved)
        if how == "linked":
            moved.symlink_to(study.directory)
            return self.finish(study, moved)
        self.call("run", ".", directory=study.directory)
        return self.finish(study)

    def copied(self):
        study = self.study(daemons=True, seconds=0.5)
        doetune = study.start()
        study.wait_for(lambda: len(self.pids(study)) >= 2)
        copy = study.path / "copy"
        shutil.copytree(study.directory, copy)
        self.call("run", copy)
        require(doetune.wait(300) == 0, study.words())
        require({record["status"] for record in study.records()} == {"completed"},
                f"a copy disturbed the study: {study.records()}")
        left = [pid for pid in self.pids(study) if alive(pid)]
        require(not left, f"{len(left)} processes of attempts were left")

    def killed_check(self):
        study = self.study(daemons=True, seconds=30)
        temporary = study.path / "tmp"
        temporary.mkdir()
        environment = {**os.environ, "TMPDIR": str(temporary)}
        check = subprocess.Popen([self.doetune, "check", "study.yaml"], cwd=study.path,
                                 env=environment, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        study.wait_for(lambda: len(self.pids(study)) >= 2)
        check.kill()
        check.wait()
        before = self.pids(study)
        process = subprocess.Popen([self.doetune, "run", study.directory], env=environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        study.wait_for(lambda: len(self.pids(study)) > len(before))
        left = [pid for pid in before if alive(pid)]
        process.kill()
        process.wait()
        require(not left, f"{len(left)} processes of a killed check were left")
        require(not list(temporary.iterdir()), "the directory of a killed check was left")

    def failing_calls(self):
        for call in 3 * ("write", "sync", "rename"):
            study = self.study(seconds=0.02)
            environment = {**os.environ, "LD_PRELOAD": self.library, "FAULT_CALL": call,
                           "FAULT_UNDER": str(study.directory),
                           "FAULT_AT": str(self.random.randint(1, 25)),
                           "FAULT_ERROR": str(self.random.choice((errno.EIO, errno.ENOSPC))),
                           "FAULT_LASTS": str(self.random.randint(0, 1))}
            self.call("run", study.directory, env=environment)
            self.finish(study)

    def power_cut(self):
        """A file system's device is copied without a sync: after plan, in a run, after it."""
        self.studies += 1
        image, disk = self.directory / f"{self.studies}.img", self.directory / f"{self.studies}.disk"
        with open(image, "wb") as file:
            file.truncate((32 if self.file_system == "ext4" else 512) << 20)
        disk.mkdir()
        with Mounted(image, disk, make=self.file_system):
            study = self.study(below=disk)
            cuts = [(self.copied_device(image), 0)]
            doetune = study.start()
            study.wait_for(lambda: self.acknowledged(study))
            time.sleep(self.random.uniform(0, 0.5))
            doetune.send_signal(signal.SIGSTOP)
            acknowledged = self.acknowledged(study)
            cuts.append((self.copied_device(image), acknowledged))
            doetune.send_signal(signal.SIGCONT)
            require(doetune.wait(300) == 0, study.words())
            cuts.append((self.copied_device(image), RUNS))
        for device, count in cuts:
            with Mounted(device, disk):
                self.call("status", study.directory)
                kept = len(self.completed(study))
                require(kept >= count, f"{count} runs were acknowledged, {kept} are left")
                self.finish(study)

    def read_only(self):
        """The kernel finds the file system damaged in the middle of a run, and writes no more."""
        self.studies += 1
        image, disk = self.directory / f"{self.studies}.img", self.directory / f"{self.studies}.disk"
        with open(image, "wb") as file:
            file.truncate(32 << 20)
        disk.mkdir()
        with Mounted(image, disk, make="ext4") as mounted:
            mounted.command("mount", "-o", "remount,errors=remount-ro", disk)
            device = subprocess.run(["findmnt", "-n", "-o", "SOURCE", disk], check=True, text=True,
                                    capture_output=True).stdout.strip()
            trigger = pathlib.Path("/sys/fs/ext4", pathlib.Path(device).name, "trigger_fs_error")
            study = self.study(below=disk)
            doetune = study.start()
            study.wait_for(lambda: self.acknowledged(study))
            time.sleep(self.random.uniform(0, 0.5))
            acknowledged = self.completed(study)[:self.acknowledged(study)]
            try:
                trigger.write_text("read-only, for a test")
            except OSError as problem:
                raise Impossible(str(problem)) from problem
            try:
                (disk / "probe").write_text("")
            except OSError as problem:
                require(problem.errno == errno.EROFS, f"not read-only: {problem}")
            else:
                raise Impossible("the kernel writes on")
            code = doetune.wait(300)
            require(0 < code < 128, f"ended with {code}, with runs that it could not record")
            require(self.completed(study)[:len(acknowledged)] == acknowledged,
                    "acknowledged runs were lost")
            self.call("status", study.directory)
        mounted.command("sh", "-c", 'fsck.ext4 -fy "$1" || [ $? -le 2 ]', "fsck", image)
        with Mounted(image, disk):
            require(self.completed(study)[:len(acknowledged)] == acknowledged,
                    "acknowledged runs were lost")
            self.finish(study)

    def copied_device(self, image):
        self.studies += 1
        copy = self.directory / f"{self.studies}.img"
        subprocess.run(["cp", "--sparse=always", image, copy], check=True)
        return copy

    KINDS = (killed_run, killed_workload, killed_plan, killed_augment, killed_import, flipped_bit,
             closed_descriptors, suspended, jumping_clock, moved, copied, killed_check,
             failing_calls, power_cut, read_only)

    def round(self, only):
        for kind in self.KINDS:
            name = kind.__name__.replace("_", " ")
            if only and name != only:
                continue
            began = time.monotonic()
            try:
                kind(self)
                words = "ok"
            except Impossible as reason:
                words = f"not possible here: {reason}"
            except (Broken, AssertionError, subprocess.TimeoutExpired) as problem:
                words = f"BROKEN: {problem}"
                self.broken.append(name)
            self.clean_up()
            self.counts[name, words.partition(":")[0]] += 1
            print(f"{name}: {words} ({time.monotonic() - began:.1f} s)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("doetune")
    parser.add_argument("library")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--only", help="one kind of fault, as it is printed")
    parser.add_argument("--file-system", choices=Mounted.MAKE, default="ext4",
                        help="whose device loses its power")
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.rounds} rounds", flush=True)
    with tempfile.TemporaryDirectory(prefix="doetune-faults-") as directory:
        campaign = Campaign(options.doetune, options.library, directory, options.seed,
                            options.file_system)
        for _ in range(options.rounds):
            campaign.round(options.only)
    for (name, end), count in sorted(campaign.counts.items()):
        print(f"{count:6} {name}: {end}")
    return 1 if campaign.broken else 0


if __name__ == "__main__":
    sys.exit(main())

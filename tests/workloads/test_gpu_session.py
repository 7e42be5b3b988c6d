#!/usr/bin/env python3
"""bench/gpu/run.py with stand-ins for the programs: what fails, hangs or is missing takes nothing else with it.

usage: test_gpu_session.py SOURCE_TREE
"""
import argparse
import importlib
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ENGINE_TESTS = """#!/bin/sh
case $1 in
  --list-test-names-only) printf 'adds\\nwants a GPU\\nis wrong\\nreads [brackets], and a comma\\nhangs\\n' ;;
  adds | 'reads \\[brackets]\\, and a comma') echo passed ;;
  'wants a GPU') echo 'skipped: no device' ;;
  hangs) echo 'so far'; sleep 100 ;;
  *) echo "3 is not 4: $1" >&2; exit 1 ;;
esac
"""

# Images per second by batch.
BENCH = """#!/bin/sh
[ "$4" = 8 ] && exec kill -9 $$
echo '{"device": "a card", "network": "'$2'", "batch": '$4', "resident_images_per_s": 100, "roofline_fraction": 0.5,
       "floats_images_per_s": 90, "pictures_images_per_s": 80, "pictures_in_turn_images_per_s": 40,
       "device_bytes": 1048576, "prepared_s": 0.1}' | tr -d '\\n'
"""


def session_module():
    sys.path.insert(0, str(RUN.parent))
    return importlib.import_module("run")


class GpuSession(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        programs = {"test_workloads_cuda_engine": ENGINE_TESTS, "test_workloads_cuda_language": "#!/bin/sh\necho adds\n",
                    "bench_gpu": BENCH}
        for name, text in programs.items():
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)

    def session(self, *words, expect):
        done = subprocess.run([sys.executable, RUN, self.folder / "out", "--programs", self.folder, "--device", "cpu",
                               *words], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        self.results = json.loads((self.folder / "out/results.json").read_text())
        self.report = (self.folder / "out/results.md").read_text()
        return {step["name"]: step for part in self.results["parts"] for step in part["steps"]}

    def test_each_test_is_alone_and_what_it_printed_is_kept(self):
        steps = self.session("--parts", "layers", "--budget", "5", "--jobs", "2", expect=1)
        self.assertNotIn("error", steps["adds"])
        self.assertNotIn("error", steps["reads [brackets], and a comma"])
        self.assertIn("3 is not 4: is wrong", steps["is wrong"]["error"])
        self.assertIn("not done after", steps["hangs"]["error"])
        self.assertEqual((self.folder / "out/logs/hangs.log").read_text(), "so far\n")
        self.assertIn("3 is not 4", self.report)
        self.assertTrue(steps["wants a GPU"]["skipped"])
        self.assertRegex(self.report, r"\| layers \| [\d.]+ \| 6 \| 1 \| 2 \|")

    def test_a_batch_that_is_killed_leaves_the_others(self):
        steps = self.session("--parts", "timings", "--networks", "resnet-50", "--batches", "1", "8", "64", expect=1)
        self.assertEqual([row["batch"] for row in self.results["ours"]], [1, 64])
        self.assertEqual(steps["resnet-50 batch 8"]["exit"], -9)
        self.assertIn("| resnet-50 | 64 | 100 | 50.0 % |", self.report)
        self.assertIn("# a card", self.report)

    def test_a_program_that_is_missing_is_named(self):
        steps = self.session("--parts", "training-timings", "smoke", "--training-batches", "2", expect=1)
        self.assertIn("bench_training", steps["train alexnet batch 2"]["error"])
        self.assertNotIn("error", steps["smoke"])

    def test_a_part_whose_program_does_not_start_leaves_the_others(self):
        (self.folder / "test_workloads_cuda_engine").write_text("#!/bin/sh\necho 'libcudnn.so.9: not found' >&2; exit 127")
        steps = self.session("--parts", "layers", "gradients", "smoke", expect=1)
        self.assertIn("libcudnn.so.9", steps["list test_workloads_cuda_engine"]["error"])
        self.assertIn("test_workloads_cuda_training", steps["list test_workloads_cuda_training"]["error"])  # there is none
        self.assertNotIn("error", steps["smoke"])

    def test_kernels_are_added_up(self):
        table = ('{"batch": 1, "of": "the program, not the profiler"}\n"ID","Kernel Name","time","bytes"\n"","","ns","byte"\n'
                 '"0","copy","1,500","10"\n"1","add","2,000","1"\n"2","copy","1,000","5"\n')
        self.assertEqual(session_module().kernels(table, ["time", "bytes"]), [["copy", 2, 2500, 15], ["add", 1, 2000, 1]])
        self.assertEqual(session_module().kernels("no table", ["time"]), [])

    def test_a_peer_waits_until_it_is_asked(self):
        text = "print('loading'); print('ready', flush=True); print('{\"images_per_s\": %d}' % len(input()), flush=True); input()"
        peer = session_module().Peer([sys.executable, "-c", text], self.folder / "peer.log")
        peer.wait_until_ready(20)
        self.assertEqual(peer.ask(20), [{"images_per_s": 0}])
        self.assertIsNotNone(peer.process.poll())

    def test_a_peer_that_fails_has_no_rows(self):
        peer = session_module().Peer([sys.executable, "-c", "import sys; sys.exit('no GPU')"], self.folder / "peer.log")
        peer.wait_until_ready(20)
        self.assertEqual(peer.ask(20), [])
        self.assertEqual((self.folder / "peer.log").read_text(), "no GPU\n")

    def test_a_peer_that_compiles_for_too_long_is_ended_and_has_no_rows(self):
        run = session_module()
        options = argparse.Namespace(out=self.folder, programs=self.folder, budget=60, device="cpu", compile=0.5)
        session = run.Session(options)
        session.begin("language")
        session.peers["slow"] = peer = run.Peer([sys.executable, "-c", "input()"], session.out / "logs/torch-slow.log")
        for _ in range(2):  # the second finds that it has ended
            session.settle()
            self.assertIsNotNone(peer.process.poll())
            peer.begun += 1000
        self.assertEqual(session.ask("slow"), [])

    def test_no_time(self):
        steps = self.session("--parts", "smoke", "timings", "--budget", "0", expect=1)
        self.assertIn("no time was left", steps["smoke"]["error"])
        self.assertEqual(self.results["ours"], [])


if __name__ == "__main__":
    RUN = pathlib.Path(sys.argv.pop(1)) / "bench/gpu/run.py"
    unittest.main()

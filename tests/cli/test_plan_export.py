#!/usr/bin/env python3
"""A plan for another tool: its files, their execution as the tool does it, and the results taken back;
and a study proposed for results.

usage: test_plan_export.py DOETUNE SOURCE_TREE
"""
import itertools
import json

from cli_case import CliCase, main

STUDY = """seed: 4
workload: serving-load
settings: {model: "org/some-model"}
factors:
  tensor_parallel: {levels: [1, 2], hard_to_change: true}
  max_num_seqs: {levels: [64, 128, 256], scale: log2, hard_to_change: true}
  prefill: {levels: [--enable-chunked-prefill, --no-enable-chunked-prefill], hard_to_change: true}
  concurrency: {low: 1, high: 64, type: integer, scale: log2}
model: linear
design: {type: d-optimal, runs: 12, whole_plots: 6}
responses:
  requests_per_second: {goal: maximize}
run:
  telemetry: 0
  set_up: [vllm, serve, "{model}", --host, "{host}", --port, "{port}", --tensor-parallel-size, "{tensor_parallel}",
           --max-num-seqs, "{max_num_seqs}", "{prefill}", --speculative-config, '{{"method": "ngram"}}']
  ready: "http://{host}:{port}/health"
"""


class PlanExport(CliCase):
    study = STUDY

    def read(self, name):
        return json.loads((self.directory / name).read_text())

    def sheet(self):
        header, *rows = (self.directory / "tune/plan.csv").read_text().splitlines()
        return [dict(zip(header.split(","), row.split(","))) for row in rows]

    def exported(self, *arguments):
        self.doetune("plan", "--elsewhere", "tune.yaml")
        self.doetune("export", "tune", *arguments)

    def test_a_vllm_sweep_executes_the_plan(self):
        self.exported("--to", "vllm-sweep", "-o", "sweep", "--column", "concurrency=max_concurrency")
        servers, benches = self.read("sweep/serve-params.json"), self.read("sweep/bench-params.json")
        # What the sweep does: all combinations, but those whose linked variables differ.
        made = [(s, b) for s, b in itertools.product(servers, benches) if s["seed"] == b["seed"]]
        sheet = self.sheet()
        self.assertEqual(len(made), len(sheet))
        self.assertEqual(len(servers), 6)
        for (server, bench), planned in zip(made, sheet):
            self.assertEqual(bench["_benchmark_name"], f"run-{int(planned['run']):04}")
            self.assertEqual(str(bench["max_concurrency"]), planned["concurrency"])
            self.assertEqual(server["max-num-seqs"], planned["max_num_seqs"])
            self.assertEqual(server["tensor-parallel-size"], planned["tensor_parallel"])
            self.assertEqual(server["enable-chunked-prefill"], "no" not in planned["prefill"])
        command = (self.directory / "sweep/sweep.sh").read_text()
        self.assertIn("vllm serve org/some-model --speculative-config", command)
        self.assertIn("--link-vars seed=seed", command)
        self.assertNotIn("--port", command)
        self.assertIn("--num-runs 1 --continue-on-error", command)
        # What it leaves: a folder for each combination. One server fails.
        died = servers[1]
        for server, bench in made:
            if server is died:
                continue
            folder = self.directory / f"out/x/SERVE--{server['_benchmark_name']}-BENCH--{bench['_benchmark_name']}"
            folder.mkdir(parents=True)
            if bench["_benchmark_name"] == "run-0003":
                (folder / "run=0.failure.json").write_text(json.dumps(
                    {"run_number": 0, "error_type": "RuntimeError", "error": "server died",
                     "serve_overrides": server, "bench_overrides": bench}))
                continue
            result = {"request_throughput": 10.0 * bench["max_concurrency"], "completed": 100, **server, **bench}
            (folder / "run=0.json").write_text(json.dumps(result))
            (folder / "summary.json").write_text(json.dumps([result]))
        (self.directory / f"out/x/SERVE-{died['_benchmark_name']}-failure.json").write_text(json.dumps(
            {"error_type": "RuntimeError", "error": "Server process crashed", "serve_overrides": died}))
        done = self.doetune("import", "tune", "out", "--column", "requests_per_second=request_throughput")
        self.assertIn("12 of 12 runs recorded", done.stdout)
        records = [json.loads(line) for line in (self.directory / "tune/runs.jsonl").read_text().splitlines()]
        records = {record["run"]: record for record in records if "status" in record}
        lost = {int(bench["_benchmark_name"][4:]) for server, bench in made if server is died}
        self.assertEqual(len(lost), 2)
        for run in {3, *lost}:
            self.assertEqual(records[run]["status"], "failed")
        for planned in sheet:
            if int(planned["run"]) not in {3, *lost}:
                self.assertEqual(records[int(planned["run"])]["responses"]["requests_per_second"],
                                 10 * float(planned["concurrency"]))
        self.doetune("fit", "tune")
        # Once more, it changes nothing.
        before = (self.directory / "tune/results.csv").read_text()
        self.doetune("import", "tune", "out", "--column", "requests_per_second=request_throughput")
        self.assertEqual((self.directory / "tune/results.csv").read_text().replace(",2,failed", ",1,failed"), before)

    def test_llm_d_treatments(self):
        self.exported("--to", "llm-d", "--column", "concurrency=load.stages.concurrency",
                      "--column", "tensor_parallel=decode.parallelism.tensor")
        sheet = self.sheet()
        found = []
        for file in sorted((self.directory / "tune/llm-d").glob("plot-*.yaml")):
            experiment = json.loads(file.read_text())  # JSON is YAML
            setup, = experiment["setup"]["treatments"]
            for treatment in experiment["treatments"]:
                found.append((treatment["name"], setup["decode.parallelism.tensor"], setup["max_num_seqs"],
                              treatment["load.stages.concurrency"]))
        self.assertEqual(found, [(f"run-{int(row['run']):04}", int(row["tensor_parallel"]), int(row["max_num_seqs"]),
                                  int(row["concurrency"])) for row in sheet])

    def test_what_cannot_be_exported_is_told(self):
        self.doetune("plan", "--elsewhere", "tune.yaml")
        self.assertIn("has no factor 'concurency'; did you mean 'concurrency'?",
                      self.doetune("export", "tune", "--to", "llm-d", "--column", "concurency=x", expect=2).stderr)
        self.write("alone.yaml", STUDY[:STUDY.index("  set_up")].replace("workload: serving-load", "command: [echo]"))
        self.doetune("plan", "alone.yaml")
        self.assertIn("it needs run.set_up", self.doetune("export", "alone", "--to", "vllm-sweep", expect=3).stderr)
        searched = "concurrency: {low: 1, high: 64, search: largest, limits: {requests_per_second: \">= 1\"}}"
        self.write("searched.yaml", STUDY.replace("concurrency: {low: 1, high: 64, type: integer, scale: log2}", searched)
                   .replace("responses:\n", "responses:\n  concurrency: {}\n"))
        self.doetune("plan", "--elsewhere", "searched.yaml")
        self.assertIn("search for the largest concurrency",
                      self.doetune("export", "searched", "--to", "llm-d", expect=3).stderr)
        (self.directory / "elsewhere.csv").write_text("requests_per_second\n3\n")
        self.assertIn("run-N", self.doetune("import", "tune", "elsewhere.csv", expect=3).stderr)
        # Only what failed can be the result of a whole server.
        (self.directory / "runs-1-2").mkdir()
        (self.directory / "runs-1-2/run=0.json").write_text(json.dumps({"request_throughput": 3, "completed": 1}))
        self.assertIn("run-N", self.doetune("import", "tune", "runs-1-2", "--column",
                                            "requests_per_second=request_throughput", expect=3).stderr)

    def test_a_study_is_proposed_for_results(self):
        settings = itertools.product((1, 2, 4, 8), (1, 2), ("fast", "exact"))
        rows = [f"{batch},{threads},{mode},{batch * threads + i / 100},{3 / threads + batch / 7 + i / 100}"
                for i, (batch, threads, mode) in enumerate(settings)]
        (self.directory / "sweep.csv").write_text("\n".join(["batch,threads,mode,throughput,p99 latency (ms)"] + rows))
        self.doetune("init", "--from", "sweep.csv", "sweep.yaml")
        text = (self.directory / "sweep.yaml").read_text()
        self.assertIn("batch: {levels: [1, 2, 4, 8], scale: log2}", text)
        self.assertIn('mode: {levels: ["exact", "fast"]}', text)
        self.assertIn("throughput: {goal: maximize}", text)
        self.assertIn("#   doetune import sweep.yaml sweep.csv --column 'p99_latency=p99 latency (ms)'", text)
        self.doetune("import", "sweep.yaml", "sweep.csv", "--column", "p99_latency=p99 latency (ms)")
        self.doetune("optimize", "sweep")
        (self.directory / "same.csv").write_text("a,b\n1,2\n1,2\n")
        self.assertIn("no parameter varies", self.doetune("init", "--from", "same.csv", "x.yaml", expect=3).stderr)


if __name__ == "__main__":
    main()

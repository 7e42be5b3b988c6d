#!/usr/bin/env python3
"""Results of other tools as runs. The documents have the keys that the tools write (the sources name
their versions); the numbers are made up."""
import json
import sqlite3

from cli_case import CliCase, main

STUDY = """factors:
  batch: {low: 1, high: 64, type: integer}
  rate: {low: 0, high: 4}
responses: {time: {unit: s}}
model: linear
"""


class Import(CliCase):
    def setUp(self):
        super().setUp()
        self.write("s.yaml", STUDY)

    def imported(self, *arguments):
        document = self.json_of("import", "s.yaml", *arguments, "-o", "s")
        counts = self.json_of("status", "s")
        return document, counts

    def test_added_runs_are_made_by_the_user_where_there_is_no_program(self):
        self.write("t.csv", "batch,rate,time\n" + "".join(f"{b},{r},{b + r}\n" for b in (1, 9, 64) for r in (0, 4)))
        self.imported("t.csv")
        self.assertIn("Next: doetune next s\n", self.doetune("augment", "s", "--runs", "2").stderr)

    def test_a_table_of_triton_with_semicolons_and_a_mark(self):
        header = "Model;Batch;Request Rate;Model Config Path;Instance Group;Throughput (infer/sec);p99 Latency (ms)"
        rows = [f"m;{b};{r},5;c{b};{b}:GPU;{10 * b},5;{b},25" for b in (1, 2, 4) for r in (1, 2)]
        self.write("t.csv", "\ufeff" + "\n".join([header, *rows, "m;8;1"]) + "\n")
        document, counts = self.imported("t.csv", "--column", "rate=Request Rate", "--column", "time=p99_latency")
        self.assertEqual((document["runs"], counts["completed"]), (6, 6))
        self.assertIn("t.csv:8: 3 cells, but the header has 7", document["warnings"][0])
        self.assertIn("1.25", (self.directory / "s" / "results.csv").read_text())

    def test_levels_of_a_table_of_pandas(self):
        self.write("s.yaml", "factors: {amp: {levels: [true, false]}}\nresponses: {time: {}}\nmodel: linear\n")
        self.write("t.csv", "amp,time\nTrue,1\nFalse,2\nTrue,1.5\n")
        self.imported("t.csv")
        plan = (self.directory / "s" / "plan.csv").read_text()
        self.assertEqual((plan.count("true"), plan.count("false")), (2, 1))

    def vllm(self, batch, rate, **more):
        return {"date": "20260101-000000", "model_id": "m", "num_prompts": 8, "completed": 8, "batch": batch,
                "request_rate": rate, "request_throughput": 3.5, "mean_ttft_ms": 2.0 * batch + rate,
                "ttfts": [0.1, 0.2], **more}

    def test_json_lines_of_vllm_with_nan_and_a_damaged_line(self):
        lines = [json.dumps(self.vllm(b, r)) for b in (1, 2, 4) for r in (1, 2)]
        lines += [json.dumps(self.vllm(8, 1, mean_ttft_ms=float("nan"))), '{"request_throughput": 1, "com']
        self.write("v.json", "\n".join(lines))
        document, counts = self.imported("v.json", "--column", "rate=request_rate", "--column", "time=mean_ttft_ms")
        self.assertEqual((document["runs"], counts["completed"]), (7, 6))
        self.assertTrue(any("v.json:8: not valid JSON" in warning for warning in document["warnings"]))

    def test_a_sweep_of_vllm_counts_each_run_once_and_its_failures(self):
        for batch in (1, 2, 4):
            folder = self.directory / "sweep" / f"SERVE--batch={batch}"
            folder.mkdir(parents=True)
            runs = [self.vllm(batch, 1 + n, run_number=n) for n in range(2)]
            for n, run in enumerate(runs):
                (folder / f"run={n}.json").write_text(json.dumps(run))
            (folder / "summary.json").write_text(json.dumps(runs))
        (self.directory / "sweep" / "run=9.failure.json").write_text(json.dumps(
            {"run_number": 0, "error_type": "RuntimeError", "error": "CUDA out of memory",
             "serve_overrides": {"batch": 64}, "bench_overrides": {"request_rate": 3}}))
        document, counts = self.imported("sweep", "--column", "rate=request_rate", "--column", "time=mean_ttft_ms")
        self.assertEqual((document["runs"], counts["completed"]), (7, 6))
        self.assertIn("infeasible", (self.directory / "s" / "results.csv").read_text())
        self.doetune("fit", "s")

    def test_a_server_of_vllm_that_fails_fails_under_every_load(self):
        folder = self.directory / "sweep"
        for batch, rate in ((1, 1), (1, 2), (2, 1), (2, 2)):
            run = folder / f"SERVE--b{batch}-BENCH--r{rate}"
            run.mkdir(parents=True)
            (run / "run=0.json").write_text(json.dumps(self.vllm(batch, rate, seed=batch, _benchmark_name=f"r{rate}")))
        failure = {"error_type": "RuntimeError", "error": "Server process crashed with return code 1",
                   "serve_overrides": {"_benchmark_name": "b64", "batch": 64, "seed": 3}}
        (folder / "SERVE-b64-failure.json").write_text(json.dumps(failure))
        # An attempt that was repeated, or whose cache could not be cleared after the measurement.
        (run / "run=0.failure.json").write_text(json.dumps({**failure, "run_number": 0, "bench_overrides": {}}))
        # A failed replicate names no model: not a parameter in which replicates differ.
        (run / "run=1.failure.json").write_text(json.dumps(
            {**failure, "run_number": 1, "serve_overrides": {"batch": 2}, "bench_overrides": {"request_rate": 2}}))
        document, counts = self.imported("sweep", "--column", "rate=request_rate", "--column", "time=mean_ttft_ms")
        self.assertEqual((document["runs"], counts["completed"], document["warnings"]), (7, 4, []))
        failed = [line.split(",") for line in (self.directory / "s/results.csv").read_text().splitlines()
                  if ",failed," in line]
        self.assertEqual([row[5:7] for row in failed], [["2", "2"], ["64", "1"], ["64", "2"]])
        self.doetune("init", "--from", "sweep", "proposed.yaml")
        proposed = (self.directory / "proposed.yaml").read_text()
        self.assertNotIn("seed", proposed)
        self.assertIn("request_rate: {levels: [1, 2]}", proposed)

    def test_configurations_of_triton_that_the_table_does_not_tell_apart(self):
        header = "Model,Batch,Concurrency,Model Config Path,Instance Group,Throughput (infer/sec),p99 Latency (ms)"
        rows = [f"m,{b},4,m_config_{c},1:CPU,{10 * b},{b + c}" for b in (1, 2, 4) for c in (0, 1)]
        self.write("t.csv", "\n".join([header, *rows]) + "\n")
        columns = ("--column", "rate=Concurrency", "--column", "time=p99_latency")
        document, _ = self.imported("t.csv", *columns)
        warning, = document["warnings"]
        self.assertIn("runs with equal settings of the factors differ in 'Model Config Path'", warning)
        self.doetune("init", "--from", "t.csv", "proposed.yaml")
        self.assertIn("model_config_path: {levels: [", (self.directory / "proposed.yaml").read_text())
        self.write("s.yaml", STUDY.replace("factors:", "factors:\n  config: {levels: [m_config_0, m_config_1]}"))
        document = self.json_of("import", "s.yaml", "t.csv", *columns, "--column", "config=Model Config Path", "-o", "s2")
        self.assertEqual(document["warnings"], [])
        self.assertIn("m_config_1", (self.directory / "s2/results.csv").read_text())

    def test_a_folder_of_aiperf(self):
        for batch in (1, 2, 4):
            for rate in (1, 2):
                folder = self.directory / "air" / f"{batch}-{rate}"
                folder.mkdir(parents=True)
                (folder / "profile_export_aiperf.json").write_text(json.dumps(
                    {"request_latency": {"unit": "ms", "avg": batch + rate, "p99": 2 * batch}, "is_complete": True,
                     "input_config": {"phases": [{"name": "p", "batch": batch, "rate": rate}]}}))
                (folder / "profile_export_aiperf.csv").write_text("Metric,avg\nRequest Latency (ms),1\n")
        document, counts = self.imported("air", "--column", "time=request_latency_avg")
        self.assertEqual((document["runs"], counts["completed"], document["warnings"]), (6, 6, []))

    def test_benchmarks_of_guidellm(self):
        runs = [{"config": {"strategy": {"type_": "concurrent", "streams": b}, "backend": {"extras": {"rate": r}}},
                 "metrics": {"request_totals": {"successful": 0 if b == 4 and r == 2 else 5},
                             "request_latency": {"successful": {"mean": b + r, "percentiles": {"p99": 9}}}}}
                for b in (1, 2, 4) for r in (1, 2)]
        self.write("benchmarks.json", json.dumps({"metadata": {}, "benchmarks": runs}))
        document, counts = self.imported("benchmarks.json", "--column", "batch=streams",
                                         "--column", "time=request_latency_mean")
        self.assertEqual((document["runs"], counts["completed"]), (6, 5))

    def storage(self):
        database = sqlite3.connect(self.directory / "o.db")
        database.executescript("""
            CREATE TABLE studies (study_id INTEGER, study_name TEXT);
            CREATE TABLE study_directions (study_id INTEGER, direction TEXT, objective INTEGER);
            CREATE TABLE study_system_attributes (study_id INTEGER, key TEXT, value_json TEXT);
            CREATE TABLE trials (trial_id INTEGER, number INTEGER, study_id INTEGER, state TEXT);
            CREATE TABLE trial_params (param_id INTEGER, trial_id INTEGER, param_name TEXT, param_value FLOAT,
                                       distribution_json TEXT);
            CREATE TABLE trial_values (trial_id INTEGER, objective INTEGER, value FLOAT);
            CREATE TABLE trial_user_attributes (trial_id INTEGER, key TEXT, value_json TEXT);
            INSERT INTO studies VALUES (1, 'made-up');
            INSERT INTO study_directions VALUES (1, 'MINIMIZE', 0);""")
        choices = json.dumps({"name": "CategoricalDistribution", "attributes": {"choices": [1, 2, 4]}})
        states = ["COMPLETE"] * 7 + ["PRUNED", "FAIL", "RUNNING"]
        for trial, state in enumerate(states):
            database.execute("INSERT INTO trials VALUES (?, ?, 1, ?)", (trial, trial, state))
            database.execute("INSERT INTO trial_params VALUES (?, ?, 'batch', ?, ?)", (2 * trial, trial, trial % 3, choices))
            database.execute("INSERT INTO trial_params VALUES (?, ?, 'rate', ?, '{}')", (2 * trial + 1, trial, trial / 4))
            if state == "COMPLETE":
                database.execute("INSERT INTO trial_values VALUES (?, 0, ?)", (trial, 0.5 + trial))
        database.commit()
        database.close()

    def test_a_storage_of_optuna(self):
        self.storage()
        document, counts = self.imported("o.db", "--column", "time=value")
        self.assertEqual((document["runs"], counts["completed"]), (9, 7))
        self.assertIn("1 unfinished trials", document["warnings"][0])

    def test_a_truncated_storage_is_refused(self):
        self.storage()
        whole = (self.directory / "o.db").read_bytes()
        for size in (16, 100, 1000, 4096, len(whole) // 2):
            (self.directory / "cut.db").write_bytes(whole[:size])
            self.assertIn("cut.db", self.error_of("import", "s.yaml", "cut.db", expect=3))

    def test_a_data_frame_of_optuna(self):
        rows = [f"{n},{1 + n},{2 ** (n % 3)},{n / 4},COMPLETE" for n in range(6)] + ["6,,4,1,PRUNED"]
        self.write("o.csv", "number,value,params_batch,params_rate,state\n" + "\n".join(rows) + "\n")
        document, counts = self.imported("o.csv", "--column", "time=value")
        self.assertEqual((document["runs"], counts["completed"]), (7, 6))

    def test_commands_of_hyperfine(self):
        results = [{"command": "x", "mean": b + r, "stddev": 0.5, "median": b, "times": [b, b + 1],
                    "exit_codes": [77 if b == 4 and r == 2 else 0, 0], "parameters": {"batch": str(b), "rate": str(r)}}
                   for b in (1, 2, 4) for r in (1, 2)]
        self.write("h.json", json.dumps({"results": results}))
        document, counts = self.imported("h.json", "--column", "time=mean")
        self.assertEqual((document["runs"], counts["completed"]), (6, 5))
        self.assertIn('"repeats"', (self.directory / "s" / "runs.jsonl").read_text())

    def test_runs_of_mlflow_in_the_order_in_which_they_started(self):
        rows = [f"r{n},1,{'FAILED' if n == 2 else 'FINISHED'},2026-01-0{9 - n},{n},{2 ** (n % 3)},{n / 4}"
                for n in range(6)]
        self.write("m.csv", "run_id,experiment_id,status,start_time,metrics.time,params.batch,params.rate\n" +
                   "\n".join(rows) + "\n")
        document, counts = self.imported("m.csv")
        self.assertEqual((document["runs"], counts["completed"]), (6, 5))
        self.assertTrue((self.directory / "s" / "plan.csv").read_text().splitlines()[1].endswith(",4,1.25"))

    def test_mistakes_are_told_with_the_nearest_name(self):
        self.write("o.csv", "number,value,params_batsh,params_rate,state\n0,1,2,3,COMPLETE\n")
        self.assertIn("did you mean 'batsh'?", self.error_of("import", "s.yaml", "o.csv", expect=3))
        self.assertIn("did you mean 'value'?", self.error_of("import", "s.yaml", "o.csv", "--column", "time=valu", expect=3))
        self.assertIn("did you mean 'time'?", self.error_of("import", "s.yaml", "o.csv", "--column", "tme=value", expect=2))
        self.assertIn("did you mean 'optuna'?", self.error_of("import", "s.yaml", "o.csv", "--format", "optuma", expect=2))
        self.write("cut.json", '{"results": [{"command": "x",\n "mean": ')
        self.assertIn("cut.json:2: not valid JSON", self.error_of("import", "s.yaml", "cut.json", expect=3))
        self.write("deep.json", "[" * 100000)
        self.assertIn("deep.json", self.error_of("import", "s.yaml", "deep.json", expect=3))

    def test_a_bad_cell_is_a_fault_of_the_results(self):
        self.write("bad.csv", "batch,rate,time\n1,1,2\n2,1,slow\n")
        document = json.loads(self.doetune("import", "s.yaml", "bad.csv", "--json", expect=3).stdout)
        self.assertEqual((document["file"], document["line"]), ("bad.csv", 3))
        self.assertIn("results", document["meaning"])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Searches that are replayed against a table.

usage: test_replay.py DOETUNE SOURCE_TREE
"""
from cli_case import CliCase, main
from search_case import BENCH, STUDY


class Replay(CliCase):
    study, program = STUDY, BENCH

    def setUp(self):
        super().setUp()
        lines = ["executors,batch,throughput,latency,status"]
        for executors in range(1, 9):
            for batch in (1, 2, 4, 8, 16, 32):
                y = 1000 - 20 * (executors - 6) ** 2 - 1.5 * (batch - 8) ** 2
                lines.append(f"{executors},{batch},,,infeasible" if executors * batch > 60 else
                             f"{executors},{batch},{y},{2 * batch + executors},completed")
        self.write("table.csv", "\n".join(lines) + "\n")

    def test_strategies_against_a_table(self):
        told = self.json_of("replay", "tune.yaml", "table.csv", "--searches", 4, "--budget", "8,14", "--noise", "0.01")
        by_name = {one["strategy"]: one for one in told["strategies"]}
        self.assertEqual(list(by_name), ["tune", "one-shot", "random"])
        tune, random = by_name["tune"]["budgets"][1], by_name["random"]["budgets"][1]
        self.assertEqual((tune["runs"], len(tune["worth"])), (14, 4))
        self.assertGreaterEqual(tune["median"], 0.97)
        self.assertGreater(tune["median"], random["median"])
        self.assertEqual(tune["failing"], 0)
        text = self.doetune("replay", "tune.yaml", "table.csv", "--searches", 1, "--budget", 8).stdout
        self.assertIn("worst tenth", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_responses_with_a_formula_are_computed(self):
        """As by `import`; a column of the table is taken where what it derives from is lost."""
        arguments = ("tune.yaml", "table.csv", "--searches", 2, "--budget", "8", "--strategy", "random")
        self.write("tune.yaml", STUDY.replace("latency: {", "more: {formula: throughput + latency}\n  latency: {"))
        derived = self.json_of("replay", *arguments)
        header, *rows = (self.directory / "table.csv").read_text().splitlines()
        self.write("table.csv", "\n".join([header + ",more", *(row + ",1" for row in rows)]) + "\n")
        self.assertEqual(self.json_of("replay", *arguments), derived)
        self.write("tune.yaml", STUDY.replace("throughput: {", "throughput: {formula: latency / power, ")
                   .replace("telemetry: 0", "telemetry: 1"))
        self.json_of("replay", *arguments)

    def test_mistakes(self):
        for arguments, message in [
                (["--strategy", "tun"], "did you mean 'tune'"), (["--budget", "9,8"], "ascending"),
                (["--noise", "-1"], "--noise: expected"), (["--searches", 0], "--searches: expected")]:
            with self.subTest(message):
                self.assertIn(message, self.error_of("replay", "tune.yaml", "table.csv", *arguments, expect=2))
        self.write("table.csv", "executors,batch,throughput,latency\n1,1,5,99\n")
        self.assertIn("no row of the table", self.error_of("replay", "tune.yaml", "table.csv", expect=2))


if __name__ == "__main__":
    main()

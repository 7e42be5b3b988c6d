"""The systems that search strategies are compared on: simulated servers, and recorded tables.

Each case is a list of factors with their levels, the goals, and a table with a row for each
configuration; `write` makes a study file and a CSV of it, as `doetune replay` reads them.
"""
import csv
import dataclasses
import itertools
import pathlib


@dataclasses.dataclass
class Case:
    name: str
    factors: dict      # name -> levels, ascending
    maximize: bool     # the first response, else it is minimised
    response: str
    limits: dict       # response -> highest value allowed
    rows: list         # (settings by factor, responses by name or None where it cannot run)

    def study(self):
        lines = [f"study: {self.name}", 'command: ["true"]', "factors:"]
        for name, levels in self.factors.items():
            scale = ", scale: log2" if doubles(levels) else ""
            lines.append(f"  {name}: {{levels: [{', '.join(f'{level:g}' for level in levels)}]{scale}}}")
        lines += ["model: linear", "responses:"]
        goal = "maximize" if self.maximize else "minimize"
        lines.append(f"  {self.response}: {{goal: {goal}, transform: log}}")
        lines += [f"  {name}: {{goal: at_most, high: {high}, transform: log}}" for name, high in self.limits.items()]
        return "\n".join(lines) + "\n"

    def write(self, directory):
        study, table = directory / f"{self.name}.yaml", directory / f"{self.name}.csv"
        study.write_text(self.study(), encoding="utf-8")
        responses = [self.response, *self.limits]
        with open(table, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([*self.factors, *responses, "status"])
            for settings, values in self.rows:
                measured = ["" if values is None else repr(values[name]) for name in responses]
                writer.writerow([f"{settings[name]:g}" for name in self.factors]
                                + measured + ["infeasible" if values is None else "completed"])
        return study, table


def doubles(levels):
    """Whether a logarithmic scale spaces the levels more evenly."""
    return levels[0] > 0 and levels[-1] / levels[0] >= 8


def simulated(name, factors, limits, truth):
    """A full grid; truth(**settings) gives the responses, or None where memory does not suffice."""
    rows = []
    for combination in itertools.product(*factors.values()):
        settings = dict(zip(factors, combination))
        rows.append((settings, truth(**settings)))
    return Case(name, factors, True, "throughput", limits, rows)


def server(executors, batch, decoders, half):
    """An inference server: executors share a GPU, decoders feed them."""
    speed = 1.8 if half else 1
    if executors * (1.2 + 0.35 * batch / speed) + 0.2 * decoders > 32:
        return None
    step_ms = (2 + 0.9 * batch**0.85) / speed
    offered = 1000 * executors * batch / step_ms / (1 + 0.08 * (executors - 1)**1.5)
    return {"throughput": 1 / (1 / offered + 1 / (180 * decoders)),
            "latency": step_ms * (1 + 0.35 * (executors - 1)) + 30 * batch / decoders / 8}


def language_model(parallel, sequences, tokens, memory, blocks):
    """A language model's server: tensor parallelism, sequences at a time, tokens of a prefill step,
    the fraction of memory for keys and values, and the tokens of a block of them."""
    weights, total = 60 / parallel, 80.0
    cache = memory * total - weights - 4e-4 * tokens
    if cache < 2 + 0.05 * sequences:
        return None
    concurrent = min(sequences, cache * (1 - 0.002 * blocks) * 2.2 * parallel)
    step_ms = (6 + 60 / parallel / 3 + 0.11 * concurrent + 0.7 * parallel**1.2
               + 0.004 * tokens + 60 / blocks)
    stalls = 1 + max(0.0, sequences - concurrent) / sequences
    return {"throughput": 1000 * concurrent / step_ms / stalls / parallel,
            "latency": step_ms * stalls}


def recorded(name, table, factors, response, maximize, limits=None):
    """All rows of a CSV table; its columns are known by these names."""
    with open(table, encoding="utf-8") as file:
        read = [{column: float(cell) for column, cell in row.items()} for row in csv.DictReader(file)]
    limits = limits or {}
    levels = {factor: sorted({row[factor] for row in read}) for factor in factors}
    rows = [({factor: row[factor] for factor in factors}, {column: row[column] for column in [response, *limits]})
            for row in read]
    return Case(name, levels, maximize, response, limits, rows)


def all_cases(tables: pathlib.Path):
    cases = [
        simulated("server", {"executors": [1, 2, 3, 4, 5, 6, 7, 8], "batch": [1, 2, 4, 8, 16, 32, 64],
                             "decoders": [4, 8, 12, 16, 24, 32], "half": [0, 1]}, {"latency": 60}, server),
        simulated("language-model", {"parallel": [1, 2, 4, 8], "sequences": [8, 16, 32, 64, 128, 256],
                                     "tokens": [512, 1024, 2048, 4096, 8192], "memory": [0.5, 0.6, 0.7, 0.8, 0.9],
                                     "blocks": [8, 16, 32, 64, 128]}, {"latency": 50}, language_model),
    ]
    storm = {"a": ["spout_wait", "spliters", "counters"], "e": ["max_spout", "spliters", "counters"],
             "j": ["spouts", "max_spout", "sorters", "emit_freq", "chunk_size", "message_size"]}
    for letter, factors in storm.items():
        table = tables / f"storm_ss_{letter}.csv"
        cases.append(recorded(f"storm-{letter}-throughput", table, factors, "throughput", True))
        cases.append(recorded(f"storm-{letter}-latency", table, factors, "latency", False))
    triton = ["instances", "max_batch_size", "concurrency"]
    table = tables / "triton_resnet50.csv"
    cases.append(recorded("triton-p99", table, triton, "throughput", True, {"latency_p99_ms": 50}))
    cases.append(recorded("triton-memory", table, triton, "throughput", True,
                          {"latency_avg_ms": 100, "gpu_memory_mb": 4000}))
    return cases

#!/usr/bin/env python3
"""Training images per second of our CPU engine and of PyTorch on the same network, batch, precision and threads.

Both stay loaded, in processes of their own, and take turns (A B A B ...), so a change in the machine's load meets both
alike. Needs `pip install torch`; see README.md.
"""
import argparse
import itertools
import os
import platform
import statistics
import subprocess
import sys
import time
import typing

import torch
from torch import nn


def unit(channels, filters, kernel, stride=1):
    """A convolution and its batch normalisation."""
    return nn.Sequential(nn.Conv2d(channels, filters, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(filters))


class Bottleneck(nn.Module):
    """1 x 1, 3 x 3 with the stride, 1 x 1 to four times the filters; a projection where the shape changes."""

    def __init__(self, channels, filters, stride):
        super().__init__()
        self.reduce = unit(channels, filters, 1)
        self.middle = unit(filters, filters, 3, stride)
        self.expand = unit(filters, 4 * filters, 1)
        self.shortcut = nn.Identity() if channels == 4 * filters else unit(channels, 4 * filters, 1, stride)

    def forward(self, x):
        y = torch.relu(self.middle(torch.relu(self.reduce(x))))
        return torch.relu(self.expand(y) + self.shortcut(x))


class Block(nn.Module):
    """Two 3 x 3 convolutions; a projection where the shape changes."""

    def __init__(self, channels, filters, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, filters, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(filters)
        self.conv2 = nn.Conv2d(filters, filters, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(filters)
        self.shortcut = nn.Identity()
        if stride > 1:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, filters, 1, stride, bias=False), nn.BatchNorm2d(filters))

    def forward(self, x):
        y = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(self.norm2(self.conv2(y)) + self.shortcut(x))


def resnet(filters, blocks):
    layers = [nn.Conv2d(3, filters, 3, 1, 1, bias=False), nn.BatchNorm2d(filters), nn.ReLU()]
    channels = filters
    for stage, count in enumerate(blocks):
        for block in range(count):
            layers.append(Block(channels, filters, 2 if stage > 0 and block == 0 else 1))
            channels = filters
        filters *= 2
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 100))


def resnet_50():
    layers = [unit(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for filters, count in [(64, 3), (128, 4), (256, 6), (512, 3)]:
        for block in range(count):
            layers.append(Bottleneck(channels, filters, 2 if filters > 64 and block == 0 else 1))
            channels = 4 * filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


def alexnet():
    layers = []
    for channels, filters, kernel, stride, pad, pool in [(3, 64, 11, 4, 2, True), (64, 192, 5, 1, 2, True),
                                                         (192, 384, 3, 1, 1, False), (384, 256, 3, 1, 1, False),
                                                         (256, 256, 3, 1, 1, True)]:
        layers += [nn.Conv2d(channels, filters, kernel, stride, pad), nn.ReLU()] + [nn.MaxPool2d(3, 2)] * pool
    layers += [nn.Flatten(), nn.Dropout(), nn.Linear(256 * 36, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, 4096),
               nn.ReLU(), nn.Linear(4096, 1000)]
    return nn.Sequential(*layers)


class Network(typing.NamedTuple):
    build: typing.Callable[[], nn.Module]
    size: int  # pixels of the input's height and width
    classes: int


NETWORKS = {"resnet-20": Network(lambda: resnet(16, [3, 3, 3]), 32, 100),
            "resnet-18": Network(lambda: resnet(64, [2, 2, 2, 2]), 32, 100),
            "resnet-50": Network(resnet_50, 224, 1000),
            "alexnet": Network(alexnet, 224, 1000)}


class Row(typing.NamedTuple):
    network: str
    precision: str
    threads: int
    batch: int


# What results.md records: both networks for CIFAR-100 in full, those for ImageNet at a small batch.
ALL_ROWS = [Row(*row) for row in itertools.product(["resnet-20", "resnet-18"], ["fp32", "bf16"], [1, 2], [32, 128])]
ALL_ROWS += [Row(*row) for row in itertools.product(["alexnet", "resnet-50"], ["fp32", "bf16"], [2], [8])]


def serve_peer(name, batch, precision, threads, layout):
    """The peer's side of bench_training's protocol."""
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    memory_format = torch.channels_last if "channels_last" in layout else torch.contiguous_format
    build, size, classes = NETWORKS[name]
    network = build().train().to(memory_format=memory_format)
    forward = torch.compile(network) if "compiled" in layout else network
    images = (2 * torch.rand(batch, 3, size, size) - 1).to(memory_format=memory_format)
    labels = torch.arange(batch) % classes
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            logits = forward(images)
        loss = nn.functional.cross_entropy(logits.float(), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    for _ in range(2):
        loss = step()
    print("ready", flush=True)
    for line in sys.stdin:
        start, start_cpu = time.perf_counter(), time.process_time()
        for _ in range(int(line)):
            loss = step()
        print(time.perf_counter() - start, time.process_time() - start_cpu, loss, flush=True)


class Side:
    """A process that trains on request. `clock` picks wall or CPU time; the latter is right for one thread alone."""

    def __init__(self, command, threads, clock):
        self.field = ["wall", "cpu"].index(clock)
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), GOMP_SPINCOUNT="1000")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)
        self.name = command[0]

    def wait_until_ready(self):
        if self.process.stdout.readline().strip() != "ready":
            sys.exit(f"{self.name} did not start")

    def seconds(self, steps):
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline().split()[self.field])

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare(program, row, layouts, rounds, clock, ends):
    """One row: images/s of ours and of each of the peer's layouts (best round, median), and ratios of pairs.

    No round begins after the time `ends`, but two are done."""
    network, precision, threads, batch = row
    arguments = [network, str(batch), precision, str(threads)]
    ours = Side([program, *arguments], threads, clock)
    peers = [Side([sys.executable, __file__, "--peer", *arguments, layout], threads, clock) for layout in layouts]
    for side in [ours, *peers]:
        side.wait_until_ready()
    slowest = max(side.seconds(1) for side in [ours, *peers])
    steps = max(1, round(0.5 / slowest))
    turns = []
    while len(turns) < rounds and (len(turns) < 2 or time.monotonic() < ends):
        turns.append((ours.seconds(steps), [peer.seconds(steps) for peer in peers]))
    for side in [ours, *peers]:
        side.close()
    images = steps * batch

    def speeds(seconds):
        return f"{images / min(seconds):.0f} ({images / statistics.median(seconds):.0f})"

    cells = [network, precision, str(threads), str(batch), str(len(turns)), speeds([mine for mine, _ in turns])]
    for peer in range(len(layouts)):
        cells.append(speeds([theirs[peer] for _, theirs in turns]))
    best_peer = [min(theirs) for _, theirs in turns]
    cells.append(f"{min(best_peer) / min(mine for mine, _ in turns):.2f}")
    cells.append(f"{statistics.median(min(theirs) / mine for mine, theirs in turns):.2f}")
    return cells


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        return next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), "unknown")


def main():
    if sys.argv[1:2] == ["--peer"]:
        network, batch, precision, threads, layout = sys.argv[2:]
        serve_peer(network, int(batch), precision, int(threads), layout)
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="path of bench_training")
    parser.add_argument("--networks", nargs="+", default=["resnet-20", "resnet-18"], choices=NETWORKS)
    parser.add_argument("--batches", type=int, nargs="+", default=[32, 128])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--precisions", nargs="+", default=["fp32", "bf16"])
    parser.add_argument("--layouts", nargs="+", default=["contiguous", "channels_last"],
                        help="of PyTorch: contiguous, channels_last, contiguous-compiled, channels_last-compiled")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall",
                        help="cpu: images per CPU second, for one thread on a busy machine")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--all", action="store_true", help="the rows that results.md records")
    parser.add_argument("--minutes", type=float, default=1e6,
                        help="for all rows together; each has two rounds at least")
    options = parser.parse_args()
    rows = ALL_ROWS if options.all else [
        Row(*row) for row in itertools.product(options.networks, options.precisions, options.threads, options.batches)]
    print(f"{cpu_name()}, {os.cpu_count()} cores, {platform.system()}; PyTorch {torch.__version__}; "
          f"up to {options.rounds} rounds of {options.clock} time; load average {os.getloadavg()[0]:.1f}\n")
    columns = ["network", "precision", "threads", "batch", "rounds", "ours, images/s: best (median)"]
    columns += [f"PyTorch {layout}: best (median)" for layout in options.layouts]
    columns += ["ratio of best", "median ratio of turns"]
    print("| " + " | ".join(columns) + " |\n|" + "-|" * len(columns))
    deadline = time.monotonic() + 60 * options.minutes
    for number, row in enumerate(rows):
        now = time.monotonic()
        ends = now + (deadline - now) / (len(rows) - number)
        cells = compare(options.program, row, options.layouts, options.rounds, options.clock, ends)
        print("| " + " | ".join(cells) + " |", flush=True)
    print(f"\nload average {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()

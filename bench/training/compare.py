#!/usr/bin/env python3
"""Training images per second of our CPU engine and of PyTorch on the same network, batch, precision and threads.

Both stay loaded, in processes of their own, and take turns (A B A B ...), so a change in the machine's load meets both
alike. Needs `pip install torch`; see README.md.
"""
import argparse
import os
import platform
import statistics
import subprocess
import sys
import time

import torch
from torch import nn


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


NETWORKS = {"resnet-20": lambda: resnet(16, [3, 3, 3]), "resnet-18": lambda: resnet(64, [2, 2, 2, 2])}


def serve_peer(name, batch, precision, threads, layout):
    """The peer's side of bench_training's protocol."""
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    memory_format = torch.channels_last if "channels_last" in layout else torch.contiguous_format
    network = NETWORKS[name]().train().to(memory_format=memory_format)
    forward = torch.compile(network) if "compiled" in layout else network
    images = (2 * torch.rand(batch, 3, 32, 32) - 1).to(memory_format=memory_format)
    labels = torch.arange(batch) % 100
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
        if self.process.stdout.readline().strip() != "ready":
            sys.exit(f"{command[0]} did not start")

    def seconds(self, steps):
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline().split()[self.field])

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare(program, network, batch, precision, threads, layouts, rounds, clock):
    """One row: images/s of ours and of each of the peer's layouts (best round, median), and ratios of pairs."""
    arguments = [network, str(batch), precision, str(threads)]
    ours = Side([program, *arguments], threads, clock)
    peers = [Side([sys.executable, __file__, "--peer", *arguments, layout], threads, clock) for layout in layouts]
    slowest = max(side.seconds(1) for side in [ours, *peers])
    steps = max(1, round(0.5 / slowest))
    turns = [(ours.seconds(steps), [peer.seconds(steps) for peer in peers]) for _ in range(rounds)]
    for side in [ours, *peers]:
        side.close()
    images = steps * batch

    def speeds(seconds):
        return f"{images / min(seconds):.0f} ({images / statistics.median(seconds):.0f})"

    cells = [network, precision, str(threads), str(batch), speeds([mine for mine, _ in turns])]
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
    options = parser.parse_args()
    print(f"{cpu_name()}, {os.cpu_count()} cores, {platform.system()}; PyTorch {torch.__version__}; "
          f"{options.rounds} rounds of {options.clock} time; load average {os.getloadavg()[0]:.1f}\n")
    columns = ["network", "precision", "threads", "batch", "ours, images/s: best (median)"]
    columns += [f"PyTorch {layout}: best (median)" for layout in options.layouts]
    columns += ["ratio of best", "median ratio of turns"]
    print("| " + " | ".join(columns) + " |\n|" + "-|" * len(columns))
    for network in options.networks:
        for precision in options.precisions:
            for threads in options.threads:
                for batch in options.batches:
                    row = compare(options.program, network, batch, precision, threads, options.layouts, options.rounds,
                                  options.clock)
                    print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()

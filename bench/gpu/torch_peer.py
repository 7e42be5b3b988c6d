#!/usr/bin/env python3
"""Images per second of PyTorch on the GPU: the networks that bench_gpu times, batch normalisation folded, in bf16,
channels last, compiled, in CUDA graphs, the input resident. One JSON line a batch.

    torch_peer.py NETWORK SECONDS BATCH...    or    torch_peer.py ceilings
"""
import json
import sys
import time

import torch
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, inputs, filters, stride, project):
        super().__init__()
        self.shortcut = nn.Conv2d(inputs, 4 * filters, 1, stride) if project else nn.Identity()
        self.branch = nn.Sequential(nn.Conv2d(inputs, filters, 1), nn.ReLU(),
                                    nn.Conv2d(filters, filters, 3, stride, 1), nn.ReLU(),
                                    nn.Conv2d(filters, 4 * filters, 1))

    def forward(self, x):
        return torch.relu(self.branch(x) + self.shortcut(x))


def resnet_50():
    layers, inputs = [nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for filters, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            layers.append(Bottleneck(inputs, filters, 2 if block == 0 and filters > 64 else 1, block == 0))
            inputs = 4 * filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000)), 224


def tiny_yolov2():
    layers, inputs = [], 3
    for i, filters in enumerate((16, 32, 64, 128, 256, 512, 1024, 1024)):
        layers += [nn.Conv2d(inputs, filters, 3, 1, 1), nn.LeakyReLU(0.1)]
        if i < 5:
            layers.append(nn.MaxPool2d(2))
        if i == 5:
            layers += [nn.ReplicationPad2d((0, 1, 0, 1)), nn.MaxPool2d(2, 1)]
        inputs = filters
    return nn.Sequential(*layers, nn.Conv2d(inputs, 125, 1)), 416


def seconds_of(work, least):
    """Seconds of one call, by events, over at least `least` seconds."""
    for _ in range(5):
        work()
    torch.cuda.synchronize()
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < least or calls < 3:
        for _ in range(4):
            work()
        torch.cuda.synchronize()
        calls += 4
    return (time.perf_counter() - start) / calls


def ceilings():
    """What a large matrix product and a large copy reach."""
    n = 8192
    a, b = (torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    big = torch.empty(1 << 30, device="cuda", dtype=torch.uint8).random_()
    to = torch.empty_like(big)
    return {"operations_per_s": 2 * n**3 / seconds_of(lambda: a @ b, 1),
            "bytes_per_s": 2 * big.numel() / seconds_of(lambda: to.copy_(big), 1)}


@torch.inference_mode()
def main():
    if sys.argv[1] == "ceilings":
        print(json.dumps(ceilings()))
        return
    model, size = {"resnet-50": resnet_50, "tiny-yolov2": tiny_yolov2}[sys.argv[1]]()
    model = model.eval().cuda().to(torch.bfloat16).to(memory_format=torch.channels_last)
    for batch in map(int, sys.argv[3:]):
        compiled = torch.compile(model, mode="reduce-overhead", dynamic=False)
        x = torch.rand(batch, 3, size, size, device="cuda").to(torch.bfloat16)
        x = x.to(memory_format=torch.channels_last)
        seconds = seconds_of(lambda: compiled(x), float(sys.argv[2]))
        print(json.dumps({"network": sys.argv[1], "batch": batch, "torch": torch.__version__,
                          "images_per_s": batch / seconds}), flush=True)


if __name__ == "__main__":
    main()

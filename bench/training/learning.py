#!/usr/bin/env python3
"""Accuracies on held-out generated images over data set size, epochs, batch size and learning rate, beside what a prototype
of the generator reached (a network of three convolutions of its own). See learning.md."""
import argparse
import json
import os
import statistics
import subprocess

# data_size, epochs, batch_size, learning_rate, lr_step; what the prototype reached after which epochs, %
CASES = [
    (12000, 10, 64, 0.05, None, {2: 4, 5: 74, 10: 78}),
    (12000, 10, 64, 0.05, 6, {10: 83}),
    (12000, 5, 16, 0.05, None, {5: 69}),
    (12000, 5, 256, 0.05, None, {5: 3}),
    (12000, 5, 256, 0.2, None, {5: 39}),
    (12000, 5, 64, 0.005, None, {5: 1}),
    (12000, 5, 64, 0.2, None, {5: 59}),
    (3000, 20, 64, 0.05, None, {20: 64}),
    (6000, 10, 64, 0.05, None, {10: 71}),
]


def accuracies(program, options, case, seed):
    """Held-out accuracy after each epoch; that of guessing once the loss has diverged."""
    size, epochs, batch, rate, step, _ = case
    command = [program, "--network", options.network, "--classes", options.classes, "--device", options.device, "--threads",
               "1", "--data_size", str(size), "--epochs", str(epochs), "--batch_size", str(batch), "--learning_rate",
               str(rate), "--seed", str(seed)]
    if step:
        command += ["--lr_step", str(step)]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    reached = json.loads(answer)["series"].get("epoch_accuracy", [])
    return reached + [100 / int(options.classes)] * (epochs - len(reached))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="path of train-classifier")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--classes", choices=["20", "100"], default="20")
    parser.add_argument("--network", default="small-cnn")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    print(f"{options.network}, {options.classes} classes, {options.device}, seeds {options.seeds}; "
          f"load average {os.getloadavg()[0]:.1f}\n")
    print("| images | batch | learning rate | epochs | accuracy, %, of each seed | mean | prototype |\n|-|-|-|-|-|-|-|")
    for case in CASES:
        size, _, batch, rate, step, stated = case
        curves = [accuracies(options.program, options, case, seed) for seed in options.seeds]
        for epoch, prototype in stated.items():
            values = [curve[epoch - 1] for curve in curves]
            falls = f", / 10 after {step}" if step else ""
            print(f"| {size} | {batch} | {rate}{falls} | {epoch} | {' '.join(f'{v:.1f}' for v in values)} | "
                  f"{statistics.mean(values):.1f} | {prototype} |", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Tokens per second of our CPU engine and of PyTorch (transformers' Llama) on the same model and requests.

Both stay loaded and take turns (A B A B ...), so a change in the machine's load meets both alike. The answers
are compared token for token. Needs `pip install torch transformers`; see README.md.
"""
import argparse
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
import transformers


class Ours:
    def __init__(self, program, model, batch, prompt, answer, precision, cache, threads, folder):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), GOMP_SPINCOUNT="1000")  # as executors have it
        command = [program, model, *map(str, (batch, prompt, answer)), precision, cache, str(threads), folder]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)
        if self.process.stdout.readline().strip() != "ready":
            sys.exit("bench_language did not start")

    def times(self):
        self.process.stdin.write("1\n")
        self.process.stdin.flush()
        return tuple(map(float, self.process.stdout.readline().split()))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def tensors_of(shape, weights):
    """The weights by transformers' names, in the order of decoder_weights.h."""
    width, ffn, vocabulary = shape["width"], shape["ffn_width"], shape["vocabulary"]
    keys = width // shape["heads"] * shape["kv_heads"]
    named = [("model.embed_tokens.weight", (vocabulary, width))]
    for layer in range(shape["layers"]):
        own = [("input_layernorm", (width,)), ("self_attn.q_proj", (width, width)), ("self_attn.k_proj", (keys, width)),
               ("self_attn.v_proj", (keys, width)), ("self_attn.o_proj", (width, width)),
               ("post_attention_layernorm", (width,)), ("mlp.gate_proj", (ffn, width)), ("mlp.up_proj", (ffn, width)),
               ("mlp.down_proj", (width, ffn))]
        named += [(f"model.layers.{layer}.{name}.weight", size) for name, size in own]
    named.append(("model.norm.weight", (width,)))
    if not shape["tied_embeddings"]:
        named.append(("lm_head.weight", (vocabulary, width)))
    tensors, at = {}, 0
    for name, size in named:
        count = int(np.prod(size))
        tensors[name] = torch.from_numpy(weights[at:at + count].reshape(size))
        at += count
    assert at == len(weights)
    if shape["tied_embeddings"]:
        tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]
    return tensors


class Peer:
    """transformers' Llama in fp32, with its dynamic cache and PyTorch's fused attention."""

    def __init__(self, folder, threads):
        torch.set_num_threads(threads)
        with open(f"{folder}/shape.json", encoding="utf-8") as file:
            shape = json.load(file)
        with open(f"{folder}/answers.json", encoding="utf-8") as file:
            requests = json.load(file)
        config = transformers.LlamaConfig(
            vocab_size=shape["vocabulary"], hidden_size=shape["width"], intermediate_size=shape["ffn_width"],
            num_hidden_layers=shape["layers"], num_attention_heads=shape["heads"],
            num_key_value_heads=shape["kv_heads"], max_position_embeddings=shape["positions"],
            rope_theta=shape["rotary_base"], rms_norm_eps=shape["norm_epsilon"],
            rope_parameters={"rope_type": "default", "rope_theta": shape["rotary_base"]},
            tie_word_embeddings=shape["tied_embeddings"], attn_implementation="sdpa")
        with torch.device("meta"):
            self.model = transformers.LlamaForCausalLM(config)
        self.model.to_empty(device="cpu")
        self.model.model.rotary_emb = type(self.model.model.rotary_emb)(config=config)
        weights = np.fromfile(f"{folder}/weights.f32", np.float32)
        self.model.load_state_dict(tensors_of(shape, weights), strict=True)
        self.model.eval()
        self.prompts = torch.tensor([request["prompt"] for request in requests])
        self.theirs = torch.tensor([request["answer"] for request in requests])

    @torch.inference_mode()
    def times(self):
        start = time.perf_counter()
        output = self.model(self.prompts, use_cache=True, logits_to_keep=1)
        token = output.logits[:, -1].argmax(-1, keepdim=True)
        tokens, first = [token], time.perf_counter()
        while len(tokens) < self.theirs.shape[1]:
            output = self.model(token, past_key_values=output.past_key_values, use_cache=True)
            token = output.logits[:, -1].argmax(-1, keepdim=True)
            tokens.append(token)
        self.answer = torch.cat(tokens, 1)
        return first - start, time.perf_counter() - first

    def agreement(self):
        """Tokens up to the first difference of each answer, as a part of all."""
        same = (self.answer == self.theirs).int().cumprod(1)
        return float(same.float().mean())


def compare(program, model, batch, prompt, answer, precision, cache, threads, rounds):
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(program, model, batch, prompt, answer, precision, cache, threads, folder)
        peer = Peer(folder, threads)
    peer.times()
    rows = [(ours.times(), peer.times()) for _ in range(rounds)]
    ours.close()
    row = {"model": model, "precision": precision, "cache": cache, "threads": threads, "batch": batch,
           "agreement": peer.agreement()}
    for part, tokens, which in (("prefill", batch * prompt, 0), ("decode", batch * (answer - 1), 1)):
        mine, theirs = [a[which] for a, _ in rows], [b[which] for _, b in rows]
        row[part] = [tokens / min(mine), tokens / min(theirs)]
        row[part + "_ratio"] = statistics.median(b / a for a, b in zip(mine, theirs))
    return row


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        return next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), "unknown")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="path of bench_language")
    parser.add_argument("--models", nargs="+", default=["smollm2-135m"])
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--formats", nargs="+", default=["fp32/fp32"], help="weights/cache, such as bf16/int8")
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--answer", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{cpu_name()}, {os.cpu_count()} cores, {platform.system()}; PyTorch {torch.__version__}, transformers "
          f"{transformers.__version__}; prompts of {options.prompt} tokens, answers of {options.answer}; "
          f"{options.rounds} rounds; load average at the start {os.getloadavg()[0]:.1f}\n")
    print("| model | ours: weights, cache | threads | batch | prompts, tokens/s: ours | PyTorch | median ratio "
          "| answers, tokens/s: ours | PyTorch | median ratio | same tokens |")
    print("|-|-|-|-|-|-|-|-|-|-|-|")
    for model, formats, threads, batch in itertools.product(options.models, options.formats, options.threads,
                                                            options.batches):
        row = compare(options.program, model, batch, options.prompt, options.answer, *formats.split("/"), threads,
                      options.rounds)
        print("| {model} | {precision}, {cache} | {threads} | {batch} | {prefill[0]:.0f} | {prefill[1]:.0f} "
              "| {prefill_ratio:.2f} | {decode[0]:.1f} | {decode[1]:.1f} | {decode_ratio:.2f} "
              "| {agreement:.0%} |".format(**row), flush=True)
    print(f"\nLoad average at the end {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Images per second of PyTorch on the GPU: the networks that bench_gpu times, batch normalisation folded, in bf16,
channels last, compiled, in CUDA graphs, the input resident; or, with `train`, steps of SGD with momentum and weight
decay as bench_training takes them, under autocast to bf16. One JSON line a batch, for each line on standard input.
With `language`, a decoder as llm-inference has it, layers compiled, steps in CUDA graphs: one line of all batches.

    torch_peer.py NETWORK SECONDS BATCH...    torch_peer.py train NETWORK SECONDS BATCH...    torch_peer.py ceilings
    torch_peer.py language MODEL PROMPT ANSWER BATCH...
    torch_peer.py profile NETWORK BATCH       torch_peer.py profile-train NETWORK BATCH       the time of each kernel
"""
import json
import sys
import time

import torch
from torch import nn


def conv(inputs, filters, kernel, stride=1, normalised=False):
    """With batch normalisation in the place of a bias, or with a bias, into which it was folded."""
    layers = [nn.Conv2d(inputs, filters, kernel, stride, kernel // 2, bias=not normalised)]
    return nn.Sequential(*layers, nn.BatchNorm2d(filters)) if normalised else layers[0]


class Bottleneck(nn.Module):
    def __init__(self, inputs, filters, stride, project, normalised):
        super().__init__()
        self.shortcut = conv(inputs, 4 * filters, 1, stride, normalised) if project else nn.Identity()
        self.branch = nn.Sequential(conv(inputs, filters, 1, 1, normalised), nn.ReLU(),
                                    conv(filters, filters, 3, stride, normalised), nn.ReLU(),
                                    conv(filters, 4 * filters, 1, 1, normalised))

    def forward(self, x):
        return torch.relu(self.branch(x) + self.shortcut(x))


def resnet_50(normalised=False):
    layers, inputs = [conv(3, 64, 7, 2, normalised), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for filters, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            layers.append(Bottleneck(inputs, filters, 2 if block == 0 and filters > 64 else 1, block == 0, normalised))
            inputs = 4 * filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000)), 224


def alexnet():
    def same(inputs, filters, kernel):
        return [nn.Conv2d(inputs, filters, kernel, 1, kernel // 2), nn.ReLU()]

    return nn.Sequential(nn.Conv2d(3, 64, 11, 4, 2), nn.ReLU(), nn.MaxPool2d(3, 2), *same(64, 192, 5),
                         nn.MaxPool2d(3, 2), *same(192, 384, 3), *same(384, 256, 3), *same(256, 256, 3),
                         nn.MaxPool2d(3, 2), nn.Flatten(), nn.Dropout(), nn.Linear(9216, 4096), nn.ReLU(), nn.Dropout(),
                         nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 1000)), 224


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


def warm_up(work):
    for _ in range(5):
        work()
    torch.cuda.synchronize()


def seconds_of(work, least):
    """Seconds of one call, over at least `least` seconds."""
    warm_up(work)
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


def kernels_of(work):
    """Prints the seconds and the launches of each kernel in one call, the longest first."""
    warm_up(work)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        work()
        torch.cuda.synchronize()
    for event in sorted(profiler.key_averages(), key=lambda event: -event.self_device_time_total):
        print(f"{event.self_device_time_total * 1e-6:.7f} s {event.count:5d} {event.key[:120]}")


def train(network, batches, use):
    model, size = {"resnet-50": lambda: resnet_50(True), "alexnet": alexnet}[network]()
    model = model.train().cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4, fused=True)
    for batch in batches:
        compiled = torch.compile(model, mode="reduce-overhead", dynamic=False)
        x = torch.rand(batch, 3, size, size, device="cuda").to(memory_format=torch.channels_last)
        labels = torch.arange(batch, device="cuda") % 1000

        def step():
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cuda", torch.bfloat16):
                loss = nn.functional.cross_entropy(compiled(x), labels)
            loss.backward()
            optimizer.step()

        use(network, batch, step)


@torch.inference_mode()
def infer(network, batches, use):
    model, size = {"resnet-50": resnet_50, "tiny-yolov2": tiny_yolov2}[network]()
    model = model.eval().cuda().to(torch.bfloat16).to(memory_format=torch.channels_last)
    for batch in batches:
        compiled = torch.compile(model, mode="reduce-overhead", dynamic=False)
        x = torch.rand(batch, 3, size, size, device="cuda").to(torch.bfloat16)
        x = x.to(memory_format=torch.channels_last)
        use(network, batch, lambda: compiled(x))


# Layers, width, heads, key-value heads, feed-forward width, vocabulary.
DECODERS = {"llama-3-8b": (32, 4096, 32, 8, 14336, 128256), "tinyllama-1.1b": (22, 2048, 32, 4, 5632, 32000)}


class DecoderLayer(nn.Module):
    def __init__(self, width, heads, kv_heads, ffn):
        super().__init__()
        self.heads, self.kv_heads, self.head = heads, kv_heads, width // heads
        self.attention_norm, self.ffn_norm = nn.RMSNorm(width, 1e-5), nn.RMSNorm(width, 1e-5)
        self.query_key_value = nn.Linear(width, width + 2 * kv_heads * self.head, bias=False)
        self.output = nn.Linear(width, width, bias=False)
        self.gate_up, self.down = nn.Linear(width, 2 * ffn, bias=False), nn.Linear(ffn, width, bias=False)

    def forward(self, x, turns, position, keys, values):
        """x: batch x tokens x width, the cache for all positions. One token attends to what is in the cache, a prompt
        to itself."""
        batch, tokens, width = x.shape
        query, key, value = self.query_key_value(self.attention_norm(x)).split(
            [width, self.kv_heads * self.head, self.kv_heads * self.head], -1)
        query, key, value = (part.view(batch, tokens, -1, self.head).transpose(1, 2) for part in (query, key, value))
        query, key = rotated(query, turns), rotated(key, turns)
        keys.index_copy_(2, position, key)
        values.index_copy_(2, position, value)
        if tokens == 1:  # the queries that share keys are the rows of one attention: no key is read twice
            seen = (torch.arange(keys.shape[2], device=x.device) <= position)[None]
            query = query.view(batch, self.kv_heads, self.heads // self.kv_heads, self.head)
            found = nn.functional.scaled_dot_product_attention(query, keys, values, attn_mask=seen)
            found = found.reshape(batch, 1, width)
        else:
            found = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
            found = found.transpose(1, 2).reshape(batch, tokens, width)
        x = x + self.output(found)
        gate, up = self.gate_up(self.ffn_norm(x)).chunk(2, -1)
        return x + self.down(nn.functional.silu(gate) * up)


def rotated(x, turns):
    cosine, sine = turns
    first, second = x.float().chunk(2, -1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1).to(x.dtype)


class Decoder(nn.Module):
    """Llama's layers. The most likely next token of each sequence."""

    def __init__(self, layers, width, heads, kv_heads, ffn, vocabulary):
        super().__init__()
        self.cache_shape, self.head = (layers, 2), width // heads
        self.kv_heads = kv_heads
        self.embedding, self.logits = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary, bias=False)
        self.layers = nn.ModuleList(DecoderLayer(width, heads, kv_heads, ffn) for _ in range(layers))
        self.norm = nn.RMSNorm(width, 1e-5)

    def cache(self, batch, positions, **kind):
        return torch.zeros(*self.cache_shape, batch, self.kv_heads, positions, self.head, **kind)

    def forward(self, tokens, position, cache):
        steps = torch.arange(self.head // 2, device=tokens.device, dtype=torch.float32)
        angle = position[:, None] * 5e5 ** (-steps * 2 / self.head)
        x = self.embedding(tokens)
        for layer, (keys, values) in zip(self.layers, cache):
            x = layer(x, (angle.cos(), angle.sin()), position, keys, values)
        return self.logits(self.norm(x[:, -1:])).argmax(-1)


class Steps:
    """The next token of each sequence, time after time: in a CUDA graph that moves on by itself."""

    def __init__(self, decoder, batch, prompt, answer):
        self.decoder, self.prompt, self.answer = decoder, prompt, answer
        self.cache = decoder.cache(batch, prompt + answer, device="cuda", dtype=torch.bfloat16)
        self.prompts = torch.zeros(batch, prompt, dtype=torch.long, device="cuda")
        self.token = torch.zeros(batch, 1, dtype=torch.long, device="cuda")
        self.position = torch.full((1,), prompt, device="cuda")
        self.read_prompts()
        warm_up(self.step)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.step()
        warm_up(self.times)

    def read_prompts(self):
        self.token.copy_(self.decoder(self.prompts, torch.arange(self.prompt, device="cuda"), self.cache))
        self.position.fill_(self.prompt)

    def step(self):
        self.token.copy_(self.decoder(self.token, self.position, self.cache))
        self.position += 1

    def times(self):
        """Seconds of the prompts and of the other tokens of the answers, whose steps are queued at once."""
        start = time.perf_counter()
        self.read_prompts()
        torch.cuda.synchronize()
        first = time.perf_counter()
        for _ in range(self.answer - 1):
            self.graph.replay()
        torch.cuda.synchronize()
        return first - start, time.perf_counter() - first


@torch.inference_mode()
def language(model, prompt, answer, batches):
    """Reads prompts at once and generates the other tokens one by one. Compiles, says so, and is timed once it gets a
    line. Layers are compiled, not the whole decoder: all of them share the compiled code."""
    with torch.device("meta"):
        decoder = Decoder(*DECODERS[model])
    decoder = decoder.to(torch.bfloat16).to_empty(device="cuda").eval()
    for weights in decoder.parameters():
        weights.normal_(0, 0.02)
    torch._inductor.config.coordinate_descent_tuning = True  # reads matrices faster where there is one row
    for layer in decoder.layers:
        layer.compile(dynamic=False)
    all_steps, start = {}, time.perf_counter()
    for batch in batches:
        all_steps[batch] = Steps(decoder, batch, prompt, answer)
        print(f"batch {batch} is compiled after {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    print("ready", flush=True)
    if not sys.stdin.readline():
        sys.exit("nobody asks for a time")
    rows = []
    for batch, steps in all_steps.items():
        prefill, decode = (min(times) for times in zip(*(steps.times() for _ in range(5))))
        rows.append({"model": model, "batch": batch, "prefill_s": prefill, "next_token_s": decode / (answer - 1),
                     "output_tokens_per_s": batch * answer / (prefill + decode)})
    print(json.dumps({"rows": rows}), flush=True)


def timed(seconds):
    """Compiles, says so, and is timed once it gets a line."""
    def use(network, batch, work):
        warm_up(work)
        print("ready", flush=True)
        if not sys.stdin.readline():
            sys.exit("nobody asks for a time")
        print(json.dumps({"network": network, "batch": batch, "torch": torch.__version__,
                          "images_per_s": batch / seconds_of(work, seconds)}), flush=True)

    return use


def main():
    torch.backends.cudnn.benchmark = True  # times its engines, as ours does
    what, *words = sys.argv[1:]
    if what == "ceilings":
        print(json.dumps(ceilings()))
    elif what in ("profile", "profile-train"):
        (infer if what == "profile" else train)(words[0], map(int, words[1:]), lambda *case: kernels_of(case[2]))
    elif what == "language":
        language(words[0], int(words[1]), int(words[2]), [int(batch) for batch in words[3:]])
    elif what == "train":
        train(words[0], map(int, words[2:]), timed(float(words[1])))
    else:
        infer(what, map(int, words[1:]), timed(float(words[0])))


if __name__ == "__main__":
    main()

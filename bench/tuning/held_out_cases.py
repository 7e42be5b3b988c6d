"""Simulated systems that were written after the search, and that nobody has looked at while it was changed since.

They ask for what the cases of `cases.py` do not: little that fits memory, a limit that few configurations meet,
neighbours that are not alike, many factors of which few matter, and a training that diverges.
"""
import math

from cases import simulated


def tight_memory(replicas, batch, context, cache):
    """A model server of which most configurations run out of memory. `cache`: bits of a key or value."""
    if replicas * (5 + 0.0008 * batch * context * cache / 16) + 0.05 * batch > 40:
        return None
    return {"throughput": replicas**0.8 * batch / (1 + 0.05 * batch) * (context / 512)**0.3
            * (1.15 if cache == 8 else 1)}


def tight_latency(threads, batch, wait, prefetch):
    """A server that waits for batches: 9 % of the configurations meet the limit."""
    service = (1.5 + 0.35 * batch**0.9) * (1 + 0.12 * max(0, threads - 6))
    return {"throughput": 1000 * threads**0.85 * batch / (service + 0.4 * wait) * (1 - math.exp(-prefetch / 3)),
            "latency": service + wait + 18 / threads + 0.5 * prefetch}


def kernel(tile_m, tile_n, tile_k, stages):
    """Tiles of a matrix product: the last wave is full or nearly empty, shared memory is limited."""
    if stages * (tile_m + tile_n) * tile_k * 2 > 200_000 or tile_m * tile_n > 256 * 192:
        return None
    waves = math.ceil(4096 / tile_m) * math.ceil(4096 / tile_n) / 132
    intensity = tile_m * tile_n / (tile_m + tile_n)
    return {"throughput": 900 * waves / math.ceil(waves) * (1 - math.exp(-intensity / 45)) * (1 - 0.6**stages)
            * (1 - 0.08 * abs(math.log2(tile_k / 64)))}


def seven_factors(workers, queue, chunk, retries, buffer, compress, poll):
    """Three of seven factors matter, a fourth hardly."""
    del queue, compress, poll
    return {"throughput": 1000 * workers / (1 + 0.15 * workers + 0.02 * workers**2)
            * (1 - 0.3 * (math.log2(chunk) - 5)**2 / 9) * (1 - 0.5 * math.exp(-buffer / 8)) * (1 + 0.002 * retries)}


def divergent(rate, batch, momentum, decay):
    """The accuracy of a training within a limit on its time; large steps diverge."""
    step = rate / (1 - momentum) * math.sqrt(32 / batch)
    if step > 2.2:
        return None
    accuracy = (0.94 - 0.03 * (math.log10(step) + 0.4)**2 - 0.004 * (math.log10(decay) + 3.5)**2
                - 0.01 * max(0, math.log2(batch / 256))**2)
    return {"throughput": accuracy, "time": 100 + 9000 / batch**0.7}


def held_out_cases():
    return [
        simulated("tight-memory", {"replicas": [1, 2, 3, 4, 6, 8], "batch": [1, 2, 4, 8, 16, 32, 64, 128],
                                   "context": [512, 1024, 2048, 4096, 8192], "cache": [8, 16]}, {}, tight_memory),
        simulated("tight-latency", {"threads": [1, 2, 3, 4, 6, 8, 12, 16], "batch": [1, 2, 4, 8, 16, 32],
                                    "wait": [0, 1, 2, 5, 10, 20], "prefetch": [1, 2, 4, 8, 16]},
                  {"latency": 9}, tight_latency),
        simulated("kernel", {"tile_m": [32, 64, 96, 128, 192, 256], "tile_n": [32, 64, 96, 128, 192, 256],
                             "tile_k": [16, 32, 64, 128], "stages": [1, 2, 3, 4, 5, 6]}, {}, kernel),
        simulated("seven-factors", {"workers": [1, 2, 4, 6, 8, 12, 16], "queue": [8, 32, 128],
                                    "chunk": [4, 8, 16, 32, 64, 128], "retries": [0, 3], "buffer": [1, 4, 16, 64],
                                    "compress": [0, 1, 2], "poll": [1, 10, 100]}, {}, seven_factors),
        simulated("divergent", {"rate": [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0],
                                "batch": [32, 64, 128, 256, 512, 1024], "momentum": [0.0, 0.5, 0.8, 0.9, 0.95],
                                "decay": [1e-5, 1e-4, 1e-3, 1e-2]}, {"time": 330}, divergent),
    ]

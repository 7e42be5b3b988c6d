#!/usr/bin/env python3
"""Answers in place of the bundled workload whose name it is called by, at once; what it says of itself
(--describe) is the real one's. Each response is a smooth function of the factors."""
import json
import math
import os
import pathlib
import sys

name = pathlib.Path(sys.argv[0]).name
real = pathlib.Path(os.environ["DOETUNE_PROGRAMS"]) / "workloads" / name
if sys.argv[1:] == ["--describe"]:
    os.execv(real, [str(real), "--describe"])


def value(response, settings):
    """A quadratic of the settings, which differs by response and factor; times are fractions of a second."""
    total = 0.0
    for factor, setting in sorted(settings.items()):
        x = math.log(setting) if isinstance(setting, (int, float)) and setting > 0 else len(str(setting))
        lean = math.sin(sum(map(ord, response + factor)))
        total += 0.2 * lean * x - 0.05 * (x - 1) ** 2
    return (0.1 if "time" in response else 50) * math.exp(total)


request = json.load(open(os.environ["DOETUNE_REQUEST"])) if "DOETUNE_REQUEST" in os.environ else {}
wanted = request.get("responses") or ["throughput"]
ripple = 1 + 0.01 * math.sin(37.0 * request.get("run", 0))
print(json.dumps({response: value(response, request.get("factors", {})) * ripple for response in wanted}))

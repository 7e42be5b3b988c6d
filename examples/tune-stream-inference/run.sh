#!/bin/sh
BUDGET=26 exec "$(dirname -- "$0")/../run.sh" tune-stream-inference/tune.yaml stream-inference

#!/bin/sh
exec "$(dirname -- "$0")/../run.sh" fccd-stream-inference/fccd.yaml stream-inference

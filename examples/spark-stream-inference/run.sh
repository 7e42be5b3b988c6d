#!/bin/sh
# Needs Spark and Java in PATH: see README.md.
exec "$(dirname -- "$0")/../run.sh" spark-stream-inference/fccd.yaml spark-stream-inference

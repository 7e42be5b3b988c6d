#!/bin/sh
exec "$(dirname -- "$0")/../run.sh" llm-inference/batch.yaml llm-inference

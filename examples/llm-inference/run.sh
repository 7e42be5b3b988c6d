#!/bin/sh
exec "$(dirname -- "$0")/../run.sh" llm-inference/llm.yaml llm-inference

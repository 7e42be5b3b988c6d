#!/bin/sh
exec "$(dirname -- "$0")/../run.sh" input-pipeline/study.yaml input-pipeline

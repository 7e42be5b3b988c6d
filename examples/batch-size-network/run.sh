#!/bin/sh
exec "$(dirname -- "$0")/../run.sh" batch-size-network/study.yaml train-data-parallel

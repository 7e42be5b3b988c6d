#!/bin/sh
exec "$(dirname -- "$0")/../run.sh" data-parallel/data-parallel.yaml train-data-parallel

#!/bin/sh
set -e
for study in data-parallel pipeline; do
  "$(dirname -- "$0")/../run.sh" "data-parallel/$study.yaml" train-data-parallel "$study"
done

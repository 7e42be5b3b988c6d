#!/bin/sh
exec "$(dirname -- "$0")/../run.sh" train-classifier-d-optimal/train.yaml train-classifier

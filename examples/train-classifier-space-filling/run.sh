#!/bin/sh
exec "$(dirname -- "$0")/../run.sh" train-classifier-space-filling/train.yaml train-classifier

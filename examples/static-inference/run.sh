#!/bin/sh
exec "$(dirname -- "$0")/../run.sh" static-inference/static.yaml static-inference

#!/bin/sh
exec "$(dirname -- "$0")/../run.sh" all-reduce/all-reduce.yaml all-reduce

#!/bin/sh
# Installs what is missing, builds doetune, then plans, runs and reports this study.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../.." && pwd)
cd "$root"

sh cmake/install-packages.sh build
cmake --preset release -DDOETUNE_WITH_TESTS=OFF >/dev/null
cmake --build --preset release --target doetune train-data-parallel

study=build/batch-size-network
PATH="$root/build/release/bin:$PATH"
[ -d "$study" ] || doetune plan "$here/study.yaml" -o "$study"
doetune run "$study"
doetune report "$study"

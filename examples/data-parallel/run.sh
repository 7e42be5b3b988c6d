#!/bin/sh
# From a bare Debian 12 to an optimum report over runs that were really executed and measured:
# installs what is missing, builds doetune, then plans, runs and reports these studies.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../.." && pwd)
cd "$root"

sh cmake/install-packages.sh build
cmake --preset release -DDOETUNE_WITH_TESTS=OFF >/dev/null
cmake --build --preset release --target doetune train-data-parallel

PATH="$root/build/release/bin:$PATH"
for name in data-parallel pipeline; do
  study=build/$name
  [ -d "$study" ] || doetune plan "$here/$name.yaml" -o "$study"
  doetune run "$study"
  doetune report "$study"
done

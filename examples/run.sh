#!/bin/sh
# run.sh EXAMPLE/STUDY.yaml WORKLOAD [FOLDER]: from a bare Debian 12 to a report over runs that were
# really executed and measured. Installs what is missing, builds doetune and the workload, then plans,
# runs and reports the study in build/FOLDER (by default EXAMPLE); where that is there already, it goes
# on with it. With BUDGET set, it makes a sequential search of so many runs instead of a plan.
set -eu
cd -- "$(dirname -- "$0")/.."

sh cmake/install-packages.sh build
cmake --preset release -DDOETUNE_WITH_TESTS=OFF >/dev/null
cmake --build --preset release --target doetune "$2"

study=build/${3:-$(dirname -- "$1")}
PATH="$PWD/build/release/bin:$PATH"
if [ -n "${BUDGET:-}" ]; then
  doetune tune "$PWD/examples/$1" -o "$study" --budget "$BUDGET" || verdict=$?
else
  [ -d "$study" ] || doetune plan "$PWD/examples/$1" -o "$study"
  doetune run "$study"
fi
doetune report "$study"
exit "${verdict:-0}"

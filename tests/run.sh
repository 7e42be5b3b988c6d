#!/bin/sh
# Installs what is missing, builds doetune and passes its tests. The last line counts them.
#   tests/run.sh [PRESET [ROOM]]      release (default), debug, asan or tsan; one room or all
set -eu
preset=${1:-release}
room=${2:-}
cd "$(dirname -- "$0")/.."

sh cmake/install-packages.sh build test
cmake --preset "$preset" -DDOETUNE_WITH_TESTS=ON >/dev/null
cmake --build --preset "$preset" ${room:+--target "tests/$room/all"}
status=0
log=build/$preset/tests.log
# Clusters are started once, for the release build: they take minutes, most of it Slurm's own.
without=""
[ "$preset" = release ] || without="on a real cluster"
ctest --test-dir "build/$preset${room:+/tests/$room}" --output-on-failure \
  ${without:+-E "$without"} >"$log" 2>&1 || status=$?
cat "$log"

total=$(sed -n 's/.* tests failed out of \([0-9]*\)$/\1/p' "$log")
failed=$(sed -n 's/.* tests passed, \([0-9]*\) tests failed out of .*/\1/p' "$log")
skipped=$(grep -c '\*\*\*Skipped' "$log" || true)
echo "$((${total:-0} - ${failed:-0} - skipped)) passed, ${failed:-0} failed, $skipped skipped"
exit "$status"

#!/bin/sh
# Installs what is missing, builds doetune and passes its tests. The last line counts them.
#   tests/run.sh [--without REGEX] [PRESET [MODULE...]]
# PRESET: release (default), debug, asan or tsan; some modules or all; REGEX: names of tests to leave out.
set -eu
without='^$'
if [ "${1:-}" = --without ]; then
  without=$2
  shift 2
fi
preset=${1:-release}
[ "$#" = 0 ] || shift
cd "$(dirname -- "$0")/.."

case $preset in
  asan | tsan) sh cmake/install-packages.sh build test clang ;;
  *) sh cmake/install-packages.sh build test ;;
esac
set_python="-DDOETUNE_WITH_PYTHON=OFF"
if [ "$preset" != release ]; then
  echo "Goes without the Python module, which is tested with the release."
elif sh python/environment.sh build/python; then
  set_python="-DDOETUNE_WITH_PYTHON=ON -DPython_EXECUTABLE=$PWD/build/python/bin/python"
else
  echo "Goes without the Python module: its packages cannot be installed."
fi
# shellcheck disable=SC2086  # a list of words
cmake --preset "$preset" -DDOETUNE_WITH_TESTS=ON $set_python >/dev/null

# oneDNN and OpenMP are not made for the thread sanitizer, which would not see their locks.
export TSAN_OPTIONS=ignore_noninstrumented_modules=1
# Freed memory waits in a short queue: with the default of 256 MB, most of the time goes to page faults. An error's own
# stack is whole; two calls are noted of who allocated the memory, since 30 take a fifth of the time.
export ASAN_OPTIONS=quarantine_size_mb=16:malloc_context_size=2

status=0
log=build/$preset/tests.log
: >"$log"
# run_tests DIRECTORY: those below it, four at a time, as many wait; each prints its line as it ends.
run_tests() {
  ctest --test-dir "$1" --exclude-regex "$without" --parallel 4 --output-on-failure --no-tests=error >"$log.part" 2>&1 ||
    status=$?
  # To CTest a Python program is one test: the cases that it skips are in its output alone.
  sed -n "s/^\(.*\) \.\.\. skipped \(.*\)/skipped case: \1: \2/p" \
    "$1/Testing/Temporary/LastTest.log" >>"$log.part"
  cat "$log.part"
  cat "$log.part" >>"$log"
  rm "$log.part"
}

if [ "$#" = 0 ]; then
  cmake --build --preset "$preset"
  run_tests "build/$preset"
fi
for module in "$@"; do
  cmake --build --preset "$preset" --target "tests/$module/all"
  run_tests "build/$preset/tests/$module"
done

# sum_of PATTERN: the numbers that it finds, a line each, added up.
sum_of() { sed -n "s/$1/\1/p" "$log" | awk '{sum += $1} END {print sum + 0}'; }
total=$(sum_of '.* tests failed out of \([0-9]*\)$')
failed=$(sum_of '.* tests passed, \([0-9]*\) tests failed out of .*')
skipped=$(grep -c '\*\*\*Skipped' "$log" || true)
cases=$(grep -c '^skipped case: ' "$log" || true)
echo "$((total - failed - skipped)) passed, $failed failed, $((skipped + cases)) skipped"
exit "$status"

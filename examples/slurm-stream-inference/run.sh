#!/bin/sh
# A study on a real Slurm cluster, of two nodes on this machine, whose controller is killed on the way,
# and doetune with it: every run is measured, none twice. Needs root, as a cluster does, and
#   apt-get install slurmctld slurmd slurm-client munge
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../.." && pwd)
cd "$root"

sh cmake/install-packages.sh build
cmake --preset release -DDOETUNE_WITH_TESTS=OFF >/dev/null
cmake --build --preset release --target doetune doetune-attempt stream-inference
PATH="$root/build/release/bin:$PATH"

state=$(mktemp -d)
cluster() { "$root/tests/runner/slurm_cluster.sh" "$state" "$@"; }
SLURM_CONF=$(cluster start 2)
export SLURM_CONF
trap 'cluster stop; rm -rf "$state"' EXIT
sinfo -N

study=build/slurm-fccd
[ -d "$study" ] || doetune plan "$here/fccd.yaml" -o "$study"
doetune run "$study" &
completed() { cat "$study"/runs.jsonl 2>/dev/null | grep -c '"status":"completed"' || true; }
until [ "$(completed)" -ge 6 ]; do sleep 0.2; done
echo "--- slurmctld is killed, and doetune"
cluster ctld kill
kill -KILL $!
sleep 5
echo "--- both are started again"
cluster ctld start
doetune run "$study"
doetune report "$study"

#!/bin/sh
# start_triton.sh MODEL PORT INSTANCES MAX_BATCH QUEUE_DELAY_US: serves models/MODEL with these settings.
# models/MODEL/config.pbtxt has the rest (backend, inputs, outputs) and none of the three.
set -eu
model=$1 port=$2 instances=$3 max_batch=$4 delay=$5

repository=$(mktemp -d)
trap 'rm -rf "$repository"' EXIT
trap 'exit 143' TERM INT  # once the server has ended, which gets the signal too
cp -r "models/$model" "$repository"
cat >>"$repository/$model/config.pbtxt" <<EOF
max_batch_size: $max_batch
instance_group [{ count: $instances }]
dynamic_batching { max_queue_delay_microseconds: $delay }
EOF
tritonserver --model-repository "$repository" --http-port "$port" --allow-grpc false --allow-metrics false

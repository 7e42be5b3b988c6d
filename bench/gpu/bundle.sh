#!/bin/sh
# bundle.sh ARCHIVE.tar.xz [PROGRAMS]: packs what `run.py` needs on a machine that has a GPU's driver, Python, cuDNN and
# NCCL (from their Python packages or from the system), and nothing else: no packages, no compiler, no network.
# PROGRAMS is the folder with programs that are built; without it, they are built in build/bench.
# There: tar xf ARCHIVE.tar.xz && doetune-gpu/run.py OUT
set -eu
archive=$(realpath -- "$1")
programs=${2:+$(realpath -- "$2")}
cd "$(dirname -- "$0")/../.."

tests="test_workloads_cuda_engine test_workloads_cuda_language test_workloads_cuda_training"
timings="bench_gpu bench_training"
workloads="all-reduce copy gemm llm-inference network-inference stream-inference train-classifier"
gpu_libraries="libdoetune_cuda.so libdoetune_nccl.so"
max_bytes=60000000

if [ -z "$programs" ]; then
  sh cmake/install-packages.sh build test
  cmake --preset bench -DDOETUNE_CUDA=ON -DDOETUNE_WITH_TESTS=ON -DDOETUNE_WITH_PYTHON=OFF >/dev/null
  # shellcheck disable=SC2086  # lists of words
  cmake --build --preset bench --target doetune doetune-attempt $tests $timings $workloads doetune_cuda_module \
    doetune_nccl_module
  programs=$PWD/build/bench/bin
fi

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
bundle=$scratch/doetune-gpu
mkdir -p "$bundle/bin/workloads" "$bundle/lib"
for program in doetune doetune-attempt $gpu_libraries $tests $timings; do
  cp -- "$programs/$program" "$bundle/bin"
done
for program in $workloads; do cp -- "$programs/workloads/$program" "$bundle/bin/workloads"; done
cp -- bench/gpu/run.py bench/gpu/torch_peer.py bench/gpu/executors.yaml "$bundle"

# Every library that the programs are linked with, but the driver's, CUDA's (541 MB) and glibc's.
find "$bundle/bin" -type f -exec ldd {} + 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
  grep -vE '/lib((cuda|cudnn|cublas|nccl|nvrtc|nvidia)[^/]*|c|m|dl|rt|pthread|resolv)\.so' |
  while read -r library; do cp -L -- "$library" "$bundle/lib"; done

# hollow_out LIBRARY: its symbols stay, and end the program that uses one. FFmpeg and libxml2 are linked with
# libraries whose tables nothing here ever reads, and which would be a quarter of the archive.
hollow_out() {
  [ -e "$bundle/lib/$1" ] || return 0
  nm --dynamic --defined-only "$bundle/lib/$1" | awk '{print ".globl " $3 "\n" $3 ":"}' >"$scratch/symbols.s"
  printf '.byte 0x0f, 0x0b\n.section .note.GNU-stack,"",@progbits\n' >>"$scratch/symbols.s"
  cc -shared -nostdlib -Wl,-soname,"$1" -o "$bundle/lib/$1" "$scratch/symbols.s"
}
hollow_out libcodec2.so.1.0
hollow_out libicudata.so.72

find "$bundle/bin" "$bundle/lib" -type f -exec strip --strip-unneeded {} +
tar -C "$scratch" --owner=0 --group=0 --sort=name -cf - doetune-gpu | xz --x86 --lzma2=preset=9e >"$archive"
bytes=$(stat -c %s -- "$archive")
echo "$archive: $((bytes / 1000000)) MB"
[ "$bytes" -le "$max_bytes" ] || { echo "bundle.sh: more than $((max_bytes / 1000000)) MB" >&2; exit 1; }

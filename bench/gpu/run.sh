#!/bin/sh
# bench/gpu/run.sh [--quick] [--seconds N] [--torch-seconds N] [--no-torch] [--segments] [--build] [FOLDER]
# Builds libtally and bench_gpu, measures, and leaves gpu-DATE-GPU.json, .md and .svg in FOLDER (default: $OUT, or
# docs/measurements). Says where time went. BUILD: the build folder (build/gpu, which git ignores); JOBS; COMMIT: what to call
# the code where git is not there. Exit status: bench_gpu's, 1 if some result of Tally was wrong. --segments: segments in place of all
# else, 2^28 values and 2^30 of f32; leaves segments.jsonl, segments-large.jsonl and .svg in FOLDER and prints a table of each. --build: builds all there is and
# measures nothing, also where no GPU is, for that of ARCH (90).
set -u
cd "$(dirname "$0")/../.." || exit 2
seconds=240 torch_seconds=90 quick='' torch=yes segments='' only_build='' folder=${OUT:-docs/measurements}
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=--quick seconds=60 torch_seconds=40 ;;
    --seconds) seconds=${2:?} && shift ;;
    --torch-seconds) torch_seconds=${2:?} && shift ;;
    --no-torch) torch= ;;
    --segments) segments=yes ;;
    --build) only_build=yes ;;
    -*) sed -n 's/^# //p' "$0" >&2 && exit 2 ;;
    *) folder=$1 ;;
    esac
    shift
done
build=${BUILD:-build/gpu}
python=/opt/torch/.venv/bin/python3
[ -x $python ] || python=python3
raw=$build/results && mkdir -p "$raw" "$folder" || exit 2
rm -f "$raw"/*.jsonl
commit=$(git describe --always --dirty 2>/dev/null || echo "${COMMIT:-unknown}")
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .)
capability=${capability:-${ARCH:-}}

spent='' began=$(date +%s)
step() { # step NAME COMMAND...: runs it and keeps how long it took; its status is that of the command
    name=$1 && shift
    from=$(date +%s)
    "$@"
    status=$?
    spent="$spent$(printf '%5d s  %s' $(($(date +%s) - from)) "$name")
"
    return $status
}
finish() {
    printf 'where time went:\n%s%5d s  in all\n' "$spent" $(($(date +%s) - began))
    exit "$1"
}

xxhash=''
[ -f build/dev/xxhash.h ] && xxhash=-DTALLY_XXHASH_INCLUDE=$PWD/build/dev
export CUDACXX="${CUDACXX:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}"
step configure cmake -S . -B "$build" -DTALLY_TESTS=OFF -DTALLY_CLI=OFF -DTALLY_SIMT_SEGMENTS=OFF -DTALLY_GPU_BENCH=ON \
    -DCMAKE_CUDA_ARCHITECTURES="${capability:-native}" $xxhash >"$raw/configure.log" 2>&1 ||
    { tail -30 "$raw/configure.log"; finish 2; }
[ -n "$segments" ] && targets=bench_segments || targets=bench_gpu
[ -n "$only_build" ] && targets='bench_segments bench_gpu'
step build cmake --build "$build" --target $targets -j "${JOBS:-$(nproc)}" >"$raw/build.log" 2>&1 ||
    { grep -n -m 20 -i -A5 'error' "$raw/build.log" || tail -30 "$raw/build.log"; finish 2; }
grep -i 'warning' "$raw/build.log" | head -5
[ -z "$only_build" ] || finish 0

if [ -n "$segments" ]; then
    step 'plain pass, CUB, Tally' "$build/bench_segments" $quick --out "$raw/segments.jsonl"
    result=$?
    cp "$raw/segments.jsonl" "$folder"
    "$python" bench/gpu/segments_table.py "$folder/segments.jsonl" "$folder/segments.svg" "$folder/segments-by-length.svg"
    step '2^30 values of f32' "$build/bench_segments" --quick --log2 30 --rounds 3 --only f32 --out "$folder/segments-large.jsonl" || result=1
    "$python" bench/gpu/segments_table.py "$folder/segments-large.jsonl"
    finish $result
fi

step 'plain read, CUB, Tally' "$build/bench_gpu" $quick --seconds "$seconds" --commit "$commit" --out "$raw/bench.jsonl"
result=$?
files=$raw/bench.jsonl
if [ -n "$torch" ]; then
    step PyTorch "$python" bench/gpu/torch_peers.py $quick --seconds "$torch_seconds" --out "$raw/torch.jsonl" ||
        echo 'PyTorch was not measured to the end' >&2
    [ -s "$raw/torch.jsonl" ] && files="$files $raw/torch.jsonl"
fi
if [ -n "$torch" ]; then # rows and small arrays beside PyTorch, in its process
    export TALLY_LIBRARY=$PWD/$build/libtally.so
    step shapes bench/gpu/matrix --torch --seconds "$torch_seconds" --out "$folder" || result=1
fi
step report "$python" bench/gpu/report.py "$folder" $files
[ $? -ne 0 ] && cp $files "$folder" # the report can be made again from these
finish $result

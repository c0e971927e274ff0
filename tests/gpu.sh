#!/usr/bin/env bash
# tests/gpu.sh [tests] [compile] [sanitizer] [bench]: what needs a GPU, on a machine that has one; all of it by default. Binaries come from
# build/dev (tests/gpu.sh prepare, on a machine that builds), as the GPU's machine may lack cmocka. Results go to $OUT, or build/gpu.
set -u
cd "$(dirname "$0")/.."
out=${OUT:-build/gpu}
logs=$out/logs
. tools/parts.sh
mkdir -p "$out"

if [ "${1-}" = prepare ]; then # tests/gpu.sh prepare [BUILD]
    mkdir -p build/dev
    cp "${2:-build}/test_gpu" "${2:-build}/test_gpu_segments" "${2:-build}/test_compile" "${2:-build}/tally" build/dev/
    cp -L "${2:-build}/libtally.so.0" "$(ldconfig -p | awk '/libcmocka.so.0/ {print $NF; exit}')" "$(ldconfig -p | awk '/libgomp.so.1/ {print $NF; exit}')" build/dev/
    cp /usr/include/xxhash.h build/dev/
    strip build/dev/test_gpu build/dev/test_gpu_segments build/dev/test_compile build/dev/libtally.so.0
    exit
fi

export LD_LIBRARY_PATH=$PWD/build/dev:${LD_LIBRARY_PATH-} TALLY_CACHE_DIR=$PWD/build/cache
wanted="${*:-tests compile sanitizer bench}"
for part in $wanted; do
    case $part in
    tests)
        part tests build/dev/test_gpu --cuda
        part segments build/dev/test_gpu_segments --cuda
        ;;
    compile) part compile build/dev/test_compile --out "$out/gpu-kernels.tsv" ;;
    sanitizer)
        for tool in memcheck racecheck initcheck synccheck; do
            part "$tool" timeout 150 compute-sanitizer --tool "$tool" --error-exitcode 9 build/dev/test_gpu --cuda --quick
            part "$tool-segments" timeout 150 compute-sanitizer --tool "$tool" --error-exitcode 9 build/dev/test_gpu_segments --cuda --quick
        done
        ;;
    bench) part bench bench/gpu/run.sh "$out" ;;
    esac
done
finish_parts

#!/usr/bin/env bash
# tools/lanes.sh LANE: builds in build/LANE and runs the C tests there.
#   gcc, clang   warnings are errors            asan   address and undefined behaviour sanitizers (clang)
#   aarch64      cross-compiled, under qemu     tsan   thread sanitizer (clang, libomp)
#   fuzz         every tests/fuzz/fuzz_*.c with libFuzzer, FUZZ_SECONDS (6) each, side by side, in asan's build
#   gpu          NVRTC and no GPU: compiles GPU kernels, in the build of make check (build/gpu-kernels.tsv has a table of them)
# tools/setup.sh lanes installs what they need. Instruction sets are shared out among the lanes, which take minutes to
# build: gcc, as in make check, has all, the others the baseline.
set -euo pipefail
cd "$(dirname "$0")/.."
lane=${1-}
dir=$PWD/build/$lane

build() { # build OPTION_OF_CMAKE...
    echo "test_gpu_rows, test_gpu_segments, segments of test_gpu_user: SKIPPED here; make check runs them (TALLY_SIMT_SEGMENTS=ON has them built: some minutes more)"
    cmake -S . -B "$dir" -DTALLY_WERROR=ON -DTALLY_SIMT_SEGMENTS="${TALLY_SIMT_SEGMENTS:-OFF}" "$@" >"$dir.configure.log" || { cat "$dir.configure.log"; return 1; }
    cmake --build "$dir" -j "$(nproc)" | sed '/^\[.*\] \(Building\|Built\|Linking\)/d'
}
sanitized_build() { # one for two lanes
    dir=$PWD/build/asan
    export UBSAN_OPTIONS=print_stacktrace=1 LSAN_OPTIONS=print_suppressions=0:suppressions=$PWD/tools/leaks.supp
    build -DCMAKE_C_COMPILER=clang -DTALLY_SANITIZE=fuzzer-no-link,address,undefined -DTALLY_ISAS=baseline
}
fuzz_one() { # fuzz_one NAME
    local seeds=$PWD/tests/fuzz/corpus/${1#fuzz_} log=$dir/$1.log
    mkdir -p "$dir/corpus/$1" # what it finds goes here, and a crash's input into $dir
    if ! (cd "$dir" && "./$1" -max_total_time="${FUZZ_SECONDS:-6}" -timeout=10 -print_final_stats=1 \
        "corpus/$1" "$seeds") >"$log" 2>&1; then
        tail -n 60 "$log"
        echo "$1 failed; the input is in $dir"
        return 1
    fi
    printf '%s: %s\n' "$1" "$(grep number_of_executed_units "$log")"
}
unit_tests() { ctest --test-dir "$dir" -L unit --output-on-failure --no-tests=error -j "$(nproc)"; }

mkdir -p build
case $lane in
gcc)
    build -DCMAKE_C_COMPILER=gcc
    unit_tests
    ;;
clang)
    build -DCMAKE_C_COMPILER=clang -DTALLY_ISAS=baseline
    unit_tests
    ;;
asan)
    sanitized_build
    unit_tests
    ;;
tsan)
    # Archer tells the sanitizer how OpenMP synchronises; libomp itself is not instrumented and is to be ignored.
    archer=$(dirname "$(readlink -f "$(command -v clang)")")/../lib/libarcher.so
    [ -f "$archer" ] || { echo "tsan: no $archer: install libomp-dev" >&2; exit 1; }
    build -DCMAKE_C_COMPILER=clang -DTALLY_SANITIZE=thread -DTALLY_ISAS=baseline
    export OMP_TOOL_LIBRARIES=$archer TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1"
    unit_tests
    ;;
aarch64)
    # cmocka and MPFR for arm64 come from Debian's archive into build/, without adding the architecture to this system.
    packages=$PWD/build/arm64-packages
    if [ ! -f "$packages/usr/include/mpfr.h" ]; then
        apt="apt-get -qq -o APT::Architectures::=$(dpkg --print-architecture) -o APT::Architectures::=arm64
            -o Dir::State::lists=$packages/lists -o Dir::Cache=$packages/cache -o Acquire::Languages=none"
        mkdir -p "$packages"/{lists,cache/archives}/partial
        (cd "$packages" && $apt update && $apt download {libcmocka-dev,libcmocka0,libmpfr-dev,libmpfr6,libgmp-dev,libgmp10}:arm64 2>&1 | grep -v unsandboxed) || true
        for package in "$packages"/*.deb; do dpkg-deb -x "$package" "$packages"; done
    fi
    build -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" -DARM64_PACKAGES="$packages"
    unit_tests
    ;;
gpu)
    dir=$PWD/build
    TALLY_NVRTC=$(tools/setup.sh gpu)
    export TALLY_NVRTC
    echo "gpu: compiling with $TALLY_NVRTC"
    [ -f "$dir/CMakeCache.txt" ] || cmake -S . -B "$dir" -DTALLY_WERROR=ON >"$dir.configure.log"
    cmake --build "$dir" -j "$(nproc)" --target test_compile test_jit | sed '/^\[.*\] \(Building\|Built\|Linking\)/d'
    ctest --test-dir "$dir" -R '^jit$' --output-on-failure --no-tests=error
    ctest --test-dir "$dir" -L jit --verbose --no-tests=error
    ;;
fuzz)
    sanitized_build
    export -f fuzz_one
    export dir
    basename -a -s .c tests/fuzz/fuzz_*.c | xargs -P "$(nproc)" -n 1 bash -c 'fuzz_one "$0"'
    ;;
*)
    sed -n '2,9s/^# \?//p' "$0" >&2
    exit 2
    ;;
esac

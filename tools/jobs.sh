#!/usr/bin/env bash
# tools/jobs.sh JOB: builds in build/JOB and runs the C tests there.
#   gcc, clang   warnings are errors            asan   address and undefined behaviour sanitizers (clang)
#   aarch64      cross-compiled, under qemu     tsan   thread sanitizer (clang)
#   fuzz         every tests/fuzz/fuzz_*.c with libFuzzer, FUZZ_SECONDS (6) each, side by side, in asan's build
#   python       the Python package: a wheel and an sdist by make wheel, and in a virtual environment its tests with
#                PyTorch, JAX, array-api-strict, pandas, Arrow, Dask, MPI, DuckDB and Ray, and its types for mypy and
#                pyright; tables that DuckDB and Arrow write, for the command that make check built. Downloads 3 GB, and
#                takes 7 on the disk, where PyTorch's index of builds for the CPU cannot be reached, as those of PyPI
#                bring CUDA
#   gpu          NVRTC and no GPU: tests of that compiler, and GPU kernels by it, in the build of make check
#                (build/gpu-kernels.tsv has a table of them)
#   course       the page of the course in headless Chromium, and each kernel of it as plain CUDA, compiled for the CPU
#                and run there; with the command of make check, which has the rest of the course. tools/setup.sh course
#                installs what it needs
# tools/setup.sh jobs installs what the others need. What takes minutes to build is shared out among them, and a job
# prints what it leaves to others; WHOLE=1 has it take all operators and NVRTC, TALLY_SIMT_SEGMENTS=ON rows and segments
# on the simulator. gcc, as in make check, has all; the others have the baseline instruction set, and of the operators'
# kernels (not those of exact sums, which are small):
#   asan         a part, with each kind of code path: in order, exact, arg, bits, counts, extremes, two passes,
#                logsumexp, two inputs; on the simulator, with rows and segments, features of vectors, what arranges
#                them, merges, and dot in all forms
#   tsan         few: threads share arrays and results, which is no matter of operators
#                What these two spare is linked from the build of make check, where there is one, and tested as well
#   aarch64      one of each kind optimised as it is shipped, the others with -Og
set -euo pipefail
cd "$(dirname "$0")/.."
job=${1-}
dir=$PWD/build/$job
spared_by_asan="prod max argmax minmax any or xor mean stats norminf sumsq"
# of kernels/forms.h
spared_forms_by_asan="short stripes rows columns segments expansions exact_short exact_lanes exact_parts"
spared_forms_by_asan+=" exact_tiles flat left_rows spans expansion_spans"
spared_forms_by_asan+=" any_columns expansion_columns any_expansion_columns"
spared_by_tsan="prod min argmin minmax any all count and or xor var stats norm1 norm2 norminf sumsq"
spared_by_aarch64="prod max argmax any all or xor mean stats norm1 norminf sumsq"

spare() { # spare HOW KERNEL...: sets the options for it
    local how=$1 from=""
    shift
    spared=(-DTALLY_SPARED= -DTALLY_SPARED_FORMS= -DTALLY_SPARED_FROM=)
    [ -z "${WHOLE-}" ] || return 0
    if [ "$how" = linked ]; then
        if [ ! -f build/libtally-simt.so ]; then
            echo "No build of make check to take kernels from: all are compiled"
            return
        fi
        from=$PWD/build
        cmake --build build -j "$(nproc)" --target tally_objects tally_simt >/dev/null # up to date
        echo "kernels of $*: SKIPPED by the sanitizer here, taken from make check and tested (WHOLE=1 has all)"
    else
        echo "kernels of $*: optimised as they are shipped: SKIPPED here, tested with -Og (WHOLE=1 has all)"
    fi
    local IFS=';'
    spared=("-DTALLY_SPARED=$*" -DTALLY_SPARED_FORMS= "-DTALLY_SPARED_FROM=$from")
}
build() { # build OPTION_OF_CMAKE...
    if [ "${TALLY_SIMT_SEGMENTS:-OFF}" = OFF ]; then
        echo "test_gpu_rows, _exact_rows, _segments, _grouped, _mixes and _big, segments of test_gpu_user, long" \
            "ones of test_gpu: SKIPPED here; make check runs them (TALLY_SIMT_SEGMENTS=ON has them: some minutes more)"
    fi
    if ! cmake -S . -B "$dir" -DTALLY_WERROR=ON -DTALLY_SIMT_SEGMENTS="${TALLY_SIMT_SEGMENTS:-OFF}" "$@" \
        >"$dir.configure.log"; then
        cat "$dir.configure.log"
        return 1
    fi
    cmake --build "$dir" -j "$(nproc)" | sed '/^\[.*\] \(Building\|Built\|Linking\)/d'
}
sanitized_build() { # one for two jobs
    dir=$PWD/build/asan
    export UBSAN_OPTIONS=print_stacktrace=1
    spare linked $spared_by_asan
    if [ "${spared[2]}" != -DTALLY_SPARED_FROM= ]; then
        echo "kernels $spared_forms_by_asan of the simulator, all but dot's: SKIPPED by the sanitizer here, taken" \
            "from make check and tested"
        TALLY_SIMT_SEGMENTS=ON
        spared[1]="-DTALLY_SPARED_FORMS=${spared_forms_by_asan// /;}"
    fi
    build -DCMAKE_C_COMPILER=clang -DTALLY_SANITIZE=fuzzer-no-link,address,undefined -DTALLY_ISAS=baseline \
        "${spared[@]}"
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
unit_tests() { # unit_tests OPTION_OF_CTEST...
    [ -n "${WHOLE-}" ] || echo "what test_jit and test_gpu_user compile by NVRTC: SKIPPED here; the job gpu does it"
    ctest --test-dir "$dir" -L "unit${WHOLE:+|jit}" "$@" --output-on-failure --no-tests=error -j "$(nproc)"
}

mkdir -p build
# of a build folder that is new, as in the Makefile
export CMAKE_GENERATOR=${CMAKE_GENERATOR:-$(command -v ninja >/dev/null && echo Ninja || echo Unix Makefiles)}
case $job in
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
    # These take minutes, and other tests have the same kernels.
    skipped=()
    if [ -z "${WHOLE-}" ]; then
        echo "gpu_segments_one_buffer, gpu_extremes: SKIPPED here; make check runs them (WHOLE=1 has all)"
        skipped=(-E '^(gpu_segments_one_buffer|gpu_extremes)$')
    fi
    unit_tests "${skipped[@]}"
    ;;
tsan)
    spare linked $spared_by_tsan
    build -DCMAKE_C_COMPILER=clang -DTALLY_SANITIZE=thread -DTALLY_ISAS=baseline "${spared[@]}"
    # Memory of the simulator's fibers is allocated by files that are not instrumented: what they call is not looked at
    # either.
    export TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1"
    unit_tests
    ;;
aarch64)
    # cmocka and MPFR for arm64 come from Debian's archive into build/, without adding the architecture to this system.
    packages=$PWD/build/arm64-packages
    if [ ! -f "$packages/usr/include/mpfr.h" ]; then
        apt="apt-get -qq -o APT::Architectures::=$(dpkg --print-architecture) -o APT::Architectures::=arm64
            -o Dir::State::lists=$packages/lists -o Dir::Cache=$packages/cache -o Acquire::Languages=none"
        mkdir -p "$packages"/{lists,cache/archives}/partial
        (cd "$packages" && $apt update &&
            $apt download {libcmocka-dev,libcmocka0,libmpfr-dev,libmpfr6,libgmp-dev,libgmp10}:arm64 2>&1 |
            grep -v unsandboxed) || true
        for package in "$packages"/*.deb; do dpkg-deb -x "$package" "$packages"; done
    fi
    spare compiled $spared_by_aarch64
    # The simulator's kernels by clang, as in make check. By this name it compiles for that machine.
    ln -sf "$(command -v clang)" build/aarch64-linux-gnu-clang
    build -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" -DARM64_PACKAGES="$packages" \
        -DTALLY_SIMT_COMPILER="$PWD/build/aarch64-linux-gnu-clang" "${spared[@]}"
    # Emulated, these take half of the time, and what they test is no matter of processors.
    skipped=()
    if [ -z "${WHOLE-}" ]; then
        echo "image_cache, gallery, stack, gpu, gpu_calls, gpu_merge: SKIPPED here; make check runs them (WHOLE=1 has" \
            "all)"
        skipped=(-E '^(image_cache|gallery|stack|gpu|gpu_calls|gpu_merge)$')
    fi
    unit_tests "${skipped[@]}"
    ;;
python)
    make wheel
    python3 -m venv "$dir/venv"
    "$dir/venv/bin/pip" install -q --force-reinstall --no-deps build/wheel/*.whl
    "$dir/venv/bin/pip" install -q numpy pytest hypothesis mypy pyright jax array-api-strict pandas pyarrow dask \
        distributed mpi4py duckdb duckdb-cli ray
    "$dir/venv/bin/python" -c 'import torch' 2>/dev/null ||
        "$dir/venv/bin/pip" install -q --retries 0 torch --index-url https://download.pytorch.org/whl/cpu 2>/dev/null ||
        "$dir/venv/bin/pip" install -q torch
    # a test that hangs says where
    "$dir/venv/bin/python" -m pytest -q -rs -p no:cacheprovider -o faulthandler_timeout=120 python/tests
    if [ -x build/tally ]; then
        "$dir/venv/bin/python" -m pytest -q -rs -p no:cacheprovider tests/cli/test_table_formats.py
    else
        echo "tables from Parquet and Arrow: SKIPPED, as build/ has no command"
    fi
    if [ -f build/libtally.a ]; then # the extension itself under the sanitizers, with a library that is not
        mkdir -p "$dir/asan/tally_reduce"
        cp python/tally_reduce/*.py "$dir/asan/tally_reduce/"
        gcc -std=c11 -O1 -g -fsanitize=address,undefined -fPIC -shared -Iinclude \
            "-I$("$dir/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("include"))')" python/src/*.c \
            build/libtally.a -Wl,--exclude-libs,ALL -Wl,-z,nodelete -lm -lpthread \
            -o "$dir/asan/tally_reduce/_core.abi3.so"
        LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" \
            ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc PYTHONPATH=$dir/asan \
            "$dir/venv/bin/python" -m pytest -q -p no:cacheprovider python/tests \
            --ignore=python/tests/test_{torch,jax,dask,ranks,recipes}.py
    else
        echo "the extension under the sanitizers: SKIPPED, as build/ has no libtally.a"
    fi
    "$dir/venv/bin/mypy" --strict python/tests/typed.py
    "$dir/venv/bin/mypy" --strict python/tests/typed_arrays.py
    "$dir/venv/bin/mypy" --strict python/tally_reduce/__init__.pyi
    "$dir/venv/bin/pyright" -p python/tests/pyrightconfig.json --pythonpath "$dir/venv/bin/python"
    ;;
gpu)
    dir=$PWD/build
    TALLY_NVRTC=$(tools/setup.sh gpu)
    export TALLY_NVRTC
    echo "gpu: compiling with $TALLY_NVRTC"
    [ -f "$dir/CMakeCache.txt" ] || cmake -S . -B "$dir" -DTALLY_WERROR=ON >"$dir.configure.log"
    cmake --build "$dir" -j "$(nproc)" --target test_compile test_gallery_compile test_gpu_user test_jit |
        sed '/^\[.*\] \(Building\|Built\|Linking\)/d'
    ctest --test-dir "$dir" -L jit --verbose --no-tests=error
    ;;
course)
    tools/setup.sh course
    [ -f build/CMakeCache.txt ] || cmake -S . -B build -DTALLY_WERROR=ON >build.configure.log
    cmake --build build -j "$(nproc)" --target tally_cli | sed '/^\[.*\] \(Building\|Built\|Linking\)/d'
    tests=(tests/course)
    if [ -z "${WHOLE-}" ]; then
        echo "exercises and notebook: SKIPPED here; make check runs them (WHOLE=1 has all)"
        tests=(tests/course/test_{page,cuda}.py)
    fi
    TALLY_COMMAND=$PWD/build/tally /usr/bin/python3 -m pytest -q -rs -p no:cacheprovider "${tests[@]}"
    ;;
fuzz)
    sanitized_build
    export -f fuzz_one
    export dir
    basename -a -s .c tests/fuzz/fuzz_*.c | xargs -P "$(nproc)" -n 1 bash -c 'fuzz_one "$0"'
    ;;
*)
    sed -n '2,25s/^# \?//p' "$0" >&2
    exit 2
    ;;
esac

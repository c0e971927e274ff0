#!/usr/bin/env bash
# tests/gpu.sh [tests] [rows] [segments] [grouped] [mixes] [extremes] [big] [compile] [gallery] [sweep] [sanitizer]
# [sums-sanitizer] [gallery-sanitizer] [bench] [merge-bench] [matrix] [cpu-bench] [python] [python-bench] [mpi] [nccl]:
# what needs a GPU, on a machine that has one; by default all of it but the last two sanitizers, the matrix, cpu-bench
# (of the machine's CPU, eight minutes), Python's, mpi and nccl, which needs two. mpi is with the machine's Open MPI, or
# with OMPI=FOLDER, where one is installed that is built --with-cuda.
# sweep is part of gallery. sums-sanitizer: random segments of the operators and types SUMS, in few minutes. TOOLS:
# those of compute-sanitizer that run, if not all four. LOG2=31: big in 40 GB, past 2^31 values in place of 2^32.
# MERGES: options of bench/gpu/merge.cu; SHAPES: of TALLY_MERGE_SHAPE, one run each.
# Binaries come from build/dev (tests/gpu.sh prepare, on a machine that builds), as the GPU's machine may lack cmocka.
# Results go to $OUT, or build/gpu.
set -u
cd "$(dirname "$0")/.."
out=${OUT:-build/gpu}
logs=$out/logs
. tools/parts.sh
. tools/carry.sh
mkdir -p "$out"

if [ "${1-}" = prepare ]; then # tests/gpu.sh prepare [BUILD]
    mkdir -p build/dev
    for name in test_gpu{,_user,_calls,_nodes,_windows,_rows,_exact_rows,_segments,_grouped,_merge,_mixes} \
        test_gpu_{extremes,big} test_nccl test_gallery test_compile test_ranks_openmpi tally; do
        cp "${2:-build}/$name" build/dev/
    done
    cp -L "${2:-build}/libtally.so.0" build/dev/
    for name in libcmocka.so.0 libmpfr.so.6 libgmp.so.10; do cp -L "$(shared_library $name)" build/dev/; done
    cp /usr/include/xxhash.h build/dev/
    # python/tests on arrays of the machine's own PyTorch and CuPy
    cp -rL build/python/tally_reduce python/tests build/dev/
    strip build/dev/tally_reduce/_core.abi3.so
    strip build/dev/test_* build/dev/tally build/dev/libtally.so.0
    pack build/dev .
    exit
fi
[ ! -f build/dev.tar.xz ] || unpack build/dev

export LD_LIBRARY_PATH=$PWD/build/dev:${LD_LIBRARY_PATH-} TALLY_CACHE_DIR=$PWD/build/cache
race() { # race NAME OPTION...; for gallery/pages/keep.py
    local name=$1
    shift
    build/dev/tally race --json --chart "$out/$name.svg" "$@" >"$out/$name.json"
}
merge_bench() { # nvcc and CUB are the machine's
    PATH=$PATH:/usr/local/cuda/bin nvcc -std=c++17 -O3 -arch=native -Iinclude bench/gpu/merge.cu -Lbuild/dev \
        -l:libtally.so.0 -o build/bench_merge || return
    local shape
    for shape in ${SHAPES:-0,0,0}; do
        # shellcheck disable=SC2086 # several options
        TALLY_MERGE_SHAPE=$shape build/bench_merge ${MERGES-} || return
    done
}
cpu_bench() { # cpu_bench NAME SECONDS OPTION...: of arrays of four times a cache of 300 MiB
    bench/run.sh build/cpu-bench --quick --bytes 1280Mi --segment-bytes 1280Mi --repeats 3 --seconds "$2" \
        --out "$out/$1" "${@:3}"
}
paper() { build/dev/tally race --paper --chart "$out/paper.svg" >"$out/paper.md"; }
sweep() { # sweep NAME PARAMETER OPTION...; for gallery/pages/keep.py
    local name=$1
    shift
    build/dev/tally race --chart "$out/$name.svg" --sweep "$@" >"$out/$name.txt"
}
sweeps() {
    local swept="block each width height blocks lists" parameter
    # ahead, all at once and over few values: most of the time goes into compiling
    for parameter in $swept; do
        build/dev/tally race --n 65536 --sweep "$parameter" >/dev/null 2>&1 &
        build/dev/tally race --n 65536 --sweep "$parameter" --segments random >/dev/null 2>&1 &
    done
    wait
    for parameter in $swept; do part "sweep-$parameter" sweep "sweep-$parameter" "$parameter"; done
    for parameter in block width height blocks; do
        part "sweep-$parameter-random" sweep "sweep-$parameter-random" "$parameter" --segments random
    done
}
profile() { timeout 300 python3 gallery/pages/profile.py build/dev/tally >"$out/profile.md"; }

ranks() { # ranks of one GPU
    local bin=${OMPI:+$OMPI/bin/} n
    for n in 1 2 3; do
        env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
            ${OMPI:+OPAL_PREFIX="$OMPI"} LD_LIBRARY_PATH="${OMPI:+$OMPI/lib:}$LD_LIBRARY_PATH" \
            timeout 100 "${bin}mpirun" -n $n build/dev/test_ranks_openmpi --cuda || return
    done
}

run_python() { # run_python SECONDS OPTION...: pytest with the package of build/dev
    local limit=$1
    shift
    timeout "$limit" env PYTHONPATH=build/dev XLA_PYTHON_CLIENT_PREALLOCATE=false XLA_PYTHON_CLIENT_MEM_FRACTION=.05 \
        python3 -m pytest -p no:cacheprovider --noconftest "$@"
}

tools=${TOOLS:-memcheck racecheck initcheck synccheck} # of compute-sanitizer
sanitize() { # sanitize TOOL PROGRAM ARGUMENT...
    local tool=$1 program=$2
    shift 2
    timeout 240 compute-sanitizer --tool "$tool" --error-exitcode 9 "build/dev/$program" --cuda --quick "$@"
}

sums=${SUMS:-sum:f32 sum:f64 mean:bf16 norm2:f32 var:f64 stats:f32 dot:f64}
sums_sanitizer() { # all tools at once, as the kernels are few; these are compiled ahead
    local tool sum
    for tool in none $tools; do
        for sum in $sums; do
            local options=(test_gpu_mixes --problems "${PROBLEMS:-20}" --op "${sum%:*}" --type "${sum#*:}")
            if [ "$tool" = none ]; then
                begin_part "$tool-${sum/:/-}" timeout 200 "build/dev/${options[0]}" --cuda "${options[@]:1}"
            else
                begin_part "$tool-${sum/:/-}" sanitize "$tool" "${options[@]}"
            fi
        done
        [ "$tool" != none ] || end_parts
    done
    end_parts
}

wanted="${*:-tests rows exact_rows segments grouped mixes extremes big compile gallery sanitizer bench merge-bench}"
for part in $wanted; do
    case $part in
    tests)
        # at once: most of the time goes into compiling, a thread for each
        for name in gpu gpu_user gpu_calls gpu_nodes gpu_windows gpu_merge; do
            begin_part "$name" timeout 300 "build/dev/test_$name" --cuda
        done
        end_parts
        ;;
    rows | exact_rows | segments | grouped | extremes)
        # in shares: thousands of kernels are compiled, and the CPU's results are one thread's
        for share in $(seq 0 13); do
            begin_part "$part-$share" timeout 400 "build/dev/test_gpu_$part" --cuda --share "$share/14"
        done
        end_parts
        ;;
    mixes) # behind segments, which has compiled their kernels
        for share in $(seq 0 13); do
            begin_part "mixes-$share" timeout 400 build/dev/test_gpu_mixes --cuda --problems "${PROBLEMS:-1000}" \
                --first $((share * 1000000))
        done
        end_parts
        ;;
    mpi) part mpi ranks ;;
    nccl) # two GPUs or more
        part nccl timeout 440 build/dev/test_nccl --measure
        part nccl-torch run_python 140 -v -rs build/dev/tests/test_on_gpu.py -k "nccl or two_gpus"
        ;;
    big) part big timeout 500 build/dev/test_gpu_big --cuda ${LOG2:+--log2 "$LOG2"} ;;
    compile) part compile build/dev/test_compile --out "$out/gpu-kernels.tsv" ;;
    sanitizer) # the tools one after the other, the programs at once: a tool is slow by itself
        for tool in $tools; do
            for name in gpu gpu_user gpu_merge gpu_nodes gpu_windows; do
                begin_part "$tool-$name" sanitize "$tool" "test_$name"
            done
            for share in $(seq 0 3); do
                begin_part "$tool-rows-$share" sanitize "$tool" test_gpu_rows --share "$share/4"
                begin_part "$tool-exact-rows-$share" sanitize "$tool" test_gpu_exact_rows --share "$share/4"
                begin_part "$tool-segments-$share" sanitize "$tool" test_gpu_segments --share "$share/4"
                begin_part "$tool-grouped-$share" sanitize "$tool" test_gpu_grouped --share "$share/4"
            done
            end_parts
        done
        ;;
    sums-sanitizer) sums_sanitizer ;;
    gallery)
        part gallery build/dev/test_gallery --cuda
        for segments in "" one random three; do
            part "race${segments:+-$segments}" race "race${segments:+-$segments}" ${segments:+--segments $segments}
        done
        part race-sum race race-sum --op sum
        part paper paper
        part mine build/dev/tally race --mine gallery/exercises/solutions/03.h
        sweeps
        part profile profile # by ncu: what the paper has of a profiler
        ;;
    sweep) sweeps ;;
    gallery-sanitizer)
        for tool in $tools; do
            part "gallery-$tool" sanitize "$tool" test_gallery
        done
        ;;
    bench) part bench bench/gpu/run.sh "$out" ;;
    merge-bench) part merge-bench merge_bench ;;
    python) # PyTorch, JAX and CuPy are the machine's; what it lacks is skipped aloud. A test that hangs says where
        files=(build/dev/tests/test_{on_gpu,libraries,torch,jax}.py)
        mapfile -t cases < <(run_python 500 --collect-only -q "${files[@]}" | grep ::)
        part python-cases test "${#cases[@]}" -gt 100
        for share in $(seq 0 11); do # dealt out in turn: most of the time goes into compiling
            its=()
            for ((i = share; i < ${#cases[@]}; i += 12)); do its+=("${cases[i]}"); done
            begin_part "python-$share" run_python 500 -v -rs --durations=5 -o faulthandler_timeout=90 "${its[@]}"
        done
        end_parts
        ;;
    python-bench)
        part python-bench env PYTHONPATH=build/dev XLA_PYTHON_CLIENT_PREALLOCATE=false \
            python3 bench/gpu/python_calls.py --out "$out"
        ;;
    matrix) part matrix bench/gpu/matrix --out "$out" ;;
    cpu-bench)
        part cpu-beside bench/beside.sh build/dev/libtally.so.0 build/cpu-bench
        part cpu-matrix bench/matrix --build build/cpu-bench --seconds 100 --out "$out/cpu-matrix"
        part cpu-whole cpu_bench cpu-whole 150 --sections whole
        part cpu-segments cpu_bench cpu-segments 110 --sections segments --ops sum,var
        part cpu-exact cpu_bench cpu-exact 100 --sections exact,cache
        ;;
    esac
done
finish_parts

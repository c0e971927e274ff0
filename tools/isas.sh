#!/usr/bin/env bash
# tools/isas.sh: prints the option of CMake that leaves out the kernels of AVX-512 where the processor lacks it.
# tools/isas.sh compile FOLDER: compiles those of one operator there, with warnings as errors, so that they stay whole.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1-} in
compile)
    cmake -S . -B "$2" -DTALLY_WERROR=ON >/dev/null
    make -s -j 2 -C "$2" kernels/cpu_sum_avx512.o kernels/cpu_tiles_avx512.o
    ;;
*)
    # machine_has of src/cpu/isa.c asks the processor for the same
    if [ "$(uname -m)" = x86_64 ] && ! grep -qw avx512vl /proc/cpuinfo; then echo "'-DTALLY_ISAS=baseline;avx2'"; fi
    ;;
esac

#!/usr/bin/env bash
# tools/isas.sh: prints options of CMake by what the processor is. Without AVX-512 those kernels are left out. Kernels
# that it has no use for, as it has a stronger instruction set, are as they are shipped for one operator of each kind;
# of the others the baseline's are compiled with -Og, and stand in for those of AVX2. -Og takes a third to half of the
# time that -O2 takes, and gives the same bits; without vectors nothing depends on the set but the conversion of f16 and
# the network that transposes short segments (src/cpu/transposed_template.h), which sum, min and others that are kept
# take too. Where there is AVX-512, these alone are kept: AVX-512 has all kinds as they are shipped, and so has the
# baseline in the job aarch64. Tiles of exact sums of sets that are spared have -Og too, and tests of these sets take a
# part of the sizes (tests/CMakeLists.txt).
# tools/isas.sh compile FOLDER: compiles those of AVX-512 for one operator there, with warnings as errors, so that they
# stay whole.
set -euo pipefail
cd "$(dirname "$0")/.."
spared="prod max argmax minmax any all or xor mean stats norm1 norm2 norminf sumsq logsumexp dot"
case ${1-} in
compile)
    cmake -S . -B "$2" -G "Unix Makefiles" -DTALLY_WERROR=ON >/dev/null
    make -s -j 2 -C "$2" kernels/cpu_sum_avx512.o kernels/cpu_tiles_avx512.o
    ;;
*)
    [ "$(uname -m)" = x86_64 ] || exit 0
    ! grep -qw avx512vl /proc/cpuinfo || spared="argmin count var $spared"
    echo "-DTALLY_SPARED=${spared// /;}"
    left_out=-DTALLY_LEFT_OUT=$(printf '%s_avx2;' ${spared/ dot/}) # dot converts f16 of two inputs
    # machine_has of src/cpu/isa.c asks the processor for the same
    if grep -qw avx512vl /proc/cpuinfo; then
        printf '%s\n' '-DTALLY_SPARED_ISAS=baseline;avx2' "$left_out"
    elif grep -qw avx2 /proc/cpuinfo; then
        printf '%s\n' '-DTALLY_ISAS=baseline;avx2' -DTALLY_SPARED_ISAS=baseline
    else
        printf '%s\n' '-DTALLY_ISAS=baseline;avx2' -DTALLY_SPARED_ISAS=avx2 "$left_out"
    fi
    ;;
esac

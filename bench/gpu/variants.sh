#!/bin/sh
# bench/gpu/variants.sh [PATCH...] [-- ARGUMENT...]: measures kernels as they are now, and with each patch of kernels/ or src/cuda (git diff's, one at
# a time): for tuning, many variants in one visit to a GPU. Only the texts of kernels and src/cuda are compiled again, some seconds each; the
# program measured ($BENCH, or bench_segments, with the arguments) gets the library of the variant by LD_PRELOAD, bench/gpu/rows.py by TALLY_LIBRARY
# (PLAIN_READ: as it says, BUILD/libplain_read.so by default). BUILD: a folder that bench/gpu/run.sh has built (build/gpu). FOLDER: for what is made
# (BUILD/variants). Exit status: how many variants failed.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-build/gpu} bench=${BENCH:-${BUILD:-build/gpu}/bench_segments}
folder=${FOLDER:-$build/variants} failed=0 patches=''
python=/opt/torch/.venv/bin/python3
[ -x $python ] || python=python3
export PLAIN_READ="${PLAIN_READ:-$PWD/$build/libplain_read.so}"
while [ $# -gt 0 ]; do
    [ "$1" = -- ] && shift && break
    patches="$patches $1" && shift
done
[ -x "$bench" ] || { sed -n 's/^# //p' "$0" >&2; exit 2; }
xxhash='' && [ -f build/dev/xxhash.h ] && xxhash=-Ibuild/dev
old=$(grep -ho '[^ ]*tally_objects.dir[^ ]*\.o' "$build"/CMakeFiles/tally.dir/link.txt | grep -v 'src/cuda/\|texts.c.o' | sed "s,^,$build/,")

make_library() { # make_library TREE: libtally.so of its kernels' texts and its src/cuda
    cmake -DKERNELS="$PWD/$1/kernels" -DFOLDERS=exact,lib,operators,production -DPREFIX=tally__ -DOUT="$1/texts.c" -P cmake/texts.cmake || return 1
    for source in "$1/texts.c" "$1"/src/cuda/*.c; do
        ${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -fPIC -fvisibility=hidden -ffp-contract=off -fopenmp -Iinclude -I"$1/src" -I"$1/kernels" \
            -I"$build/generated" $xxhash -c "$source" -o "$source.o" &
    done
    wait
    ${CC:-cc} -shared -fopenmp -Wl,-soname,libtally.so.0 -Wl,--version-script=cmake/tally.map -o "$1/libtally.so.0" $old "$1/texts.c.o" \
        "$1"/src/cuda/*.c.o -lm -ldl -lpthread
}

run() { # run LIBRARY [ARGUMENT...]
    library=$1
    shift
    case $bench in
    *.py) TALLY_LIBRARY=$library "$python" "$bench" "$@" ;;
    *) LD_PRELOAD=$library "$bench" "$@" ;;
    esac
}

measure() { # measure NAME [PATCH] [ARGUMENT...]
    tree=$folder/$1 patch=$2
    shift 2
    rm -rf "$tree" && mkdir -p "$tree" && cp -r kernels src "$tree" && { [ -z "$patch" ] || patch -s -p1 -d "$tree" <"$patch"; } &&
        make_library "$tree" >"$tree/build.log" 2>&1 &&
        TALLY_CACHE_DIR=$tree/cache run "$PWD/$tree/libtally.so.0" "$@" ||
        { failed=$((failed + 1)); tail -n 5 "$tree/build.log" 2>/dev/null; echo "$patch FAILED"; }
}
echo "== as it is"
measure as-it-is '' "$@"
for patch in $patches; do
    echo "== $patch"
    measure "$(basename "$patch" .patch)" "$patch" "$@"
done
exit $failed

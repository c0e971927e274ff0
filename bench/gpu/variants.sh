#!/bin/sh
# bench/gpu/variants.sh [make|measure] [PATCH[+PATCH...]...] [-- ARGUMENT...]: measures kernels as they are now, and with each patch of kernels/ or src/cuda
# (git diff's), or several joined by +: for tuning, many variants in one visit to a GPU. bench/gpu/variants has those that are not measured yet. Only the texts of
# kernels and src/cuda are compiled again, some seconds each; the program measured ($BENCH, or bench_segments, with the arguments) gets the library of the variant by
# LD_PRELOAD, bench/gpu/rows.py by TALLY_LIBRARY (PLAIN_READ: as it says, BUILD/libplain_read.so by default).
#   make     only makes the libraries, on a machine that builds, and FOLDER.tar.xz of them and the program, for one that has a GPU
#   measure  only measures those that are made, or in FOLDER.tar.xz
# BUILD: a folder that bench/gpu/run.sh has built (build/gpu). FOLDER: for what is made (build/variants). Exit status: how many variants failed.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tools/carry.sh
build=${BUILD:-build/gpu} folder=${FOLDER:-build/variants} failed=0 patches='' what='make measure'
bench=${BENCH:-$build/bench_segments}
python=/opt/torch/.venv/bin/python3
[ -x $python ] || python=python3
export PLAIN_READ="${PLAIN_READ:-$PWD/$build/libplain_read.so}"
case ${1-} in make | measure) what=$1 && shift ;; esac
while [ $# -gt 0 ]; do
    [ "$1" = -- ] && shift && break
    patches="$patches $1" && shift
done

make_library() { # make_library TREE: libtally.so of its kernels' texts and its src/cuda
    cmake -DKERNELS="$PWD/$1/kernels" -DFOLDERS=exact,lib,operators,production -DPREFIX=tally__ -DOUT="$1/texts.c" -P cmake/texts.cmake || return 1
    for source in "$1/texts.c" "$1"/src/cuda/*.c; do
        ${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -fPIC -fvisibility=hidden -ffp-contract=off -Iinclude -I"$1/src" -I"$1/kernels" \
            -I"$build/generated" $xxhash -c "$source" -o "$source.o" &
    done
    wait
    ${CC:-cc} -shared -Wl,-soname,libtally.so.0 -Wl,--version-script=cmake/tally.map -o "$1/libtally.so.0" $old "$1/texts.c.o" \
        "$1"/src/cuda/*.c.o -lm -ldl -lpthread
}
patch_tree() { # patch_tree TREE PATCH...
    tree=$1
    shift
    for one in "$@"; do patch -s -p1 -d "$tree" <"$one" || return; done
}
make_variant() { # make_variant NAME [PATCH+PATCH...]
    tree=$folder/$1
    rm -rf "$tree" && mkdir -p "$tree" && cp -r kernels src "$tree" && patch_tree "$tree" $(echo "${2-}" | tr + ' ') &&
        make_library "$tree" >"$tree/build.log" 2>&1 && return
    failed=$((failed + 1)) && tail -n 5 "$tree/build.log" 2>/dev/null
    rm -f "$tree/libtally.so.0" && echo "$1 FAILED to build"
}
make_all() {
    [ -x "$bench" ] || { sed -n 's/^# //p' "$0" >&2; exit 2; }
    xxhash='' && [ -f build/dev/xxhash.h ] && xxhash=-Ibuild/dev
    old=$(grep -ho '[^ ]*tally_objects.dir[^ ]*\.o' "$build"/CMakeFiles/tally.dir/link.txt | grep -v 'src/cuda/\|texts.c.o' | sed "s,^,$build/,")
    rm -rf "$folder" && mkdir -p "$folder"
    make_variant as-it-is
    for patch in $patches; do make_variant "$(echo "$patch" | sed 's,[^+]*/,,g; s,\.patch,,g')" "$patch"; done
    [ "$what" = make ] || return
    [ "${bench%.py}" != "$bench" ] || cp "$bench" "$folder"
    strip "$folder"/*/libtally.so.0
    pack "$folder" $(cd "$folder" && ls -d */libtally.so.0 && find . -maxdepth 1 -type f)
    ls -l "$folder.tar.xz"
}

measure_variant() { # measure_variant NAME [ARGUMENT...]
    library=$PWD/$folder/$1/libtally.so.0
    export TALLY_CACHE_DIR="$folder/$1/cache"
    shift
    case $bench in
    *.py) TALLY_LIBRARY=$library "$python" "$bench" "$@" ;;
    *) LD_PRELOAD=$library "$bench" "$@" ;;
    esac
}
measure_all() {
    if [ "$what" = measure ]; then
        [ -d "$folder" ] || unpack "$folder" || exit 2
        [ ! -x "$folder/$(basename "$bench")" ] || bench=$folder/$(basename "$bench")
        export LD_LIBRARY_PATH="$PWD/$folder/as-it-is:$PWD/$folder:${LD_LIBRARY_PATH-}"
    fi
    for name in as-it-is $(cd "$folder" && ls -d */libtally.so.0 | sed 's,/.*,,' | grep -vx as-it-is); do
        echo "== $name"
        measure_variant "$name" "$@" || { failed=$((failed + 1)) && echo "$name FAILED"; }
    done
}
case $what in *make*) make_all ;; esac
case $what in *measure*) measure_all "$@" ;; esac
exit $failed

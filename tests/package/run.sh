#!/usr/bin/env bash
# tests/package/run.sh [BUILD]: installs a build and uses it as strangers would.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "${1:-build}")
cc=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
say() { printf '%s: %s\n' "$1" "$2"; }
check() { # check WHAT COMMAND...
    local what=$1
    shift
    if "$@" >"$work/output" 2>&1; then say passed "$what"; else
        say FAILED "$what"
        cat "$work/output"
        failed=1
    fi
}
same() { diff "$1" "$2"; }

# Installed, then moved: nothing may know where it was put first.
cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"
prefix=$work/prefix
lib=$(dirname "$(find "$prefix" -name libtally.a)")
include=$prefix/include
export PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib

version=$(sed -n 's/^Version: //p' "$lib/pkgconfig/tally.pc")
config=$(sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=//p' "$build/CMakeCache.txt")
(cd "$prefix" && find . ! -type d | sed "s|^\./||; s|^${lib#"$prefix"/}/|LIB/|; s|\.so\.$version|.so.VERSION|
    s|-$(tr '[:upper:]' '[:lower:]' <<<"${config:-release}")\.cmake|-CONFIG.cmake|" | sort) >"$work/installed"
files=("$here/installed.txt")
if [ -f "$lib/libtally-mpi.so" ]; then files+=("$here/installed-mpi.txt"); fi # where there is an MPI
sort "${files[@]}" >"$work/wanted"
check "the files installed are those of installed.txt" same "$work/wanted" "$work/installed"
check "DESTDIR is honoured" env DESTDIR="$work/destination" cmake --install "$build" --prefix /usr
check "DESTDIR has the header" test -f "$work/destination/usr/include/tally/tally.h"

# Headers alone.
for header in tally/tally.h tally/tables.h tally/tally_merge.h tally/tally_nodes.h tally/tally_nccl.h; do
    printf '#include "%s"\nextern int not_empty;\n' $header >"$work/header.c"
    check "$header is C11" "$cc" -std=c11 -pedantic -Wall -Wextra -Werror -I"$include" -fsyntax-only "$work/header.c"
    check "$header is C++17" "${CXX:-c++}" -x c++ -std=c++17 -pedantic -Wall -Wextra -Werror -I"$include" \
        -fsyntax-only "$work/header.c"
done

# Symbols: exported is what the header declares, no more and no less; the archive keeps to its own names.
sed -n 's/^TALLY_\(API\|CHECKED\) .*\b\(tally_[a-z0-9_]*\)(.*/\2/p' "$include/tally/tally.h" \
    "$include/tally/tally_merge.h" "$include/tally/tally_nodes.h" "$include/tally/tally_nccl.h" | sort >"$work/declared"
nm -D --defined-only "$lib/libtally.so" | awk '{print $NF}' | sort >"$work/exported"
check "libtally.so exports what its headers declare" same "$work/declared" "$work/exported"
nm -g --defined-only "$lib/libtally.a" | awk 'NF == 3 && $3 !~ /^tally_/ {print $3}' >"$work/foreign"
check "every global name in libtally.a begins with tally_" same /dev/null "$work/foreign"
if [ -f "$lib/libtally-mpi.so" ]; then
    sed -n 's/^TALLY_\(API\|CHECKED\) .*\b\(tally_mpi_[a-z0-9_]*\)(.*/\2/p' "$include/tally/tally_mpi.h" |
        sort >"$work/declared"
    nm -D --defined-only "$lib/libtally-mpi.so" | awk '{print $NF}' | sort >"$work/exported"
    check "libtally-mpi.so exports what tally_mpi.h declares" same "$work/declared" "$work/exported"
fi
echo tally_simt_kernels >"$work/declared"
nm -D --defined-only "$lib/libtally-simt.so" | awk '{print $NF}' >"$work/exported"
check "libtally-simt.so exports one function" same "$work/declared" "$work/exported"

# Through pkg-config and through CMake, shared and static.
read -ra flags <<<"$(pkg-config --cflags --libs tally)"
check "pkg-config, shared: compiles" "$cc" "$here/use.c" -o "$work/shared" "${flags[@]}"
check "pkg-config, shared: runs" "$work/shared"
read -ra flags <<<"$(pkg-config --static --cflags --libs tally)"
check "pkg-config, static: compiles" "$cc" -static "$here/use.c" -o "$work/static" "${flags[@]}"
check "pkg-config, static: runs" env -u LD_LIBRARY_PATH "$work/static"
check "find_package: configures" cmake -S "$here" -B "$work/user" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc"
check "find_package: compiles" cmake --build "$work/user"
check "find_package, shared: runs" env -u LD_LIBRARY_PATH "$work/user/use"
check "find_package, static: runs" env -u LD_LIBRARY_PATH "$work/user/use_static"

# The simulator's kernels are found from wherever the library is.
without() { # without SENTENCE COMMAND...: fails and says so
    local sentence=$1
    shift
    ! "$@" 2>"$work/said" && grep "$sentence" "$work/said"
}
check "the simulator's kernels: beside the shared library" env -u LD_LIBRARY_PATH "$work/user/use" simt
check "the simulator's kernels: named" env TALLY_SIMT_KERNELS="$lib/libtally-simt.so" "$work/user/use_static" simt
if [ -x "$prefix/bin/tally" ]; then
    tally=(env -u LD_LIBRARY_PATH "$prefix/bin/tally")
    check "the installed command runs" "${tally[@]}" list
    printf '1 1 1\n' >"$work/x.txt"
    check "the installed command writes" "${tally[@]}" sum "$work/x.txt" --lengths "$work/x.txt" -o "$work/x.npy"
    check "the simulator's kernels: beside the installed command" "${tally[@]}" sum "$work/x.npy" --device simt
    rm "$lib/libtally-simt.so"
    ldconfig -p 2>/dev/null | grep -q libtally-simt ||
        check "the simulator's kernels: missing, and what to do" without "make simt builds it" "${tally[@]}" sum \
            "$work/x.npy" --device simt
fi
exit $failed

#!/usr/bin/env bash
# bench/beside.sh LIBRARY FOLDER: compiles libtallybench.so into FOLDER beside a libtally that another machine built.
# Like bench/CMakeLists.txt, with the gcc of this machine and for it; OpenBLAS where it is installed.
set -eu
cd "$(dirname "$0")/.."
library=$1 folder=$2 blas=()
peers=(-O3 -march=native -fwrapv -ffp-contract=fast)
mkdir -p "$folder"
compile() { gcc -fPIC -fopenmp -Iinclude "${@:2}" -c "bench/$1" -o "$folder/${1%.c}.o"; } # compile SOURCE OPTION...
for include in "" "/usr/include/$(gcc -print-multiarch)/openblas-pthread"; do
    compile peers_blas.c "${peers[@]}" ${include:+-I"$include"} 2>/dev/null || continue
    echo 'int main(void) { return 0; }' | gcc -x c - -lopenblas -o "$folder/linked" 2>/dev/null || continue
    blas=(-DBENCH_HAVE_BLAS "$folder/peers_blas.o" -lopenblas)
    break
done
compile bench.c -O3 -DBENCH_HAVE_TALLY ${blas[0]+"${blas[0]}"}
compile plain_read.c -O3
compile contender_tally.c -O3
compile peers_openmp.c "${peers[@]}"
gcc -shared -fopenmp "$folder"/{bench,plain_read,contender_tally,peers_openmp}.o "$library" "${blas[@]:1}" -lm \
    -Wl,-rpath,"$(realpath "$(dirname "$library")")" -o "$folder/libtallybench.so"
printf '{"compiler": "GNU %s", "build_type": "Release", "peer_flags": "%s"}\n' "$(gcc -dumpfullversion)" \
    "${peers[*]}" >"$folder/build.json"

#!/usr/bin/env bash
# tools/machine_code.sh UNIT [BUILD]: the machine code of the GPU kernels whose unit contains UNIT, such as
# columns_sum_f32_0, for sm_ARCH (90), in BUILD/machine_code/UNIT.sass (build). Needs no GPU, but NVRTC and nvdisasm,
# which tools/setup.sh downloads. Prints what the assembler tells of each, and the bytes of its loads in order: in
# brackets the branches since the load before. Loads that should be in flight together have none.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
unit=$1 build=${2:-build} arch=${ARCH:-90}
out=$build/machine_code
TALLY_NVRTC=${TALLY_NVRTC:-$(tools/setup.sh gpu "$build")}
export TALLY_NVRTC
nvdisasm=$(tools/setup.sh nvdisasm "$build")
chmod +x "$nvdisasm" # a zip does not say so
log=$build/machine_code.log
cmake --build "$build" --target test_compile >"$log" 2>&1 || { tail "$log"; exit 1; }
rm -rf "$out"
mkdir -p "$out"
"$build/test_compile" --arch "$arch" --only "$unit" --keep "$out" --out "$out/table.tsv" >"$log" 2>&1 ||
    { tail "$log"; exit 1; }
column -t "$out/table.tsv"
for cubin in "$out"/*.cubin; do
    sass=${cubin%.cubin}.sass
    "$nvdisasm" "$cubin" >"$sass"
    echo "$sass:"
    awk '/BRA/ {branches++}
        match($0, /LDG[.A-Z0-9]*/) {
            load = substr($0, RSTART, RLENGTH)
            bytes = load ~ /\.128/ ? 16 : load ~ /\.64/ ? 8 : load ~ /16/ ? 2 : load ~ /\.[US]8/ ? 1 : 4
            line = line " " bytes (branches > 0 ? "[" branches "]" : "")
            branches = 0
        }
        END {print line}' "$sass" | fold -s -w 118
done

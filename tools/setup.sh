#!/usr/bin/env bash
# tools/setup.sh build|demo|check|bench|tables|docs|wheel|jobs|course: installs the missing ones of the Debian packages
# that it needs.
# tools/setup.sh gpu [BUILD]: puts NVRTC, NVIDIA's compiler library, into BUILD/nvrtc (build/nvrtc), and prints the file
# for TALLY_NVRTC. tools/setup.sh nvdisasm [BUILD]: the same for NVIDIA's disassembler.
# Says what it does; where it may not install, it prints the command and fails. Nothing missing: nothing done.
set -euo pipefail

nvrtc=13.5.37 # a later one may have registers spill, which fails tests/unit/test_compile.c, where this one does not
build="gcc libc6-dev make cmake libxxhash-dev"
case ${1-} in
build | demo) packages=$build ;;
check)
    packages="$build ninja-build clang clang-format g++ pkg-config binutils libcmocka-dev libmpfr-dev python3-numpy"
    packages="$packages python3-hypothesis python3-pytest python3-dev openmpi-bin libopenmpi-dev mpich libmpich-dev"
    packages="$packages gfortran"
    ;;
bench) packages="$build g++ libopenblas-dev libtbb-dev python3-numpy python3-matplotlib" ;;
tables) packages="$build python3 datamash miller libcsv-dev" ;; # bench/tables.py and what it measures beside tally
docs) packages="python3 python3-venv" ;;
course) packages="$build g++ python3-pytest chromium chromium-driver python3-selenium" ;;
wheel) packages="$build python3-dev python3-venv" ;;
gpu | nvdisasm) packages="python3 python3-pip" ;;
jobs)
    packages="$build libcmocka-dev libmpfr-dev clang libclang-rt-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
    packages="$packages qemu-user python3-dev python3-venv openmpi-bin mpich"
    ;;
*)
    sed -n '2,7s/^# //p' "$0" >&2
    exit 2
    ;;
esac

present() { # a program counts however it came here
    command -v "$1" >/dev/null || [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# fetch_wheel WHEEL FOLDER FILE: downloads a wheel of NVIDIA's by pip, unpacks it into FOLDER, and prints FILE of it. A
# wheel is a zip, so that nothing outside the folder changes. Some 50 MB, or 5.
fetch_wheel() {
    local wheel=$1 folder=$2 file=$3
    if ! compgen -G "$folder/nvidia/cu*/$file" >/dev/null; then
        echo "setup: downloading NVIDIA's wheel $wheel $nvrtc (proprietary; its licence comes with it) into $folder" >&2
        rm -rf "$folder"
        mkdir -p "$folder"
        python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$folder" "$wheel==$nvrtc" >&2
        python3 -m zipfile -e "$folder"/*.whl "$folder"
        rm "$folder"/*.whl
    fi
    # shellcheck disable=SC2086 # a pattern
    realpath "$folder"/nvidia/cu*/$file | head -n 1
}
fetch() { # fetch GOAL BUILD: what the goal needs beside packages
    case $1 in
    gpu) fetch_wheel nvidia-cuda-nvrtc "$2/nvrtc" "lib/libnvrtc.so.*" ;;
    nvdisasm) fetch_wheel nvidia-cuda-nvdisasm "$2/nvdisasm" bin/nvdisasm ;;
    esac
}
if [[ $1 = gpu || $1 = nvdisasm ]] && python3 -m pip --version >/dev/null 2>&1; then # from Debian or elsewhere
    fetch "$1" "${2:-build}"
    exit
fi

if ! command -v dpkg-query >/dev/null; then
    echo "setup: not a Debian system, so nothing is checked or installed. Needed, by Debian's names: $packages" >&2
    exit 0
fi
missing=""
for package in $packages; do
    present "$package" || missing+=" $package"
done
[ -n "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
    as_root=""
elif sudo -n true 2>/dev/null; then
    as_root="sudo "
else
    printf 'setup: %s needs packages that only an administrator can install. Please run, then try again:\n    %s\n' \
        "$1" "sudo apt-get update && sudo $install" >&2
    exit 1
fi
echo "setup: installing what $1 needs:$missing" >&2
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
if ! { ${as_root}apt-get update && $as_root$install; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "setup: that failed; the command was: ${as_root}$install (all of its output: $log)" >&2
    exit 1
fi
rm -f "$log"
fetch "$1" "${2:-build}"

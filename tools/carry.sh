# Sourced by scripts whose programs are built on one machine and run on another, which may lack what these are linked
# with:
#   shared_library NAME            where the loader finds it here
#   pack FOLDER FILE...            FOLDER.tar.xz of these files and folders in FOLDER
#   unpack FOLDER                  makes them again, also where there is no xz
shared_library() { ldconfig -p | awk -v name="$1" '$1 == name {print $NF; exit}'; }
# Each program and library has the CPU's 20 MB of kernels, the same in all: a window that finds them again.
pack() (
    cd "$1" && shift && tar --sort=name -c "$@" | xz --lzma2=preset=0,dict=64MiB >"$PWD.tar.xz"
)
unpack() {
    mkdir -p "$1" && { tar -C "$1" -xJf "$1.tar.xz" || python3 -m tarfile -e "$1.tar.xz" "$1"; }
}

# Toolchain of tools/jobs.sh aarch64: Debian's cross compiler; programs run under qemu-user. Libraries that Debian has
# no cross package of are looked for in ARM64_PACKAGES.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${ARM64_PACKAGES} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ARM64_PACKAGES)

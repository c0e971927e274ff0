#!/usr/bin/env bash
# tools/format.sh [--check]: formats the tracked C files (.clang-format), but for tables, which clang-format misreads.
# --check: changes nothing, and fails where it would. Other versions than Debian 12's break lines elsewhere: with them
# --check says so, and passes.
set -euo pipefail
cd "$(dirname "$0")/.."
version=14
if [ "${1-}" = --check ]; then
    case $(clang-format --version 2>&1) in
    *"version $version."*) how="--dry-run -Werror" ;;
    *) echo "format: SKIPPED: only clang-format $version can check it" && exit ;;
    esac
else
    how=-i
fi
# shellcheck disable=SC2086 # several options
git ls-files -z '*.c' '*.h' ':!kernels/forms.h' ':!gallery/kernels/table.h' ':!gallery/exercises' ':!include' \
    ':!src/foreach_type.h' ':!src/convert.c' ':!tests/unit/simt_host.h' ':!examples/gpu.c' |
    xargs -0 -n 64 -P "$(nproc)" clang-format $how

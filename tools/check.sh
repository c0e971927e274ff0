#!/usr/bin/env bash
# tools/check.sh [BUILD]: every test of one build. `make check` builds, then comes here.
set -u
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
logs=$build/logs
. tools/parts.sh

python=/usr/bin/python3 # Debian's, which has Debian's NumPy
[ -x $python ] || python=python3

part layers "$python" tools/check_layers.py
part symbols "$python" tools/check_symbols.py "$build"
part names "$python" tools/names.py --check
part lines "$python" tools/check_lines.py
part mutations tests/mutations.sh --check
# Beside the tests, as each takes one processor.
begin_part format tools/format.sh --check
begin_part package tests/package/run.sh "$build"
# One more than there are processors: tests of the command wait for a third of their time.
part ctest ctest --test-dir "$build" -LE jit --output-on-failure --no-tests=error -j "$(($(nproc) + 1))"
# passing tests keep quiet there
part skipped bash -c "grep SKIPPED '$build/Testing/Temporary/LastTest.log' || echo nothing"
if ! grep -q '^TALLY_ISAS:.*avx512' "$build/CMakeCache.txt" && [ "$(uname -m)" = x86_64 ]; then
    skip avx512 "this machine has no AVX-512: its kernels are compiled for one operator, and none runs"
    part avx512 tools/isas.sh compile "$build/avx512"
fi
spared=$(sed -n 's/^TALLY_SPARED_ISAS:[A-Z]*=//p' "$build/CMakeCache.txt")
if [ -n "$spared" ] && ! grep -q '^TALLY_SPARED:[A-Z]*=$' "$build/CMakeCache.txt"; then
    skip shipped "kernels of most operators, and most sizes of tests, for ${spared//;/, } are spared (tools/isas.sh)"
fi
skip jit "tools/jobs.sh gpu compiles GPU kernels by NVRTC"
skip course "tools/jobs.sh course opens its page in a browser, and compiles its kernels as plain CUDA"
end_parts
if [ -x examples/demo.sh ]; then
    part demo examples/demo.sh "$build/tally"
else
    skip demo "there is no examples/demo.sh"
fi
finish_parts

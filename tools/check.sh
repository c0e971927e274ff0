#!/usr/bin/env bash
# tools/check.sh [BUILD]: every test of one build. `make check` builds, then comes here.
set -u
cd "$(dirname "$0")/.."
build=${1:-build}
logs=$build/logs
. tools/parts.sh

python=/usr/bin/python3 # Debian's, which has Debian's NumPy
[ -x $python ] || python=python3
export TALLY_LIBRARY=$PWD/$build/libtally.so TALLY_COMMAND=$PWD/$build/tally

part layers "$python" tools/check_layers.py
part ctest ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$(nproc)"
mapfile -t python_tests < <(find tests python -name 'test_*.py' 2>/dev/null | sort)
if [ ${#python_tests[@]} -gt 0 ]; then
    part python "$python" -m pytest -q -rs -p no:cacheprovider "${python_tests[@]}"
else
    skip python "there are no test_*.py"
fi
part cli "$python" tests/cli/run.py --tally "$build/tally"
part package tests/package/run.sh "$build"
if [ -x examples/demo.sh ]; then
    part demo examples/demo.sh "$build/tally"
else
    skip demo "there is no examples/demo.sh"
fi
finish_parts

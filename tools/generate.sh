#!/usr/bin/env bash
# tools/generate.sh [BUILD]: writes again all that is made of the tables, the measurements and the sources, after a
# build with tests. `make generated` builds, then comes here. Look at the diff: a row of tests/unit/golden.h is added
# for a new operator, never changed.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
python=/usr/bin/python3
[ -x $python ] || python=python3

"$python" tools/gen_operator_docs.py
"$python" gallery/cuda/generate.py
"$python" gallery/pages/generate.py --tally "$build/tally"
"$python" tools/draw_architecture.py
"$python" tools/draw_ranks.py
"$python" tools/gen_python_stubs.py
"$python" tools/gen_python_examples.py --tally "$build/tally"
"$python" bench/results.py
man=$("$build/tally" help man)
printf '%s\n' "$man" >docs/man/tally.1
rows=$("$build/test_state_file" --golden)
[ -z "$rows" ] || printf '%s\n' "$rows" >>tests/unit/golden.h
"$python" tests/cli/run.py --tally "$build/tally" --update help gpu
git diff --stat

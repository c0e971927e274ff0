#!/bin/sh
# bench/run.sh BUILD [options of run.py]: measures what is built in BUILD, with the Python that has NumPy.
build=${1:-build}
[ $# -gt 0 ] && shift
. "$(dirname "$0")/python.sh"
exec "$python" "$(dirname "$0")/run.py" --build "$build" "$@"

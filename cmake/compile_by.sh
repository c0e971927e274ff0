#!/bin/sh
# compile_by.sh COMPILER USUAL COMMAND...: runs the command with COMPILER in place of USUAL, before which a launcher may
# stand. CMake knows one compiler for each language; this is the launcher of targets that take another.
compiler=$1 usual=$2
shift 2
for word; do
    shift
    [ "$word" != "$usual" ] || word=$compiler
    set -- "$@" "$word"
done
exec "$@"

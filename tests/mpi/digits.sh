#!/bin/sh
# tests/mpi/digits.sh LAUNCHER PROGRAM: the lines that begin with "sum" are the same on 1, 2, 3 and 8 ranks.
set -eu
first=""
for ranks in 1 2 3 8; do
    lines=$("$1" -n "$ranks" "$2" | grep '^sum')
    [ -n "$first" ] || first=$lines
    if [ "$lines" != "$first" ]; then
        printf 'on 1 rank:\n%s\non %s ranks:\n%s\n' "$first" "$ranks" "$lines"
        exit 1
    fi
done
printf '%s\nthe same digits on 1, 2, 3 and 8 ranks\n' "$first"

#!/bin/sh
# Shows what the command can do, on real data. Usage: examples/demo.sh TALLY_BINARY
set -eu

if [ $# -ne 1 ] || [ ! -x "$1" ]; then
    echo "usage: $0 TALLY_BINARY (make builds it as build/tally)" >&2
    exit 2
fi
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$binary" "$work/tally"
PATH=$work:$PATH
cd "$work"
cp "$root"/examples/data/*.txt "$root"/examples/data/*.csv "$root/LICENSE" .

say() {
    printf '\n%s\n' "$*"
}

# Prints a command as one would type it, then what it gives.
try() {
    printf '  $ %s\n' "$1"
    sh -c "$1" > shown
    sed 's/^/    /' shown
}

say "This machine:"
try "tally info"

say "A table: the weather in Seattle, a row for each day from 2012 to 2015. Several operators take one pass."
try "head -n 3 seattle-weather.csv"
try "tally mean temp_max,temp_min sum precipitation max wind --by weather --to aligned seattle-weather.csv"
say "The same on two machines: each saves a state of its part, and the states are merged."
try "head -n 700 seattle-weather.csv > a.csv; (head -n 1 a.csv; tail -n +701 seattle-weather.csv) > b.csv"
try "for k in a b; do cut -d, -f2 \$k.csv | tail -n +2 | tally sum - --type f64 --save \$k.state; done"
try "tally merge a.state b.state; tally sum precipitation seattle-weather.csv"

say "A measured series: the yearly number of sunspots from 1700 to 2008. All statistics take one pass."
try "tally stats sunspots.txt"
say "The year with the most sunspots:"
try "expr 1700 + \$(tally argmax sunspots.txt)"

say "A ragged one: CO2 at Mauna Loa by week, where some weeks were not measured. A NaN spoils the mean unless it is" \
    "skipped."
try "tally mean co2.txt"
try "tally mean co2.txt --nan skip"
say "Cut by year: one sorted key for each value, one result for each key. 1958 and 2001:"
awk '!/^#/ { print int(($1 + 2) / 12) }' co2-months.txt > years.txt
try "tally mean co2.txt --by years.txt --nan skip | sed -n '1p;\$p'"
say "How much each year swings, as an array (NumPy reads it), and the statistics of that:"
try "tally std co2.txt --by years.txt --nan skip --ddof 1 -o swing.npy"
try "tally stats swing.npy"

say "Very uneven segments: the characters of each word of the licence, cut by line; empty lines are empty segments."
awk '{ for (k = 1; k <= NF; k++) print length($k) }' LICENSE > words.txt
awk '{ print NF }' LICENSE > lines.txt
try "tally stats words.txt"
try "tally sum words.txt --lengths lines.txt | head -n 4"
say "The line with the most characters, counted from 0:"
try "tally sum words.txt --lengths lines.txt | tally argmax -"

say "One answer: the bits do not depend on threads, on pipes, or on slow and obvious code."
try "tally var co2.txt --nan skip --threads 1"
try "tally var co2.txt --nan skip --threads 8"
try "cat co2.txt | tally var - --nan skip --device reference"

say "More: tally help, tally list, man tally."

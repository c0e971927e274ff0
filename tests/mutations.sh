#!/usr/bin/env bash
# tests/mutations.sh [NAME...]: makes mutations, one at a time, and sees that the tests named beside them find each.
# NAME: a mutation, or a group of them. All of them take two hours on two cores; most of that is exact sums. Works on a
# copy of the tree in build/mutations. The exit status is 0 only when the copy passes as it is and every mutation is
# found on every instruction set it concerns. Prints a table in Markdown.
# tests/mutations.sh --check: only sees that every mutation still fits the text it is for.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$root/build/mutations
tree=$work/tree
checks=0
[ "${1-}" != --check ] || { checks=1; shift; }
names=("$@")
isas=baseline
grep -qw avx512f /proc/cpuinfo 2>/dev/null && isas="avx512 baseline"
failures=0 made=0 passed=""
python=/usr/bin/python3 # Debian's, which has Debian's NumPy
[ -x "$python" ] || python=python3

# ---- the copy, built ----

copy() { # FILE: to the copy, if it differs there
    cmp -s "$root/$1" "$tree/$1" && return
    mkdir -p "$tree/$(dirname "$1")"
    cp "$root/$1" "$tree/$1"
}
build() { # TEST...: what they run
    local targets
    targets=$(printf '%s\n' "$@" | sed 's/ .*//; s/^pytest$/tally_python/' | sort -u)
    cmake --build "$work/build" --target $targets -j "$(nproc)" >"$work/build.log" 2>&1
}
# Runs tests for one instruction set, until one fails. Its log is $work/ISA.log, and it is `failed`. TEST: a program of
# the build with its arguments, or pytest with those of python/tests.
run() { # ISA TEST...
    local isa=$1
    shift
    for failed in "$@"; do
        if [ "${failed%% *}" = pytest ]; then
            (cd "$tree/python/tests" && PYTHONPATH=$work/build/python timeout 300 "$python" -m pytest -q -x \
                -p no:cacheprovider ${failed#pytest}) >"$work/$isa.log" 2>&1 || return
        else
            TALLY_ISA=$isa timeout 300 "$work/build/"$failed >"$work/$isa.log" 2>&1 || return
        fi
    done
}
# What a failed run said, in a few words.
words() { # STATUS LOG
    local said scene
    said=$(grep -a -m1 -B1 '^  seed ' "$2" | head -n1 | cut -c1-100)
    scene=$(sed -n 's/^  seed .*op \([a-z0-9]*\), type \([a-z0-9]*\),.*/\1 of \2/p' "$2" | head -n1)
    printf '%s: ' "${failed%% *}"
    if [ -n "$said" ]; then
        printf '%s: %s' "$scene" "$said" | tr '|\n' '/ '
    elif grep -q '^FAILED' "$2"; then
        grep -m1 '^FAILED' "$2" | sed 's/^FAILED //; s/ - .*//' | tr '|\n' '/ '
    elif [ "$1" = 124 ]; then
        printf 'it never ends'
    else
        printf 'ends with status %s' "$1"
    fi
}

# ---- one mutation ----

# Where FIND is in the text of FILE. Blanks, ends of lines, and backslashes before these match one another, however the
# text is broken into lines.
finder='import re, sys
texts = {}
def found(file, find):
    text = texts[file] = texts.get(file) or open(file).read()
    blanks = r"(?:\s|\\\n)"
    return text, list(re.finditer((blanks + "+").join(map(re.escape, re.split(r"\s+", find))), text))
'
# The text of FILE with FIND, which must occur once, replaced.
mutated() { # FILE FIND REPLACEMENT
    python3 -I -S -c "$finder"'
text, places = found(*sys.argv[1:3])
if len(places) != 1: sys.exit(1)
print(text[:places[0].start()] + sys.argv[3] + text[places[0].end():], end="")' "$@"
}
# Prints how many mutations of the list (names, files and texts, a zero byte behind each) fit; fails if some do not.
count_fitting() {
    python3 -I -S -c "$finder"'
rotten, fields = 0, sys.stdin.read().split("\0")[:-1]
for name, file, find in zip(*[iter(fields)] * 3):
    if len(found(file, find)[1]) != 1:
        print(f"mutation {name} has rotted: its text is not in {file} exactly once", file=sys.stderr)
        rotten += 1
print(len(fields) // 3 - rotten)
sys.exit(rotten > 0)'
}

# group NAME ISAS TEST...: the mutations that follow are found by one of these tests; the quick ones come first.
group() {
    group=$1 group_isas=$2
    shift 2
    tests=("$@")
}
# mutation NAME FILE FIND REPLACEMENT [ISA]: ISA: the only instruction set that it concerns.
mutation() {
    local name=$1 file=$2 find=$3 replacement=$4 only=${5-} text verdict="not run: no such instruction set" by="" isa
    local status
    if [ ${#names[@]} -gt 0 ]; then
        case " ${names[*]} " in *" $name "* | *" $group "*) ;; *) return 0 ;; esac
    fi
    if [ "$runs_them" = 0 ]; then
        printf '%s\0' "$name" "$file" "$find"
        return
    fi
    pass_unchanged || exit 1
    made=$((made + 1))
    text=$(mutated "$root/$file" "$find" "$replacement")
    printf '%s\n' "$text" >"$tree/$file"
    if ! build "${tests[@]}"; then
        echo "| $name | $file | **DOES NOT BUILD** | $(grep -m1 error: "$work/build.log" | cut -c1-100) |"
        failures=$((failures + 1))
        copy "$file"
        return
    fi
    for isa in $group_isas; do
        [ -z "$only" ] || [ "$only" = "$isa" ] || continue
        status=0
        run "$isa" "${tests[@]}" || status=$?
        case "$status $verdict" in
            0*) verdict="**SURVIVED** on $isa" ;;
            *"not run"*) verdict=yes ;;
        esac
        [ "$status" = 0 ] || [ -n "$by" ] || by=$(words "$status" "$work/$isa.log")
    done
    case "$verdict" in *SURVIVED*) failures=$((failures + 1)) ;; esac
    echo "| $name | $file | $verdict | ${by:--} |"
    copy "$file"
}

# Once for each group: its tests pass without any mutation.
pass_unchanged() {
    local isa
    case " $passed " in *" $group "*) return ;; esac
    build "${tests[@]}" || { cat "$work/build.log" >&2; return 1; }
    for isa in $group_isas; do
        run "$isa" "${tests[@]}" && continue
        cat "$work/$isa.log" >&2
        echo "$failed fails without any mutation" >&2
        return 1
    done
    passed="$passed $group"
}

# ---- the mutations: tests/mutations/, those of one file together ----

each_mutation() {
    local list file
    # shellcheck disable=SC1090 # the lists
    for list in "$root"/tests/mutations/*.sh; do . "$list"; done
}

# ---- the run ----

runs_them=0
if ! fitting=$(each_mutation | count_fitting) || [ "$fitting" = 0 ]; then
    echo "no such mutation, or rotten ones: nothing was run" >&2
    exit 1
fi
[ "$checks" = 0 ] || { echo "$fitting mutations fit"; exit 0; }
runs_them=1

mkdir -p "$tree"
git ls-files --cached --others --exclude-standard | while IFS= read -r file; do [ ! -f "$file" ] || copy "$file"; done
# Operators' kernels with -Og, and the simulator's by clang: they compile in half of the time.
cmake -S "$tree" -B "$work/build" -DTALLY_TESTS=ON "-DTALLY_ISAS=${isas/avx512 baseline/baseline;avx512}" \
    $(tools/isas.sh | grep SPARED=) -DTALLY_SIMT_COMPILER="$(command -v clang || true)" >"$work/configure.log"
echo "| mutation | in | caught | by |"
echo "|---|---|---|---|"
each_mutation

echo
echo "$made mutations, $failures not caught"
[ "$failures" = 0 ]

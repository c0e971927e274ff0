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
        run "$isa" "${tests[@]}" || { cat "$work/$isa.log" >&2; echo "$failed fails without any mutation" >&2; return 1; }
    done
    passed="$passed $group"
}

# ---- the mutations, those of one file together ----

each_mutation() {
group sums "$isas" "test_sums --quick" test_plain test_sums
file=src/cpu/exact.c
mutation additions-bound kernels/sums/plan.h 'bound + additions + (k' 'bound + additions - 3 + (k'
mutation binade kernels/sums/plan.h 'TALLY_BINADE = 51,' 'TALLY_BINADE = 53,'
mutation level-spacing kernels/sums/plan.h 'bound = lowest - 1;' 'bound = lowest - 3;'
mutation parts-of-products kernels/sums/plan.h '(k > 0 ? parts - 1 : 0)' '(k > 0 ? -3 : 0)'
mutation table-overflow kernels/sums/plan.h '    return count;' '    return count != 0 ? count : most;'
mutation residual-dropped kernels/sums/plan.h 'if (lowest <= unit) {' 'if (lowest <= unit + 1) {'
mutation anchor $file '= tally_anchor(levels->unit[k]);' '= tally_scale(1.0, levels->unit[k] + 52);'
mutation too-few-levels $file 'if (counts[i] < needed) continue;' 'if (counts[i] + 1 < needed) continue;'
mutation range-test kernels/sums/plan.h 'HIGHEST = 960' 'HIGHEST = 1024'
mutation underflow-test kernels/sums/plan.h 'LOWEST = -1074' 'LOWEST = -1174'
mutation product-unit src/cpu/bounds.h 'b.unit += tile->y_extent.unit;' ''
mutation level-not-committed $file 'for (int k = 0; k < levels->count && levels->tiles > 0; k++) {' 'for (int k = 0; k + (k > 0) < levels->count && levels->tiles > 0; k++) {'
mutation zero-products $file 'words[(x == 0 || y == 0) && negative ? TALLY_MINUS_ZERO : TALLY_OTHER] = 1;' 'words[TALLY_OTHER] = 1;'
mutation other-not-set $file 'witness(product ? sums->products : sums->values, tile);' ''
mutation both-not-set $file 'sums->values[TALLY_OTHER] = sums->products[TALLY_OTHER] = 1;' 'sums->values[TALLY_OTHER] = 1;' avx512
mutation specials-by-levels src/cpu/tile.c 'if (!tile->x_extent.special && !tile->y_extent.special) return;' 'if (!tile->x_extent.special) return;'
mutation zero-tile-sign $file 'if (term == TALLY_TERM_MAGNITUDE || (product && tile->y == tile->x))' 'if (product && tile->y == tile->x)'
mutation zeros-of-products $file 'y = product ? tally__value_at(tile, tile->y, i) : 1;' 'y = 1;'
mutation skipped-is-plus-zero src/cpu/specials_template.h '(c & ~out) | (out & ~most_##type)' '(c & ~out)'
mutation skip-one-input src/cpu/specials_template.h 'gone = no_number & skipped' 'gone = c_nan & skipped'
mutation skipped-are-counted src/cpu/tile.c 'tile->present = taken.present;' ''
mutation specials-not-noted $file 'if (tile->specials) add_specials' 'if (false) add_specials'
mutation specials-of-magnitudes $file 'if (term == TALLY_TERM_MAGNITUDE) plus =' 'if (false) plus ='
mutation specials-of-products src/cpu/specials_template.h 'no_number | (c_size == 0) | (d_size == 0)' 'no_number'
mutation specials-of-batches src/cpu/exact_batches_template.h 'for (int64_t k = 0; k < finite->specials;) {' 'for (int64_t k = 0; k < finite->specials && k < 1;) {'
mutation all-skipped $file 'if (tile->present == 0) return;
    if (tally__is_tiny(tile))' 'if (tally__is_tiny(tile))'
mutation enlarged-beside-others $file 'levels->power == power &&' 'levels->power >= power - 5000 &&'
mutation enlarged-products $file '(value ? 1 : 2) * (sums->origin + levels->power)' '(value ? 1 : 2) * sums->origin + levels->power'
mutation range-of-the-skipped src/cpu/tile.c 'if (tile->present < tile->n) {' 'if (false) {'
mutation range-of-nans src/cpu/tile.c 'if (tile->specials & TALLY_SEEN_NAN) {' 'if (false) {'
mutation fit-limbs src/cpu/tile.c '(high + 12 - fit.origin) / 32 + 3' '(high + 12 - fit.origin) / 32 + 1'
mutation fit-product-limbs src/cpu/tile.c '(2 * high + 12 - 2 * fit.origin) / 32 + 3' '(high + 12 - fit.origin) / 32 + 3'
mutation fit-one-input src/cpu/tile.c 'k % 2 ? &tiles[k / 2].x_extent : &tiles[k / 2].y_extent' '&tiles[k / 2].x_extent'
mutation subnormal-products src/cpu/bounds.h '(tile->x_extent.unit > TALLY_LEVELS_LOWEST &&' '(tile->x_extent.unit > -5000 &&'
mutation below-shared-levels $file 'b.unit >= levels->lowest &&' 'b.unit >= levels->lowest - 3 &&'
mutation above-shared-levels $file 'b.high <= levels->high &&' 'b.high <= levels->high + 3 &&'
mutation counts-overflow $file 'TALLY_FLUSH_TILES = 128' 'TALLY_FLUSH_TILES = 8192'
mutation both-too-wide $file 'if (slack > slack_products / 2) slack = slack_products / 2;' '' avx512
mutation both-out-of-bounds $file 'b.high > TALLY_LEVELS_HIGHEST || b.unit < TALLY_LEVELS_LOWEST) return false;' 'b.unit < TALLY_LEVELS_LOWEST) return false;' avx512
mutation spilled-levels $file 'sums->spilled |= levels->tiles > 0;' ''
mutation spilled-terms $file 'near, power)) return true; sums->spilled = true;' 'near, power)) return true;'
mutation long-parts $file '|| total > (int64_t)1 << 53 || total < -((int64_t)1 << 53)' ''
mutation long-segments src/cpu/exact_batches.c 'while (batch->longest > 1 << additions) additions++;' ''

file=src/cpu/exact_runs_template.h
mutation missing-settle $file '    settle_accumulator(node);
}

/* ---- segments' '}

/* ---- segments'
mutation segment-carry $file 'tally_carry(sum + TALLY_EVIDENCE, fit.limbs);' ''
mutation first-tile-alone $file 'tally__add_tile(&sums, &tile);' 'if (tiles < 3) tally__add_tile(&sums, &tile);'
mutation levels-not-flushed $file '    tally__flush_sums(&sums);
    settle_accumulator(node);' '    settle_accumulator(node);'
mutation few-tiles-read $file 'if (!TALLY_IS_F64) TALLY_READ_TILE(k);' 'if (!TALLY_IS_F64 && k < 3) TALLY_READ_TILE(k);'
mutation zero-sign-of-segments $file 'words[plus ? TALLY_OTHER : TALLY_MINUS_ZERO] = 1;' 'words[TALLY_OTHER] = 1;'
mutation zero-sign-of-stats src/cpu/results_template.h 'highs[s] == -1 ? -0.0 : 0.0' '0.0'
mutation stats-of-nothing src/cpu/results_template.h 'least[s] = none ? nan : (value_of_key);' 'least[s] = (value_of_key);'
mutation column-of-y src/cpu/exact_panel_template.h 'copy_row(b + r, APART, y +' 'copy_row(b + r, APART, x +'

file=src/cpu/measure.h
mutation zero-not-largest $file 'word lessened = (magnitude - 1) & most;' 'word lessened = magnitude;'
mutation special-not-detected $file 'top >> digits == 2 * bias + 1' 'top >> digits > 2 * bias + 1'
mutation high-by-one $file '(int32_t)(top >> digits) - bias + 1' '(int32_t)(top >> digits) - bias - 1'
mutation unit-by-one $file '(bottom != 0 ? bottom : 1) + least - 1;' '(bottom != 0 ? bottom : 1) + least;'
mutation zero-in-halves $file 'if (is_f64 && fewest >> digits == 0 &&' 'if (0 &&' avx512
mutation last-sizes $file 'i + 2 * WIDTH < n; i +=' 'i + 4 * WIDTH < n; i +=' avx512
mutation range-signed $file 'word key = bits[i] ^ ((bits[i] < 0 ? -1 : 0) & most);' 'word key = bits[i];'

file=src/cpu/levels.h
mutation no-residual $file 'term -= less(t, s[k * step]);' 'term -= t;'
mutation rest-residual $file 'rest = less(rest, less(t, s[k * step]));' 'rest = rest * 0;'
mutation rest-of-product $file 'if (has_rest && ends == levels - 1) term += rest;' ''
mutation product-ends-early $file 'levels == TALLY_SHORT_PRODUCTS ? 1 : levels - 1;' 'levels == TALLY_SHORT_PRODUCTS ? 0 : levels - 1;'
mutation product-ends-too-often $file 'is_f64 && levels == TALLY_SHORT_PRODUCTS ? 1' 'is_f64 && levels <= 5 ? 1'
mutation missing-chain $file 'for (int c = 0; c < chains; c++) sum +=' 'for (int c = 1; c < chains; c++) sum +='
mutation anchors-counted $file '- (uint64_t)chains * (uint64_t)' '- (uint64_t)(chains - 1) * (uint64_t)'

file=src/cpu/vectors.h
mutation split-of-products $file '134217729.0; /*' '16777217.0; /*' baseline

file=src/cpu/tiles_template.h
mutation last-partial-vector $file '    if (i < n) {
        wide a = load_part(is_f64, x, i, n - i);
        take(s + CHAINS' '    if (i + 1 < n) {
        wide a = load_part(is_f64, x, i, n - i);
        take(s + CHAINS'
mutation last-partial-of-both $file 'TALLY_TAKE_BOTH(chains - 1, a);' '' avx512
mutation whole-vectors-left $file 'for (; i + WIDTH <= n; i += WIDTH) {
        wide a = load(is_f64, x, i);
        take(s, levels' 'for (; i + 2 * WIDTH <= n; i += WIDTH) {
        wide a = load(is_f64, x, i);
        take(s, levels'
mutation whole-vectors-of-both $file 'TALLY_TAKE_BOTH(0, a);' '' avx512

file=src/cpu/bins_template.h
mutation bins-of-subnormals $file '| base | (none & first)) -' '| base) -'
mutation bins-leading-one $file '- (wide)(none & ((bits & INT64_MIN) | base | first));' '- (wide)(none & ((bits & INT64_MIN) | first));'
mutation bins-upper-bits $file '(words)(bits & upper) >> (52 + layout.binades)' '(words)(bits & upper) >> (53 + layout.binades)'
mutation bins-odd-products $file '(((a.bin + b.bin) & 1) << (52' '(((a.bin & b.bin) & 1) << (52'
mutation bins-second-piece $file 'v->piece[1][i + c]};' '0};'
mutation bins-third-piece $file 'if (count == 3) to[2] += v->piece[2][i + c];' ''
mutation bins-one-place $file 'int64_t *to = bins + v->place[i + c] + c * apart;' 'int64_t *to = bins + v->place[i + c] + (c & 1) * (apart - 1);'
mutation bins-magnitudes $file 'magnitudes ? magnitude_of(a.fraction) : a.fraction' 'a.fraction'
mutation bins-last-values $file 'if (n == 0) return;' 'if (n < 2) return;'
mutation bins-last-of-y $file 'memcpy(rest[1], y,' 'memcpy(rest[1], x,'
mutation bins-unit src/cpu/tiles.h '{-29, -59}' '{-29, -58}'
mutation bins-anchor src/cpu/tiles.h '{-38, -78, -118}' '{-38, -78, -116}'
mutation bins-overflow-f32 src/cpu/tiles.h '.tiles = 16,' '.tiles = 1024,'
mutation bins-below src/cpu/exact.c 'total = least < 0 ? total >> -least :' 'total = least < 0 ? total :'
mutation bins-third-limb src/cpu/exact.c '+ 2] += (int64_t)(total >> 64); /*' '+ 2] += (int64_t)(total >> 64 & 0xffffffff); /*'
mutation bins-overflow-f64 src/cpu/tiles.h '.tiles = 32,' '.tiles = 8192,'
mutation bins-halves src/cpu/exact.c 'low += (bin & 0xffffffff) << (j * step);' 'low += (bin & 0xfffffff) << (j * step);'
mutation bins-chains src/cpu/exact.c 'for (int32_t c = 0; c < chains; c++) bin' 'for (int32_t c = 1; c < chains; c++) bin'
mutation bins-not-cleared src/cpu/exact.c 'if (bins->tiles++ == 0) {' 'if (bins->tiles++ < 0) {'
mutation bins-cleared-in-part src/cpu/exact.c 'to = sums->products || layout.products_at == 1 ?' 'to = layout.products_at == 1 ?'
mutation bins-not-flushed src/cpu/exact.c '    flush_bins(sums);
}' '}'
mutation bins-witness src/cpu/exact.c 'if (products) witness(sums->products, tile);' ''

file=kernels/sums/limbs.h
mutation deposit-shift $file '(v >> 32) >> (32 - s)' '(v >> 32) >> (31 - s)'
mutation no-carry $file 'int64_t t = tally_plus(limbs[i], carry);' 'int64_t t = limbs[i];'
mutation infinity-keeps-limbs $file 'for (int32_t i = 0; i < count; i++) limbs[i] = 0;' ';'
mutation minus-zero-stays $file 'if (words[TALLY_OTHER]) words[TALLY_MINUS_ZERO] = 0;' ''
mutation subnormal-exponent $file '(biased != 0 ? biased : 1) - 1075' 'biased - 1075'
mutation minus-zero-witness $file 'words[x == 0 && tally_bits_f64(x) < 0 ? TALLY_MINUS_ZERO : TALLY_OTHER] = 1;' 'words[TALLY_OTHER] = 1;'
mutation product-low-digits $file '(int64_t)(product & 0xffffffffffff), offset);' '(int64_t)(product & 0xfffffffffff), offset);'

file=kernels/sums/window.h
mutation window-sticky $file 'a->sticky = below;' 'a->sticky = 0;'
mutation negation-carry $file 'carry = fill & 1 & (uint32_t)!below;' 'carry = 0;'
mutation sticky-below-cut $file 'return any != 0 || a->sticky;' 'return any != 0;'
mutation divide-by-large $file 'rest = (uint64_t)(t - whole * n);' 'rest = (uint32_t)(t - whole * n);'
mutation root-sticky $file 'a->sticky |= (tally_u128)r * r != m;' ''
mutation root-wraps $file 'r = step > 0 && r > UINT64_MAX - (uint64_t)step ? UINT64_MAX : r + (uint64_t)step;' 'r += (uint64_t)step;'
mutation tie-up $file 'half & ((m & 1) | (uint64_t)tally_any_below(a, cut - 1))' 'half'
mutation tie-down $file 'half & ((m & 1) | (uint64_t)tally_any_below(a, cut - 1))' 'half & (uint64_t)tally_any_below(a, cut - 1)'
mutation subnormal-cut $file 'if (cut < format.least - a->exponent) cut = format.least - a->exponent;' ''
mutation infinity-threshold $file 'top + a->exponent > format.infinite ?' 'top + a->exponent >= format.infinite - 1 ?'
mutation spread-column $file 'column -= (tally_i128)((uint64_t)sum->word[i] * sum->word[at - i]);' 'if (i != first) column -= (tally_i128)((uint64_t)sum->word[i] * sum->word[at - i]);'
mutation spread-decided $file 'return is_decided;' 'return 1;'
mutation spread-large-n $file '(uint64_t)tally_limb_word(q, squares.count, at - 1) * (n >> 32)' '(uint64_t)tally_limb_word(q, squares.count, at) * (n >> 32)'

file=kernels/sums/sums.h
mutation n-minus-ddof $file '(uint64_t)(n - final->ddof));' '(uint64_t)n);'
mutation mean-not-divided $file 'if (n > 1) tally_divide' 'if (n > 2) tally_divide'
mutation minus-zero-ignored $file '? -0.0 : result;' '? 0.0 : result;'
mutation nan-decided $file 'plus && minus ? tally_nan_f64() :' ''

file=kernels/sums/parts.h
mutation rounding-to-odd $file 'bits += p.low != 0 && (bits & 1) == 0 ? away : 0;' ''
mutation always-sure $file 'rounded.sure = rounded.value == q + (c + slack);' 'rounded.sure = 1;'
mutation always-around $file 'rounded.sure = rounded.value == (double)(float)(q + slack);' 'rounded.sure = 1;'
mutation spread-is-sure $file 'rounded.sure = exact | (rounded.value == r + (c + slack));' 'rounded.sure = 1;'
mutation zero-is-sure $file 'q.sure = p.high != 0;' 'q.sure = 1;'
mutation ties-are-exact $file '(error == 0) & (back.high == rest.high) & (back.low == 0) & (rest.low == 0)' '(error == 0) & (back.high == rest.high)'
mutation nothing-deviates $file 'some & whole & (squares.low == 0) & (a.high == b.high) & (a.low == b.low)' 'some & (a.high == b.high)'

file=src/cpu/batch_template.h
mutation batch-mask $file '{-1, -1, -1, -1, -1, -1, -1, -1};' '{-1, -1, -1, -1, -1, -1, -1, 0};'
mutation batch-carried $file 'before[g] = anchor[k] - (s[g] - before[g]);' 'before[g] = anchor[k] - (s[g] - s[g]);'
mutation batch-second-row $file '= s[g] + a;' '= s[g] + b;'
mutation batch-across $file 'transposed[k][i] = ((const value *)at)[i * (apart) + k];' 'transposed[k][i] = ((const value *)at)[i + k];'
mutation mean-of-nothing src/cpu/results_template.h 'TALLY_MOST(nan, 1, rounded.sure' 'TALLY_MOST(0, 1, rounded.sure'
mutation batch-padding $file 'batch->places[s] = offsets[count] - offsets[0];' 'batch->places[s] = 0;'

file=src/cpu/plain_template.h
mutation plain-rounded src/cpu/plain.c 'return rounded ? TALLY_PLAIN_ROUNDED : finite == TALLY_FINITE' 'return finite == TALLY_FINITE'
mutation plain-specials src/cpu/plain.c 'if (finite == TALLY_NOT_FINITE) return TALLY_PLAIN_INFINITE;' ''
mutation plain-narrow src/cpu/plain.c 'memset(made->products[1], 0, (size_t)count * sizeof made->products[1][0]);' ''
mutation plain-narrow-rounded src/cpu/plain.c 'if (narrow && rounded) {' 'if (narrow && (rounded = false)) {'
mutation plain-flag-lost src/fpenv.h 'if (_mm_getcsr() != left) _mm_setcsr(left);' '(void)left;'
mutation plain-long $file 'offsets[s + 1] - offsets[s],
                        anchor' 'offsets[s + 1] - offsets[s] - (s > 0),
                        anchor'
mutation plain-halves-rounded src/cpu/plain.c 'if (tally__is_inexact()) {' 'if (tally__is_inexact() && count > 1000) {' avx512
mutation plain-halves-rest src/cpu/plain_halves_template.h '(uint32_t)(n - i))' '(uint32_t)(n - i - 1))' avx512
mutation plain-halves-second src/cpu/plain_halves_template.h '(int32_t)0xffff0000)' '(int32_t)0xffffffff)' avx512
mutation plain-halves-signs src/cpu/exact_plain_template.h 'some_are_tiny(made.sums, count))' 'false)' avx512
mutation plain-carried $file 'take_plain_rows(rows, s, is_f64,' 'begin_plainly(s, parts, REGISTERS, kind, anchor);
        take_plain_rows(rows, s, is_f64,'
mutation plain-second-row $file '= s[k * REGISTERS + g] + a[k];' '= s[k * REGISTERS + g] + b[k];'
mutation plain-last-row $file 'for (; r * ROW < n; r++) {' 'for (; (r + 1) * ROW < n; r++) {'
mutation plain-clamp $file '(places[k] < most ? places[k] : most)' '(places[k] < most - 1 ? places[k] : most - 1)' avx512
mutation plain-alike $file 'if (rest > 0) {' 'if (rest > 1) {' avx512
mutation plain-clamp-portable $file 'places[k] < most ? places[k] : most;' 'places[k] < most - 1 ? places[k] : most - 1;' baseline
mutation plain-eight $file 'ends[done + 7] <= end; done += 8)' 'ends[done + 6] <= end; done += 8)'
mutation plain-equal $file 'return differ ? 0 : (int)length;' 'return (int)length;'
mutation plain-across $file 'upper = k == 0 ? h : upper + h;' 'upper = k == 0 ? h : k == 2 ? upper : upper + h;'
mutation plain-magnitudes $file 'kind == TALLY_TERM_MAGNITUDE ? magnitude_of(a) :' ''
mutation plain-chains $file 'for (int c = 1; c < chains; c++) of[0] += of[c];' 'for (int c = 2; c < chains; c++) of[0] += of[c];'
mutation plain-zeros $file 'return zeros != 0;' 'return false;'
mutation plain-zero-of-nothing src/cpu/exact_batches_template.h 'from < to && !any_bit(bits, from, to)' '!any_bit(bits, from, to)'
mutation zeros-not-signed src/cpu/exact_batches_template.h 'if (from < to && !any_bit(bits, from, to)) put_minus_zero' 'if (0) put_minus_zero'
mutation special-first-only src/cpu/exact_batches_template.h 'i < n && total == total; i++' 'i < first + 1; i++'
mutation expansions-vague src/cpu/results_template.h 'if (b->vague)' 'if (0)'
mutation expansions-near src/cpu/expansions_template.h 'return ~tiny | is_far;' 'return ~tiny | ~is_far | is_far;'
mutation expansions-alone src/cpu/expansions_template.h 'if (alone) fold_group(e[0], parts);' ''
mutation rough-alone src/cpu/expansions_template.h 'if (alone && products) fold_group(e[1], 1);' ''
mutation expansions-last src/cpu/expansions_template.h 'int last = batch->count;' 'int last = batch->count - 1;'
mutation expansions-few src/cpu/expansions_template.h 'case 3: few_terms(is_f64, kind, products, 3,' 'case 3: few_terms(is_f64, kind, products, 2,'
mutation expansions-certain src/cpu/expansions_template.h 'magnitude_of(e[g].below) > e[g].size * TALLY_ROUGH' 'magnitude_of(e[g].below) > e[g].size * 0'
mutation rough-certain src/cpu/expansions_template.h 'magnitude_of(rest) > e[g].size * TALLY_ROUGH' 'magnitude_of(rest) >= e[g].size * 0'
mutation rough-spread src/cpu/results_template.h 'rounded.value = tally_to_odd(both);' 'rounded.value = q;'
mutation expansions-fine src/cpu/expansions_template.h '(e[g].size <= fine) &' '(e[g].size * 0 <= fine) &'
mutation expansions-fine-unit src/cpu/exact_batches.c 'unit + 53 - TALLY_FINE_TERMS' 'unit + 153'
mutation expansions-tiny src/cpu/expansions_template.h '(units)exponent + TALLY_SCALED_LEAST' '(units)exponent + (TALLY_SCALED_LEAST + 800)'
mutation expansions-tiny-products src/cpu/expansions_template.h '1023 + TALLY_SCALED_LEAST - 1)' '1023 + TALLY_SCALED_LEAST + 800)'
mutation scaled-alike src/cpu/exact_batches.c 'tally__measure_tile(tile); /* subnormals have other digits now */' 'tile->x_extent = tile->y_extent = (tally__extent){.unit = tile->x_extent.unit - by_x};'
mutation enlarged-all src/cpu/results_template.h 'return !TALLY_ANY(above);' 'return !TALLY_ANY(above) || n > 0;'
mutation enlarged-keys src/cpu/exact_plain_template.h 'plain->power == 0 ? (const void *)(a + at)' 'plain->power != 1 ? (const void *)(a + at)'
mutation shrunk src/cpu/results_template.h 'size - by > fraction ?' 'size - by > 2 * fraction ?'
mutation unscaled-ties src/cpu/results_template.h 'doubt = (scaled <= 0) & tie' 'doubt = (scaled > 0) & tie'
mutation unscaled-signs src/cpu/results_template.h 'away = (wide)((units)rest ^ sign)' 'away = rest'
mutation plain-apart-f64 src/cpu/exact_plain_template.h '&& is_certain(TALLY_HAS_SUM ? sum : of_products);' ';' avx512
mutation plain-apart-skips src/cpu/exact_plain_template.h '= !kernel->skips_nans && is_certain(' '= is_certain(' avx512
mutation plain-apart-spread src/cpu/exact_plain_template.h '= TALLY_HAS_SPREAD ? tally_nan_f64() : TALLY_HAS_SUM ? sum : of_products;' '= TALLY_HAS_SUM ? sum : of_products;' avx512
mutation plain-apart-rows src/cpu/plain_template.h 'return are_finite(sums, count) ? TALLY_FINITE : apart ?' 'return are_finite(sums, count) ? TALLY_FINITE : count > 1 ?'
mutation plain-apart-made src/cpu/exact_plain_template.h 'if (outcome == TALLY_PLAIN_EXACT_APART) list_special_sums(kernel, &special_sums, &made, count);' '' avx512
mutation plain-run-of-zeros src/cpu/exact_runs_template.h 'if (tally__plain_total(sums, parts, 0) == 0)' 'if (false)'
mutation plain-mean-of-many src/cpu/exact_plain_template.h 'begin_batch(&batch, offsets + s, some)' 'begin_batch(&batch, offsets, some)'
mutation spread-of-empties src/cpu/index_template.h '_mm512_mask_expand_epi64(none, there, some)' '_mm512_maskz_expand_epi64(there, some)' avx512
mutation spread-order src/cpu/index_template.h '_mm512_mask_expand_epi32(none, there, some)' '_mm512_mask_mov_epi32(none, there, some)' avx512
mutation plain-lower-half $file 's[step] = more(s[step], a - upper_half(a));' 's[step] = more(s[step], a - a);'
mutation plain-lower-across $file 'lower = k == 0 ? a - h : lower + (a - h);' 'lower = a - h;'
mutation plain-overflow $file '(int64_t)(0x7ff - 20) << 52;' '(int64_t)0x7ff << 52;'
mutation plain-twice $file 'doubt |= ((bits & last) == middle) |' 'doubt |= ((bits & last) == middle + 1) |'
mutation plain-rest-unseen $file 'm = s[step] + less(p, less(t, s[0])),' 'm = (wide)_mm512_add_round_pd((__m512d)s[step], (__m512d)less(p, less(t, s[0])), TALLY_UNSEEN),' avx512
mutation plain-last-rest $file 's[2 * step] += less(e, u - m);' '' avx512
mutation plain-y $file 'if (two) transpose_equal(is_f64, transposed[1], (const char *)y' 'if (two) transpose_equal(is_f64, transposed[1], (const char *)(y == x ? y : x)' avx512
mutation plain-both $file 'take_plainly(squares + c, chains, is_f64, TALLY_TERM_PRODUCT, a, a);' 'if (at >= 0 && there > 0 && c != 1) take_plainly(squares + c, chains, is_f64, TALLY_TERM_PRODUCT, a, a);' avx512
mutation plain-refused src/cpu/exact_runs_template.h 'again = at + parts_together;' 'again = at, at += 1;'
mutation plain-products-origin src/cpu/exact_runs_template.h 'add_plainly(kernel, node->products, 2 * TALLY_ORIGIN' 'add_plainly(kernel, node->products, TALLY_ORIGIN' avx512
mutation plain-range src/cpu/exact_runs_template.h 'node->low = least < node->low ? least : node->low;' 'node->low = least;' avx512
mutation most-clear src/cpu/results_template.h '(past > 16)' '(past >= 0)'
mutation most-halved src/cpu/results_template.h '((tally_bits_f64(divisor) & fraction) == 0) &' ''
mutation most-corrected src/cpu/results_template.h 'rounded.value = q + (c - slack);' 'rounded.value = q;'
mutation most-spread-sure src/cpu/results_template.h 'rounded.sure = rounded.value == q + (c + slack);' 'rounded.sure = 1;'
mutation most-cancelled src/cpu/results_template.h '(left.high > all * (rough ? 0x1p-24 : 0x1p-40)) & is_clear' 'is_clear'
mutation most-deviations src/cpu/results_template.h '& (a.high == b.high) & (a.low == b.low); /*' '; /*'
mutation most-ddof src/cpu/results_template.h '& (b->lengths[s] > ddof),' ','
mutation ranges-across src/cpu/results_template.h 'few_##type(x + s * length, length,' 'few_##type(x + s * length, length - (length == 3),'
mutation ranges-masked src/cpu/results_template.h 'left > lanes ? left - lanes : 0' '0' avx512
mutation plain-too-many src/cpu/exact_plain_template.h 'return offsets[some] - offsets[0] <= most ? some : 0;' 'return some;'

file=kernels/exact_sums/exact.h
mutation join-range $file 'b->high > a->high ? b->high : a->high' 'a->high'
mutation join-limbs $file 'for (int i = 0; i < TALLY_EVIDENCE + TALLY_PRODUCT_LIMBS; i++) a' 'for (int i = 0; i < TALLY_EVIDENCE + TALLY_PRODUCT_LIMBS - 4; i++) a'

group segments "$isas" "test_conformance --quick" test_hostile test_grouped test_conformance
file=src/cpu/ragged.c
mutation offsets-beyond $file '>> 63 != 0 || offsets[count] > j->in->count' '>> 63 != 0'
mutation offsets-decrease $file 'if ((bits.steps | bits.places) >> 63 != 0 || offsets' 'if (offsets'
mutation before-a-long-one $file 'reduce_and_store(j, first + done, offsets + done, s - done);' ''
mutation long-ones-lost $file 'take_longs(j, threads); return' 'return'
mutation ids-step $file 'if (bits.steps > 1) { /* some segments are empty */' 'if (bits.steps > 2) {'
mutation ids-beyond $file '>> 63 != 0 || tally__index(j->segments, i + count - 1) >= j->segments->count)' '>> 63 != 0)'
mutation ids-first-empty $file 'if (from == 0) begin_segments(j, &f, before, 0);' 'if (from == 0) f.first = before, begin_segments(j, &f, before, 0);'
file=src/segmentation.c
mutation rows-too-few $file 'total) && total == values' 'total) && total <= values'
file=src/unsorted_ids.c
mutation ids-one-beyond $file 'id >= 0 && id < segments->count;' 'id >= 0 && id <= segments->count;'
mutation ids-last-outside $file 'outside = outside < 0 ? i : outside;' 'outside = i;'
mutation ids-ascend $file 'ascend &= last <= id;' ''
mutation vectors-second-input $file 'copy_vector(c->to[i] + place * c->bytes, record + ID_BYTES + i * c->bytes, c->bytes);' 'copy_vector(c->to[i] + place * c->bytes, record + ID_BYTES, c->bytes);'
file=src/cpu/grouped.c
mutation groups-buffer-full $file '|| b->offsets[b->count] + length > j->capacity)' ')'
mutation groups-features $file 'memcpy(to + i * inner * (int64_t)(size)' 'memcpy(to + i * (int64_t)(size)'

group arg "$isas" test_exact "test_conformance --quick" test_conformance
file=kernels/accumulators/arg.h
mutation arg-highest-index $file '(a).at = (b).at < (a).at ? (b).at : (a).at' '(a).at = (b).at > (a).at ? (b).at : (a).at'
mutation arg-later-ties $file 'TALLY_BETTER(b.key, a.key) || (b.key == a.key && b.at < a.at);' '!TALLY_BETTER(a.key, b.key);'
mutation arg-worst-is-best $file 'return node.at != INT64_MAX && !TALLY_BETTER' 'return !TALLY_BETTER'
mutation arg-place $file 'INT64_MAX : first + second.at;' 'INT64_MAX : second.at + 0 * first;'

group axis "$isas" test_columns "test_conformance --quick" test_conformance
file=src/cpu/axis.c
mutation axis-last-chunk $file 'at, least(j->chunk, j->length - at)));' 'at, j->chunk - (at + j->chunk > j->length)));'
mutation axis-joined $file 'tally__node_at(kernel, nodes, i), j->chunks, width);' 'tally__node_at(kernel, nodes, i), j->chunks - 1, width);'
mutation axis-blocks $file 'block + r % j->panels.inner;' 'block + r % (j->panels.inner > 2 ? 2 : j->panels.inner);'

group columns "$isas" "test_columns --quick" test_columns
file=src/cpu/exact_plain_rows_template.h
mutation column-infinite $file '& (uint64_t)INT64_MAX) + ((uint64_t)1 << 52);' '& (uint64_t)INT64_MAX) + ((uint64_t)1 << 51);'
mutation column-certain $file 'c->kinds[p] = is_certain(special) ?' 'c->kinds[p] = true ?'
mutation column-nan-spread $file 'c->specials[p] = TALLY_HAS_SPREAD ? tally_nan_f64() : special;' 'c->specials[p] = special;' avx512
mutation column-unsure $file 'if (batch->sure[i] || c->kinds[first + i] != column_has_sums) continue;' 'continue;' avx512
mutation column-lengths $file 'batch->lengths[i] = i < batch->count ? (int32_t)rows : 0;' 'batch->lengths[i] = (int32_t)rows - (i > 8);'
mutation column-scaled $file 'batch->product_parts = batch->lost = batch->scaled = batch->vague' 'batch->product_parts = batch->lost = batch->vague'
mutation column-batches $file 'parts_of_sum, (int)first, batch);' 'parts_of_sum, 0 * (int)first, batch);'
mutation column-zeros $file 'zeros = tally__cpu_tiles()->round_sums(of, parts, (int)c->width, is_f64, results) && parts > 1;' 'zeros = tally__cpu_tiles()->round_sums(of, parts, (int)c->width, is_f64, results) && false;'
mutation column-zero-of-parts $file 'if (sums[0][p] != 0 || tally__plain_total(sums, parts, (int)p) != 0) continue;' 'if (sums[0][p] != 0) continue;'
mutation column-signed $file 'else if (tally_bits_f64(sums[0][p]) < 0) words[TALLY_MINUS_ZERO] = 1;' 'else words[TALLY_MINUS_ZERO] = 1;'
mutation column-others $file 'if (words[TALLY_MINUS_ZERO] && !words[TALLY_OTHER]) put_minus_zero(results, p, final);' 'if (words[TALLY_MINUS_ZERO]) put_minus_zero(results, p, final);' avx512
mutation column-special $file 'if (c->kinds[p] != column_is_special) continue; tally_put(' 'continue; tally_put('
mutation column-total $file 'if (tally__plain_total(sums, parts, (int)lane) != 0) for (int k = 0; k < parts; k++)' 'if (sums[0][lane] != 0) for (int k = 0; k < parts; k++)'
mutation column-parts $file 'for (int k = 0; k < parts; k++) tally_add_value(words, origin, sums[k][lane]);' 'tally_add_value(words, origin, sums[0][lane]);'
mutation column-witness $file 'else if (term == TALLY_TERM_PRODUCT) witness(kernel, words, term, x, y, rows, stride);' 'else if (term == TALLY_TERM_PRODUCT) ;' avx512
mutation column-node-sign $file 'words[tally_bits_f64(sums[0][lane]) < 0 ? TALLY_MINUS_ZERO : TALLY_OTHER] = 1;' 'words[TALLY_OTHER] = 1;'
mutation column-count $file 'if (j < c->width) node->n += added;' 'node->n += added;'
mutation column-node-special $file 'tally_witness(node->sum, c->specials[j]);' ''
mutation column-node-products $file 'tally_witness(node->products, c->specials[j]);' '' avx512
mutation column-origin $file 'add_to_number(kernel, node->products, 2 * TALLY_ORIGIN,' 'add_to_number(kernel, node->products, TALLY_ORIGIN,' avx512
mutation column-kinds $file '__builtin_memset(c->kinds, column_has_sums, sizeof c->kinds);' ''
mutation column-listed $file 'c->listed = 0;' ''
mutation column-skips $file 'return !special || (sort_columns(c) <= c->count / 8 && !kernel->skips_nans);' 'return !special || sort_columns(c) <= c->count / 8;'
mutation column-open $file 'if (c->kinds[p] == column_is_open) *flags |=' 'if (false) *flags |='
mutation column-node-open $file 'if (c->kinds[c->list[i]] == column_is_open) c->again' 'if (false) c->again'
mutation column-kept $file 'put_sums_back(c); *added = flush_sums' '*added = flush_sums'
mutation column-first $file 'return take_rows_plainly(c, from_x, from_y, some, stride, true);' 'return take_rows_plainly(c, from_x, from_y, some, stride, at == 0);'
mutation column-added $file 'added += some; continue;' 'added = at + some; continue;'
mutation column-joins $file 'if (!close_columns(kernel, c, false)) return false;' '(void)close_columns(kernel, c, false);'
mutation column-left $file 'flags |= reduce_by_levels(kernel, a, b, rows, stride, some, final, scratch, NULL, to);' ''
mutation column-flushed $file '*added, nodes) ? 0 : -1;' '*added, nodes) ? *added : -1;'
mutation column-no-use $file 'if (added < 0 || (added > 0 && !flush_sums' 'if ((added != 0 && !flush_sums'
mutation column-again $file 'if (c->again[p])' 'if (c->again[p] && c->kinds[p] == column_is_open)'
mutation column-finished $file 'if (results && !are_sums) flags |= finish_nodes(kernel, of, some, final, to);' ''
mutation column-direct $file 'if (direct && added == rows && c->fold == 1) return true;' 'if (direct && added > 0 && c->fold == 1) return true;'
mutation column-small $file 'tally_add_product(node->products, 2 * TALLY_ORIGIN, c->left.x[i], c->left.y[i]);' '(void)node;' avx512
mutation column-small-open $file 'c->kinds[p] = column_is_open; c->list[c->listed++] = (int16_t)p; } put_columns' '} put_columns' avx512
mutation column-small-back $file 'c->left.count = c->left_before;' '' avx512
file=src/cpu/plain_columns_template.h
mutation column-masked $file 'if (k >= count) v[k] = -0.0;' 'if (k >= count) v[k] = 0.0;'
mutation column-begins $file ': k == 0 ? -(wide){0} : (wide){0};' ': (wide){0};'
mutation column-anchor $file 'p[k] = begins ? (wide){0} + work->anchor[k] :' 'p[k] = begins ? (wide){0} + work->anchor[0] :' avx512
mutation column-second $file '= two ? load_from(from, y + r * apart, at, all, count) : a;' '= two ? load_from(from, y, at, all, count) : a;' avx512
mutation column-small-twice $file 'left->count += left->count <= TALLY_LEFT_MOST; a[k] = 0;' 'left->count += left->count <= TALLY_LEFT_MOST;' avx512
mutation column-small-most src/cpu/plain.c 'return !tally__is_inexact() && left->count <= TALLY_LEFT_MOST;' 'return !tally__is_inexact();' avx512
mutation column-rest $file 'rest = rows % fold * width;' 'rest = rows % fold * width / 2;'
mutation column-no-row $file 'work->sums[k][j] = k == 0 ? -0.0 : 0, work->products[k][j] = work->anchor[k];' 'work->sums[k][j] = 0, work->products[k][j] = work->anchor[k];'
mutation column-no-anchor $file 'work->sums[k][j] = k == 0 ? -0.0 : 0, work->products[k][j] = work->anchor[k];' 'work->sums[k][j] = k == 0 ? -0.0 : 0, work->products[k][j] = 0;' avx512
mutation column-lanes $file 'for (int64_t f = 1; f < fold; f++)' 'for (int64_t f = 1; f < fold - (fold > 40); f++)'
mutation column-not-finite $file '>= (int64_t)0x7ff << 52; return !special;' '> (int64_t)0x7ff << 52; return !special;'
file=src/cpu/plain.c
mutation column-rounded $file 'return !tally__is_inexact() && left->count' 'return (tally__is_inexact() || true) && left->count'
mutation column-join-rounded $file '*special = !finite; return !tally__is_inexact();' '*special = !finite; return true;'

group merges "$isas" test_merge
file=src/merge/split.c
mutation split-ties $file 'key, i < chosen);' 'key, i > chosen);'
mutation split-equal $file 'rank -= taken;' 'rank -= all;'
file=src/merge/share.c
mutation blocks-ties $file 'least_key, list < least_list)' 'least_key, list > least_list)'
mutation blocks-least $file 'if (least_list < 0 || key < least_key) {' 'if (least_list < 0 || key > least_key) {'
mutation run-in-front $file 'front = at > w->part_begin[list_number] ? 1 : 0;' 'front = 0;'
mutation share-in-part $file 'if (!lies_in_part(w, &part)) return false;' ''
mutation origins-of-lists $file 'number(w->numbered + begin, list->before + at, taken);' 'number(w->numbered + begin, at, taken);'
mutation origins-of-equals $file 'number(origins, job->lists[i].before + w->at[i], some);' 'number(origins, job->lists[i].before, some);'

group integers "${isas%% *}" "test_integers"
file=kernels/sums/wide.h
mutation wide-magnitude $file 'one = {sign & 1, 0, 0};' 'one = {0, 0, 0};'
mutation wide-rounded-off $file 'rest = tally_two_sum(sum.low, rest.high);' 'rest.high = sum.low;'
mutation wide-inexact $file 'if (rest.low != 0) *relative = 0x1p-100;' ''
mutation wide-halves $file '(k == 4 && a.w2 == 0)' '(k == 4)'
mutation wide-square $file '2 * ((tally_u128)s.w0 * s.w1)' '((tally_u128)s.w0 * s.w1)'
mutation wide-root-rest $file '(((a.high - back.high) - back.low) + a.low)' '((a.high - back.high) - back.low)'
mutation wide-sign $file '(int64_t)sum.w2 < 0 ? -mean.value : mean.value' 'mean.value'

group gpu-merges "${isas%% *}" test_gpu_merge
file=kernels/merge/merge_fan.h
mutation fan-two-ties $file 'rank - 1 - middle), infinity)) begin' 'rank - 1 - middle), infinity) || 1) begin'
mutation fan-middle-ties $file '(first < 0) | !TALLY_M(may_precede)(first_value, middles[i], infinity)' '(first < 0) | TALLY_M(may_precede)(middles[i], first_value, infinity)'
mutation fan-aligned $file '(int32_t)(-(uint64_t)data % 16)' '(int32_t)((uint64_t)data % 16)'
mutation fan-unsorted-joints $file 'piece.place > run_begin &&' 'piece.place < run_begin &&'

group rows "${isas%% *}" "test_gpu_rows --quick" test_gpu_rows test_gpu_extremes
file=kernels/rows/batch.h
mutation batch-joined $file 'return (row << panel->log_joined) + row_in_panel(panel, v);' 'return row + row_in_panel(panel, v);'
mutation batch-ends $file '(n - row_in_panel(panel, v) + (1 << panel->log_joined) - 1) >> panel->log_joined;' '(n + (1 << panel->log_joined) - 1) >> panel->log_joined;'
mutation batch-apart $file '(v < panel->mine ? v * apart : 0)' '(v < panel->mine ? v * TALLY_BYTES + 0 * apart : 0)'
mutation batch-behind $file 'if (is_full || batch->row + (b + 1) * batch->apart < leaf->ends[0]) at += step;' 'at += step;'
mutation batch-full $file '(batch_vectors - 1) * apart < leaf->ends[TALLY_ACROSS - 1];' '(batch_vectors - 1) * apart < leaf->ends[0];'
mutation batch-cut $file '(!batch.is_full && is_cut(panel, leaf, &batch))' '0'
mutation batch-second-input $file 'read_vectors(panel, leaf, &panel->y, batch' 'read_vectors(panel, leaf, &panel->x, batch'
file=kernels/rows/fold_leaf.h
mutation group-bits $file '(int32_t)tally_reverse((uint32_t)(number * count), leaf->log_all)' '(number * count % (1 << leaf->log_all))'
mutation group-halves $file '(&columns[c], &columns[c + half]);' '(&columns[c], &columns[c + 1]);'
mutation group-stripes $file '(&columns[b % group_columns], &lifted[b]);' '(&columns[0], &lifted[b]);'
mutation group-few $file 'TALLY_NAME(fold_group)(columns, are_few);' 'TALLY_NAME(fold_group)(columns, 0);'
mutation found-ties kernels/rows/found.h 'a.best.key == found.best.key ? a.where : identity2()' 'a.where'
mutation panel-joined-results kernels/rows/panel.h '|| row_in_panel(panel, v) > 0) return -1;' ') return -1;'
mutation columns-go-on kernels/production/columns.h 'leaf.first = (int32_t)k * most;' 'leaf.first = 0;'
file=kernels/production/columns.h
mutation columns-members $file 'left < each ? left : each);' 'left < each ? left : each - (chunk > 0));'
mutation columns-digits kernels/rows/node_trees.h 'bit++) all = merge(digits[bit], all);' 'bit++) all = merge(all, all);'
mutation columns-shares $file 'merge(node, shared->gathered[tally_thread() + step * width])' 'merge(node, node)'
mutation columns-places kernels/rows/panel.h '(panel->reads == TALLY_READS_WHOLE ? TALLY_ACROSS : 1)' 'TALLY_ACROSS'
file=kernels/compensated/nodes.h
mutation decided-overflow $file 'if (!(a->marks & (seen_nan | seen_infinity))) return 0;' ';'
mutation decided-opposite $file 'else if (tally_is_finite(first) || first != first)' 'else if (tally_is_finite(first))'
mutation few-magnitudes $file 'second = (TALLY_PLAIN)term_of(x[1]);' 'second = (TALLY_PLAIN)value_of(x[1]);'
mutation quotient-minus-zero kernels/compensated/results.h 'return rest != 0 ? q + rest : q;' 'return q + rest;'
mutation values-wrap kernels/shared/parts.h 'i = i + 1 == n ? 0 : i + 1;' 'i = i + 1 == n ? 1 : i + 1;'
mutation compensated-small $file 'return TALLY_HAS_PRODUCTS && (a->marks & lost_digits) != 0;' 'return 0;'
mutation compensated-few-mean $file '!tally_is_finite(sum) ? a * 0.5 + b * 0.5' '!tally_is_finite(sum) ? sum * 0.5'
mutation compensated-plain-lost $file 'node->sum.lost != 0 || ' ''
mutation compensated-minus-zero $file 'node->sum.rest == 0 ? first : first + node->sum.rest' 'first + node->sum.rest'
file=kernels/compensated/ranged.h
mutation ranged-wide $file 'high - last + log2_n <= 53' 'high - last + log2_n <= 93'
file=kernels/exact_sums/specials.h
mutation specials-seen $file 'if (!is_absent && is_there) tally_or32' 'if (!is_absent && is_there && v > 0) tally_or32'
mutation nans-noted $file 'if (size_of(most, v) > TALLY_SIZE_INFINITY) tally_or32' 'if (size_of(most, v) > TALLY_SIZE_INFINITY && v > 0) tally_or32'
mutation nans-infinities $file 'is_infinite |= size_of(most, v) == TALLY_SIZE_INFINITY;' ';'
mutation nans-infinities-alone $file 'if (tally_any(is_infinite)) return 0; if (of_x' 'if (of_x'
mutation nans-halves $file '* 0x10001) & 0x80008000;' '* 0x10001) & 0x8000;'
file=kernels/compensated/results.h
mutation interval-ends $file 'low == high &&' '(low == high || 1) &&'
mutation interval-minus-zero $file 'rest == 0 && slack == 0 ? interval_around(q, 0) : a' 'a'
mutation interval-zero-rest $file 'of.sum == 0 && of.rest == 0 && is_exact' 'of.sum == 0 && is_exact'
mutation short-sum-error $file 'const int32_t is_exact = s->sum.lost == 0 || s->terms <= 2;' 'const int32_t is_exact = 1;'
mutation short-product-error $file 'const int32_t are_exact = s->products.lost == 0 || (s->terms <= 2 && !TALLY_IS_F64);' 'const int32_t are_exact = 1;'
file=kernels/rows/pair_sums.h
mutation short-special $file 'return most >= TALLY_SIZE_INFINITY;' 'return most > TALLY_SIZE_INFINITY;'
mutation short-small $file 'a->is_small |= tally_high_word(product) < least' 'a->is_small |= tally_high_word(product) < 0 * least'
mutation short-absent $file 'sums[v].absent++;' 'sums[v].absent += 0;'
mutation exact-rows-scaled kernels/rows/level_sums.h 'its_most < (int64_t)TALLY_SIZE_INFINITY ?' '(int32_t)its_most < (int32_t)TALLY_SIZE_INFINITY ?'
file=kernels/rows/row_tile.h
mutation tile-rest $file 'for (int32_t at = whole + tally_thread(); at < bytes; at += TALLY_THREADS)' 'for (int32_t at = bytes; at < bytes; at += TALLY_THREADS)'
mutation tile-there $file 'is_there = i < mine->count' 'is_there = i <= mine->count'
mutation tile-batches $file 'first = first + batch >= batches * batch ? 0' 'first = first + batch > batches * batch ? 0'
mutation tile-joined $file 'for (int32_t v = 1; v < TALLY_ACROSS; v++) join_row_sums' 'for (int32_t v = 1; v + 1 < TALLY_ACROSS; v++) join_row_sums'
mutation tile-small kernels/rows/pair_sums.h 'a->is_small |= b->is_small;' ';'
file=kernels/production/short_exact.h
mutation short-stored $file 'certain == ((uint32_t)1 << TALLY_ACROSS) - 1' 'certain != 0'
mutation short-there $file 'certain &= there;' ';'
mutation short-tail $file 'const int32_t is_there = first + k < length;' 'const int32_t is_there = first + k <= length;'
mutation short-again $file 'uint32_t most = 0;' 'uint32_t most = 1;'
mutation short-last-rows kernels/rows/short_rows.h 'return v * TALLY_THREADS < rows->count ? rows->first + v * TALLY_THREADS : -1;' 'return rows->first + v * TALLY_THREADS;'
mutation stripes-place kernels/production/stripes.h 'lift_partial(x[m], y[m], first + m)' 'lift_partial(x[m], y[m], m)'
mutation stripes-halves kernels/production/stripes.h 'combine_partial(columns.of[k], columns.of[k + half])' 'combine_partial(columns.of[k], columns.of[k + 1])'
file=kernels/rows/rows_task.h
mutation exact-row-before $file 'within.from = part == 0 ? task->before : 0;' 'within.from = 0;'
mutation exact-row-last $file '|| part == task->parts - 1)' ')'
mutation exact-row-edge $file '(row == work->rows - 1 && k + TALLY_DEVICE_STRIPES * task->lanes >= task->parts &&' '(row == work->rows && k + TALLY_DEVICE_STRIPES * task->lanes >= task->parts &&'
file=kernels/rows/columns_task.h
mutation exact-columns-last $file 'return row < task->plain_end ? task->high' 'return row <= task->plain_end ? task->high'
mutation exact-columns-rows $file 'work->width == work->inner ? column : column % (int32_t)work->inner' 'column'
file=kernels/rows/block_sums.h
mutation exact-digits-carry $file 'carry = is_large ? all >> 32 : 0;' 'carry = 0;'
mutation exact-copies $file 'for (int32_t c = 0; c < copies; c++) {' 'for (int32_t c = 0; c < 1; c++) {'

group gpu-whole "${isas%% *}" "test_gpu --quick" test_gpu test_gpu_nodes
mutation specials-absent kernels/exact_sums/specials.h 'if (is_absent) there &= ~(1 << v);' ';'
file=kernels/exact_sums/exact_block.h
mutation specials-squares $file 'minus = (seen & (are_squares ? TALLY_SEEN_NAN : TALLY_SEEN_MINUS)) != 0;' 'minus = (seen & TALLY_SEEN_MINUS) != 0;'
mutation specials-left-out $file 'absent += __builtin_popcount(' 'absent += 0 * __builtin_popcount('
mutation zeros-sign $file 'tally_finite_evidence(1, tally_bits_f64(term_in_double(x)) < 0)' 'tally_finite_evidence(1, 0)'

group gpu-segments "${isas%% *}" "test_gpu_segments --quick" "test_gpu_grouped --quick" \
    "test_gpu_mixes --op var --type f32 --problems 100" test_gpu_segments test_gpu_grouped
file=kernels/segments/tile_ends.h
mutation tile-ids-left $file 'i > begin && i < until ? here[i - 1] : segment - 1;' 'i > begin && i < until ? here[i - 1] : segment;'
mutation tile-ids-rest $file 's <= o->begun; s += TALLY_WARP) places[s] = o->values;' 's < o->begun; s += TALLY_WARP) places[s] = o->values;'
file=kernels/segments/own_segments.h
mutation tile-later-leaves $file 'const int64_t first = run == 0 ? o->from.leaf + leaf : leaf;' 'const int64_t first = leaf;'
mutation thread-few-most $file '(int32_t)n, few_most);' '(int32_t)n, 4);'
file=kernels/segments/scaled_segments.h
mutation scaled-power $file ': -powers.x;' ': -powers.x / 2;'
mutation scaled-y $file 'powers = {power_of_size(most_x), power_of_size(most_y)}' 'powers = {power_of_size(most_x), power_of_size(most_x)}'
file=kernels/shared/thread_columns.h
mutation thread-rest $file 'if (rest != 0 && until > ROW' 'if (rest > 1 && until > ROW'
mutation thread-long-parts $file 'if (to > 0) {' 'if (to > 1) {'
file=kernels/production/segments.h
mutation spans-groups $file 'found = {from.segment - 1, from.end - begin, leaf, from.place};' 'found = {from.segment - 1, from.end - begin, from.leaf, from.place};'
mutation spans-begin-behind $file 'has_behind = to.place >= 0 && to.end > to.value;' 'has_behind = to.place >= 0 && to.end > to.value + 1;'
mutation tile-reads-inside kernels/segments/open_tile.h 'o->values_come = TALLY_HAS_BULK && x_is_dense && tally_is_inside(&o->x) &&' 'o->values_come = TALLY_HAS_BULK && x_is_dense &&'
file=kernels/production/partition.h
mutation lengths-behind kernels/partition/lengths.h 'if (i + e == partition->count - 1)' 'if (i + e == partition->count)'
mutation lengths-total $file 'is_bad = 1, before = work.partition.values;' 'before = work.partition.values;'

group python "${isas%% *}" "pytest test_reduce.py test_segments.py" "pytest test_objects.py test_arrow.py"
file=python/src/arguments.c
mutation python-int-range $file 'if (beyond || *value < low || *value > high) {' 'if (beyond || *value < low) {'
mutation python-twice $file 'if (it->value[which]) {' 'if (false) {'
mutation python-eight-bytes $file 'if (!strcmp(word, "i8") || !strcmp(word, "u8")) return false;' ''
mutation python-and $file 'if (*op == TALLY_OP_END && !strcmp(name, "and_")) *op = TALLY_AND;' ''
file=python/src/segments.c
mutation python-broadcast $file 'return it->strides[axis] == 0 && it->shape[axis] > 1;' 'return false;'
mutation python-largest-id $file 'first = sorted && ids->count ? ids->count - 1 : 0;' 'first = ids->count ? ids->count - 1 : 0;'
mutation python-axis $file '(axis < 0 ? axis + in->axes : axis)' '(axis < 0 ? 0 : axis)'
mutation python-later-calls $file 'if (++index[k] < shape->shape[k]) break;' 'if (++index[k] <= shape->shape[k]) break;'
mutation python-two-widths $file 'if (starts->type != ends->type &&' 'if (starts->type > ends->type &&'
mutation python-packed python/src/array.c 'k-- > 0; step *= it->shape[k]) it->strides[k] = step;' 'k-- > 0; step *= it->shape[0]) it->strides[k] = step;'
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

# shellcheck shell=bash
# Mutations of exact sums on the CPU, in the words of tests/mutations.sh.
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
mutation level-not-committed $file \
    'for (int k = 0; k < levels->count && levels->tiles > 0; k++) {' \
    'for (int k = 0; k + (k > 0) < levels->count && levels->tiles > 0; k++) {'
mutation zero-products $file \
    'words[(x == 0 || y == 0) && negative ? TALLY_MINUS_ZERO : TALLY_OTHER] = 1;' \
    'words[TALLY_OTHER] = 1;'
mutation other-not-set $file 'witness(product ? sums->products : sums->values, tile);' ''
mutation both-not-set $file \
    'sums->values[TALLY_OTHER] = sums->products[TALLY_OTHER] = 1;' \
    'sums->values[TALLY_OTHER] = 1;' \
    avx512
mutation specials-by-levels src/cpu/tile.c \
    'if (!tile->x_extent.special && !tile->y_extent.special) return;' \
    'if (!tile->x_extent.special) return;'
mutation zero-tile-sign $file \
    'if (term == TALLY_TERM_MAGNITUDE || (product && tile->y == tile->x))' \
    'if (product && tile->y == tile->x)'
mutation zeros-of-products $file 'y = product ? tally__value_at(tile, tile->y, i) : 1;' 'y = 1;'
mutation skipped-is-plus-zero src/cpu/specials_template.h '(c & ~out) | (out & ~most_##type)' '(c & ~out)'
mutation skip-one-input src/cpu/specials_template.h 'gone = no_number & skipped' 'gone = c_nan & skipped'
mutation skipped-are-counted src/cpu/tile.c 'tile->present = taken.present;' ''
mutation specials-not-noted $file 'if (tile->specials) add_specials' 'if (false) add_specials'
mutation specials-of-magnitudes $file 'if (term == TALLY_TERM_MAGNITUDE) plus =' 'if (false) plus ='
mutation specials-of-products src/cpu/specials_template.h 'no_number | (c_size == 0) | (d_size == 0)' 'no_number'
mutation specials-of-batches src/cpu/exact_batches_template.h \
    'for (int64_t k = 0; k < finite->specials;) {' \
    'for (int64_t k = 0; k < finite->specials && k < 1;) {'
mutation all-skipped $file 'if (tile->present == 0) return;
    if (tally__is_tiny(tile))' 'if (tally__is_tiny(tile))'
mutation enlarged-beside-others $file 'levels->power == power &&' 'levels->power >= power - 5000 &&'
mutation enlarged-products $file \
    '(value ? 1 : 2) * (sums->origin + levels->power)' \
    '(value ? 1 : 2) * sums->origin + levels->power'
mutation range-of-the-skipped src/cpu/tile.c 'if (tile->present < tile->n) {' 'if (false) {'
mutation range-of-nans src/cpu/tile.c 'if (tile->specials & TALLY_SEEN_NAN) {' 'if (false) {'
mutation fit-limbs src/cpu/tile.c '(high + 12 - fit.origin) / 32 + 3' '(high + 12 - fit.origin) / 32 + 1'
mutation fit-product-limbs src/cpu/tile.c \
    '(2 * high + 12 - 2 * fit.origin) / 32 + 3' \
    '(high + 12 - fit.origin) / 32 + 3'
mutation fit-one-input src/cpu/tile.c 'k % 2 ? &tiles[k / 2].x_extent : &tiles[k / 2].y_extent' '&tiles[k / 2].x_extent'
mutation subnormal-products src/cpu/bounds.h \
    '(tile->x_extent.unit > TALLY_LEVELS_LOWEST &&' \
    '(tile->x_extent.unit > -5000 &&'
mutation below-shared-levels $file 'b.unit >= levels->lowest &&' 'b.unit >= levels->lowest - 3 &&'
mutation above-shared-levels $file 'b.high <= levels->high &&' 'b.high <= levels->high + 3 &&'
mutation counts-overflow $file 'TALLY_FLUSH_TILES = 128' 'TALLY_FLUSH_TILES = 8192'
mutation both-too-wide $file 'if (slack > slack_products / 2) slack = slack_products / 2;' '' avx512
mutation both-out-of-bounds $file \
    'b.high > TALLY_LEVELS_HIGHEST || b.unit < TALLY_LEVELS_LOWEST) return false;' \
    'b.unit < TALLY_LEVELS_LOWEST) return false;' \
    avx512
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
mutation stats-of-nothing src/cpu/results_template.h \
    'least[s] = none ? nan : (value_of_key);' \
    'least[s] = (value_of_key);'
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
mutation product-ends-early $file \
    'levels == TALLY_SHORT_PRODUCTS ? 1 : levels - 1;' \
    'levels == TALLY_SHORT_PRODUCTS ? 0 : levels - 1;'
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
mutation bins-leading-one $file \
    '- (wide)(none & ((bits & INT64_MIN) | base | first));' \
    '- (wide)(none & ((bits & INT64_MIN) | first));'
mutation bins-upper-bits $file \
    '(words)(bits & upper) >> (52 + layout.binades)' \
    '(words)(bits & upper) >> (53 + layout.binades)'
mutation bins-odd-products $file '(((a.bin + b.bin) & 1) << (52' '(((a.bin & b.bin) & 1) << (52'
mutation bins-second-piece $file 'v->piece[1][i + c]};' '0};'
mutation bins-third-piece $file 'if (count == 3) to[2] += v->piece[2][i + c];' ''
mutation bins-one-place $file \
    'int64_t *to = bins + v->place[i + c] + c * apart;' \
    'int64_t *to = bins + v->place[i + c] + (c & 1) * (apart - 1);'
mutation bins-magnitudes $file 'magnitudes ? magnitude_of(a.fraction) : a.fraction' 'a.fraction'
mutation bins-last-values $file 'if (n == 0) return;' 'if (n < 2) return;'
mutation bins-last-of-y $file 'memcpy(rest[1], y,' 'memcpy(rest[1], x,'
mutation bins-unit src/cpu/tiles.h '{-29, -59}' '{-29, -58}'
mutation bins-anchor src/cpu/tiles.h '{-38, -78, -118}' '{-38, -78, -116}'
mutation bins-overflow-f32 src/cpu/tiles.h '.tiles = 16,' '.tiles = 1024,'
mutation bins-below src/cpu/exact.c 'total = least < 0 ? total >> -least :' 'total = least < 0 ? total :'
mutation bins-third-limb src/cpu/exact.c \
    '+ 2] += (int64_t)(total >> 64); /*' \
    '+ 2] += (int64_t)(total >> 64 & 0xffffffff); /*'
mutation bins-overflow-f64 src/cpu/tiles.h '.tiles = 32,' '.tiles = 8192,'
mutation bins-halves src/cpu/exact.c \
    'low += (bin & 0xffffffff) << (j * step);' \
    'low += (bin & 0xfffffff) << (j * step);'
mutation bins-chains src/cpu/exact.c \
    'for (int32_t c = 0; c < chains; c++) bin' \
    'for (int32_t c = 1; c < chains; c++) bin'
mutation bins-not-cleared src/cpu/exact.c 'if (bins->tiles++ == 0) {' 'if (bins->tiles++ < 0) {'
mutation bins-cleared-in-part src/cpu/exact.c \
    'to = sums->products || layout.products_at == 1 ?' \
    'to = layout.products_at == 1 ?'
mutation bins-not-flushed src/cpu/exact.c '    flush_bins(sums);
}' '}'
mutation bins-witness src/cpu/exact.c 'if (products) witness(sums->products, tile);' ''

file=kernels/sums/limbs.h
mutation deposit-shift $file '(v >> 32) >> (32 - s)' '(v >> 32) >> (31 - s)'
mutation no-carry $file 'int64_t t = tally_plus(limbs[i], carry);' 'int64_t t = limbs[i];'
mutation infinity-keeps-limbs $file 'for (int32_t i = 0; i < count; i++) limbs[i] = 0;' ';'
mutation minus-zero-stays $file 'if (words[TALLY_OTHER]) words[TALLY_MINUS_ZERO] = 0;' ''
mutation subnormal-exponent $file '(biased != 0 ? biased : 1) - 1075' 'biased - 1075'
mutation minus-zero-witness $file \
    'words[x == 0 && tally_bits_f64(x) < 0 ? TALLY_MINUS_ZERO : TALLY_OTHER] = 1;' \
    'words[TALLY_OTHER] = 1;'
mutation product-low-digits $file \
    '(int64_t)(product & 0xffffffffffff), offset);' \
    '(int64_t)(product & 0xfffffffffff), offset);'

file=kernels/sums/window.h
mutation window-sticky $file 'a->sticky = below;' 'a->sticky = 0;'
mutation negation-carry $file 'carry = fill & 1 & (uint32_t)!below;' 'carry = 0;'
mutation sticky-below-cut $file 'return any != 0 || a->sticky;' 'return any != 0;'
mutation divide-by-large $file 'rest = (uint64_t)(t - whole * n);' 'rest = (uint32_t)(t - whole * n);'
mutation root-sticky $file 'a->sticky |= (tally_u128)r * r != m;' ''
mutation root-wraps $file \
    'r = step > 0 && r > UINT64_MAX - (uint64_t)step ? UINT64_MAX : r + (uint64_t)step;' \
    'r += (uint64_t)step;'
mutation tie-up $file 'half & ((m & 1) | (uint64_t)tally_any_below(a, cut - 1))' 'half'
mutation tie-down $file \
    'half & ((m & 1) | (uint64_t)tally_any_below(a, cut - 1))' \
    'half & (uint64_t)tally_any_below(a, cut - 1)'
mutation subnormal-cut $file 'if (cut < format.least - a->exponent) cut = format.least - a->exponent;' ''
mutation infinity-threshold $file 'top + a->exponent > format.infinite ?' 'top + a->exponent >= format.infinite - 1 ?'
mutation spread-column $file \
    'column -= (tally_i128)((uint64_t)sum->word[i] * sum->word[at - i]);' \
    'if (i != first) column -= (tally_i128)((uint64_t)sum->word[i] * sum->word[at - i]);'
mutation spread-decided $file 'return is_decided;' 'return 1;'
mutation spread-large-n $file \
    '(uint64_t)tally_limb_word(q, squares.count, at - 1) * (n >> 32)' \
    '(uint64_t)tally_limb_word(q, squares.count, at) * (n >> 32)'

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
mutation ties-are-exact $file \
    '(error == 0) & (back.high == rest.high) & (back.low == 0) & (rest.low == 0)' \
    '(error == 0) & (back.high == rest.high)'
mutation nothing-deviates $file \
    'some & whole & (squares.low == 0) & (a.high == b.high) & (a.low == b.low)' \
    'some & (a.high == b.high)'
mutation spread-lacks $file '(sum.low == 0) & tally_lacks_nothing(squares)' '(sum.low == 0)'
mutation spread-lacks-little $file 'anchor = size * 0x1p-46' 'anchor = size * 0x1p-53'

file=src/cpu/batch_template.h
mutation batch-mask $file '{-1, -1, -1, -1, -1, -1, -1, -1};' '{-1, -1, -1, -1, -1, -1, -1, 0};'
mutation batch-carried $file 'before[g] = anchor[k] - (s[g] - before[g]);' 'before[g] = anchor[k] - (s[g] - s[g]);'
mutation batch-second-row $file '= s[g] + a;' '= s[g] + b;'
mutation batch-across $file \
    'transposed[k][i] = ((const value *)at)[i * (apart) + k];' \
    'transposed[k][i] = ((const value *)at)[i + k];'
mutation mean-of-nothing src/cpu/results_template.h 'TALLY_MOST(nan, 1, rounded.sure' 'TALLY_MOST(0, 1, rounded.sure'
mutation batch-padding $file 'batch->places[s] = offsets[count] - offsets[0];' 'batch->places[s] = 0;'

file=src/cpu/plain_template.h
mutation plain-rounded src/cpu/plain.c \
    'return rounded ? TALLY_PLAIN_ROUNDED : finite == TALLY_FINITE' \
    'return finite == TALLY_FINITE'
mutation plain-specials src/cpu/plain.c 'if (finite == TALLY_NOT_FINITE) return TALLY_PLAIN_INFINITE;' ''
mutation plain-narrow src/cpu/plain.c 'memset(made->products[1], 0, (size_t)count * sizeof made->products[1][0]);' ''
mutation plain-narrow-rounded src/cpu/plain.c 'if (narrow && rounded) {' 'if (narrow && (rounded = false)) {'
mutation plain-flag-lost src/fpenv.h 'if (_mm_getcsr() != left) _mm_setcsr(left);' '(void)left;'
mutation plain-long $file 'offsets[s + 1] - offsets[s],
                        anchor' 'offsets[s + 1] - offsets[s] - (s > 0),
                        anchor'
mutation plain-halves-rounded src/cpu/plain.c \
    'if (tally__is_inexact()) {' \
    'if (tally__is_inexact() && count > 1000) {' \
    avx512
mutation plain-halves-rest src/cpu/plain_halves_template.h '(uint32_t)(n - i))' '(uint32_t)(n - i - 1))' avx512
mutation plain-halves-begin src/cpu/plain_halves_template.h 'kind == TALLY_TERM_VALUE ? -0.0 : 0.0' '0.0' avx512
mutation plain-halves-absent src/cpu/plain_halves_template.h \
    'mask_loadu_epi16(minus_zeros, there, x)' \
    'mask_loadu_epi16(_mm512_and_si512(minus_zeros, magnitudes), there, x)' avx512
mutation plain-halves-empty src/cpu/exact_plain_template.h \
    'if (offsets[s] == offsets[s + 1]) put_signed_zero' \
    'if (offsets[s] > offsets[s + 1]) put_signed_zero' avx512
mutation plain-halves-mean src/cpu/exact_plain_template.h \
    'final->mean && some_are_minus_zero(made.sums, count)' 'final->mean && 0' avx512
mutation plain-halves-second src/cpu/plain_halves_template.h '(int32_t)0xffff0000)' '(int32_t)0xffffffff)' avx512
mutation plain-carried $file 'take_plain_rows(rows, s, is_f64,' 'begin_plainly(s, parts, REGISTERS, kind, anchor);
        take_plain_rows(rows, s, is_f64,'
mutation plain-second-row $file '= s[k * REGISTERS + g] + a[k];' '= s[k * REGISTERS + g] + b[k];'
mutation plain-last-row $file 'for (; r * ROW < n; r++) {' 'for (; (r + 1) * ROW < n; r++) {'
mutation plain-clamp $file \
    '(places[k] < most ? places[k] : most)' \
    '(places[k] < most - 1 ? places[k] : most - 1)' \
    avx512
mutation plain-alike $file 'if (rest > 0) {' 'if (rest > 1) {' avx512
mutation plain-clamp-portable $file \
    'places[k] < most ? places[k] : most;' \
    'places[k] < most - 1 ? places[k] : most - 1;' \
    baseline
mutation plain-eight $file 'ends[done + 7] <= end; done += 8)' 'ends[done + 6] <= end; done += 8)'
mutation plain-equal $file 'return differ ? 0 : (int)length;' 'return (int)length;'
mutation plain-across $file 'upper = k == 0 ? h : upper + h;' 'upper = k == 0 ? h : k == 2 ? upper : upper + h;'
mutation plain-magnitudes $file 'kind == TALLY_TERM_MAGNITUDE ? magnitude_of(a) :' ''
mutation plain-chains $file \
    'for (int c = 1; c < chains; c++) of[0] += of[c];' \
    'for (int c = 2; c < chains; c++) of[0] += of[c];'
mutation plain-zeros $file 'return zeros != 0;' 'return false;'
mutation plain-zero-of-nothing src/cpu/exact_batches_template.h \
    'from < to && !any_bit(bits, from, to)' \
    '!any_bit(bits, from, to)'
mutation zeros-not-signed src/cpu/exact_batches_template.h \
    'if (from < to && !any_bit(bits, from, to)) put_signed_zero' \
    'if (from > to) put_signed_zero'
mutation special-first-only src/cpu/exact_batches_template.h 'i < n && total == total; i++' 'i < first + 1; i++'
mutation expansions-vague src/cpu/results_template.h 'if (b->vague)' 'if (0)'
mutation expansions-near src/cpu/expansions_template.h 'return ~tiny | is_far;' 'return ~tiny | ~is_far | is_far;'
mutation expansions-alone src/cpu/expansions_template.h 'if (alone) fold_group(e[0], parts);' ''
mutation rough-alone src/cpu/expansions_template.h 'if (alone && products) fold_group(e[1], 1);' ''
mutation expansions-last src/cpu/expansions_template.h 'int last = batch->count;' 'int last = batch->count - 1;'
mutation expansions-few src/cpu/expansions_template.h \
    'case 3: few_terms(is_f64, kind, products, 3,' \
    'case 3: few_terms(is_f64, kind, products, 2,'
mutation expansions-certain src/cpu/expansions_template.h \
    'magnitude_of(e[g].below) > e[g].size * TALLY_ROUGH' \
    'magnitude_of(e[g].below) > e[g].size * 0'
mutation rough-certain src/cpu/expansions_template.h \
    'magnitude_of(rest) > e[g].size * TALLY_ROUGH' \
    'magnitude_of(rest) >= e[g].size * 0'
mutation rough-spread src/cpu/results_template.h 'rounded.value = tally_to_odd(both);' 'rounded.value = q;'
mutation expansions-fine src/cpu/expansions_template.h '(e[g].size <= fine) &' '(e[g].size * 0 <= fine) &'
mutation expansions-fine-unit src/cpu/exact_batches.c 'unit + 53 - TALLY_FINE_TERMS' 'unit + 153'
mutation expansions-tiny src/cpu/expansions_template.h \
    '(units)exponent + TALLY_SCALED_LEAST' \
    '(units)exponent + (TALLY_SCALED_LEAST + 800)'
mutation expansions-tiny-products src/cpu/expansions_template.h \
    '1023 + TALLY_SCALED_LEAST - 1)' \
    '1023 + TALLY_SCALED_LEAST + 800)'
mutation scaled-alike src/cpu/exact_batches.c \
    'tally__measure_tile(tile); /* subnormals have other digits now */' \
    'tile->x_extent = tile->y_extent = (tally__extent){.unit = tile->x_extent.unit - by_x};'
mutation enlarged-all src/cpu/results_template.h 'return !TALLY_ANY(above);' 'return !TALLY_ANY(above) || n > 0;'
mutation enlarged-keys src/cpu/exact_plain_template.h \
    'plain->power == 0 ? (const void *)(a + at)' \
    'plain->power != 1 ? (const void *)(a + at)'
mutation shrunk src/cpu/results_template.h 'size - by > fraction ?' 'size - by > 2 * fraction ?'
mutation unscaled-ties src/cpu/results_template.h 'doubt = (scaled <= 0) & tie' 'doubt = (scaled > 0) & tie'
mutation unscaled-signs src/cpu/results_template.h 'away = (wide)((units)rest ^ sign)' 'away = rest'
mutation plain-apart-f64 src/cpu/exact_plain_template.h '&& is_certain(TALLY_HAS_SUM ? sum : of_products);' ';' avx512
mutation plain-apart-skips src/cpu/exact_plain_template.h '= !kernel->skips_nans && is_certain(' '= is_certain(' avx512
mutation plain-apart-spread src/cpu/exact_plain_template.h \
    '= TALLY_HAS_SPREAD ? tally_nan_f64() : TALLY_HAS_SUM ? sum : of_products;' \
    '= TALLY_HAS_SUM ? sum : of_products;' \
    avx512
mutation plain-apart-rows src/cpu/plain_template.h \
    'return are_finite(sums, count) ? TALLY_FINITE : apart ?' \
    'return are_finite(sums, count) ? TALLY_FINITE : count > 1 ?'
mutation plain-apart-made src/cpu/exact_plain_template.h \
    'if (outcome == TALLY_PLAIN_EXACT_APART) list_special_sums(kernel, &special_sums, &made, count);' \
    '' \
    avx512
mutation plain-run-of-zeros src/cpu/exact_runs_template.h 'if (tally__plain_total(sums, parts, 0) == 0)' 'if (false)'
mutation plain-mean-of-many src/cpu/exact_plain_template.h \
    'begin_batch(&batch, offsets + s, some)' \
    'begin_batch(&batch, offsets, some)'
mutation spread-of-empties src/cpu/index_template.h \
    '_mm512_mask_expand_epi64(none, there, some)' \
    '_mm512_maskz_expand_epi64(there, some)' \
    avx512
mutation spread-order src/cpu/index_template.h \
    '_mm512_mask_expand_epi32(none, there, some)' \
    '_mm512_mask_mov_epi32(none, there, some)' \
    avx512
mutation plain-lower-half $file 's[step] = more(s[step], a - upper_half(a));' 's[step] = more(s[step], a - a);'
mutation plain-lower-across $file 'lower = k == 0 ? a - h : lower + (a - h);' 'lower = a - h;'
mutation plain-overflow $file '(int64_t)(0x7ff - 20) << 52;' '(int64_t)0x7ff << 52;'
mutation plain-twice $file 'doubt |= ((bits & last) == middle) |' 'doubt |= ((bits & last) == middle + 1) |'
mutation plain-rest-unseen $file \
    'm = s[step] + less(p, less(t, s[0])),' \
    'm = (wide)_mm512_add_round_pd((__m512d)s[step], (__m512d)less(p, less(t, s[0])), TALLY_UNSEEN),' \
    avx512
mutation plain-last-rest $file 's[2 * step] += less(e, u - m);' '' avx512
mutation plain-y $file \
    'if (two) transpose_equal(is_f64, transposed[1], (const char *)y' \
    'if (two) transpose_equal(is_f64, transposed[1], (const char *)(y == x ? y : x)' \
    avx512
mutation plain-both $file \
    'take_plainly(squares + c, chains, is_f64, TALLY_TERM_PRODUCT, a, a);' \
    'if (at >= 0 && there > 0 && c != 1) take_plainly(squares + c, chains, is_f64, TALLY_TERM_PRODUCT, a, a);' \
    avx512
mutation plain-refused src/cpu/exact_runs_template.h 'again = at + parts_together;' 'again = at, at += 1;'
mutation plain-products-origin src/cpu/exact_runs_template.h \
    'add_plainly(kernel, node->products, 2 * TALLY_ORIGIN' \
    'add_plainly(kernel, node->products, TALLY_ORIGIN' \
    avx512
mutation plain-range src/cpu/exact_runs_template.h \
    'node->low = least < node->low ? least : node->low;' \
    'node->low = least;' \
    avx512
mutation most-clear src/cpu/results_template.h '(past > 16)' '(past >= 0)'
mutation most-lacks src/cpu/results_template.h 'tally_lacks_nothing(squares) & (lows' '(lows'
mutation most-halved src/cpu/results_template.h '((tally_bits_f64(divisor) & fraction) == 0) &' ''
mutation most-corrected src/cpu/results_template.h 'rounded.value = q + (c - slack);' 'rounded.value = q;'
mutation most-spread-sure src/cpu/results_template.h \
    'rounded.sure = rounded.value == q + (c + slack);' \
    'rounded.sure = 1;'
mutation most-cancelled src/cpu/results_template.h \
    '(left.high > all * (rough ? 0x1p-24 : 0x1p-40)) & is_clear' \
    'is_clear'
mutation most-deviations src/cpu/results_template.h '& (a.high == b.high) & (a.low == b.low); /*' '; /*'
mutation most-ddof src/cpu/results_template.h '& (b->lengths[s] > ddof),' ','
mutation ranges-across src/cpu/results_template.h \
    'few_##type(x + s * length, length,' \
    'few_##type(x + s * length, length - (length == 3),'
mutation ranges-masked src/cpu/results_template.h 'left > lanes ? left - lanes : 0' '0' avx512
mutation plain-too-many src/cpu/exact_plain_template.h \
    'return offsets[some] - offsets[0] <= most ? some : 0;' \
    'return some;'

file=kernels/exact_sums/exact.h
mutation join-range $file 'b->high > a->high ? b->high : a->high' 'a->high'
mutation join-limbs $file \
    'for (int i = 0; i < TALLY_EVIDENCE + TALLY_PRODUCT_LIMBS; i++) a' \
    'for (int i = 0; i < TALLY_EVIDENCE + TALLY_PRODUCT_LIMBS - 4; i++) a'

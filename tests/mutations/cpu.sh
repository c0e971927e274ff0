# shellcheck shell=bash
# Mutations of segments, rows, merges and integers on the CPU, in the words of tests/mutations.sh.
group segments "$isas" "test_conformance --quick" test_hostile test_grouped test_conformance
file=src/cpu/ragged.c
mutation offsets-beyond $file '>> 63 != 0 || offsets[count] > j->in->count' '>> 63 != 0'
mutation offsets-decrease $file 'if ((bits.steps | bits.places) >> 63 != 0 || offsets' 'if (offsets'
mutation before-a-long-one $file 'reduce_and_store(j, first + done, offsets + done, s - done);' ''
mutation long-ones-lost $file 'take_longs(j, threads); return' 'return'
mutation ids-step $file 'if (bits.steps > 1) { /* some segments are empty */' 'if (bits.steps > 2) {'
mutation ids-beyond $file '>> 63 != 0 || tally__index(j->segments, i + count - 1) >= j->segments->count)' '>> 63 != 0)'
mutation ids-first-empty $file \
    'if (from == 0) begin_segments(j, &f, before, 0);' \
    'if (from == 0) f.first = before, begin_segments(j, &f, before, 0);'
file=src/segmentation.c
mutation rows-too-few $file 'total) && total == values' 'total) && total <= values'
file=src/unsorted_ids.c
mutation ids-one-beyond $file 'id >= 0 && id < segments->count;' 'id >= 0 && id <= segments->count;'
mutation ids-last-outside $file 'outside = outside < 0 ? i : outside;' 'outside = i;'
mutation ids-ascend $file 'ascend &= last <= id;' ''
mutation vectors-second-input $file \
    'copy_vector(c->to[i] + place * c->bytes, record + ID_BYTES + i * c->bytes, c->bytes);' \
    'copy_vector(c->to[i] + place * c->bytes, record + ID_BYTES, c->bytes);'
file=src/cpu/grouped.c
mutation groups-buffer-full $file '|| b->offsets[b->count] + length > j->capacity)' ')'
mutation groups-features $file 'memcpy(to + i * inner * (int64_t)(size)' 'memcpy(to + i * (int64_t)(size)'

group arg "$isas" test_exact "test_conformance --quick" test_conformance
file=kernels/accumulators/arg.h
mutation arg-highest-index $file \
    '(a).at = (b).at < (a).at ? (b).at : (a).at' \
    '(a).at = (b).at > (a).at ? (b).at : (a).at'
mutation arg-later-ties $file \
    'TALLY_BETTER(b.key, a.key) || (b.key == a.key && b.at < a.at);' \
    '!TALLY_BETTER(a.key, b.key);'
mutation arg-worst-is-best $file 'return node.at != INT64_MAX && !TALLY_BETTER' 'return !TALLY_BETTER'
mutation arg-place $file 'INT64_MAX : first + second.at;' 'INT64_MAX : second.at + 0 * first;'

group axis "$isas" test_columns "test_conformance --quick" test_conformance
file=src/cpu/axis.c
mutation axis-last-chunk $file 'at, least(j->chunk, j->length - at)));' 'at, j->chunk - (at + j->chunk > j->length)));'
mutation axis-joined $file \
    'tally__node_at(kernel, nodes, i), j->chunks, width);' \
    'tally__node_at(kernel, nodes, i), j->chunks - 1, width);'
mutation axis-blocks $file 'block + r % j->panels.inner;' 'block + r % (j->panels.inner > 2 ? 2 : j->panels.inner);'

group columns "$isas" "test_columns --quick" test_columns
file=src/cpu/exact_plain_rows_template.h
mutation column-infinite $file \
    '& (uint64_t)INT64_MAX) + ((uint64_t)1 << 52);' \
    '& (uint64_t)INT64_MAX) + ((uint64_t)1 << 51);'
mutation column-certain $file 'c->kinds[p] = is_certain(special) ?' 'c->kinds[p] = true ?'
mutation column-nan-spread $file \
    'c->specials[p] = TALLY_HAS_SPREAD ? tally_nan_f64() : special;' \
    'c->specials[p] = special;' \
    avx512
mutation column-unsure $file \
    'if (batch->sure[i] || c->kinds[first + i] != column_has_sums) continue;' \
    'continue;' \
    avx512
mutation column-lengths $file \
    'batch->lengths[i] = i < batch->count ? (int32_t)rows : 0;' \
    'batch->lengths[i] = (int32_t)rows - (i > 8);'
mutation column-scaled $file \
    'batch->product_parts = batch->lost = batch->scaled = batch->vague' \
    'batch->product_parts = batch->lost = batch->vague'
mutation column-batches $file 'parts_of_sum, (int)first, batch);' 'parts_of_sum, 0 * (int)first, batch);'
mutation column-zeros $file \
    'zeros = tally__cpu_tiles()->round_sums(of, parts, (int)c->width, is_f64, results) && parts > 1;' \
    'zeros = tally__cpu_tiles()->round_sums(of, parts, (int)c->width, is_f64, results) && false;'
mutation column-zero-of-parts $file \
    'if (sums[0][p] != 0 || tally__plain_total(sums, parts, (int)p) != 0) continue;' \
    'if (sums[0][p] != 0) continue;'
mutation column-signed $file \
    'else if (tally_bits_f64(sums[0][p]) < 0) words[TALLY_MINUS_ZERO] = 1;' \
    'else words[TALLY_MINUS_ZERO] = 1;'
mutation column-others $file \
    'if (words[TALLY_MINUS_ZERO] && !words[TALLY_OTHER]) put_signed_zero(results, p, -0.0, final);' \
    'if (words[TALLY_MINUS_ZERO]) put_signed_zero(results, p, -0.0, final);' \
    avx512
mutation column-special $file 'if (c->kinds[p] != column_is_special) continue; tally_put(' 'continue; tally_put('
mutation column-total $file \
    'if (tally__plain_total(sums, parts, (int)lane) != 0) for (int k = 0; k < parts; k++)' \
    'if (sums[0][lane] != 0) for (int k = 0; k < parts; k++)'
mutation column-parts $file \
    'for (int k = 0; k < parts; k++) tally_add_value(words, origin, sums[k][lane]);' \
    'tally_add_value(words, origin, sums[0][lane]);'
mutation column-witness $file \
    'else if (term == TALLY_TERM_PRODUCT) witness(kernel, words, term, x, y, rows, stride);' \
    'else if (term == TALLY_TERM_PRODUCT) ;' \
    avx512
mutation column-node-sign $file \
    'words[tally_bits_f64(sums[0][lane]) < 0 ? TALLY_MINUS_ZERO : TALLY_OTHER] = 1;' \
    'words[TALLY_OTHER] = 1;'
mutation column-count $file 'if (j < c->width) node->n += added;' 'node->n += added;'
mutation column-node-special $file 'tally_witness(node->sum, c->specials[j]);' ''
mutation column-node-products $file 'tally_witness(node->products, c->specials[j]);' '' avx512
mutation column-origin $file \
    'add_to_number(kernel, node->products, 2 * TALLY_ORIGIN,' \
    'add_to_number(kernel, node->products, TALLY_ORIGIN,' \
    avx512
mutation column-kinds $file '__builtin_memset(c->kinds, column_has_sums, sizeof c->kinds);' ''
mutation column-listed $file 'c->listed = 0;' ''
mutation column-skips $file \
    'return !special || (sort_columns(c) <= c->count / 8 && !kernel->skips_nans);' \
    'return !special || sort_columns(c) <= c->count / 8;'
mutation column-open $file 'if (c->kinds[p] == column_is_open) *flags |=' 'if (false) *flags |='
mutation column-node-open $file 'if (c->kinds[c->list[i]] == column_is_open) c->again' 'if (false) c->again'
mutation column-kept $file 'put_sums_back(c); *added = flush_sums' '*added = flush_sums'
mutation column-first $file \
    'return take_rows_plainly(c, from_x, from_y, some, stride, true);' \
    'return take_rows_plainly(c, from_x, from_y, some, stride, at == 0);'
mutation column-added $file 'added += some; continue;' 'added = at + some; continue;'
mutation column-joins $file \
    'if (!close_columns(kernel, c, false)) return false;' \
    '(void)close_columns(kernel, c, false);'
mutation column-left $file 'flags |= reduce_by_levels(kernel, a, b, rows, stride, some, final, scratch, NULL, to);' ''
mutation column-flushed $file '*added, nodes) ? 0 : -1;' '*added, nodes) ? *added : -1;'
mutation column-no-use $file 'if (added < 0 || (added > 0 && !flush_sums' 'if ((added != 0 && !flush_sums'
mutation column-again $file 'if (c->again[p])' 'if (c->again[p] && c->kinds[p] == column_is_open)'
mutation column-finished $file 'if (results && !are_sums) flags |= finish_nodes(kernel, of, some, final, to);' ''
mutation column-direct $file \
    'if (direct && added == rows && c->fold == 1) return true;' \
    'if (direct && added > 0 && c->fold == 1) return true;'
mutation column-small $file \
    'tally_add_product(node->products, 2 * TALLY_ORIGIN, c->left.x[i], c->left.y[i]);' \
    '(void)node;' \
    avx512
mutation column-small-open $file \
    'c->kinds[p] = column_is_open; c->list[c->listed++] = (int16_t)p; } put_columns' \
    '} put_columns' \
    avx512
mutation column-small-back $file 'c->left.count = c->left_before;' '' avx512
file=src/cpu/plain_columns_template.h
mutation column-masked $file 'if (k >= count) v[k] = -0.0;' 'if (k >= count) v[k] = 0.0;'
mutation column-begins $file ': k == 0 ? -(wide){0} : (wide){0};' ': (wide){0};'
mutation column-anchor $file \
    'p[k] = begins ? (wide){0} + work->anchor[k] :' \
    'p[k] = begins ? (wide){0} + work->anchor[0] :' \
    avx512
mutation column-second $file \
    '= two ? load_from(from, y + r * apart, at, all, count) : a;' \
    '= two ? load_from(from, y, at, all, count) : a;' \
    avx512
mutation column-small-twice $file \
    'left->count += left->count <= TALLY_LEFT_MOST; a[k] = 0;' \
    'left->count += left->count <= TALLY_LEFT_MOST;' \
    avx512
mutation column-small-most src/cpu/plain.c \
    'return !tally__is_inexact() && left->count <= TALLY_LEFT_MOST;' \
    'return !tally__is_inexact();' \
    avx512
mutation column-rest $file 'rest = rows % fold * width;' 'rest = rows % fold * width / 2;'
mutation column-no-row $file \
    'work->sums[k][j] = k == 0 ? -0.0 : 0, work->products[k][j] = work->anchor[k];' \
    'work->sums[k][j] = 0, work->products[k][j] = work->anchor[k];'
mutation column-no-anchor $file \
    'work->sums[k][j] = k == 0 ? -0.0 : 0, work->products[k][j] = work->anchor[k];' \
    'work->sums[k][j] = k == 0 ? -0.0 : 0, work->products[k][j] = 0;' \
    avx512
mutation column-lanes $file 'for (int64_t f = 1; f < fold; f++)' 'for (int64_t f = 1; f < fold - (fold > 40); f++)'
mutation column-not-finite $file '>= (int64_t)0x7ff << 52; return !special;' '> (int64_t)0x7ff << 52; return !special;'
file=src/cpu/plain.c
mutation column-rounded $file \
    'return !tally__is_inexact() && left->count' \
    'return (tally__is_inexact() || true) && left->count'
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
mutation origins-of-lists $file \
    'number(w->numbered + begin, list->before + at, taken);' \
    'number(w->numbered + begin, at, taken);'
mutation origins-of-equals $file \
    'number(origins, job->lists[i].before + w->at[i], some);' \
    'number(origins, job->lists[i].before, some);'

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
mutation fan-middle-ties $file \
    '(first < 0) | !TALLY_M(may_precede)(first_value, middles[i], infinity)' \
    '(first < 0) | TALLY_M(may_precede)(middles[i], first_value, infinity)'
mutation fan-aligned $file '(int32_t)(-(uint64_t)data % 16)' '(int32_t)((uint64_t)data % 16)'
mutation fan-unsorted-joints $file 'piece.place > run_begin &&' 'piece.place < run_begin &&'

# shellcheck shell=bash
# Mutations of the kernels of the GPU, on the simulator, in the words of tests/mutations.sh.
group rows "${isas%% *}" "test_gpu_rows --quick" "test_gpu_exact_rows --quick" test_gpu_rows \
    test_gpu_exact_rows test_gpu_extremes
file=kernels/rows/batch.h
mutation batch-joined $file \
    'return (row << panel->log_joined) + row_in_panel(panel, v);' \
    'return row + row_in_panel(panel, v);'
mutation batch-ends $file \
    '(n - row_in_panel(panel, v) + (1 << panel->log_joined) - 1) >> panel->log_joined;' \
    '(n + (1 << panel->log_joined) - 1) >> panel->log_joined;'
mutation batch-apart $file '(v < panel->mine ? v * apart : 0)' '(v < panel->mine ? v * TALLY_BYTES + 0 * apart : 0)'
mutation batch-behind $file \
    'if (is_full || batch->row + (b + 1) * batch->apart < leaf->ends[0]) at += step;' \
    'at += step;'
mutation batch-full $file 'apart < leaf->ends[TALLY_ACROSS - 1];' 'apart < leaf->ends[0];'
mutation batch-cut $file '!batch.is_full && is_cut(panel, leaf, &batch))' '0)'
mutation batch-second-input $file \
    'read_vectors(panel, leaf, &panel->y, batch' \
    'read_vectors(panel, leaf, &panel->x, batch'
file=kernels/rows/fold_leaf.h
mutation group-bits $file \
    '(int32_t)tally_reverse((uint32_t)(number * count), leaf->log_all)' \
    '(number * count % (1 << leaf->log_all))'
mutation group-halves $file '(&columns[c], &columns[c + half]);' '(&columns[c], &columns[c + 1]);'
mutation group-stripes $file '(&columns[b % group_columns], &lifted[b]);' '(&columns[0], &lifted[b]);'
mutation group-few $file 'TALLY_NAME(fold_group)(columns, are_few);' 'TALLY_NAME(fold_group)(columns, 0);'
mutation found-ties kernels/rows/found.h 'a.best.key == found.best.key ? a.where : identity2()' 'a.where'
mutation panel-joined-results kernels/rows/panel.h '|| row_in_panel(panel, v) > 0) return -1;' ') return -1;'
file=kernels/production/rows/columns.h
mutation columns-go-on $file 'nodes_of_subs(&panel, &leaf, begin + first,' 'nodes_of_subs(&panel, &leaf, first,'
mutation rows-counters kernels/order/nodes.h 'n, tally_next_pitch(n)}' 'n, n / TALLY_FAN}'
mutation columns-last-chunk src/cuda/rows.c 'tally__over(p->work.length, each) : 1' 'p->work.length / each + 0 : 1'
mutation columns-members $file 'left < each ? left : each);' 'left < each ? left : each - (chunk > 0));'
mutation columns-digits kernels/rows/node_trees.h \
    'bit++) all = merge(digits[bit], all);' \
    'bit++) all = merge(all, all);'
mutation columns-shares $file 'merge(node, shared->gathered[tally_thread() + step * width])' 'merge(node, node)'
file=kernels/rows/panel.h
mutation columns-places $file \
    'its.i += (lane - panel->lane) * (TALLY_ANY_ROWS ?' \
    'its.i += (lane - panel->lane) * (0 ?'
file=kernels/compensated/nodes.h
mutation decided-overflow $file 'if (!(a->marks & (seen_nan | seen_infinity))) return 0;' ';'
mutation root-of-near-values kernels/compensated/pair_results.h \
    '(least > 0) & tally_in_reach(low)' \
    'tally_in_reach(low)'
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
file=kernels/compensated/results.h
mutation interval-ends $file 'low == high &&' '(low == high || 1) &&'
mutation interval-minus-zero $file 'rest == 0 && slack == 0 ? interval_around(q, 0) : a' 'a'
mutation interval-zero-rest $file 'of.sum == 0 && of.rest == 0 && is_exact' 'of.sum == 0 && is_exact'
mutation short-sum-error $file \
    'const int32_t is_exact = s->sum.lost == 0 || s->terms <= 2;' \
    'const int32_t is_exact = 1;'
mutation short-product-error $file \
    'const int32_t are_exact = s->products.lost == 0 || (s->terms <= 2 && !TALLY_IS_F64);' \
    'const int32_t are_exact = 1;'
file=kernels/exact_rows/pair_sums.h
mutation short-special $file 'return most >= TALLY_SIZE_INFINITY;' 'return most > TALLY_SIZE_INFINITY;'
mutation short-small $file \
    'a->is_small |= tally_high_word(product) < least' \
    'a->is_small |= tally_high_word(product) < 0 * least'
mutation short-absent $file 'sums[v].absent++;' 'sums[v].absent += 0;'
file=kernels/exact_rows/lanes_row.h
mutation lanes-before $file 'before = most < n ? most : n;' 'before = most;'
mutation lanes-edges $file 'if (i < row->before + row->after) put_value' 'if (i < row->before) put_value'
mutation lanes-odds $file 'if (i != sub) read_odds(&odds, row, i, lanes);' ''
mutation lanes-there $file 'if (k < there) batch->x[k]' 'if (k <= there) batch->x[k]'
mutation lanes-anchor $file 'column_of_anchored(&to->anchored, to->anchor, to' 'column_of_anchored(&to->anchored, 0, to'
mutation lanes-batch $file 'has_anchor(&to->measured, log_batch,' 'has_anchor(&to->measured, -4,'
mutation lanes-ranged $file 'if (ranged_is_exact(&to->ranged, batch_quads * TALLY_PART))' 'if (1)'
mutation rows-rest kernels/order/leaf.h 'if (v < rest) parts' 'if (v < rest - 1) parts'
mutation lanes-parts $file 'is_last ? row->after : 0' 'row->after'
mutation lanes-anchored kernels/compensated/anchored.h \
    '#define TALLY_SPLIT_ANCHOR 0x1p45' \
    '#define TALLY_SPLIT_ANCHOR 0x1p60'
mutation measured-width kernels/compensated/anchored.h \
    'return width + 2 * log2_n + has_signs <= 53 + 52 + 1;' \
    'return width + 2 * log2_n + has_signs <= 53 + 52 + 12;'
mutation measured-minus-zero kernels/chunks/measured_chunk.h \
    ': a->products.sum; /* -0 stays -0 */' \
    ': 0;'
mutation narrow-width kernels/chunks/narrow_chunk.h \
    'width_of_sizes(y) + log_folded <= 53' \
    'width_of_sizes(y) + log_folded <= 60'
mutation measured-signs kernels/compensated/anchored.h 'has_signs = TALLY_KERNEL_INPUTS == 2' 'has_signs = 0'
mutation measured-second kernels/compensated/anchored.h \
    'if (TALLY_KERNEL_INPUTS == 2) put_in_sizes(' 'if (0) put_in_sizes('
file=kernels/exact_rows/row_results.h
mutation lanes-again $file 'k < tally_lane(); k++) left' 'k < tally_lane() - 1; k++) left'
mutation rows-again $file 'skip = tally_of_lane64(at, lane)' 'skip = at + 0 * lane'
file=kernels/production/rows/exact_lanes.h
mutation lanes-turn $file 'if (is_there && sub == turn) node' 'if (is_there && sub <= turn) node'
mutation lanes-left $file 'if (tally_any(mine >= 0))' 'if (0)'
file=kernels/production/rows/exact_parts.h
mutation parts-again $file 'if (shared->is_left) put_again' 'if (0) put_again'
mutation parts-power $file 'power_for(tally_warp_max(is_there ? shared->most[lane] : 0))' 'power_for(mine)'
mutation parts-joined $file \
    'sums = is_there ? shared->sums[lane] : no_sums();' \
    'sums = lane + 1 < TALLY_WARPS ? shared->sums[lane] : no_sums();'
mutation parts-skipped $file 'if (TALLY_MAY_SKIP) all.present = shared->present[lane];' ';'
mutation parts-last $file 'n = part == work.parts - 1 ? work.last_values : work.part_values;' 'n = work.part_values;'
mutation parts-unsure $file 'if (is_shared) note_unsure(&work, row, is_left);' 'if (0) note_unsure(&work, row, 0);'
mutation parts-closed $file 'if (is_shared && !close_part(&work, row, part, &node)) return;' 'if (part > 0) return;'
file=kernels/production/rows/left_rows.h
mutation left-rows-piece $file 'left < each ? left : each);' 'left > each ? left : each);'
mutation left-rows-many $file 'if (is_left) put_sums(' 'if (is_left && 0) put_sums('
mutation columns-left kernels/production/rows/columns.h 'work->left.unsure[i] = !is_put;' 'work->left.unsure[i] = 0;'
file=kernels/rows/exact_batch.h
mutation exact-batch-ranged $file 'ranged_is_exact(&to->ranged, batch_vectors)' '1'
mutation exact-batch-skipped $file 'present[v] += folded.present;' 'present[v] += 0;'
mutation stats-least kernels/compensated/nodes.h \
    'width_of(range) + 2 * log2_n <= 53 + 53' \
    'width_of(range) + 2 * log2_n <= 53 + 400'
file=kernels/production/rows/short_exact.h
mutation short-stored $file 'certain == ((uint32_t)1 << TALLY_ACROSS) - 1' 'certain != 0'
mutation short-there $file 'certain &= there;' ';'
mutation short-tail $file 'const int32_t is_there = first + k < length;' 'const int32_t is_there = first + k <= length;'
mutation short-again $file 'uint32_t most = 0;' 'uint32_t most = 1;'
mutation short-last-rows kernels/rows/short_rows.h \
    'return v * TALLY_THREADS < rows->count ? rows->first + v * TALLY_THREADS : -1;' \
    'return rows->first + v * TALLY_THREADS;'
file=kernels/production/rows/stripes.h
mutation stripes-place $file 'lift_partial(x[m], y[m], first + m)' 'lift_partial(x[m], y[m], m)'
mutation stripes-halves $file \
    'combine_partial(columns.of[k], columns.of[k + half])' \
    'combine_partial(columns.of[k], columns.of[k + 1])'

group gpu-whole "${isas%% *}" "test_gpu --quick" test_gpu test_gpu_nodes
mutation whole-row src/cuda/whole.c 'row = tally_rows(1, c->in.count, 1)' 'row = tally_rows(1, c->in.count - 1, 1)'
mutation extremes-no-value kernels/types/extremes.h '(TALLY_NAN == 1 ? 0x7fffffff : 0x7f800000)' '(0x7f800000)'
file=kernels/exact_sums/specials.h
mutation specials-seen $file 'if (!is_absent) tally_or32' 'if (!is_absent && v > 0) tally_or32'
mutation nans-noted $file 'if (of.most > TALLY_SIZE_INFINITY)' 'if (tally_lane() == 0 && of.most > TALLY_SIZE_INFINITY)'
mutation nans-infinities-alone $file 'if (tally_any(of.most == TALLY_SIZE_INFINITY)) return 0;' ';'
mutation nans-halves $file '* 0x10001) & 0x80008000;' '* 0x10001) & 0x8000;'
mutation specials-absent $file 'absent += is_absent;' 'absent += 0 * is_absent;'
file=kernels/exact_sums/exact_block.h
mutation specials-squares $file \
    'minus = (seen & (are_squares ? TALLY_SEEN_NAN : TALLY_SEEN_MINUS)) != 0;' \
    'minus = (seen & TALLY_SEEN_MINUS) != 0;'
mutation specials-left-out $file 'absent += clear_part(' 'absent += 0 * clear_part('
mutation zeros-sign $file \
    'tally_finite_evidence(1, tally_bits_f64(term_in_double(x)) < 0)' \
    'tally_finite_evidence(1, 0)'

group gpu-segments "${isas%% *}" "test_gpu_segments --quick" "test_gpu_grouped --quick" \
    "test_gpu_mixes --op var --type f32 --problems 100" test_gpu_segments test_gpu_grouped
file=kernels/production/segments/exact_tiles.h
mutation tiles-leaves $file 'if (lane > 0) node = nothing();' ''
mutation tiles-shorts $file ': many + tally_lanes_before(longs);' ': tally_lanes_before(longs);'
mutation tiles-from $file 'if (are_short && from > tile->shorts) from = tile->shorts;' ''
mutation tiles-unsure $file 'if (tally_any(s >= 0))' 'if (0)'
mutation tiles-end $file 'at > end || end > (uint32_t)tile->values' 'at > end'
mutation tiles-second $file 'put_leaves_of(&work, o.from.value + o.run_at[1], o.run_n[1], o.to_place);' ''
file=kernels/segments/tile_ends.h
mutation tile-ids-left $file \
    'i > begin && i < until ? here[i - 1] : segment - 1;' \
    'i > begin && i < until ? here[i - 1] : segment;'
mutation tile-ids-rest $file \
    's <= o->begun; s += TALLY_WARP) places[s] = o->values;' \
    's < o->begun; s += TALLY_WARP) places[s] = o->values;'
file=kernels/segments/own_segments.h
mutation tile-later-leaves $file \
    'const int64_t first = run == 0 ? o->from.leaf + leaf : leaf;' \
    'const int64_t first = leaf;'
mutation thread-few-most $file '(int32_t)n, few_most);' '(int32_t)n, 4);'
mutation ranged-digits kernels/compensated/ranged.h 'TALLY_BYTES == 4                   ? 24' 'TALLY_BYTES == 4 ? 12'
mutation largest-of-narrow kernels/compensated/width.h \
    'range_of_value((TALLY_V)x)' \
    'range_of_value((TALLY_V)(TALLY_T)x)'
file=kernels/chunks/partials.h
mutation partials-first-place kernels/chunks/chunk_places.h 'if (bit > 0) tally_set_bit' 'if (bit > 1) tally_set_bit'
mutation partials-crowded-begin $file 'first < last ? 0 : placed->from, placed->to' '0, placed->to'
mutation partials-by-warp $file 'placed->from - skip' 'placed->from'
mutation partials-invalid $file 'flags |= slice.flags;' ';'
mutation partials-later-leaves $file 'run ? k - before : k;' 'k;'
mutation partials-rank $file '(rank << log_lanes) & (TALLY_WARP - 1)' 'rank & (TALLY_WARP - 1)'
mutation partials-leaves $file 'mark_leaves(in->heads' '(void)sizeof(in->heads'
mutation partials-pool-begin $file 'in->pooled = 2;' 'in->pooled = 0;'
file=kernels/chunks/partial_chunks.h
mutation partials-crowded $file \
    '__builtin_popcount(heads) > last_partial)' \
    '__builtin_popcount(heads) > last_partial + 1)'
mutation partials-to-the-end $file 'is_end = to == chunk_values' 'is_end = to > chunk_values'
mutation partials-pool-end $file 'first + words <= pool_words' 'first <= pool_words'
mutation partials-wide-end $file 'its_wide ? 0 : last_partial' '0 * its_wide + last_partial'
file=kernels/compensated/anchored.h
mutation anchored-minus-zero $file 'TALLY_KERNEL_INPUTS == 2 ? -0.0 : 0;' '0;'
mutation measured-infinity $file 'tally_is_finite(level) ? squares.high : level' 'squares.high'
mutation inputs-alike kernels/shared/values.h \
    '((uint64_t)x ^ (uint64_t)y) % 16 == 0' '((uint64_t)x ^ (uint64_t)y) % 1 == 0'
mutation unlike-lanes kernels/shared/parts.h \
    'for (int32_t i = tally_lane() & (lanes - 1); i < n; i += lanes) put_value' \
    'for (int32_t i = tally_lane() & (lanes - 1); i < n; i += 32) put_value'
mutation bytes-beside kernels/shared/parts.h 'times = beside->w[w] & times * 0xff' 'times = beside->w[w]'
mutation partials-same-nan kernels/chunks/partial.h 'a.best = better_of(a.best, a.best);' ';'
mutation partials-ties kernels/chunks/partial.h 'const int32_t takes = is_better(b, a->best);' \
    'const int32_t takes = !is_better(a->best, b);'
file=kernels/segments/scaled_segments.h
mutation scaled-power $file ': -powers.x;' ': -powers.x / 2;'
mutation scaled-y $file \
    'powers = {power_of_size(most_x), power_of_size(most_y)}' \
    'powers = {power_of_size(most_x), power_of_size(most_x)}'
file=kernels/shared/thread_columns.h
mutation thread-rest $file 'if (rest != 0 && until > ROW' 'if (rest > 1 && until > ROW'
mutation thread-long-parts $file 'if (to > 0) {' 'if (to > 1) {'
file=kernels/production/segments/spans.h
mutation spans-groups $file \
    'found = {from.segment - 1, from.end - begin, leaf, from.place};' \
    'found = {from.segment - 1, from.end - begin, from.leaf, from.place};'
mutation spans-begin-behind $file \
    'has_behind = to.place >= 0 && to.end > to.value;' \
    'has_behind = to.place >= 0 && to.end > to.value + 1;'
mutation tile-reads-inside kernels/segments/open_tile.h \
    'o->values_come = TALLY_HAS_BULK && x_is_dense && tally_is_inside(&o->x) &&' \
    'o->values_come = TALLY_HAS_BULK && x_is_dense &&'
file=kernels/production/segments/partition.h
mutation lengths-behind kernels/partition/lengths.h \
    'if (i + e == partition->count - 1)' \
    'if (i + e == partition->count)'
mutation lengths-total $file 'is_bad = 1, before = work.partition.values;' 'before = work.partition.values;'

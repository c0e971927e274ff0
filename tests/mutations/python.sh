# shellcheck shell=bash
# Mutations of the Python extension, in the words of tests/mutations.sh.
group python "${isas%% *}" "pytest test_reduce.py test_segments.py" "pytest test_objects.py test_arrow.py"
file=python/src/arguments.c
mutation python-int-range $file 'if (beyond || *value < low || *value > high) {' 'if (beyond || *value < low) {'
mutation python-twice $file 'if (it->value[which]) {' 'if (false) {'
mutation python-eight-bytes $file 'if (!strcmp(word, "i8") || !strcmp(word, "u8")) return false;' ''
mutation python-and $file 'if (*op == TALLY_OP_END && !strcmp(name, "and_")) *op = TALLY_AND;' ''
file=python/src/segments.c
mutation python-broadcast $file 'return it->strides[axis] == 0 && it->shape[axis] > 1;' 'return false;'
mutation python-largest-id $file \
    'first = sorted && ids->count ? ids->count - 1 : 0;' \
    'first = ids->count ? ids->count - 1 : 0;'
mutation python-axis $file '(axis < 0 ? axis + in->axes : axis)' '(axis < 0 ? 0 : axis)'
mutation python-later-calls $file 'if (++index[k] < shape->shape[k]) break;' 'if (++index[k] <= shape->shape[k]) break;'
mutation python-two-widths $file 'if (starts->type != ends->type &&' 'if (starts->type > ends->type &&'
mutation python-packed python/src/array.c \
    'k-- > 0; step *= it->shape[k]) it->strides[k] = step;' \
    'k-- > 0; step *= it->shape[0]) it->strides[k] = step;'

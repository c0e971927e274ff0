/* 027 merge_lists: sorted lists become one.
 *
 * Idea. The next value of the merged list is the minimum of the lists' heads: a reduction of (value, list), for each
 *   value. The list that wins moves on; a list that is empty drops out.
 * Source. Cook, merge_array5 and figure 6.12.
 * Requires. One block with a thread for each list, so at most 1024 lists: the text has MAX_NUM_LISTS of them, and its
 *   num_lists has to be a power of two. Value k of list l is input k * lists + l, as in the text. Values of any type,
 *   in ascending order in each list; floats are ordered as IEEE 754 totalOrder.
 * Steps. For each value: every thread looks at the head of its list; a tree of halves; thread 0 writes the winner and
 *   moves its list on.
 * Work. n * (lists - 1) comparisons, n * log2(lists) barriers, by one multiprocessor: a sort by merging takes fewer.
 *   The winner's value is written from shared memory, as in the text. It is here for the idea.
 * Changed. An empty list says that it is empty. The text lets it hold 0xFFFFFFFF, which is a value too, and no end for
 *   other types. Lists are padded to a power of two with empty ones; the text loses lists otherwise
 *   (gallery/pages/errata.md). Lists need not have the same length.
 * Predict. For each value of the result all lists are compared. How much work is that, beside a sort?
 * Answer. n times the number of lists, where a tree of heads would need its logarithm.
 * Why. One multiprocessor, and a tree with its barriers for every single value.
 * In short. a tree for each value
 * Next. This is the last of them. The exercises have ten kernels with a mistake each. */
#include "gallery/kernels/contract.h"

/* The head of a list. */
typedef struct head_t {
    TALLY_T value;
    int32_t list; /* INT32_MAX: empty */
} head_t;
TALLY_FN int32_t comes_first(head_t a, head_t b) {
    return a.list != INT32_MAX && (b.list == INT32_MAX || order_key(a.value) < order_key(b.value));
}

TALLY_KERNEL_OF(merge_lists) {
    TALLY_SHARED_ARRAY(head_t, TALLY_MOST_LISTS, heads);
    TALLY_SHARED_ARRAY(int32_t, TALLY_MOST_LISTS, taken);
    int32_t t = tally_thread(), lists = work.run;
    const TALLY_T *values = (const TALLY_T *)(const void *)work.x;
    TALLY_WRITE(taken[t], 0);
    for (int64_t n = 0; n < work.count; n++) {
        int64_t at = (int64_t)TALLY_READ(taken[t]) * lists + t;
        head_t head = {0, INT32_MAX};
        tally_step(0);
        if (tally_branch(t < lists && at < work.count)) {
            head.value = TALLY_READ(values[at]);
            head.list = t;
        }
        TALLY_WRITE(heads[t], head);
        tally_barrier();
        for (int32_t half = tally_threads() / 2; half > 0; half /= 2) {
            tally_step(half);
            if (tally_branch(t < half)) {
                head_t mine = TALLY_READ(heads[t]), other = TALLY_READ(heads[t + half]);
                if (tally_branch(comes_first(other, mine))) TALLY_WRITE(heads[t], other);
            }
            tally_barrier();
        }
        if (t == 0) {
            head = TALLY_READ(heads[0]);
            TALLY_WRITE(((TALLY_T *)(void *)work.nodes)[n], head.value);
            TALLY_WRITE(taken[head.list], TALLY_READ(taken[head.list]) + 1);
        }
        tally_barrier();
    }
}

#include "sums_checks.h"

#include <math.h>

const tally_op single[SINGLE] = {TALLY_SUM, TALLY_MEAN, TALLY_NORM1, TALLY_SUMSQ, TALLY_NORM2, TALLY_VAR, TALLY_STD};
int64_t cases;

void expect_double(double got, double wanted, const char *what) {
    bool same = isnan(got) ? isnan(wanted) : got == wanted && signbit(got) == signbit(wanted);
    EXPECT(same, "%s, data %s: got %a, the truth is %a", what, now.data, got, wanted);
    cases++;
}

double read_result(tally_type type, const void *result) { return (double)number_at(type, result, 0); }

/* One operator of one array, into every float type. */
void check_operator(truth *t, tally_context *context, tally_op op, tally_array x, tally_array y, int ddof) {
    now.op = op;
    for (tally_type out = TALLY_F16; out <= TALLY_F64; out++) {
        char result[8];
        tally_status status, wanted = TALLY_OK;
        if (t->n == 0 && (op == TALLY_MEAN || op == TALLY_VAR || op == TALLY_STD)) wanted = TALLY_EMPTY;
        status = op == TALLY_DOT ? tally_reduce_pair(context, op, x, y, tally_out(result, out, 1))
                                 : tally_reduce(context, op, x, tally_out(result, out, 1));
        EXPECT(status == wanted, "status %s: %s", tally_status_name(status), tally_message());
        expect_double(read_result(out, result), truth_of(t, op, ddof, format_of(out)), tally_type_name(out));
    }
}

void expect_stats(truth *t, const tally_stats *stats, tally_type type, int ddof) {
    const format *narrow = format_of(type == TALLY_F64 ? TALLY_F64 : TALLY_F32), *wide = format_of(TALLY_F64);
    bool empty = t->n == 0;
    EXPECT(stats->count == t->n, "count %lld", (long long)stats->count);
    expect_double(stats->sum.f, truth_of(t, TALLY_SUM, 0, narrow), "sum");
    expect_double(stats->mean, truth_of(t, TALLY_MEAN, 0, wide), "mean");
    expect_double(stats->var, truth_of(t, TALLY_VAR, ddof, wide), "var");
    expect_double(stats->min.f, t->nan || empty ? NAN : t->least, "min");
    expect_double(stats->max.f, t->nan || empty ? NAN : t->greatest, "max");
}
void check_stats(truth *t, tally_context *context, tally_array x, int ddof) {
    tally_stats stats;
    if (t->n == 0) return;
    now.op = TALLY_STATS;
    EXPECT_OK(tally_reduce(context, TALLY_STATS, x, (tally_output){&stats, TALLY_NATURAL, 1, 0}));
    expect_stats(t, &stats, x.type, ddof);
}

#include "indicators_gpu/step/statistics.h"

#include <stdlib.h>

#include "indicators_gpu/stream/visit.h"

void visit_row_stddev(void *state, const struct indicator_stream_fields *fields)
{
    struct step_stddev *s = state;
    visit_ring(fields, &s->ring, (double *)(s + 1));
}

void visit_row_var(void *state, const struct indicator_stream_fields *fields)
{
    struct step_var *s = state;
    visit_ring(fields, &s->ring, (double *)(s + 1));
}

void visit_row_linreg_slope(void *state, const struct indicator_stream_fields *fields)
{
    struct step_linreg_slope *s = state;
    visit_ring(fields, &s->ring, (double *)(s + 1));
}

void visit_row_linreg_angle(void *state, const struct indicator_stream_fields *fields)
{
    struct step_linreg_angle *s = state;
    visit_ring(fields, &s->ring, (double *)(s + 1));
}

void visit_row_log_return(void *state, const struct indicator_stream_fields *fields)
{
    struct step_log_return *s = state;
    visit_ring(fields, &s->ring, (double *)(s + 1));
}

void visit_row_zscore(void *state, const struct indicator_stream_fields *fields)
{
    struct step_zscore *s = state;
    visit_ring(fields, &s->ring, (double *)(s + 1));
}

void visit_row_rank(void *state, const struct indicator_stream_fields *fields)
{
    struct step_rank *s = state;
    visit_ring(fields, &s->ring, (double *)(s + 1));
}

/* A number as an integer of the same order, so that any bits can be sorted, NaN's too. */
static uint64_t order_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = order_of(*(const double *)a), y = order_of(*(const double *)b);
    return (x > y) - (x < y);
}

/* The sorted values follow from the window's. */
void visit_row_quantile(void *state, const struct indicator_stream_fields *fields)
{
    struct step_quantile *s = state;
    double *cells = (double *)(s + 1), *sorted = cells + s->ring.length;
    visit_ring(fields, &s->ring, cells);
    memcpy(sorted, cells, s->ring.seen * sizeof(double));
    qsort(sorted, s->ring.seen, sizeof(double), compare_numbers);
}

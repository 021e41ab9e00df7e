/* Highest and lowest values of windows, by ladders (window.h): exact. Included once for each type of value:
 * EXTREMES_OF is the type, EXTREMES(name) what its functions are called. */
#include "indicators_gpu/fast/window.h"

/* at[s][i] is the extreme of the 2^s bars that end at bar i. */
struct EXTREMES(rungs) {
    size_t top;
    EXTREMES_OF *at[LADDER_STEPS];
};

static inline void EXTREMES(pairs)(const EXTREMES_OF *a, const EXTREMES_OF *b, size_t n, bool highest,
                                   EXTREMES_OF *restrict y)
{
    if (highest)
        for (size_t i = 0; i < n; i++)
            y[i] = a[i] > b[i] ? a[i] : b[i];
    else
        for (size_t i = 0; i < n; i++)
            y[i] = a[i] < b[i] ? a[i] : b[i];
}

/* Takes the next n values of a series. */
static inline void EXTREMES(climb)(void *state, struct ladder *l, const EXTREMES_OF *x, size_t n,
                                   bool highest, struct EXTREMES(rungs) * r)
{
    r->top = l->top;
    for (size_t s = 0; s <= l->top; s++)
        r->at[s] = past_next(state, &l->step[s], n * sizeof(EXTREMES_OF));
    memcpy(r->at[0], x, n * sizeof(EXTREMES_OF));
    for (size_t s = 0; s < r->top; s++)
        EXTREMES(pairs)(r->at[s], r->at[s] - ((size_t)1 << s), n, highest, r->at[s + 1]);
}

/* Extremes of `period` bars, in `scratch` or in the ladder: two steps that may overlap. */
static inline const EXTREMES_OF *EXTREMES(of)(const struct EXTREMES(rungs) * r, size_t period, size_t n,
                                              bool highest, EXTREMES_OF *scratch)
{
    size_t s = window_log2(period), rest = period - ((size_t)1 << s);
    if (rest == 0)
        return r->at[s];
    EXTREMES(pairs)(r->at[s], r->at[s] - rest, n, highest, scratch);
    return scratch;
}

#undef EXTREMES
#undef EXTREMES_OF

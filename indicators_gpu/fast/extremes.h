/* Highest and lowest values of windows, by ladders (window.h): exact. The first steps, up to the lanes of a
 * vector, are made in registers. Included once for each type of value:
 *   EXTREMES(name)       the names of its functions
 *   EXTREMES_OF          the type
 *   EXTREMES_VEC         its vector, with EXTREMES_N lanes, 2^EXTREMES_LOG
 *   EXTREMES_LANES(f)    f(0), f(1)… of these
 *   EXTREMES_MAX, _MIN   of two vectors */
#include "indicators_gpu/fast/wide.h"
#include "indicators_gpu/fast/window.h"

struct EXTREMES(ladder) {
    size_t base, top; /* the kept steps have 2^base to 2^top bars */
    struct past step[LADDER_STEPS];
};

/* For windows of `shortest` to `longest` bars. */
static inline size_t EXTREMES(layout)(struct EXTREMES(ladder) * l, size_t used, size_t shortest,
                                      size_t longest)
{
    size_t base = window_log2(shortest);
    l->base = base < EXTREMES_LOG ? base : EXTREMES_LOG;
    l->top = window_log2(longest);
    for (size_t s = l->base; s <= l->top; s++)
        used = past_layout(&l->step[s], used, (size_t)1 << s, sizeof(EXTREMES_OF));
    return used;
}

/* at[s][i] is the extreme of the 2^s bars that end at bar i. */
struct EXTREMES(rungs) {
    const EXTREMES_OF *at[LADDER_STEPS];
};

/* With the lanes of the second moved up by 1, 2, 4 or 8 and the first's last ones before them. */
#define EXTREMES_UP(j, by) (EXTREMES_N - (by) + (j))
#define EXTREMES_UP_1(j)   EXTREMES_UP(j, 1)
#define EXTREMES_UP_2(j)   EXTREMES_UP(j, 2)
#define EXTREMES_UP_4(j)   EXTREMES_UP(j, 4)
#define EXTREMES_UP_8(j)   EXTREMES_UP(j, 8)
#define EXTREMES_STEP(m, up) \
    { \
        EXTREMES_VEC moved = __builtin_shufflevector(before[m], v, EXTREMES_LANES(up)); \
        before[m] = v; \
        v = highest ? EXTREMES_MAX(v, moved) : EXTREMES_MIN(v, moved); \
    }

/* Windows of 2^steps <= EXTREMES_N bars; x has EXTREMES_N more values before. */
static inline void EXTREMES(first)(const EXTREMES_OF *x, size_t n, size_t steps, bool highest,
                                   EXTREMES_OF *restrict y)
{
    typedef EXTREMES_VEC any __attribute__((may_alias, aligned(sizeof(EXTREMES_OF))));
    EXTREMES_VEC before[4] = {{0}}; /* its lanes that come from before the vector before x are not used */
    (void)steps;
    x -= EXTREMES_N;
    y -= EXTREMES_N;
    for (size_t i = 0; i < n + EXTREMES_N; i += EXTREMES_N) {
        EXTREMES_VEC v = *(const any *)(x + i);
        EXTREMES_STEP(0, EXTREMES_UP_1)
#if EXTREMES_LOG > 1
        if (steps > 1)
            EXTREMES_STEP(1, EXTREMES_UP_2)
#endif
#if EXTREMES_LOG > 2
        if (steps > 2)
            EXTREMES_STEP(2, EXTREMES_UP_4)
#endif
#if EXTREMES_LOG > 3
        if (steps > 3)
            EXTREMES_STEP(3, EXTREMES_UP_8)
#endif
        if (i > 0)
            *(any *)(y + i) = v;
    }
}

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

/* Takes the next n values of a series, of which EXTREMES_N more stand before. */
static inline void EXTREMES(climb)(void *state, struct EXTREMES(ladder) * l, const EXTREMES_OF *x, size_t n,
                                   bool highest, struct EXTREMES(rungs) * r)
{
    r->at[0] = x;
    for (size_t s = l->base; s <= l->top; s++) {
        if (s == 0)
            continue;
        EXTREMES_OF *next = past_next(state, &l->step[s], n * sizeof(EXTREMES_OF));
        r->at[s] = next;
        if (s > l->base)
            EXTREMES(pairs)(r->at[s - 1], r->at[s - 1] - ((size_t)1 << (s - 1)), n, highest, next);
        else if (s == 1)
            EXTREMES(first)(x, n, 1, highest, next);
        else if (s == 2)
            EXTREMES(first)(x, n, 2, highest, next);
        else if (s == 3)
            EXTREMES(first)(x, n, 3, highest, next);
        else
            EXTREMES(first)(x, n, 4, highest, next);
    }
}

/* Two windows that together are the last `period` bars, and may overlap. */
struct EXTREMES(two) {
    const EXTREMES_OF *newer, *older;
};

static inline struct EXTREMES(two) EXTREMES(of)(const struct EXTREMES(rungs) * r, size_t period)
{
    size_t s = window_log2(period), rest = period - ((size_t)1 << s);
    return (struct EXTREMES(two)){r->at[s], r->at[s] - rest};
}

static inline EXTREMES_OF EXTREMES(highest)(struct EXTREMES(two) two, size_t i)
{
    return two.newer[i] > two.older[i] ? two.newer[i] : two.older[i];
}

static inline EXTREMES_OF EXTREMES(lowest)(struct EXTREMES(two) two, size_t i)
{
    return two.newer[i] < two.older[i] ? two.newer[i] : two.older[i];
}

#undef EXTREMES_UP
#undef EXTREMES_UP_1
#undef EXTREMES_UP_2
#undef EXTREMES_UP_4
#undef EXTREMES_UP_8
#undef EXTREMES_STEP
#undef EXTREMES
#undef EXTREMES_OF
#undef EXTREMES_VEC
#undef EXTREMES_N
#undef EXTREMES_LOG
#undef EXTREMES_LANES
#undef EXTREMES_MAX
#undef EXTREMES_MIN

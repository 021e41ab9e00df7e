#include "daemon/feed/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS_A_DOUBLING = 4, FIRST_US = 250 };

static void clear_slice(struct measure *measure, int at)
{
    measure->messages[at] = measure->bad[at] = 0;
    memset(measure->bins[at], 0, sizeof measure->bins[at]);
}

/* The slice of `now_ms`; the slices in between are emptied. */
static int advance(struct measure *measure, int64_t now_ms)
{
    int64_t slice = now_ms / MEASURE_SLICE_MS;
    int64_t passed = slice - measure->slice;
    for (int64_t i = 1; i <= passed && i <= MEASURE_SLICES; i++)
        clear_slice(measure, (int)((measure->slice + i) % MEASURE_SLICES));
    if (passed >= MEASURE_SLICES) /* any slice may have been the newest */
        for (int i = 0; i < MEASURE_SLICES; i++)
            clear_slice(measure, i);
    if (passed > 0)
        measure->slice = slice;
    return (int)(measure->slice % MEASURE_SLICES);
}

static int bin_of(int64_t us)
{
    static const int64_t quarters[BINS_A_DOUBLING] = {1000, 1189, 1414, 1682}; /* 2^(i/4) */
    int64_t base = FIRST_US;
    int bin = 0;
    while (bin + BINS_A_DOUBLING < MEASURE_BINS && us >= 2 * base) {
        base *= 2;
        bin += BINS_A_DOUBLING;
    }
    int quarter = BINS_A_DOUBLING - 1;
    while (quarter > 0 && us * 1000 < base * quarters[quarter])
        quarter--;
    return bin + quarter;
}

/* A full bin halves all of them: their proportions stay. */
static void halve(struct measure *measure)
{
    for (int slice = 0; slice < MEASURE_SLICES; slice++)
        for (int bin = 0; bin < MEASURE_BINS; bin++)
            measure->bins[slice][bin] /= 2;
}

#define APART_NS INT64_C(1000000000)
#define AHEAD_NS \
    INT64_C(250000000) /* the moment of a message may be so far ahead of a clock that is right \
                        */

int64_t feed_measure_late_us(int64_t venue_ns, int64_t wall_ns, int64_t event_ns)
{
    int64_t late_ns = venue_ns - event_ns, other_ns = wall_ns - event_ns;
    bool apart = llabs(late_ns - other_ns) >= APART_NS;
    if (apart && other_ns > -AHEAD_NS && (late_ns <= -AHEAD_NS || other_ns < late_ns))
        late_ns = other_ns;
    return late_ns > 0 ? late_ns / 1000 : 0;
}

void feed_measure_message(struct measure *measure, int64_t now_ms, int64_t latency_us)
{
    int at = advance(measure, now_ms);
    if (measure->began_ms == 0)
        measure->began_ms = now_ms;
    measure->messages[at]++;
    if (latency_us < 0)
        return;
    uint16_t *bin = &measure->bins[at][bin_of(latency_us)];
    if (*bin == UINT16_MAX)
        halve(measure);
    ++*bin;
}

void feed_measure_bad(struct measure *measure, int64_t now_ms)
{
    int at = advance(measure, now_ms);
    if (measure->began_ms == 0)
        measure->began_ms = now_ms;
    measure->bad[at]++;
}

/* The middle of a bin, in milliseconds. */
static double middle_of(int bin)
{
    return FIRST_US / 1000.0 * exp2((bin + 0.5) / BINS_A_DOUBLING);
}

static double percentile(const uint64_t sums[static MEASURE_BINS], uint64_t n, double share)
{
    uint64_t wanted = (uint64_t)ceil((double)n * share), before = 0;
    int bin = 0;
    while (bin < MEASURE_BINS - 1 && before + sums[bin] < wanted)
        before += sums[bin++];
    return middle_of(bin);
}

void feed_measure_look(struct measure *measure, int64_t now_ms, struct measured *ret)
{
    uint64_t sums[MEASURE_BINS] = {0}, n = 0;
    advance(measure, now_ms);
    *ret = (struct measured){0};
    if (measure->began_ms == 0)
        return;
    for (int slice = 0; slice < MEASURE_SLICES; slice++) {
        ret->messages += measure->messages[slice];
        ret->bad += measure->bad[slice];
        for (int bin = 0; bin < MEASURE_BINS; bin++) {
            sums[bin] += measure->bins[slice][bin];
            n += measure->bins[slice][bin];
        }
    }
    int64_t kept = now_ms % MEASURE_SLICE_MS + (MEASURE_SLICES - 1) * MEASURE_SLICE_MS;
    int64_t since = now_ms - measure->began_ms;
    int64_t span = since < kept ? since : kept;
    ret->per_second = (double)ret->messages * 1000 / (double)(span < 1000 ? 1000 : span);
    ret->have_latency = n > 0;
    if (n == 0)
        return;
    ret->latency_p50_ms = percentile(sums, n, 0.5);
    ret->latency_p99_ms = percentile(sums, n, 0.99);
}

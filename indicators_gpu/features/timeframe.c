#include "exchange/fail.h"
#include "indicators_gpu/features/group.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Finds the first bar without a NaN, bars->n if there is none; later ones, and infinities, are refused. */
static int find_first(int64_t seconds, const struct feature_bars *bars, size_t *ret, char *err,
                      size_t err_cap)
{
    static const char *const names[] = {"open", "high", "low", "close", "volume"};
    const struct indicator_columns *in = &bars->columns;
    const double *const columns[] = {in->open, in->high, in->low, in->close, in->volume};
    size_t first = bars->n;
    for (size_t i = 0; i < bars->n; i++) {
        bool complete = true;
        for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
            double value = columns[c][i];
            if (isinf(value) || (isnan(value) && first < i))
                return fail_with(-EINVAL, err, err_cap,
                                 "bar %zu of the column %s is not finite: a timeframe of %" PRId64
                                 " s needs it",
                                 i, names[c], seconds);
            complete = complete && !isnan(value);
        }
        if (complete && first == bars->n)
            first = i;
    }
    *ret = first;
    return 0;
}

static int check_bars(int64_t seconds, const struct feature_bars *bars, char *err, size_t err_cap)
{
    const struct indicator_columns *in = &bars->columns;
    if (bars->interval_s <= 0 || seconds % bars->interval_s != 0 || seconds == bars->interval_s)
        return fail_with(-EINVAL, err, err_cap,
                         "a timeframe of %" PRId64 " s: the bars' interval is %" PRId64
                         " s: a multiple of it is needed",
                         seconds, bars->interval_s);
    if (bars->n > 0 && (!in->open || !in->high || !in->low || !in->close || !in->volume || !in->time))
        return fail_with(-EINVAL, err, err_cap,
                         "a timeframe of %" PRId64 " s needs all six columns, time among them", seconds);
    for (size_t i = 0; i < bars->n; i++)
        if (!(fabs(in->time[i]) < 0x1p53) || in->time[i] != floor(in->time[i]) ||
            (i > 0 && in->time[i] < in->time[i - 1] + (double)bars->interval_s))
            return fail_with(
                -EINVAL, err, err_cap,
                "time of bar %zu is %.17g: whole seconds, an interval or more after the bar before, are "
                "needed",
                i, in->time[i]);
    return 0;
}

/* The interval since 1970 that a time lies in. */
static int64_t bucket_of(double time, int64_t seconds)
{
    int64_t t = (int64_t)time;
    return (t - ((t % seconds) + seconds) % seconds) / seconds;
}

int feature_timeframe_build(int64_t seconds, const struct feature_bars *bars, struct feature_timeframe *ret,
                            char *err, size_t err_cap)
{
    const struct indicator_columns *in = &bars->columns;
    size_t first;
    int r = check_bars(seconds, bars, err, err_cap);
    if (r == 0)
        r = find_first(seconds, bars, &first, err, err_cap);
    if (r < 0)
        return r;
    size_t cap = bars->n + 1; /* no more higher bars than bars */
    struct feature_timeframe frame = {.seconds = seconds};
    frame.cells = malloc(INDICATOR_COLUMNS * cap * sizeof(*frame.cells));
    frame.closed = malloc(cap * sizeof(*frame.closed));
    if (!frame.cells || !frame.closed) {
        feature_timeframe_finish(&frame);
        return -ENOMEM;
    }
    double *open = frame.cells, *high = open + cap, *low = high + cap, *close = low + cap,
           *volume = close + cap, *time = volume + cap;
    frame.columns = (struct indicator_columns){open, high, low, close, volume, time};

    int64_t bucket = 0;
    bool forming = false, whole = false; /* a higher bar is forming; its first bar was there */
    size_t n = 0;
    for (size_t i = 0; i < first; i++)
        frame.closed[i] = 0;
    for (size_t i = first; i < bars->n; i++) {
        int64_t now = bucket_of(in->time[i], seconds);
        if (forming && now != bucket) { /* its last bar is missing: this bar closes it */
            n += whole;
            forming = false;
        }
        if (!forming) {
            bucket = now;
            forming = true;
            whole = i > first || (int64_t)in->time[i] == bucket * seconds;
            open[n] = in->open[i];
            high[n] = in->high[i];
            low[n] = in->low[i];
            volume[n] = 0.0;
            time[n] = (double)(bucket * seconds);
        }
        high[n] = in->high[i] > high[n] ? in->high[i] : high[n];
        low[n] = in->low[i] < low[n] ? in->low[i] : low[n];
        close[n] = in->close[i];
        volume[n] += in->volume[i];
        if ((int64_t)in->time[i] + bars->interval_s >= (bucket + 1) * seconds) {
            n += whole;
            forming = false;
        }
        frame.closed[i] = (uint32_t)n;
    }
    frame.n = n;
    *ret = frame;
    return 0;
}

void feature_timeframe_finish(struct feature_timeframe *frame)
{
    free(frame->cells);
    free(frame->closed);
    *frame = (struct feature_timeframe){0};
}

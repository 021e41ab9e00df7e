#include "indicators_gpu/registry.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/stream/classes.h"

/* The first output stands where the window, or the seed, is full. */
static size_t lookback_window(const double options[])
{
    return (size_t)options[0] - 1;
}

/* One bar more for those that look at changes from bar to bar. */
static size_t lookback_changes(const double options[])
{
    return (size_t)options[0];
}

static size_t lookback_macd(const double options[])
{
    double slow = options[0] > options[1] ? options[0] : options[1];
    return (size_t)slow + (size_t)options[2] - 2;
}

#define PERIOD(option_name, default_value) \
    { \
        .name = (option_name), .value = (default_value), .min = 1, .max = INDICATOR_PERIOD_MAX, \
        .whole = true \
    }

/* Sorted by name. */
static const struct indicator rows[] = {
    {
        .name = "atr",
        .summary = "Average true range (Wilder)",
        .inputs = INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE,
        .n_options = 1,
        .options = {PERIOD("period", 14)},
        .n_outputs = 1,
        .outputs = {""},
        .lookback = lookback_changes,
        .reference = reference_atr,
        .stream = &stream_atr,
        .kernel = INDICATOR_KERNEL_ATR,
    },
    {
        .name = "ema",
        .summary = "Exponential moving average, seeded with a simple one",
        .inputs = INDICATOR_CLOSE,
        .n_options = 1,
        .options = {PERIOD("period", 30)},
        .n_outputs = 1,
        .outputs = {""},
        .lookback = lookback_window,
        .reference = reference_ema,
        .stream = &stream_ema,
        .kernel = INDICATOR_KERNEL_EMA,
    },
    {
        .name = "macd",
        .summary = "Moving average convergence and divergence",
        .inputs = INDICATOR_CLOSE,
        .n_options = 3,
        .options = {PERIOD("fast", 12), PERIOD("slow", 26), PERIOD("signal", 9)},
        .n_outputs = 3,
        .outputs = {"macd", "signal", "hist"},
        .lookback = lookback_macd,
        .reference = reference_macd,
        .stream = &stream_macd,
        .kernel = INDICATOR_KERNEL_MACD,
    },
    {
        .name = "rsi",
        .summary = "Relative strength index (Wilder)",
        .inputs = INDICATOR_CLOSE,
        .n_options = 1,
        .options = {PERIOD("period", 14)},
        .n_outputs = 1,
        .outputs = {""},
        .lookback = lookback_changes,
        .reference = reference_rsi,
        .stream = &stream_rsi,
        .kernel = INDICATOR_KERNEL_RSI,
    },
    {
        .name = "sma",
        .summary = "Simple moving average",
        .inputs = INDICATOR_CLOSE,
        .n_options = 1,
        .options = {PERIOD("period", 30)},
        .n_outputs = 1,
        .outputs = {""},
        .lookback = lookback_window,
        .reference = reference_sma,
        .stream = &stream_sma,
        .kernel = INDICATOR_KERNEL_SMA,
    },
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

const struct indicator *indicator_rows(size_t *ret_n)
{
    *ret_n = N_ROWS;
    return rows;
}

const struct indicator *indicator_find(const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcasecmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

size_t indicator_lookback(const struct indicator_spec *spec)
{
    return spec->row->lookback(spec->options);
}

/* The columns that the row reads, packed. Returns their number, or 0 when one is missing. */
static size_t needed(const struct indicator *row, const struct indicator_columns *in,
                     const double *ret[INDICATOR_COLUMNS])
{
    const double *all[INDICATOR_COLUMNS] = {in->open, in->high, in->low, in->close, in->volume};
    size_t n = 0;
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        if (!(row->inputs & 1u << c))
            continue;
        if (!all[c])
            return 0;
        ret[n++] = all[c];
    }
    return n;
}

int indicator_check(const struct indicator *row, const struct indicator_columns *in, size_t n,
                    size_t *ret_start, size_t *ret_bad)
{
    const double *columns[INDICATOR_COLUMNS];
    size_t n_columns = n > 0 ? needed(row, in, columns) : 0, start = n;

    for (size_t i = 0; i < n; i++) {
        bool has_nan = false, has_infinity = false;
        for (size_t c = 0; c < n_columns; c++) {
            has_nan |= isnan(columns[c][i]);
            has_infinity |= isinf(columns[c][i]);
        }
        if (has_infinity || (has_nan && start < n)) {
            *ret_bad = i;
            return -EINVAL;
        }
        if (!has_nan && start == n)
            start = i;
    }
    *ret_start = start;
    return 0;
}

int indicator_reference(const struct indicator_spec *spec, const struct indicator_columns *in, size_t n,
                        double *const out[])
{
    const struct indicator *row = spec->row;
    const double *columns[INDICATOR_COLUMNS];
    size_t start, bad, lookback = indicator_lookback(spec);

    if (n > 0 && needed(row, in, columns) == 0)
        return -EINVAL;
    int r = indicator_check(row, in, n, &start, &bad);
    if (r < 0)
        return r;

    bool any = n - start > lookback;
    size_t first = any ? start + lookback : n;
    double *from_start[INDICATOR_OUTPUTS_MAX] = {NULL};
    for (size_t k = 0; k < row->n_outputs; k++) {
        for (size_t i = 0; i < first; i++)
            out[k][i] = NAN;
        from_start[k] = any ? out[k] + start : NULL;
    }
    if (any) {
        struct indicator_columns shifted = {
            .open = in->open ? in->open + start : NULL,
            .high = in->high ? in->high + start : NULL,
            .low = in->low ? in->low + start : NULL,
            .close = in->close ? in->close + start : NULL,
            .volume = in->volume ? in->volume + start : NULL,
        };
        row->reference(spec->options, &shifted, n - start, from_start);
    }
    return 0;
}

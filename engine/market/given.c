#include "engine/market/given.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/market/grid.h"
#include "engine/market/symbols.h"
#include "exchange/bars_gaps.h"
#include "exchange/bars_number.h"
#include "exchange/clock.h"
#include "exchange/fail.h"

enum { COLUMNS = 5, COLUMN_VOLUME = 4 };

static const char *const column_names[COLUMNS] = {"open", "high", "low", "close", "volume"};

struct market_given {
    struct market_source source;
    size_t cap;
    bool repair;
};

int market_store_given_create(const char *symbol, bool repair, struct market_given **ret,
                              char err[static MARKET_ERROR_MAX])
{
    struct market_given *given = calloc(1, sizeof *given);
    if (!given)
        return fail_with(-ENOMEM, err, MARKET_ERROR_MAX, "out of memory");
    struct bars_file *bars = &given->source.bars;
    if (bars_file_symbol(NULL, symbol, bars->symbol) < 0) {
        free(given);
        return fail_with(-EINVAL, err, MARKET_ERROR_MAX, "symbol: \"%.40s\": a name of 1 to %d letters",
                         symbol, SYMBOL_NAME_MAX - 1);
    }
    for (char *c = bars->symbol; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    snprintf(given->source.origin, sizeof given->source.origin, "%s", bars->symbol);
    given->repair = repair;
    *ret = given;
    return 0;
}

void market_store_given_destroy(struct market_given *given)
{
    if (!given)
        return;
    market_store_sources_finish(&given->source, 1);
    free(given);
}

size_t market_store_given_bars(const struct market_given *given)
{
    return given->source.bars.n;
}

static int fail_at(const struct market_given *given, const char *what, int64_t open_ns, const char *right,
                   char err[static MARKET_ERROR_MAX])
{
    char when[CLOCK_TEXT_MAX];
    return fail_with(-EINVAL, err, MARKET_ERROR_MAX, "%s: %s: bar %zu, %s: %s", what, given->source.origin,
                     given->source.bars.n + 1, clock_utc_text(open_ns, when), right);
}

static int check_time(const struct market_given *given, int64_t open_ns, char err[static MARKET_ERROR_MAX])
{
    const struct bars_file *bars = &given->source.bars;
    char right[96], before[CLOCK_TEXT_MAX];
    if (bars->n == 0 || open_ns > bars->open_time_ns[bars->n - 1])
        return 0;
    if (open_ns == bars->open_time_ns[bars->n - 1])
        return fail_at(given, "time does not rise", open_ns, "one row a bar, not two of one time", err);
    snprintf(right, sizeof right, "it comes after %s: rows in the order of their time",
             clock_utc_text(bars->open_time_ns[bars->n - 1], before));
    return fail_at(given, "time does not rise", open_ns, right, err);
}

static int check_numbers(const struct market_given *given, const double values[COLUMNS], int64_t open_ns,
                         char err[static MARKET_ERROR_MAX])
{
    char right[64];
    for (int c = 0; c < COLUMNS; c++)
        if (!isfinite(values[c])) {
            snprintf(right, sizeof right, "a finite number as %s, not %g", column_names[c], values[c]);
            return fail_at(given, "bad number", open_ns, right, err);
        }
    return 0;
}

static void take(struct market_given *given, int64_t open_ns, const double values[COLUMNS])
{
    struct bars_file *bars = &given->source.bars;
    double *const to[COLUMNS] = {bars->open, bars->high, bars->low, bars->close, bars->volume};
    for (int c = 0; c < COLUMNS; c++) {
        to[c][bars->n] = values[c];
        bars_number_digits(values[c], c == COLUMN_VOLUME ? &bars->volume_digits : &bars->price_digits);
    }
    if (given->repair)
        bars->repaired +=
            bars_widen(bars->open[bars->n], &bars->high[bars->n], &bars->low[bars->n], bars->close[bars->n]);
    bars->session[bars->n] = BAR_SESSION_NONE;
    bars->open_time_ns[bars->n++] = open_ns;
}

int market_store_given_add(struct market_given *given, const struct market_given_columns *columns, size_t n,
                           char err[static MARKET_ERROR_MAX])
{
    struct bars_file *bars = &given->source.bars;
    for (size_t i = 0; i < n; i++) {
        const double values[COLUMNS] = {columns->open[i], columns->high[i], columns->low[i],
                                        columns->close[i], columns->volume[i]};
        int r = check_time(given, columns->open_ns[i], err);
        if (r == 0)
            r = check_numbers(given, values, columns->open_ns[i], err);
        if (r < 0)
            return r;
        if (bars->n == given->cap && !bars_file_grow(bars, &given->cap))
            return fail_with(-ENOMEM, err, MARKET_ERROR_MAX, "out of memory: %s: fewer bars",
                             given->source.origin);
        take(given, columns->open_ns[i], values);
    }
    return 0;
}

int market_store_given_load(struct market_given *given, const struct market_options *options,
                            struct market **ret, char err[static MARKET_ERROR_MAX])
{
    struct market_source *source = &given->source;
    if (source->bars.n == 0)
        return fail_with(-EINVAL, err, MARKET_ERROR_MAX, "no bars: %s: at least one bar", source->origin);
    bars_file_forget_none(&source->bars);
    int r = bars_file_set_interval(&source->bars, bars_gaps_interval(&source->bars));
    if (r == -ENOMEM)
        return fail_with(r, err, MARKET_ERROR_MAX, "out of memory: %s: fewer bars", source->origin);
    r = market_store_symbols(source, 1, options->exchange_info, &options->terms, err);
    return r < 0 ? r : market_store_build(source, 1, options, ret, err);
}

#include "engine/backtest/universe.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"

/* A symbol's bars without missing ones, owned. */
struct columns {
    struct engine_universe_bars bars;
    int64_t *open_ns;
    double *close, *traded, *price;
};

struct picking {
    const struct market *market;
    const struct engine_universe_rule *rule;
    struct backtest_universe *ret;
    double (*measures)[UNIVERSE_MEASURES]; /* [n_times * n_symbols] */
    size_t cap;
};

static void columns_finish(struct columns *columns)
{
    free(columns->open_ns);
    free(columns->close);
    free(columns->traded);
    free(columns->price);
}

/* New shares of one that there was first, at a row. */
static double shares_at(const struct backtest_action *actions, size_t n_actions, int symbol, int64_t end_ns,
                        size_t *next, double shares)
{
    for (; *next < n_actions && actions[*next].at_ns < end_ns; ++*next)
        if (actions[*next].symbol == symbol && actions[*next].action.kind == ACTION_SPLIT)
            shares *= (double)actions[*next].action.shares / (double)actions[*next].action.per;
    return shares;
}

static int columns_make(const struct market *market, const struct backtest_action *actions, size_t n_actions,
                        int symbol, struct columns *ret)
{
    const struct market_series *series = &market->series[symbol];
    const size_t rows = series->last >= series->first ? series->last - series->first + 1 : 0;
    struct columns columns = {.open_ns = calloc(rows + 1, sizeof(int64_t)),
                              .close = calloc(rows + 1, sizeof(double)),
                              .traded = calloc(rows + 1, sizeof(double)),
                              .price = calloc(rows + 1, sizeof(double))};
    double shares = 1;
    size_t n = 0, next = 0;
    if (!columns.open_ns || !columns.close || !columns.traded || !columns.price) {
        columns_finish(&columns);
        return -ENOMEM;
    }
    for (size_t row = series->first; row <= series->last && row < market->rows; row++) {
        if (!market_present(series, row))
            continue;
        shares = shares_at(actions, n_actions, symbol, market_open_ns(market, row + 1), &next, shares);
        columns.open_ns[n] = market_open_ns(market, row);
        columns.price[n] = series->close[row];
        columns.close[n] = shares * series->close[row];
        columns.traded[n] = series->close[row] * series->volume[row];
        n++;
    }
    columns.bars = (struct engine_universe_bars){.n = n,
                                                 .interval_ns = market->interval_ns,
                                                 .open_ns = columns.open_ns,
                                                 .close = columns.close,
                                                 .traded = columns.traded,
                                                 .price = columns.price};
    *ret = columns;
    return 0;
}

static void note_highest(struct picking *picking, int symbol, const double *measures)
{
    const struct engine_universe_rule *rule = picking->rule;
    const double value = measures[engine_universe_first(rule)];
    if (isnan(value) || value <= picking->ret->highest)
        return;
    picking->ret->highest = value;
    picking->ret->highest_symbol = symbol;
}

static int measure_symbol(struct picking *picking, const struct backtest_action *actions, size_t n_actions,
                          int symbol)
{
    const struct backtest_universe *ret = picking->ret;
    struct columns columns;
    int r = columns_make(picking->market, actions, n_actions, symbol, &columns);
    for (size_t t = 0, n = 0; r == 0 && t < ret->n_times; t++) {
        double *to = picking->measures[t * (size_t)picking->market->n_symbols + (size_t)symbol];
        while (n < columns.bars.n && columns.open_ns[n] + picking->market->interval_ns <= ret->times[t])
            n++;
        engine_universe_measure(picking->rule, &columns.bars, n, ret->times[t], to);
        note_highest(picking, symbol, to);
    }
    if (r == 0)
        columns_finish(&columns);
    return r;
}

static int find_times(struct picking *picking, char err[static UNIVERSE_ERROR_MAX])
{
    const struct market *market = picking->market;
    struct engine_universe_rule rule = *picking->rule;
    struct backtest_universe *ret = picking->ret;
    const int64_t end_ns = market_open_ns(market, market->rows);
    if (rule.every_ns < market->interval_ns) {
        snprintf(err, UNIVERSE_ERROR_MAX,
                 "its times come more often than the bars: every D of at least one bar is needed");
        return -EINVAL;
    }
    int64_t at_ns = engine_universe_next(&rule, market->start_ns - 1);
    const size_t most = at_ns <= end_ns ? (size_t)((end_ns - at_ns) / rule.every_ns) + 1 : 0;
    ret->times = calloc(most + 1, sizeof *ret->times);
    ret->in = calloc(most + 1, sizeof *ret->in);
    if (!ret->times || !ret->in) {
        snprintf(err, UNIVERSE_ERROR_MAX, "out of memory");
        return -ENOMEM;
    }
    for (; ret->n_times < most; at_ns += rule.every_ns)
        ret->times[ret->n_times++] = at_ns;
    return 0;
}

static int push(struct picking *picking, int64_t at_ns, int symbol, bool in)
{
    struct backtest_universe *ret = picking->ret;
    if (ret->n == picking->cap) {
        size_t cap = picking->cap ? 2 * picking->cap : 256;
        struct backtest_membership *moved = reallocarray(ret->changes, cap, sizeof *moved);
        if (!moved)
            return -ENOMEM;
        ret->changes = moved;
        picking->cap = cap;
    }
    ret->changes[ret->n++] = (struct backtest_membership){at_ns, symbol, in};
    return 0;
}

static int pick(struct picking *picking)
{
    const size_t n = (size_t)picking->market->n_symbols;
    struct backtest_universe *ret = picking->ret;
    bool *in = calloc(2 * n, sizeof *in), *before = in ? in + n : NULL;
    size_t *order = calloc(n, sizeof *order);
    int r = in && order ? 0 : -ENOMEM;
    for (size_t t = 0; t < ret->n_times && r == 0; t++) {
        const double(*of)[UNIVERSE_MEASURES] =
            (const double(*)[UNIVERSE_MEASURES]) & picking->measures[t * n];
        ret->in[t] = engine_universe_pick(picking->rule, of, n, in, order);
        for (size_t s = 0; s < n && r == 0; s++)
            if (in[s] != before[s])
                r = push(picking, ret->times[t], (int)s, in[s]);
        memcpy(before, in, n * sizeof *in);
    }
    free(in);
    free(order);
    return r;
}

int backtest_universe_make(const struct market *market, const struct backtest_action *actions,
                           size_t n_actions, const struct engine_universe_rule *rule,
                           struct backtest_universe *ret, char err[static UNIVERSE_ERROR_MAX])
{
    struct backtest_universe made = {.rule = *rule, .highest = -INFINITY};
    struct picking picking = {.market = market, .rule = rule, .ret = &made};
    int r = find_times(&picking, err);
    if (r == 0) {
        picking.measures = calloc(made.n_times * (size_t)market->n_symbols + 1, sizeof *picking.measures);
        r = picking.measures ? 0 : -ENOMEM;
        for (int s = 0; s < market->n_symbols && r == 0; s++)
            r = measure_symbol(&picking, actions, n_actions, s);
        r = r < 0 ? r : pick(&picking);
        if (r < 0)
            snprintf(err, UNIVERSE_ERROR_MAX, "out of memory");
    }
    free(picking.measures);
    made.highest = isinf(made.highest) && made.highest < 0 ? NAN : made.highest;
    if (r == 0)
        *ret = made;
    else
        backtest_universe_finish(&made);
    return r;
}

void backtest_universe_finish(struct backtest_universe *universe)
{
    free(universe->changes);
    free(universe->times);
    free(universe->in);
    *universe = (struct backtest_universe){0};
}

void backtest_universe_until(const struct backtest_universe *universe, int64_t ns, size_t *next, bool *in)
{
    for (; *next < universe->n && universe->changes[*next].at_ns <= ns; ++*next)
        in[universe->changes[*next].symbol] = universe->changes[*next].in;
}

struct backtest_universe_sums backtest_universe_sum(const struct backtest_universe *universe, int64_t from_ns,
                                                    int64_t to_ns)
{
    struct backtest_universe_sums sums = {0};
    for (size_t t = 0; t < universe->n_times; t++) {
        const bool next_is_before = t + 1 < universe->n_times && universe->times[t + 1] <= from_ns;
        if (next_is_before || universe->times[t] >= to_ns)
            continue;
        sums.times++;
        sums.empty += universe->in[t] == 0;
        sums.mean += (double)universe->in[t];
    }
    sums.mean = sums.times > 0 ? sums.mean / (double)sums.times : NAN;
    return sums;
}

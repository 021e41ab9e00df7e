/* Markets for the backtest's tests, made in memory: seeded walks on the tick, with gaps. */
#ifndef TESTS_ENGINE_SYNTHETIC_MARKET_H
#define TESTS_ENGINE_SYNTHETIC_MARKET_H

#include <string.h>

#include "engine/market/market.h"
#include "exchange/decimal.h"
#include "exchange/trading_calendar.h"
#include "tests/check.h"
#include "tests/random.h"

#define MADE_START_NS (INT64_C(1723161600) * 1000000000) /* 2024-08-09 00:00:00 */

enum { MADE_SYMBOLS_MAX = 8, MADE_DAYS_MAX = 512 };

struct synthetic_market {
    struct market market;
    struct market_series series[MADE_SYMBOLS_MAX];
    double *columns[MADE_SYMBOLS_MAX][5]; /* open, high, low, close, volume */
    uint64_t *present[MADE_SYMBOLS_MAX];
};

/* How a walk goes. */
struct made_walk {
    int gaps_permille;   /* of bars that begin a gap */
    int gap_longest;     /* in bars */
    int steps;           /* ticks that a price moves in a step, at most; a bar has four */
    int64_t start, tick; /* of prices, E8 */
    int64_t step;        /* of quantities, E8 */
    int late_permille;   /* of rows, before a symbol's first bar */
};

/* Of a coin at 60000, with gaps. */
static const struct made_walk made_coin = {.gaps_permille = 5,
                                           .gap_longest = 9,
                                           .steps = 4000,
                                           .start = INT64_C(6000000000000),
                                           .tick = 1000000,
                                           .step = 1000,
                                           .late_permille = 200};

static inline struct symbol made_symbol(int index, const struct made_walk *walk)
{
    struct symbol symbol = {.price_scale = 8,
                            .qty_scale = 8,
                            .quote_scale = 8,
                            .trading = true,
                            .filters = {.price_min = walk->tick,
                                        .price_max = INT64_C(100000000000000),
                                        .tick = walk->tick,
                                        .qty_min = walk->step,
                                        .qty_max = INT64_C(900000000000),
                                        .step = walk->step,
                                        .notional_min = INT64_C(500000000),
                                        .notional_min_market = true,
                                        .bid_up_e4 = 50000,
                                        .bid_down_e4 = 2000,
                                        .ask_up_e4 = 50000,
                                        .ask_down_e4 = 2000,
                                        .orders_max = 200}};
    snprintf(symbol.name, sizeof symbol.name, "C%dUSDT", index);
    snprintf(symbol.base, sizeof symbol.base, "C%d", index);
    snprintf(symbol.quote, sizeof symbol.quote, "USDT");
    return symbol;
}

static inline int64_t made_step(struct random *random, const struct made_walk *walk, int64_t price)
{
    price += random_between(random, -walk->steps, walk->steps) * walk->tick;
    return price < walk->tick ? walk->tick : price;
}

static inline void made_bar(struct synthetic_market *made, struct random *random,
                            const struct made_walk *walk, int symbol, size_t row, int64_t *price)
{
    int64_t open = made_step(random, walk, *price), low = open, high = open;
    *price = open;
    for (int i = 0; i < 3; i++) {
        *price = made_step(random, walk, *price);
        low = *price < low ? *price : low;
        high = *price > high ? *price : high;
    }
    double *const *column = made->columns[symbol];
    column[0][row] = decimal_to_double(open, 8);
    column[1][row] = decimal_to_double(high, 8);
    column[2][row] = decimal_to_double(low, 8);
    column[3][row] = decimal_to_double(*price, 8);
    column[4][row] = decimal_to_double(random_between(random, 1, INT64_C(100000000000)), 8);
    made->present[symbol][row / 64] |= UINT64_C(1) << row % 64;
}

/* A missing bar repeats the close before it; before the first bar, its open. */
static inline void made_gaps(struct synthetic_market *made, int symbol)
{
    struct market_series *series = &made->series[symbol];
    double *const *column = made->columns[symbol];
    size_t rows = made->market.rows, row = 0;
    while (row < rows && !market_present(series, row))
        row++;
    series->first = row;
    double last = column[0][row];
    for (row = 0; row < rows; row++) {
        if (market_present(series, row)) {
            last = column[3][row];
            series->last = row;
            continue;
        }
        for (int k = 0; k < 4; k++)
            column[k][row] = last;
        series->missing += row > series->first;
    }
    series->missing -= rows - 1 - series->last;
}

static inline void made_open(struct synthetic_market *made, struct random *random,
                             const struct made_walk *walk, int n_symbols, size_t rows, int64_t interval_ns)
{
    memset(made, 0, sizeof *made);
    made->market = (struct market){.n_symbols = n_symbols,
                                   .rows = rows,
                                   .start_ns = MADE_START_NS,
                                   .interval_ns = interval_ns,
                                   .series = made->series};
    for (int s = 0; s < n_symbols; s++) {
        struct market_series *series = &made->series[s];
        for (int k = 0; k < 5; k++)
            made->columns[s][k] = aligned_alloc(64, (rows * sizeof(double) + 63) / 64 * 64);
        made->present[s] = calloc((rows + 63) / 64, sizeof(uint64_t));
        *series = (struct market_series){.symbol = made_symbol(s, walk),
                                         .open = made->columns[s][0],
                                         .high = made->columns[s][1],
                                         .low = made->columns[s][2],
                                         .close = made->columns[s][3],
                                         .volume = made->columns[s][4],
                                         .present = made->present[s]};
        memset(made->columns[s][4], 0, rows * sizeof(double));
        int64_t price = walk->start;
        size_t row = 0;
        if (s > 0 && walk->late_permille > 0)
            row = (size_t)random_between(random, 0, (int64_t)rows * walk->late_permille / 1000);
        for (size_t gap = 0; row < rows; row++) {
            if (gap == 0 && random_between(random, 0, 999) < walk->gaps_permille)
                gap = (size_t)random_between(random, 1, walk->gap_longest);
            if (gap > 0 && row + 1 < rows)
                gap--;
            else
                made_bar(made, random, walk, s, row, &price);
        }
        made_gaps(made, s);
    }
}

/* Days of random lengths with nights between, over all rows, on the grid or all off it; two may meet, and one
 * may end in the middle of a bar. */
struct made_calendar {
    struct trading_calendar calendar;
    struct trading_day days[MADE_DAYS_MAX];
};

static inline void made_calendar(struct made_calendar *made, struct random *random,
                                 const struct market *market)
{
    const int64_t step_ns = market->interval_ns, end_ns = market_open_ns(market, market->rows);
    const int64_t longest = random_between(random, 4, 300),
                  shift_ns = random_chance(random, 30) ? 7000000000 : 0;
    int64_t ns = market->start_ns - step_ns * random_between(random, 0, longest) + shift_ns;
    memset(made, 0, sizeof *made);
    snprintf(made->calendar.name, sizeof made->calendar.name, "made");
    made->calendar.from_ns = ns - step_ns;
    size_t n = 0;
    for (; n < MADE_DAYS_MAX && (ns < end_ns + 2 * longest * step_ns); n++) {
        struct trading_day *day = &made->days[n];
        if (shift_ns == 0) /* on the grid again */
            ns += ((market->start_ns - ns) % step_ns + step_ns) % step_ns;
        day->early_ns = ns;
        day->open_ns = day->early_ns + step_ns * random_between(random, 0, 9);
        day->close_ns = day->open_ns + step_ns * random_between(random, 1, longest);
        if (random_chance(random, 30))
            day->close_ns -= step_ns / 3;
        day->late_ns = day->close_ns + step_ns * random_between(random, 0, 9);
        ns = day->late_ns + step_ns * random_between(random, 0, random_chance(random, 10) ? 0 : longest);
    }
    made->calendar.days = made->days;
    made->calendar.n = n;
    made->calendar.to_ns = ns + step_ns;
}

/* Bars of one symbol that are not in the calendar's regular sessions are missing; its last one stays. False:
 * the sessions have none. */
static inline bool made_session(struct synthetic_market *made, int symbol,
                                const struct trading_calendar *calendar)
{
    struct market_series *series = &made->series[symbol];
    size_t left = 0;
    for (size_t row = 0; row < made->market.rows; row++) {
        int64_t open_ns = market_open_ns(&made->market, row), begin_ns, end_ns;
        trading_bar_span(calendar, made->market.interval_ns, open_ns, &begin_ns, &end_ns);
        if (begin_ns != open_ns)
            end_ns = open_ns + made->market.interval_ns;
        if (trading_session_of(calendar, open_ns, end_ns) != BAR_SESSION_REGULAR) {
            made->present[symbol][row / 64] &= ~(UINT64_C(1) << row % 64);
            made->columns[symbol][4][row] = 0;
        }
        left += market_present(series, row);
    }
    snprintf(series->symbol.calendar, sizeof series->symbol.calendar, "%s", calendar->name);
    series->missing = 0;
    if (left > 0)
        made_gaps(made, symbol);
    return left > 0;
}

static inline void made_close(struct synthetic_market *made)
{
    for (int s = 0; s < made->market.n_symbols; s++) {
        for (int k = 0; k < 5; k++)
            free(made->columns[s][k]);
        free(made->present[s]);
    }
    memset(made, 0, sizeof *made);
}

#endif

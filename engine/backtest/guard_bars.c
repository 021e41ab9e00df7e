#include "engine/backtest/guard_bars.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"
#include "exchange/replay/chance.h"

enum { COLUMNS = 5, BEYOND = 64, MADE_SYMBOLS_MAX = 8 };
enum { OPEN, HIGH, LOW, CLOSE, VOLUME };

static const int64_t MADE_START_NS = INT64_C(1704067200) * 1000000000; /* 2024-01-01 */

static struct chance chance_of(uint64_t seed, int symbol)
{
    struct chance chance = {seed};
    for (int i = 0; i <= symbol; i++)
        chance.state = chance_next(&chance);
    return chance;
}

static double draw_between(struct chance *chance, double low, double high)
{
    return low + (high - low) * chance_unit(chance);
}

/* Cells of a column: whole cache lines. */
static size_t room_of(size_t rows)
{
    return (rows + BEYOND + 7) / 8 * 8;
}

static bool allocate(struct guard_bars *bars, int n_symbols, size_t rows)
{
    size_t room = room_of(rows), words = rows / 64 + 1, n = (size_t)n_symbols;
    *bars = (struct guard_bars){
        .series = calloc(n, sizeof *bars->series),
        .columns = aligned_alloc(64, n * COLUMNS * room * sizeof(double)),
        .present = calloc(n * words, sizeof(uint64_t)),
    };
    if (!bars->series || !bars->columns || !bars->present) {
        backtest_guard_bars_finish(bars);
        return false;
    }
    bars->market = (struct market){.n_symbols = n_symbols,
                                   .rows = rows,
                                   .series = bars->series,
                                   .bytes = n * (COLUMNS * room * sizeof(double) + words * sizeof(uint64_t))};
    for (size_t s = 0; s < n; s++) {
        double *at = bars->columns + s * COLUMNS * room;
        struct market_series *series = &bars->series[s];
        series->open = at;
        series->high = at + room;
        series->low = at + 2 * room;
        series->close = at + 3 * room;
        series->volume = at + 4 * room;
        series->present = bars->present + s * words;
        for (size_t c = 0; c < COLUMNS; c++)
            for (size_t i = rows; i < room; i++)
                at[c * room + i] = NAN;
    }
    return true;
}

static double *column_of(const struct guard_bars *bars, int symbol, int column)
{
    size_t room = room_of(bars->market.rows);
    return bars->columns + ((size_t)symbol * COLUMNS + (size_t)column) * room;
}

static void mark(struct guard_bars *bars, int symbol, size_t row)
{
    size_t words = bars->market.rows / 64 + 1;
    bars->present[(size_t)symbol * words + row / 64] |= UINT64_C(1) << row % 64;
}

static void fill_row(const struct guard_bars *bars, int symbol, size_t row, double price)
{
    for (int c = OPEN; c <= CLOSE; c++)
        column_of(bars, symbol, c)[row] = price;
    column_of(bars, symbol, VOLUME)[row] = 0;
}

/* Finds first, last and missing, and the prices of the rows before the first bar. */
static void settle(struct guard_bars *bars, int symbol)
{
    struct market_series *series = &bars->series[symbol];
    size_t rows = bars->market.rows, first = 0, there = 0;
    while (first < rows && !market_present(series, first))
        first++;
    series->first = series->last = first < rows ? first : 0;
    for (size_t i = first; i < rows; i++)
        if (market_present(series, i)) {
            series->last = i;
            there++;
        }
    series->missing = there ? series->last - series->first + 1 - there : 0;
    for (size_t i = 0; i < first && first < rows; i++)
        fill_row(bars, symbol, i, series->open[first]);
}

int backtest_guard_bars_copy(const struct market *market, size_t from, size_t to, struct guard_bars *ret)
{
    struct guard_bars bars;
    if (!allocate(&bars, market->n_symbols, to - from))
        return -ENOMEM;
    bars.market.start_ns = market->start_ns + (int64_t)from * market->interval_ns;
    bars.market.interval_ns = market->interval_ns;
    for (int s = 0; s < market->n_symbols; s++) {
        const struct market_series *of = &market->series[s];
        const double *const columns[COLUMNS] = {of->open, of->high, of->low, of->close, of->volume};
        bars.series[s].symbol = of->symbol;
        bars.series[s].session = of->session ? of->session + from : NULL;
        for (int c = 0; c < COLUMNS; c++)
            memcpy(column_of(&bars, s, c), columns[c] + from, (to - from) * sizeof(double));
        for (size_t i = from; i < to; i++)
            if (market_present(of, i))
                mark(&bars, s, i - from);
        settle(&bars, s);
    }
    *ret = bars;
    return 0;
}

/* The nearest price that the venue would take. */
static double on_tick(const struct symbol *symbol, double price)
{
    int64_t units, tick = symbol->filters.tick > 0 ? symbol->filters.tick : 1;
    if (decimal_from_double(price, symbol->price_scale, &units) < 0 || units > INT64_MAX / 2)
        units = tick;
    units = (units + tick / 2) / tick * tick;
    return decimal_to_double(units > tick ? units : tick, symbol->price_scale);
}

static double on_step(const struct symbol *symbol, double qty)
{
    int64_t units;
    return decimal_from_double(qty, symbol->qty_scale, &units) < 0
               ? 0
               : decimal_to_double(units, symbol->qty_scale);
}

static void set_bar(struct guard_bars *bars, int symbol, size_t row, const double bar[COLUMNS])
{
    const struct symbol *listed = &bars->series[symbol].symbol;
    double o = on_tick(listed, bar[OPEN]), c = on_tick(listed, bar[CLOSE]);
    double h = on_tick(listed, bar[HIGH]), l = on_tick(listed, bar[LOW]);
    column_of(bars, symbol, OPEN)[row] = o;
    column_of(bars, symbol, HIGH)[row] = fmax(h, fmax(o, c));
    column_of(bars, symbol, LOW)[row] = fmin(l, fmin(o, c));
    column_of(bars, symbol, CLOSE)[row] = c;
    column_of(bars, symbol, VOLUME)[row] = on_step(listed, bar[VOLUME]);
}

void backtest_guard_bars_perturb(struct guard_bars *bars, size_t from, uint64_t seed)
{
    for (int s = 0; s < bars->market.n_symbols; s++) {
        const struct market_series *series = &bars->series[s];
        struct chance chance = chance_of(seed ^ from, s);
        bool up = chance_below(&chance, 2) == 1;
        double factor = up ? draw_between(&chance, 1.05, 1.25) : draw_between(&chance, 0.8, 0.95);
        for (size_t i = from; i < bars->market.rows; i++) {
            if (!market_present(series, i)) {
                fill_row(bars, s, i, i > 0 ? series->close[i - 1] : series->close[i]);
                continue;
            }
            double next = factor * draw_between(&chance, 0.985, 1.015);
            double wide = draw_between(&chance, 0, 0.01);
            double bar[COLUMNS] = {[OPEN] = series->open[i] * factor,
                                   [HIGH] = series->high[i] * fmax(factor, next) * (1 + wide),
                                   [LOW] = series->low[i] * fmin(factor, next) * (1 - wide),
                                   [CLOSE] = series->close[i] * next,
                                   [VOLUME] = series->volume[i] * draw_between(&chance, 0.2, 3)};
            set_bar(bars, s, i, bar);
            factor = next;
        }
        settle(bars, s);
    }
}

static struct symbol made_symbol(int index)
{
    static const char *const bases[MADE_SYMBOLS_MAX] = {"BTC", "ETH", "BNB", "SOL",
                                                        "XRP", "ADA", "DOT", "LTC"};
    const int64_t e8 = 100000000;
    struct symbol symbol = {
        .quote = "USDT", .price_scale = 8, .qty_scale = 8, .quote_scale = 8, .trading = true};
    snprintf(symbol.name, sizeof symbol.name, "%sUSDT", bases[index]);
    snprintf(symbol.base, sizeof symbol.base, "%s", bases[index]);
    symbol.filters = (struct symbol_filters){.price_min = e8 / 100,
                                             .price_max = 1000000 * e8,
                                             .tick = e8 / 100,
                                             .qty_min = e8 / 100000,
                                             .qty_max = 9000 * e8,
                                             .step = e8 / 100000,
                                             .notional_min = 5 * e8,
                                             .notional_min_market = true};
    return symbol;
}

static void make_series(struct guard_bars *bars, int symbol, uint64_t seed)
{
    enum { MOOD_BARS = 240, MISSING_OF = 2000 };
    struct chance chance = chance_of(seed, symbol);
    double price = symbol == 0 ? 42000 : 2300.0 / symbol, drift = 0, spread = 0.001;
    for (size_t i = 0; i < bars->market.rows; i++) {
        if (i % MOOD_BARS == 0) {
            spread = draw_between(&chance, 0.0005, 0.004);
            drift = spread * draw_between(&chance, -0.25, 0.25);
        }
        if (i > 0 && chance_below(&chance, MISSING_OF) == 0) {
            fill_row(bars, symbol, i, bars->series[symbol].close[i - 1]);
            continue;
        }
        /* The sum of three draws is roughly a bell curve. */
        double step =
            drift + spread * (chance_unit(&chance) + chance_unit(&chance) + chance_unit(&chance) - 1.5);
        double close = price * exp(step), wick = spread * chance_unit(&chance);
        double bar[COLUMNS] = {[OPEN] = price,
                               [HIGH] = fmax(price, close) * (1 + wick),
                               [LOW] = fmin(price, close) * (1 - spread * chance_unit(&chance)),
                               [CLOSE] = close,
                               [VOLUME] = draw_between(&chance, 1, 50)};
        set_bar(bars, symbol, i, bar);
        mark(bars, symbol, i);
        price = bars->series[symbol].close[i];
    }
    settle(bars, symbol);
}

int backtest_guard_bars_make(uint64_t seed, int n_symbols, size_t rows, int64_t interval_ns,
                             struct guard_bars *ret)
{
    struct guard_bars bars;
    if (!allocate(&bars, n_symbols, rows))
        return -ENOMEM;
    bars.market.start_ns = MADE_START_NS;
    bars.market.interval_ns = interval_ns;
    for (int s = 0; s < n_symbols; s++) {
        bars.series[s].symbol = made_symbol(s);
        make_series(&bars, s, seed);
    }
    *ret = bars;
    return 0;
}

int backtest_guard_calendar_move(const struct trading_calendar *calendar, int64_t ns,
                                 struct guard_calendar *ret)
{
    struct guard_calendar moved = {.calendar = *calendar,
                                   .days = malloc((calendar->n + 1) * sizeof *moved.days)};
    if (!moved.days)
        return -ENOMEM;
    for (size_t i = 0; i < calendar->n; i++) {
        const struct trading_day *day = &calendar->days[i];
        moved.days[i] = (struct trading_day){day->early_ns + ns, day->open_ns + ns, day->close_ns + ns,
                                             day->late_ns + ns};
    }
    moved.calendar.days = moved.days;
    moved.calendar.from_ns += ns;
    moved.calendar.to_ns += ns;
    *ret = moved;
    return 0;
}

void backtest_guard_calendar_finish(struct guard_calendar *moved)
{
    free(moved->days);
    *moved = (struct guard_calendar){0};
}

struct backtest_action *backtest_guard_actions_move(const struct backtest_action *actions, size_t n,
                                                    int64_t ns)
{
    struct backtest_action *moved = malloc((n + 1) * sizeof *moved);
    for (size_t i = 0; moved && i < n; i++) {
        moved[i] = actions[i];
        moved[i].at_ns += ns;
        moved[i].action.ex_ns += ns;
        moved[i].action.pay_ns += moved[i].action.pay_ns > 0 ? ns : 0;
    }
    return moved;
}

void backtest_guard_bars_finish(struct guard_bars *bars)
{
    free(bars->series);
    free(bars->columns);
    free(bars->present);
    *bars = (struct guard_bars){0};
}

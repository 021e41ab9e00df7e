/* The columns that the sets read: each distinct one once. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/screen/internal.h"

/* ---- which there are ---- */

static uint64_t hash_of(const struct screen_column *c)
{
    uint64_t hash = (uint64_t)c->kind;
    for (int k = 0; k < 3; k++)
        hash = (hash ^ c->options[k]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash >> 20;
}

static bool same(const struct screen_column *a, const struct screen_column *b)
{
    return a->kind == b->kind && memcmp(a->options, b->options, sizeof a->options) == 0;
}

static uint32_t first_of(const struct screen_column *c)
{
    switch (c->kind) {
    case COLUMN_SMA:
    case COLUMN_EMA:
        return c->options[0] - 1;
    case COLUMN_HIST:
        return c->options[1] + c->options[2] - 2;
    default:
        return c->options[0];
    }
}

static struct indicator_spec spec_of(const struct screen_column *c)
{
    static const char *const names[] = {"sma", "ema", "rsi", "macd", "atr"};
    struct indicator_spec spec = {.row = indicator_find(names[c->kind])};
    for (int k = 0; k < (c->kind == COLUMN_HIST ? 3 : 1); k++)
        spec.options[k] = c->options[k];
    return spec;
}

/* The place in the table that has the column, or would. */
static size_t place_of(const struct screen_columns *columns, const struct screen_column *column)
{
    size_t at = hash_of(column) & (columns->size - 1);
    while (columns->table[at] != 0 && !same(&columns->columns[columns->table[at] - 1], column))
        at = (at + 1) & (columns->size - 1);
    return at;
}

static int grow(struct screen_columns *columns)
{
    size_t cap = columns->cap ? 2 * columns->cap : 256;
    void *a = realloc(columns->columns, cap * sizeof *columns->columns);
    columns->columns = a ? a : columns->columns;
    void *b = realloc(columns->specs, cap * sizeof *columns->specs);
    columns->specs = b ? b : columns->specs;
    void *c = realloc(columns->first, cap * sizeof *columns->first);
    columns->first = c ? c : columns->first;
    uint32_t *table = calloc(4 * cap, sizeof *table);
    if (!a || !b || !c || !table) {
        free(table);
        return -ENOMEM;
    }
    free(columns->table);
    columns->table = table;
    columns->size = 4 * cap;
    columns->cap = cap;
    for (size_t i = 0; i < columns->n; i++)
        table[place_of(columns, &columns->columns[i])] = (uint32_t)i + 1;
    return 0;
}

int backtest_screen_column(struct screen_columns *columns, const struct screen_column *column, uint32_t *ret)
{
    if (columns->n == columns->cap && grow(columns) < 0)
        return -ENOMEM;
    size_t at = place_of(columns, column);
    if (columns->table[at] == 0) {
        columns->columns[columns->n] = *column;
        columns->specs[columns->n] = spec_of(column);
        columns->first[columns->n] = first_of(column);
        columns->table[at] = (uint32_t)++columns->n;
    }
    *ret = columns->table[at] - 1;
    return 0;
}

struct placed {
    struct screen_column column;
    uint32_t was;
};

static int by_column(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->column.kind != y->column.kind)
        return x->column.kind < y->column.kind ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (x->column.options[k] != y->column.options[k])
            return x->column.options[k] < y->column.options[k] ? -1 : 1;
    return 0;
}

int backtest_screen_columns_sort(struct screen_columns *columns, uint32_t *ret_place)
{
    struct placed *placed = malloc((columns->n + 1) * sizeof *placed);
    if (!placed)
        return -ENOMEM;
    for (size_t i = 0; i < columns->n; i++)
        placed[i] = (struct placed){columns->columns[i], (uint32_t)i};
    qsort(placed, columns->n, sizeof *placed, by_column);
    for (size_t i = 0; i < columns->n; i++) {
        columns->columns[i] = placed[i].column;
        columns->specs[i] = spec_of(&placed[i].column);
        columns->first[i] = first_of(&placed[i].column);
        ret_place[placed[i].was] = (uint32_t)i;
    }
    free(placed);
    return 0;
}

void backtest_screen_columns_finish(struct screen_columns *columns)
{
    free(columns->columns);
    free(columns->specs);
    free(columns->memory);
    free(columns->first);
    free(columns->table);
    *columns = (struct screen_columns){0};
}

/* ---- their values ---- */

static void fill_averages(const struct screen_columns *columns, size_t from, size_t n,
                          const struct screen_piece *piece)
{
    uint32_t periods[SCREEN_UNIT];
    struct screen_averages averages = {.close = piece->history->closes,
                                       .at = piece->at,
                                       .n = piece->n,
                                       .periods = periods,
                                       .out = piece->cells + from * SCREEN_PIECE,
                                       .n_columns = n,
                                       .stride = SCREEN_PIECE};
    for (size_t k = 0; k < n; k++) {
        periods[k] = columns->columns[from + k].options[0];
        for (size_t i = 0; i < piece->n && piece->at + i + 1 < periods[k]; i++)
            averages.out[k * SCREEN_PIECE + i] = NAN;
    }
    piece->set->averages(&averages);
}

/* Averages as distances from the close: two of them compare as they do in doubles, except for the rounding of
 * their distance. */
static void fill_others(struct screen_columns *columns, size_t from, size_t n,
                        const struct screen_piece *piece)
{
    const struct columns_bars *bars = &piece->history->bars;
    struct exact_task tasks[16] = {0};
    double *outputs[16][3];
    enum screen_kind kind = columns->columns[from].kind;
    for (size_t k = 0; k < n; k++) {
        for (int o = 0; o < 3; o++)
            outputs[k][o] = piece->scratch + (k * 3 + (size_t)o) * SCREEN_PIECE;
        tasks[k] = (struct exact_task){.spec = &columns->specs[from + k],
                                       .in = {.open = bars->open + piece->at,
                                              .high = bars->high + piece->at,
                                              .low = bars->low + piece->at,
                                              .close = bars->close + piece->at},
                                       .n = piece->n,
                                       .out = outputs[k],
                                       .done = piece->at,
                                       .memory = &columns->memory[from + k]};
    }
    exact_compute(tasks, n, piece->isa);
    for (size_t k = 0; k < n; k++) {
        const double *values = outputs[k][kind == COLUMN_HIST ? 2 : 0];
        if (kind == COLUMN_ATR) {
            memcpy(piece->wide + (from + k) * SCREEN_PIECE, values, piece->n * sizeof *values);
            continue;
        }
        float *out = piece->cells + (from + k) * SCREEN_PIECE;
        const double *close = bars->close + piece->at;
        for (size_t i = 0; i < piece->n; i++)
            out[i] = (float)(kind == COLUMN_EMA ? values[i] - close[i] : values[i]);
    }
}

/* How many columns from `from` on are of its kind. */
static size_t alike(const struct screen_columns *columns, size_t from, size_t to, size_t most)
{
    size_t n = 1;
    while (n < most && from + n < to && columns->columns[from + n].kind == columns->columns[from].kind)
        n++;
    return n;
}

void backtest_screen_columns_fill(struct screen_columns *columns, size_t from, size_t to,
                                  const struct screen_piece *piece)
{
    for (size_t n; from < to; from += n) {
        if (columns->columns[from].kind == COLUMN_SMA) {
            n = alike(columns, from, to, SCREEN_UNIT);
            fill_averages(columns, from, n, piece);
            continue;
        }
        size_t lanes = exact_lanes(&columns->specs[from], piece->isa);
        n = alike(columns, from, to, lanes < 1 ? 1 : lanes > 16 ? 16 : lanes);
        fill_others(columns, from, n, piece);
    }
}

/* ---- the bars ---- */

/* The first bar of that row or a later one. */
static size_t bar_of(const struct screen_history *history, size_t row)
{
    size_t low = 0, high = history->bars.n;
    if (!history->rows)
        return row;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (history->rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct screen_cuts backtest_screen_cuts(const struct backtest_config *config,
                                        const struct screen_history *history)
{
    size_t rows = config->to - config->from, length = rows / SWEEP_BLOCKS;
    struct screen_cuts cuts = {.n = history->bars.n, .from = bar_of(history, config->from)};
    for (size_t k = 0; k < SWEEP_BLOCKS; k++)
        cuts.begin[k] = (uint32_t)bar_of(history, config->from + rows % SWEEP_BLOCKS + k * length);
    return cuts;
}

void backtest_screen_history_finish(struct screen_history *history)
{
    backtest_columns_dense_finish(&history->bars);
    free(history->prices);
    free(history->rounded);
    free(history->closes);
    free(history->rows);
    *history = (struct screen_history){0};
}

static void convert(struct screen_history *history)
{
    const struct columns_bars *bars = &history->bars;
    const double *from[4] = {bars->open, bars->high, bars->low, bars->close};
    size_t n = bars->n;
    for (int k = 0; k < 4; k++)
        for (size_t i = 0; i < n; i++) {
            double units = nearbyint(from[k][i] * history->price_units);
            history->prices[(size_t)k * n + i] = units;
            if (k == 1 || k == 2)
                history->rounded[(size_t)(k - 1) * n + i] = (float)units;
        }
    memcpy(history->closes, bars->close, n * sizeof *history->closes);
    memset(history->closes + n, 0, SCREEN_PADDING * sizeof *history->closes);
}

int backtest_screen_history(const struct backtest_config *config, struct screen_history *ret)
{
    const struct market *market = config->market;
    struct screen_history history = {.price_units =
                                         (double)decimal_pow10(market->series[0].symbol.price_scale)};
    if (backtest_columns_dense(market, 0, 0, config->to, NULL, &history.bars) < 0)
        return -ENOMEM;
    size_t n = history.bars.n;
    history.prices = malloc((4 * n + 1) * sizeof *history.prices);
    history.rounded = malloc((2 * n + 1) * sizeof *history.rounded);
    history.closes = malloc((n + SCREEN_PADDING) * sizeof *history.closes);
    history.rows = n < config->to ? malloc((n + 1) * sizeof *history.rows) : NULL;
    if (!history.prices || !history.rounded || !history.closes || (n < config->to && !history.rows)) {
        backtest_screen_history_finish(&history);
        return -ENOMEM;
    }
    convert(&history);
    size_t bar = 0;
    for (size_t row = 0; history.rows && row < config->to; row++)
        if (market_present(&market->series[0], row))
            history.rows[bar++] = (uint32_t)row;
    *ret = history;
    return 0;
}

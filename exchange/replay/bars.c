#include "exchange/replay/bars.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bars_file.h"
#include "exchange/replay/bar_trades.h"
#include "exchange/replay/synthetic_market.h"

#define NS_PER_MS     1000000LL
#define DIFF_EVERY_NS (100 * NS_PER_MS)

enum {
    LEVELS_MIN = 60, /* a side */
    LEVELS_MAX = 120,
    HISTORY_TRADES = 12, /* a bar, of history that is not streamed */
};

/* The state of one file. */
struct player {
    const char *path;
    struct bars_file file;
    int interval;
    int64_t length_ns;
    int64_t tick, unit;
    int trades_max; /* a bar */
    struct chance chance;
    struct synthetic_market market;
    size_t bar, end; /* the bar at play; the first one that is not played */
    struct bar_trade trades[BAR_TRADES_MAX];
    int n_trades, next_trade;
    int64_t next_diff_ns; /* INT64_MAX: nothing has changed */
};

struct bars {
    struct replay_source base;
    struct player *players;
    size_t n_players;
};

static int fail(struct bars *b, int err, const char *what, const char *where, const char *right)
{
    snprintf(b->base.error, SOURCE_ERROR_MAX, "%s: %.200s: %s", what, where, right);
    return err;
}

static int64_t pow10_below_e8(int digits)
{
    return decimal_pow10(8 - (digits < 8 ? digits : 8));
}

/* A number of the file at scale 8, by way of the digits that it has there, so that it is exactly the text's.
 */
static int to_e8(double x, int digits, int128_t *ret)
{
    int64_t units;
    int scale = digits < 8 ? digits : 8;
    int rc = decimal_from_double(x, scale, &units);
    if (rc == 0)
        *ret = (int128_t)units * decimal_pow10(8 - scale);
    return rc;
}

static int shape_of(struct bars *b, const struct player *p, size_t i, struct bar_shape *ret)
{
    const struct bars_file *f = &p->file;
    const double numbers[4] = {f->open[i], f->high[i], f->low[i], f->close[i]};
    int128_t e8[4], volume;
    char where[256];
    snprintf(where, sizeof(where), "%.200s: bar %zu", p->path, i + 1);
    for (int k = 0; k < 4; k++)
        if (to_e8(numbers[k], f->price_digits, &e8[k]) != 0 || e8[k] <= 0 || e8[k] > INT64_MAX / 2)
            return fail(b, -EINVAL, "bar cannot be traded", where, "prices above 0 and below 4e10");
    if (to_e8(f->volume[i], f->volume_digits, &volume) != 0)
        return fail(b, -EINVAL, "bar cannot be traded", where, "a volume of at most 18 digits");
    *ret = (struct bar_shape){.open_ns = f->open_time_ns[i],
                              .length_ns = p->length_ns,
                              .open = (int64_t)e8[0],
                              .high = (int64_t)e8[1],
                              .low = (int64_t)e8[2],
                              .close = (int64_t)e8[3],
                              .volume = volume,
                              .tick = p->tick,
                              .unit = p->unit};
    return 0;
}

/* Makes the trades of bar p->bar. */
static int begin_bar(struct bars *b, struct player *p)
{
    struct bar_shape shape;
    int rc = shape_of(b, p, p->bar, &shape);
    if (rc < 0)
        return rc;
    p->next_trade = 0;
    p->n_trades = bar_trades_make(&shape, &p->chance, p->trades_max, p->trades);
    if (p->n_trades < 0)
        return fail(b, -EINVAL, "bar cannot be traded", p->path,
                    "a volume below 9e10 for each of its trades");
    return 0;
}

static int64_t level_qty(struct player *p)
{
    return chance_heavy(&p->chance, 12) * p->unit;
}

static void keep_depth(struct player *p, bool bid, int64_t at)
{
    struct replay_ladder *side = bid ? &p->market.bids : &p->market.asks;
    while (side->n < LEVELS_MIN) {
        int64_t worst = side->n > 0 ? side->levels[0].price : at;
        int64_t gap = chance_range(&p->chance, 1, 8) * p->tick;
        if (bid && worst <= gap)
            break; /* a bid is above 0 */
        replay_synthetic_market_set(&p->market, bid, bid ? worst - gap : worst + gap, level_qty(p));
    }
    while (side->n > LEVELS_MAX)
        replay_synthetic_market_set(&p->market, bid, side->levels[0].price, 0);
}

/* Moves the book so that `price` is the best offer (or bid) and holds at least `qty`. */
static void arrange(struct player *p, bool buy, int64_t price, int64_t qty)
{
    struct synthetic_market *m = &p->market;
    const struct level *best;
    const struct replay_ladder *taken = buy ? &m->asks : &m->bids, *other = buy ? &m->bids : &m->asks;
    while ((best = replay_ladder_best(taken, 0)) && (buy ? best->price < price : best->price > price))
        replay_synthetic_market_set(m, !buy, best->price, 0);
    while ((best = replay_ladder_best(other, 0)) && (buy ? best->price >= price : best->price <= price))
        replay_synthetic_market_set(m, buy, best->price, 0);
    int64_t there = replay_ladder_qty(taken, price);
    if (there < qty)
        replay_synthetic_market_set(m, !buy, price, qty > INT64_MAX / 2 ? qty : qty + level_qty(p));
    int64_t beside = buy ? price - p->tick : price + p->tick;
    if (beside > 0 && replay_ladder_qty(other, beside) == 0)
        replay_synthetic_market_set(m, buy, beside, level_qty(p));
    keep_depth(p, true, price);
    keep_depth(p, false, price);
}

static int64_t bar_end_ns(const struct player *p)
{
    return p->file.open_time_ns[p->bar] + p->length_ns;
}

/* When the next trade is due, or the bar's end. */
static int64_t trade_due(const struct player *p)
{
    if (p->bar == p->end)
        return INT64_MAX;
    return p->next_trade < p->n_trades ? p->trades[p->next_trade].ts_ns : bar_end_ns(p);
}

static int64_t due_of(const struct player *p)
{
    int64_t trade = trade_due(p);
    return p->next_diff_ns < trade ? p->next_diff_ns : trade;
}

static struct player *next_player(struct bars *b)
{
    struct player *first = &b->players[0];
    for (size_t i = 1; i < b->n_players; i++)
        if (due_of(&b->players[i]) < due_of(first))
            first = &b->players[i];
    return first;
}

static int64_t bars_due(struct replay_source *source)
{
    return due_of(next_player((struct bars *)source));
}

/* The bar is over: its klines close now, those of a quiet one after a gap too, and what follows may be a gap.
 */
static int end_bar(struct bars *b, struct player *p)
{
    int64_t end_ns = bar_end_ns(p), open_ns = end_ns - p->length_ns;
    if (p->n_trades == 0 && p->bar > 0 && p->file.open_time_ns[p->bar - 1] + p->length_ns < open_ns)
        replay_tape_resume(b->base.tape, p->market.symbol, open_ns);
    bool gap = p->bar + 1 == p->end || p->file.open_time_ns[p->bar + 1] > end_ns;
    struct candles *candles = &b->base.tape->symbols[p->market.symbol].candles;
    struct bar_shape shape;
    int r = shape_of(b, p, p->bar, &shape);
    if (r == 0 && p->n_trades == 0)
        r = replay_candles_begin(candles, open_ns, shape.close);
    if (r == 0)
        r = replay_candles_advance(candles, end_ns - 1);
    if (r == 0)
        r = replay_candles_keep(candles, p->interval, open_ns);
    if (r < 0)
        return r;
    if (gap)
        replay_tape_pause(b->base.tape, p->market.symbol, end_ns);
    else
        replay_tape_advance(b->base.tape, p->market.symbol, end_ns, 0);
    p->bar++;
    return p->bar < p->end ? begin_bar(b, p) : 0;
}

static int bars_step(struct replay_source *source)
{
    struct bars *b = (struct bars *)source;
    struct player *p = next_player(b);
    int64_t due = due_of(p);
    if (due == INT64_MAX)
        return 0;
    if (p->next_diff_ns == due) {
        if (due > source->tape->now_ns)
            source->tape->now_ns = due;
        replay_synthetic_market_diff(&p->market, due);
        p->next_diff_ns = INT64_MAX;
        return 0;
    }
    if (p->next_trade == p->n_trades)
        return end_bar(b, p);
    const struct bar_trade *t = &p->trades[p->next_trade++];
    arrange(p, t->buy, t->price, t->qty);
    replay_synthetic_market_quote(&p->market);
    replay_synthetic_market_take(&p->market, t->ts_ns, t->buy, t->qty, t->price);
    keep_depth(p, true, t->price);
    keep_depth(p, false, t->price);
    replay_synthetic_market_quote(&p->market);
    if (p->next_diff_ns == INT64_MAX)
        p->next_diff_ns = t->ts_ns - t->ts_ns % DIFF_EVERY_NS + DIFF_EVERY_NS;
    return 0;
}

static bool bars_book(struct replay_source *source, int symbol, struct source_book *ret)
{
    struct bars *b = (struct bars *)source;
    for (size_t i = 0; i < b->n_players; i++)
        if (b->players[i].market.symbol == symbol)
            return replay_synthetic_market_book(&b->players[i].market, ret);
    return false;
}

static void bars_destroy(struct replay_source *source)
{
    struct bars *b = (struct bars *)source;
    for (size_t i = 0; i < b->n_players; i++) {
        replay_synthetic_market_finish(&b->players[i].market);
        bars_file_finish(&b->players[i].file);
    }
    free(b->players);
    free(b);
}

static const struct source_ops bars_ops = {bars_due, bars_step, bars_book, bars_destroy};

/* Adds the bars before the start to the klines, without streaming them. */
static int make_history(struct bars *b, struct player *p, int64_t from_ns)
{
    struct tape *tape = b->base.tape;
    while (p->bar < p->end && p->file.open_time_ns[p->bar] < from_ns) {
        for (int i = 0; i < p->n_trades; i++) {
            const struct bar_trade *t = &p->trades[i];
            struct tape_trade trade = {.event_ns = t->ts_ns,
                                       .ts_ns = t->ts_ns,
                                       .id = p->market.next_trade_id++,
                                       .price = t->price,
                                       .qty = t->qty,
                                       .buyer_maker = !t->buy};
            replay_tape_trade(tape, p->market.symbol, &trade, true, NULL, 0);
        }
        if (p->bar + 1 == p->end || p->file.open_time_ns[p->bar + 1] >= from_ns)
            p->trades_max = BAR_TRADES_MAX;
        int rc = end_bar(b, p);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int open_player(struct bars *b, struct player *p, int interval, int64_t from_ns, int64_t to_ns)
{
    char error[BARS_FILE_ERROR_MAX];
    struct tape *tape = b->base.tape;
    struct bars_file *f = &p->file;
    int rc = bars_file_read(p->path, NULL, f, error);
    if (rc < 0) {
        memcpy(b->base.error, error, sizeof(error) < SOURCE_ERROR_MAX ? sizeof(error) : SOURCE_ERROR_MAX);
        return rc;
    }
    for (int i = 0; interval < 0 && i < BAR_INTERVALS; i++)
        if (replay_candle_interval_ns(i) == f->interval_ns)
            interval = i;
    if (interval < 0)
        return fail(b, -EINVAL, "no interval", p->path, "bars of 1s, 1m, 5m, 1h, ..., or --interval");
    p->length_ns = replay_candle_interval_ns(interval);
    p->interval = interval;
    if (f->n > 0 && (rc = bars_file_set_interval(f, p->length_ns)) < 0)
        return fail(b, rc, "out of memory", p->path, "a smaller file");
    for (size_t i = 0; i < f->n; i++)
        if (replay_candle_open_time(interval, f->open_time_ns[i]) != f->open_time_ns[i] ||
            (i > 0 && f->open_time_ns[i] - f->open_time_ns[i - 1] < p->length_ns)) {
            snprintf(error, sizeof(error), "%.200s: bar %zu", p->path, i + 1);
            return fail(b, -EINVAL, "bar is off the interval", error,
                        "times on the interval's grid, or another --interval");
        }
    int symbol = replay_tape_symbol_find(tape, f->symbol, strlen(f->symbol));
    if (symbol >= 0)
        return fail(b, -EINVAL, "symbol twice", p->path, "one bars file a symbol");
    symbol = replay_tape_symbol_add(tape, f->symbol, strlen(f->symbol));
    if (symbol < 0)
        return fail(b, symbol, "cannot add symbol", f->symbol,
                    "a name of letters and digits, at most 64 files");
    replay_candles_keep_all(&tape->symbols[symbol].candles, interval);
    tape->symbols[symbol].price_digits = f->price_digits < 8 ? f->price_digits : 8;
    tape->symbols[symbol].qty_digits = f->volume_digits < 8 ? f->volume_digits : 8;
    p->tick = pow10_below_e8(f->price_digits);
    p->unit = pow10_below_e8(f->volume_digits);
    for (const char *c = f->symbol; *c; c++)
        p->chance.state = p->chance.state * 31 + (unsigned char)*c;
    replay_synthetic_market_init(&p->market, tape, symbol, 1000000, 1);
    for (p->end = f->n; p->end > 0 && f->open_time_ns[p->end - 1] >= to_ns; p->end--)
        ;
    if (p->end == 0 || f->open_time_ns[p->end - 1] < from_ns)
        return fail(b, -EINVAL, "nothing to play", p->path, "bars between --from and --to");
    p->trades_max = f->open_time_ns[0] < from_ns ? HISTORY_TRADES : BAR_TRADES_MAX;
    if ((rc = begin_bar(b, p)) < 0 || (rc = make_history(b, p, from_ns)) < 0)
        return rc;
    /* The book existed before the first client. */
    int64_t open =
        p->n_trades > 0 ? p->trades[0].price : (int64_t)(f->open[p->bar] * 1e8) / p->tick * p->tick;
    arrange(p, true, open, level_qty(p));
    p->market.emitted_id = p->market.update_id;
    p->market.changed[0].n = p->market.changed[1].n = 0;
    p->next_diff_ns = INT64_MAX;
    return 0;
}

int bars_create(struct tape *tape, const char *const *paths, size_t n_paths, int interval, int64_t from_ns,
                int64_t to_ns, struct replay_source **ret, char error[static SOURCE_ERROR_MAX])
{
    struct bars *b = calloc(1, sizeof(*b));
    int64_t start_ns = INT64_MAX;
    int rc = -ENOMEM;
    if (!b || !(b->players = calloc(n_paths, sizeof(*b->players)))) {
        free(b);
        snprintf(error, SOURCE_ERROR_MAX, "out of memory");
        return rc;
    }
    b->base = (struct replay_source){.ops = &bars_ops, .tape = tape};
    for (size_t i = 0; i < n_paths; i++) {
        struct player *p = &b->players[b->n_players++];
        p->path = paths[i];
        if ((rc = open_player(b, p, interval, from_ns, to_ns)) < 0) {
            memcpy(error, b->base.error, SOURCE_ERROR_MAX);
            bars_destroy(&b->base);
            return rc;
        }
        int64_t open_ns = p->file.open_time_ns[p->bar];
        start_ns = open_ns < start_ns ? open_ns : start_ns;
    }
    tape->now_ns = start_ns;
    *ret = &b->base;
    return 0;
}

void bars_gaps(const struct replay_source *source, size_t *ret_gaps, int64_t *ret_missing)
{
    const struct bars *b = (const struct bars *)source;
    *ret_gaps = 0;
    *ret_missing = 0;
    for (size_t i = 0; i < b->n_players; i++) {
        const struct bars_file *f = &b->players[i].file;
        *ret_gaps += f->n_gaps;
        for (size_t k = 0; k < f->n_gaps; k++)
            *ret_missing += f->gaps[k].missing;
    }
}

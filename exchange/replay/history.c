#include "exchange/replay/synthetic.h"

#include <errno.h>
#include <stdlib.h>

#define NS_PER_S        1000000000LL
#define HISTORY_FROM_NS (1500LL * 86400 * NS_PER_S) /* before the start */

/* Each base is walked by itself as far back as the next larger one begins. Width: of its step in seconds'
 * widths, in hundredths; less than the root of its length, because the price is drawn back. Pull: share of
 * the way back to the base price in one step. */
static const struct {
    int interval;
    int64_t bars;
    int64_t width_e2, pull;
} stages[CANDLE_TIERS] = {
    {0, 3600, 100, 20000},
    {1, 46500, 770, 350},
    {6, 18000, 3500, 6},
    {12, 1500, 8400, 2},
};

/* Bars in reverse order of time; each open stage also gathers the bars of the stages below. */
struct gather {
    struct candle *bars;
    size_t n, cap;
    bool open;
    struct candle forming;
};

static bool push(struct gather *g, const struct candle *bar)
{
    if (g->n == g->cap) {
        size_t cap = g->cap ? g->cap * 2 : 1024;
        struct candle *bars = reallocarray(g->bars, cap, sizeof(*bars));
        if (!bars)
            return false;
        g->bars = bars;
        g->cap = cap;
    }
    g->bars[g->n++] = *bar;
    return true;
}

/* Puts an earlier bar before what the gatherer holds of its interval. */
static bool gather_before(struct gather *g, int interval, const struct candle *bar)
{
    int64_t open_ns = replay_candle_open_time(interval, bar->open_ns);
    struct candle joined = *bar;
    joined.open_ns = open_ns;
    if (g->open && g->forming.open_ns == open_ns) {
        replay_candle_join(&joined, &g->forming);
    } else if (g->open && !push(g, &g->forming)) {
        return false;
    }
    g->forming = joined;
    g->open = true;
    return true;
}

/* The bar before `close`: it ends at that price. */
static struct candle step_back(const struct history_recipe *r, struct chance *chance, int stage,
                               int64_t close, int64_t *id)
{
    int64_t width = close / 1000000 * r->width_e9 / 1000 * stages[stage].width_e2 / 100;
    int64_t seconds = replay_candle_interval_ns(stages[stage].interval) / NS_PER_S;
    int64_t open = close - (int64_t)(((int128_t)width * chance_bell(chance)) >> 20);
    open += (r->base - close) / stages[stage].pull;
    open = open / r->tick * r->tick;
    int64_t above = (int64_t)(((int128_t)width * chance_below(chance, 1 << 20)) >> 21) / r->tick * r->tick;
    int64_t below = (int64_t)(((int128_t)width * chance_below(chance, 1 << 20)) >> 21) / r->tick * r->tick;
    int64_t trades = seconds * chance_range(chance, 20, 60);
    int64_t mean = ((int64_t)1 << r->trade_bits) / r->trade_bits; /* of chance_heavy() */
    int128_t volume = (int128_t)trades * chance_range(chance, mean / 2, mean * 3 / 2) * r->step;
    int128_t taker = volume / r->step * chance_range(chance, 35, 65) / 100 * r->step;
    int64_t middle = (open / 2 + close / 2) / r->tick * r->tick;
    struct candle bar = {.open = open,
                         .close = close,
                         .high = (open > close ? open : close) + above,
                         .low = (open < close ? open : close) - below,
                         .volume = volume,
                         .taker_volume = taker,
                         .quote_volume = volume * middle,
                         .taker_quote_volume = taker * middle,
                         .trades = trades,
                         .first_id = *id - trades,
                         .last_id = *id - 1};
    *id -= trades;
    return bar;
}

static bool walk_back(struct gather *gathers, const struct history_recipe *r, struct chance *chance,
                      int64_t start_ns, int64_t price, int64_t id)
{
    int64_t at = start_ns;
    for (int stage = 0; stage < CANDLE_TIERS; stage++) {
        int64_t length = replay_candle_interval_ns(stages[stage].interval);
        int64_t until = start_ns - HISTORY_FROM_NS / (int64_t)r->share;
        if (stage + 1 < CANDLE_TIERS) /* down to where the next base's grid begins */
            until = replay_candle_open_time(stages[stage + 1].interval,
                                            at - stages[stage].bars / (int64_t)r->share * length);
        while (at - length >= until) {
            struct candle bar = step_back(r, chance, stage, price, &id);
            bar.open_ns = at -= length;
            price = bar.open;
            for (int upper = stage; upper < CANDLE_TIERS; upper++)
                if (!gather_before(&gathers[upper], stages[upper].interval, &bar))
                    return false;
        }
    }
    for (int i = 0; i < CANDLE_TIERS; i++)
        if (gathers[i].open && !push(&gathers[i], &gathers[i].forming))
            return false;
    return true;
}

int replay_history_make(struct candles *candles, const struct history_recipe *recipe, struct chance *chance,
                        int64_t start_ns, int64_t price, int64_t next_trade_id)
{
    struct gather gathers[CANDLE_TIERS] = {0};
    int rc = walk_back(gathers, recipe, chance, start_ns, price, next_trade_id) ? 0 : -ENOMEM;
    for (int i = 0; i < CANDLE_TIERS; i++) {
        for (size_t n = gathers[i].n; rc == 0 && n > 0; n--)
            rc = replay_candles_append(candles, i, &gathers[i].bars[n - 1]);
        free(gathers[i].bars);
    }
    return rc;
}

#include "exchange/replay/synthetic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/replay/chance.h"
#include "exchange/replay/synthetic_market.h"

#define NS_PER_MS     1000000LL
#define NS_PER_S      1000000000LL
#define E8            100000000LL
#define FAIR_STEP_NS  (20 * NS_PER_MS)
#define DIFF_EVERY_NS (100 * NS_PER_MS)

enum {
    RECIPES = 2,
    HISTORY_SYMBOLS = 14, /* that have all of it: a million bars */
    LEVELS_START = 300,   /* a side */
    LEVELS_MIN = 240,
    LEVELS_MAX = 420,
    SWEEP_LEVELS = 6,     /* that one order takes at most */
    SPREAD_TICKS = 3,     /* makers close a wider one */
    BAND_SHIFT = 16,      /* a book within 2^-16 of the fair price is not swept */
    REVERSION_SHIFT = 20, /* the way back to the base price: 2^20 steps of 20 ms, some six hours */
};

/* What differs between synthetic symbols. Widths are of one fair-price step, in 1e-9 of the price. */
struct recipe {
    char name[SYMBOL_NAME_MAX];
    int64_t base, tick, step; /* price, price step, quantity step; scale 8 */
    int price_digits, qty_digits;
    int64_t width_e9;
    int64_t pause_ns;           /* mean time between actions */
    int trade_bits, level_bits; /* sizes: up to 2^bits steps */
    uint64_t update_id;
    int64_t trade_id;
};

static const struct recipe recipes[RECIPES] = {
    {"BTCUSDT", 60000 * E8, E8 / 100, E8 / 100000, 2, 5, 10000, 9 * NS_PER_MS, 13, 17, 50000000000,
     20000000000},
    {"ETHUSDT", 3000 * E8, E8 / 100, E8 / 10000, 2, 4, 13000, 14 * NS_PER_MS, 14, 18, 35000000000,
     10000000000},
};

struct maker {
    struct recipe recipe;
    int index; /* among the makers */
    struct chance chance;
    struct synthetic_market market;
    int64_t fair;    /* scale 8 */
    int64_t fair_ns; /* up to when it has walked */
    int64_t regime_end_ns;
    int64_t volatility_e2, drift_e9;
    int64_t next_action_ns, next_diff_ns;
    int64_t origin_ns, gap_ps; /* at an even rate: when it began, and between two messages; 0: no even rate */
};

struct synthetic {
    struct replay_source base;
    struct maker *makers;
    int n_makers;
    struct maker **heap; /* the next that is due first */
    int64_t end_ns;
};

static int64_t floor_tick(const struct maker *m, int64_t price)
{
    return price / m->recipe.tick * m->recipe.tick;
}

static int64_t level_qty(struct maker *m)
{
    return chance_heavy(&m->chance, m->recipe.level_bits) * m->recipe.step;
}

static void begin_regime(struct maker *m)
{
    static const int64_t volatilities[] = {60, 100, 100, 140, 220};
    m->regime_end_ns = m->fair_ns + chance_range(&m->chance, 5, 35) * NS_PER_S;
    m->volatility_e2 = volatilities[chance_below(&m->chance, sizeof(volatilities) / sizeof(*volatilities))];
    m->drift_e9 = chance_range(&m->chance, -700, 700);
}

/* Lets the fair price walk up to ts_ns. */
static void walk(struct maker *m, int64_t ts_ns)
{
    const struct recipe *r = &m->recipe;
    for (; m->fair_ns + FAIR_STEP_NS <= ts_ns; m->fair_ns += FAIR_STEP_NS) {
        if (m->fair_ns >= m->regime_end_ns)
            begin_regime(m);
        int64_t width = m->fair / 1000000 * r->width_e9 / 1000 * m->volatility_e2 / 100;
        m->fair += (int64_t)(((int128_t)width * chance_bell(&m->chance)) >> 20);
        m->fair += m->fair / 1000000 * m->drift_e9 / 1000;
        m->fair += (r->base - m->fair) >> REVERSION_SHIFT;
    }
}

/* Keeps the book's depth: adds levels at the end, or removes the last. */
static void keep_depth(struct maker *m, bool bid)
{
    struct replay_ladder *side = bid ? &m->market.bids : &m->market.asks;
    while (side->n < LEVELS_MIN) {
        int64_t gap = chance_range(&m->chance, 1, 400) * m->recipe.tick;
        int64_t worst = side->levels[0].price;
        replay_synthetic_market_set(&m->market, bid, bid ? worst - gap : worst + gap, level_qty(m));
    }
    while (side->n > LEVELS_MAX)
        replay_synthetic_market_set(&m->market, bid, side->levels[0].price, 0);
}

/* A taker sees the book on the wrong side of the fair price and takes what is there. */
static void sweep(struct maker *m, int64_t ts_ns, bool buy)
{
    const struct replay_ladder *side = buy ? &m->market.asks : &m->market.bids;
    int64_t qty = 0, levels = chance_range(&m->chance, 1, SWEEP_LEVELS);
    for (int64_t i = 0; i < levels; i++) {
        const struct level *level = replay_ladder_best(side, (size_t)i);
        if (!level || (buy ? level->price > m->fair : level->price < m->fair))
            break;
        qty += level->qty;
    }
    replay_synthetic_market_take(&m->market, ts_ns, buy, qty, m->fair);
}

/* A maker quotes at the fair price, inside the spread. */
static void narrow(struct maker *m)
{
    int64_t bid = replay_ladder_best(&m->market.bids, 0)->price,
            ask = replay_ladder_best(&m->market.asks, 0)->price;
    int64_t tick = m->recipe.tick, at = floor_tick(m, m->fair);
    int64_t new_bid = at < ask - tick ? at : ask - tick;
    int64_t new_ask = at + tick > bid + tick ? at + tick : bid + tick;
    bool can_bid = new_bid > bid, can_ask = new_ask < ask;
    if (can_bid && (!can_ask || (chance_next(&m->chance) & 1)))
        replay_synthetic_market_set(&m->market, true, new_bid, level_qty(m));
    else if (can_ask)
        replay_synthetic_market_set(&m->market, false, new_ask, level_qty(m));
}

static void take_some(struct maker *m, int64_t ts_ns)
{
    bool buy = chance_range(&m->chance, -2000, 2000) < m->drift_e9;
    const struct level *best = replay_ladder_best(buy ? &m->market.asks : &m->market.bids, 0);
    int64_t qty = chance_heavy(&m->chance, m->recipe.trade_bits) * m->recipe.step;
    int64_t slack = 20 * m->recipe.tick;
    replay_synthetic_market_take(&m->market, ts_ns, buy, qty,
                                 buy ? best->price + slack : best->price - slack);
}

static void place(struct maker *m, int64_t bid, int64_t ask)
{
    bool buy = chance_next(&m->chance) & 1;
    int64_t away = (chance_heavy(&m->chance, 12) - 1) * m->recipe.tick;
    int64_t price = buy ? bid - away : ask + away;
    const struct replay_ladder *side = buy ? &m->market.bids : &m->market.asks;
    replay_synthetic_market_set(&m->market, buy, price, replay_ladder_qty(side, price) + level_qty(m));
}

static void cancel(struct maker *m)
{
    bool buy = chance_next(&m->chance) & 1;
    const struct replay_ladder *side = buy ? &m->market.bids : &m->market.asks;
    size_t i = (size_t)(chance_heavy(&m->chance, 8) - 1);
    const struct level *level = replay_ladder_best(side, i < side->n ? i : side->n - 1);
    struct level was = *level;
    int64_t left = was.qty / m->recipe.step / 2 * m->recipe.step;
    replay_synthetic_market_set(&m->market, buy, was.price,
                                i > 0 && (chance_next(&m->chance) & 1) ? 0 : left);
}

static bool spread_is_wide(const struct maker *m)
{
    return replay_ladder_best(&m->market.asks, 0)->price - replay_ladder_best(&m->market.bids, 0)->price >
           SPREAD_TICKS * m->recipe.tick;
}

static void act(struct maker *m, int64_t ts_ns)
{
    int64_t bid = replay_ladder_best(&m->market.bids, 0)->price,
            ask = replay_ladder_best(&m->market.asks, 0)->price;
    int64_t what = chance_below(&m->chance, 100), band;

    walk(m, ts_ns);
    band = m->fair >> BAND_SHIFT;
    if (ask < m->fair - band)
        sweep(m, ts_ns, true);
    else if (bid > m->fair + band)
        sweep(m, ts_ns, false);
    else if (what < 20)
        take_some(m, ts_ns);
    else if (what < 65)
        place(m, bid, ask);
    else
        cancel(m);
    keep_depth(m, true);
    keep_depth(m, false);
    /* Makers mostly fill the hole before it is shown. */
    for (int i = 0; i < 2 && spread_is_wide(m) && chance_below(&m->chance, 8) > 0; i++)
        narrow(m);
    replay_synthetic_market_quote(&m->market);

    int64_t pause = 2 * m->recipe.pause_ns;
    if (m->gap_ps > 0) {
        int64_t next_ns = m->origin_ns + (int64_t)((int128_t)m->market.messages * m->gap_ps / 1000);
        m->next_action_ns = next_ns > ts_ns ? next_ns : ts_ns + 1;
        return;
    }
    m->next_action_ns = ts_ns + 1 + chance_below(&m->chance, spread_is_wide(m) ? pause / 10 : pause);
}

static int64_t due_of(const struct maker *m)
{
    return m->next_action_ns < m->next_diff_ns ? m->next_action_ns : m->next_diff_ns;
}

/* Two that are due together go in the order of their symbols. */
static bool before(const struct maker *a, const struct maker *b)
{
    int64_t due_a = due_of(a), due_b = due_of(b);
    return due_a != due_b ? due_a < due_b : a->index < b->index;
}

/* Moves the maker at `at` of the heap down to where it belongs. */
static void sift(struct synthetic *s, int at)
{
    struct maker *m = s->heap[at];
    for (int child; (child = 2 * at + 1) < s->n_makers; at = child) {
        if (child + 1 < s->n_makers && before(s->heap[child + 1], s->heap[child]))
            child++;
        if (!before(s->heap[child], m))
            break;
        s->heap[at] = s->heap[child];
    }
    s->heap[at] = m;
}

static int64_t synthetic_due(struct replay_source *source)
{
    struct synthetic *synthetic = (struct synthetic *)source;
    int64_t due_ns = due_of(synthetic->heap[0]);
    return due_ns < synthetic->end_ns ? due_ns : INT64_MAX;
}

static int synthetic_step(struct replay_source *source)
{
    struct synthetic *synthetic = (struct synthetic *)source;
    struct maker *m = synthetic->heap[0];
    int64_t ts_ns = due_of(m);
    replay_tape_advance(source->tape, m->market.symbol, ts_ns, 0);
    if (strcmp(source->tape->symbols[m->market.symbol].status, "TRADING") != 0) {
        m->next_action_ns = m->next_diff_ns = ts_ns + DIFF_EVERY_NS;
    } else if (m->next_action_ns == ts_ns) {
        act(m, ts_ns);
    } else {
        replay_synthetic_market_diff(&m->market, ts_ns);
        m->next_diff_ns += DIFF_EVERY_NS;
    }
    sift(synthetic, 0);
    return 0;
}

static bool synthetic_book(struct replay_source *source, int symbol, struct source_book *ret)
{
    struct synthetic *s = (struct synthetic *)source;
    for (int i = 0; i < s->n_makers; i++)
        if (s->makers[i].market.symbol == symbol)
            return replay_synthetic_market_book(&s->makers[i].market, ret);
    return false;
}

static void synthetic_destroy(struct replay_source *source)
{
    struct synthetic *s = (struct synthetic *)source;
    for (int i = 0; i < s->n_makers; i++)
        replay_synthetic_market_finish(&s->makers[i].market);
    free(s->makers);
    free(s->heap);
    free(s);
}

static const struct source_ops synthetic_ops = {synthetic_due, synthetic_step, synthetic_book,
                                                synthetic_destroy};

static void fill_book(struct maker *m)
{
    int64_t tick = m->recipe.tick;
    int64_t bid = floor_tick(m, m->fair), ask = bid + tick;
    for (int i = 0; i < LEVELS_START; i++) {
        replay_synthetic_market_set(&m->market, true, bid, level_qty(m));
        replay_synthetic_market_set(&m->market, false, ask, level_qty(m));
        int64_t gap = i < 10 ? 3 : i < 60 ? 40 : 400;
        bid -= chance_range(&m->chance, 1, gap) * tick;
        ask += chance_range(&m->chance, 1, gap) * tick;
    }
    /* The book existed before the first client. */
    m->market.emitted_id = m->market.update_id;
    m->market.changed[0].n = m->market.changed[1].n = 0;
}

/* The i-th symbol's recipe: behind the first ones prices from 0.1 to 90,000, each with six digits that move.
 */
static struct recipe make_recipe(int i, uint64_t seed)
{
    if (i < RECIPES)
        return recipes[i];
    static const int64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, E8};
    struct chance chance = {seed * TAPE_SYMBOLS_MAX + (uint64_t)i};
    int magnitude = (int)chance_range(&chance, -1, 4); /* base price: 1 to 9 times ten to this */
    int price_digits = 6 - magnitude, qty_digits = magnitude + 1, k = i - RECIPES;
    struct recipe r = {
        .base = chance_range(&chance, 1, 9) * (magnitude < 0 ? E8 / 10 : E8 * tens[magnitude]),
        .tick = tens[8 - price_digits],
        .step = tens[8 - qty_digits],
        .price_digits = price_digits,
        .qty_digits = qty_digits,
        .width_e9 = chance_range(&chance, 8000, 16000),
        .pause_ns = chance_range(&chance, 9, 40) * NS_PER_MS,
        .trade_bits = 13,
        .level_bits = 17,
        .update_id = (uint64_t)chance_range(&chance, 1000000, 4000000000),
        .trade_id = chance_range(&chance, 1000000, 4000000000),
    };
    snprintf(r.name, sizeof(r.name), "X%c%c%cUSDT", 'A' + k / 676 % 26, 'A' + k / 26 % 26, 'A' + k % 26);
    return r;
}

static int make_symbol(struct synthetic *s, int i, const struct synthetic_config *config, int64_t start_ns)
{
    struct maker *m = &s->makers[i];
    struct recipe *r = &m->recipe;
    *r = make_recipe(i, config->seed);
    int symbol = replay_tape_symbol_add(s->base.tape, r->name, strlen(r->name));
    if (symbol < 0)
        return symbol;
    struct tape_symbol *listed = &s->base.tape->symbols[symbol];
    size_t share = (size_t)(config->symbols + HISTORY_SYMBOLS - 1) / HISTORY_SYMBOLS;
    listed->price_digits = r->price_digits;
    listed->qty_digits = r->qty_digits;
    listed->candles.share = share;
    m->index = i;
    m->chance.state = i < RECIPES ? config->seed * RECIPES + (uint64_t)i
                                  : chance_next(&(struct chance){config->seed ^ ((uint64_t)i << 32)});
    replay_synthetic_market_init(&m->market, s->base.tape, symbol, r->update_id, r->trade_id);
    s->n_makers++;
    m->fair = r->base + r->base / 10000 * chance_range(&m->chance, -50, 50);
    m->fair_ns = m->next_action_ns = m->origin_ns = start_ns;
    m->next_diff_ns = start_ns + DIFF_EVERY_NS;
    if (i >= RECIPES || config->rate > 0) { /* so that many symbols do not all emit at once */
        int64_t late_ns = DIFF_EVERY_NS * i / config->symbols;
        m->next_diff_ns += late_ns;
        m->next_action_ns = m->origin_ns += late_ns;
    }
    m->gap_ps = config->rate > 0 ? (int64_t)(1e12 / config->rate) : 0;
    begin_regime(m);
    fill_book(m);
    struct chance past = {chance_next(&m->chance)};
    struct history_recipe history = {.base = r->base,
                                     .tick = r->tick,
                                     .step = r->step,
                                     .width_e9 = r->width_e9 * 7, /* a second is 50 steps of 20 ms */
                                     .trade_bits = r->trade_bits,
                                     .share = share};
    return replay_history_make(&listed->candles, &history, &past, start_ns, floor_tick(m, m->fair),
                               r->trade_id);
}

int replay_synthetic_create(struct tape *tape, const struct synthetic_config *config,
                            struct replay_source **ret)
{
    struct synthetic *s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    s->base = (struct replay_source){.ops = &synthetic_ops, .tape = tape};
    s->end_ns = config->end_ns;
    s->makers = calloc((size_t)config->symbols, sizeof(*s->makers));
    s->heap = calloc((size_t)config->symbols, sizeof(struct maker *));
    int64_t start_ns = config->start_ns - config->start_ns % NS_PER_S;
    int rc = s->makers && s->heap ? 0 : -ENOMEM;
    for (int i = 0; rc == 0 && i < config->symbols; i++) {
        rc = make_symbol(s, i, config, start_ns);
        s->heap[i] = &s->makers[i];
    }
    if (rc < 0) {
        synthetic_destroy(&s->base);
        return rc;
    }
    for (int i = s->n_makers / 2; i >= 0; i--)
        sift(s, i);
    if (start_ns > tape->now_ns)
        tape->now_ns = start_ns;
    *ret = &s->base;
    return 0;
}

/* A small market for policies: bars of three symbols given one by one, and what came out. */
#ifndef TESTS_ENGINE_POLICY_WORLD_H
#define TESTS_ENGINE_POLICY_WORLD_H

#include <errno.h>

#include "engine/event.h"
#include "engine/state.h"
#include "tests/engine/made_policy.h"

#define E8        INT64_C(100000000)
#define MINUTE_NS (INT64_C(60) * 1000000000)

enum { SYMBOLS = 3, ROWS = 600, LOOKBACK = 3, REPORTED_MAX = 4096 };

static const struct made_walk walk = {.gaps_permille = 20,
                                      .gap_longest = 3,
                                      .steps = 60,
                                      .start = 500 * E8,
                                      .tick = E8 / 100,
                                      .step = E8 / 10000};

/* What came out. */
struct reported {
    struct order orders[REPORTED_MAX]; /* as first reported */
    struct fill fills[REPORTED_MAX];
    size_t n_orders, n_fills;
    int wanted; /* the symbol whose missing bars were asked for; -1: none */
    char alert[320];
};

static inline void on_order(void *ctx, const struct order *order)
{
    struct reported *reported = ctx;
    if (order->id > reported->n_orders && reported->n_orders < REPORTED_MAX)
        reported->orders[reported->n_orders++] = *order;
}

static inline void on_fill(void *ctx, const struct fill *fill)
{
    struct reported *reported = ctx;
    if (reported->n_fills < REPORTED_MAX)
        reported->fills[reported->n_fills++] = *fill;
}

static inline void on_need_bars(void *ctx, int symbol, int64_t from, int64_t to)
{
    (void)from, (void)to;
    ((struct reported *)ctx)->wanted = symbol;
}

static inline void on_alert(void *ctx, int64_t ts_ns, const char *code, const struct engine_subject *of,
                            const char *text)
{
    (void)of;
    (void)ts_ns;
    snprintf(((struct reported *)ctx)->alert, sizeof((struct reported *)ctx)->alert, "%s: %s", code, text);
}

static inline struct engine_sink sink_of(struct reported *reported)
{
    return (struct engine_sink){
        .ctx = reported, .order = on_order, .fill = on_fill, .need_bars = on_need_bars, .alert = on_alert};
}

static inline struct account_spec spec_of(const struct policy *policy)
{
    return (struct account_spec){.name = "p",
                                 .currency = "USDT",
                                 .currency_scale = 8,
                                 .cash = 10000 * E8,
                                 .rules = {.fees = {1000, 1000}},
                                 .policy = policy};
}

struct world {
    struct synthetic_market made;
    struct symbol symbols[SYMBOLS];
    struct account_spec spec;
    struct engine_config config;
    struct reported reported;
    struct engine *engine;
    uint64_t seq;
};

static inline int world_open(struct world *w, const struct policy *policy)
{
    struct engine_sink sink = sink_of(&w->reported);
    w->reported.wanted = -1;
    for (int s = 0; s < SYMBOLS; s++)
        w->symbols[s] = made_symbol(s, &walk);
    w->spec = spec_of(policy);
    w->config = (struct engine_config){.symbols = w->symbols,
                                       .n_symbols = SYMBOLS,
                                       .accounts = &w->spec,
                                       .n_accounts = 1,
                                       .interval_ns = MINUTE_NS,
                                       .latency_ns = 50000000,
                                       .fill_model = FILL_BAR,
                                       .slippage_e6 = 200};
    return engine_create(&w->config, &sink, &w->engine);
}

static inline void give(struct world *w, const struct event *event)
{
    struct event with = *event;
    with.seq = ++w->seq;
    CHECK_INT(engine_handle(w->engine, &with), 0);
}

/* A bar that is received late_ns after its end; missing bars before it, that are asked for, are not there. */
static inline void late_kline(struct world *w, int symbol, int64_t open_ns, int64_t late_ns, int64_t open,
                              int64_t high, int64_t low, int64_t close)
{
    const struct bar bar = {.open_ns = open_ns,
                            .open = open,
                            .high = high,
                            .low = low,
                            .close = close,
                            .volume = E8,
                            .first_trade_id = -1,
                            .last_trade_id = -1};
    const struct event event = {.recv_ns = open_ns + MINUTE_NS + late_ns,
                                .kind = EVENT_MARKET,
                                .market = {.kind = MARKET_KLINE,
                                           .symbol = symbol,
                                           .event_ns = open_ns + MINUTE_NS,
                                           .kline = {.interval_ns = MINUTE_NS, .bar = bar, .closed = true}}};
    w->reported.wanted = -1;
    give(w, &event);
    if (w->reported.wanted < 0)
        return;
    const struct event none = {
        .recv_ns = open_ns + MINUTE_NS + late_ns, .kind = EVENT_BARS, .bars = {.symbol = w->reported.wanted}};
    give(w, &none);
}

static inline void kline(struct world *w, int symbol, int64_t open_ns, int64_t open, int64_t high,
                         int64_t low, int64_t close)
{
    late_kline(w, symbol, open_ns, 0, open, high, low, close);
}

static inline void late_flat(struct world *w, int symbol, int minute, int64_t late_ns, int64_t price)
{
    late_kline(w, symbol, MADE_START_NS + minute * MINUTE_NS, late_ns, price, price, price, price);
}

static inline void flat(struct world *w, int symbol, int minute, int64_t price)
{
    kline(w, symbol, MADE_START_NS + minute * MINUTE_NS, price, price, price, price);
}

static inline void give_row(struct world *w, size_t row)
{
    for (int s = 0; s < SYMBOLS; s++) {
        const struct market_series *series = &w->made.series[s];
        int64_t p[4];
        const double *const columns[] = {series->open, series->high, series->low, series->close};
        if (!market_present(series, row))
            continue;
        for (int k = 0; k < 4; k++)
            CHECK_INT(decimal_from_double(columns[k][row], 8, &p[k]), 0);
        kline(w, s, MADE_START_NS + (int64_t)row * MINUTE_NS, p[0], p[1], p[2], p[3]);
    }
}

static const struct policy_rules plain = {.norm_action = 10};

/* A policy that is asked for by its id. */
static inline const struct policy *find_made(void *ctx, const uint8_t id[static POLICY_ID_SIZE])
{
    const struct policy *policy = ctx;
    return memcmp(policy->id, id, POLICY_ID_SIZE) == 0 ? policy : NULL;
}

static inline void digest_is(const struct engine *engine, const uint8_t expected[static LEDGER_HASH_SIZE])
{
    uint8_t digest[LEDGER_HASH_SIZE];
    CHECK_INT(engine_digest(engine, digest), 0);
    CHECK(memcmp(digest, expected, sizeof digest) == 0);
}

#endif

/* The venue's fills beside what our model would have filled on the same book: of market and limit
 * orders of accounts with EXECUTION_VENUE_PAPER that took from the book; those that only reduce apart. From
 * the differences the model's latency and slippage are fitted.
 *
 * The time between the decision and the venue's first fill, by the venue's clock less how far it is ahead of
 * ours, is an order's latency; what the log shows at that moment, walked as the model walks it without
 * slippage, is the model's price. */
#ifndef ENGINE_FILL_COMPARE_H
#define ENGINE_FILL_COMPARE_H

#include "engine/replay.h"

/* An order that took. */
struct compared_order {
    uint64_t id;
    char account[ACCOUNT_NAME_MAX], symbol[SYMBOL_NAME_MAX], quote[ASSET_NAME_MAX];
    enum order_side side;
    enum order_type type;
    int price_scale, qty_scale, quote_scale;
    int64_t price;                   /* its limit; 0: none */
    int64_t decided_ns;              /* our clock */
    int64_t latency_ns;              /* of its first fill; INT64_MIN: the venue did not say when */
    int64_t venue_qty, model_qty;    /* that were taken */
    double venue_price, model_price; /* averages; NaN: none, or what was shown then is not known */
    double worse_bp;                 /* venue_price against model_price, 1e-4: > 0 costs; NaN */
    double venue_fee, model_fee;     /* of the quote asset; a fee in the base at the fill's price */
};

/* A quantity's median and quartiles over orders; NaN where n is 0. */
struct compared_figure {
    size_t n;
    double median, low, high;
};

struct fill_comparison {
    struct compared_order *orders; /* in the order in which they were sent */
    size_t n;
    struct compared_figure latency_ms, slippage_bp;
    /* Of the model as it is configured at the end. */
    int64_t latency_ns;
    int32_t slippage_e6;
};

struct fill_compare_options {
    const char *path;       /* of the log */
    int64_t from_ns, to_ns; /* decisions in [from, to); 0: from the oldest state on; to the end */
};

/* Plays the log twice. 0, the caller's until engine_fill_comparison_finish(); errors of
 * engine_replay_open() and engine_replay_step() with one sentence. */
int engine_fill_compare(const struct fill_compare_options *options, struct fill_comparison *ret, char *err,
                        size_t err_size);
void engine_fill_comparison_finish(struct fill_comparison *comparison);

#endif

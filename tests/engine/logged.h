/* An engine as a daemon runs it: random events go into a journal and into the engine, and what comes out is
 * recorded, as a database would. */
#ifndef TESTS_ENGINE_LOGGED_H
#define TESTS_ENGINE_LOGGED_H

#include <errno.h>
#include <stdlib.h>

#include "engine/compare.h"
#include "engine/record.h"
#include "engine/replay.h"
#include "engine/state.h"
#include "tests/check.h"
#include "tests/engine/driver.h"
#include "tests/scratch.h"

enum { LOGGED_VALUES = 16 };

/* What was known of an order when it was made. */
struct logged_order {
    struct recorded_order row;
    double values[LOGGED_VALUES]; /* of the strategy's indicators */
    size_t n_values;
    bool by_bar; /* made while a bar was handled */
};

struct logged {
    char dir[SCRATCH_MAX];
    struct driver driver;
    struct engine *engine;
    struct journal_writer *writer;
    struct journal_batch batch;
    struct codec codec;
    uint64_t run;
    struct event event;          /* the last one */
    struct logged_order *orders; /* [id - 1] */
    struct recorded_fill *fills;
    struct ledger_row *ledger;
    struct receivable_row *receivables;
    struct recorded_fee_rate *fee_rates;
    size_t n_orders, n_fills, n_ledger, cap_orders, cap_fills, cap_ledger;
    size_t n_receivables, n_fee_rates, cap_receivables, cap_fee_rates;
    struct engine_recorded recorded;
};

static inline void *logged_next(void **items, size_t *n, size_t *cap, size_t size)
{
    if (*n == *cap) {
        *cap = *cap ? 2 * *cap : 1024;
        *items = realloc(*items, *cap * size);
        if (!*items)
            abort();
    }
    return memset((char *)*items + (*n)++ * size, 0, size);
}

static inline const char *logged_symbol(const struct logged *l, int symbol)
{
    return symbol >= 0 && symbol < DRIVER_SYMBOLS ? l->driver.symbols[symbol].name : "";
}

static inline void logged_on_order(void *ctx, const struct order *order)
{
    struct logged *l = ctx;
    if (order->id > l->n_orders) {
        struct logged_order *made =
            logged_next((void **)&l->orders, &l->n_orders, &l->cap_orders, sizeof *made);
        CHECK_INT(order->id, l->n_orders);
        const char *names[LOGGED_VALUES];
        if (!order->by_hand && order->account >= 0)
            made->n_values = engine_indicators(l->engine, order->account, order->symbol, names, made->values,
                                               LOGGED_VALUES);
        made->by_bar = l->event.kind == EVENT_BARS ||
                       (l->event.kind == EVENT_MARKET && l->event.market.kind == MARKET_KLINE);
    }
    struct recorded_order *row = &l->orders[order->id - 1].row;
    row->order = *order;
    snprintf(row->symbol, sizeof row->symbol, "%s", logged_symbol(l, order->symbol));
}

static inline void logged_on_fill(void *ctx, const struct fill *fill)
{
    struct logged *l = ctx;
    struct recorded_fill *row = logged_next((void **)&l->fills, &l->n_fills, &l->cap_fills, sizeof *row);
    CHECK_INT(fill->id, l->n_fills);
    row->fill = *fill;
    snprintf(row->symbol, sizeof row->symbol, "%s", logged_symbol(l, fill->symbol));
}

static inline void logged_on_ledger(void *ctx, const struct ledger_row *made)
{
    struct logged *l = ctx;
    struct ledger_row *row = logged_next((void **)&l->ledger, &l->n_ledger, &l->cap_ledger, sizeof *row);
    CHECK_INT(made->id, l->n_ledger);
    *row = *made;
}

static inline void logged_on_receivable(void *ctx, const struct receivable_row *made)
{
    struct logged *l = ctx;
    struct receivable_row *row =
        logged_next((void **)&l->receivables, &l->n_receivables, &l->cap_receivables, sizeof *row);
    CHECK_INT(made->id, l->n_receivables);
    *row = *made;
}

static inline void logged_on_fee_rate(void *ctx, const struct fee_rate_change *made)
{
    struct logged *l = ctx;
    struct recorded_fee_rate *row =
        logged_next((void **)&l->fee_rates, &l->n_fee_rates, &l->cap_fee_rates, sizeof *row);
    CHECK_INT(made->id, l->n_fee_rates);
    row->change = *made;
    row->change.tiers = NULL;
    snprintf(row->tiers, sizeof row->tiers, "%s", made->tiers);
}

static inline int logged_order_row(void *ctx, uint64_t id, struct recorded_order *ret)
{
    const struct logged *l = ctx;
    if (id < 1 || id > l->recorded.last_order || l->orders[id - 1].row.order.id != id)
        return -ENOENT;
    *ret = l->orders[id - 1].row;
    return 0;
}

static inline int logged_fill_row(void *ctx, uint64_t id, struct recorded_fill *ret)
{
    const struct logged *l = ctx;
    if (id < 1 || id > l->recorded.last_fill || l->fills[id - 1].fill.id != id)
        return -ENOENT;
    *ret = l->fills[id - 1];
    return 0;
}

static inline int logged_ledger_row(void *ctx, uint64_t id, struct ledger_row *ret)
{
    const struct logged *l = ctx;
    if (id < 1 || id > l->recorded.last_ledger || l->ledger[id - 1].id != id)
        return -ENOENT;
    *ret = l->ledger[id - 1];
    return 0;
}

static inline int logged_receivable_row(void *ctx, uint64_t id, struct receivable_row *ret)
{
    const struct logged *l = ctx;
    if (id < 1 || id > l->recorded.last_receivable || l->receivables[id - 1].id != id)
        return -ENOENT;
    *ret = l->receivables[id - 1];
    return 0;
}

static inline int logged_fee_rate_row(void *ctx, uint64_t id, struct recorded_fee_rate *ret)
{
    const struct logged *l = ctx;
    if (id < 1 || id > l->recorded.last_fee_rate || l->fee_rates[id - 1].change.id != id)
        return -ENOENT;
    *ret = l->fee_rates[id - 1];
    return 0;
}

static inline void logged_put(struct logged *l)
{
    CHECK_INT(journal_writer_put(l->writer, &l->batch), 0);
    journal_batch_clear(&l->batch);
}

/* A state of `engine`, as after the last event. */
static inline void logged_state_of(struct logged *l, const struct engine *engine, enum state_why why)
{
    l->run += why == STATE_NEW_RUN;
    CHECK_INT(engine_state_record_encode(engine, l->run, why, NULL, 0, &l->codec), 0);
    const struct journal_record record = {.kind = JOURNAL_STATE,
                                          .seq = l->driver.seq,
                                          .recv_ns = l->driver.now_ns,
                                          .bytes = l->codec.bytes,
                                          .len = l->codec.len};
    CHECK_INT(journal_batch_add(&l->batch, &record), 0);
    logged_put(l);
}

static inline void logged_state(struct logged *l, enum state_why why)
{
    logged_state_of(l, l->engine, why);
}

static inline void logged_writer(struct logged *l)
{
    char err[JOURNAL_ERROR_MAX] = "";
    struct journal_tail tail;
    scratch_make(l->dir);
    const struct journal_writer_config config = {.dir = l->dir, .block_bytes = 4096};
    if (journal_writer_open(&config, &l->writer, &tail, err, sizeof err) < 0) {
        fprintf(stderr, "%s\n", err);
        exit(EXIT_FAILURE);
    }
}

/* Before the engine is made; NULL: nothing. */
static void (*logged_prepare)(struct driver *driver);

/* `venues`: with what several venues bring: sessions, halts, splits, dividends. */
static inline void logged_open_as(struct logged *l, uint64_t seed, bool venues)
{
    memset(l, 0, sizeof *l);
    driver_init(&l->driver, seed);
    if (venues)
        driver_venues(&l->driver);
    if (logged_prepare)
        logged_prepare(&l->driver);
    const struct engine_sink sink = {.ctx = l,
                                     .order = logged_on_order,
                                     .fill = logged_on_fill,
                                     .ledger = logged_on_ledger,
                                     .receivable = logged_on_receivable,
                                     .fee_rate = logged_on_fee_rate};
    journal_batch_init(&l->batch);
    codec_save(&l->codec);
    CHECK_INT(engine_create(&l->driver.config, &sink, &l->engine), 0);
    l->recorded = (struct engine_recorded){.ctx = l,
                                           .order = logged_order_row,
                                           .fill = logged_fill_row,
                                           .ledger = logged_ledger_row,
                                           .receivable = logged_receivable_row,
                                           .fee_rate = logged_fee_rate_row};
    logged_writer(l);
    logged_state(l, STATE_NEW_RUN);
}

static inline void logged_open(struct logged *l, uint64_t seed)
{
    logged_open_as(l, seed, false);
}

/* Everything up to now is in the record. */
static inline void logged_settle(struct logged *l)
{
    l->recorded.event_seq = l->driver.seq;
    l->recorded.last_order = l->n_orders;
    l->recorded.last_fill = l->n_fills;
    l->recorded.last_ledger = l->n_ledger;
    l->recorded.last_receivable = l->n_receivables;
    l->recorded.last_fee_rate = l->n_fee_rates;
}

/* Decisions on what outside strategies are asked, as events after the one before; NULL: nothing is asked. */
static bool (*logged_answer)(const struct engine *engine, uint64_t seq, int64_t recv_ns, struct event *ret);

static inline void logged_add(struct logged *l, bool lost)
{
    CHECK_INT(event_encode(&l->event, &l->codec), 0);
    const struct journal_record record = {.kind = JOURNAL_EVENT,
                                          .seq = l->event.seq,
                                          .recv_ns = l->event.recv_ns,
                                          .bytes = l->codec.bytes,
                                          .len = l->codec.len};
    if (!lost)
        CHECK_INT(journal_batch_add(&l->batch, &record), 0);
}

/* n events; into the log unless `lost`. */
static inline void logged_play(struct logged *l, int n, bool lost)
{
    for (int i = 0; i < n; i++) {
        driver_next(&l->driver, l->engine, &l->event);
        logged_add(l, lost);
        int r = engine_handle(l->engine, &l->event);
        CHECK(r == 0 || r == -EINVAL);
        while (logged_answer && logged_answer(l->engine, l->driver.seq + 1, l->event.recv_ns, &l->event)) {
            l->driver.seq++;
            logged_add(l, lost);
            CHECK_INT(engine_handle(l->engine, &l->event), 0);
        }
    }
    logged_put(l);
    logged_settle(l);
}

static inline void logged_close(struct logged *l)
{
    journal_writer_close(l->writer);
    journal_batch_finish(&l->batch);
    codec_finish(&l->codec);
    engine_destroy(l->engine);
    free(l->orders);
    free(l->fills);
    free(l->ledger);
    free(l->receivables);
    free(l->fee_rates);
    scratch_remove(l->dir);
}

#endif

/* ALICE's account is at its venue, whose news the test gives. */
#ifndef TESTS_ENGINE_AT_VENUE_H
#define TESTS_ENGINE_AT_VENUE_H

#include "tests/engine/by_hand.h"
#include "tests/engine/puppet.h"

static inline void open_account(const struct strategy *strategy)
{
    harness_init(&h);
    h.accounts[ALICE].strategy = strategy;
    h.accounts[ALICE].rules.execution = EXECUTION_VENUE_PAPER;
    puppet_n = 0;
    harness_open(&h);
    CHECK_INT(h.rows, 1); /* bob's deposit */
    quote(&h, BTCUSDT, 60000 * E8, 10 * E8, 60010 * E8, 10 * E8);
    trade(&h, BTCUSDT, 60000 * E8, E8);
}

static inline void account_news(enum venue_account_update news, int64_t usdt, int64_t btc)
{
    const struct venue_total totals[] = {{"USDT", 8, usdt}, {"BTC", 8, btc}, {"DOGE", 8, 77}};
    struct event event = {.kind = EVENT_VENUE_ACCOUNT,
                          .venue_account = {.account = ALICE,
                                            .update = news,
                                            .prefix = "0abc1234",
                                            .totals = totals,
                                            .n = 3,
                                            .text = "wiped"}};
    CHECK_INT(harness_event(&h, &event), 0);
}

static inline void attached(int64_t btc)
{
    open_account(&puppet_strategy);
    account_news(VENUE_ACCOUNT_ATTACHED, 5000 * E8, btc);
}

static inline struct event news_of(uint64_t id, enum venue_update news)
{
    return (struct event){
        .kind = EVENT_VENUE_ORDER,
        .venue_order = {.account = ALICE, .order_id = id, .update = news, .venue_id = "17", .text = "no"}};
}

static inline void news(uint64_t id, enum venue_update kind)
{
    struct event event = news_of(id, kind);
    CHECK_INT(harness_event(&h, &event), 0);
}

static inline void filled(uint64_t id, int64_t price, int64_t qty, int64_t cumulative, const char *fee_asset,
                          int64_t fee)
{
    struct event event = news_of(id, VENUE_UPDATE_FILL);
    event.venue_order.fill.price = price;
    event.venue_order.fill.qty = qty;
    event.venue_order.fill.cumulative = cumulative;
    event.venue_order.fill.notional = -1;
    event.venue_order.fill.fee = fee;
    snprintf(event.venue_order.fill.fee_asset, sizeof event.venue_order.fill.fee_asset, "%s", fee_asset);
    CHECK_INT(harness_event(&h, &event), 0);
}

static inline const struct position *held(void)
{
    return &engine_account(h.engine, ALICE)->positions[BTCUSDT];
}

static inline enum order_state state_of(uint64_t id)
{
    return reported(&h, id)->state;
}

#endif

/* What an order would be, cost and fill, without giving it: its checks and its reserve are the paper
 * exchange's own, on the engine as it is, which is put back afterwards. */
#include <errno.h>
#include <stdlib.h>

#include "engine/match.h"
#include "exchange/fill_rules.h"

/* What the checks and the reserves change. */
struct dry_run_kept {
    struct account account;
    struct risk_rate rate;
    const struct engine_trace *trace;
    bool account_moved, killing, unmoved, calm;
    int64_t next_expiry_ns;
    int64_t *balances; /* reserved, [account.n_assets] */
    int64_t *orders;   /* reserved, [n_orders] */
    size_t n_orders;
};

static bool keep(const struct engine *engine, const struct order *request, struct dry_run_kept *kept)
{
    const struct account *account = &engine->accounts[request->account];
    const struct market_state *market = &engine->markets[request->symbol];
    *kept = (struct dry_run_kept){
        .account = *account,
        .rate = engine->rates[request->account],
        .trace = engine->sink.trace,
        .account_moved = engine->account_moved,
        .killing = engine->killing,
        .unmoved = market->unmoved,
        .calm = market->calm,
        .next_expiry_ns = engine->next_expiry_ns,
        .balances = calloc((size_t)account->n_assets + 1, sizeof *kept->balances),
        .orders = calloc(engine->n_orders + 1, sizeof *kept->orders),
        .n_orders = engine->n_orders,
    };
    if (!kept->balances || !kept->orders)
        return false;
    for (int i = 0; i < account->n_assets; i++)
        kept->balances[i] = account->assets[i].reserved;
    for (size_t i = 0; i < engine->n_orders; i++)
        kept->orders[i] = engine->orders[i].reserved;
    return true;
}

static void put_back(struct engine *engine, const struct order *request, const struct dry_run_kept *kept)
{
    struct account *account = &engine->accounts[request->account];
    struct market_state *market = &engine->markets[request->symbol];
    while (engine->n_orders > kept->n_orders)
        engine_live_drop_last(engine);
    *account = kept->account;
    for (int i = 0; i < account->n_assets; i++)
        account->assets[i].reserved = kept->balances[i];
    for (size_t i = 0; i < engine->n_orders; i++)
        engine->orders[i].reserved = kept->orders[i];
    engine->rates[request->account] = kept->rate;
    engine->sink.trace = kept->trace;
    engine->account_moved = kept->account_moved;
    engine->killing = kept->killing;
    market->unmoved = kept->unmoved;
    market->calm = kept->calm;
    engine->next_expiry_ns = kept->next_expiry_ns;
}

/* False without memory. */
static bool reserve(struct engine *engine, struct engine_dry_run *run)
{
    const struct order *first = &run->legs[0];
    const struct account *account = &engine->accounts[first->account];
    const struct account_pair *pair = &account->pairs[first->symbol];
    const struct balance *balance = &account->assets[first->side == ORDER_BUY ? pair->quote : pair->base];
    int64_t before = balance->reserved;
    for (int i = 0; i < run->n_legs; i++)
        if (!engine_live_push(engine, &run->legs[i]))
            return false;
    for (int i = 0; i < run->n_legs; i++)
        engine_reserve_set(engine, &run->legs[i]);
    run->asset = balance->asset;
    run->asset_scale = balance->scale;
    run->reserved = balance->reserved - before;
    run->available = balance->total - before;
    return true;
}

/* Would it take what is shown, when it arrives? */
static bool takes(const struct engine *engine, const struct order *order)
{
    return engine->fill_model != FILL_BAR && !engine->markets[order->symbol].stale &&
           engine_hours_takes(engine, order) && !order_is_of_auction(order->tif) &&
           (!order_is_stop(order->type) ||
            engine_arrive_would_trigger(order, engine_auction_last(engine, &engine->markets[order->symbol])));
}

/* As engine_arrive_stand() decides, and engine_fills_shown() takes. */
static void fill(const struct engine *engine, const struct order *given, struct engine_dry_run *run)
{
    const struct market_state *market = &engine->markets[given->symbol];
    const struct fee_rates *fees = account_fees(&engine->accounts[given->account].rules, &market->symbol);
    struct order order = *given;
    struct book_level best;
    struct book_walk walk;
    int64_t part, qty = 0, notional = 0, fee = 0;
    order.triggered |= order_is_stop(order.type);
    run->would_take = order.post_only &&
                      engine_match_best(engine, order.account, order.symbol, order.side, &best) &&
                      fill_limit_crosses(order.side, order.price, best.price);
    if (run->would_take)
        return;
    engine_walk_begin(&walk, engine, order.account, order.symbol, order.side);
    engine_walk_beyond(&walk, engine);
    while (qty < order.qty && (part = engine_walk_part(&walk, &order, order.qty - qty)) > 0) {
        int64_t price = engine_fills_taker_price(engine, &order, walk.level.price);
        int64_t value = fill_notional(order.side, price, part, market->notional_unit);
        qty += part;
        notional += value;
        fee += fill_fee(value, fees->taker_e6);
    }
    if (order.tif == ORDER_FOK && qty < order.qty)
        return;
    run->fill_qty = qty;
    run->fill_notional = notional;
    run->fill_fee = fee;
}

/* By the price that the checks take, a limit order's rest by the maker's rate. */
static void estimate(const struct engine *engine, struct engine_dry_run *run)
{
    const struct order *first = &run->legs[0];
    const struct market_state *market = &engine->markets[first->symbol];
    const struct fee_rates *fees = account_fees(&engine->accounts[first->account].rules, &market->symbol);
    int64_t price = engine_reserve_price(engine, first), rest = first->qty - run->fill_qty;
    int64_t value =
        rest > 0 && price > 0 ? fill_notional(first->side, price, rest, market->notional_unit) : 0;
    run->price = price;
    run->notional = run->fill_notional + value;
    run->fee =
        run->fill_fee + fill_fee(value, order_has_limit(first->type) ? fees->maker_e6 : fees->taker_e6);
}

int engine_dry_run(struct engine *engine, enum order_grouping grouping, const struct order *requests,
                   int n_legs, struct engine_dry_run *ret)
{
    struct engine_dry_run run = {.n_legs = n_legs};
    struct dry_run_kept kept;
    bool good = keep(engine, requests, &kept);
    if (good) {
        engine->sink.trace = NULL;
        engine_match_legs(engine, grouping, requests, n_legs, run.legs);
        run.reason = engine_match_check(engine, grouping, run.legs, n_legs);
        if (run.reason == ORDER_OK)
            good = reserve(engine, &run);
        put_back(engine, requests, &kept);
    }
    free(kept.balances);
    free(kept.orders);
    if (!good)
        return -ENOMEM;
    if (run.reason == ORDER_OK) {
        if (grouping != ORDERS_OCO && takes(engine, &run.legs[0]))
            fill(engine, &run.legs[0], &run);
        estimate(engine, &run);
    }
    *ret = run;
    return 0;
}

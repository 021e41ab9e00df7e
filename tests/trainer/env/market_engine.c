/* The environment on the paper exchange against the paper exchange itself: the same bars and the same actions
 * through engine/engine.h, a policy here that reads the account and gives its orders as commands. Every fill,
 * the cash and the equity are equal to the unit after every bar. */
#include <errno.h>

#include "engine/engine.h"
#include "engine/event.h"
#include "strategy/policy/limit_rules.h"
#include "tests/check.h"
#include "tests/trainer/env/exchange_bars.h"
#include "trainer/env/internal.h"

enum { TRADES_MAX = 64 };

struct trade {
    int64_t row, qty, price, fee; /* qty < 0: sold */
    int asset;
    bool at_open;
};

struct trades {
    struct trade list[TRADES_MAX];
    int n;
};

struct run {
    struct made made;
    struct env_params params;
    struct env_market *market;
    struct env *env;
    struct engine *engine;
    struct policy_symbol symbols[MADE_ASSETS];
    struct policy_memory memory[MADE_ASSETS];
    struct policy_rules rules;
    bool limited;
    struct policy_round round;
    struct policy_portfolio all;
    uint64_t stops[MADE_ASSETS]; /* ids; 0: no stop */
    uint64_t seq, last_order;
    enum order_reason reason;
    int wants_bars; /* a symbol, or -1 */
    struct trades ours, theirs;
    int64_t now_ns, capital;
};

static struct {
    long steps, fills, stops, inside, cut, waited, refused;
    long limited, causes[POLICY_PROFITED + 1];
} seen;

static void on_reported(void *ctx, size_t copy, const struct env_trade *trade)
{
    struct run *run = ctx;
    CHECK_INT(copy, 0);
    if (run->ours.n < TRADES_MAX)
        run->ours.list[run->ours.n++] = (struct trade){.row = trade->row,
                                                       .qty = llround(trade->qty * MADE_UNIT),
                                                       .price = llround(trade->price * MADE_UNIT),
                                                       .fee = llround(trade->fee * MADE_UNIT),
                                                       .asset = trade->asset,
                                                       .at_open = trade->at_open};
}

static void on_fill(void *ctx, const struct fill *fill)
{
    struct run *run = ctx;
    int64_t row = (fill->ts_ns - MADE_START) / MADE_INTERVAL;
    seen.fills++;
    seen.stops += fill->order_id == run->stops[fill->symbol];
    seen.inside += fill->ts_ns % MADE_INTERVAL != MADE_START % MADE_INTERVAL;
    if (run->theirs.n < TRADES_MAX)
        run->theirs.list[run->theirs.n++] =
            (struct trade){.row = row,
                           .qty = fill->side == ORDER_BUY ? fill->qty : -fill->qty,
                           .price = fill->price,
                           .fee = fill->fee,
                           .asset = fill->symbol,
                           .at_open = fill->ts_ns == MADE_START + row * MADE_INTERVAL};
}

static void on_order(void *ctx, const struct order *order)
{
    (void)ctx;
    seen.cut += order->type == ORDER_MARKET && order->reason == ORDER_INSUFFICIENT_BALANCE;
}

static void on_need_bars(void *ctx, int symbol, int64_t from_ns, int64_t to_ns)
{
    struct run *run = ctx;
    (void)from_ns, (void)to_ns;
    run->wants_bars = symbol;
}

static void on_command_done(void *ctx, const struct event_command *command, enum order_reason reason,
                            uint64_t order)
{
    struct run *run = ctx;
    (void)command;
    run->reason = reason;
    run->last_order = order;
}

static void put(struct run *run, struct event event)
{
    event.seq = ++run->seq;
    event.recv_ns = run->now_ns;
    CHECK_INT(engine_handle(run->engine, &event), 0);
}

static void put_bar(struct run *run, int asset, size_t row)
{
    const int64_t *prices = run->made.bars[asset][row];
    struct bar bar = {.open_ns = MADE_START + (int64_t)row * MADE_INTERVAL,
                      .open = prices[0],
                      .high = prices[1],
                      .low = prices[2],
                      .close = prices[3],
                      .volume = MADE_UNIT,
                      .trades = 1,
                      .first_trade_id = -1,
                      .last_trade_id = -1};
    run->now_ns = bar.open_ns + MADE_INTERVAL;
    run->wants_bars = -1;
    struct event event = {.kind = EVENT_MARKET};
    event.market =
        (struct market_event){.kind = MARKET_KLINE, .symbol = asset, .kline = {MADE_INTERVAL, bar, true}};
    put(run, event);
    if (run->wants_bars >= 0) { /* the venue has none there */
        CHECK_INT(run->wants_bars, asset);
        event = (struct event){.kind = EVENT_BARS, .bars = {asset, NULL, 0, true}};
        put(run, event);
    }
}

static void put_bars(struct run *run, size_t row)
{
    for (int i = 0; i < run->made.n; i++)
        if (made_there(&run->made, i, row))
            put_bar(run, i, row);
}

/* ---- the policy by hand ---- */

static uint64_t command(struct run *run, struct event_command what)
{
    struct event event = {.kind = EVENT_COMMAND};
    event.command = what;
    event.command.command_id = run->seq + 1;
    put(run, event);
    if (run->reason != ORDER_OK) {
        fprintf(stderr, "refused: %s\n", order_reason_name(run->reason));
        seen.refused++;
    }
    return run->last_order;
}

static uint64_t submit(struct run *run, struct order request)
{
    request.by_hand = true;
    return command(run,
                   (struct event_command){.kind = COMMAND_ORDER, .order = {.legs = &request, .n_legs = 1}});
}

static const struct balance *cash_of(const struct run *run)
{
    const struct account *account = engine_account(run->engine, 0);
    return &account->assets[account->currency_at];
}

static int64_t held(const struct run *run, int asset)
{
    return engine_account(run->engine, 0)->positions[asset].qty;
}

static void protect(struct run *run, int asset, const struct policy_order *order)
{
    int64_t qty = (int64_t)order->stop_qty * run->symbols[asset].quantum, price = (int64_t)order->stop;
    if (run->stops[asset] && engine_find_order(run->engine, run->stops[asset]))
        command(run, (struct event_command){.kind = COMMAND_AMEND,
                                            .amend = {.order_id = run->stops[asset],
                                                      .set = AMEND_QTY | AMEND_STOP,
                                                      .qty = qty,
                                                      .stop_price = price}});
    else
        run->stops[asset] = submit(run, (struct order){.symbol = asset,
                                                       .side = ORDER_SELL,
                                                       .type = ORDER_STOP,
                                                       .qty = qty,
                                                       .stop_price = price,
                                                       .reduce_only = true});
}

static struct policy_order decided(struct run *run, int asset, float action, double close, int64_t equity,
                                   int64_t free)
{
    struct policy_memory *memory = &run->memory[asset];
    const struct policy_symbol *symbol = &run->symbols[asset];
    if (!run->limited)
        return policy_decide(&run->rules, symbol, memory, action, close, (double)equity, (double)free);
    double cost = (double)engine_account(run->engine, 0)->positions[asset].cost;
    struct policy_order order =
        policy_decide_within(&run->rules, &run->round, symbol, memory, cost, action, close, (double)equity,
                             (double)(equity - free), (double)free);
    seen.causes[order.cause] += order.qty != 0;
    return order;
}

static void decide(struct run *run, int asset, size_t row, float action, int64_t equity)
{
    struct policy_memory *memory = &run->memory[asset];
    const struct policy_symbol *symbol = &run->symbols[asset];
    double close = (double)run->made.bars[asset][row][3];
    const struct balance *cash = cash_of(run);
    policy_watch(&run->rules, memory, (double)(held(run, asset) / symbol->quantum), close);
    struct policy_order order = decided(run, asset, action, close, equity, cash->total - cash->reserved);
    if (order.stop > 0)
        protect(run, asset, &order);
    if (order.qty != 0) {
        int64_t reserved = cash->reserved;
        submit(run, (struct order){.symbol = asset,
                                   .side = order.qty > 0 ? ORDER_BUY : ORDER_SELL,
                                   .type = ORDER_MARKET,
                                   .qty = (int64_t)fabs(order.qty) * symbol->quantum,
                                   .reduce_only = order.qty < 0});
        CHECK_INT(cash_of(run)->reserved - reserved, order.reserve);
    }
}

static void decide_all(struct run *run, size_t row, const float *actions)
{
    int64_t equity = engine_equity(run->engine, 0);
    const struct balance *cash = cash_of(run);
    bool any = false;
    for (int i = 0; i < run->made.n; i++)
        any |= made_there(&run->made, i, row);
    if (run->limited && any)
        run->round = policy_watch_all(&run->rules.limits, &run->all,
                                      MADE_START + (int64_t)row * MADE_INTERVAL, MADE_INTERVAL,
                                      (double)equity, (double)(equity - (cash->total - cash->reserved)));
    for (int i = 0; i < run->made.n; i++)
        if (made_there(&run->made, i, row))
            decide(run, i, row, actions[i], equity);
}

/* ---- both ---- */

static double some_share(struct random *random, double most)
{
    return random_chance(random, 40) ? (double)random_between(random, 1, 1000) / 1000 * most : 0;
}

static void make_limits(struct random *random, struct policy_limits *ret)
{
    ret->exposure = some_share(random, 1);
    ret->exposure_symbol = some_share(random, ret->exposure > 0 ? ret->exposure : 1);
    ret->daily_loss = some_share(random, 0.1);
    ret->stop_loss = some_share(random, 0.1);
    ret->trailing_stop = some_share(random, 0.1);
    ret->portfolio_trailing_stop = some_share(random, 0.1);
    if (ret->portfolio_trailing_stop > 0)
        ret->cooldown_s = (double)random_between(random, 0, 10) * (double)MADE_INTERVAL / 2e9;
    ret->cooldown_s = floor(ret->cooldown_s);
    ret->take_profit.above = some_share(random, 0.1);
    if (ret->take_profit.above > 0)
        ret->take_profit.part = (double)random_between(random, 1, 100) / 100;
}

static bool open_run(struct run *run, struct random *random, enum env_backend backend)
{
    char err[ENV_ERROR_MAX] = "";
    synthetic_market(random, &run->made, (int)random_between(random, 1, MADE_ASSETS),
                     (size_t)random_between(random, 60, MADE_ROWS));
    if (env_params_preset("cappuccino", &run->params, err) < 0)
        return false;
    made_params(random, &run->params);
    if (random_chance(random, 50))
        make_limits(random, &run->params.limits);
    run->limited = policy_has_limits(&run->params.limits);
    seen.limited += run->limited;
    const struct env_options options = {.copies = 1, .seed = 1, .backend = backend};
    if (env_market_create(&run->made.source, &run->params, &run->market, err) < 0 ||
        env_create(&run->params, run->market, &options, &run->env, err) < 0) {
        fprintf(stderr, "%s\n", err);
        return false;
    }
    CHECK_INT(env_trades(run->env, on_reported, run), run->env->backend == ENV_SCALAR ? 0 : -ENOTSUP);

    int32_t fee_e6 = (int32_t)lround(run->params.buy_cost_pct.low * 1e6);
    run->capital = llround(run->params.initial_capital.low * (double)MADE_UNIT);
    struct account_spec account = {
        .name = "alice", .currency = "USDT", .currency_scale = 8, .cash = run->capital};
    account.rules.fees = (struct fee_rates){.maker_e6 = fee_e6 / 2, .taker_e6 = fee_e6};
    const struct engine_config config = {.symbols = run->made.symbols,
                                         .n_symbols = run->made.n,
                                         .accounts = &account,
                                         .n_accounts = 1,
                                         .interval_ns = MADE_INTERVAL,
                                         .latency_ns = random_between(random, 0, MADE_INTERVAL - 1),
                                         .fill_model = FILL_BAR,
                                         .slippage_e6 = (int32_t)lround(run->params.slippage_pct.low * 1e6)};
    const struct engine_sink sink = {.ctx = run,
                                     .order = on_order,
                                     .fill = on_fill,
                                     .need_bars = on_need_bars,
                                     .command_done = on_command_done};
    run->now_ns = MADE_START;
    run->rules = (struct policy_rules){.norm_action = run->params.norm_action,
                                       .trailing_stop = run->params.trailing_stop_pct,
                                       .max_position = run->params.max_position_pct,
                                       .min_cash = run->params.min_cash_reserve,
                                       .exit_bars = run->params.forced_exit_bars,
                                       .exit_share = run->params.forced_exit_pct,
                                       .cooldown_bars = run->params.cooldown_bars,
                                       .capital = (double)run->capital,
                                       .fee_e6 = fee_e6,
                                       .spend = policy_spend(fee_e6),
                                       .limits = run->params.limits};
    return engine_create(&config, &sink, &run->engine) == 0 && engine_start(run->engine, run->now_ns) == 0;
}

static void begin_run(struct run *run)
{
    env_reset(run->env, NULL);
    for (int i = 0; i < run->made.n; i++) {
        CHECK_INT(policy_symbol_init(&run->made.symbols[i], &run->symbols[i]), 0);
        run->memory[i].scale = policy_scale(&run->rules, &run->symbols[i], (double)run->made.bars[i][0][3]);
        run->memory[i].least = run->made.least[i] * run->symbols[i].qty_units;
    }
    for (size_t row = 0; row < (size_t)run->params.lookback; row++)
        put_bars(run, row);
}

static bool same_trades(const struct run *run)
{
    bool same = run->ours.n == run->theirs.n;
    for (int k = 0; same && k < run->ours.n; k++) {
        const struct trade *a = &run->ours.list[k], *b = &run->theirs.list[k];
        same = a->row == b->row && a->asset == b->asset && a->qty == b->qty && a->price == b->price &&
               a->fee == b->fee && a->at_open == b->at_open;
    }
    return same;
}

static void print_trades(const char *whose, const struct trades *trades)
{
    for (int k = 0; k < trades->n; k++)
        fprintf(stderr, "%s: row %jd asset %d qty %jd price %jd fee %jd%s\n", whose,
                (intmax_t)trades->list[k].row, trades->list[k].asset, (intmax_t)trades->list[k].qty,
                (intmax_t)trades->list[k].price, (intmax_t)trades->list[k].fee,
                trades->list[k].at_open ? " at the open" : "");
}

static bool compare(struct run *run, size_t row)
{
    const struct env_state *state = &run->env->view.state;
    unsigned long before = check_failures;
    if (run->env->backend == ENV_SCALAR)
        CHECK(same_trades(run));
    CHECK_INT(((const double *)state->cash)[0], cash_of(run)->total);
    CHECK_INT(((const double *)state->equity)[0], engine_equity(run->engine, 0));
    for (int i = 0; i < run->made.n; i++)
        CHECK_INT((int64_t)state->lots[(size_t)i * state->stride] * run->symbols[i].quantum, held(run, i));
    if (check_failures == before)
        return true;
    fprintf(stderr, "after row %zu:\n", row);
    print_trades("environment", &run->ours);
    print_trades("engine", &run->theirs);
    return false;
}

static void count_waiting(const struct run *run)
{
    for (size_t k = 0; k < engine_orders(run->engine); k++)
        seen.waited += engine_order(run->engine, k)->type == ORDER_MARKET;
}

static void play(struct run *run, struct random *random)
{
    char err[ENV_ERROR_MAX];
    float actions[MADE_ASSETS], reward;
    uint8_t terminated = 0, truncated = 0;
    int busy = (int)random_between(random, 10, 100);
    begin_run(run);
    for (size_t row = (size_t)run->params.lookback - 1; !truncated && !terminated && row + 1 < run->made.rows;
         row++) {
        for (int i = 0; i < run->made.n; i++)
            actions[i] = random_chance(random, busy) ? (float)random_between(random, -2000, 3000) / 1000 : 0;
        run->ours.n = run->theirs.n = 0;
        const struct env_io io = {
            .actions = actions, .rewards = &reward, .terminated = &terminated, .truncated = &truncated};
        CHECK_INT(env_step(run->env, &io, err), 0);
        decide_all(run, row, actions);
        put_bars(run, row + 1);
        count_waiting(run);
        seen.steps++;
        if (!compare(run, row))
            break;
    }
    CHECK(truncated && !terminated);
}

static void close_run(struct run *run)
{
    engine_destroy(run->engine);
    env_destroy(run->env);
    env_market_destroy(run->market);
}

int main(void)
{
    struct random random = random_seeded("market_engine", 20260707);
    long runs = getenv("PAPERTAPE_LONG") ? 4000 : 200;
    struct run *run = malloc(sizeof *run);
    if (!run)
        return EXIT_FAILURE;
    for (long k = 0; k < runs && check_failures == 0; k++) {
        enum env_backend backend = k % 4 == 3 ? ENV_BEST : ENV_SCALAR;
        memset(run, 0, sizeof *run);
        bool open = open_run(run, &random, backend);
        CHECK(open);
        if (open)
            play(run, &random);
        if (check_failures > 0)
            fprintf(stderr, "in run %ld\n", k);
        close_run(run);
    }
    free(run);
    printf("%ld runs, %ld steps: %ld fills, %ld of stops, %ld of them inside a bar, %ld purchases cut, "
           "%ld orders waited for a missing bar\n",
           runs, seen.steps, seen.fills, seen.stops, seen.inside, seen.cut, seen.waited);
    printf("%ld with limits: orders by action %ld, stop %ld, move to cash %ld, exposure %ld, profit %ld\n",
           seen.limited, seen.causes[POLICY_ACTED], seen.causes[POLICY_STOPPED], seen.causes[POLICY_TO_CASH],
           seen.causes[POLICY_EXPOSED], seen.causes[POLICY_PROFITED]);
    for (int i = 0; i <= POLICY_PROFITED; i++)
        CHECK(seen.causes[i] > 0);
    CHECK(seen.fills > 5 * runs && seen.stops > runs / 2 && seen.inside > 0 && seen.cut > 0 &&
          seen.waited > 0);
    CHECK_INT(seen.refused, 0); /* what the rules order, the exchange takes */
    return check_done("market_engine");
}

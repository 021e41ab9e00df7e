/* The vectorised backtest and the engine give the same orders, fills, ledger and equity, to the bit. Every
 * strategy, with random parameters, on random markets: gaps, several symbols, little cash, odd lots, fees,
 * slippage, latency beyond a bar, limits of risk, sessions with nights between, shorts and their interest.
 *
 * usage: test-backtest-ways [--long] */
#include <errno.h>

#include "engine/backtest/backtest.h"
#include "strategy/strategy.h"
#include "tests/engine/synthetic_market.h"

#define E8          INT64_C(100000000)
#define SECOND_NS   INT64_C(1000000000)
#define MINUTE_NS   (60 * SECOND_NS)
#define MONEY_LARGE 1e9 /* what is traded of such an account may be more than is covered vectorised */

enum { RUNS = 24, RUNS_LONG = 400 }; /* of each strategy */

static int64_t pick(struct random *random, const int64_t *from, size_t n)
{
    return from[random_between(random, 0, (int64_t)n - 1)];
}

#define PICK(random, ...) \
    pick(random, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* A strategy that asks for all that can be asked, and for what cannot; drawn from the time and from what it
 * sees, so that both ways ask it the same. */
enum { IMP_SEED, IMP_OFTEN, IMP_LAST = 1000 /* word of its state, which is more than the usual */ };
static const struct strategy_param imp_params[] = {
    [IMP_SEED] = {"seed", "of its draws", 500000, 0, 1000000, true},
    [IMP_OFTEN] = {"often", "permille of the bars at which it wants something", 100, 1, 1000, true},
};

static size_t imp_specs(const double *p, char out[][STRATEGY_SPEC_TEXT])
{
    (void)p;
    snprintf(out[0], STRATEGY_SPEC_TEXT, "mfi:5");
    return 1;
}

/* `sign`: of a long; of what is short, or will be, mostly the other way round. */
static double imp_price(struct random *random, const struct strategy_input *input, bool shorts, int sign)
{
    if (shorts && random_chance(random, 90))
        sign = -sign;
    if (random_chance(random, 3))
        return (double[]){NAN, -1, INFINITY, 1e30}[random_between(random, 0, 3)];
    double way = fmax(input->high - input->low, input->close * 1e-4);
    return input->close + sign * way * 0.01 * (double)random_between(random, -20, 300);
}

static size_t imp_bar(const double *p, void *state, const struct strategy_input *input,
                      struct intent *intents)
{
    uint64_t *bars = (uint64_t *)state + IMP_LAST;
    uint64_t bits;
    memcpy(&bits, &input->cash, sizeof bits);
    struct random random = {(uint64_t)input->ts_ns ^ (uint64_t)p[IMP_SEED] << 40 ^ bits ^ ++*bars};
    memcpy(&bits, &input->indicators[0], sizeof bits);
    random.state ^= bits >> 8 ^ (uint64_t)input->orders << 20;
    random_next(&random);
    if (random_between(&random, 0, 999) >= p[IMP_OFTEN])
        return 0;
    size_t n = (size_t)PICK(&random, 1, 1, 1, 2, 4, random_chance(&random, 2) ? 9 : 1);
    for (size_t i = 0; i < n; i++) {
        struct intent *intent = &intents[i];
        enum intent_kind kind = (enum intent_kind)PICK(
            &random, INTENT_ENTER, INTENT_ENTER, INTENT_EXIT, INTENT_STOP, INTENT_STOP, INTENT_TARGET,
            INTENT_TARGET, INTENT_SHORT, input->shorts ? INTENT_SHORT : INTENT_ENTER,
            random_chance(&random, 2) ? 99 : 0);
        bool shorts = kind == INTENT_SHORT || (kind == INTENT_STOP && input->qty < 0);
        *intent = (struct intent){
            .kind = kind,
            .fraction = 0.001 * (double)random_between(&random, random_chance(&random, 5) ? -100 : 0, 1020),
            .stop = random_chance(&random, 60) ? imp_price(&random, input, shorts, -1) : 0,
            .profit = random_chance(&random, 50) ? imp_price(&random, input, shorts, 1) : 0,
            .limit = random_chance(&random, 40) ? imp_price(&random, input, shorts, -1) : 0,
            .good_ns = random_chance(&random, 50)
                           ? input->ts_ns + input->interval_ns * random_between(&random, -1, 40)
                           : 0,
            .why = random_chance(&random, 5) ? NULL : "a word that is longer than a tag of an order can be"};
        if (kind == INTENT_EXIT && random_chance(&random, 60))
            intent->fraction = 0; /* all of it, else a share */
        if (kind == INTENT_TARGET && input->shorts && random_chance(&random, 50))
            intent->fraction = -intent->fraction;
    }
    return n;
}

static const struct strategy imp = {.name = "imp",
                                    .summary = "asks for anything",
                                    .params = imp_params,
                                    .n_params = 2,
                                    .state_size = (IMP_LAST + 1) * sizeof(uint64_t),
                                    .specs = imp_specs,
                                    .on_bar = imp_bar};

static struct {
    uint64_t covered;
    /* Runs with a calendar; in them orders that ended with a session, and that were made as one opened. */
    uint64_t sessions, closed, opened;
    /* Runs by a venue's rules of orders; orders that it would not take, which are held. */
    uint64_t ruled, emulated;
    uint64_t runs, orders, fills, rejected, partial, expired, amended, limits, stops;
    /* Runs with shorts, of them vectorised; sales that opened one, of their stops and profits, interest, and
     * orders that their collateral did not suffice for. */
    uint64_t may_short, shorts_covered, shorted, short_stops, short_profits, interest, collateral;
} seen;

static double random_unit(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

/* Mostly near its default, now and then anywhere. */
static double random_param(struct random *random, const struct strategy_param *param)
{
    if (param->words)
        return (double)random_between(random, (int64_t)param->min, (int64_t)param->max);
    double value = param->fallback * (0.25 + 1.75 * random_unit(random));
    if (random_chance(random, param->fallback == 0 ? 40 : 10))
        value = param->min + (param->max - param->min) * random_unit(random) * random_unit(random);
    if (random_chance(random, 10))
        value = random_chance(random, 50) ? param->min : param->fallback;
    if (param->integer)
        value = floor(value);
    return fmin(fmax(value, param->min), param->max);
}

static void random_params(struct random *random, const struct strategy *strategy, double *params)
{
    do
        for (size_t i = 0; i < strategy->n_params; i++)
            params[i] = random_param(random, &strategy->params[i]);
    while (strategy->check && strategy->check(params));
}

static void random_shorts(struct random *random, struct account_rules *rules)
{
    rules->shorts = true;
    rules->collateral_e4 = (int32_t)PICK(random, 10000, 15000, 15000, 20500, 30000);
    rules->maintenance_e4 = (int32_t)PICK(random, 10000, 10000, 12500);
    if (rules->maintenance_e4 > rules->collateral_e4)
        rules->maintenance_e4 = rules->collateral_e4;
    rules->borrow_rate_e6 = (int32_t)PICK(random, 0, 50000, 50000, 3000000, 300000000);
}

static struct account_spec random_account(struct random *random, const struct strategy *strategy)
{
    struct account_spec spec = {.name = "one",
                                .currency = "USDT",
                                .currency_scale = 8,
                                .cash = PICK(random, 10000, 10000, 1000000, 30, 300) * E8 +
                                        random_between(random, 0, E8),
                                .rules = {.fees = {(int32_t)PICK(random, 0, 1000, 200, 7),
                                                   (int32_t)PICK(random, 0, 1000, 1000, 750)}},
                                .strategy = strategy};
    struct risk_limits *risk = &spec.rules.risk;
    random_params(random, strategy, spec.params);
    if (random_chance(random, 50))
        random_shorts(random, &spec.rules);
    if (random_chance(random, 40))
        return spec;
    if (random_chance(random, 30))
        risk->exposure_symbol = 0.05 + random_unit(random);
    if (random_chance(random, 30))
        risk->exposure_account = 0.05 + random_unit(random);
    if (random_chance(random, 30))
        risk->orders_per_second = (int32_t)random_between(random, 1, 3);
    if (random_chance(random, 30))
        risk->price_band = 0.0005 + 0.02 * random_unit(random);
    if (random_chance(random, 30))
        risk->cooldown_ns = random_between(random, 1, 600) * MINUTE_NS;
    if (random_chance(random, 30))
        risk->positions = (int32_t)random_between(random, 1, 3);
    return spec;
}

static struct made_walk random_walk(struct random *random)
{
    struct made_walk walk = {.gaps_permille = (int)PICK(random, 0, 0, 5, 60, 300),
                             .gap_longest = (int)PICK(random, 1, 5, 200),
                             .steps = (int)PICK(random, 3, 40, 300),
                             .tick = PICK(random, E8 / 100, E8 / 100, E8 / 8, 1),
                             .step = PICK(random, E8 / 100000, E8 / 1000, 7, 130000),
                             .late_permille = (int)PICK(random, 0, 300)};
    walk.start = walk.tick * PICK(random, 500, 20000, 6000000);
    return walk;
}

static void check_orders(const struct backtest_account *a, const struct backtest_account *b)
{
    CHECK_INT(a->n_orders, b->n_orders);
    for (size_t i = 0; i < a->n_orders && i < b->n_orders; i++) {
        const struct order *x = &a->orders[i], *y = &b->orders[i];
        if (memcmp(x, y, sizeof *x) == 0)
            continue;
        CHECK_INT(x->id, y->id);
        CHECK(x->side == y->side && x->type == y->type && x->tif == y->tif);
        CHECK_STR(order_state_name(y->state), order_state_name(x->state));
        CHECK_STR(order_reason_name(y->reason), order_reason_name(x->reason));
        CHECK_INT(y->qty, x->qty);
        CHECK_INT(y->filled, x->filled);
        CHECK_INT(y->price, x->price);
        CHECK_INT(y->stop_price, x->stop_price);
        CHECK_INT(y->created_ns, x->created_ns);
        CHECK_INT(y->effective_ns, x->effective_ns);
        CHECK_INT(y->updated_ns, x->updated_ns);
        CHECK_INT(y->expires_ns, x->expires_ns);
        CHECK_INT(y->cost, x->cost);
        CHECK_INT(y->input_seq, x->input_seq);
        CHECK_INT(y->amends, x->amends);
        CHECK(x->triggered == y->triggered && x->reduce_only == y->reduce_only && x->group == y->group &&
              x->parent == y->parent && x->emulated == y->emulated && strcmp(x->tag, y->tag) == 0 &&
              x->symbol == y->symbol);
        CHECK(!"the same bytes");
        return;
    }
}

static void check_fills(const struct backtest_account *a, const struct backtest_account *b)
{
    CHECK_INT(a->n_fills, b->n_fills);
    for (size_t i = 0; i < a->n_fills && i < b->n_fills; i++) {
        const struct fill *x = &a->fills[i], *y = &b->fills[i];
        bool same = x->id == y->id && x->order_id == y->order_id && x->symbol == y->symbol &&
                    x->side == y->side && x->ts_ns == y->ts_ns && x->price == y->price && x->qty == y->qty &&
                    x->notional == y->notional && x->fee == y->fee && x->fee_e6 == y->fee_e6 &&
                    x->maker == y->maker && x->input_seq == y->input_seq && x->account == y->account;
        CHECK(same);
        if (!same)
            return;
    }
}

static void check_ledger(const struct backtest_account *a, const struct backtest_account *b)
{
    CHECK_INT(a->n_ledger, b->n_ledger);
    for (size_t i = 0; i < a->n_ledger && i < b->n_ledger; i++) {
        const struct ledger_row *x = &a->ledger[i], *y = &b->ledger[i];
        bool same = x->id == y->id && x->ts_ns == y->ts_ns && x->kind == y->kind && x->amount == y->amount &&
                    x->balance == y->balance && strcmp(x->asset, y->asset) == 0 &&
                    memcmp(x->hash, y->hash, sizeof x->hash) == 0;
        CHECK(same);
        if (!same)
            return;
    }
}

static void check_sums(const struct backtest_account *a, const struct backtest_account *b, size_t rows)
{
    CHECK(memcmp(a->equity, b->equity, rows * sizeof(double)) == 0);
    CHECK_INT(b->n_trades, a->n_trades);
    CHECK_INT(b->exposed, a->exposed);
    CHECK_INT(b->fees, a->fees);
    CHECK(b->turnover == a->turnover);
    CHECK_INT(b->final_equity, a->final_equity);
    CHECK_INT(b->final_cash, a->final_cash);
    CHECK(memcmp(a->refused, b->refused, sizeof a->refused) == 0);
    CHECK(memcmp(a->intents, b->intents, sizeof a->intents) == 0);
}

/* What was decided, as a sum that depends on the order. */
struct reported {
    uint64_t n, sum;
};

static void decided(void *ctx, int account, int symbol, size_t row, const struct intent *intents, size_t n)
{
    struct reported *reported = ctx;
    reported->n += n;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &intents[i].fraction, sizeof bits);
        reported->sum = reported->sum * 31 + bits + row * 7 + (uint64_t)symbol + (uint64_t)account +
                        (uint64_t)intents[i].kind;
        memcpy(&bits, &intents[i].stop, sizeof bits);
        reported->sum = reported->sum * 31 + bits;
    }
}

static void count(const struct backtest_account *account)
{
    seen.runs++;
    for (size_t i = 0; i < account->n_ledger; i++) {
        seen.shorted += account->ledger[i].kind == LEDGER_BORROW && account->ledger[i].amount > 0;
        seen.interest += account->ledger[i].kind == LEDGER_INTEREST;
    }
    seen.orders += account->n_orders;
    seen.fills += account->n_fills;
    for (size_t i = 0; i < account->n_orders; i++) {
        const struct order *order = &account->orders[i];
        seen.rejected += order->state == ORDER_REJECTED;
        seen.partial += order->state == ORDER_CANCELED && order->filled > 0;
        seen.emulated += order->emulated;
        seen.expired += order->state == ORDER_EXPIRED;
        seen.amended += order->amends > 0;
        seen.limits += order->type == ORDER_LIMIT && order->filled > 0;
        seen.closed += order->reason == ORDER_SESSION_CLOSED;
        seen.stops += order->type == ORDER_STOP && order->filled > 0;
        seen.collateral += order->reason == ORDER_COLLATERAL;
        bool buys_back = order->side == ORDER_BUY && order->reduce_only && order->filled > 0;
        seen.short_stops += buys_back && order->type == ORDER_STOP;
        seen.short_profits += buys_back && order->type == ORDER_LIMIT;
    }
}

/* A calendar for the symbols; now and then one of several trades at all times. */
static bool random_sessions(struct random *random, struct synthetic_market *made,
                            struct made_calendar *calendar, struct account_spec *account)
{
    bool any = true;
    made_calendar(calendar, random, &made->market);
    for (int s = 0; s < made->market.n_symbols; s++)
        if (s == 0 || !random_chance(random, 20))
            any &= made_session(made, s, &calendar->calendar);
    account->session = SESSION_REGULAR;
    return any;
}

/* No fill outside the sessions; no entry is created, or rests, while they are closed. */
static void check_hours(const struct backtest_account *account, const struct backtest_config *config)
{
    struct session_span span;
    for (size_t i = 0; config->calendar && i < account->n_fills; i++) {
        const struct fill *fill = &account->fills[i];
        if (config->market->series[fill->symbol].symbol.calendar[0] == '\0')
            continue;
        CHECK(trading_span_at(config->calendar, SESSION_REGULAR, fill->ts_ns, &span) &&
              fill->ts_ns >= span.open_ns);
    }
    for (size_t i = 0; config->calendar && i < account->n_orders; i++) {
        const struct order *order = &account->orders[i];
        if (config->market->series[order->symbol].symbol.calendar[0] == '\0' || order->reduce_only ||
            !trading_span_at(config->calendar, SESSION_REGULAR, order->created_ns, &span))
            continue;
        CHECK(order->created_ns >= span.open_ns);
        seen.opened += order->created_ns == span.open_ns;
        CHECK(order->updated_ns <= span.close_ns);
    }
}

static double most_equity(const struct backtest_account *account, size_t rows)
{
    double most = 0;
    for (size_t i = 0; i < rows; i++)
        most = fmax(most, account->equity[i]);
    return most;
}

static bool one_run(struct random *random, const struct strategy *strategy)
{
    struct synthetic_market made;
    const struct made_walk walk = random_walk(random);
    const int64_t interval_ns = PICK(random, 1, 1, 5, 60) * MINUTE_NS;
    const size_t rows = (size_t)PICK(random, 700, 700, 3000, 3000, 6000, 6000, 13000);
    made_open(&made, random, &walk, (int)PICK(random, 1, 1, 2, 5), rows, interval_ns);
    struct account_spec account = random_account(random, strategy);
    struct made_calendar calendar;
    bool sessions = random_chance(random, 40);
    if (sessions && !random_sessions(random, &made, &calendar, &account)) {
        made_close(&made);
        return false;
    }
    struct reported reported[2] = {{0, 0}, {0, 0}};
    struct random apart = {.state = random->state};
    bool ruled = random_chance(&apart, 40);
    struct backtest_config config = {.market = &made.market,
                                     .calendar = sessions ? &calendar.calendar : NULL,
                                     .venue = ruled ? "alpaca" : NULL,
                                     .class_by_calendar = ruled,
                                     .from = random_chance(random, 50) ? rows / 7 : 0,
                                     .to = rows - (size_t)PICK(random, 0, 33),
                                     .accounts = &account,
                                     .n_accounts = 1,
                                     .latency_ns =
                                         PICK(random, 0, 50000000, 61 * SECOND_NS, 4000 * SECOND_NS),
                                     .slippage_e6 = (int32_t)PICK(random, 0, 0, 500, 20000),
                                     .way = BACKTEST_ENGINE,
                                     .threads = (int)random_between(random, 1, 3),
                                     .orders = true,
                                     .ledger = true,
                                     .decided = decided,
                                     .ctx = &reported[0]};
    struct backtest engine, columns;
    char err[256];
    int r = backtest_run(&config, &engine, err, sizeof err);
    /* Runs with too many orders at once, or with a margin call, are left to the engine, as strategies are
     * that see other symbols. */
    bool may_fail = strategy == &imp || account.rules.shorts || strategy_sees_peers(strategy);
    config.way = may_fail ? BACKTEST_AUTO : BACKTEST_COLUMNS;
    config.ctx = &reported[1];
    if (r == -EINVAL) { /* too few bars for these parameters: by both ways */
        char other[256];
        CHECK_INT(backtest_run(&config, &columns, other, sizeof other), r);
        CHECK_STR(other, err);
        made_close(&made);
        return false;
    }
    CHECK_INT(r, 0);
    r = backtest_run(&config, &columns, err, sizeof err);
    if (r == -EINVAL && most_equity(&engine.accounts[0], config.to - config.from) > MONEY_LARGE) {
        CHECK(strstr(err, "too much money"));
        backtest_finish(&engine);
        made_close(&made);
        return false;
    }
    CHECK_INT(r, 0);
    bool covered = columns.accounts[0].way == BACKTEST_COLUMNS;
    CHECK(covered || may_fail);
    check_orders(&engine.accounts[0], &columns.accounts[0]);
    check_fills(&engine.accounts[0], &columns.accounts[0]);
    check_ledger(&engine.accounts[0], &columns.accounts[0]);
    check_sums(&engine.accounts[0], &columns.accounts[0], config.to - config.from);
    if (covered) { /* else some order was reported twice */
        CHECK_INT(reported[1].n, reported[0].n);
        CHECK_INT(reported[1].sum, reported[0].sum);
    }
    seen.covered += covered;
    seen.may_short += account.rules.shorts;
    seen.shorts_covered += account.rules.shorts && covered;
    seen.sessions += sessions;
    seen.ruled += ruled;
    check_hours(&engine.accounts[0], &config);
    count(&engine.accounts[0]);
    if (random_chance(random, 50)) { /* nothing kept: fills and sums are the same */
        struct backtest lean;
        config.orders = config.ledger = false;
        config.decided = NULL;
        CHECK_INT(backtest_run(&config, &lean, err, sizeof err), 0);
        CHECK(!lean.accounts[0].orders && !lean.accounts[0].ledger);
        check_fills(&engine.accounts[0], &lean.accounts[0]);
        check_sums(&engine.accounts[0], &lean.accounts[0], config.to - config.from);
        backtest_finish(&lean);
    }
    backtest_finish(&engine);
    backtest_finish(&columns);
    made_close(&made);
    return true;
}

int main(int argc, char **argv)
{
    bool longer = getenv("PAPERTAPE_LONG") || (argc > 1 && strcmp(argv[1], "--long") == 0);
    int runs = longer ? RUNS_LONG : RUNS;
    struct random random = random_seeded("backtest_ways", 626);
    size_t n;
    const struct strategy *const *strategies = strategy_list(&n);
    for (size_t i = 0; i <= n; i++) {
        const struct strategy *strategy = i < n ? strategies[i] : &imp;
        for (int run = 0; run < runs;) {
            uint64_t state = random.state;
            unsigned long before = check_failures;
            run += one_run(&random, strategy);
            if (check_failures > before)
                fprintf(stderr, "%s, run %d: its draws begin at PAPERTAPE_SEED=%" PRIu64 "\n", strategy->name,
                        run, state);
        }
    }
    printf("%" PRIu64 " runs, %" PRIu64 " vectorised; %" PRIu64 " orders: %" PRIu64 " refused, %" PRIu64
           " filled in part, %" PRIu64 " expired, %" PRIu64 " amended; %" PRIu64 " fills, of %" PRIu64
           " limits, %" PRIu64 " stops\n",
           seen.runs, seen.covered, seen.orders, seen.rejected, seen.partial, seen.expired, seen.amended,
           seen.fills, seen.limits, seen.stops);
    printf("%" PRIu64 " runs by sessions: %" PRIu64 " purchases made as one opened, %" PRIu64
           " ended as one closed\n",
           seen.sessions, seen.opened, seen.closed);
    printf("%" PRIu64 " runs by a venue's rules of orders: %" PRIu64 " orders held\n", seen.ruled,
           seen.emulated);
    printf("%" PRIu64 " runs with shorts, %" PRIu64 " vectorised: %" PRIu64 " sold short, %" PRIu64
           " stops, %" PRIu64 " profits, %" PRIu64 " without collateral, %" PRIu64 " times interest\n",
           seen.may_short, seen.shorts_covered, seen.shorted, seen.short_stops, seen.short_profits,
           seen.collateral, seen.interest);
    CHECK(seen.shorts_covered > seen.may_short * 3 / 4);
    CHECK(seen.shorted > 100 && seen.short_stops > 50 && seen.short_profits > 20);
    CHECK(seen.collateral > 10 && seen.interest > 100);
    CHECK(seen.ruled > 20 && seen.emulated > 100);
    CHECK(seen.sessions > 20 && seen.opened > 5 && seen.closed > 5);
    return check_done("backtest_ways");
}

/* What fills cost beside a fixed rate and what dividends bring, with numbers that one can check by hand:
 * rates by volume from day to day, regulatory fees of a sale by its date, dividends with a pay date, withheld
 * and short, over splits, resets, states that are saved and loaded, and configurations. */
#include "engine/core.h"
#include "engine/state.h"
#include "exchange/regulatory_fees.h"
#include "tests/engine/by_hand.h"

#define DAY_NS (24 * HOUR_NS)
#define STEPS  "0 0.1% 0.2%, 100000 0.05% 0.1%, 1000000 0 0.01%"

enum { ROWS_MAX = 64 };

static struct receivable_row rows[ROWS_MAX];
static struct fee_rate_change rates[ROWS_MAX];
static int n_rows, n_rates;

static void on_receivable(void *ctx, const struct receivable_row *row)
{
    (void)ctx;
    CHECK_INT(row->id, n_rows + 1);
    if (n_rows < ROWS_MAX)
        rows[n_rows++] = *row;
}

static void on_fee_rate(void *ctx, const struct fee_rate_change *change)
{
    (void)ctx;
    CHECK_INT(change->id, n_rates + 1);
    if (n_rates < ROWS_MAX)
        rates[n_rates++] = *change;
}

static void watch(void)
{
    h.engine->sink.receivable = on_receivable;
    h.engine->sink.fee_rate = on_fee_rate;
    n_rows = n_rates = 0;
}

static const struct account *alice(void)
{
    return engine_account(h.engine, ALICE);
}

/* The engine, saved and loaded: it continues as before. */
static void reload(void)
{
    struct codec saved = {0}, again = {0};
    struct engine *loaded = NULL;
    char err[ENGINE_ERROR_MAX] = "";
    codec_save(&saved);
    CHECK_INT(engine_save(h.engine, &saved), 0);
    struct engine_sink sink = h.engine->sink;
    CHECK_INT(engine_load(saved.bytes, saved.len, &sink, NULL, &loaded, err), 0);
    CHECK_STR(err, "");
    codec_save(&again);
    CHECK_INT(engine_save(loaded, &again), 0);
    CHECK(again.len == saved.len && memcmp(again.bytes, saved.bytes, saved.len) == 0);
    engine_destroy(h.engine);
    h.engine = loaded;
    codec_finish(&saved);
    codec_finish(&again);
}

/* A new run's configuration, with these rules for ALICE. */
static void configure(void)
{
    char err[ENGINE_ERROR_MAX] = "";
    CHECK_INT(engine_configure(h.engine, &h.config, err), 0);
    CHECK_STR(err, "");
}

static void market(int64_t price)
{
    quote(&h, BTCUSDT, price, 1000 * BTC, price, 1000 * BTC);
    trade(&h, BTCUSDT, price, BTC);
}

static void buy(int64_t qty)
{
    rested(order_of(ORDER_BUY, ORDER_MARKET, qty));
}

/* ---- rates by volume ---- */

static void test_tiers(void)
{
    init_rich();
    strcpy(h.accounts[ALICE].rules.fee_tiers, STEPS);
    harness_open(&h);
    watch();
    market(60000 * USDT);
    CHECK_INT(n_rates, 1); /* from the first event on */
    CHECK_INT(rates[0].rates.maker_e6, 1000);
    CHECK_INT(alice()->rules.fees.taker_e6, 2000);
    buy(BTC);
    CHECK_INT(h.last_fill.fee_e6, 2000);
    CHECK_INT(h.last_fill.fee, 120 * USDT);
    buy(BTC); /* 120,000 in all, today: it counts from tomorrow on */
    CHECK_INT(h.last_fill.fee_e6, 2000);
    reload();
    pass(&h, DAY_NS);
    market(60000 * USDT);
    CHECK_INT(n_rates, 2);
    CHECK_INT(rates[1].volume, 120000 * USDT);
    CHECK_INT(rates[1].day, rates[0].day + 1);
    CHECK_INT(rates[1].last_fill, h.last_fill.id);
    buy(BTC);
    CHECK_INT(h.last_fill.fee_e6, 1000);
    CHECK_INT(h.last_fill.fee, 60 * USDT);
    configure(); /* a restart changes nothing, and emits nothing */
    market(60000 * USDT);
    CHECK_INT(n_rates, 2);
    CHECK_INT(alice()->rules.fees.taker_e6, 1000);
    pass(&h, 29 * DAY_NS); /* the first day is the oldest that counts */
    market(60000 * USDT);
    CHECK_INT(n_rates, 2);
    pass(&h, DAY_NS); /* and is over: 60,000 are left */
    market(60000 * USDT);
    CHECK_INT(n_rates, 3);
    CHECK_INT(rates[2].volume, 60000 * USDT);
    CHECK_INT(rates[2].rates.taker_e6, 2000);
    harness_close(&h);
}

/* Another schedule, and none any more. */
static void test_configured(void)
{
    init_rich();
    strcpy(h.accounts[ALICE].rules.fee_tiers, STEPS);
    harness_open(&h);
    watch();
    market(60000 * USDT);
    buy(2 * BTC);
    pass(&h, DAY_NS);
    CHECK_INT(n_rates, 2);
    strcpy(h.accounts[ALICE].rules.fee_tiers, "0 0.09% 0.09%, 110000 0.01% 0.03%");
    configure();
    market(60000 * USDT);
    CHECK_INT(n_rates, 3);
    CHECK_INT(rates[2].volume, 120000 * USDT);
    CHECK_INT(alice()->rules.fees.taker_e6, 300);
    h.accounts[ALICE].rules.fee_tiers[0] = '\0';
    h.accounts[ALICE].rules.fees = (struct fee_rates){700, 800};
    configure();
    market(60000 * USDT);
    CHECK_INT(n_rates, 4);
    CHECK_STR(rates[3].tiers, "");
    CHECK_INT(rates[3].rates.taker_e6, 800);
    reload();
    pass(&h, DAY_NS);
    CHECK_INT(n_rates, 4);
    CHECK_INT(alice()->rules.fees.taker_e6, 800);
    strcpy(h.accounts[ALICE].rules.fee_tiers, "0 1, 2");
    CHECK(account_rules_check(&h.accounts[ALICE].rules) != NULL);
    harness_close(&h);
}

/* ---- regulatory fees ---- */

static void test_regulatory(void)
{
    init_rich();
    h.accounts[ALICE].rules.regulatory_fees = true;
    h.accounts[ALICE].rules.fees = (struct fee_rates){0, 0};
    h.symbols[BTCUSDT].asset = ASSET_US_EQUITY;
    harness_open(&h);
    watch();
    market(100 * USDT);
    const struct symbol *symbol = engine_symbol(h.engine, BTCUSDT);
    buy(50 * BTC);
    CHECK_INT(h.last_fill.sec_fee + h.last_fill.taf_fee, 0); /* of sales alone */
    rested(order_of(ORDER_SELL, ORDER_MARKET, 10 * BTC));
    const struct regulatory_fees fees = fee_regulatory_of_sale(symbol, fee_regulatory_day(h.last_fill.ts_ns),
                                                               10 * BTC, 1000 * USDT, 1000 * USDT);
    CHECK_INT(h.last_fill.sec_fee, fees.sec);
    CHECK_INT(h.last_fill.taf_fee, fees.taf);
    CHECK(fees.taf > 0);
    CHECK_INT(h.last_fill.fee, fees.sec + fees.taf);
    harness_close(&h);
}

/* ---- dividends ---- */

static int64_t pay_ns;

static int dividend(const char *id, int64_t cash, int64_t later_ns)
{
    struct event event = {.kind = EVENT_ACTION, .action = {.symbol = BTCUSDT}};
    struct corporate_action *action = &event.action.action;
    snprintf(action->id, sizeof action->id, "%s", id);
    action->kind = ACTION_DIVIDEND;
    action->cash = cash;
    action->ex_ns = h.now_ns + 1;
    action->pay_ns = pay_ns = later_ns ? h.now_ns + later_ns : 0;
    return harness_event(&h, &event);
}

static void split(const char *id, int64_t shares, int64_t per)
{
    struct event event = {.kind = EVENT_ACTION, .action = {.symbol = BTCUSDT}};
    event.action.action =
        (struct corporate_action){.kind = ACTION_SPLIT, .ex_ns = h.now_ns + 1, .shares = shares, .per = per};
    snprintf(event.action.action.id, sizeof event.action.action.id, "%s", id);
    CHECK_INT(harness_event(&h, &event), 0);
}

static void test_paid_later(void)
{
    init_rich();
    h.accounts[ALICE].rules.withholding_e6 = 150000;
    harness_open(&h);
    watch();
    market(60000 * USDT);
    hold(2 * BTC);
    int64_t money = cash(&h, ALICE), equity = engine_equity(h.engine, ALICE);
    uint64_t ledger = h.rows;
    /* 1.000000003 a share: 2.00000000 after rounding down, 0.3 withheld. */
    CHECK_INT(dividend("d1", 1000000003, 3 * DAY_NS), 0);
    CHECK_INT(n_rows, 1);
    CHECK_INT(rows[0].kind, RECEIVABLE_BOOKED);
    CHECK_INT(rows[0].of.qty, 2 * BTC);
    CHECK_INT(rows[0].of.gross, 2 * USDT);
    CHECK_INT(rows[0].of.withheld, 30 * USDT / 100);
    CHECK_INT(rows[0].of.amount, 170 * USDT / 100);
    CHECK_INT(rows[0].ledger_id, ledger);
    CHECK_INT(h.rows, ledger);
    CHECK_INT(cash(&h, ALICE), money);
    CHECK_INT(engine_equity(h.engine, ALICE), equity + 170 * USDT / 100);
    CHECK_INT(engine_loan_spendable(h.engine, ALICE), money); /* buys nothing */
    split("2:1", 2, 1);
    reload();
    configure();
    CHECK_INT(engine_equity(h.engine, ALICE) - equity, 170 * USDT / 100);
    market(30000 * USDT);
    rested(order_of(ORDER_SELL, ORDER_MARKET, 4 * BTC)); /* it is paid to whom held it then */
    money = cash(&h, ALICE);
    equity = engine_equity(h.engine, ALICE);
    h.now_ns = pay_ns - 1;
    market(30000 * USDT);
    CHECK_INT(n_rows, 1);
    h.now_ns = pay_ns;
    market(30000 * USDT);
    CHECK_INT(n_rows, 2);
    CHECK_INT(rows[1].kind, RECEIVABLE_PAID);
    CHECK_INT(rows[1].of.booked, 1);
    CHECK_INT(rows[1].paid, 170 * USDT / 100);
    CHECK_INT(rows[1].ledger_id, h.rows);
    CHECK_INT(cash(&h, ALICE), money + 170 * USDT / 100);
    CHECK_INT(engine_equity(h.engine, ALICE), equity);
    CHECK_INT(alice()->receivable, 0);
    CHECK_INT(dividend("d1", 1000000003, 0), 0); /* once */
    CHECK_INT(n_rows, 2);
    harness_close(&h);
}

/* At once, as without a pay date, less what is withheld; what is reported after its pay date too. */
static void test_paid_now(void)
{
    init_rich();
    h.accounts[ALICE].rules.withholding_e6 = 333333;
    harness_open(&h);
    watch();
    market(60000 * USDT);
    hold(BTC);
    int64_t money = cash(&h, ALICE);
    CHECK_INT(dividend("d1", 1000000000, 0), 0);
    CHECK_INT(cash(&h, ALICE), money + USDT - 33333300);
    CHECK_INT(n_rows, 1);
    CHECK_INT(rows[0].kind, RECEIVABLE_PAID);
    CHECK_INT(rows[0].of.booked, 0);
    CHECK_INT(rows[0].ledger_id, h.rows);
    h.accounts[ALICE].rules.withholding_e6 = 0;
    configure();
    money = cash(&h, ALICE);
    CHECK_INT(dividend("d2", 1000000000, -HOUR_NS), 0);
    CHECK_INT(cash(&h, ALICE), money + USDT);
    CHECK_INT(n_rows, 1);
    harness_close(&h);
}

/* A short pays all of it from its ex-date on, also once it is covered; what its cash lacks is a liability. */
static void test_short(void)
{
    harness_init(&h);
    h.accounts[ALICE].cash = 100000 * USDT;
    h.accounts[ALICE].rules.shorts = true;
    h.accounts[ALICE].rules.collateral_e4 = h.accounts[ALICE].rules.maintenance_e4 = 10000;
    h.accounts[ALICE].rules.withholding_e6 = 150000;
    harness_open(&h);
    watch();
    market(60000 * USDT);
    rested(order_of(ORDER_SELL, ORDER_MARKET, BTC));
    int64_t money = cash(&h, ALICE), equity = engine_equity(h.engine, ALICE);
    int64_t free = engine_loan_spendable(h.engine, ALICE);
    CHECK_INT(dividend("d1", 1000 * INT64_C(1000000000), DAY_NS), 0);
    CHECK_INT(rows[0].of.amount, -1000 * USDT);
    CHECK_INT(rows[0].of.withheld, 0);
    CHECK_INT(cash(&h, ALICE), money);
    CHECK_INT(engine_equity(h.engine, ALICE), equity - 1000 * USDT);
    CHECK_INT(engine_loan_spendable(h.engine, ALICE), free - 1000 * USDT);
    struct order back = order_of(ORDER_BUY, ORDER_MARKET, BTC);
    back.reduce_only = true;
    rested(back);
    money = cash(&h, ALICE);
    CHECK_INT(dividend("d2", 200000 * INT64_C(1000000000), DAY_NS), 0); /* it holds nothing any more */
    CHECK_INT(n_rows, 1);
    h.now_ns = rows[0].of.pay_ns + 1;
    market(60000 * USDT);
    CHECK_INT(cash(&h, ALICE), money - 1000 * USDT);
    CHECK_INT(rows[1].paid, -1000 * USDT);
    harness_close(&h);
}

static void test_reset(void)
{
    open_quoted();
    watch();
    hold(BTC);
    CHECK_INT(dividend("d1", 1000000000, DAY_NS), 0);
    CHECK_INT(dividend("d2", 2000000000, 2 * DAY_NS), 0);
    struct event_command reset = {.kind = COMMAND_ACCOUNT_RESET,
                                  .money = {.account = ALICE, .amount = 5000 * USDT}};
    command(&h, reset);
    CHECK_INT(h.command_reason, ORDER_OK);
    CHECK_INT(n_rows, 4);
    CHECK_INT(rows[2].kind, RECEIVABLE_WRITTEN_OFF);
    CHECK_INT(rows[3].of.booked, 2);
    CHECK_INT(engine_equity(h.engine, ALICE), 5000 * USDT);
    pass(&h, 3 * DAY_NS);
    market(60000 * USDT);
    CHECK_INT(n_rows, 4);
    CHECK_INT(cash(&h, ALICE), 5000 * USDT);
    harness_close(&h);
}

/* From the database alone: what is open, volumes and rates are given back. */
static void test_restored(void)
{
    init_rich();
    strcpy(h.accounts[ALICE].rules.fee_tiers, STEPS);
    harness_open(&h);
    watch();
    market(60000 * USDT);
    hold(2 * BTC);
    CHECK_INT(dividend("d1", 1000000000, 2 * DAY_NS), 0);
    struct receivable open = rows[0].of;
    open.booked = rows[0].id;
    struct harness other;
    harness_init(&other);
    strcpy(other.accounts[ALICE].rules.fee_tiers, STEPS);
    harness_create(&other);
    CHECK_INT(engine_restore_receivable(other.engine, ALICE, &open), 0);
    engine_restore_volume(other.engine, ALICE, fee_volume_day(h.now_ns), 120000 * USDT);
    engine_restore_tier(other.engine, ALICE, &rates[0].rates);
    engine_restore_charge_ids(other.engine, 1, 1);
    CHECK_INT(engine_account(other.engine, ALICE)->receivable, 2 * USDT);
    CHECK_INT(other.engine->accounts[ALICE].tier_rates.taker_e6, 2000);
    CHECK_INT(fee_volume_before(&other.engine->accounts[ALICE].volume, fee_volume_day(h.now_ns) + 1),
              120000 * USDT);
    open.scale = -1;
    CHECK_INT(engine_restore_receivable(other.engine, ALICE, &open), -EINVAL);
    harness_close(&other);
    harness_close(&h);
}

int main(void)
{
    test_tiers();
    test_configured();
    test_regulatory();
    test_paid_later();
    test_paid_now();
    test_short();
    test_reset();
    test_restored();
    return check_done("engine/charges");
}

/* A loaded engine under a new run's configuration: what is unchanged continues as if uninterrupted, what is
 * new starts, what cannot be is refused and leaves the engine as it was. */
#include <errno.h>

#include "engine/state.h"
#include "tests/check.h"
#include "tests/engine/driver.h"
#include "tests/engine/tape.h"

enum { BTCUSDT, ETHUSDT, ETHBTC };

static struct driver d;
static struct tape tape;

static struct engine *some_engine(uint64_t seed, int events)
{
    struct engine_sink sink = tape_sink(&tape);
    struct engine *engine = NULL;
    tape = (struct tape){0};
    driver_init(&d, seed);
    CHECK_INT(engine_create(&d.config, &sink, &engine), 0);
    CHECK_INT(engine_start(engine, d.now_ns), 0);
    for (int i = 0; i < events; i++) {
        struct event event;
        driver_next(&d, engine, &event);
        engine_handle(engine, &event);
    }
    return engine;
}

/* An engine's own configuration, in arrays of the caller. */
struct own {
    struct symbol symbols[DRIVER_SYMBOLS + 1];
    struct account_spec accounts[16];
    struct engine_config config;
};

static void own_config(struct own *own, const struct engine *engine)
{
    own->config = d.config;
    own->config.symbols = own->symbols;
    own->config.accounts = own->accounts;
    own->config.n_accounts = engine_accounts(engine);
    for (int s = 0; s < DRIVER_SYMBOLS; s++)
        own->symbols[s] = *engine_symbol(engine, s);
    for (int a = 0; a < engine_accounts(engine); a++)
        own->accounts[a] = *engine_account_spec(engine, a);
}

static void save(const struct engine *engine, struct codec *codec)
{
    codec_save(codec);
    CHECK_INT(engine_save(engine, codec), 0);
}

static bool same_bytes(const struct codec *a, const struct codec *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static void configure(struct engine *engine, const struct engine_config *config, int expected,
                      const char *why)
{
    char err[ENGINE_ERROR_MAX] = "";
    struct codec before = {0}, after = {0};
    save(engine, &before);
    CHECK_INT(engine_configure(engine, config, err), expected);
    CHECK_STR(err, why);
    save(engine, &after);
    if (expected < 0)
        CHECK(same_bytes(&before, &after));
    codec_finish(&before);
    codec_finish(&after);
}

/* The same configuration changes no byte, and neither does another order of the symbols and back. */
static void test_same(uint64_t seed)
{
    static struct own own;
    struct codec before = {0}, after = {0};
    struct engine *engine = some_engine(seed, 900);
    own_config(&own, engine);
    save(engine, &before);
    configure(engine, &own.config, 0, "");
    save(engine, &after);
    CHECK(same_bytes(&before, &after));
    struct symbol first = own.symbols[0];
    own.symbols[0] = own.symbols[2];
    own.symbols[2] = first;
    configure(engine, &own.config, 0, "");
    CHECK_STR(engine_symbol(engine, 0)->name, "ETHBTC");
    CHECK_INT(engine_find_symbol(engine, "BTCUSDT"), 2);
    save(engine, &after);
    CHECK(!same_bytes(&before, &after));
    own.symbols[2] = own.symbols[0];
    own.symbols[0] = first;
    configure(engine, &own.config, 0, "");
    save(engine, &after);
    CHECK(same_bytes(&before, &after));
    codec_finish(&before);
    codec_finish(&after);
    engine_destroy(engine);
}

static void check_balances(const struct engine *engine)
{
    for (int a = 0; a < engine_accounts(engine); a++) {
        const struct account *account = engine_account(engine, a);
        int64_t reserved = 0;
        bool live = false;
        for (size_t i = 0; i < engine_orders(engine); i++)
            live |= engine_order(engine, i)->account == a;
        for (int i = 0; i < account->n_assets; i++) {
            const struct balance *balance = &account->assets[i];
            CHECK(balance->total >= 0 && balance->reserved >= 0 && balance->reserved <= balance->total);
            reserved += balance->reserved;
        }
        CHECK(live || reserved == 0);
    }
}

/* A change from one fill model to another with live orders: these continue, and are filled. */
static void test_models(uint64_t seed, uint64_t filled[static FILL_MODELS])
{
    static struct own own;
    struct engine *engine = some_engine(seed, 600);
    uint64_t fills = engine_counters(engine)->fills;
    for (int round = 1; round < 7; round++) {
        own_config(&own, engine);
        own.config.fill_model = (enum fill_model)((d.config.fill_model + round) % FILL_MODELS);
        own.config.slippage_e6 = round % 2 ? 0 : 700;
        own.config.latency_ns = round * 300 * DRIVER_MS_NS;
        configure(engine, &own.config, 0, "");
        for (int i = 0; i < 500; i++) {
            struct event event;
            driver_next(&d, engine, &event);
            engine_handle(engine, &event);
        }
        check_balances(engine);
        filled[own.config.fill_model] += engine_counters(engine)->fills - fills;
        fills = engine_counters(engine)->fills;
    }
    CHECK_INT(engine_counters(engine)->impossible, 0);
    engine_destroy(engine);
}

static void test_refused(void)
{
    static struct own own;
    struct engine *engine = NULL;
    int s = -1;
    for (uint64_t seed = 5; s < 0; seed++) { /* until somebody holds something */
        engine_destroy(engine);
        engine = some_engine(seed, 900);
        for (int i = 0; i < DRIVER_SYMBOLS; i++)
            for (int a = 0; a < engine_accounts(engine); a++)
                if (engine_account(engine, a)->positions[i].qty != 0)
                    s = i;
    }
    own_config(&own, engine);
    struct symbol gone = own.symbols[s];
    own.symbols[s] = own.symbols[DRIVER_SYMBOLS - 1];
    own.config.n_symbols--;
    char err[ENGINE_ERROR_MAX] = "";
    CHECK_INT(engine_configure(engine, &own.config, err), -ENOENT);
    CHECK(strstr(err, gone.name) && strstr(err, "is not configured, but account"));

    own_config(&own, engine);
    own.symbols[ETHUSDT].qty_scale = 6;
    configure(engine, &own.config, -EINVAL,
              "ETHUSDT is another pair, or in other units, than what is kept of it");
    own_config(&own, engine);
    own.symbols[ETHUSDT] = own.symbols[BTCUSDT];
    configure(engine, &own.config, -EINVAL, "BTCUSDT is configured twice");
    own_config(&own, engine);
    own.accounts[1] = own.accounts[2];
    configure(engine, &own.config, -EINVAL, "account carol is configured twice");
    own_config(&own, engine);
    snprintf(own.accounts[1].currency, sizeof own.accounts[1].currency, "BTC");
    configure(engine, &own.config, -EINVAL, "account bob is kept in USDT: its currency cannot change");
    own_config(&own, engine);
    own.symbols[DRIVER_SYMBOLS] = own.symbols[BTCUSDT];
    struct symbol *listed = &own.symbols[own.config.n_symbols++];
    snprintf(listed->name, sizeof listed->name, "BTCEUR");
    listed->quote_scale = 9;
    CHECK_INT(engine_configure(engine, &own.config, err), -EINVAL); /* the currency is kept with 8 digits */
    own_config(&own, engine);
    own.config.fill_model = FILL_MODELS;
    configure(engine, &own.config, -EINVAL, "the configuration contradicts itself: Invalid argument");
    own_config(&own, engine);
    own.config.interval_ns = 0;
    configure(engine, &own.config, -EINVAL, "the configuration has no symbols, no accounts, or too many");
    engine_destroy(engine);
}

/* Symbols and accounts come and go; strategies continue, or restart from the bars seen. */
static void test_changed(void)
{
    static struct own own;
    struct engine *engine = some_engine(9, 0);
    const char *names[16];
    double before[16], after[16];
    for (int i = 0; i < 12; i++) {
        struct bar bar = driver_bar(&d, &d.markets[BTCUSDT], DRIVER_START_NS + i * DRIVER_INTERVAL_NS);
        struct event event = {.seq = (uint64_t)i + 1,
                              .recv_ns = bar.open_ns + DRIVER_INTERVAL_NS,
                              .kind = EVENT_BARS,
                              .bars = {.symbol = BTCUSDT, .bars = &bar, .n = 1}};
        CHECK_INT(engine_handle(engine, &event), 0);
    }
    size_t n = engine_indicators(engine, 1, BTCUSDT, names, before, 16);
    CHECK(n == 4 && !isnan(before[0]) && !isnan(before[3]));

    own_config(&own, engine);
    own.symbols[ETHUSDT] = own.symbols[BTCUSDT];
    own.symbols[BTCUSDT] = own.symbols[ETHBTC];
    own.config.n_symbols = 2; /* ETHUSDT goes, the others change places */
    struct account_spec *made = &own.accounts[own.config.n_accounts++];
    *made = own.accounts[3];
    snprintf(made->name, sizeof made->name, "zoe");
    own.accounts[0] =
        own.accounts[own.config.n_accounts - 1]; /* first in the list, and still the last here */
    own.config.n_accounts--;
    strategy_set(own.accounts[3].strategy, own.accounts[3].params, "fast", "5", NULL);
    own.accounts[1].rules.fees.maker_e6 = 123;
    configure(engine, &own.config, 0, "");
    CHECK_INT(engine_symbols(engine), 2);
    CHECK_STR(engine_symbol(engine, 0)->name, "ETHBTC");
    CHECK_INT(engine_accounts(engine), DRIVER_ACCOUNTS + 1);
    CHECK_STR(engine_account(engine, 0)->name, "alice"); /* not configured, and still there */
    CHECK_INT(engine_find_account(engine, "zoe"), DRIVER_ACCOUNTS);
    CHECK_INT(engine_account(engine, 1)->rules.fees.maker_e6, 123);
    CHECK_INT(engine_indicators(engine, 1, 1, names, after, 16), 4);
    CHECK(memcmp(before, after, 4 * sizeof *before) == 0); /* bob's strategy continues */
    CHECK_INT(engine_indicators(engine, 3, 1, names, after, 16), 4);
    CHECK_STR(names[0], "sma_5");
    CHECK(!isnan(after[0]) && !isnan(after[1])); /* dave's saw the recent bars */
    CHECK_INT(engine_indicators(engine, 4, 1, names, after, 16), 4);
    CHECK(!isnan(after[0]) && !isnan(after[1]));

    uint64_t rows = tape.rows;
    CHECK_INT(engine_start(engine, engine_now(engine)), 0);
    CHECK_INT(tape.rows - rows, 1); /* zoe's deposit, no other */
    CHECK_INT(engine_account(engine, 4)->deposits, own.accounts[0].cash);

    own.config.interval_ns *= 5;
    configure(engine, &own.config, 0, "");
    struct engine_symbol_view view;
    engine_symbol_view(engine, 1, &view);
    CHECK_INT(view.bars, 0);
    CHECK_INT(engine_indicators(engine, 1, 1, names, after, 16), 4);
    CHECK(isnan(after[0]));
    engine_destroy(engine);
}

/* An account keeps its margin while it has borrowed currency. */
static void test_debt(void)
{
    static struct own own;
    struct engine *engine = some_engine(11, 0);
    own_config(&own, engine);
    own.accounts[1].rules.margin = MARGIN_REGT;
    configure(engine, &own.config, 0, "");
    CHECK_INT(engine_restore_borrowed(engine, 1, "USDT", 8, 123456), 0);
    own.accounts[1].rules.margin = MARGIN_INTRADAY;
    configure(engine, &own.config, 0, "");
    own.accounts[1].rules.margin = MARGIN_OFF;
    configure(
        engine, &own.config, -EINVAL,
        "account bob: margin: off, while 0.00123456 USDT are borrowed: sell or deposit so much first, with "
        "margin = intraday");
    CHECK_INT(engine_restore_borrowed(engine, 1, "USDT", 8, 0), 0);
    configure(engine, &own.config, 0, "");
    engine_destroy(engine);
}

/* What is unchanged behaves as it would have without the new configuration. */
static void test_continues(uint64_t seed)
{
    static struct own own;
    struct codec saved = {0};
    char err[ENGINE_ERROR_MAX];
    struct tape other_tape = {0};
    struct engine_sink sink = tape_sink(&other_tape);
    struct engine *engine = some_engine(seed, 600), *other = NULL;
    own_config(&own, engine);
    save(engine, &saved);
    CHECK_INT(engine_load(saved.bytes, saved.len, &sink, NULL, &other, err), 0);
    configure(other, &own.config, 0, "");
    other_tape = tape;
    bool same = true;
    for (int i = 0; i < 600 && same; i++) {
        struct event event;
        driver_next(&d, engine, &event);
        engine_handle(engine, &event);
        engine_handle(other, &event);
        same = tape.hash == other_tape.hash;
        CHECK(same);
    }
    codec_finish(&saved);
    engine_destroy(engine);
    engine_destroy(other);
}

static enum order_reason answered;

static void on_done(void *ctx, const struct event_command *command, enum order_reason reason, uint64_t order)
{
    (void)ctx, (void)command, (void)order;
    answered = reason;
}

static enum order_reason give(struct engine *engine, struct account_spec *accounts, int n)
{
    struct event event = {.seq = 1000000, .recv_ns = engine_received(engine), .kind = EVENT_COMMAND};
    event.command = (struct event_command){
        .kind = COMMAND_CONFIGURE, .args = "{}", .configure = {.accounts = accounts, .n = n}};
    answered = ORDER_REASONS;
    CHECK_INT(engine_handle(engine, &event), 0);
    return answered;
}

/* As an event, of some accounts: what engine_configure() does with all of them; or nothing. */
static void test_event(void)
{
    struct engine_sink sink = tape_sink(&tape);
    struct codec saved = {0}, by_event = {0}, by_hand = {0};
    struct engine *engine = some_engine(77, 900), *other = NULL;
    char err[ENGINE_ERROR_MAX];
    static struct own own;
    save(engine, &saved);
    sink.command_done = on_done;
    engine_destroy(engine);
    CHECK_INT(engine_load(saved.bytes, saved.len, &sink, NULL, &engine, err), 0);
    CHECK_INT(engine_load(saved.bytes, saved.len, &sink, NULL, &other, err), 0);
    own_config(&own, engine);
    struct account_spec changed[2] = {own.accounts[1], own.accounts[3]};
    changed[0].rules.risk.daily_loss = 0.25;
    driver_strategy(&changed[1], "4", "9");

    struct account_spec before = *engine_account_spec(engine, 1);
    struct account_spec bad[2] = {changed[0], changed[1]};
    snprintf(bad[1].name, sizeof bad[1].name, "nowhere");
    CHECK_INT(give(engine, bad, 2), ORDER_UNKNOWN_ACCOUNT);
    bad[1] = changed[1];
    snprintf(bad[1].currency, sizeof bad[1].currency, "BTC");
    CHECK_INT(give(engine, bad, 2), ORDER_BAD_ACCOUNT);
    bad[1] = changed[1];
    bad[1].params[0] = 40; /* the fast one is slower than the slow one */
    CHECK_INT(give(engine, bad, 2), ORDER_BAD_ACCOUNT);
    bad[1] = changed[0]; /* twice */
    CHECK_INT(give(engine, bad, 2), ORDER_BAD_ACCOUNT);
    CHECK(memcmp(&before, engine_account_spec(engine, 1), sizeof before) == 0);

    uint64_t reported = tape.accounts;
    size_t orders = engine_orders(engine);
    int64_t equity = engine_equity(engine, 3);
    CHECK_INT(give(engine, changed, 2), ORDER_OK);
    CHECK_INT(tape.accounts - reported, 2);
    CHECK(engine_account(engine, 1)->rules.risk.daily_loss == 0.25);
    CHECK(engine_account_spec(engine, 3)->params[1] == 9);
    CHECK_INT(engine_equity(engine, 3), equity);
    CHECK_INT(engine_orders(engine), orders);

    for (int i = 0; i < 4; i++) /* the same events before it */
        give(other, bad, 2);
    give(other, NULL, 0);
    own.accounts[1] = changed[0];
    own.accounts[3] = changed[1];
    configure(other, &own.config, 0, "");
    save(engine, &by_event);
    save(other, &by_hand);
    CHECK_INT(by_event.len, by_hand.len);
    codec_finish(&saved);
    codec_finish(&by_event);
    codec_finish(&by_hand);
    engine_destroy(engine);
    engine_destroy(other);
}

int main(void)
{
    struct random random = random_seeded("engine/configure", 20261121);
    for (uint64_t i = 0; i < 30; i++) {
        test_same(random.state + i);
        test_continues(random.state + 1000 + i);
    }
    uint64_t filled[FILL_MODELS] = {0};
    for (uint64_t i = 0; i < 12; i++)
        test_models(random.state + 2000 + i, filled);
    for (int model = 0; model < FILL_MODELS; model++)
        CHECK(filled[model] > 30);
    test_refused();
    test_debt();
    test_changed();
    test_event();
    return check_done("engine/configure");
}

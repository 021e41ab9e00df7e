/* Symbols that are added while an engine runs: it is then what one is that had them from the start, to the
 * byte; other symbols, accounts and strategies continue; and there may be thousands of them. */
#include "engine/state.h"
#include "tests/engine/by_hand.h"
#include "tests/engine/driver.h"
#include "tests/engine/tape.h"

enum { EVENTS = 1500, MANY = SYMBOLS_MAX };

static int add(struct engine *engine, struct driver *d, int index, const struct symbol *symbol)
{
    struct event event = {.seq = ++d->seq, .recv_ns = d->now_ns, .kind = EVENT_SYMBOL};
    event.symbol.index = index;
    event.symbol.listed = *symbol;
    return engine_handle(engine, &event);
}

static struct engine *begin(struct driver *d, uint64_t seed, int n_symbols, const struct engine_sink *sink)
{
    struct engine *engine = NULL;
    driver_init(d, seed);
    driver_venues(d);
    d->config.n_symbols = n_symbols;
    CHECK_INT(engine_create(&d->config, sink, &engine), 0);
    CHECK_INT(engine_start(engine, d->now_ns), 0);
    return engine;
}

/* Two engines of the same events: one has the third symbol from the start, the other gets it at the first
 * event. */
static void test_same(uint64_t seed)
{
    static struct driver d, other;
    struct tape whole = {0}, grown = {0};
    uint8_t digests[2][LEDGER_HASH_SIZE];
    const struct engine_sink sinks[] = {tape_sink(&whole), tape_sink(&grown)};
    struct engine *a = begin(&d, seed, DRIVER_SYMBOLS, &sinks[0]);
    struct engine *b = begin(&other, seed, DRIVER_SYMBOLS - 1, &sinks[1]);
    CHECK_INT(add(a, &d, DRIVER_SYMBOLS - 1, &d.symbols[DRIVER_SYMBOLS - 1]), 0);
    CHECK_INT(add(b, &other, DRIVER_SYMBOLS - 1, &d.symbols[DRIVER_SYMBOLS - 1]), 0);
    for (int i = 0; i < EVENTS; i++) {
        struct event event;
        driver_next(&d, a, &event);
        CHECK_INT(engine_handle(a, &event), engine_handle(b, &event));
    }
    CHECK(whole.hash == grown.hash);
    CHECK_INT(engine_digest(a, digests[0]), 0);
    CHECK_INT(engine_digest(b, digests[1]), 0);
    CHECK(memcmp(digests[0], digests[1], sizeof digests[0]) == 0);
    engine_destroy(a);
    engine_destroy(b);
}

/* In the middle of things: everything that is there stays as it is, and a state of it can be loaded. */
static void test_middle(uint64_t seed)
{
    static struct driver d;
    static const struct engine_sink no_sink;
    struct engine *engine = begin(&d, seed, DRIVER_SYMBOLS, &no_sink), *loaded = NULL;
    for (int i = 0; i < EVENTS; i++) {
        struct event event;
        driver_next(&d, engine, &event);
        engine_handle(engine, &event);
    }
    size_t orders = engine_orders(engine);
    struct position held = engine_account(engine, 0)->positions[0];
    int64_t equity = engine_equity(engine, 0);
    struct symbol more = d.symbols[0];
    snprintf(more.name, sizeof more.name, "BTC/USD");
    snprintf(more.quote, sizeof more.quote, "USD");
    more.qty_scale = 9; /* another venue counts finer: its BTC are a balance of their own */
    CHECK_INT(add(engine, &d, DRIVER_SYMBOLS, &more), 0);
    CHECK_INT(engine_symbols(engine), DRIVER_SYMBOLS + 1);
    CHECK_INT(engine_find_symbol(engine, "BTC/USD"), DRIVER_SYMBOLS);
    CHECK_INT(engine_orders(engine), orders);
    CHECK(memcmp(&held, &engine_account(engine, 0)->positions[0], sizeof held) == 0);
    CHECK_INT(engine_equity(engine, 0), equity);
    struct engine_symbol_view first, last;
    engine_symbol_view(engine, 0, &first);
    engine_symbol_view(engine, DRIVER_SYMBOLS, &last);
    CHECK(last.phase == first.phase && last.last == 0 && last.bars == 0); /* in the same calendar */

    CHECK_INT(add(engine, &d, DRIVER_SYMBOLS + 1, &more), -EINVAL); /* twice */
    CHECK_INT(add(engine, &d, DRIVER_SYMBOLS + 3, &d.symbols[0]), -EINVAL);
    snprintf(more.name, sizeof more.name, "X");
    snprintf(more.quote, sizeof more.quote, "USDT");
    more.quote_scale = 7;
    CHECK_INT(add(engine, &d, DRIVER_SYMBOLS + 1, &more), -EINVAL); /* the currency has one scale */
    CHECK_INT(engine_symbols(engine), DRIVER_SYMBOLS + 1);

    struct codec state = {0};
    char err[ENGINE_ERROR_MAX] = "";
    uint8_t digests[2][LEDGER_HASH_SIZE];
    codec_save(&state);
    CHECK_INT(engine_save(engine, &state), 0);
    CHECK_INT(engine_load(state.bytes, state.len, &no_sink, NULL, &loaded, err), 0);
    CHECK(loaded && engine_digest(engine, digests[0]) == 0 && engine_digest(loaded, digests[1]) == 0 &&
          memcmp(digests[0], digests[1], sizeof digests[0]) == 0);
    codec_finish(&state);
    engine_destroy(loaded);
    engine_destroy(engine);
}

/* A stock gets another name in the middle: what is held and ordered stays. */
static void test_renamed(uint64_t seed)
{
    static struct driver d;
    static const struct engine_sink no_sink;
    struct engine *engine = begin(&d, seed, DRIVER_SYMBOLS, &no_sink);
    int at = 0;
    while (at < DRIVER_SYMBOLS && !d.symbols[at].calendar[0])
        at++;
    CHECK(at < DRIVER_SYMBOLS);
    for (int i = 0; i < EVENTS; i++) {
        struct event event;
        driver_next(&d, engine, &event);
        engine_handle(engine, &event);
    }
    size_t orders = engine_orders(engine);
    struct position held = engine_account(engine, 0)->positions[at];
    struct symbol other = *engine_symbol(engine, at);
    int64_t equity = engine_equity(engine, 0);
    snprintf(other.name, sizeof other.name, "%s", engine_symbol(engine, (at + 1) % DRIVER_SYMBOLS)->name);
    CHECK_INT(add(engine, &d, at, &other), -EINVAL); /* another's */
    snprintf(other.name, sizeof other.name, "PEAR");
    snprintf(other.base, sizeof other.base, "PEAR");
    CHECK_INT(add(engine, &d, at, &other), -EINVAL); /* what is held is in the first one's units */
    other = *engine_symbol(engine, at);
    snprintf(other.name, sizeof other.name, "PEAR");
    CHECK_INT(add(engine, &d, at, &other), 0);
    CHECK_INT(engine_find_symbol(engine, "PEAR"), at);
    CHECK(engine_find_symbol(engine, d.symbols[at].name) < 0);
    CHECK_INT(engine_orders(engine), orders);
    CHECK(memcmp(&held, &engine_account(engine, 0)->positions[at], sizeof held) == 0);
    CHECK_INT(engine_equity(engine, 0), equity);
    for (int i = 0; i < EVENTS; i++) {
        struct event event;
        driver_next(&d, engine, &event);
        engine_handle(engine, &event);
    }
    engine_destroy(engine);
}

/* As many as there may be, with one more refused. Each has a quote and a trade. */
static void test_many(void)
{
    static const struct engine_sink no_sink;
    static struct driver d;
    driver_init(&d, 1);
    struct symbol *symbols = calloc(MANY, sizeof *symbols);
    struct engine *engine = NULL;
    if (!symbols)
        exit(EXIT_FAILURE);
    for (int s = 0; s < MANY; s++) {
        symbols[s] = d.symbols[0];
        snprintf(symbols[s].name, sizeof symbols[s].name, "S%dUSDT", s);
        snprintf(symbols[s].base, sizeof symbols[s].base, "S%d", s);
    }
    d.config.symbols = symbols;
    d.config.n_symbols = MANY - 1;
    d.config.n_accounts = 1;
    CHECK_INT(engine_create(&d.config, &no_sink, &engine), 0);
    CHECK_INT(add(engine, &d, MANY - 1, &symbols[MANY - 1]), 0);
    CHECK_INT(engine_symbols(engine), MANY);
    CHECK_INT(add(engine, &d, MANY, &d.symbols[0]), -EINVAL);
    for (int s = 0; s < MANY; s++) {
        struct event event = {.seq = ++d.seq, .recv_ns = d.now_ns, .kind = EVENT_MARKET};
        event.market = (struct market_event){
            .kind = MARKET_QUOTE, .symbol = s, .quote = {1, 100 * E8, E8, 101 * E8, 10 * E8}};
        CHECK_INT(engine_handle(engine, &event), 0);
        event.seq = ++d.seq;
        event.market =
            (struct market_event){.kind = MARKET_TRADE,
                                  .symbol = s,
                                  .trade = {.ts_ns = d.now_ns, .id = 1, .price = 100 * E8, .qty = E8}};
        CHECK_INT(engine_handle(engine, &event), 0);
    }
    struct engine_symbol_view view;
    engine_symbol_view(engine, MANY - 1, &view);
    CHECK(view.last == 100 * E8 && view.ask == 101 * E8);
    engine_destroy(engine);
    free(symbols);
}

int main(void)
{
    for (uint64_t seed = 300; seed < 306; seed++) {
        test_same(seed);
        test_middle(seed);
        test_renamed(seed);
    }
    test_many();
    return check_done("engine/symbols");
}

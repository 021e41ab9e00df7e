/* Measures of the book as bars and as indicators' inputs: random books against a list of all book updates,
 * searched again for each bar; a state in the middle; what is refused. */
#include "engine/measure.h"

#include <math.h>

#include "engine/specs.h"
#include "tests/engine/harness.h"
#include "tests/engine/reload.h"
#include "tests/random.h"

enum { SAID_MAX = 4096, OUTPUTS = 3 };

static double seen[OUTPUTS]; /* by the strategy, at its last bar */
static uint64_t bars_seen;

static size_t three(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    (void)params;
    snprintf(specs[0], STRATEGY_SPEC_TEXT, "sma:2@spread");
    snprintf(specs[1], STRATEGY_SPEC_TEXT, "sma:3");
    snprintf(specs[2], STRATEGY_SPEC_TEXT, "trange@microprice");
    return 3;
}

static size_t look(const double *params, void *state, const struct strategy_input *input,
                   struct intent *intents)
{
    (void)params;
    (void)state;
    (void)intents;
    memcpy(seen, input->indicators, sizeof seen);
    bars_seen++;
    return 0;
}

static const struct strategy watcher = {
    .name = "watcher", .summary = "looks at its book", .specs = three, .on_bar = look};

const struct strategy *const *strategy_list(size_t *ret_n)
{
    static const struct strategy *const all[] = {&watcher};
    *ret_n = 1;
    return all;
}

/* All book updates: measures, or their absence, from a time on. */
struct said {
    int64_t ts_ns;
    bool there;
    double measures[BOOK_MEASURES];
};
static struct said said[SAID_MAX];
static int n_said;

/* What the list says of the bar: open, high, low, close. */
static bool searched(int64_t open_ns, int measure, double ret[4])
{
    bool any = false, standing = false;
    double stands = 0;
    for (int i = 0; i < n_said && said[i].ts_ns < open_ns + MINUTE_NS; i++) {
        if (said[i].ts_ns < open_ns) {
            standing = said[i].there;
            stands = said[i].measures[measure];
            continue;
        }
        if (standing && !any)
            ret[0] = ret[1] = ret[2] = ret[3] = stands;
        any |= standing;
        standing = false;
        if (!said[i].there)
            continue;
        double value = said[i].measures[measure];
        if (!any)
            ret[0] = ret[1] = ret[2] = value;
        any = true;
        ret[1] = fmax(ret[1], value);
        ret[2] = fmin(ret[2], value);
        ret[3] = value;
    }
    if (standing && !any)
        ret[0] = ret[1] = ret[2] = ret[3] = stands;
    return any || standing;
}

static void say(struct measure_track *track, int64_t ts_ns, const double *measures)
{
    if (track)
        engine_measure_note(track, bar_open_time(ts_ns, MINUTE_NS), measures);
    said[n_said].ts_ns = ts_ns;
    said[n_said].there = measures != NULL;
    if (measures)
        memcpy(said[n_said].measures, measures, sizeof said[n_said].measures);
    n_said++;
}

static void test_track(void)
{
    struct random random = random_seeded("engine/measure", 9940417);
    uint64_t there = 0, not_there = 0;
    for (int round = 0; round < 200; round++) {
        struct measure_track track = {0};
        int64_t now_ns = START_NS;
        n_said = 0;
        for (int step = 0; step < 100; step++) {
            now_ns += random_between(&random, 1, random_chance(&random, 10) ? 5 * MINUTE_NS : MINUTE_NS / 2);
            double measures[BOOK_MEASURES];
            for (int m = 0; m < BOOK_MEASURES; m++)
                measures[m] = (double)random_between(&random, -50, 50);
            say(&track, now_ns, random_chance(&random, 85) ? measures : NULL);
            int64_t forming_ns = now_ns / MINUTE_NS * MINUTE_NS;
            for (int back = -1; back <= 1; back++) { /* the one after, which is empty, too */
                struct measure_bar bars[BOOK_MEASURES];
                int64_t open_ns = forming_ns - back * MINUTE_NS;
                double expected[4] = {0};
                bool is = engine_measure_of(&track, open_ns, bars);
                CHECK(is == searched(open_ns, 0, expected));
                there += is;
                not_there += !is;
                for (int m = 0; m < BOOK_MEASURES && is; m++) {
                    searched(open_ns, m, expected);
                    CHECK(bars[m].open == expected[0] && bars[m].high == expected[1] &&
                          bars[m].low == expected[2] && bars[m].close == expected[3]);
                }
            }
        }
    }
    CHECK(there > 10000 && not_there > 1000);
}

static struct engine_book_bar bars_reported[2];
static uint64_t n_bars_reported;

static void on_book_bar(void *ctx, const struct engine_book_bar *bar)
{
    (void)ctx;
    bars_reported[bar->symbol] = *bar;
    n_bars_reported++;
}

static struct engine *engine;
static struct harness h;
static uint64_t book_id;

static void handle(struct engine *to, struct event event)
{
    event.seq = ++h.seq;
    event.recv_ns = h.now_ns;
    CHECK_INT(engine_handle(to, &event), 0);
}

static struct event book_event(int64_t bid, int64_t bid_qty, int64_t ask, int64_t ask_qty)
{
    static struct book_level bids[1], asks[1];
    bids[0] = (struct book_level){bid, bid_qty};
    asks[0] = (struct book_level){ask, ask_qty};
    book_id++;
    return (struct event){.kind = EVENT_MARKET,
                          .market = {.kind = MARKET_BOOK,
                                     .symbol = BTCUSDT,
                                     .event_ns = h.now_ns,
                                     .depth = {book_id, book_id, bids, asks, 1, 1}}};
}

static struct event bar_event(int symbol)
{
    struct bar bar = flat_bar(h.now_ns / MINUTE_NS * MINUTE_NS - MINUTE_NS, 60000 * E8);
    return (struct event){
        .kind = EVENT_MARKET,
        .market = {.kind = MARKET_KLINE, .symbol = symbol, .kline = {MINUTE_NS, bar, true}}};
}

/* One engine's state continues in the other, with the same values to the bit. */
static void test_engine(bool reloads)
{
    struct engine_sink sink = {.book_bar = on_book_bar};
    harness_init(&h);
    h.accounts[ALICE].strategy = &watcher;
    CHECK_INT(engine_create(&h.config, &sink, &engine), 0);
    CHECK_INT(engine_start(engine, h.now_ns), 0);
    n_bars_reported = bars_seen = 0;
    h.now_ns = START_NS + SECOND_NS;
    handle(engine, book_event(60000 * E8, 3 * E8, 60002 * E8, E8));
    handle(engine, book_event(60000 * E8, 3 * E8, 60010 * E8, E8));
    handle(engine, book_event(60001 * E8, 3 * E8, 60005 * E8, E8));
    struct event quote = {
        .kind = EVENT_MARKET,
        .market = {.kind = MARKET_QUOTE, .symbol = ETHUSDT, .quote = {1, 2500 * E8, E8, 2501 * E8, 3 * E8}}};
    handle(engine, quote);
    if (reloads)
        reload_engine(&engine);
    h.now_ns = START_NS + MINUTE_NS + MS_NS;
    handle(engine,
           book_event(60001 * E8, E8, 60009 * E8, E8)); /* of the next minute, before the bar is reported */
    handle(engine, bar_event(BTCUSDT));
    CHECK(isnan(seen[0]) && isnan(seen[2]));
    handle(engine, bar_event(ETHUSDT));
    CHECK_INT(n_bars_reported, reloads ? 0 : 2); /* which are not of the state: from the next bar on */
    if (!reloads) {
        CHECK_INT(bars_reported[BTCUSDT].open_ns, START_NS);
        CHECK_NEAR(bars_reported[BTCUSDT].measures[BOOK_SPREAD].open, 2, 0);
        CHECK_NEAR(bars_reported[BTCUSDT].measures[BOOK_SPREAD].high, 10, 0);
        CHECK_NEAR(bars_reported[BTCUSDT].measures[BOOK_SPREAD].low, 2, 0);
        CHECK_NEAR(bars_reported[BTCUSDT].measures[BOOK_SPREAD].close, 4, 0);
        CHECK_NEAR(bars_reported[BTCUSDT].measures[BOOK_IMBALANCE].close, 0.5, 0);
        CHECK_NEAR(bars_reported[BTCUSDT].measures[BOOK_MICROPRICE].close, 60004, 1e-9);
        CHECK_NEAR(bars_reported[ETHUSDT].measures[BOOK_SPREAD].close, 1, 0);
        CHECK_NEAR(bars_reported[ETHUSDT].measures[BOOK_MICROPRICE].open, 2500.25, 1e-9);
    }
    if (reloads)
        reload_engine(&engine);
    h.now_ns = START_NS + 2 * MINUTE_NS + MS_NS;
    handle(engine, bar_event(BTCUSDT)); /* its spread: 4, carried over, to 8 */
    CHECK_NEAR(seen[0], 6, 0);
    CHECK_NEAR(seen[2], 1, 1e-9); /* the microprice went from 60004 to 60005 */
    CHECK(isnan(seen[1]));
    if (reloads)
        reload_engine(&engine);
    /* The stream breaks: the minute that follows has no book, but its price. */
    struct event down = {.kind = EVENT_CONNECTION};
    h.now_ns = START_NS + 2 * MINUTE_NS + SECOND_NS;
    handle(engine, down);
    h.now_ns = START_NS + 3 * MINUTE_NS + MS_NS;
    handle(engine, bar_event(BTCUSDT)); /* the book was there for a second */
    CHECK_NEAR(seen[0], 8, 0);
    CHECK_NEAR(seen[1], 60000, 1e-9);
    if (reloads)
        reload_engine(&engine);
    uint64_t before = n_bars_reported;
    h.now_ns = START_NS + 4 * MINUTE_NS + MS_NS;
    handle(engine, bar_event(BTCUSDT));
    CHECK(isnan(seen[0]) && isnan(seen[2]));
    CHECK_NEAR(seen[1], 60000, 1e-9);
    CHECK_INT(n_bars_reported, before);
    CHECK_INT(bars_seen, 5);
    engine_destroy(engine);
    harness_forget(&h);
}

/* Quotes without a time are of the bar that their own venue's clock says, whichever venue's bar came last. */
static void test_venues(void)
{
    struct engine_sink sink = {.book_bar = on_book_bar};
    struct event clock = {.kind = EVENT_VENUE_CLOCK, .venue_clock = {"one", -HOUR_NS}};
    struct event quote = {
        .kind = EVENT_MARKET,
        .market = {.kind = MARKET_QUOTE, .symbol = BTCUSDT, .quote = {1, 2500 * E8, E8, 2501 * E8, 3 * E8}}};
    harness_init(&h);
    snprintf(h.symbols[BTCUSDT].venue, sizeof h.symbols[BTCUSDT].venue, "one");
    snprintf(h.symbols[ETHUSDT].venue, sizeof h.symbols[ETHUSDT].venue, "two");
    CHECK_INT(engine_create(&h.config, &sink, &engine), 0);
    CHECK_INT(engine_start(engine, h.now_ns), 0);
    handle(engine, clock);
    h.now_ns += MINUTE_NS;
    handle(engine, bar_event(ETHUSDT));
    handle(engine, quote);
    h.now_ns += MINUTE_NS;
    struct event bar = bar_event(BTCUSDT);
    int64_t open_ns = bar.market.kline.bar.open_ns -= HOUR_NS;
    memset(bars_reported, 0, sizeof bars_reported);
    handle(engine, bar);
    CHECK_INT(bars_reported[BTCUSDT].open_ns, open_ns);
    engine_destroy(engine);
    harness_forget(&h);
}

static size_t of_volume(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    (void)params;
    snprintf(specs[0], STRATEGY_SPEC_TEXT, "obv@spread");
    return 1;
}

static size_t unknown(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    (void)params;
    snprintf(specs[0], STRATEGY_SPEC_TEXT, "sma:20@imbalanced");
    return 1;
}

static void test_specs(void)
{
    struct strategy strategy = watcher;
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    const double params[STRATEGY_PARAMS_MAX] = {0};
    char err[SPECS_ERROR_MAX] = "", name[48];
    size_t n = 0;
    CHECK_INT(engine_runner_specs(&strategy, params, MINUTE_NS, specs, &n, err), 0);
    CHECK(n == 3 && specs[0].measure == BOOK_SPREAD && specs[1].measure == -1 &&
          specs[2].measure == BOOK_MICROPRICE);
    engine_runner_output_name(&specs[0], 0, name, sizeof name);
    CHECK_STR(name, "sma_2@spread");
    CHECK_INT(engine_runner_specs_of_bars(&strategy, specs + 1, 1, err), 0);
    CHECK_INT(engine_runner_specs_of_bars(&strategy, specs, n, err), -EINVAL);
    CHECK_STR(err, "strategy watcher reads sma_2@spread: bars have no order book, an event log has");
    strategy.specs = of_volume;
    CHECK_INT(engine_runner_specs(&strategy, params, MINUTE_NS, specs, &n, err), -EINVAL);
    CHECK_STR(err, "strategy watcher: obv@spread: obv reads volumes, and a measure has none");
    strategy.specs = unknown;
    CHECK_INT(engine_runner_specs(&strategy, params, MINUTE_NS, specs, &n, err), -EINVAL);
    CHECK_STR(err,
              "strategy watcher: sma:20@imbalanced: one of 1s 1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w, "
              "spread, imbalance, microprice or col:NAME is needed");
}

int main(void)
{
    test_track();
    test_engine(false);
    test_engine(true);
    test_venues();
    test_specs();
    return check_done("engine/measure");
}

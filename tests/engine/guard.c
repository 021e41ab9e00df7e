/* The guards: every strategy passes on synthetic bars; cheaters that look at the next bar in their scan, have
 * tomorrow's prices built in, or count bars since the start are caught, each by the guard that is for it. */
#include "engine/backtest/guard.h"

#include <errno.h>

#include "engine/backtest/guard_bars.h"
#include "strategy/direction.h"
#include "tests/check.h"
#include "tests/counts.h"
#include "tests/engine/synthetic_market.h"
#include "tests/random.h"

#define QUARTER_NS (900 * INT64_C(1000000000))

static const int64_t E8 = 100000000;
static struct guard_bars bars;
static bool whole_counts;
static size_t cuts;
static int directions; /* both ways, and short alone */

#ifdef __SANITIZE_THREAD__ /* the threads are the same with each strategy */
enum { EACH = 3 };
#else
enum { EACH = 1 };
#endif

static struct account_spec account_of(const struct strategy *strategy)
{
    static const char *const shorter[][2] = {{"fast", "1"}, {"mid", "2"}, {"slow", "3"}, {"period", "2"}};
    struct account_spec spec = {.name = "tried",
                                .currency = "USDT",
                                .currency_scale = 8,
                                .cash = 10000 * E8,
                                .rules = {.fees = {1000, 1000}},
                                .strategy = strategy};
    if (strategy->together && strategy->shorts) { /* it does nothing else */
        spec.rules.shorts = true;
        spec.rules.collateral_e4 = 15000;
        spec.rules.maintenance_e4 = 12500;
    }
    strategy_defaults(strategy, spec.params);
    if (!whole_counts && strcmp(strategy->name, "trend-4h-1h") == 0) /* whose averages of 4h few bars fill */
        for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++)
            CHECK_INT(strategy_set(strategy, spec.params, shorter[i][0], shorter[i][1], NULL), 0);
    return spec;
}

static bool has_direction(const struct strategy *strategy)
{
    size_t i = 0;
    while (i < strategy->n_params && strcmp(strategy->params[i].name, DIRECTION_NAME) != 0)
        i++;
    return i < strategy->n_params;
}

static struct account_spec short_account(const struct strategy *strategy, int direction)
{
    struct account_spec spec = account_of(strategy);
    spec.rules.shorts = true;
    spec.rules.collateral_e4 = 15000;
    spec.rules.maintenance_e4 = 12500;
    spec.rules.borrow_rate_e6 = 50000;
    for (size_t i = 0; i < strategy->n_params; i++)
        if (strcmp(strategy->params[i].name, DIRECTION_NAME) == 0)
            spec.params[i] = direction;
    CHECK_INT(strategy_direction(strategy, spec.params), direction);
    return spec;
}

static struct guard_config config_of(const struct account_spec *account, const struct market *market)
{
    return (struct guard_config){
        .market = market, .account = account, .latency_ns = 50000000, .cuts = cuts, .seed = 7, .threads = 2};
}

static struct guard_lookahead lookahead(const struct strategy *strategy, const struct market *market)
{
    struct account_spec account = account_of(strategy);
    struct guard_config config = config_of(&account, market);
    struct guard_lookahead verdict = {0};
    char err[512] = "";
    CHECK_INT(backtest_guard_lookahead(&config, &verdict, err, sizeof err), 0);
    CHECK_STR(err, "");
    return verdict;
}

static struct guard_warmup warmup(const struct strategy *strategy, const struct market *market)
{
    struct account_spec account = account_of(strategy);
    struct guard_config config = config_of(&account, market);
    struct guard_warmup verdict = {0};
    char err[512] = "";
    CHECK_INT(backtest_guard_warmup(&config, &verdict, err, sizeof err), 0);
    CHECK_STR(err, "");
    return verdict;
}

/* ---- strategies of the tests' own ---- */

static size_t no_specs(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    (void)params, (void)specs;
    return 0;
}

static size_t two_averages(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    (void)params;
    snprintf(specs[0], STRATEGY_SPEC_TEXT, "sma:3");
    snprintf(specs[1], STRATEGY_SPEC_TEXT, "sma:9");
    return 2;
}

static size_t hold_or_not(const struct strategy_input *input, bool up, struct intent *intents)
{
    if (up == (input->qty > 0) || input->live_orders)
        return 0;
    intents[0] =
        (struct intent){.kind = up ? INTENT_ENTER : INTENT_EXIT, .fraction = 0.5, .why = up ? "up" : "down"};
    return 1;
}

static size_t honest_bar(const double *params, void *state, const struct strategy_input *input,
                         struct intent *intents)
{
    (void)params, (void)state;
    if (isnan(input->indicators[0]) || isnan(input->indicators[1]))
        return 0;
    return hold_or_not(input, input->indicators[0] > input->indicators[1], intents);
}

static const struct strategy honest = {
    .name = "honest", .summary = "", .specs = two_averages, .on_bar = honest_bar};

/* Tomorrow's close, from a table that it has by heart. */
static const struct market *tomorrow;

static double close_after(int64_t ts_ns)
{
    int64_t row = (ts_ns - tomorrow->start_ns) / tomorrow->interval_ns;
    return row >= 0 && (size_t)row < tomorrow->rows ? tomorrow->series[0].close[row] : 0;
}

static size_t knowing_bar(const double *params, void *state, const struct strategy_input *input,
                          struct intent *intents)
{
    (void)params, (void)state;
    return hold_or_not(input, close_after(input->ts_ns) > input->close, intents);
}

static const struct strategy knowing = {
    .name = "knowing", .summary = "", .specs = no_specs, .on_bar = knowing_bar};

/* The scan leaves out bars after which the price falls: it read the next one. */
static void peeking_scan(const double *params, const struct strategy_columns *columns,
                         const struct strategy_marks *marks)
{
    (void)params;
    for (size_t i = 0; i < columns->n; i++) {
        bool falls = i + 1 < columns->n && columns->close[i + 1] < columns->close[i];
        marks->holding[i / 64] |= UINT64_C(1) << i % 64;
        if (!falls)
            marks->flat[i / 64] |= UINT64_C(1) << i % 64;
    }
}

static const struct strategy peeking = {
    .name = "peeking", .summary = "", .specs = two_averages, .on_bar = honest_bar, .scan = peeking_scan};

/* Counts bars since the start. */
static size_t counting_bar(const double *params, void *state, const struct strategy_input *input,
                           struct intent *intents)
{
    int64_t *bars_seen = state;
    (void)params;
    ++*bars_seen;
    return hold_or_not(input, *bars_seen % 10 < 5, intents);
}

static const struct strategy counting = {
    .name = "counting", .summary = "", .specs = no_specs, .on_bar = counting_bar};

static size_t idle_bar(const double *params, void *state, const struct strategy_input *input,
                       struct intent *intents)
{
    (void)params, (void)state, (void)input, (void)intents;
    return 0;
}

static const struct strategy idle = {.name = "idle", .summary = "", .specs = no_specs, .on_bar = idle_bar};

/* Moves its stop by what the next bar's low will be: no order but the stop shows it. */
static size_t stopping_bar(const double *params, void *state, const struct strategy_input *input,
                           struct intent *intents)
{
    (void)params, (void)state;
    if (input->qty <= 0)
        return hold_or_not(input, true, intents);
    double next = close_after(input->ts_ns);
    if (!(next > 0) || input->close * 0.9 <= input->stop)
        return 0;
    intents[0] = (struct intent){.kind = INTENT_STOP, .stop = fmin(next, input->close) * 0.95, .why = "stop"};
    return 1;
}

static const struct strategy stopping = {
    .name = "stopping", .summary = "", .specs = no_specs, .on_bar = stopping_bar};

/* ---- tests ---- */

static void test_strategies(void)
{
    size_t n;
    const struct strategy *const *list = strategy_list(&n);
    size_t decisions = 0;
    for (size_t i = 0; i < n; i += EACH) {
        struct guard_lookahead verdict = lookahead(list[i], &bars.market);
        printf("%s: %zu cuts, %zu runs, %zu decisions, %zu orders%s%s\n", list[i]->name, verdict.cuts,
               verdict.runs, verdict.decisions, verdict.orders, verdict.columns ? ", both ways" : "",
               verdict.found ? ": LOOKS AHEAD" : "");
        CHECK(!verdict.found);
        CHECK(verdict.cuts > 1 && verdict.runs > 2 * verdict.cuts);
        decisions += verdict.decisions;
    }
    CHECK(decisions > 50);
}

/* Settles, within what its indicators let expect and what it remembers itself: a day at most. */
static void check_history(const struct account_spec *account)
{
    enum { DAY = 96 };
    struct guard_config config = config_of(account, &bars.market);
    struct guard_warmup verdict = {0};
    char err[512] = "";
    CHECK_INT(backtest_guard_warmup(&config, &verdict, err, sizeof err), 0);
    CHECK_STR(err, "");
    printf("%s: settles after %zu bars, %zu predicted, %zu decisions\n", account->strategy->name,
           verdict.bars, verdict.predicted, verdict.decisions);
    CHECK(verdict.settles && verdict.bars <= verdict.predicted + DAY);
}

/* Short, and both ways, where the account may be short: neither looks ahead, by the engine and vectorised,
 * and the same history is enough. */
static void test_directions(void)
{
    size_t n, decisions = 0;
    const struct strategy *const *list = strategy_list(&n);
    for (size_t i = 0; i < n; i += EACH)
        for (int direction = DIRECTION_BOTH;
             has_direction(list[i]) && direction > DIRECTION_BOTH - directions; direction--) {
            struct account_spec account = short_account(list[i], direction);
            struct guard_config config = config_of(&account, &bars.market);
            struct guard_lookahead verdict = {0};
            char err[512] = "";
            CHECK_INT(backtest_guard_lookahead(&config, &verdict, err, sizeof err), 0);
            CHECK_STR(err, "");
            CHECK(!verdict.found && verdict.columns == (list[i]->scan || list[i]->idle));
            decisions += verdict.decisions;
            if (!COUNTS_PART) /* there long alone, some: test_histories() */
                check_history(&account);
        }
    CHECK(decisions > 500 * (size_t)directions / EACH);
}

static void test_histories(void)
{
    size_t n;
    const struct strategy *const *list = strategy_list(&n);
    const size_t stride = (size_t)(3 / counts_of("of three histories", 3, 1)) * EACH;
    for (size_t i = 0; i < n; i += stride) {
        struct account_spec account = account_of(list[i]);
        check_history(&account);
    }
}

static void test_honest(void)
{
    struct guard_lookahead verdict = lookahead(&honest, &bars.market);
    CHECK(!verdict.found && verdict.decisions > 50 && verdict.orders >= verdict.decisions);
    struct guard_warmup history = warmup(&honest, &bars.market);
    CHECK(history.settles && history.decisions > 10);
    CHECK_INT(history.predicted, 8);
    CHECK_INT(history.lookback, 8);
    CHECK_INT(history.bars, 8);
    CHECK_INT(history.windows, GUARD_WINDOWS);
    history = warmup(&idle, &bars.market); /* nothing was tried */
    CHECK(!history.settles && history.decisions == 0 && history.bars == 0);
}

/* What is counted from 1970 in odd periods is no look ahead. */
static void test_periods(void)
{
    struct account_spec account = account_of(strategy_find("equal-weight"));
    struct guard_config config = config_of(&account, &bars.market);
    struct guard_lookahead verdict = {0};
    char err[512] = "";
    CHECK_INT(strategy_set(account.strategy, account.params, "every", "977", NULL), 0);
    CHECK_INT(backtest_guard_lookahead(&config, &verdict, err, sizeof err), 0);
    CHECK(!verdict.found && verdict.decisions > 10);
}

static void check_caught(const struct guard_lookahead *verdict, enum guard_change change)
{
    CHECK(verdict->found);
    CHECK_INT(verdict->first.change, change);
    CHECK(verdict->first.in_whole || verdict->first.in_changed);
    CHECK(verdict->first.ts_ns > bars.market.start_ns && verdict->first.ts_ns <= verdict->first.cut_ns);
    CHECK(verdict->first.row <= verdict->first.cut);
}

static void check_restless(const struct strategy *strategy)
{
    struct guard_warmup history = warmup(strategy, &bars.market);
    CHECK(!history.settles);
    CHECK(history.last_bars > 0 && (history.last.in_whole || history.last.in_changed));
}

static void test_cheaters(void)
{
    tomorrow = &bars.market;
    struct guard_lookahead verdict = lookahead(&knowing, &bars.market);
    check_caught(&verdict, GUARD_MOVED);
    verdict = lookahead(&stopping, &bars.market);
    check_caught(&verdict, GUARD_MOVED);
    CHECK(!verdict.first.of_order);
    struct strategy together = knowing; /* as one that is called once for all symbols */
    together.together = true;
    verdict = lookahead(&together, &bars.market);
    check_caught(&verdict, GUARD_MOVED);

    check_restless(&counting);
    together = counting;
    together.together = true;
    check_restless(&together);
}

static void test_scan(void)
{
    struct guard_lookahead verdict = lookahead(&peeking, &bars.market);
    if (!verdict.columns) {
        CHECK(!verdict.found);
        return;
    }
    CHECK(verdict.found);
    CHECK_INT(verdict.first.way, BACKTEST_COLUMNS);
}

static void test_refused(void)
{
    struct guard_bars few;
    struct account_spec account = account_of(&honest);
    struct guard_lookahead verdict;
    struct guard_warmup history;
    char err[512] = "";
    CHECK_INT(backtest_guard_bars_copy(&bars.market, 0, 12, &few), 0);
    struct guard_config config = config_of(&account, &few.market);
    CHECK_INT(backtest_guard_lookahead(&config, &verdict, err, sizeof err), -EINVAL);
    CHECK_STR(err, "12 bars are too few to cut: at least 16 are needed");
    CHECK_INT(backtest_guard_warmup(&config, &history, err, sizeof err), -EINVAL);
    CHECK(strstr(err, "12 bars that all symbols have are too few") && strstr(err, "1088 bars are needed"));
    backtest_guard_bars_finish(&few);
}

static void test_bars(struct random *random)
{
    uint64_t seed = random_next(random);
    struct guard_bars made, copy;
    CHECK_INT(backtest_guard_bars_make(seed, 3, 3000, QUARTER_NS, &made), 0);
    for (int s = 0; s < 3; s++) {
        const struct market_series *series = &made.market.series[s];
        size_t there = 0;
        for (size_t i = 0; i < made.market.rows; i++) {
            there += market_present(series, i);
            CHECK(series->low[i] > 0 && series->low[i] <= series->open[i] &&
                  series->low[i] <= series->close[i]);
            CHECK(series->high[i] >= series->open[i] && series->high[i] >= series->close[i]);
        }
        CHECK_INT(there + series->missing, series->last - series->first + 1);
    }
    CHECK_INT(backtest_guard_bars_copy(&made.market, 100, 2100, &copy), 0);
    CHECK_INT(copy.market.rows, 2000);
    CHECK_INT(copy.market.start_ns, made.market.start_ns + 100 * QUARTER_NS);
    backtest_guard_bars_perturb(&copy, 1000, seed);
    for (int s = 0; s < 3; s++) {
        const struct market_series *a = &made.market.series[s], *b = &copy.market.series[s];
        size_t same = 0;
        for (size_t i = 0; i < 1000; i++) {
            CHECK(market_present(a, i + 100) == market_present(b, i));
            CHECK(a->close[i + 100] == b->close[i] && a->volume[i + 100] == b->volume[i]);
        }
        for (size_t i = 1000; i < 2000; i++) {
            same += a->close[i + 100] == b->close[i];
            CHECK(b->low[i] > 0 && b->low[i] <= b->close[i] && b->high[i] >= b->close[i]);
        }
        CHECK(same < 100);
        CHECK(isnan(b->close[2000]));
    }
    backtest_guard_bars_finish(&made);
    backtest_guard_bars_finish(&copy);
}

/* With a calendar: the days move with the bars, and both ways keep what the last bar decides. */
static void test_sessions(struct random *random)
{
    const struct made_walk walk = {.gaps_permille = 5,
                                   .gap_longest = 3,
                                   .steps = 40,
                                   .start = 40000 * E8,
                                   .tick = E8 / 100,
                                   .step = E8 / 100000};
    struct synthetic_market made;
    struct made_calendar calendar;
    size_t n, decisions = 0;
    made_open(&made, random, &walk, 2, whole_counts ? 40000 : COUNTS_PART ? 3000 : 6000, QUARTER_NS);
    made_calendar(&calendar, random, &made.market);
    CHECK(made_session(&made, 0, &calendar.calendar) && made_session(&made, 1, &calendar.calendar));
    const struct strategy *const *strategies = strategy_list(&n);
    for (size_t i = n % EACH; i <= n; i += EACH) { /* the last is the honest one */
        struct account_spec account = account_of(i < n ? strategies[i] : &honest);
        account.session = SESSION_REGULAR;
        struct guard_config config = config_of(&account, &made.market);
        config.calendar = &calendar.calendar;
        struct guard_lookahead verdict = {0};
        char err[512] = "";
        CHECK_INT(backtest_guard_lookahead(&config, &verdict, err, sizeof err), 0);
        CHECK_STR(err, "");
        CHECK(!verdict.found);
        CHECK(verdict.columns == (account.strategy->scan || account.strategy->idle));
        decisions += verdict.decisions;
    }
    CHECK(decisions > 100);
    made_close(&made);
}

int main(void)
{
    struct random random = random_seeded("engine/guard", 20261122);
    whole_counts = getenv("PAPERTAPE_LONG") != NULL;
    cuts = whole_counts ? GUARD_CUTS : (size_t)counts_of("cuts", 5, 3);
    directions = counts_of("directions", 2, 1);
    if (EACH > 1)
        printf("counts: one of %d strategies (without TSan: all)\n", EACH);
    size_t rows = whole_counts ? 160000 : 8400;
    printf("%zu bars of two symbols%s\n", rows, whole_counts ? "" : " (--long: 160000)");
    if (backtest_guard_bars_make(random_next(&random), 2, rows, QUARTER_NS, &bars) < 0)
        return EXIT_FAILURE;
    test_bars(&random);
    test_honest();
    test_periods();
    test_cheaters();
    test_scan();
    test_refused();
    test_strategies();
    test_directions();
    test_histories();
    test_sessions(&random);
    backtest_guard_bars_finish(&bars);
    return check_done("engine/guard");
}

/* The screen of many parameter sets against the exact backtest of each: fills, trades and refusals are the
 * same numbers, every metric lies within the stated error, with every instruction set of this processor, for
 * groups that are full and that are not, on random markets with gaps, little cash, coarse lots, fees,
 * slippage and history; on the module's device, too, with the same bits as vectors of one lane.
 *
 * usage: test-screen [--long] [MODULE] */
#include <errno.h>

#include "engine/backtest/screen/internal.h"
#include "indicators_gpu/module.h"
#include "strategy/direction.h"
#include "tests/counts.h"
#include "tests/engine/synthetic_market.h"

#define E8        INT64_C(100000000)
#define MINUTE_NS (INT64_C(60) * 1000000000)

#define DUST \
    1000.0 /* smaller accounts differ by a lot or a unit of money now and then: their trades alone are \
              compared */

/* A lot more or less, where a rounding decides, moves the ratio of trades that all lose alike: a sweep widens
 * its error by what it measures. */
enum { OUTSIDE_ONE_IN = 1000 };

enum { SETS_MOST = 40, RUNS = 24, RUNS_PART = 8, RUNS_LONG = 600 };

static const char *const strategies[] = {"sma-cross", "sma-cross-rsi", "sma-cross-rsi-risk",
                                         "triple-confirmation"};

static int64_t pick(struct random *random, const int64_t *from, size_t n)
{
    return from[random_between(random, 0, (int64_t)n - 1)];
}

#define PICK(random, ...) \
    pick(random, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static struct {
    uint64_t sets, fills, trades, refused, contradict, too_short, outside, on_device, ranked;
    double worst[SWEEP_METRICS];
} seen;

static struct gpu_module *device; /* whose module is an argument; NULL: none */

static double random_unit(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

/* Mostly near its default, now and then anywhere; few values, so that sets share columns. */
static double random_param(struct random *random, const struct strategy_param *param)
{
    double value = param->fallback * (0.25 + 0.125 * (double)random_between(random, 0, 14));
    if (random_chance(random, param->fallback == 0 ? 40 : 3))
        value = param->min + (param->max - param->min) * random_unit(random) * random_unit(random);
    if (random_chance(random, 10))
        value = random_chance(random, 50) ? param->min : param->fallback;
    if (param->integer)
        value = floor(value);
    return fmin(fmax(value, param->min), param->max);
}

struct world {
    struct synthetic_market made;
    struct backtest_config config;
    struct account_spec base;
    double params[SETS_MOST][STRATEGY_PARAMS_MAX];
    size_t n;
    bool wild; /* a bar moves by more than a tenth: floats lose their digits, and only trades are compared */
};

static bool get(void *ctx, size_t set, double params[static STRATEGY_PARAMS_MAX])
{
    const struct world *world = ctx;
    memcpy(params, world->params[set], sizeof world->params[set]);
    return !world->base.strategy->check || !world->base.strategy->check(params);
}

/* Sets that differ in every parameter, or as a grid's in two. */
static void draw_sets(struct random *random, struct world *world)
{
    const struct strategy *strategy = world->base.strategy;
    bool grid = random_chance(random, 50);
    for (size_t set = 0; set < world->n; set++)
        for (size_t k = 0; k < strategy->n_params; k++) {
            world->params[set][k] =
                grid && k > 1 && set > 0 ? world->params[0][k] : random_param(random, &strategy->params[k]);
            if (strcmp(strategy->params[k].name, DIRECTION_NAME) == 0)
                world->params[set][k] = strategy->params[k].fallback; /* long */
        }
    for (size_t set = 0; grid && set < world->n; set++) {
        world->params[set][0] = 3 + (double)(set / 20);
        world->params[set][1] = 10 + (double)(set % 20);
    }
}

static void open_world(struct random *random, const char *strategy, struct world *world)
{
    struct made_walk walk = {.gaps_permille = (int)PICK(random, 0, 0, 5, 60),
                             .gap_longest = (int)PICK(random, 1, 5, 200),
                             .steps = (int)PICK(random, 3, 40, 300),
                             .tick = PICK(random, E8 / 100, E8 / 100, E8 / 8, 1),
                             .step = PICK(random, E8 / 100000, E8 / 1000, 7, 130000)};
    walk.start = walk.tick * PICK(random, 500, 20000, 6000000);
    size_t rows = (size_t)PICK(random, 300, 700, 4095, 4097, 9000);
    made_open(&world->made, random, &walk, 1, rows, PICK(random, 1, 5, 60) * MINUTE_NS);
    world->base = (struct account_spec){.name = "one",
                                        .currency = "USDT",
                                        .currency_scale = 8,
                                        .cash = PICK(random, 10000, 10000, 1000000, 30, 300) * E8 +
                                                random_between(random, 0, E8),
                                        .rules = {.fees = {(int32_t)PICK(random, 0, 1000, 200, 7),
                                                           (int32_t)PICK(random, 0, 1000, 1000, 750)}},
                                        .strategy = strategy_find(strategy)};
    world->config = (struct backtest_config){.market = &world->made.market,
                                             .from = random_chance(random, 50) ? rows / 7 : 0,
                                             .to = rows - (size_t)PICK(random, 0, 33),
                                             .latency_ns = PICK(random, 0, 50000000),
                                             .slippage_e6 = (int32_t)PICK(random, 0, 0, 500, 20000),
                                             .threads = (int)random_between(random, 1, 3)};
    const struct market_series *series = &world->made.series[0];
    world->wild = false;
    for (size_t row = 0; row < rows; row++)
        world->wild |= series->high[row] > 1.1 * series->low[row];
    world->n = (size_t)PICK(random, 1, 15, 16, 17, 31, 40);
    draw_sets(random, world);
}

static bool near(double value, double exact, double tolerance)
{
    return (isnan(value) && isnan(exact)) || value == exact || fabs(value - exact) <= tolerance;
}

/* The exact run of a set, and its returns [rows]; false: its indicators need more bars than there are. */
static bool run_exactly(struct world *world, size_t set, double *returns, struct sweep_result *ret)
{
    struct backtest_config config = world->config;
    struct account_spec account = world->base;
    struct backtest backtest;
    char err[256];
    memcpy(account.params, world->params[set], sizeof account.params);
    config.accounts = &account;
    config.n_accounts = 1;
    config.way = BACKTEST_COLUMNS;
    if (backtest_run(&config, &backtest, err, sizeof err) < 0)
        return false;
    CHECK_INT(backtest_sweep_row(&config, &backtest, 0, set, returns, ret), 0);
    backtest_finish(&backtest);
    return true;
}

/* Not a number in both, or within the stated error. */
static void check_metrics(const struct screen_row *row, const double exact[static SWEEP_METRICS])
{
    bool outside = false;
    for (int k = 0; k < SWEEP_METRICS; k++) {
        double error = backtest_screen_error((enum sweep_metric)k, exact[k]);
        if (backtest_screen_uncertain(row->metrics[k]))
            continue;
        bool fits = near(row->metrics[k], exact[k], error);
        if (!fits)
            fprintf(stderr, "%s: %.9g, not %.17g\n", backtest_sweep_metric_name((enum sweep_metric)k),
                    row->metrics[k], exact[k]);
        outside |= !fits;
        double of = fabs(row->metrics[k] - exact[k]) / error;
        if (of > seen.worst[k])
            seen.worst[k] = of;
    }
    seen.outside += outside;
}

static void check_blocks(const struct screen_row *row, const double *returns, size_t rows)
{
    size_t length = rows / SWEEP_BLOCKS, at = rows % SWEEP_BLOCKS;
    for (int k = 0; k < SWEEP_BLOCKS; k++) {
        double sum = 0, square = 0, size = 0;
        for (size_t i = 0; i < length; i++, at++) {
            sum += returns[at];
            square += returns[at] * returns[at];
            size += fabs(returns[at]);
        }
        CHECK_NEAR(row->block_sum[k], sum, 2e-5 * size + 1e-7);
        CHECK_NEAR(row->block_square[k], square, 5e-5 * square + 1e-9);
    }
}

static void check_exact(const struct world *world, const struct screen_row *row,
                        const struct sweep_result *exact, const double *returns)
{
    seen.sets++;
    seen.fills += exact->fills;
    seen.trades += exact->trades;
    seen.refused += exact->refused;
    CHECK_INT(row->fills, exact->fills);
    CHECK_INT(row->trades, exact->trades);
    CHECK_NEAR(row->refused, (double)exact->refused, 0.01 * (double)exact->refused);
    if (world->wild || exact->final_equity < DUST)
        return;
    CHECK_NEAR(row->exposure, exact->exposure, 1e-7);
    CHECK_NEAR(row->fees, exact->fees, 1e-6 * exact->fees);
    CHECK_NEAR(row->final_equity, exact->final_equity, 1e-6 * exact->final_equity);
    check_metrics(row, exact->metrics);
    check_blocks(row, returns, world->config.to - world->config.from);
}

static double key_of(const struct screen_row *row, const struct screen_best *best)
{
    bool is =
        row->state == SCREEN_RUN && row->trades >= best->min_trades && isfinite(row->metrics[best->metric]);
    return is ? row->metrics[best->metric] : -INFINITY;
}

/* In order, all ranked, and what is left out is not better. */
static void check_best(const struct world *world, const struct screen_row *rows,
                       const struct screen_best *best)
{
    bool found[SETS_MOST] = {false};
    size_t ranked = 0;
    for (size_t i = 0; i < world->n; i++)
        ranked += key_of(&rows[i], best) > -INFINITY;
    CHECK_INT(best->n, ranked < best->top ? ranked : best->top);
    for (size_t i = 0; i < best->n; i++) {
        double key = key_of(&rows[best->sets[i]], best);
        CHECK(key > -INFINITY && !found[best->sets[i]]);
        CHECK(i == 0 || key <= key_of(&rows[best->sets[i - 1]], best));
        found[best->sets[i]] = true;
    }
    for (size_t i = 0; i < world->n && best->n > 0; i++)
        CHECK(found[i] || key_of(&rows[i], best) <= key_of(&rows[best->sets[best->n - 1]], best));
    seen.ranked += best->n;
}

static void check_set(struct world *world, size_t set, const struct screen_row *row)
{
    double params[STRATEGY_PARAMS_MAX];
    double *returns = calloc(world->config.to - world->config.from + 1, sizeof *returns);
    struct sweep_result exact;
    CHECK(returns != NULL);
    if (!get(world, set, params)) {
        CHECK_INT(row->state, SCREEN_CONTRADICTS);
        seen.contradict++;
    } else if (!run_exactly(world, set, returns, &exact)) {
        CHECK_INT(row->state, SCREEN_TOO_SHORT);
        seen.too_short++;
    } else {
        CHECK_INT(row->state, SCREEN_RUN);
        check_exact(world, row, &exact, returns);
    }
    free(returns);
}

/* A screen on the device has the bits of one whose vectors have one lane, blocks and threads in either order;
 * the sets that it finds the best are the best of its rows. */
static void check_device(struct random *random, struct world *world, const struct screen_row *plain)
{
    struct screen_row rows[SETS_MOST];
    size_t sets[SETS_MOST];
    char err[256];
    struct screen_best best = {.metric = (enum sweep_metric)random_between(random, 0, SWEEP_METRICS - 1),
                               .min_trades = (size_t)random_between(random, 0, 12),
                               .top = (size_t)random_between(random, 1, SETS_MOST),
                               .sets = sets};
    const struct screen screen = {.config = &world->config,
                                  .account = &world->base,
                                  .n = world->n,
                                  .get = get,
                                  .ctx = world,
                                  .device = device,
                                  .best = &best};
    for (int reversed = 0; reversed < 2; reversed++) {
        setenv("BLOCKS_REVERSED", reversed ? "1" : "0", 1);
        memset(rows, 0xee, sizeof rows);
        CHECK_INT(backtest_screen_run(&screen, rows, err, sizeof err), 0);
        for (size_t set = 0; set < world->n; set++) {
            CHECK_INT(rows[set].state, plain[set].state);
            if (rows[set].state == SCREEN_RUN)
                CHECK(memcmp(&rows[set], &plain[set], offsetof(struct screen_row, state)) == 0);
        }
        check_best(world, rows, &best);
    }
    seen.on_device += world->n;
}

static void one_run(struct random *random, const char *strategy)
{
    static struct world world;
    struct screen_row rows[SETS_MOST];
    char err[256];
    open_world(random, strategy, &world);
    struct screen_row plain[SETS_MOST];
    for (enum indicator_isa isa = INDICATOR_ISA_BASELINE; isa <= indicator_isa_best(); isa++) {
        const struct screen screen = {.config = &world.config,
                                      .account = &world.base,
                                      .n = world.n,
                                      .get = get,
                                      .ctx = &world,
                                      .threads = world.config.threads,
                                      .isa = isa};
        unsigned long before = check_failures;
        memset(rows, 0xee, sizeof rows);
        CHECK_INT(backtest_screen_run(&screen, rows, err, sizeof err), 0);
        for (size_t set = 0; set < world.n && check_failures == before; set++) {
            check_set(&world, set, &rows[set]);
            if (check_failures > before)
                fprintf(stderr, "set %zu of %zu, %s\n", set, world.n, indicator_isa_name(isa));
        }
        if (isa == INDICATOR_ISA_BASELINE)
            memcpy(plain, rows, sizeof plain);
    }
    if (device)
        check_device(random, &world, plain);
    made_close(&world.made);
}

static bool has(const struct runner_spec *specs, size_t n, const struct screen_column *column)
{
    static const char *const names[] = {"sma", "ema", "rsi", "macd", "atr"};
    for (size_t i = 0; i < n; i++) {
        bool same = strcmp(specs[i].indicator.row->name, names[column->kind]) == 0;
        for (int k = 0; same && k < (column->kind == COLUMN_HIST ? 3 : 1); k++)
            same &= specs[i].indicator.options[k] == column->options[k];
        if (same)
            return true;
    }
    return false;
}

/* A rule reads the parameters and indicators of its strategy: the same specs, as many. */
static void test_rule(struct random *random, const struct strategy *strategy)
{
    const struct screen_rule_row *rule = backtest_screen_rule(strategy);
    struct screen_column columns[SCREEN_ROLES], atr = {.kind = COLUMN_ATR};
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    double params[STRATEGY_PARAMS_MAX];
    char err[SPECS_ERROR_MAX];
    size_t n;
    CHECK(rule && rule->n_params <= strategy->n_params);
    for (size_t k = 0; k < strategy->n_params; k++)
        params[k] = random_param(random, &strategy->params[k]);
    memset(columns, 0, sizeof columns);
    rule->columns(params, columns, &atr);
    CHECK_INT(engine_runner_specs(strategy, params, MINUTE_NS, specs, &n, err), 0);
    int roles = rule->rsi && rule->roles == ROLE_RSI ? ROLE_RSI + 1 : rule->roles;
    CHECK_INT(n, roles + rule->atr);
    for (int role = 0; role < roles; role++)
        CHECK(has(specs, n, &columns[role]));
    CHECK(!rule->atr || has(specs, n, &atr));
}

static void test_rules(struct random *random)
{
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++)
        for (int run = 0; run < 20; run++)
            test_rule(random, strategy_find(strategies[i]));
    CHECK(backtest_screen_rule(strategy_find("buy-and-hold")) == NULL);
}

/* A parameter that a rule does not know, as one that a strategy gets later, is not screened. */
static void test_unknown_parameter(struct random *random)
{
    static struct world world;
    struct strategy more = *strategy_find("sma-cross");
    struct strategy_param params[STRATEGY_PARAMS_MAX];
    struct screen_row rows[SETS_MOST];
    char err[256];
    memcpy(params, more.params, more.n_params * sizeof *params);
    params[more.n_params++] = (struct strategy_param){"turn", "its side", 0, 0, 1, true, .later = true};
    more.params = params;
    open_world(random, "sma-cross", &world);
    world.base.strategy = &more;
    for (size_t set = 0; set < world.n; set++) {
        strategy_defaults(&more, world.params[set]);
        world.params[set][more.n_params - 1] = 0;
    }
    const struct screen screen = {
        .config = &world.config, .account = &world.base, .n = world.n, .get = get, .ctx = &world};
    CHECK_INT(backtest_screen_run(&screen, rows, err, sizeof err), 0);
    world.params[world.n - 1][more.n_params - 1] = 1;
    CHECK_INT(backtest_screen_run(&screen, rows, err, sizeof err), -ENOTSUP);
    CHECK_STR(err, "a screen does not know a parameter of these sets");
    made_close(&world.made);
}

int main(int argc, char **argv)
{
    bool longer = getenv("PAPERTAPE_LONG") || (argc > 1 && strcmp(argv[1], "--long") == 0);
    const char *module = argc > 1 && strncmp(argv[argc - 1], "--", 2) != 0 ? argv[argc - 1] : NULL;
    char reason[GPU_REASON_MAX];
    if (module && gpu_module_open(module, &device, reason, sizeof reason) < 0) {
        fprintf(stderr, "%s\n", reason);
        return EXIT_FAILURE;
    }
    int runs = longer ? RUNS_LONG : counts_of("runs of each strategy", RUNS, RUNS_PART);
    struct random random = random_seeded("screen", 32);
    struct random rules = {random.state};
    test_rules(&rules);
    test_unknown_parameter(&rules);
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++)
        for (int run = 0; run < runs; run++) {
            uint64_t state = random.state;
            unsigned long before = check_failures;
            one_run(&random, strategies[i]);
            if (check_failures > before)
                fprintf(stderr, "%s, run %d: its draws begin at PAPERTAPE_SEED=%" PRIu64 "\n", strategies[i],
                        run, state);
        }
    printf("%" PRIu64 " sets, %" PRIu64 " fills, %" PRIu64 " trades, %" PRIu64 " refused; %" PRIu64
           " contradictory, %" PRIu64 " too short\n",
           seen.sets, seen.fills, seen.trades, seen.refused, seen.contradict, seen.too_short);
    for (int k = 0; k < SWEEP_METRICS; k++)
        printf("%-14s worst error %.3f of the stated\n", backtest_sweep_metric_name((enum sweep_metric)k),
               seen.worst[k]);
    printf("%" PRIu64 " sets with a metric outside the stated error\n", seen.outside);
    printf("%" PRIu64 " sets on the device too, %" PRIu64 " ranked there\n", seen.on_device, seen.ranked);
    CHECK(!module || (seen.on_device > 100 && seen.ranked > 100));
    gpu_module_close(device);
    CHECK(seen.outside * OUTSIDE_ONE_IN <= seen.sets);
    CHECK(seen.sets > 100 && seen.trades > 1000 && seen.refused > 10 && seen.contradict > 10);
    return check_done("screen");
}

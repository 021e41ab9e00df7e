/* session-columns CALENDAR SESSION SET BARS…: what an environment of that session observes of each row of
 * bars files of New York stocks, and a policy's runtime that sees the same bars one by one, which are equal
 * to the bit. As CSV a row: when it opens (s), how many symbols have a bar, and its session's columns, nine
 * digits each. SET "-": closes and volumes. For tests/trainer/session_columns.py. */
#include "strategy/policy/session_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/market/compact.h"
#include "exchange/calendar_file.h"
#include "strategy/policy/cache.h"
#include "strategy/policy/runtime.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/strategy/runtime_tape.h"
#include "tests/strategy/trained_made.h"
#include "trainer/data.h"

enum { LOOKBACK = 4, ALL = (1 << SESSION_COLUMNS) - 1 };

struct run {
    const struct trading_calendar *calendar;
    struct market *market;
    struct trainer_data *data;
    struct env_market *env_market;
    struct env_params params;
    struct policy *policy;
};

static void fail(const char *err)
{
    fprintf(stderr, "session-columns: %s\n", err);
    exit(EXIT_FAILURE);
}

/* ---- what the environment has ---- */

static void load(struct run *run, const char *session, const char *set, const char *const *paths, size_t n)
{
    struct market *all;
    char err[MARKET_ERROR_MAX];
    bool extended = strcmp(session, "extended") == 0;
    enum session_choice choice = extended ? SESSION_EXTENDED : SESSION_REGULAR;
    const struct market_options options = {.no_cache = true, .calendar = run->calendar, .session = choice};
    if (market_store_load_files(paths, n, &options, &all, NULL, err) < 0 ||
        market_store_compact(all, run->calendar, choice, &run->market, err) < 0)
        fail(err);
    market_store_close(all);
    const struct trainer_data_options wanted = {.features = set,
                                                .fit_to = run->market->rows,
                                                .session_columns = ALL,
                                                .calendar = run->calendar,
                                                .backend = FEATURE_EXACT};
    if (env_params_preset("market", &run->params, err) < 0)
        fail(err);
    run->params.lookback = LOOKBACK;
    run->params.session = (int)choice;
    run->params.norm_tech = 0.5;
    if (trainer_data_create(run->market, &wanted, &run->data, err) < 0 ||
        env_market_create(trainer_data_source(run->data), &run->params, &run->env_market, err) < 0)
        fail(err);
}

/* ---- the policy ---- */

static void read_set(const char *path, char *ret, size_t cap)
{
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(ret, 1, cap - 1, file) : 0;
    ret[n] = '\0';
    if (!file || fclose(file) != 0)
        fail(path);
}

/* One of random networks; that it loads says that it would observe what the trainer's data has. */
static void make_policy(struct run *run, const char *set)
{
    struct random random = {1};
    struct trained_made made;
    char text[4096], hash[OBSERVATION_HASH_SIZE], err[POLICY_ERROR_MAX] = "";
    const struct net_shape net = {.n_pi = 1, .pi = {8}, .n_vf = 1, .vf = {8}};
    int n = run->market->n_symbols, width = env_market_view(run->env_market)->n_features;
    if (set)
        read_set(set, text, sizeof text);
    trained_made_open(&made, &random, net, n, set ? text : NULL, (size_t)((width - SESSION_COLUMNS) / n),
                      &run->params);
    struct net_shape shape = made.layout.shape;
    trained_made_close(&made);
    shape.observation = 1 + n + LOOKBACK * width;
    trained_made_networks(&made, &random, &shape);
    for (int i = 0; i < n; i++)
        snprintf(made.assets[i].name, sizeof made.assets[i].name, "%s", run->market->series[i].symbol.name);
    if (trainer_data_observation(run->data, &run->params, made.assets, hash) < 0)
        fail("out of memory");
    made.source.interval_ns = run->market->interval_ns;
    made.source.calendar = run->calendar->name;
    made.source.session_columns = ALL;
    made.source.observation_hash = hash;
    if (policy_trained_write(scratch_path("columns.safetensors"), &made.source, err) < 0 ||
        policy_load(scratch_path("columns.safetensors"), NULL, &run->policy, err) < 0)
        fail(err);
    trained_made_close(&made);
}

/* ---- what its runtime has ---- */

static int see_row(const struct run *run, struct policy_runtime *runtime, size_t row)
{
    int64_t open_ns = market_open_ns(run->market, row);
    int n = 0;
    for (int i = 0; i < run->market->n_symbols; i++) {
        const struct market_series *series = &run->market->series[i];
        const struct indicator_bar bar = {series->open[row],   series->high[row],
                                          series->low[row],    series->close[row],
                                          series->volume[row], (double)(open_ns / 1000000000)};
        if (!market_present(series, row))
            continue;
        run->policy->runtime->see(runtime, i, open_ns, &bar);
        n++;
    }
    return n;
}

/* The last `lookback` rows that it remembers, newest first: they come last of what it visits. */
static const double *rows_of(const struct run *run, struct policy_runtime *runtime, size_t n)
{
    static struct runtime_tape tape;
    const struct indicator_stream_fields fields = runtime_tape_fields(&tape, false);
    run->policy->runtime->visit(runtime, &fields);
    return tape.numbers + tape.n - n;
}

/* The row as the environment shows it, with those before it. */
static void compare(const struct run *run, size_t row, const double *rows, size_t n)
{
    const struct env_market_view *view = env_market_view(run->env_market);
    const float *right = view->features + (view->rows - 1 - row) * (size_t)view->n_features;
    for (size_t k = 0; k < n; k++)
        if ((double)right[k] != rows[k]) {
            fprintf(stderr, "row %zu, number %zu: %.9g in the environment, %.9g\n", row, k, (double)right[k],
                    rows[k]);
            check_failures++;
        }
}

static void print_row(const struct run *run, size_t row, int bars, const double *session)
{
    printf("%lld,%d", (long long)(market_open_ns(run->market, row) / 1000000000), bars);
    for (int k = 0; k < SESSION_COLUMNS; k++)
        printf(",%.9g", session[k] / run->params.norm_tech);
    printf("\n");
}

/* Rows without any bar pass as the engine lets them: by a decision in between, or by the next bar. */
static void walk(const struct run *run)
{
    const struct env_market_view *view = env_market_view(run->env_market);
    const double qty[SYMBOLS_MAX] = {0};
    struct random random = {2};
    struct policy_runtime *runtime;
    size_t width = (size_t)view->n_features, n = LOOKBACK * width, compared = 0;
    if (run->policy->runtime->create(run->policy, &runtime) < 0)
        fail("out of memory");
    run->policy->runtime->use(runtime, run->calendar);
    for (size_t row = 0; row < run->market->rows; row++) {
        int bars = see_row(run, runtime, row);
        if (bars == 0 && !random_chance(&random, 50))
            continue;
        float actions[SYMBOLS_MAX + 1];
        bool decides = run->policy->runtime->act(runtime, market_open_ns(run->market, row), 1, qty, actions);
        if (bars == 0 && !decides)
            continue;
        if (random_chance(&random, 5)) {
            runtime = runtime_moved(run->policy, runtime);
            run->policy->runtime->use(runtime, run->calendar);
        }
        const double *rows = rows_of(run, runtime, n);
        if (decides) {
            compare(run, row, rows, n);
            compared++;
        }
        print_row(run, row, bars, rows + width - SESSION_COLUMNS);
    }
    CHECK(compared > run->market->rows / 2);
    run->policy->runtime->destroy(runtime);
}

int main(int argc, char **argv)
{
    struct calendar_file *file;
    struct run run = {0};
    char why[CALENDAR_ERROR_MAX];
    if (argc < 5)
        fail("CALENDAR SESSION SET BARS…");
    if (calendar_file_open(argv[1], &file, why) < 0)
        fail(why);
    const char *set = strcmp(argv[3], "-") == 0 ? NULL : argv[3];
    run.calendar = calendar_file_view(file);
    load(&run, argv[2], set, (const char *const *)argv + 4, (size_t)argc - 4);
    make_policy(&run, set);
    walk(&run);
    policy_destroy(run.policy);
    env_market_destroy(run.env_market);
    trainer_data_destroy(run.data);
    market_store_close(run.market);
    calendar_file_close(file);
    return check_failures > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

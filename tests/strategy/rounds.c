/* Prints what a strategy that is called once for all symbols wants at each of the rounds on stdin, for the
 * account that the input describes: the other side of oracle/together.py.
 *
 * usage: rounds STRATEGY INTERVAL_S SYMBOLS [KEY=VALUE…]
 * stdin: a line a round: open_ns, and of each symbol: fresh open high low close volume qty live shorts; where
 * it is not fresh its bar is left out of the indicators, and what is shown is the one before. stdout: a line
 * an intent: row kind symbol fraction why. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/columns.h"
#include "strategy/intent.h"
#include "strategy/record.h"
#include "strategy/strategy.h"
#include "tests/strategy/key_values.h"

enum { ROUNDS_MAX = 50000, SYMBOLS = 8, OUTPUTS_MAX = 4 };

/* One symbol's bars, those that exist, and what it has of each round. */
struct lane {
    int64_t opens[ROUNDS_MAX];
    double prices[5][ROUNDS_MAX], columns[OUTPUTS_MAX][ROUNDS_MAX];
    size_t n, last[ROUNDS_MAX]; /* last: bars that there are by then */
    double qty[ROUNDS_MAX];
    int fresh[ROUNDS_MAX], live[ROUNDS_MAX], shorts[ROUNDS_MAX];
};

static struct lane lanes[SYMBOLS];
static int64_t opens[ROUNDS_MAX];

static int fail(const char *text)
{
    fprintf(stderr, "rounds: %s\n", text);
    return 1;
}

static bool read_lane(struct lane *lane, size_t row)
{
    double bar[5];
    if (scanf("%d %lf %lf %lf %lf %lf %lf %d %d", &lane->fresh[row], &bar[0], &bar[1], &bar[2], &bar[3],
              &bar[4], &lane->qty[row], &lane->live[row], &lane->shorts[row]) != 9)
        return false;
    for (int k = 0; lane->fresh[row] && k < 5; k++)
        lane->prices[k][lane->n] = bar[k];
    lane->opens[lane->n] = opens[row];
    lane->n += lane->fresh[row] != 0;
    lane->last[row] = lane->n;
    return true;
}

static bool read_rounds(int n_symbols, size_t *ret_n)
{
    for (*ret_n = 0; *ret_n < ROUNDS_MAX; ++*ret_n) {
        if (scanf("%" SCNd64, &opens[*ret_n]) != 1)
            return true;
        for (int s = 0; s < n_symbols; s++)
            if (!read_lane(&lanes[s], *ret_n))
                return false;
    }
    return false;
}

static void show(const struct lane *lane, size_t row, int64_t interval_ns, size_t n_outputs, double *values,
                 struct strategy_peer *peer)
{
    static const struct strategy_record record;
    size_t last = lane->last[row];
    *peer = (struct strategy_peer){.name = "symbol",
                                   .fresh = lane->fresh[row],
                                   .open = NAN,
                                   .high = NAN,
                                   .low = NAN,
                                   .close = NAN,
                                   .volume = NAN,
                                   .indicators = values,
                                   .qty = lane->qty[row],
                                   .live_orders = lane->live[row],
                                   .shorts = lane->shorts[row],
                                   .leverage = 1,
                                   .record = &record};
    for (size_t k = 0; k < n_outputs; k++)
        values[k] = last > 0 ? lane->columns[k][last - 1] : NAN;
    if (last == 0)
        return;
    peer->ts_ns = lane->opens[last - 1] + interval_ns;
    peer->open = lane->prices[0][last - 1];
    peer->high = lane->prices[1][last - 1];
    peer->low = lane->prices[2][last - 1];
    peer->close = lane->prices[3][last - 1];
    peer->volume = lane->prices[4][last - 1];
}

static int ask(const struct strategy *strategy, const double *params, int64_t interval_ns, int n_symbols,
               size_t n, size_t n_outputs)
{
    void *state = calloc(1, strategy_state_size(strategy));
    if (!state)
        return fail("out of memory");
    for (size_t i = 0; i < n; i++) {
        double values[SYMBOLS][OUTPUTS_MAX];
        struct strategy_peer peers[SYMBOLS];
        struct intent intents[SYMBOLS * STRATEGY_INTENTS_MAX];
        for (int s = 0; s < n_symbols; s++)
            show(&lanes[s], i, interval_ns, n_outputs, values[s], &peers[s]);
        const struct strategy_input input = {.ts_ns = opens[i] + interval_ns,
                                             .interval_ns = interval_ns,
                                             .close = peers[0].close,
                                             .indicators = values[0],
                                             .equity = 10000,
                                             .symbols = n_symbols,
                                             .record = peers[0].record,
                                             .peers = peers,
                                             .n_peers = n_symbols};
        size_t n_intents = strategy->on_bar(params, state, &input, intents);
        for (size_t k = 0; k < n_intents; k++)
            printf("%zu %s %d %.17g %s\n", i, intent_kind_name(intents[k].kind), intents[k].symbol,
                   intents[k].fraction, intents[k].why);
    }
    free(state);
    return 0;
}

static int compute(const struct runner_spec *specs, size_t n_specs, struct lane *lane, int64_t interval_ns)
{
    char err[SPECS_ERROR_MAX];
    double *out[OUTPUTS_MAX], (*p)[ROUNDS_MAX] = lane->prices;
    for (size_t k = 0; k < OUTPUTS_MAX; k++)
        out[k] = lane->columns[k];
    struct columns_job job = {
        {lane->n, interval_ns, lane->opens, p[0], p[1], p[2], p[3], p[4], NULL}, out, NULL};
    return n_specs > 0 ? backtest_columns_compute(specs, n_specs, &job, 1, 1, err) : 0;
}

int main(int argc, char **argv)
{
    const struct strategy *strategy = argc > 3 ? strategy_find(argv[1]) : NULL;
    if (!strategy || !strategy->together)
        return fail(
            "STRATEGY INTERVAL_S SYMBOLS [KEY=VALUE…] are needed, of one that is called once for all");
    int64_t interval_ns = strtoll(argv[2], NULL, 10) * 1000000000;
    int n_symbols = (int)strtol(argv[3], NULL, 10);
    double params[STRATEGY_PARAMS_MAX];
    char err[SPECS_ERROR_MAX], why[CONFIG_WHY_MAX];
    const char *wrong = key_values_read(strategy, argv + 4, argc - 4, params, why);
    if (wrong)
        return fail(wrong);
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    size_t n_specs, n;
    if (n_symbols < 1 || n_symbols > SYMBOLS || !read_rounds(n_symbols, &n))
        return fail(
            "stdin: a time and nine numbers a symbol, 1 to 8 of them, and at most 50000 lines are needed");
    if (engine_runner_specs(strategy, params, interval_ns, specs, &n_specs, err) < 0)
        return fail(err);
    size_t n_outputs = engine_runner_outputs(specs, n_specs);
    for (int s = 0; s < n_symbols; s++)
        if (compute(specs, n_specs, &lanes[s], interval_ns) < 0)
            return fail("the indicators cannot be computed");
    return ask(strategy, params, interval_ns, n_symbols, n, n_outputs);
}

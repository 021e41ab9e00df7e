/* Prints what a strategy wants at each of the bars on stdin, for the account that the input describes: the
 * other side of oracle.py.
 *
 * usage: intents STRATEGY INTERVAL_S [KEY=VALUE…]
 * stdin: a line a bar: open_ns open high low close volume qty equity live stop positions symbols wins losses
 * losing shorts session_open_ns session_close_ns. stdout: a line an intent: row kind fraction stop profit
 * limit good_ns why. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/columns.h"
#include "strategy/intent.h"
#include "strategy/record.h"
#include "strategy/strategy.h"
#include "tests/strategy/key_values.h"

enum { BARS_MAX = 200000, OUTPUTS_MAX = 32 };

struct account {
    double qty, equity, stop;
    int live, positions, symbols, shorts;
    struct strategy_record record;
};

static int64_t opens[BARS_MAX];
static double prices[5][BARS_MAX], columns[OUTPUTS_MAX][BARS_MAX];
static struct account accounts[BARS_MAX];
static int64_t sessions[2][BARS_MAX]; /* opening and close; 0: no calendar */

/* Whether all of stdin was lines as expected. */
static bool read_bars(size_t *ret_n)
{
    size_t n = 0;
    for (; n < BARS_MAX; n++) {
        struct account *a = &accounts[n];
        int read = scanf("%" SCNd64 " %lf %lf %lf %lf %lf %lf %lf %d %lf %d %d %" SCNu32 " %" SCNu32
                         " %" SCNu32 " %d %" SCNd64 " %" SCNd64,
                         &opens[n], &prices[0][n], &prices[1][n], &prices[2][n], &prices[3][n], &prices[4][n],
                         &a->qty, &a->equity, &a->live, &a->stop, &a->positions, &a->symbols, &a->record.wins,
                         &a->record.losses, &a->record.losing, &a->shorts, &sessions[0][n], &sessions[1][n]);
        if (read != 18) {
            *ret_n = n;
            return read == EOF;
        }
    }
    return false;
}

static int fail(const char *text)
{
    fprintf(stderr, "intents: %s\n", text);
    return 1;
}

static void ask(const struct strategy *strategy, const double *params, int64_t interval_ns, size_t n,
                size_t n_outputs)
{
    _Alignas(8) unsigned char state[STRATEGY_STATE_SIZE] = {0};
    for (size_t i = 0; i < n; i++) {
        const struct account *a = &accounts[i];
        double values[OUTPUTS_MAX];
        struct intent intents[STRATEGY_INTENTS_MAX];
        for (size_t k = 0; k < n_outputs; k++)
            values[k] = columns[k][i];
        struct strategy_input input = {.ts_ns = opens[i] + interval_ns,
                                       .interval_ns = interval_ns,
                                       .session_open_ns = sessions[0][i],
                                       .session_close_ns = sessions[1][i],
                                       .open = prices[0][i],
                                       .high = prices[1][i],
                                       .low = prices[2][i],
                                       .close = prices[3][i],
                                       .volume = prices[4][i],
                                       .indicators = values,
                                       .qty = a->qty,
                                       .equity = a->equity,
                                       .live_orders = a->live,
                                       .shorts = a->shorts,
                                       .stop = a->stop,
                                       .positions = a->positions,
                                       .symbols = a->symbols,
                                       .record = &a->record};
        size_t n_intents = strategy->on_bar(params, state, &input, intents);
        for (size_t k = 0; k < n_intents; k++) {
            const struct intent *in = &intents[k];
            printf("%zu %s %.17g %.17g %.17g %.17g %" PRId64 " %s\n", i, intent_kind_name(in->kind),
                   in->fraction, in->stop, in->profit, in->limit, in->good_ns, in->why);
        }
    }
}

int main(int argc, char **argv)
{
    const struct strategy *strategy = argc > 2 ? strategy_find(argv[1]) : NULL;
    if (!strategy)
        return fail("STRATEGY INTERVAL_S [KEY=VALUE…] are needed");
    int64_t interval_ns = strtoll(argv[2], NULL, 10) * 1000000000;
    double params[STRATEGY_PARAMS_MAX];
    char err[SPECS_ERROR_MAX], why[CONFIG_WHY_MAX];
    const char *wrong = key_values_read(strategy, argv + 3, argc - 3, params, why);
    if (wrong)
        return fail(wrong);

    struct runner_spec specs[STRATEGY_SPECS_MAX];
    size_t n_specs, n;
    if (!read_bars(&n))
        return fail("stdin: 18 numbers a line are needed, at most 200000 lines");
    if (engine_runner_specs(strategy, params, interval_ns, specs, &n_specs, err) < 0)
        return fail(err);
    double *out[OUTPUTS_MAX];
    for (size_t k = 0; k < OUTPUTS_MAX; k++)
        out[k] = columns[k];
    struct columns_job job = {
        {n, interval_ns, opens, prices[0], prices[1], prices[2], prices[3], prices[4], NULL}, out, NULL};
    if (backtest_columns_compute(specs, n_specs, &job, 1, 1, err) < 0)
        return fail(err);
    ask(strategy, params, interval_ns, n, engine_runner_outputs(specs, n_specs));
    return 0;
}

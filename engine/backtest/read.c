#include "engine/backtest/read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "engine/backtest/columns.h"
#include "engine/backtest/run.h"
#include "engine/backtest/sim.h"

struct reading {
    const struct backtest_config *config;
    int symbol;
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    size_t n_specs;
    int64_t *grid;  /* [to] when each row opens */
    double *volume; /* of the bars that exist, as the engine has it */
    struct columns_bars bars;
};

static int read_specs(const struct account_spec *spec, int64_t interval_ns, struct reading *reading,
                      char err[static SPECS_ERROR_MAX])
{
    if (!spec->strategy)
        return 0;
    int r = engine_runner_specs(spec->strategy, spec->params, interval_ns, reading->specs, &reading->n_specs,
                                err);
    if (r == 0)
        r = engine_runner_specs_of_bars(spec->strategy, reading->specs, reading->n_specs, err);
    return r < 0 ? r
                 : backtest_external_check(reading->config->external, spec->strategy, reading->specs,
                                           reading->n_specs, err, SPECS_ERROR_MAX);
}

static int name_all(const struct reading *reading, struct backtest_read *ret)
{
    size_t at = 0, n = engine_runner_outputs(reading->specs, reading->n_specs);
    ret->names = calloc(n + 1, sizeof *ret->names);
    if (!ret->names)
        return -ENOMEM;
    for (size_t i = 0; i < reading->n_specs; i++)
        for (size_t k = 0; k < reading->specs[i].indicator.row->n_outputs; k++)
            engine_runner_output_name(&reading->specs[i], k, ret->names[at++], BACKTEST_READ_NAME_MAX);
    ret->n = n;
    return 0;
}

int backtest_read_names(const struct backtest_config *config, int account, struct backtest_read *ret,
                        char err[static SPECS_ERROR_MAX])
{
    struct reading reading = {.config = config};
    struct backtest_read read = {0};
    int r = read_specs(&config->accounts[account], config->market->interval_ns, &reading, err);
    r = r < 0 ? r : name_all(&reading, &read);
    if (r == 0)
        *ret = read;
    return r;
}

/* ---- values ---- */

static int open_bars(struct reading *reading)
{
    const struct backtest_config *config = reading->config;
    const struct market_series *series = &config->market->series[reading->symbol];
    reading->grid = malloc((config->to + 1) * sizeof *reading->grid);
    if (!reading->grid)
        return -ENOMEM;
    for (size_t row = 0; row < config->to; row++)
        reading->grid[row] = market_open_ns(config->market, row);
    int r =
        backtest_columns_dense(config->market, reading->symbol, 0, config->to, reading->grid, &reading->bars);
    if (r < 0)
        return r;
    if (backtest_run_sessions(config, reading->symbol))
        reading->bars.calendar = backtest_run_calendar(config);
    reading->volume = malloc((reading->bars.n + 1) * sizeof *reading->volume);
    if (!reading->volume)
        return -ENOMEM;
    for (size_t i = 0; i < reading->bars.n; i++)
        reading->volume[i] = sim_volume(reading->bars.volume[i], series->symbol.qty_scale);
    reading->bars.volume = reading->volume;
    reading->bars.external = config->external;
    reading->bars.symbol = series->symbol.name;
    return 0;
}

/* Values of the bars that exist into the traded rows that they are of. */
static void place(const struct reading *reading, double *const *out, struct backtest_read *ret)
{
    const struct backtest_config *config = reading->config;
    const struct market_series *series = &config->market->series[reading->symbol];
    for (size_t row = 0, bar = 0; row < config->to; row++) {
        const bool present = row >= series->first && row <= series->last && market_present(series, row);
        for (size_t k = 0; k < ret->n && row >= config->from; k++)
            ret->values[k * ret->rows + row - config->from] = present ? out[k][bar] : (double)NAN;
        bar += present;
    }
}

static int compute(const struct reading *reading, struct backtest_read *ret, char err[static SPECS_ERROR_MAX])
{
    struct columns_room room = {0};
    double **out = calloc(ret->n + 1, sizeof *out);
    const bool any = reading->bars.n > 0;
    int r = !out ? -ENOMEM : any ? backtest_columns_room_make(ret->n, reading->bars.n, &room) : 0;
    ret->rows = reading->config->to - reading->config->from;
    ret->values = malloc((ret->n * ret->rows + 1) * sizeof *ret->values);
    r = r == 0 && !ret->values ? -ENOMEM : r;
    for (size_t k = 0; k < ret->n && r == 0 && any; k++)
        out[k] = room.cells + k * room.stride;
    const struct columns_job job = {.bars = reading->bars, .out = out};
    if (r == 0 && any)
        r = backtest_columns_compute(reading->specs, reading->n_specs, &job, 1, 1, err);
    if (r == 0)
        place(reading, out, ret);
    backtest_columns_room_finish(&room);
    free(out);
    return r;
}

int backtest_read_symbol(const struct backtest_config *config, int account, int symbol,
                         struct backtest_read *ret, char err[static SPECS_ERROR_MAX])
{
    struct reading reading = {.config = config, .symbol = symbol};
    struct backtest_read read = {0};
    int r = read_specs(&config->accounts[account], config->market->interval_ns, &reading, err);
    r = r < 0 ? r : name_all(&reading, &read);
    r = r < 0 || read.n == 0 ? r : open_bars(&reading);
    r = r < 0 || read.n == 0 ? r : compute(&reading, &read, err);
    backtest_columns_dense_finish(&reading.bars);
    free(reading.volume);
    free(reading.grid);
    if (r < 0)
        backtest_read_finish(&read);
    else
        *ret = read;
    return r;
}

void backtest_read_finish(struct backtest_read *read)
{
    free(read->names);
    free(read->values);
    *read = (struct backtest_read){0};
}

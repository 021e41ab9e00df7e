/* A study's rows: which are split, which are the holdout, and the gaps between training and testing. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "trainer/study/fit.h"
#include "trainer/study/internal.h"

int study_join_path(char ret[static PATH_MAX], const char *folder, const char *name,
                    char err[static TRIAL_ERROR_MAX])
{
    return snprintf(ret, PATH_MAX, "%s/%s", folder, name) < PATH_MAX
               ? 0
               : study_error(err, -ENAMETOOLONG, "folder: %.100s…: a shorter path", folder);
}

void study_notify(const struct trial_calls *calls, const char *words)
{
    if (calls && calls->warned)
        calls->warned(calls->ctx, words);
}

/* ---- What a trial may ask for at most. ---- */

const char *const study_row_keys[] = {"lookback", "forced_exit_bars", "cooldown_bars", NULL};

double study_param_most(const struct distribution *distribution)
{
    double most = distribution->high;
    if (distribution->kind != DISTRIBUTION_CATEGORICAL)
        return most;
    most = 0;
    for (int i = 0; i < distribution->n_choices; i++)
        most = fmax(most, json_number_value(json_array_get(distribution->choices, (size_t)i)));
    return most;
}

/* NULL: it is not searched. */
static const struct distribution *range_of(const struct study_settings *settings, const char *key)
{
    for (int i = 0; i < settings->space.n; i++)
        if (strcmp(settings->space.params[i].name, key) == 0)
            return &settings->space.params[i].distribution;
    return NULL;
}

static size_t most(const struct study_settings *settings, const char *key, double configured)
{
    const struct distribution *range = range_of(settings, key);
    double value = range ? study_param_most(range) : configured;
    return value > 0 ? (size_t)value : 0;
}

/* ---- Features and closes. ---- */

static int open_columns(struct study_market *market, const struct trainer_data_options *options,
                        char err[static TRIAL_ERROR_MAX])
{
    const struct train_config_data *data = &market->config->data;
    struct trainer_data_options of = *options;
    if (!data->features[0])
        return 0;
    of.features = data->features;
    return trainer_columns_open(market->source.market, &of, &market->columns, err);
}

static int fill_closes(struct study_market *market, char err[static TRIAL_ERROR_MAX])
{
    const struct env_market_source *source = trainer_data_source(market->grid);
    size_t n = (size_t)source->n_assets, rows = source->rows;
    market->closes = malloc(n * rows * sizeof(double));
    if (!market->closes)
        return study_error(err, -ENOMEM, "out of memory: %zu closes", n * rows);
    for (size_t i = 0; i < n; i++) {
        const struct env_asset_source *asset = &source->assets[i];
        double *to = market->closes + i * rows, last = NAN;
        for (size_t r = 0; r < rows; r++) {
            if (asset->present[r / 64] >> (r % 64) & 1)
                last = asset->close[r];
            to[r] = last;
        }
    }
    return 0;
}

/* The first row from which on every symbol has had a bar and all of its features, and how many rows of the
 * market the slowest of these took from its symbol's first bar on. */
static size_t find_first(const struct study_market *market, size_t *ret_warm_up)
{
    const struct market *bars = market->source.market;
    size_t at = 0, first = 0, warm_up = 0;
    for (int i = 0; i < bars->n_symbols; i++) {
        size_t seen =
            market->columns ? market_store_columns_first(market->columns[i]) : bars->series[i].first;
        first = seen > first ? seen : first;
        if (seen - bars->series[i].first > warm_up)
            warm_up = seen - bars->series[i].first;
    }
    while (at < market->rows && trainer_data_row(market->grid, at) < first)
        at++;
    *ret_warm_up = warm_up;
    return at;
}

/* ---- Rows. ---- */

/* The row of a symbol's last bar before row `to`. Later bars do not count: they may be missing when the study
 * begins, and it continues with the rows that it began with. */
static size_t last_before(const struct market_series *series, size_t to)
{
    size_t row = series->last < to ? series->last : to - 1;
    while (row > series->first && !market_present(series, row))
        row--;
    return row;
}

/* The study ends with the last bar of the first symbol whose data ends: after it that symbol's price and
 * features only repeat, and it cannot be traded. Reports this. */
static int end_rows(struct study_market *market, const struct study_market_options *options,
                    char err[static TRIAL_ERROR_MAX])
{
    const struct market *bars = market->source.market;
    struct source_rows *rows = &market->source.train;
    size_t last = rows->to - 1;
    const char *name = NULL;
    char words[TRIAL_ERROR_MAX], when[CLOCK_TEXT_MAX];
    for (int i = 0; i < bars->n_symbols; i++)
        if (last_before(&bars->series[i], rows->to) < last) {
            last = last_before(&bars->series[i], rows->to);
            name = bars->series[i].symbol.name;
        }
    if (!name)
        return 0;
    clock_utc_text(market_open_ns(bars, last), when);
    if (last < rows->from)
        return study_error(err, -EINVAL,
                           "[data] bars: %s: none after %s: a study without it, or with its newer bars, or "
                           "before that, is right",
                           name, when);
    snprintf(words, sizeof words,
             "[data] bars: %s: none after %s: the study ends there, and leaves the last %zu of %zu rows out: "
             "without it, or with its newer bars, they would count",
             name, when, rows->to - last - 1, rows->to - rows->from);
    if (options->warned)
        options->warned(options->ctx, words);
    rows->to = last + 1;
    return 0;
}

static size_t auto_or(int64_t bars, size_t automatic)
{
    return bars < 0 ? automatic : (size_t)bars;
}

/* What the study asks of its rows. Purge, of both sides of what is tested: lookback + max(forced_exit_bars,
 * cooldown_bars) + 1 bars, the most that any trial may have: what an observation shows, how long the
 * environment remembers, and the bar at whose opening the last order fills. Embargo, after what is tested:
 * the bars that the slowest feature needs for its first value. So no observation of a training row after a
 * test shows a feature whose window reaches into the test. (Exponential averages remember for ever, ever
 * less: of those it is the window's main part.) After a test both are counted in bars of each symbol,
 * study_training(). Without trials no episode has to fit. */
static void demand_of(struct study_market *market, bool trials)
{
    const struct study_settings *settings = market->settings;
    const struct env_params *env = &market->config->env;
    size_t warm_up, first = find_first(market, &warm_up);
    size_t forced = most(settings, study_row_keys[SEARCH_FORCED_EXIT], env->forced_exit_bars);
    size_t cooldown = most(settings, study_row_keys[SEARCH_COOLDOWN], env->cooldown_bars);
    size_t lookback = most(settings, study_row_keys[SEARCH_LOOKBACK], env->lookback);
    market->demand = (struct study_demand){
        .rows = market->rows,
        .first = first,
        .lookback = lookback,
        .episode = trials ? most(settings, "episode_bars", (double)env->episode_bars) : 0,
        .searched = range_of(settings, "episode_bars") != NULL,
        .purge = auto_or(settings->purge_bars, training_purge(lookback, forced, cooldown)),
        .embargo = auto_or(settings->embargo_bars, warm_up),
        .holdout = settings->holdout,
        .split = settings->split,
    };
}

/* The first row by which every symbol has had so many bars, those before the study's among them. */
static size_t first_warm(const struct study_market *market, size_t bars)
{
    const struct market *all = market->source.market;
    size_t first = 0;
    for (int i = 0; i < all->n_symbols; i++) {
        size_t row = all->series[i].first;
        for (size_t n = 0; row < all->rows && (n += market_present(&all->series[i], row)) < bars; row++)
            ;
        first = row > first ? row : first;
    }
    return first > market->source.train.from ? first - market->source.train.from : 0;
}

/* Of a study of a strategy: a row before each block, by whose closes holding is bought, and nothing between
 * what is tested, since nothing is trained. What lies before the holdout is purge, the bar at whose opening
 * the last order fills, and embargo, the bars that the slowest indicator needs. */
static int demand_of_rules(struct study_market *market, char err[static TRIAL_ERROR_MAX])
{
    const struct study_settings *settings = market->settings;
    size_t needs;
    int r = study_rules_account(market, &needs, err);
    if (r < 0)
        return r;
    market->demand = (struct study_demand){
        .rows = market->rows,
        .first = first_warm(market, needs),
        .lookback = 1,
        .purge = auto_or(settings->purge_bars, 1),
        .embargo = auto_or(settings->embargo_bars, needs),
        .holdout = settings->holdout,
        .split = settings->split,
    };
    return 0;
}

/* `validation = auto` is decided by the rows, missing bars aside. */
static int lay_out(struct study_market *market, bool trials, char err[static TRIAL_ERROR_MAX])
{
    const bool trains = !market->settings->rules.strategy;
    int r = 0;
    if (trains)
        demand_of(market, trials);
    else if ((r = demand_of_rules(market, err)) < 0)
        return r;
    struct study_demand *demand = &market->demand;
    if (market->settings->split_auto && !trains) {
        struct study_demand together = *demand;
        together.purge = together.embargo = 0;
        market->settings->split_auto = !study_fit_auto(&together, &demand->split);
    } else if (market->settings->split_auto)
        market->settings->split_auto = !study_fit_auto(demand, &demand->split);
    market->settings->split = demand->split;
    study_fit_lay_out(demand, &market->fit);
    market->lookback = demand->lookback;
    market->purge = demand->purge;
    market->embargo = demand->embargo;
    market->holdout = market->fit.holdout;
    market->search = market->fit.search;
    return market->fit.lack == STUDY_LACK_NOTHING ? 0 : study_fit_refuse(demand, &market->fit, err);
}

/* The first row from `from` on before which every symbol has had `bars` bars since then: where a bar is
 * missing a window of features reaches further back. */
static size_t bars_later(const struct study_market *market, size_t from, size_t bars)
{
    const struct env_market_source *source = trainer_data_source(market->grid);
    size_t later = from;
    for (size_t i = 0; i < (size_t)source->n_assets; i++) {
        const uint64_t *present = source->assets[i].present;
        size_t row = from;
        for (size_t n = 0; n < bars && row < market->rows; row++)
            n += present[row / 64] >> (row % 64) & 1;
        later = row > later ? row : later;
    }
    return later;
}

int study_training(const struct study_market *market, const int chosen[static SPLIT_GROUPS_MAX],
                   struct split_rows ret[static SPLIT_BLOCKS_MAX])
{
    const struct study_split *split = &market->settings->split;
    size_t rows = market->search.to - market->search.from;
    struct split_rows tested[SPLIT_GROUPS_MAX];
    int n_tested = split_blocks(split, rows, chosen, tested), n = 0;
    int n_blocks = split_training(split, rows, chosen, market->purge, market->embargo, ret);
    for (int i = 0; i < n_blocks; i++) {
        struct split_rows block = {ret[i].from + market->search.from, ret[i].to + market->search.from};
        for (int b = 0; b < n_tested; b++) {
            size_t end = tested[b].to + market->search.from;
            size_t clear = end <= block.from ? bars_later(market, end, market->purge + market->embargo) : 0;
            block.from = clear > block.from ? clear : block.from;
        }
        if (block.from < block.to)
            ret[n++] = block;
    }
    return n;
}

/* study_training(), which counts bars that are missing, for the fit. */
static int blocks_of(const void *ctx, const int chosen[static SPLIT_GROUPS_MAX],
                     struct split_rows ret[static SPLIT_BLOCKS_MAX])
{
    return study_training(ctx, chosen, ret);
}

/* Of a study of a strategy, which has no rows of training. */
static void extend_tests(struct study_market *market)
{
    const struct study_split *split = &market->settings->split;
    struct study_extent *test = &market->fit.test;
    struct split_rows blocks[SPLIT_GROUPS_MAX];
    int chosen[SPLIT_GROUPS_MAX];
    split_begin(split, chosen);
    do {
        int n = split_blocks(split, market->search.to - market->search.from, chosen, blocks);
        for (int i = 0; i < n; i++) {
            const size_t rows = blocks[i].to - blocks[i].from;
            test->least = test->most == 0 || rows < test->least ? rows : test->least;
            test->most = rows > test->most ? rows : test->most;
        }
    } while (split_next(split, chosen));
}

static int check_splits(struct study_market *market, char err[static TRIAL_ERROR_MAX])
{
    if (market->settings->rules.strategy) {
        extend_tests(market);
        return 0;
    }
    study_fit_splits(&market->demand, blocks_of, market, &market->fit);
    return market->fit.lack == STUDY_LACK_NOTHING ? 0 : study_fit_refuse(&market->demand, &market->fit, err);
}

/* ---- What trials would make again and again. ---- */

static bool is_stopped(const struct study_market_options *options)
{
    return options->stopped && options->stopped(options->ctx);
}

/* What cannot be fitted is not kept: the trials that need it report why. 1: it was asked to stop. */
static int keep_fitted(struct study_market *market, const struct study_market_options *options, int which,
                       const struct split_rows *blocks, int n, size_t end, char err[static TRIAL_ERROR_MAX])
{
    const size_t most = options->fitted_bytes > 0 ? options->fitted_bytes : FITTED_BYTES;
    struct trainer_data *data;
    if (is_stopped(options))
        return study_error(err, 1, "stopped");
    int r = study_fit(market, blocks, n, end, &data, err);
    if (r < 0)
        return r == -EINVAL ? 0 : r;
    const size_t bytes = trainer_data_bytes(data);
    if (market->fitted_bytes + bytes > most) {
        trainer_data_destroy(data);
        if (which < market->settings->split.combinations)
            market->each_bytes = bytes;
        return 0;
    }
    market->fitted_bytes += bytes;
    market->fitted[which] = data;
    return 0;
}

static int fit_splits(struct study_market *market, const struct study_market_options *options,
                      char err[static TRIAL_ERROR_MAX])
{
    struct split_rows blocks[SPLIT_BLOCKS_MAX];
    int chosen[SPLIT_GROUPS_MAX], which = 0, r = 0;
    bool more = !options->no_trials;
    for (split_begin(&market->settings->split, chosen); more && r == 0;
         more = market->each_bytes == 0 && split_next(&market->settings->split, chosen)) {
        int n = study_training(market, chosen, blocks);
        r = keep_fitted(market, options, which++, blocks, n, market->search.to + market->lookback, err);
    }
    if (r == 0 && market->each_bytes == 0)
        r = keep_fitted(market, options, market->settings->split.combinations, &market->search, 1,
                        market->rows, err);
    return r;
}

int study_market_open(const struct train_config *config, struct study_settings *settings,
                      const struct study_market_options *options, struct study_market **ret,
                      char err[static TRIAL_ERROR_MAX])
{
    static const struct study_market_options for_trials = {0};
    struct study_market *market = calloc(1, sizeof *market);
    if (!market)
        return study_error(err, -ENOMEM, "out of memory");
    market->config = config;
    market->settings = settings;
    options = options ? options : &for_trials;
    int r = train_config_trades(config)
                ? 0
                : study_error(err, -EINVAL, "[training] world: %s: a study needs a market, and its bars",
                              config->world);
    if (r == 0 && (settings->split.combinations < 1 || settings->split.combinations > TRIAL_SPLITS_MAX))
        r = study_error(err, -EINVAL, "[study] validation: %d splits: 1 to %d are right: fewer groups",
                        settings->split.combinations, TRIAL_SPLITS_MAX);
    if (r == 0)
        r = settings->rules.strategy ? training_source_load_clock(config, &market->source, err)
                                     : training_source_load(config, true, &market->source, err);
    if (r == 0 && market->source.zone_note[0] && options->warned)
        options->warned(options->ctx, market->source.zone_note);
    if (r == 0)
        r = end_rows(market, options, err);
    const struct trainer_data_options all = {.from = market->source.train.from,
                                             .common = config->env.execution == ENV_REFERENCE,
                                             .backend = FEATURE_EXACT,
                                             .min_order_qty = market->source.least};
    if (r == 0)
        r = trainer_data_create(market->source.market, &all, &market->grid, err);
    if (r == 0) {
        market->rows = trainer_data_source(market->grid)->rows;
        while (market->rows > 0 &&
               trainer_data_row(market->grid, market->rows - 1) >= market->source.train.to)
            market->rows--;
        r = open_columns(market, &all, err);
    }
    if (r == 0)
        r = fill_closes(market, err);
    if (r == 0)
        r = lay_out(market, !options->no_trials, err);
    if (r == 0)
        r = check_splits(market, err);
    if (r == 0)
        market->fitted = calloc((size_t)settings->split.combinations + 1, sizeof(struct trainer_data *));
    if (r == 0 && !market->fitted)
        r = study_error(err, -ENOMEM, "out of memory");
    if (r == 0 && !options->rows_only && !settings->rules.strategy)
        r = fit_splits(market, options, err);
    if (r != 0) {
        study_market_close(market);
        return r;
    }
    *ret = market;
    return 0;
}

void study_market_fit(const struct study_market *market, struct study_demand *ret_demand,
                      struct study_fit *ret)
{
    *ret_demand = market->demand;
    *ret = market->fit;
}

size_t study_market_each_bytes(const struct study_market *market)
{
    return market ? market->each_bytes : 0;
}

size_t study_market_bars_bytes(const struct study_market *market)
{
    return market->source.market->bytes;
}

void study_market_close(struct study_market *market)
{
    if (!market)
        return;
    for (int i = 0; market->fitted && i <= market->settings->split.combinations; i++)
        trainer_data_destroy(market->fitted[i]);
    free(market->fitted);
    free(market->closes);
    trainer_columns_close(market->source.market, market->columns);
    trainer_data_destroy(market->grid);
    training_source_close(&market->source);
    free(market);
}

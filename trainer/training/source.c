#include "trainer/training/source.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/market_source.h"
#include "db/reader.h"
#include "db/state.h"
#include "engine/market/compact.h"
#include "exchange/calendar_file.h"
#include "exchange/clock.h"
#include "exchange/fail.h"
#include "trainer/training/bars_words.h"

/* Fewer copies are stepped by one thread: two of the environment's would compete with the learner's. */
enum { SPLIT_COPIES = 512, EPISODES_LEAST = 4 /* that drawn starts choose from */ };

#define say(err, code, ...) fail_with(code, err, SOURCE_ERROR_MAX, __VA_ARGS__)

/* ---- Lists with commas. ---- */

struct words {
    char text[CONFIG_LIST_MAX];
    const char *word[SYMBOLS_MAX];
    size_t n;
};

/* False for more than SYMBOLS_MAX, or an empty one among others. */
static bool split(const char *text, struct words *ret)
{
    ret->n = 0;
    snprintf(ret->text, sizeof ret->text, "%s", text);
    if (ret->text[strspn(ret->text, " \t")] == '\0')
        return true;
    for (char *p = ret->text; p; ret->n++) {
        char *comma = strchr(p, ',');
        if (comma)
            *comma = '\0';
        p += strspn(p, " \t");
        for (char *end = p + strlen(p); end > p && (end[-1] == ' ' || end[-1] == '\t');)
            *--end = '\0';
        if (*p == '\0' || ret->n == SYMBOLS_MAX)
            return false;
        ret->word[ret->n] = p;
        p = comma ? comma + 1 : NULL;
    }
    return true;
}

static int bad_list(const char *key, char *err)
{
    return say(err, -EINVAL, "[data] %s: an empty one, or too many: 1 to %d with commas between are right",
               key, SYMBOLS_MAX);
}

/* ---- Bars. ---- */

const struct trading_calendar *training_source_days(const struct training_source *source)
{
    const struct trading_calendar *calendar = source->calendar ? calendar_file_view(source->calendar) : NULL;
    return calendar && calendar->n > 0 ? calendar : NULL;
}

const char *training_source_calendar(const struct training_source *source)
{
    const struct trading_calendar *calendar = training_source_days(source);
    return calendar ? calendar->name : NULL;
}

/* Whose bars are taken. */
static enum session_choice choice_of(const struct training_source *source)
{
    return training_source_days(source) ? (enum session_choice)source->config->env.session : SESSION_ALL;
}

/* [data] lots of n files; *ret_lots is NULL where it is empty. */
static int read_lots(const char *text, size_t n, struct words *words, const char *const **ret_lots,
                     char err[static SOURCE_ERROR_MAX])
{
    if (!split(text, words))
        return bad_list("lots", err);
    if (words->n > 1 && words->n != n)
        return say(err, -EINVAL, "[data] lots: %zu: one, or as many as bars, %zu, are right", words->n, n);
    for (size_t i = 1; words->n == 1 && i < n; i++)
        words->word[i] = words->word[0];
    *ret_lots = words->n > 0 ? words->word : NULL;
    return 0;
}

static int load_files(struct training_source *source, struct words *bars, struct words *symbols,
                      struct words *lots, struct market **ret, char err[static SOURCE_ERROR_MAX])
{
    const struct train_config_data *data = &source->config->data;
    struct market_terms terms = {0};
    if (!split(data->bars, bars) || bars->n == 0)
        return bad_list("bars", err);
    if (symbols->n > 0 && symbols->n != bars->n)
        return say(err, -EINVAL, "[data] symbols: %zu: as many as bars are right, %zu", symbols->n, bars->n);
    int r = read_lots(data->lots, bars->n, lots, &terms.lots, err);
    if (r < 0)
        return r;
    const struct market_options options = {
        .names = symbols->n > 0 ? symbols->word : NULL,
        .exchange_info = data->exchange_info[0] ? data->exchange_info : NULL,
        .zone = data->zone[0] ? data->zone : NULL,
        .calendar = training_source_days(source),
        .session = choice_of(source),
        .terms = terms,
    };
    struct market_load load = {0};
    r = market_store_load_files(bars->word, bars->n, &options, ret, &load, err);
    memcpy(source->zone_note, load.zone_note, sizeof source->zone_note);
    if (r < 0)
        training_bars_words(BARS_WORDS_KEYS, err, SOURCE_ERROR_MAX);
    if (r < 0 || data->interval_ns == 0 || (*ret)->interval_ns == data->interval_ns)
        return r;
    const char *name = bar_interval_name((*ret)->interval_ns);
    return say(err, -EINVAL, "[data] interval: %s: the bars are of %s", bar_interval_name(data->interval_ns),
               name ? name : "another one");
}

/* The calendar of a state's symbols, unless [data] calendar has named one. */
static int find_calendar(struct training_source *source, const char *database, const struct words *symbols,
                         char err[static SOURCE_ERROR_MAX])
{
    char name[CALENDAR_NAME_MAX], why[MARKET_ERROR_MAX];
    if (source->calendar)
        return 0;
    int r = db_market_calendar(database, symbols->word, symbols->n, name, why);
    if (r == -EINVAL)
        return say(err, r, "[data] symbols: %.900s", why);
    if (r < 0)
        return say(err, r, "%.900s", why);
    r = name[0] ? calendar_file_open(policy_calendar_table(name), &source->calendar, why) : 0;
    return r < 0 ? say(err, r, "[data] calendar: %.400s, which %s trades by", why, symbols->word[0]) : 0;
}

static int load_state(struct training_source *source, const struct words *symbols, struct market **ret,
                      char err[static SOURCE_ERROR_MAX])
{
    const struct train_config_data *data = &source->config->data;
    struct state_dir state;
    char why[256];
    int r = db_state_dir_find(data->state, &state, why, sizeof why);
    if (r < 0)
        return say(err, r, "[data] state: %s", why);
    if ((r = find_calendar(source, state.database, symbols, err)) < 0)
        return r;
    const struct market_options options = {.interval_ns = data->interval_ns,
                                           .calendar = training_source_days(source),
                                           .session = choice_of(source)};
    return db_market_load(state.database, symbols->word, symbols->n, BAR_VENUE, &options, ret, NULL, err);
}

/* Leaves the nights out, of a market with a calendar. */
static int keep_sessions(struct training_source *source, char err[static SOURCE_ERROR_MAX])
{
    enum session_choice choice = choice_of(source);
    struct market *all = source->market;
    char why[MARKET_ERROR_MAX];
    if (choice == SESSION_ALL && training_source_days(source))
        return say(err, -EINVAL,
                   "[environment] session: all: with [data] calendar = %s it has hours in which %s is not "
                   "traded: regular or extended is right",
                   training_source_days(source)->name, all->series[0].symbol.name);
    if (choice == SESSION_ALL && source->config->data.session_features)
        return say(
            err, -EINVAL,
            "[data] session_features: the bars are of no session: a calendar with days, and [environment] "
            "session regular or extended, are right");
    if (choice == SESSION_ALL)
        return 0;
    int r = market_store_compact(all, training_source_days(source), choice, &source->market, why);
    if (r < 0)
        return say(err, r, "[environment] %.900s", why);
    market_store_close(all);
    return 0;
}

static int open_calendar(struct training_source *source, char err[static SOURCE_ERROR_MAX])
{
    char why[CALENDAR_ERROR_MAX];
    const char *name = source->config->data.calendar;
    int r = name[0] ? calendar_file_open(name, &source->calendar, why) : 0;
    return r < 0 ? say(err, r, "[data] calendar: %.500s", why) : 0;
}

static int load_bars(struct training_source *source, bool clock, char err[static SOURCE_ERROR_MAX])
{
    const struct train_config_data *data = &source->config->data;
    struct words *bars = malloc(sizeof *bars), *symbols = malloc(sizeof *symbols),
                 *lots = malloc(sizeof *lots);
    int r = bars && symbols && lots ? 0 : say(err, -ENOMEM, "out of memory");
    if (r == 0)
        r = open_calendar(source, err);
    if (r == 0 && !split(data->symbols, symbols))
        r = bad_list("symbols", err);
    if (r == 0 && data->state[0])
        r = load_state(source, symbols, &source->market, err);
    else if (r == 0)
        r = load_files(source, bars, symbols, lots, &source->market, err);
    if (r == 0 && !clock)
        r = keep_sessions(source, err);
    free(bars);
    free(symbols);
    free(lots);
    return r;
}

static int read_least(struct training_source *source, char err[static SOURCE_ERROR_MAX])
{
    size_t n = (size_t)source->market->n_symbols;
    struct words *words = malloc(sizeof *words);
    int r = words ? 0 : say(err, -ENOMEM, "out of memory");
    if (r == 0 && !split(source->config->data.least_quantities, words))
        r = bad_list("least_quantities", err);
    if (r == 0 && words->n > 0 && words->n != n)
        r = say(err, -EINVAL, "[data] least_quantities: %zu: one a symbol is right, %zu", words->n, n);
    if (r == 0 && words->n > 0 && !(source->least = calloc(n, sizeof(double))))
        r = say(err, -ENOMEM, "out of memory");
    for (size_t i = 0; r == 0 && i < words->n; i++) {
        char *end;
        source->least[i] = strtod(words->word[i], &end);
        if (*end || !(source->least[i] >= 0 && source->least[i] < 1e15))
            r = say(err, -EINVAL, "[data] least_quantities: %.60s: units of %s, 0 or more, are right",
                    words->word[i], source->market->series[i].symbol.name);
    }
    free(words);
    return r;
}

/* ---- What a check looks at without loading bars. ---- */

enum { NAMES_MAX = 400 };

static void add_name(char to[static NAMES_MAX], const char *name)
{
    size_t n = strlen(to);
    if (n + strlen(name) + 8 < NAMES_MAX)
        snprintf(to + n, NAMES_MAX - n, "%s%s", n ? ", " : "", name);
    else if (n + 5 < NAMES_MAX && to[n - 1] != '.')
        snprintf(to + n, NAMES_MAX - n, ", ...");
}

static void take_symbol(void *ctx, const struct db_symbol_row *row)
{
    add_name(ctx, row->symbol.name);
}

/* The intervals that there are bars of, "1m, 5m". 0 or -errno. */
static int list_intervals(struct db_reader *reader, const char *symbol, char ret[static NAMES_MAX])
{
    int64_t interval_ns = 0;
    int r;
    ret[0] = '\0';
    while ((r = db_reader_interval_after(reader, symbol, interval_ns, &interval_ns)) == 0)
        if (bar_interval_name(interval_ns))
            add_name(ret, bar_interval_name(interval_ns));
    return r == -ENOENT ? 0 : r;
}

/* `interval_ns`: of which there must be bars; 0: of none. */
static int check_symbol(struct db_reader *reader, const char *name, int64_t interval_ns,
                        char err[static SOURCE_ERROR_MAX])
{
    struct db_symbol_row row;
    char there[NAMES_MAX] = "";
    int64_t open_ns;
    int r = db_reader_symbol(reader, name, &row);
    if (r == -ENOENT) {
        r = db_reader_symbols(reader, take_symbol, there);
        return r < 0 ? r
                     : say(err, -EINVAL, "\"%.60s\": no such symbol is stored: %s%s right", name,
                           there[0] ? there : "symbols that the daemon streams",
                           strchr(there, ',') || !there[0] ? " are" : " is");
    }
    if (r == 0 && interval_ns > 0 &&
        (r = db_reader_first_bar(reader, name, interval_ns, BAR_VENUE, &open_ns)) == -ENOENT) {
        r = list_intervals(reader, name, there);
        return r < 0 ? r
                     : say(err, -EINVAL, "%.60s: no bars of %s are stored%s%s", name,
                           bar_interval_name(interval_ns), there[0] ? ": those of " : " yet", there);
    }
    return r;
}

int training_source_check_symbols(const struct train_config *config, bool bars,
                                  char err[static SOURCE_ERROR_MAX])
{
    struct words symbols;
    struct state_dir state;
    struct db_reader *reader;
    char why[256];
    int r = 0;
    if (!train_config_trades(config) || !config->data.state[0] || config->data.interval_ns <= 0 ||
        !split(config->data.symbols, &symbols) ||
        db_state_dir_find(config->data.state, &state, why, sizeof why) < 0 ||
        db_reader_open(state.database, &reader, why, sizeof why) < 0)
        return 0;
    for (size_t i = 0; i < symbols.n && r == 0; i++)
        r = check_symbol(reader, symbols.word[i], bars ? config->data.interval_ns : 0, err);
    db_reader_close(reader);
    return r == -EINVAL ? r : 0;
}

bool training_source_lacks_bars(const struct train_config *config, char words[static SOURCE_ERROR_MAX])
{
    struct words bars;
    if (!train_config_trades(config) || !split(config->data.bars, &bars))
        return false;
    for (size_t i = 0; i < bars.n; i++)
        if (access(bars.word[i], R_OK) < 0)
            return say(words, -errno, "[data] bars: %.400s: %s: it is needed by the time of the start",
                       bars.word[i], strerror(errno)) < 0;
    return false;
}

/* ---- Rows. ---- */

static int load(const struct train_config *config, bool whole, bool clock, struct training_source *ret,
                char err[static SOURCE_ERROR_MAX])
{
    struct training_source source = {.config = config};
    struct training_ranges ranges = {0};
    int r = train_config_trades(config) ? load_bars(&source, clock, err) : 0;
    if (r == 0 && source.market && (r = read_least(&source, err)) == 0)
        r = training_ranges_find(source.market, config, whole, &ranges, err);
    if (r < 0) {
        training_source_close(&source);
        return r;
    }
    source.train = ranges.train;
    source.fit = ranges.fit;
    source.judging[SOURCE_VALIDATION].rows = ranges.validation;
    source.judging[SOURCE_TEST].rows = ranges.test;
    *ret = source;
    return 0;
}

int training_source_load(const struct train_config *config, bool whole, struct training_source *ret,
                         char err[static SOURCE_ERROR_MAX])
{
    return load(config, whole, false, ret, err);
}

int training_source_load_clock(const struct train_config *config, struct training_source *ret,
                               char err[static SOURCE_ERROR_MAX])
{
    return load(config, true, true, ret, err);
}

/* ---- Features. ---- */

/* Without rows of missing bars, if the execution needs that. */
static size_t rows_of(const struct market *market, const struct source_rows *rows, bool common)
{
    size_t n = 0;
    for (size_t row = rows->from; row < rows->to; row++) {
        bool all = true;
        for (int i = 0; i < market->n_symbols && common && all; i++)
            all = market_present(&market->series[i], row);
        n += all;
    }
    return n;
}

static int make_market(struct training_source *source, const char *what, const struct source_rows *rows,
                       const struct env_params *params, struct trainer_data **ret_data,
                       struct env_market **ret_market, char err[static SOURCE_ERROR_MAX])
{
    const struct train_config_data *data = &source->config->data;
    const struct market_options store = {0};
    struct trainer_data_options options = {
        .from = rows->from,
        .common = params->execution == ENV_REFERENCE,
        .features = data->features[0] ? data->features : NULL,
        .session_columns = data->session_features,
        .calendar = training_source_days(source),
        .fit_from = source->fit.from,
        .fit_to = source->fit.to,
        .backend = FEATURE_EXACT, /* as a live stream computes them, to the bit */
        .min_order_qty = source->least,
        .store = &store,
    };
    char why[SOURCE_ERROR_MAX];
    options.rows = rows_of(source->market, rows, options.common);
    if (options.rows == 0)
        return say(
            err, -EINVAL,
            "[data] %s_from: no bars that all symbols have: they are needed with execution = reference",
            what);
    int r = trainer_data_create(source->market, &options, ret_data, why);
    if (r == 0)
        r = env_market_create(trainer_data_source(*ret_data), params, ret_market, why);
    return r < 0 ? say(err, r, "the bars of %s: %.900s", what, why) : 0;
}

static void fix(struct env_range *range)
{
    range->low = range->high = range->low + (range->high - range->low) / 2;
}

void training_source_test_params(struct env_params *params)
{
    params->autoreset = ENV_NO_RESET;
    params->random_start = false;
    params->start = params->episode_bars = 0;
    fix(&params->initial_capital);
    fix(&params->buy_cost_pct);
    fix(&params->sell_cost_pct);
    fix(&params->slippage_pct);
}

static struct env_params test_params(const struct training_source *source)
{
    struct env_params params = source->config->env;
    training_source_test_params(&params);
    return params;
}

/* Of rows that shares left to train on, those before all features have values teach nothing. */
static int check_warm_up(const struct training_source *source, char err[static SOURCE_ERROR_MAX])
{
    const struct train_config_data *data = &source->config->data;
    const struct env_market_source *train = trainer_data_source(source->train_data);
    const int lookback = source->config->env.lookback;
    const size_t left = train->rows - train->first_row, needed = EPISODES_LEAST * (2 * (size_t)lookback + 1);
    if (!train_config_divides(data) || left >= needed)
        return 0;
    return say(
        err, -EINVAL,
        "[data] bars: %zu rows to train on, of which %zu are before the features' first values, are too few for "
        "%d episodes of lookback %d, which take %zu: about %.0f more bars, or a smaller test_share, are right",
        train->rows, train->first_row, EPISODES_LEAST, lookback, needed,
        ceil((double)(needed - left) / (1 - data->test_share - data->validation_share)));
}

int training_source_features(struct training_source *source, char err[static SOURCE_ERROR_MAX])
{
    if (!source->market)
        return 0;
    char why[ENV_ERROR_MAX];
    int r = env_params_check(&source->config->env, source->market->n_symbols, why);
    if (r < 0)
        return say(err, r, "[environment] %s", why);
    r = make_market(source, "train", &source->train, &source->config->env, &source->train_data,
                    &source->train_market, err);
    if (r == 0)
        r = check_warm_up(source, err);
    const struct env_params params = test_params(source);
    for (enum source_part part = 0; part < SOURCE_PARTS && r == 0; part++) {
        struct source_judging *judging = &source->judging[part];
        if (judging->rows.to > 0)
            r = make_market(source, training_source_part_name(part), &judging->rows, &params, &judging->data,
                            &judging->market, err);
    }
    return r;
}

/* ---- Worlds. ---- */

int training_source_world(const struct training_source *source, size_t copies, struct ppo_world *ret,
                          char err[static SOURCE_ERROR_MAX])
{
    const struct train_config *config = source->config;
    struct env *env = NULL;
    if (!source->market)
        return ppo_world_builtin(config->world, copies, config->ppo.seed, ret, err);
    const struct env_options options = {.copies = copies,
                                        .seed = config->ppo.seed,
                                        .threads = copies < SPLIT_COPIES ? 1 : config->ppo.threads};
    int r = env_create(&config->env, source->train_market, &options, &env, err);
    if (r == 0 && (r = ppo_world_trading(env, ret, err)) < 0)
        env_destroy(env);
    return r;
}

int training_source_test_env(const struct training_source *source, enum source_part part, struct env **ret,
                             char err[static SOURCE_ERROR_MAX])
{
    const struct env_params params = test_params(source);
    const struct env_options options = {.copies = 1, .seed = source->config->ppo.seed, .backend = ENV_SCALAR};
    return env_create(&params, source->judging[part].market, &options, ret, err);
}

int training_source_test_world(const struct training_source *source, size_t copies, struct ppo_world *ret,
                               char err[static SOURCE_ERROR_MAX])
{
    return ppo_world_builtin(source->config->world, copies, ~source->config->ppo.seed, ret, err);
}

const char *training_source_part_name(enum source_part part)
{
    return part == SOURCE_VALIDATION ? "validation" : "test";
}

bool training_source_judges(const struct training_source *source, enum source_part part)
{
    return source->market ? source->judging[part].market != NULL
                          : part == SOURCE_TEST && source->config->evaluate_episodes > 0;
}

static size_t training_source_market_bytes(const struct env_market *market)
{
    if (!market)
        return 0;
    const struct env_market_view *view = env_market_view(market);
    size_t n = (size_t)view->n, row = (size_t)view->row_stride * sizeof(float) +
                                      (size_t)view->n_features * sizeof(float) +
                                      (view->bars ? 4 * n * sizeof(double) : 0);
    return view->rows * row;
}

size_t training_source_bytes(const struct training_source *source)
{
    size_t bytes =
        (source->market ? source->market->bytes : 0) + training_source_market_bytes(source->train_market);
    for (enum source_part part = 0; part < SOURCE_PARTS; part++)
        bytes += training_source_market_bytes(source->judging[part].market);
    return bytes;
}

void training_source_close(struct training_source *source)
{
    env_market_destroy(source->train_market);
    trainer_data_destroy(source->train_data);
    for (enum source_part part = 0; part < SOURCE_PARTS; part++) {
        env_market_destroy(source->judging[part].market);
        trainer_data_destroy(source->judging[part].data);
    }
    market_store_close(source->market);
    calendar_file_close(source->calendar);
    free(source->least);
    *source = (struct training_source){0};
}

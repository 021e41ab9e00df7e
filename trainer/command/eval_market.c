#include "trainer/command/eval_market.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/market_source.h"
#include "db/state.h"
#include "engine/market/compact.h"
#include "exchange/bar.h"
#include "exchange/calendar_file.h"
#include "exchange/clock.h"
#include "exchange/fail.h"
#include "strategy/policy/runtime.h"
#include "trainer/command/eval_set.h"
#include "trainer/command/eval_show.h"
#include "trainer/training/bars_words.h"
#include "trainer/training/source.h"

#define refuse(err, code, ...) fail_with(code, err, EVAL_ERROR_MAX, __VA_ARGS__)

/* ---- the environment's parameters ---- */

static int set_line(struct env_params *params, char *line, char err[static EVAL_ERROR_MAX])
{
    char why[ENV_ERROR_MAX], *value = strchr(line, '=');
    if (!value)
        return refuse(err, -EINVAL, "environment: %.64s: key=value is right", line);
    *value++ = '\0';
    int r = env_params_set(params, line, value, why);
    return r < 0 ? refuse(err, -EINVAL, "environment: %s", why) : 0;
}

/* An ensemble has its own limits, or its members'. */
static int read_params(const struct trained_policy *policy, const struct ensemble_policy *ensemble,
                       const struct eval_bars *bars, struct env_params *ret, char err[static EVAL_ERROR_MAX])
{
    struct env_params params;
    char why[ENV_ERROR_MAX], *text = strdup(policy->environment), *next = text;
    if (!text)
        return refuse(err, -ENOMEM, "out of memory");
    int r = env_params_preset("market", &params, why);
    params.session = SESSION_ALL; /* of files without one */
    for (char *line; r == 0 && (line = strsep(&next, "\n")) != NULL;)
        r = line[0] ? set_line(&params, line, err) : 0;
    free(text);
    if (ensemble)
        params.limits = ensemble->policy.rules.limits;
    for (size_t i = 0; r == 0 && i < bars->n_set; i++)
        r = trainer_eval_set(&params, bars->set[i], err);
    if (r < 0)
        return r;
    training_source_test_params(&params);
    *ret = params;
    return 0;
}

/* ---- its bars ---- */

/* Of the market's calendar; NULL: it trades at all times. */
static const struct trading_calendar *days_of(const struct eval_market *market)
{
    const struct trading_calendar *calendar = market->calendar ? calendar_file_view(market->calendar) : NULL;
    return calendar && calendar->n > 0 ? calendar : NULL;
}

static int open_calendar(struct eval_market *market, const char *given, char err[static EVAL_ERROR_MAX])
{
    const struct policy *policy = &market->policy->policy;
    const char *name = given ? given : policy_calendar_table(policy->calendar), *refusal;
    char why[CALENDAR_ERROR_MAX], clause[POLICY_ERROR_MAX];
    int r = name ? calendar_file_open(name, &market->calendar, why) : 0;
    if (r < 0)
        return refuse(err, r, "--calendar: %.500s", why);
    refusal = policy_calendar_refusal(policy, days_of(market) ? days_of(market)->name : "", clause);
    return refusal ? refuse(err, -EINVAL, "--calendar: %s, which the policy trades, %.400s",
                            policy->assets[0].name, refusal)
                   : 0;
}

static int load(struct eval_market *market, const struct eval_bars *bars, const char *const *paths, size_t n,
                struct market **ret, char err[static EVAL_ERROR_MAX])
{
    const char *lots[SYMBOLS_MAX];
    const struct market_options options = {.no_cache = true,
                                           .exchange_info = bars->exchange_info,
                                           .zone = bars->zone,
                                           .calendar = days_of(market),
                                           .session = market->policy->policy.session,
                                           .terms.lots = bars->lot ? lots : NULL};
    for (size_t i = 0; i < n && i < SYMBOLS_MAX; i++)
        lots[i] = bars->lot;
    struct market_load load = {0};
    int r = market_store_load_files(paths, n, &options, ret, &load, err);
    memcpy(market->zone_note, load.zone_note, sizeof market->zone_note);
    if (r < 0)
        training_bars_words(BARS_WORDS_EVAL, err, EVAL_ERROR_MAX);
    return r;
}

/* The venue's bars of its symbols. */
static int load_state(const struct eval_market *market, const char *database, struct market **ret,
                      char err[static EVAL_ERROR_MAX])
{
    const struct policy *policy = &market->policy->policy;
    const struct market_options options = {
        .interval_ns = policy->interval_ns, .calendar = days_of(market), .session = policy->session};
    const char *names[ENV_ASSETS_MAX];
    for (int i = 0; i < policy->n_assets; i++)
        names[i] = policy->assets[i].name;
    return db_market_load(database, names, (size_t)policy->n_assets, BAR_VENUE, &options, ret, NULL, err);
}

static int find_files(const struct trained_policy *trained, const struct market *all, size_t *ret_places,
                      char err[static EVAL_ERROR_MAX])
{
    const struct policy *policy = &trained->policy;
    for (int i = 0; i < policy->n_assets; i++) {
        int found = -1;
        for (int s = 0; s < all->n_symbols && found < 0; s++) {
            const struct symbol *symbol = &all->series[s].symbol;
            if (policy_find_symbol(&policy->assets[i], symbol->quote, symbol, 1) == 0)
                found = s;
        }
        if (found < 0)
            return refuse(err, -EINVAL, "--bars: %s, which the policy trades, is not among them: %s%s",
                          policy->assets[i].name, all->series[0].symbol.name,
                          all->n_symbols > 1 ? " and others" : "");
        ret_places[i] = (size_t)found;
    }
    return 0;
}

/* The files of its symbols, in its order: columns of features and actions are in that. */
static int load_in_order(struct eval_market *own, const struct eval_bars *bars, struct market **ret,
                         char err[static EVAL_ERROR_MAX])
{
    const struct trained_policy *trained = own->policy;
    const struct policy *policy = &trained->policy;
    size_t n = (size_t)policy->n_assets, *places = calloc(n, sizeof *places);
    const char **paths = calloc(bars->n > n ? bars->n : n, sizeof *paths);
    struct market *market = NULL;
    int r = places && paths ? 0 : refuse(err, -ENOMEM, "out of memory");
    for (size_t i = 0; i < bars->n && r == 0; i++)
        paths[i] = bars->paths[i];
    if (r == 0)
        r = load(own, bars, paths, bars->n, &market, err);
    if (r == 0)
        r = find_files(trained, market, places, err);
    bool ordered = n == bars->n;
    for (size_t i = 0; i < n && r == 0; i++) {
        ordered = ordered && places[i] == i;
        paths[i] = bars->paths[places[i]];
    }
    if (r == 0 && !ordered) {
        market_store_close(market);
        market = NULL;
        r = load(own, bars, paths, n, &market, err);
    }
    free(paths);
    free(places);
    if (r < 0) {
        market_store_close(market);
        return r;
    }
    *ret = market;
    return 0;
}

static int load_bars(struct eval_market *own, const struct eval_bars *bars, struct market **ret,
                     char err[static EVAL_ERROR_MAX])
{
    char database[STATE_PATH_MAX];
    return bars->n == 1 && db_state_database(bars->paths[0], database) ? load_state(own, database, ret, err)
                                                                       : load_in_order(own, bars, ret, err);
}

/* Leaves the nights out. */
static int keep_sessions(struct eval_market *market, char err[static EVAL_ERROR_MAX])
{
    const struct policy *policy = &market->policy->policy;
    struct market *all = market->bars;
    char why[MARKET_ERROR_MAX];
    if (policy->session == SESSION_ALL)
        return 0;
    int r = market_store_compact(all, days_of(market), policy->session, &market->bars, why);
    if (r < 0)
        return refuse(err, r, "--bars: %.900s", why);
    market_store_close(all);
    return 0;
}

static int check_interval(const struct trained_policy *policy, const struct market *bars,
                          char err[static EVAL_ERROR_MAX])
{
    const char *name = bar_interval_name(bars->interval_ns);
    if (bars->interval_ns == policy->policy.interval_ns)
        return 0;
    return refuse(err, -EINVAL, "--bars: they are of %s: the policy decides on bars of %s",
                  name ? name : "another interval", bar_interval_name(policy->policy.interval_ns));
}

static int make_data(struct eval_market *market, char err[static EVAL_ERROR_MAX])
{
    const struct policy *policy = &market->policy->policy;
    double least[ENV_ASSETS_MAX];
    for (int i = 0; i < policy->n_assets; i++)
        least[i] = policy->assets[i].least;
    const struct trainer_data_options options = {.common = market->params.execution == ENV_REFERENCE,
                                                 .sets = market->ensemble ? NULL : market->policy->sets,
                                                 .session_columns =
                                                     market->ensemble ? 0 : market->policy->session_columns,
                                                 .calendar = days_of(market),
                                                 .backend = FEATURE_EXACT,
                                                 .min_order_qty = least};
    return trainer_data_create(market->bars, &options, &market->data, err);
}

/* The first row by which every symbol has had a bar and its features values. */
static size_t first_row(const struct env_market_source *source, size_t first)
{
    first = source->first_row > first ? source->first_row : first;
    for (int i = 0; i < source->n_assets; i++) {
        const uint64_t *present = source->assets[i].present;
        size_t row = 0;
        while (present && row < source->rows && !(present[row / 64] >> (row % 64) & 1))
            row++;
        first = row > first ? row : first;
    }
    return first;
}

static int choose_rows(struct eval_market *market, const struct eval_bars *bars,
                       char err[static EVAL_ERROR_MAX])
{
    const struct env_market_source *source = trainer_data_source(market->data);
    size_t seen = 0;
    if (market->ensemble && trainer_eval_show_first(market, &seen) < 0)
        return refuse(err, -ENOMEM, "out of memory");
    market->from = 0;
    market->to = source->rows;
    market->first = first_row(source, seen);
    while (market->from < market->to && env_market_open_ns(market->env_market, market->from) < bars->from_ns)
        market->from++;
    while (market->to > market->from && env_market_open_ns(market->env_market, market->to - 1) >= bars->to_ns)
        market->to--;
    if (market->from >= market->to) {
        char first[CLOCK_TEXT_MAX], last[CLOCK_TEXT_MAX];
        return refuse(err, -EINVAL, "--from, --to: no bar is between them: the bars are of %s to %s",
                      clock_utc_text(env_market_open_ns(market->env_market, 0), first),
                      clock_utc_text(env_market_open_ns(market->env_market, source->rows - 1), last));
    }
    size_t from = market->from > market->first ? market->from : market->first;
    size_t least = 2 * (size_t)market->params.lookback + 1;
    if (from + least > market->to)
        return refuse(
            err, -EINVAL,
            "--bars: %zu rows, of which %zu are before all is seen: an episode of lookback %d needs %zu",
            market->to - market->from, from - market->from, market->params.lookback, least);
    return 0;
}

static int check_observation(const struct eval_market *market, char err[static EVAL_ERROR_MAX])
{
    char hash[OBSERVATION_HASH_SIZE], why[POLICY_ERROR_MAX];
    const struct trained_policy *policy = market->policy;
    if (trainer_data_observation(market->data, &market->params, policy->policy.assets, hash) < 0)
        return refuse(err, -ENOMEM, "out of memory");
    int r = policy_trained_observation_check(policy, hash, why);
    return r < 0 ? refuse(err, r, "the policy: %.600s", why) : 0;
}

/* Does the network fit, and is the market what it was trained on? An ensemble's members were checked when it
 * was read. */
static int check_network(const struct eval_market *market, char err[static EVAL_ERROR_MAX])
{
    const struct net_shape *shape = &market->policy->layout.shape;
    if (market->ensemble)
        return 0;
    if (env_observation_size(market->env) != shape->observation ||
        env_action_size(market->env) != shape->actions)
        return refuse(err, -EINVAL,
                      "the policy takes %d numbers and gives %d: its market has %d, and takes %d",
                      shape->observation, shape->actions, env_observation_size(market->env),
                      env_action_size(market->env));
    return check_observation(market, err);
}

static int open_market(struct eval_market market, const struct eval_bars *bars, struct eval_market *ret,
                       char err[static EVAL_ERROR_MAX])
{
    const struct trained_policy *policy = market.policy;
    const struct env_options one = {.copies = 1, .backend = ENV_SCALAR};
    int r = read_params(policy, market.ensemble, bars, &market.params, err);
    if (r == 0 && market.ensemble) {
        market.params.actions = ENV_CONTINUOUS;
        market.params.lookback = market.ensemble->policy.lookback;
    }
    if (r == 0)
        r = open_calendar(&market, bars->calendar, err);
    if (r == 0)
        r = load_bars(&market, bars, &market.bars, err);
    if (r == 0)
        r = check_interval(policy, market.bars, err);
    if (r == 0)
        r = keep_sessions(&market, err);
    if (r == 0)
        r = make_data(&market, err);
    if (r == 0)
        r = env_market_create(trainer_data_source(market.data), &market.params, &market.env_market, err);
    if (r == 0)
        r = choose_rows(&market, bars, err);
    if (r == 0)
        r = env_create(&market.params, market.env_market, &one, &market.env, err);
    if (r == 0)
        r = check_network(&market, err);
    if (r < 0) {
        trainer_eval_market_close(&market);
        return r;
    }
    *ret = market;
    return 0;
}

int trainer_eval_market_open(const struct trained_policy *policy, const struct eval_bars *bars,
                             struct eval_market *ret, char err[static EVAL_ERROR_MAX])
{
    if (policy->world)
        return refuse(err, -EINVAL,
                      "the policy was trained in %.64s: one that was trained on a market is right",
                      policy->world);
    return open_market((struct eval_market){.policy = policy}, bars, ret, err);
}

int trainer_eval_market_open_ensemble(const struct ensemble_policy *ensemble, const struct eval_bars *bars,
                                      struct eval_market *ret, char err[static EVAL_ERROR_MAX])
{
    const struct eval_market market = {.policy = ensemble->members[0], .ensemble = ensemble};
    return open_market(market, bars, ret, err);
}

void trainer_eval_market_close(struct eval_market *market)
{
    env_destroy(market->env);
    env_market_destroy(market->env_market);
    trainer_data_destroy(market->data);
    market_store_close(market->bars);
    calendar_file_close(market->calendar);
    *market = (struct eval_market){0};
}

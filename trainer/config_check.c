/* Checks that the keys of a configuration are consistent. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/nearest.h"
#include "trainer/config_table.h"
#include "trainer/ppo/world.h"

static bool has_ranges(const struct train_config_data *data)
{
    return data->train_to || data->validation_from || data->validation_to || data->test_from || data->test_to;
}

bool train_config_divides(const struct train_config_data *data)
{
    return !has_ranges(data) && (data->test_share > 0 || data->validation_share > 0);
}

/* The earliest of the times that come after `from`, or the end of what is used. */
static int64_t end_before(const struct train_config_data *data, int64_t from, int64_t a, int64_t b)
{
    int64_t end = data->to ? data->to : INT64_MAX;
    end = a > from && a < end ? a : end;
    return b > from && b < end ? b : end;
}

int64_t train_config_train_end(const struct train_config_data *data)
{
    return data->train_to ? data->train_to
                          : end_before(data, data->train_from, data->validation_from, data->test_from);
}

int64_t train_config_validation_end(const struct train_config_data *data)
{
    return data->validation_to ? data->validation_to
                               : end_before(data, data->validation_from, data->test_from, 0);
}

/* ---- Inconsistencies in [data]. ---- */

#define WRONG(name, condition) \
    static bool name(const struct train_config_data *d) \
    { \
        return condition; \
    }

static bool is_no_range(int64_t from, int64_t to)
{
    return from && to && from >= to;
}

static int64_t or_else(int64_t time_ns, int64_t fallback_ns)
{
    return time_ns ? time_ns : fallback_ns;
}

WRONG(two_sources, d->bars[0] && d->state[0])
WRONG(no_source, !d->bars[0] && !d->state[0])
WRONG(no_symbols, d->state[0] && !d->symbols[0])
WRONG(no_interval, d->state[0] && !d->interval_ns)
WRONG(no_calendar, d->session_features && d->bars[0] && !d->calendar[0])
WRONG(fit_is_none, is_no_range(d->fit_from, d->fit_to))
WRONG(train_is_none, is_no_range(d->train_from, d->train_to))
WRONG(test_is_none, is_no_range(d->test_from, d->test_to))
WRONG(test_has_no_start, d->test_to && !d->test_from)
WRONG(test_is_seen, d->test_from && d->test_from < train_config_train_end(d) &&
                        d->train_from < or_else(d->test_to, INT64_MAX))
/* Features are fitted on bars of [from, to). */
static bool is_fitted(const struct train_config_data *d, int64_t from, int64_t to)
{
    return from && or_else(d->fit_from, d->train_from) < to &&
           from < or_else(d->fit_to, train_config_train_end(d));
}

WRONG(test_is_fitted, is_fitted(d, d->test_from, or_else(d->test_to, INT64_MAX)))
WRONG(validation_is_none, is_no_range(d->validation_from, d->validation_to))
WRONG(validation_has_no_start, d->validation_to && !d->validation_from)
WRONG(validation_is_seen, d->validation_from && d->validation_from < train_config_train_end(d) &&
                              d->train_from < train_config_validation_end(d))
WRONG(validation_is_tested, d->validation_from && d->test_from &&
                                d->validation_from < or_else(d->test_to, INT64_MAX) &&
                                d->test_from < train_config_validation_end(d))
WRONG(validation_is_fitted, is_fitted(d, d->validation_from, train_config_validation_end(d)))
WRONG(all_is_none, is_no_range(d->train_from, d->to))
WRONG(purge_is_unused, d->purge_bars >= 0 && has_ranges(d))
WRONG(shares_are_all, train_config_divides(d) && d->test_share + d->validation_share > 0.95)

static const struct {
    const char *keys;
    bool (*wrong)(const struct train_config_data *data);
    const char *words;
} rules[] = {
    {"bars state", two_sources, "[data] state: bars are named too: one of the two is right"},
    {"bars state", no_source,
     "[data] bars: none: bars files are needed, or the state of a daemon, with symbols and interval"},
    {"symbols state", no_symbols, "[data] symbols: none: it is needed with state"},
    {"interval state", no_interval, "[data] interval: none: it is needed with state"},
    {"session_features calendar", no_calendar,
     "[data] session_features: calendar is empty: that of the bars' market is right, as nyse"},
    {"fit_to fit_from", fit_is_none, "[data] fit_to: a time after fit_from is right"},
    {"train_to train_from", train_is_none, "[data] train_to: a time after train_from is right"},
    {"test_to test_from", test_is_none, "[data] test_to: a time after test_from is right"},
    {"test_from test_to", test_has_no_start, "[data] test_from: none: it is needed with test_to"},
    {"test_from test_to train_from train_to", test_is_seen,
     "[data] test_from: bars of training are among those of evaluations: a time from train_to on is right"},
    {"fit_to fit_from test_from test_to train_from train_to", test_is_fitted,
     "[data] fit_to: features would be fitted on bars of evaluations: a time up to test_from is right"},
    {"to train_from", all_is_none, "[data] to: a time after train_from is right"},
    {"validation_to validation_from", validation_is_none,
     "[data] validation_to: a time after validation_from is right"},
    {"validation_from validation_to", validation_has_no_start,
     "[data] validation_from: none: it is needed with validation_to"},
    {"validation_from validation_to train_from train_to", validation_is_seen,
     "[data] validation_from: bars of training are among those of validation: a time from train_to on is right"},
    {"validation_from validation_to test_from test_to", validation_is_tested,
     "[data] validation_to: bars of testing are among those of validation: a time up to test_from is right"},
    {"fit_to fit_from validation_from validation_to", validation_is_fitted,
     "[data] fit_to: features would be fitted on bars of validation: a time up to validation_from is right"},
    {"purge_bars", purge_is_unused,
     "[data] purge_bars: it is left out between ranges by shares: ranges that are given leave out what lies "
     "between them"},
    {"validation_share test_share", shares_are_all,
     "[data] validation_share: with test_share, at most 0.95 is right, so that bars are left to train on"},
};
enum { N_RULES = sizeof rules / sizeof *rules };

/* The number of names in a list with commas; 0: none. */
static int count_names(const char *list)
{
    int n = *list != '\0';
    for (; *list; list++)
        n += *list == ',';
    return n;
}

static int check_environment(const struct train_config *config, char *err)
{
    char why[ENV_ERROR_MAX];
    const struct train_config_data *data = &config->data;
    int n = count_names(data->bars[0] ? data->bars : data->symbols);
    int r = n > 0 ? env_params_check(&config->env, n, why) : 0;
    return r < 0 ? train_config_say(err, r, "[environment] %s", why) : 0;
}

int train_config_check_world(const struct train_config *config, char err[static CONFIG_ERROR_MAX])
{
    struct ppo_world world;
    struct nearest market = {0};
    char why[PPO_ERROR_MAX];
    if (train_config_trades(config))
        return 0;
    nearest_offer(&market, config->world, CONFIG_MARKET);
    int r = ppo_world_builtin(config->world, 1, 0, &world, why);
    if (r == 0)
        ppo_world_destroy(&world);
    else if (r == -ENOENT && nearest_meant(&market, config->world))
        train_config_say(err, r, "[training] world: unknown world: %s%s", config->world,
                         NEAREST_SUGGEST(CONFIG_MARKET));
    else
        train_config_say(err, r, "[training] world: %s (%s is one, too)", why, CONFIG_MARKET);
    return r;
}

/* Has it rows of validation? */
static bool validates(const struct train_config *config)
{
    const struct train_config_data *data = &config->data;
    return train_config_trades(config) &&
           (train_config_divides(data) ? data->validation_share > 0 : data->validation_from != 0);
}

/* NULL: [training] patience can be reached. */
static const char *patience_fault(const struct train_config *config)
{
    if (config->patience > 0 && config->evaluate_every == 0)
        return "[training] patience: it counts evaluations: evaluate_every of 1 or more, or auto, is right, or "
               "patience = 0";
    if (config->patience > 0 && !validates(config))
        return "[training] patience: there are no rows of validation: validation_from, or validation_share without "
               "ranges, is needed, or patience = 0";
    return NULL;
}

int train_config_check(const struct train_config *config, char err[static CONFIG_ERROR_MAX])
{
    char why[PPO_ERROR_MAX];
    int r = ppo_params_check(&config->ppo, why);
    if (r < 0)
        return train_config_say(err, r, "%s", why);
    const char *fault = patience_fault(config);
    if (fault)
        return train_config_say(err, -EINVAL, "%s", fault);
    if (!train_config_trades(config))
        return train_config_check_world(config, err);
    for (size_t i = 0; i < N_RULES; i++)
        if (rules[i].wrong(&config->data))
            return train_config_say(err, -EINVAL, "%s", rules[i].words);
    return check_environment(config, err);
}

bool train_config_warns(const struct train_config *config, char words[static CONFIG_ERROR_MAX])
{
    const int64_t rollout = (int64_t)config->ppo.copies * config->ppo.steps;
    if (config->ppo.total_steps >= rollout)
        return false;
    snprintf(
        words, CONFIG_ERROR_MAX,
        "[training] total_steps = %lld is less than a rollout of %lld steps (copies times steps): one is trained",
        (long long)config->ppo.total_steps, (long long)rollout);
    return true;
}

/* As policies are refused (strategy/policy/runtime.c). */
bool train_config_untradable(const struct train_config *config, char words[static CONFIG_ERROR_MAX])
{
    char buy[CONFIG_WORD_MAX], sell[CONFIG_WORD_MAX];
    const struct env_params *env = &config->env;
    if (!train_config_trades(config))
        return false;
    if (env->execution != ENV_MARKET) {
        snprintf(
            words, CONFIG_ERROR_MAX,
            "[environment] execution = reference: its policy can be evaluated, and not backtested or promoted: "
            "%s is right for one that can",
            env->task == ENV_DAY_TRADE ? "task = day-trade with preset = market, the default,"
                                       : "preset = market, the default,");
        return true;
    }
    if (!env_params_get(env, "buy_cost_pct", buy, sizeof buy) ||
        !env_params_get(env, "sell_cost_pct", sell, sizeof sell) || strcmp(buy, sell) == 0)
        return false;
    snprintf(
        words, CONFIG_ERROR_MAX,
        "[environment] sell_cost_pct = %s: its policy can be evaluated, and not backtested or promoted, since an "
        "account has one rate: buy_cost_pct, %s, is right for one that can",
        sell, buy);
    return true;
}

/* ---- All of it. ---- */

struct misfit_call {
    void (*misfit)(void *ctx, const char *section, const char *keys, const char *words);
    void *ctx;
};

static void take_ppo(void *ctx, const char *keys, const char *words)
{
    const struct misfit_call *misfit_call = ctx;
    char key[CONFIG_WORD_MAX];
    snprintf(key, sizeof key, "%.*s", (int)strcspn(keys, " "), keys);
    misfit_call->misfit(misfit_call->ctx, train_config_home(key), keys, words);
}

int train_config_misfits(const struct train_config *config,
                         void (*misfit)(void *ctx, const char *section, const char *keys, const char *words),
                         void *ctx)
{
    char err[CONFIG_ERROR_MAX], key[CONFIG_WORD_MAX];
    int n = ppo_params_misfits(&config->ppo, take_ppo, &(struct misfit_call){misfit, ctx});
    const char *fault = patience_fault(config);
    if (fault) {
        misfit(ctx, "training", "patience evaluate_every", fault);
        n++;
    }
    if (!train_config_trades(config))
        return n;
    for (size_t i = 0; i < N_RULES; i++)
        if (rules[i].wrong(&config->data)) {
            misfit(ctx, "data", rules[i].keys, rules[i].words);
            n++;
        }
    if (check_environment(config, err) < 0) {
        const char *words = err + strlen("[environment] ");
        snprintf(key, sizeof key, "%.*s", (int)strcspn(words, ":"), words);
        misfit(ctx, "environment", key, err);
        n++;
    }
    return n;
}

/* How the keys of a configuration fit together. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/nearest.h"
#include "trainer/config_table.h"
#include "trainer/ppo/world.h"

int64_t train_config_train_end(const struct train_config_data *data)
{
    return data->train_to ? data->train_to : data->test_from > data->train_from ? data->test_from : INT64_MAX;
}

static int one_source(const struct train_config_data *data, char *err)
{
    if (!data->bars[0] != !data->state[0])
        return 0;
    return train_config_say(err, -EINVAL,
                            data->bars[0]
                                ? "[data] state: bars are named too: one of the two is right"
                                : "[data] bars: none: bars files are needed, or the state of a daemon");
}

static int state_has_symbols(const struct train_config_data *data, char *err)
{
    return data->state[0] && !data->symbols[0]
               ? train_config_say(err, -EINVAL, "[data] symbols: none: it is needed with state")
               : 0;
}

static int state_has_interval(const struct train_config_data *data, char *err)
{
    return data->state[0] && !data->interval_ns
               ? train_config_say(err, -EINVAL, "[data] interval: none: it is needed with state")
               : 0;
}

static int check_range(const char *what, int64_t from, int64_t to, char *err)
{
    return from && to && from >= to
               ? train_config_say(err, -EINVAL, "[data] %s_to: a time after %s_from is right", what, what)
               : 0;
}

static int fit_is_range(const struct train_config_data *data, char *err)
{
    return check_range("fit", data->fit_from, data->fit_to, err);
}

static int train_is_range(const struct train_config_data *data, char *err)
{
    return check_range("train", data->train_from, data->train_to, err);
}

static int test_is_range(const struct train_config_data *data, char *err)
{
    return check_range("test", data->test_from, data->test_to, err);
}

static int test_begins(const struct train_config_data *data, char *err)
{
    return data->test_to && !data->test_from
               ? train_config_say(err, -EINVAL, "[data] test_from: none: it is needed with test_to")
               : 0;
}

static int test_is_unseen(const struct train_config_data *data, char *err)
{
    int64_t test_to = data->test_to ? data->test_to : INT64_MAX;
    if (!data->test_from || data->test_from >= train_config_train_end(data) || data->train_from >= test_to)
        return 0;
    return train_config_say(err, -EINVAL,
                            "[data] test_from: bars of training are among those of evaluations: a time from "
                            "train_to on is right");
}

static int test_is_not_fitted(const struct train_config_data *data, char *err)
{
    int64_t test_to = data->test_to ? data->test_to : INT64_MAX;
    int64_t fit_from = data->fit_from ? data->fit_from : data->train_from;
    int64_t fit_to = data->fit_to ? data->fit_to : train_config_train_end(data);
    if (!data->test_from || fit_from >= test_to || data->test_from >= fit_to)
        return 0;
    return train_config_say(err, -EINVAL,
                            "[data] fit_to: features would be fitted on bars of evaluations: a time up to "
                            "test_from is right");
}

static const struct {
    const char *keys;
    int (*check)(const struct train_config_data *data, char *err);
} rules[] = {
    {"bars state", one_source},
    {"symbols state", state_has_symbols},
    {"interval state", state_has_interval},
    {"fit_to fit_from", fit_is_range},
    {"train_to train_from", train_is_range},
    {"test_to test_from", test_is_range},
    {"test_from test_to", test_begins},
    {"test_from test_to train_from train_to", test_is_unseen},
    {"fit_to fit_from test_from test_to train_from train_to", test_is_not_fitted},
};
enum { N_RULES = sizeof rules / sizeof *rules };

/* Of the names in a list with commas; 0: none. */
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
    char why[PPO_ERROR_MAX];
    if (train_config_trades(config))
        return 0;
    int r = ppo_world_builtin(config->world, 1, 0, &world, why);
    if (r == 0)
        ppo_world_destroy(&world);
    else if (r == -ENOENT && nearest_distance(config->world, CONFIG_MARKET) <= 2)
        train_config_say(err, r, "[training] world: unknown world: %s: did you mean %s?", config->world,
                         CONFIG_MARKET);
    else
        train_config_say(err, r, "[training] world: %s (%s is one, too)", why, CONFIG_MARKET);
    return r;
}

int train_config_check(const struct train_config *config, char err[static CONFIG_ERROR_MAX])
{
    char why[PPO_ERROR_MAX];
    int r = ppo_params_check(&config->ppo, why);
    if (r < 0)
        return train_config_say(err, r, "%s", why);
    if (!train_config_trades(config))
        return train_config_check_world(config, err);
    for (size_t i = 0; i < N_RULES && r == 0; i++)
        r = rules[i].check(&config->data, err);
    return r == 0 ? check_environment(config, err) : r;
}

/* ---- All of it. ---- */

struct telling {
    void (*misfit)(void *ctx, const char *section, const char *keys, const char *words);
    void *ctx;
};

static void take_ppo(void *ctx, const char *keys, const char *words)
{
    const struct telling *telling = ctx;
    char key[CONFIG_WORD_MAX];
    snprintf(key, sizeof key, "%.*s", (int)strcspn(keys, " "), keys);
    telling->misfit(telling->ctx, train_config_home(key), keys, words);
}

int train_config_misfits(const struct train_config *config,
                         void (*misfit)(void *ctx, const char *section, const char *keys, const char *words),
                         void *ctx)
{
    char err[CONFIG_ERROR_MAX], key[CONFIG_WORD_MAX];
    int n = ppo_params_misfits(&config->ppo, take_ppo, &(struct telling){misfit, ctx});
    if (!train_config_trades(config))
        return n;
    for (size_t i = 0; i < N_RULES; i++)
        if (rules[i].check(&config->data, err) < 0) {
            misfit(ctx, "data", rules[i].keys, err);
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

/* [search]: which keys are searched, and over what. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/nearest.h"
#include "trainer/config_table.h"
#include "trainer/study/settings_table.h"

const char *study_settings_first(void)
{
    return "[study]\n"
           "trials = 20\n"
           "\n"
           "[search]\n"
           "learning_rate = 1e-4..3e-3 log\n"
           "gamma = 0.9..0.999\n"
           "ent_coef = 1e-4..3e-2 log\n"
           "total_steps = 20000 | 50000 | 100000\n";
}

/* Those of the reference system, by this program's names: batch_size is minibatch, target_step steps,
 * break_step total_steps (in steps of an hour), entropy_coef ent_coef, value_loss_coef vf_coef, ppo_epochs
 * epochs, kl_target target_kl, the factor of its schedules lr_final. Widths are whole eights: a device
 * multiplies by tiles. */
static const struct study_default defaults[] = {
    {"learning_rate", "1e-6..1e-3 log", "Adam's, at the start"},
    {"minibatch", "2048 | 4096 | 8192 | 16384", "rows of one step of Adam; at most a rollout's"},
    {"gamma", "0.88..0.99", "discount of rewards a step, of PPO and of the environment"},
    {"net_dimension", "512..1536 step 8", "width of every hidden layer of policy and value"},
    {"steps", "256..1024", "of each copy in a rollout"},
    {"total_steps", "30000..140000 hourly", "of all copies together; hourly: times the bars of an hour"},
    {"lookback", "1..5", "rows of features in an observation"},
    {"norm_cash", "2^-16..2^-10 log", "factor of cash in observations"},
    {"norm_stocks", "2^-11..2^-5 log", "factor of quantities in observations"},
    {"norm_tech", "2^-19..2^-12 log", "factor of features in observations"},
    {"norm_reward", "2^-14..2^-7 log", "factor of rewards"},
    {"norm_action", "1000..25000",
     "an action of 1 trades capital / norm_action: initial_capital should be large, as 1000000"},
    {"time_decay_floor", "0..0.5", "least factor of rewards towards an episode's end"},
    {"clip_range", "0.1..0.4", "of the ratio of probabilities"},
    {"ent_coef", "1e-5..1e-2 log", "weight of the entropy loss"},
    {"vf_coef", "0.25..1", "weight of the value loss"},
    {"max_grad_norm", "0.3..2", "gradients are scaled to at most this norm"},
    {"gae_lambda", "0.90..0.99", "decay of advantages a step"},
    {"epochs", "4..16", "times that an update goes over a rollout"},
    {"target_kl", "0.005..0.03", "epochs end once the KL is above 1.5 of this"},
    {"adam_epsilon", "1e-9..1e-5 log", "Adam's addend to the root"},
    {"lr_schedule", "constant | linear | exponential", "how the learning rate goes"},
    {"lr_final", "0.5..0.95", "share of it that is left at the end"},
    {"min_cash_reserve", "0.04..0.3", "of the initial capital, never spent"},
    {"concentration_penalty", "0..0.1", "weight of the penalty on few and unequal positions"},
    {"drawdown_penalty", "0..1", "weight of the penalty on a deeper drawdown, of the reward"},
    {"volatility_penalty", "0..10", "weight of the penalty on the squared return of a step, of the reward"},
    {"trailing_stop_pct", "0..0.2", "all is sold this far below the peak; 0: off"},
};
enum { N_DEFAULTS = sizeof defaults / sizeof *defaults };

const struct study_default *study_settings_default_space(size_t *ret_n)
{
    *ret_n = N_DEFAULTS;
    return defaults;
}

/* ---- Keys. ---- */

#define NET_DIMENSION "net_dimension"

static const struct config_key net_dimension = {
    "search",           NET_DIMENSION, "width of every hidden layer", NULL, KEY_WHOLE(1, NET_WIDTH_MAX),
    .size = sizeof(int)};

/* gamma is PPO's, whose range is the environment's too. */
static const struct config_key *find_param(const char *name)
{
    size_t n_ppo, n_env;
    const struct config_key *ppo = ppo_params_list(&n_ppo), *env = env_params_list(&n_env);
    const struct config_key *key = config_key_find(ppo, n_ppo, NULL, name);
    key = key ? key : config_key_find(env, n_env, NULL, name);
    if (!key && strcmp(name, NET_DIMENSION) == 0)
        return &net_dimension;
    return key && key->marks & CONFIG_KEY_FIXED ? NULL : key;
}

static void offer(struct nearest *nearest, const char *name, const struct config_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(keys[i].marks & CONFIG_KEY_FIXED))
            nearest_offer(nearest, name, keys[i].name);
}

static int unknown(const char *key, char *err)
{
    char why[CONFIG_WHY_MAX];
    struct nearest nearest = {0};
    size_t n_ppo, n_env;
    const struct config_key *ppo = ppo_params_list(&n_ppo), *env = env_params_list(&n_env);
    const char *home = train_config_home(key), *other = train_config_other_name(key);
    if (other)
        return train_config_say(err, -ENOENT, "[search] %s: unknown key: %s is its name", key, other);
    if (home || study_settings_has(key))
        return train_config_say(err, -ENOENT, "[search] %s: it is not searched: it belongs to [%s]", key,
                                home ? home : "study");
    offer(&nearest, key, ppo, n_ppo);
    offer(&nearest, key, env, n_env);
    nearest_offer(&nearest, key, NET_DIMENSION);
    (void)config_key_unknown_near(&nearest, key, why);
    return train_config_say(err, -ENOENT, "[search] %.60s: %s", key, why);
}

/* ---- Values. ---- */

enum { TEXT_MAX = 512 };

static void trim(char *text)
{
    size_t n = strlen(text), blanks = strspn(text, " \t");
    while (n > blanks && isspace((unsigned char)text[n - 1]))
        n--;
    text[n] = '\0';
    memmove(text, text + blanks, n - blanks + 1);
}

/* A number, or a power as 2^-16. */
static bool read_number(const char *text, double *ret)
{
    char *end;
    double base, power = 1;
    if (!isdigit((unsigned char)*text) && !strchr("-.", *text))
        return false;
    base = strtod(text, &end);
    if (end == text)
        return false;
    if (*end == '^') {
        const char *rest = end + 1;
        if (!isdigit((unsigned char)*rest) && !strchr("-.", *rest))
            return false;
        power = strtod(rest, &end);
        if (end == rest)
            return false;
        base = pow(base, power);
    }
    *ret = base + 0.0; /* -0 is 0 */
    return !*end && isfinite(base);
}

/* Would the key's own section accept it? */
static int check_value(const struct config_key *param, const char *text, char *err)
{
    char why[CONFIG_WHY_MAX];
    return config_key_try(param, text, why) < 0
               ? train_config_say(err, -EINVAL, "[search] %s: %s", param->name, why)
               : 0;
}

static int bars_an_hour(const struct train_config *config)
{
    const int64_t hour_ns = INT64_C(3600000000000), interval = config->data.interval_ns;
    return interval > 0 && interval < hour_ns ? (int)(hour_ns / interval) : 1;
}

struct space_range {
    char low[TEXT_MAX], high[TEXT_MAX]; /* as written in the file */
    double from, to, step;
    bool log, hourly;
};

static int bad_range(const char *key, const char *text, char *err)
{
    return train_config_say(
        err, -EINVAL,
        "[search] %s: %.100s: A..B [log] [step S], or choices as A | B, are right; a value that "
        "stays belongs to its own section",
        key, text);
}

static int read_range(const char *key, const char *text, struct space_range *ret, char *err)
{
    char copy[TEXT_MAX], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    *ret = (struct space_range){0};
    char *dots = strstr(copy, ".."), *high = dots ? dots + 2 : NULL;
    if (!dots || strlen(text) >= sizeof copy)
        return bad_range(key, text, err);
    *dots = '\0';
    high += strspn(high, " \t");
    rest = high + strcspn(high, " \t");
    if (*rest)
        *rest++ = '\0';
    snprintf(ret->low, sizeof ret->low, "%s", copy);
    trim(ret->low);
    snprintf(ret->high, sizeof ret->high, "%s", high);
    if (!read_number(ret->low, &ret->from) || !read_number(ret->high, &ret->to))
        return bad_range(key, text, err);
    for (char *save = NULL, *word = strtok_r(rest, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
        if (strcmp(word, "log") == 0 && !ret->log) {
            ret->log = true;
        } else if (strcmp(word, "hourly") == 0 && !ret->hourly) {
            ret->hourly = true;
        } else if (strcmp(word, "step") == 0 && ret->step == 0) {
            word = strtok_r(NULL, " \t", &save);
            if (!word || !read_number(word, &ret->step) || !(ret->step > 0))
                return train_config_say(err, -EINVAL, "[search] %s: step %.60s: a number above 0 is right",
                                        key, word ? word : "");
        } else {
            return train_config_say(
                err, -EINVAL, "[search] %s: %.60s: log, step S and hourly, each once, are right", key, word);
        }
    }
    return 0;
}

static bool is_whole(double value)
{
    return value == floor(value) && fabs(value) <= 0x1p53;
}

static int check_end(const struct config_key *param, double value, char *err)
{
    char text[64];
    snprintf(text, sizeof text, param->kind == CONFIG_WHOLE ? "%.0f" : "%.17g", value);
    return check_value(param, text, err);
}

static int take_range(const struct train_config *config, const struct config_key *param, const char *text,
                      struct distribution *ret, char *err)
{
    char why[DISTRIBUTION_ERROR_MAX];
    struct space_range range;
    const bool whole = param->kind == CONFIG_WHOLE;
    int r = read_range(param->name, text, &range, err);
    if (r < 0)
        return r;
    if (param->kind > CONFIG_SPAN)
        return train_config_say(err, -EINVAL, "[search] %s: %.60s: choices as A | B are right", param->name,
                                text);
    if (range.hourly) {
        range.from *= bars_an_hour(config);
        range.to *= bars_an_hour(config);
    }
    if (whole && !(is_whole(range.from) && is_whole(range.to) && is_whole(range.step)))
        return train_config_say(err, -EINVAL, "[search] %s: %.60s: whole numbers are right", param->name,
                                text);
    if (range.from > range.to)
        return train_config_say(err, -EINVAL, "[search] %s: %.60s: the lower number first is right",
                                param->name, text);
    if ((r = check_end(param, range.from, err)) < 0 || (r = check_end(param, range.to, err)) < 0)
        return r;
    r = distribution_number(whole ? DISTRIBUTION_INT : DISTRIBUTION_FLOAT, range.from, range.to,
                            whole && range.step == 0 ? 1 : range.step, range.log, ret, why);
    return r < 0 ? train_config_say(err, r, "[search] %s: %.200s", param->name, why) : 0;
}

/* A choice as a study stores it: numbers and switches as such. */
static json_t *choice_json(const struct config_key *param, const char *text, double number, bool is_number)
{
    if (param->kind == CONFIG_SWITCH)
        return json_boolean(strcmp(text, "true") == 0);
    if (param->kind > CONFIG_SPAN || !is_number)
        return json_string(text);
    return param->kind == CONFIG_WHOLE ? json_integer((json_int_t)number) : json_real(number);
}

static int add_choice(const struct config_key *param, char *text, json_t *choices, char *err)
{
    char value[64];
    double number = 0;
    const char *checked = text;
    trim(text);
    const bool is_number = param->kind <= CONFIG_SPAN && read_number(text, &number);
    if (is_number) {
        snprintf(value, sizeof value, is_whole(number) ? "%.0f" : "%.17g", number);
        checked = value;
    }
    if (!*text)
        return train_config_say(err, -EINVAL, "[search] %s: an empty choice: A | B is right", param->name);
    int r = check_value(param, checked, err);
    json_t *choice = r == 0 ? choice_json(param, text, number, is_number) : NULL;
    if (r == 0 && !choice)
        return train_config_say(err, -ENOMEM, "out of memory");
    for (size_t i = 0; r == 0 && i < json_array_size(choices); i++)
        if (json_equal(json_array_get(choices, i), choice))
            r = train_config_say(err, -EINVAL, "[search] %s: %.60s: each choice once is right", param->name,
                                 text);
    if (r == 0 && json_array_append(choices, choice) < 0)
        r = train_config_say(err, -ENOMEM, "out of memory");
    json_decref(choice);
    return r;
}

static int take_choices(const struct config_key *param, const char *text, struct distribution *ret, char *err)
{
    char why[DISTRIBUTION_ERROR_MAX], *copy = strdup(text), *rest = copy, *choice;
    json_t *choices = json_array();
    int r = copy && choices ? 0 : train_config_say(err, -ENOMEM, "out of memory");
    while (r == 0 && (choice = strsep(&rest, "|")))
        r = add_choice(param, choice, choices, err);
    if (r == 0 && (r = distribution_categories(choices, ret, why)) < 0)
        train_config_say(err, r, "[search] %s: %.200s", param->name, why);
    json_decref(choices);
    free(copy);
    return r;
}

int study_settings_set_search(struct study_settings *settings, const struct train_config *config,
                              const char *key, const char *text, char err[static CONFIG_ERROR_MAX])
{
    const struct strategy *strategy = settings->rules.strategy;
    struct config_key own;
    const struct config_key *param = !strategy                              ? find_param(key)
                                     : study_rules_key(strategy, key, &own) ? &own
                                                                            : NULL;
    struct distribution distribution = {0};
    if (!param)
        return strategy ? study_rules_unknown(strategy, key, err) : unknown(key, err);
    if (strategy && study_rules_gives(&settings->rules, key))
        return train_config_say(
            err, -EINVAL, "[search] %.60s: [account] " RULES_PARAM "%.60s " CONFIG_ONE_OF_TWO, key, key);
    int r = strchr(text, '|') ? take_choices(param, text, &distribution, err)
                              : take_range(config, param, text, &distribution, err);
    if (r < 0)
        return r;
    r = space_add(&settings->space, key, &distribution);
    distribution_finish(&distribution);
    if (r == -EEXIST)
        return train_config_say(err, -EINVAL, "[search] %s: already searched", key);
    return r < 0 ? train_config_say(err, r, "out of memory") : 0;
}

int study_settings_complete(struct study_settings *settings, const struct train_config *config,
                            char err[static CONFIG_ERROR_MAX])
{
    const int own = settings->space.n;
    if (own > 0 && !settings->default_space)
        return 0;
    if (settings->rules.strategy)
        return train_config_say(err, -EINVAL,
                                "[search] none: ranges of parameters of %.60s are needed: papertape backtest "
                                "--list-strategies has them",
                                study_rules_title(&settings->rules));
    for (size_t i = 0; i < N_DEFAULTS; i++) {
        bool has = false;
        for (int j = 0; j < settings->space.n && !has; j++)
            has = strcmp(settings->space.params[j].name, defaults[i].key) == 0;
        int r =
            has ? 0 : study_settings_set_search(settings, config, defaults[i].key, defaults[i].range, err);
        if (r < 0)
            return r;
    }
    return 0;
}

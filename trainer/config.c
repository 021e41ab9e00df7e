#include "trainer/config.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "exchange/bar.h"
#include "exchange/bars_file.h"
#include "exchange/nearest.h"
#include "record/config_duration.h"
#include "strategy/policy/session_columns.h"
#include "trainer/config_table.h"
#include "trainer/study/settings_table.h"

enum { KEYS_MAX = 256 };

bool train_config_trades(const struct train_config *config)
{
    return strcmp(config->world, CONFIG_MARKET) == 0;
}

void train_config_defaults(struct train_config *ret)
{
    static const char *const sections[] = {"training", "environment", "data", "serve"};
    *ret = (struct train_config){0};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        config_key_defaults(train_config_table, train_config_table_n, sections[i], ret);
}

/* ---- One key. ---- */

static struct config_key all[KEYS_MAX];
static size_t n_all;
static pthread_once_t listed = PTHREAD_ONCE_INIT;

static void offer(const struct config_key *keys, size_t n, const char *section, size_t offset)
{
    for (size_t i = 0; i < n && n_all < KEYS_MAX; i++)
        if (strcmp(keys[i].section, section) == 0 && strcmp(keys[i].name, "autoreset") != 0) {
            all[n_all] = keys[i];
            all[n_all++].offset += offset;
        }
}

static void list_keys(void)
{
    static const char *const sections[] = {"training", "network", "ppo", "environment", "data", "serve"};
    size_t n_ppo, n_env;
    const struct config_key *ppo = ppo_params_list(&n_ppo), *env = env_params_list(&n_env);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        offer(train_config_table, train_config_table_n, sections[i], 0);
        offer(ppo, n_ppo, sections[i], offsetof(struct train_config, ppo));
        offer(env, n_env, sections[i], offsetof(struct train_config, env));
    }
}

const struct config_key *train_config_keys(size_t *ret_n)
{
    pthread_once(&listed, list_keys);
    *ret_n = n_all;
    return all;
}

/* Any section of PPO's takes any of its keys. */
static const struct config_key *find_row(const char *section, const char *name)
{
    size_t n, n_ppo;
    const struct config_key *keys = train_config_keys(&n), *row = config_key_find(keys, n, section, name);
    const struct config_key *ppo = ppo_params_list(&n_ppo);
    if (!row && train_config_is_ppo_section(section) && config_key_find(ppo, n_ppo, NULL, name))
        row = config_key_find(keys, n, config_key_find(ppo, n_ppo, NULL, name)->section, name);
    return row;
}

const char *train_config_home(const char *name)
{
    size_t n;
    const struct config_key *keys = train_config_keys(&n),
                            *row = config_key_find(train_config_table, train_config_table_n, NULL, name);
    row = row ? row : config_key_find(keys, n, NULL, name);
    return row ? row->section : NULL;
}

/* Of the reference system, and of Stable-Baselines3. */
static const char *const other_names[][2] = {
    {"batch_size", "minibatch"},
    {"target_step", "steps"},
    {"break_step", "total_steps"},
    {"entropy_coef", "ent_coef"},
    {"ppo_epochs", "epochs"},
    {"value_loss_coef", "vf_coef"},
    {"kl_target", "target_kl"},
    {"lr_factor", "lr_final"},
    {"net_dim", "net_dimension"},
    {"clip_ratio", "clip_range"},
    {"adam_eps", "adam_epsilon"},
    {"lambda_gae_adv", "gae_lambda"},
    {"lr", "learning_rate"},
    {"n_envs", "copies"},
    {"n_steps", "steps"},
    {"n_epochs", "epochs"},
    {"total_timesteps", "total_steps"},
};

const char *train_config_other_name(const char *name)
{
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (strcmp(name, other_names[i][0]) == 0)
            return other_names[i][1];
    return NULL;
}

/* The name of ours that such a key means: of this section, or of another one with that. */
static int misnamed(const char *section, const char *other, char *why)
{
    const char *home = train_config_home(other);
    if (!home) /* of [search] alone */
        return config_key_refuse(why, CONFIG_WHY_MAX, "unknown key: %s of [search] is its name", other);
    if (strcmp(home, section) == 0 ||
        (train_config_is_ppo_section(section) && train_config_is_ppo_section(home)))
        return config_key_refuse(why, CONFIG_WHY_MAX, "unknown key: %s is its name", other);
    return config_key_refuse(why, CONFIG_WHY_MAX, "unknown key: %s of [%s] is its name", other, home);
}

static int unknown(const char *section, const char *name, char *why)
{
    struct nearest nearest = {0};
    size_t n;
    const struct config_key *keys = train_config_keys(&n);
    const char *home = train_config_home(name), *other = train_config_other_name(name);
    if (other)
        return misnamed(section, other, why);
    if (!home && study_settings_has(name))
        home = "study";
    if (home)
        return config_key_refuse(why, CONFIG_WHY_MAX, "it belongs to [%s]", home);
    for (size_t i = 0; i < n; i++)
        if (strcmp(keys[i].section, section) == 0 ||
            (train_config_is_ppo_section(section) && train_config_is_ppo_section(keys[i].section)))
            nearest_offer(&nearest, name, keys[i].name);
    return config_key_unknown_near(&nearest, name, why);
}

int64_t train_config_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000; /* whole seconds */
}

/* "now", "now-90d": whole seconds. */
static bool relative_time(const struct train_config *config, const char *text, int64_t *ret)
{
    int64_t before = 0, now = config->now_ns ? config->now_ns : train_config_clock_ns();
    if (strncmp(text, "now", 3) != 0)
        return false;
    if (text[3] && (text[3] != '-' || !config_key_duration_parse(text + 4, &before) ||
                    before % 1000000000 != 0 || before >= now))
        return false;
    *ret = now - before;
    return true;
}

int train_config_read_time(const struct config_key *key, const char *text, void *base,
                           char why[static CONFIG_WHY_MAX])
{
    int64_t ns = 0;
    if (*text && !relative_time(base, text, &ns) && (bars_time_parse(text, strlen(text), &ns) < 0 || ns <= 0))
        return config_key_refuse(why, CONFIG_WHY_MAX,
                                 "\"%.60s\": a time as 2024-05-01, 2024-05-01T12:00:00Z or now-90d (s, m, h, "
                                 "d, w, y), or an epoch, is needed",
                                 text);
    memcpy((char *)base + key->offset, &ns, sizeof ns);
    return 0;
}

void train_config_print_time(const struct config_key *key, const void *base, FILE *to)
{
    char text[40];
    int64_t ns;
    struct tm tm;
    memcpy(&ns, (const char *)base + key->offset, sizeof ns);
    time_t s = (time_t)(ns / 1000000000);
    if (ns == 0)
        return;
    gmtime_r(&s, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    fputs(text, to);
    if (ns % 1000000000)
        fprintf(to, ".%09lld", (long long)(ns % 1000000000));
    fputc('Z', to);
}

int train_config_read_session(const struct config_key *key, const char *text, void *base,
                              char why[static CONFIG_WHY_MAX])
{
    unsigned columns;
    int r = policy_session_columns_parse(text, &columns, why, CONFIG_WHY_MAX);
    if (r == 0)
        memcpy((char *)base + key->offset, &columns, sizeof columns);
    return r;
}

void train_config_print_session(const struct config_key *key, const void *base, FILE *to)
{
    char text[SESSION_COLUMNS_TEXT_MAX];
    unsigned columns;
    memcpy(&columns, (const char *)base + key->offset, sizeof columns);
    fputs(policy_session_columns_text(columns, text), to);
}

/* The market's preset alone divides the bars and has features of its own: the others' numbers are those of
 * reference environments, bars and all. */
static void follow_preset(struct train_config *config, const char *preset)
{
    static const char *const own[] = {"features", "test_share", "validation_share"};
    static const char *const plain[] = {"", "0", "0"};
    bool market = strcmp(preset, CONFIG_MARKET) == 0;
    char why[CONFIG_WHY_MAX];
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        const struct config_key *key =
            config_key_find(train_config_table, train_config_table_n, "data", own[i]);
        (void)config_key_read(key, market ? key->fallback : plain[i], config,
                              why); /* the table's own values */
    }
}

/* Also sets all keys that it has; so it is set before any other. */
int train_config_read_preset(const struct config_key *key, const char *text, void *base,
                             char why[static CONFIG_WHY_MAX])
{
    char err[ENV_ERROR_MAX];
    struct train_config *config = base;
    bool is_env = strcmp(key->section, "environment") == 0;
    int r = is_env ? env_params_preset(text, &config->env, err) : ppo_params_preset(text, &config->ppo, err);
    if (r < 0)
        return config_key_refuse(why, CONFIG_WHY_MAX, "%s", err + strlen("preset: "));
    config->env.autoreset = ENV_SAME_STEP;
    snprintf((char *)base + key->offset, key->size, "%s", text);
    if (is_env)
        follow_preset(config, text);
    return 0;
}

int train_config_set(struct train_config *config, const char *section, const char *name, const char *text,
                     char err[static CONFIG_ERROR_MAX])
{
    char why[CONFIG_WHY_MAX];
    bool autoreset = strcmp(section, "environment") == 0 && strcmp(name, "autoreset") == 0;
    bool mixed = strcmp(name, "precision") == 0 && strcmp(text, "mixed") == 0;
    const struct config_key *row = find_row(section, name);
    int r = row         ? config_key_read(row, mixed ? "bf16" : text, config, why)
            : autoreset ? 0
                        : unknown(section, name, why);
    if (r < 0 && row && strcmp(name, "device") == 0 && strcmp(text, "gpu") == 0)
        config_key_refuse(why, sizeof why, "\"gpu\"%s", NEAREST_SUGGEST("cuda"));
    if (autoreset && strcmp(text, "same_step") != 0)
        r = config_key_refuse(why, sizeof why, "\"%.60s\": same_step is needed for training", text);
    return r < 0 ? train_config_say(err, row || autoreset ? r : -ENOENT, "[%.60s] %.60s: %s", section, name,
                                    why)
                 : 0;
}

int train_config_get(const struct train_config *config, const char *section, const char *key, char *buf,
                     size_t cap)
{
    const struct config_key *row = find_row(section, key);
    return !row ? -ENOENT : config_key_text(row, config, buf, cap) ? 0 : -ENAMETOOLONG;
}

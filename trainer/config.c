#include "trainer/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exchange/bar.h"
#include "exchange/bars_file.h"
#include "exchange/nearest.h"
#include "trainer/config_table.h"
#include "trainer/study/settings_table.h"

static const char *const sections[] = {"training", "network", "ppo",   "environment",
                                       "data",     "serve",   "study", "search"};
enum { N_SECTIONS = sizeof sections / sizeof *sections };

bool config_trades(const struct config *config)
{
    return strcmp(config->world, CONFIG_MARKET) == 0;
}

void config_defaults(struct config *ret)
{
    char err[ENV_ERROR_MAX];
    *ret = (struct config){.name = "training",
                           .world = CONFIG_MARKET,
                           .preset = "default",
                           .env_preset = "market",
                           .checkpoint_every = 50,
                           .checkpoint_keep = 3,
                           .evaluate_episodes = 20,
                           .serve = {.restarts = 5, .hung_s = 120}};
    ppo_params_preset(ret->preset, &ret->ppo, err);
    env_params_preset(ret->env_preset, &ret->env, err);
    ret->env.autoreset = ENV_SAME_STEP;
}

/* ---- One key. ---- */

static const struct config_row *find_row(const char *section, const char *key)
{
    for (size_t i = 0; i < config_table_n; i++)
        if (strcmp(config_table[i].section, section) == 0 && strcmp(config_table[i].name, key) == 0)
            return &config_table[i];
    return NULL;
}

static bool ppo_has(const char *key)
{
    size_t n;
    const struct env_param *list = ppo_params_list(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, key) == 0)
            return true;
    return false;
}

static bool env_has(const char *key)
{
    size_t n;
    const struct env_param *list = env_params_list(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, key) == 0)
            return true;
    return false;
}

/* The section of a key that stands in another; NULL: no section has it. */
static const char *home_of(const char *key)
{
    for (size_t i = 0; i < config_table_n; i++)
        if (strcmp(config_table[i].name, key) == 0)
            return config_table[i].section;
    return ppo_has(key)        ? config_home(key)
           : env_has(key)      ? "environment"
           : settings_has(key) ? "study"
                               : NULL;
}

int config_section(const char *section, char *err)
{
    struct nearest nearest = {0};
    for (size_t i = 0; i < N_SECTIONS; i++) {
        if (strcmp(section, sections[i]) == 0)
            return 0;
        nearest_offer(&nearest, section, sections[i]);
    }
    return config_say(err, -ENOENT, "[%.60s]: unknown section: did you mean [%s]?", section, nearest.best);
}

int config_turn(const char *section, const char *key)
{
    static const char *const first[][2] = {
        {"", "preset"}, {"", "world"}, {"study", "sampler"}, {"study", "pruner"}};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (strcmp(key, first[i][1]) == 0 && (!first[i][0][0] || strcmp(section, first[i][0]) == 0))
            return 0;
    return strcmp(section, "search") == 0 ? 2 : 1;
}

static int unknown(const char *section, const char *key, char *err)
{
    struct nearest nearest = {0};
    int r = config_section(section, err);
    if (r < 0)
        return r;
    const char *home = home_of(key);
    if (home)
        return config_say(err, -ENOENT, "[%s] %.60s: it belongs to [%s]", section, key, home);
    size_t n;
    const struct env_param *ppo = ppo_params_list(&n);
    for (size_t i = 0; i < n && config_is_ppo_section(section); i++)
        nearest_offer(&nearest, key, ppo[i].name);
    const struct env_param *env = env_params_list(&n);
    for (size_t i = 0; i < n && strcmp(section, "environment") == 0; i++)
        nearest_offer(&nearest, key, env[i].name);
    for (size_t i = 0; i < config_table_n; i++)
        if (strcmp(config_table[i].section, section) == 0)
            nearest_offer(&nearest, key, config_table[i].name);
    return config_say(err, -ENOENT, "[%s] %.60s: unknown key: did you mean %s?", section, key, nearest.best);
}

static bool name_is_good(const char *text)
{
    for (const char *p = text; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("-_.", *p))
            return false;
    return *text && *text != '.';
}

/* Would a file say it? A ; after a blank, or before all, begins a comment, and blanks at the ends go. */
static bool text_is_good(const char *text)
{
    bool blank = true;
    for (const char *p = text; *p; p++) {
        if ((unsigned char)*p < ' ' || (blank && *p == ';'))
            return false;
        blank = *p == ' ';
    }
    return !*text || (*text != ' ' && !blank);
}

static int set_text(struct config *config, const struct config_row *row, const char *text, char *err)
{
    size_t n = strlen(text);
    if (n >= row->size)
        return config_say(err, -ERANGE, "[%s] %s: %.40s…: at most %zu characters are right", row->section,
                          row->name, text, row->size - 1);
    if (row->kind == CONFIG_NAME && !name_is_good(text))
        return config_say(err, -EINVAL, "[%s] %s: \"%.60s\": letters, digits, - _ and . are right",
                          row->section, row->name, text);
    if (!text_is_good(text))
        return config_say(err, -EINVAL, "[%s] %s: \"%.60s\": text of one line without \" ;\" is right",
                          row->section, row->name, text);
    char *field = (char *)config + row->offset;
    memset(field, 0, row->size);
    memcpy(field, text, n);
    return 0;
}

static int set_whole(struct config *config, const struct config_row *row, const char *text, char *err)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool number = (isdigit((unsigned char)text[0]) || text[0] == '-') && *end == '\0' && errno == 0;
    if (!number || (double)value < row->min || (double)value > row->max)
        return config_say(err, number ? -ERANGE : -EINVAL,
                          "[%s] %s: %.60s: a whole number from %.0f to %.0f is right", row->section,
                          row->name, text, row->min, row->max);
    char *field = (char *)config + row->offset;
    int small = (int)value;
    int64_t large = value;
    memcpy(field, row->size == sizeof small ? (const void *)&small : (const void *)&large, row->size);
    return 0;
}

static int set_number(struct config *config, const struct config_row *row, const char *text, char *err)
{
    char *end;
    double value = strtod(text, &end);
    bool number = (isdigit((unsigned char)text[0]) || strchr("-.", text[0])) && end != text && *end == '\0';
    if (!number || !(value >= row->min && value <= row->max))
        return config_say(err, number ? -ERANGE : -EINVAL, "[%s] %s: %.60s: a number from %g to %g is right",
                          row->section, row->name, text, row->min, row->max);
    value += 0.0; /* -0 is 0 */
    memcpy((char *)config + row->offset, &value, sizeof value);
    return 0;
}

int64_t config_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000; /* whole seconds */
}

/* "now", "now-90d". */
static bool relative_time(const struct config *config, const char *text, int64_t *ret)
{
    int64_t before = 0, now = config->now_ns ? config->now_ns : config_clock_ns();
    if (strncmp(text, "now", 3) != 0)
        return false;
    if (text[3] && (text[3] != '-' || !settings_duration(text + 4, &before) || before >= now))
        return false;
    *ret = now - before;
    return true;
}

static int set_time(struct config *config, const struct config_row *row, const char *text, char *err)
{
    int64_t ns = 0;
    if (*text && !relative_time(config, text, &ns) &&
        (bars_time_parse(text, strlen(text), &ns) < 0 || ns <= 0))
        return config_say(err, -EINVAL,
                          "[%s] %s: %.60s: a time as 2024-05-01, 2024-05-01T12:00:00Z or now-90d (s, m, h, "
                          "d, w), or an epoch, is right",
                          row->section, row->name, text);
    memcpy((char *)config + row->offset, &ns, sizeof ns);
    return 0;
}

static int set_interval(struct config *config, const struct config_row *row, const char *text, char *err)
{
    int64_t ns = 0;
    if (*text && bar_interval_parse(text, &ns) < 0)
        return config_say(err, -EINVAL,
                          "[%s] %s: %.60s: 1s 1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d or 1w is right",
                          row->section, row->name, text);
    memcpy((char *)config + row->offset, &ns, sizeof ns);
    return 0;
}

/* Sets all keys that it has, too; so it is set before any other. */
static int set_preset(struct config *config, const struct config_row *row, const char *text, char *err)
{
    char why[ENV_ERROR_MAX];
    bool is_env = strcmp(row->section, "environment") == 0;
    int r = is_env ? env_params_preset(text, &config->env, why) : ppo_params_preset(text, &config->ppo, why);
    if (r < 0)
        return config_say(err, r, "[%s] %s", row->section, why);
    config->env.autoreset = ENV_SAME_STEP;
    return set_text(config, row, text, err);
}

static int set_env(struct config *config, const char *key, const char *text, char *err)
{
    char why[ENV_ERROR_MAX];
    if (strcmp(key, "autoreset") == 0 && strcmp(text, "same_step") != 0)
        return config_say(err, -EINVAL, "[environment] autoreset: %.60s: same_step is right for training",
                          text);
    int r = env_params_set(&config->env, key, text, why);
    return r < 0 ? config_say(err, r, "[environment] %s", why) : 0;
}

int config_set(struct config *config, const char *section, const char *key, const char *text,
               char err[static CONFIG_ERROR_MAX])
{
    char why[PPO_ERROR_MAX];
    const struct config_row *row = find_row(section, key);
    if (!row && config_is_ppo_section(section) && ppo_has(key)) {
        int r = ppo_params_set(&config->ppo, key, text, why);
        return r < 0 ? config_say(err, r, "[%s] %s", section, why) : 0;
    }
    if (!row && strcmp(section, "environment") == 0 && env_has(key))
        return set_env(config, key, text, err);
    if (!row)
        return unknown(section, key, err);
    switch (row->kind) {
    case CONFIG_PRESET:
        return set_preset(config, row, text, err);
    case CONFIG_WHOLE:
        return set_whole(config, row, text, err);
    case CONFIG_NUMBER:
        return set_number(config, row, text, err);
    case CONFIG_TIME:
        return set_time(config, row, text, err);
    case CONFIG_INTERVAL:
        return set_interval(config, row, text, err);
    default:
        return set_text(config, row, text, err);
    }
}

/* ---- Reading a value back. ---- */

static int print_time(int64_t ns, char *buf, size_t cap)
{
    time_t s = (time_t)(ns / 1000000000);
    struct tm tm;
    if (ns == 0)
        return snprintf(buf, cap, "%s", "");
    gmtime_r(&s, &tm);
    size_t n = strftime(buf, cap, "%Y-%m-%dT%H:%M:%S", &tm);
    if (ns % 1000000000 == 0)
        return (int)n + snprintf(buf + n, cap - n, "Z");
    return (int)n + snprintf(buf + n, cap - n, ".%09lldZ", (long long)(ns % 1000000000));
}

/* In the fewest digits that give it again. */
static int print_number(const void *field, char *buf, size_t cap)
{
    double value;
    int n = -1;
    memcpy(&value, field, sizeof value);
    for (int digits = 1; digits <= 17; digits++) {
        n = snprintf(buf, cap, "%.*g", digits, value);
        if (n < 0 || (size_t)n >= cap || strtod(buf, NULL) == value)
            break;
    }
    return n;
}

static int print_row(const struct config *config, const struct config_row *row, char *buf, size_t cap)
{
    const char *field = (const char *)config + row->offset;
    int small;
    int64_t large = 0;
    if (row->size == sizeof small) {
        memcpy(&small, field, sizeof small);
        large = small;
    } else if (row->kind >= CONFIG_WHOLE) {
        memcpy(&large, field, sizeof large);
    }
    switch (row->kind) {
    case CONFIG_WHOLE:
        return snprintf(buf, cap, "%lld", (long long)large);
    case CONFIG_NUMBER:
        return print_number(field, buf, cap);
    case CONFIG_TIME:
        return print_time(large, buf, cap);
    case CONFIG_INTERVAL:
        return snprintf(buf, cap, "%s", large ? bar_interval_name(large) : "");
    default:
        return snprintf(buf, cap, "%s", field);
    }
}

int config_get(const struct config *config, const char *section, const char *key, char *buf, size_t cap)
{
    const struct config_row *row = find_row(section, key);
    if (row) {
        int n = print_row(config, row, buf, cap);
        return n >= 0 && (size_t)n < cap ? 0 : -ENAMETOOLONG;
    }
    bool found =
        config_is_ppo_section(section) ? ppo_has(key) : strcmp(section, "environment") == 0 && env_has(key);
    if (!found)
        return -ENOENT;
    bool fits = config_is_ppo_section(section) ? ppo_params_get(&config->ppo, key, buf, cap)
                                               : env_params_get(&config->env, key, buf, cap);
    return fits ? 0 : -ENAMETOOLONG;
}

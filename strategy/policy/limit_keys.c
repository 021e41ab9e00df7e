#include "strategy/policy/limit_keys.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    char letter;
    int64_t seconds;
} units[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
enum { N_UNITS = sizeof units / sizeof *units };

static const int64_t COOLDOWN_MAX_S = INT64_C(3650) * 86400;

#define ROW(name, option, member, value, of_kind, about) \
    {"limits", #name, about, "0", of_kind, KEY_AT(struct policy_limits, member)},
const struct config_key policy_limit_keys[POLICY_LIMITS_N] = {POLICY_LIMIT_ROWS(ROW)};
#undef ROW

/* ---- a duration ---- */

static bool read_duration(const char *text, int64_t *ret)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (!isdigit((unsigned char)*text) || errno != 0 || (*end && end[1]))
        return false;
    for (size_t i = 0; i < N_UNITS; i++)
        if (*end == units[i].letter && n <= COOLDOWN_MAX_S / units[i].seconds) {
            *ret = n * units[i].seconds;
            return true;
        }
    *ret = 0;
    return !*end && n == 0;
}

int policy_limits_read_cooldown(const struct config_key *key, const char *text, void *base,
                                char why[static CONFIG_WHY_MAX])
{
    int64_t seconds;
    if (!read_duration(text, &seconds))
        return config_key_refuse(why, CONFIG_WHY_MAX,
                                 "\"%.60s\": so many s, m, h or d, as 4h, at most ten years, or 0, is needed",
                                 text);
    double value = (double)seconds;
    memcpy((char *)base + key->offset, &value, sizeof value);
    return 0;
}

void policy_limits_print_cooldown(const struct config_key *key, const void *base, FILE *to)
{
    double value;
    memcpy(&value, (const char *)base + key->offset, sizeof value);
    int64_t seconds = (int64_t)value;
    size_t unit = 0;
    while (unit < N_UNITS - 1 && seconds % units[unit].seconds != 0)
        unit++;
    if (seconds == 0)
        fputs("0", to);
    else
        fprintf(to, "%lld%c", (long long)(seconds / units[unit].seconds), units[unit].letter);
}

/* ---- P%:PART% ---- */

static const struct config_key profit_keys[] = {
    {"", "above", "", "0", KEY_SHARE(100), KEY_AT(struct policy_profit, above)},
    {"", "part", "", "0", KEY_SHARE(1), KEY_AT(struct policy_profit, part)},
};

int policy_limits_read_profit(const struct config_key *key, const char *text, void *base,
                              char why[static CONFIG_WHY_MAX])
{
    char first[POLICY_LIMIT_TEXT_MAX], unused[CONFIG_WHY_MAX];
    struct policy_profit profit = {0, 0};
    const char *colon = strchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : 0;
    bool off = strcmp(text, "0") == 0;
    if (colon && n < sizeof first) {
        memcpy(first, text, n);
        first[n] = '\0';
    }
    if (!off &&
        (!colon || n >= sizeof first || config_key_read(&profit_keys[0], first, &profit, unused) < 0 ||
         config_key_read(&profit_keys[1], colon + 1, &profit, unused) < 0))
        return config_key_refuse(
            why, CONFIG_WHY_MAX,
            "\"%.60s\": how far above its cost and the part that is sold there, as 10%%:50%%, "
            "or 0, is needed",
            text);
    if (!off && (!(profit.above > 0) || !(profit.part > 0)))
        return config_key_refuse(
            why, CONFIG_WHY_MAX,
            "\"%.60s\": %s of 0 sells nothing: more than 0, or 0 alone for none, is needed", text,
            profit.above > 0 ? "a part" : "a profit");
    memcpy((char *)base + key->offset, &profit, sizeof profit);
    return 0;
}

void policy_limits_print_profit(const struct config_key *key, const void *base, FILE *to)
{
    struct policy_profit profit;
    memcpy(&profit, (const char *)base + key->offset, sizeof profit);
    config_key_print(&profit_keys[0], &profit, to);
    if (!(profit.above > 0))
        return;
    fputc(':', to);
    config_key_print(&profit_keys[1], &profit, to);
}

/* ---- all of them ---- */

int policy_limits_check(const struct policy_limits *limits, char why[static CONFIG_WHY_MAX])
{
    if (limits->exposure > 0 && limits->exposure_symbol > limits->exposure)
        return config_key_refuse(
            why, CONFIG_WHY_MAX,
            "exposure_symbol: %.6g is more than exposure, %.6g: one asset cannot have more of "
            "equity than all together; at most %.6g is right",
            limits->exposure_symbol, limits->exposure, limits->exposure);
    if (limits->cooldown_s > 0 && !(limits->portfolio_trailing_stop > 0))
        return config_key_refuse(
            why, CONFIG_WHY_MAX,
            "cooldown: it begins where portfolio_trailing_stop has sold all, and that is off: "
            "both, or neither, is right");
    if (limits->take_profit.above > 0 && !(limits->take_profit.part > 0))
        return config_key_refuse(why, CONFIG_WHY_MAX,
                                 "take_profit: a part of 0 sells nothing: more than 0 is right");
    return 0;
}

bool policy_limit_off(const struct config_key *key, const struct policy_limits *limits)
{
    double value;
    memcpy(&value, (const char *)limits + key->offset, sizeof value);
    return !(value > 0);
}

bool policy_limits_same(const struct policy_limits *a, const struct policy_limits *b)
{
    return a->exposure == b->exposure && a->exposure_symbol == b->exposure_symbol &&
           a->daily_loss == b->daily_loss && a->stop_loss == b->stop_loss &&
           a->trailing_stop == b->trailing_stop && a->portfolio_trailing_stop == b->portfolio_trailing_stop &&
           a->cooldown_s == b->cooldown_s && a->take_profit.above == b->take_profit.above &&
           a->take_profit.part == b->take_profit.part;
}

int policy_limits_set(struct policy_limits *limits, const char *name, const char *text,
                      char why[static CONFIG_WHY_MAX])
{
    const struct config_key *key = config_key_find(policy_limit_keys, POLICY_LIMITS_N, NULL, name);
    if (key)
        return config_key_read(key, text, limits, why);
    config_key_unknown(policy_limit_keys, POLICY_LIMITS_N, NULL, name, why);
    return -ENOENT;
}

bool policy_limit_text(const struct config_key *key, const struct policy_limits *limits,
                       char ret[static POLICY_LIMIT_TEXT_MAX])
{
    return !policy_limit_off(key, limits) && config_key_text(key, limits, ret, POLICY_LIMIT_TEXT_MAX);
}

void policy_limits_text(const struct policy_limits *limits, char ret[static POLICY_LIMITS_TEXT_MAX])
{
    size_t at = 0;
    ret[0] = '\0';
    for (int i = 0; i < POLICY_LIMITS_N; i++) {
        char text[POLICY_LIMIT_TEXT_MAX];
        const struct config_key *key = &policy_limit_keys[i];
        if (!policy_limit_text(key, limits, text))
            continue;
        at += (size_t)snprintf(ret + at, POLICY_LIMITS_TEXT_MAX - at, "%s%s %s", at ? ", " : "", key->name,
                               text);
    }
    if (at == 0)
        snprintf(ret, POLICY_LIMITS_TEXT_MAX, "none");
}

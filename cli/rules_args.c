#include "cli/rules_args.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stored.h"
#include "exchange/decimal.h"
#include "exchange/exit_status.h"
#include "exchange/nearest.h"

enum kind { SHARE, COUNT, SECONDS };

static const struct limit_key {
    const char *name;
    enum kind kind;
    size_t offset;
    double max;
} keys[] = {
    {"exposure_symbol", SHARE, offsetof(struct risk_limits, exposure_symbol), 100},
    {"exposure_account", SHARE, offsetof(struct risk_limits, exposure_account), 100},
    {"daily_loss", SHARE, offsetof(struct risk_limits, daily_loss), 1},
    {"drawdown", SHARE, offsetof(struct risk_limits, drawdown), 1},
    {"price_band", SHARE, offsetof(struct risk_limits, price_band), 1},
    {"cooldown_s", SECONDS, offsetof(struct risk_limits, cooldown_ns), 31622400},
    {"positions", COUNT, offsetof(struct risk_limits, positions), 256},
    {"orders_per_second", COUNT, offsetof(struct risk_limits, orders_per_second), RISK_RATE_MAX},
};

enum { N_KEYS = sizeof keys / sizeof *keys, WORDS_MAX = 400 };

static int unknown_key(const char *verb, const char *what, const char *name)
{
    char words[WORDS_MAX];
    struct nearest nearest = {0};
    for (int i = 0; i < N_KEYS; i++)
        nearest_offer(&nearest, name, keys[i].name);
    snprintf(words, sizeof words, "no limit has that name: did you mean \"%s\"?", nearest.best);
    return stored_fail(EXIT_USAGE, verb, what, words);
}

static int set_limit(const char *verb, char *word, struct risk_limits *limits)
{
    char what[128], words[WORDS_MAX], *end;
    const struct limit_key *key = NULL;
    snprintf(what, sizeof what, "--risk: \"%.64s\"", word);
    char *text = strchr(word, '=');
    if (!text)
        return stored_fail(EXIT_USAGE, verb, what, "key=value is needed, as drawdown=0.2");
    *text++ = '\0';
    for (int i = 0; i < N_KEYS && !key; i++)
        key = strcmp(keys[i].name, word) == 0 ? &keys[i] : NULL;
    if (!key)
        return unknown_key(verb, what, word);
    double value = strtod(text, &end);
    bool plain = text[strspn(text, "0123456789.")] == '\0' && end != text && *end == '\0';
    if (!plain || !(value >= 0 && value <= key->max) || (key->kind == COUNT && value != floor(value))) {
        snprintf(words, sizeof words, "a %snumber from 0 to %.0f is needed; 0 is no limit",
                 key->kind == COUNT ? "whole " : "", key->max);
        return stored_fail(EXIT_USAGE, verb, what, words);
    }
    void *to = (char *)limits + key->offset;
    if (key->kind == SHARE)
        *(double *)to = value;
    else if (key->kind == COUNT)
        *(int32_t *)to = (int32_t)value;
    else
        *(int64_t *)to = (int64_t)llround(value * 1e9);
    return EXIT_OK;
}

int rules_args_risk(const char *verb, const char *text, struct risk_limits *limits)
{
    char copy[WORDS_MAX], *next = copy;
    if (strlen(text) >= sizeof copy)
        return stored_fail(EXIT_USAGE, verb, "--risk", "more text than any limits need");
    snprintf(copy, sizeof copy, "%s", text);
    while (next) {
        int status = set_limit(verb, strsep(&next, ","), limits);
        if (status != EXIT_OK)
            return status;
    }
    return EXIT_OK;
}

/* A tier, or VENUE/TIER. */
static const struct fee_tier *find_tier(const char *text)
{
    char venue[32];
    const char *slash = strchr(text, '/');
    if (!slash)
        return fee_tier_find(NULL, text);
    snprintf(venue, sizeof venue, "%.*s", (int)(slash - text < 31 ? slash - text : 31), text);
    return fee_tier_find(venue, slash + 1);
}

static int unknown_tier(const char *verb, const char *text)
{
    char what[128], words[WORDS_MAX];
    struct nearest nearest = {0};
    const struct fee_schedule *schedule;
    for (size_t v = 0; (schedule = fee_schedule(v)); v++)
        for (size_t i = 0; i < schedule->n; i++)
            nearest_offer(&nearest, text, schedule->tiers[i].name);
    snprintf(what, sizeof what, "--fees: \"%.64s\"", text);
    snprintf(words, sizeof words,
             "a tier, or maker:taker, two shares from 0 to 0.1, is needed: did you mean \"%s\"?",
             nearest.best ? nearest.best : "0.001:0.001");
    return stored_fail(EXIT_USAGE, verb, what, words);
}

int rules_args_fees(const char *verb, const char *text, struct fee_rates *ret)
{
    enum { SHARE_SCALE = 6, MOST_E6 = 100000 };
    int64_t maker, taker;
    const struct fee_tier *tier = find_tier(text);
    const char *colon = strchr(text, ':');
    if (tier) {
        *ret = tier->rates;
        return EXIT_OK;
    }
    if (colon && decimal_parse(text, (size_t)(colon - text), SHARE_SCALE, &maker) == 0 &&
        decimal_parse_str(colon + 1, SHARE_SCALE, &taker) == 0 && maker >= 0 && maker <= MOST_E6 &&
        taker >= 0 && taker <= MOST_E6) {
        *ret = (struct fee_rates){(int32_t)maker, (int32_t)taker};
        return EXIT_OK;
    }
    return unknown_tier(verb, text);
}

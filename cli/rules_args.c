#include "cli/rules_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stored.h"
#include "exchange/decimal.h"
#include "exchange/exit_status.h"
#include "exchange/nearest.h"
#include "strategy/risk_keys.h"

enum { WORDS_MAX = 400 };

static int set_limit(const char *verb, char *word, struct risk_limits *limits)
{
    char what[128], why[CONFIG_WHY_MAX];
    char *text = strchr(word, '=');
    if (!text) {
        snprintf(what, sizeof what, "--risk: \"%.64s\"", word);
        return cli_stored_fail(EXIT_USAGE, verb, what, "key=value is needed, as drawdown=0.2");
    }
    *text++ = '\0';
    const struct config_key *key = config_key_find(risk_keys, RISK_KEYS_N, NULL, word);
    int r = key ? config_key_read(key, text, limits, why)
                : config_key_unknown(risk_keys, RISK_KEYS_N, NULL, word, why);
    snprintf(what, sizeof what, "--risk: %.64s", word);
    return r < 0 ? cli_stored_fail(EXIT_USAGE, verb, what, why) : EXIT_OK;
}

int cli_rules_args_risk(const char *verb, const char *text, struct risk_limits *limits)
{
    char copy[WORDS_MAX], *next = copy;
    if (strlen(text) >= sizeof copy)
        return cli_stored_fail(EXIT_USAGE, verb, "--risk", "more text than any limits need");
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
    return cli_stored_fail(EXIT_USAGE, verb, what, words);
}

int cli_rules_args_fees(const char *verb, const char *text, struct fee_rates *ret)
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

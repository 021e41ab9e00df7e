#include "cli/run_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stored.h"
#include "engine/account_keys.h"
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
    snprintf(words, sizeof words, "a tier, or maker:taker, as 0.001:0.001, is needed%s",
             NEAREST_SUGGEST(nearest_meant(&nearest, text)));
    return cli_stored_fail(EXIT_USAGE, verb, what, words);
}

#define FEE_ROW(member, name, fallback, about) \
    {NULL, name, about, fallback, .kind = CONFIG_WHOLE, ACCOUNT_FEE, KEY_AT(struct fee_rates, member)},

int cli_rules_args_fees(const char *verb, const char *text, struct fee_rates *ret)
{
    static const struct config_key rates[] = {ACCOUNT_FEE_KEYS(FEE_ROW)};
    char maker[64], why[CONFIG_WHY_MAX];
    struct fee_rates fees;
    const struct fee_tier *tier = find_tier(text);
    const char *colon = strchr(text, ':');
    if (tier) {
        *ret = tier->rates;
        return EXIT_OK;
    }
    if (!colon)
        return unknown_tier(verb, text);
    snprintf(maker, sizeof maker, "%.*s", (int)(colon - text), text);
    for (int i = 0; i < 2; i++)
        if (config_key_read(&rates[i], i ? colon + 1 : maker, &fees, why) < 0) {
            char what[64];
            snprintf(what, sizeof what, "--fees: %s", rates[i].name);
            return cli_stored_fail(EXIT_USAGE, verb, what, why);
        }
    *ret = fees;
    return EXIT_OK;
}

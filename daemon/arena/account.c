/* The accounts that policies trade on: why an account cannot be used, and a new one as the configuration
 * would make it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/arena/file.h"
#include "daemon/arena/internal.h"
#include "daemon/config_keys.h"
#include "daemon/policies.h"

/* The account that a policy trades on, with the rules of a configured one. 0, or -errno with one sentence. */
static int arena_account(const struct arena *arena, const char *name, const char *currency,
                         const struct policy *policy, struct account_spec *ret, char *err, size_t err_size)
{
    const struct engine *engine = daemon_session_engine(arena->daemon->session);
    struct daemon_config *config = malloc(sizeof *config);
    struct account_spec spec = {.currency_scale = -1};
    char section[ACCOUNT_NAME_MAX + 8], why[CONFIG_ERROR_MAX];
    int r = config ? 0 : -ENOMEM;
    snprintf(err, err_size, "out of memory");
    for (int s = 0; s < engine_symbols(engine) && spec.currency_scale < 0; s++)
        if (strcmp(engine_symbol(engine, s)->quote, currency) == 0)
            spec.currency_scale = engine_symbol(engine, s)->quote_scale;
    if (r == 0) {
        *config = arena->daemon->config;
        config->n_accounts = 0;
        snprintf(section, sizeof section, "account %s", name);
        r = daemon_config_set(config, section, "policy", name, why);
        if (r == 0)
            r = daemon_config_set(config, section, "currency", currency, why);
        if (r < 0)
            snprintf(err, err_size, "%s", why);
    }
    if (r == 0) {
        spec.rules = daemon_config_rules(config, &config->accounts[0]);
        spec.session = config->accounts[0].session;
        memcpy(spec.name, config->accounts[0].name, sizeof spec.name);
        memcpy(spec.currency, config->accounts[0].currency, sizeof spec.currency);
        r = daemon_policy_set_account(policy, &config->accounts[0], &spec);
        if (r < 0)
            snprintf(err, err_size, "its initial_capital has more digits than %s, %d", currency,
                     spec.currency_scale);
    }
    free(config);
    if (r < 0)
        return r;
    spec.policy = NULL; /* it comes with an event of its own */
    *ret = spec;
    return 0;
}

/* Is it for this market, in that currency? */
static const char *market_refusal(const struct arena *arena, const char *name, const char *currency,
                                  const struct policy *policy, const char **ret_code,
                                  char err[static ARENA_ERROR_MAX])
{
    const struct engine *engine = daemon_session_engine(arena->daemon->session);
    char why[ARENA_ERROR_MAX];
    struct symbol *symbols = arena_symbols(engine);
    const char *refused = symbols ? arena_refusal(policy, currency, symbols, engine_symbols(engine),
                                                  arena->daemon->config.interval_ns,
                                                  daemon_config_extended(&arena->daemon->config), why)
                                  : "out of memory";
    *ret_code = symbols ? "POLICY_REFUSED" : "ENOMEM";
    free(symbols);
    if (refused)
        snprintf(err, ARENA_ERROR_MAX, "%.31s: %.900s", name, refused);
    return refused ? err : NULL;
}

const char *arena_account_refusal(const struct arena *arena, const char *name, const char *currency,
                                  const struct policy *policy, int more, struct account_spec *ret_made,
                                  const char **ret_code, char *err)
{
    const struct engine *engine = daemon_session_engine(arena->daemon->session);
    char why[CONFIG_ERROR_MAX];
    int at = engine_find_account(engine, name);
    *ret_code = order_reason_name(ORDER_BAD_ACCOUNT);
    if (arena_configured(arena, name)) {
        snprintf(err, ARENA_ERROR_MAX, "the configuration has an account %s: the arena needs that name",
                 name);
        return err;
    }
    if (at >= 0)
        return market_refusal(arena, name, engine_account(engine, at)->currency, policy, ret_code, err);
    if (engine_accounts(engine) + more > ACCOUNTS_MAX) {
        snprintf(err, ARENA_ERROR_MAX, "there are %d accounts already, and %d is the most there can be",
                 engine_accounts(engine), ACCOUNTS_MAX);
        return err;
    }
    if (market_refusal(arena, name, currency, policy, ret_code, err))
        return err;
    int r = arena_account(arena, name, currency, policy, ret_made, why, sizeof why);
    *ret_code = r == -ENOMEM ? "ENOMEM" : "EINVAL";
    if (r < 0)
        snprintf(err, ARENA_ERROR_MAX, "account %.31s: %.900s", name, why);
    return r < 0 ? err : NULL;
}

#include "daemon/config.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "daemon/alert_rules.h"
#include "daemon/config_values.h"
#include "engine/specs.h"
#include "exchange/bar.h"
#include "exchange/nearest.h"
#include "exchange/venues.h"
#include "strategy/external.h"
#include "strategy/policy/device.h"
#include "strategy/policy/limit_keys.h"
#include "strategy/policy/policy.h"
#include "strategy/risk_keys.h"

#define ACCOUNT_SECTION "account"
#define VENUE_SECTION   "venue"
#define PARAM_PREFIX    "strategy."

static void account_defaults(struct account_config *account, const char *name)
{
    size_t n;
    const struct config_key *keys = daemon_config_keys(&n);
    *account = (struct account_config){0};
    config_key_defaults(keys, n, ACCOUNT_SECTION, account);
    account->own_rates = account->own_cash = account->own_strategy = false;
    memset(account->own_class_rates, 0, sizeof account->own_class_rates);
    snprintf(account->name, sizeof account->name, "%s", name);
}

void daemon_config_defaults(struct daemon_config *config)
{
    size_t n;
    const struct config_key *keys = daemon_config_keys(&n);
    struct daemon_config_venue *venue = &config->venues[0];
    *config = (struct daemon_config){
        .n_venues = 1,
        .policy_device_wait_ms = NET_DEVICE_WAIT_MS,
        .arena_gates = gate_defaults(),
        .n_accounts = 1,
    };
    daemon_config_venue_defaults(venue, venue_default());
    snprintf(venue->ws_url, sizeof venue->ws_url, "%s", venue->venue->ws_url);
    snprintf(venue->rest_url, sizeof venue->rest_url, "%s", venue->venue->rest_url);
    venue->own_streams = true;
    const char *section = "";
    for (size_t i = 0; i < n && strcmp(keys[i].section, ACCOUNT_SECTION) != 0; i++)
        if (strcmp(section, keys[i].section) != 0)
            config_key_defaults(keys, n, section = keys[i].section, config);
    account_defaults(&config->accounts[0], "main");
}

bool daemon_config_own_class_rates(const struct account_config *account)
{
    return account->own_class_rates[ASSET_CRYPTO] || account->own_class_rates[ASSET_US_EQUITY];
}

double daemon_config_backtest_sharpe(const struct daemon_config *config, const char *account)
{
    for (int a = 0; a < config->n_accounts; a++)
        if (strcmp(config->accounts[a].name, account) == 0)
            return config->accounts[a].backtest_sharpe;
    return 0;
}

struct account_rules daemon_config_rules(const struct daemon_config *config,
                                         const struct account_config *account)
{
    struct account_rules rules = {
        .fees = account->fees,
        .class_fees = !account->own_rates || daemon_config_own_class_rates(account),
        .crypto_fees = account->crypto_fees,
        .us_equity_fees = account->us_equity_fees,
        .risk = config->risk,
        .shorts = account->shorts,
        .collateral_e4 = account->collateral_e4,
        .maintenance_e4 = account->maintenance_e4,
        .borrow_rate_e6 = account->borrow_rate_e6,
        .margin = account->margin,
        .day_trader = account->day_trader,
        .settlement = account->settlement,
        .execution = account->execution,
        .regulatory_fees = account->regulatory_fees,
        .withholding_e6 = account->withholding_e6,
    };
    if (account->fee_tiers[0]) {
        memcpy(rules.fee_tiers, account->fee_tiers, sizeof rules.fee_tiers);
        rules.fees = account_fees_first(&rules);
        rules.class_fees = daemon_config_own_class_rates(account);
    }
    const struct fee_tier *tier = daemon_config_fee_tier(config, account->fee_tier);
    if (tier)
        rules.fees = tier->rates;
    if (tier && tier->asset == ASSET_CRYPTO && !account->own_class_rates[ASSET_CRYPTO])
        rules.crypto_fees = tier->rates;
    if (tier && tier->asset == ASSET_US_EQUITY && !account->own_class_rates[ASSET_US_EQUITY])
        rules.us_equity_fees = tier->rates;
    if (account->policy[0]) { /* these are there by default, and would refuse what the policy learned to do */
        rules.risk.exposure_symbol = rules.risk.exposure_account = rules.risk.daily_loss = 0;
        rules.risk.orders_per_second = 0;
    }
    for (const struct config_key *key = risk_keys; key < risk_keys + RISK_KEYS_N; key++)
        if (account->own_risk & 1U << (key - risk_keys))
            memcpy((char *)&rules.risk + key->offset, (const char *)&account->risk + key->offset, key->size);
    return rules;
}

/* "account main" of the prefix "account": the name after it; NULL for another section. */
static const char *named_section(const char *section, const char *prefix)
{
    size_t len = strlen(prefix);
    if (strncmp(section, prefix, len) != 0 || (section[len] != ' ' && section[len] != '\0'))
        return NULL;
    return section + len + strspn(section + len, " ");
}

int daemon_config_section(const char *section, const char **ret_name, char why[static CONFIG_WHY_MAX])
{
    size_t n;
    const char *account = named_section(section, ACCOUNT_SECTION),
               *venue = named_section(section, VENUE_SECTION);
    if (account && !account_name_good(account))
        return config_key_refuse(why, CONFIG_WHY_MAX,
                                 "a name of letters, digits, - _ and . is needed, at most %d: [account main]",
                                 ACCOUNT_NAME_MAX - 1);
    if (venue && !venue_find(venue))
        return daemon_config_unknown_venue(venue, why);
    *ret_name = account ? account : venue;
    if (*ret_name)
        return account ? SECTION_ACCOUNT : SECTION_VENUE;
    const struct config_key *keys = daemon_config_keys(&n);
    char first[32]; /* "acount main" is nearest to "account main", not to a short word */
    snprintf(first, sizeof first, "%.*s", (int)strcspn(section, " "), section);
    struct nearest nearest = {0};
    for (size_t i = 0; i < n; i++) {
        if (strcmp(keys[i].section, section) == 0)
            return SECTION_PLAIN;
        if (i == 0 || strcmp(keys[i].section, keys[i - 1].section) != 0)
            nearest_offer(&nearest, first, keys[i].section);
    }
    nearest_offer(&nearest, first, VENUE_SECTION);
    return config_key_refuse(why, CONFIG_WHY_MAX, "unknown section%s", NEAREST_HINT(&nearest, first));
}

static int unknown_key(const char *section, const struct strategy *strategy, const char *name, char *why)
{
    size_t n;
    const struct config_key *keys = daemon_config_keys(&n), *elsewhere = config_key_find(keys, n, NULL, name);
    if (elsewhere)
        return config_key_refuse(why, CONFIG_WHY_MAX, "it belongs to [%s]",
                                 strcmp(elsewhere->section, ACCOUNT_SECTION) ? elsewhere->section
                                                                             : "account NAME");
    struct nearest nearest = {0};
    for (size_t i = 0; i < n; i++)
        if (strcmp(keys[i].section, section) == 0)
            nearest_offer(&nearest, name, keys[i].name);
    for (size_t i = 0; strategy && i < strategy->n_params; i++) {
        char param[64];
        snprintf(param, sizeof param, PARAM_PREFIX "%s", strategy->params[i].name);
        nearest_offer(&nearest, name, param);
    }
    return config_key_unknown_near(&nearest, name, why);
}

static int set_param(struct account_config *account, const char *name, const char *value, char *why)
{
    if (!account->strategy)
        return config_key_refuse(why, CONFIG_WHY_MAX, "strategy is none, which has no parameters");
    return strategy_set(account->strategy, account->params, name, value, why);
}

/* Sets a key of an account, made with its defaults when there is none of that name; a key of NULL only makes
 * it. */
static int set_account(struct daemon_config *config, const char *name, const char *key, const char *value,
                       char *why)
{
    int i = 0;
    while (i < config->n_accounts && strcmp(config->accounts[i].name, name) != 0)
        i++;
    if (i == ACCOUNTS_MAX)
        return config_key_refuse(why, CONFIG_WHY_MAX, "more than %d accounts", ACCOUNTS_MAX);
    struct account_config account;
    if (i < config->n_accounts)
        account = config->accounts[i];
    else
        account_defaults(&account, name);

    int e = 0;
    if (key) {
        size_t n;
        const struct config_key *keys = daemon_config_keys(&n);
        const struct config_key *row = config_key_find(keys, n, ACCOUNT_SECTION, key);
        if (row)
            e = config_key_read(row, value, &account, why);
        else if (strncmp(key, PARAM_PREFIX, strlen(PARAM_PREFIX)) == 0)
            e = set_param(&account, key + strlen(PARAM_PREFIX), value, why);
        else
            e = unknown_key(ACCOUNT_SECTION, account.strategy, key, why);
    }
    if (e)
        return e;
    config->accounts[i] = account;
    if (i == config->n_accounts)
        config->n_accounts++;
    return 0;
}

int daemon_config_set_line(struct daemon_config *config, const char *section, const char *key,
                           const char *value, char why[static CONFIG_WHY_MAX])
{
    size_t n;
    const struct config_key *keys = daemon_config_keys(&n), *row;
    struct config_key named;
    const char *name;
    switch (daemon_config_section(section, &name, why)) {
    case SECTION_ACCOUNT:
        return set_account(config, name, key, value, why);
    case SECTION_VENUE:
        return daemon_config_venue_set(config, name, key, value, why);
    case SECTION_PLAIN:
        row = key ? config_key_find(keys, n, section, key) : NULL;
        if (!row && key && strcmp(section, "alerts") == 0)
            row = daemon_config_sink_row(keys, n, key, &named);
        return row   ? config_key_read(row, value, config, why)
               : key ? unknown_key(section, NULL, key, why)
                     : 0;
    default:
        return -EINVAL;
    }
}

int daemon_config_set(struct daemon_config *config, const char *section, const char *key, const char *value,
                      char error[static CONFIG_ERROR_MAX])
{
    char why[CONFIG_WHY_MAX];
    if (daemon_config_set_line(config, section, key, value, why) == 0)
        return 0;
    return config_key_refuse(error, CONFIG_ERROR_MAX, "[%.60s] %.60s: %s", section, key ? key : "", why);
}

/* ---- what a key's own check cannot see ---- */

void daemon_config_misfit(const struct daemon_config_check *check, const char *section, const char *keys,
                          const char *format, ...)
{
    char words[CONFIG_ERROR_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    check->misfit(check->ctx, section, keys, words);
}

/* A trained policy is one file, a recorded one two. */
static void check_policy_files(const struct account_config *account, const char *section,
                               const struct daemon_config_check *check)
{
    bool one_file = policy_names_one_file(account->policy);
    if (one_file && account->actions[0])
        daemon_config_misfit(
            check, section, "actions policy",
            "a trained policy has none, nor has an ensemble: it is to be left out, or policy = "
            "PARAMS.json");
    else if (!one_file && account->policy[0] && !account->actions[0])
        daemon_config_misfit(
            check, section, "policy actions",
            "actions = ACTIONS.csv is needed too: a recorded policy has two files, a trained one is "
            "F.safetensors, an ensemble NAME.ensemble.json");
    else if (!one_file && !account->policy[0] && account->actions[0])
        daemon_config_misfit(check, section, "actions policy",
                             "policy = PARAMS.json is needed too: a recorded policy has two files");
}

/* "fast: fewer …" is of that parameter; all else, as a process may say it, of the strategy. */
static void misfit_params(const struct strategy *strategy, const char *why, const char *section,
                          const struct daemon_config_check *check)
{
    char key[64];
    size_t n = strcspn(why, ":");
    for (size_t i = 0; i < strategy->n_params; i++)
        if (strncmp(why, strategy->params[i].name, n) == 0 && strlen(strategy->params[i].name) == n &&
            strncmp(why + n, ": ", 2) == 0) {
            snprintf(key, sizeof key, PARAM_PREFIX "%s", strategy->params[i].name);
            daemon_config_misfit(check, section, key, "%s", why + n + 2);
            return;
        }
    daemon_config_misfit(check, section, "strategy", "%s", why);
}

static void check_strategy(const struct daemon_config *config, const struct account_config *account,
                           const char *section, const struct daemon_config_check *check)
{
    const struct strategy *strategy = account->strategy;
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    char unfit[SPECS_ERROR_MAX];
    size_t n_specs;
    const char *why = strategy ? strategy_check(strategy, account->params) : NULL;
    if (why) {
        misfit_params(strategy, why, section, check);
    } else if (strategy && engine_runner_specs(strategy, account->params, config->interval_ns, specs,
                                               &n_specs, unfit) < 0) {
        daemon_config_misfit(check, section, "strategy [market]interval", "%s", unfit);
    } else if (strategy && config->n_symbols < strategy->symbols_min) {
        daemon_config_misfit(check, section, "strategy [market]symbols",
                             "strategy %s needs %d symbols, and there is %d", strategy->name,
                             strategy->symbols_min, config->n_symbols);
    }
}

static void check_account(const struct daemon_config *config, int a, const struct daemon_config_check *check)
{
    const struct account_config *account = &config->accounts[a];
    char section[ACCOUNT_NAME_MAX + 16];
    snprintf(section, sizeof section, ACCOUNT_SECTION " %s", account->name);
    check_strategy(config, account, section, check);
    check_policy_files(account, section, check);
    if (!account->cash[0] && !account->policy[0])
        daemon_config_misfit(check, section, "cash policy", "an amount is needed");
    if (account->fee_tier[0] && !daemon_config_fee_tier(config, account->fee_tier))
        daemon_config_misfit(check, section, "fees [market]venue", "%s is no tier of %s: see papertape fees",
                             account->fee_tier, config->venues[0].venue->format->name);
    if (account->fee_tiers[0] && (account->fee_tier[0] || account->own_rates))
        daemon_config_misfit(check, section, "fee_tiers fees fee_maker fee_taker",
                             "with fee_tiers neither a tier nor rates are needed");
    if (account->maintenance_e4 > account->collateral_e4)
        daemon_config_misfit(check, section, "maintenance collateral", "at most the collateral is needed");
    if (account->margin != MARGIN_OFF && account->settlement == SETTLEMENT_STRICT)
        daemon_config_misfit(check, section, "settlement margin",
                             "strict is of an account without a margin: off or by-date is needed");
    daemon_config_execution_check(config, a, section, check);
    for (int j = 0; j < a; j++)
        if (strcmp(account->name, config->accounts[j].name) == 0)
            daemon_config_misfit(check, section, "", "named twice");
}

static void check_universe(const struct daemon_config *config, const struct daemon_config_check *check)
{
    struct engine_universe_rule rule;
    char why[UNIVERSE_ERROR_MAX];
    if (!config->universe[0])
        return;
    if (engine_universe_parse(config->universe, &rule, why) < 0)
        daemon_config_misfit(check, "market", "universe", "%s", why);
    else if (rule.every_ns < config->interval_ns)
        daemon_config_misfit(check, "market", "universe interval",
                             "its times come more often than the bars: every D of at least %s is right",
                             bar_interval_name(config->interval_ns));
}

/* The sentence begins with the key that it is about. */
static void check_limits(const struct daemon_config *config, const struct daemon_config_check *check)
{
    char why[CONFIG_WHY_MAX];
    if (policy_limits_check(&config->arena_limits, why) == 0)
        return;
    char *colon = strchr(why, ':');
    *colon = '\0';
    daemon_config_misfit(check, "arena", why, "%s", colon + 2);
}

static void check_alerts(const struct daemon_config *config, const struct daemon_config_check *check)
{
    char why[CONFIG_WHY_MAX], keys[80];
    const char *key, *other;
    if (!daemon_alert_limits_contradict(&config->alerts, &key, &other, why))
        return;
    snprintf(keys, sizeof keys, "%s %s", key, other);
    daemon_config_misfit(check, "alerts", keys, "%s", why);
}

void daemon_config_check_all(const struct daemon_config *config, const struct daemon_config_check *check)
{
    if (config->n_accounts < 1)
        daemon_config_misfit(check, "account NAME", "", "at least one is needed");
    daemon_config_venue_check(config, check);
    check_universe(config, check);
    for (int i = 0; i < config->n_timeframes; i++)
        if (config->timeframes[i] % config->interval_ns != 0)
            daemon_config_misfit(check, "indicators", "timeframes [market]interval",
                                 "%s is no multiple of the market's interval, %s",
                                 bar_interval_name(config->timeframes[i]),
                                 bar_interval_name(config->interval_ns));
    check_limits(config, check);
    check_alerts(config, check);
    daemon_config_sinks_check(config, check);
    daemon_config_ledger_check(config, check);
    for (int a = 0; a < config->n_accounts; a++)
        check_account(config, a, check);
}

static void take_first(void *ctx, const char *section, const char *keys, const char *words)
{
    char *error = ctx;
    if (!*error)
        config_key_refuse(error, CONFIG_ERROR_MAX, *keys ? "[%.60s] %.*s: %.380s" : "[%.60s]%.*s: %.380s",
                          section, (int)strcspn(keys, " "), keys, words);
}

int daemon_config_check(const struct daemon_config *config, char error[static CONFIG_ERROR_MAX])
{
    char first[CONFIG_ERROR_MAX] = "";
    daemon_config_check_all(config, &(struct daemon_config_check){take_first, first});
    if (*first)
        memcpy(error, first, sizeof first);
    return *first ? -EINVAL : 0;
}

static void print_account(const struct account_config *account, FILE *to)
{
    static const struct config_key number = {.kind = CONFIG_NUMBER, .size = sizeof(double)};
    char word[STRATEGY_WORD_MAX];
    size_t n;
    const struct config_key *keys = daemon_config_keys(&n);
    fprintf(to, "\n[%s %s]\n", ACCOUNT_SECTION, account->name);
    config_key_print_section(keys, n, ACCOUNT_SECTION, account, to);
    for (size_t i = 0; account->strategy && i < account->strategy->n_params; i++) {
        const struct strategy_param *param = &account->strategy->params[i];
        fprintf(to, "# %s\n" PARAM_PREFIX "%s = ", param->summary, param->name);
        if (strategy_param_word(param, account->params[i], word))
            fputs(word, to);
        else
            config_key_print(&number, &account->params[i], to);
        fputc('\n', to);
    }
}

void daemon_config_print(const struct daemon_config *config, FILE *to)
{
    size_t n;
    const struct config_key *keys = daemon_config_keys(&n);
    const char *section = "";
    for (size_t i = 0; i < n && strcmp(keys[i].section, ACCOUNT_SECTION) != 0; i++)
        if (strcmp(section, keys[i].section) != 0) {
            fprintf(to, "%s[%s]\n", *section ? "\n" : "", keys[i].section);
            config_key_print_section(keys, n, section = keys[i].section, config, to);
            if (strcmp(section, "alerts") == 0)
                daemon_config_print_sinks(config, to);
        }
    for (int v = 0; v < config->n_venues; v++)
        daemon_config_venue_print(config, v, to);
    for (int i = 0; i < config->n_accounts; i++)
        print_account(&config->accounts[i], to);
}

#include "daemon/config.h"

#include <errno.h>
#include <string.h>

#include "daemon/config_keys.h"
#include "engine/specs.h"
#include "exchange/bar.h"
#include "exchange/nearest.h"
#include "exchange/venues.h"
#include "strategy/policy/device.h"
#include "strategy/policy/policy.h"

#define ACCOUNT_SECTION "account"
#define VENUE_SECTION   "venue"
#define PARAM_PREFIX    "strategy."

static void account_defaults(struct account_config *account, const char *name)
{
    *account = (struct account_config){
        .currency = "USDT",
        .cash = "10000",
        .fees = {1000, 1000}, /* the dearest tier of the default venue */
        .collateral_e4 = 15000,
        .maintenance_e4 = 12500,
        .borrow_rate_e6 = 50000,
        .strategy = strategy_find("sma-cross-rsi"),
    };
    snprintf(account->name, sizeof account->name, "%s", name);
    if (account->strategy)
        strategy_defaults(account->strategy, account->params);
}

void config_defaults(struct config *config)
{
    *config = (struct config){
        .symbols = {"BTCUSDT", "ETHUSDT"},
        .n_symbols = 2,
        .interval_ns = 60000000000,
        .history = 500,
        .n_venues = 1,
        .stale_ms = 30000,
        .stale_trade_ms = 300000,
        .silence_ms = 60000,
        .refresh_ms = 300000,
        .clock = CLOCK_WALL,
        .latency_ns = 50000000,
        .equity_interval_ns = 10000000000,
        .policy_wait_ns = 2000000000,
        .policy_device_wait_ms = NET_DEVICE_WAIT_MS,
        .arena_gates = gate_defaults(),
        .arena_challengers_max = 8,
        .arena_champion_days = 20,
        .arena_alpha = 0.05,
        .risk = {.exposure_symbol = 0.5,
                 .exposure_account = 1.0,
                 .daily_loss = 0.05,
                 .orders_per_second = 10},
        .commit_delay_ms = 5,
        .events_keep_days = 60,
        .events_keep_mb = 20000,
        .events_segment_mb = 64,
        .events_level = 3,
        .events_sync = true,
        .parity_minute = 30,
        .device_retry_ms = 60000,
        .trainer_start = true,
        .log_level = LOG_LEVEL_INFO,
        .n_accounts = 1,
    };
    struct config_venue *venue = &config->venues[0];
    config_venue_defaults(venue, venue_default());
    snprintf(venue->ws_url, sizeof venue->ws_url, "%s", venue->venue->ws_url);
    snprintf(venue->rest_url, sizeof venue->rest_url, "%s", venue->venue->rest_url);
    venue->own_streams = true;
    for (int kind = 0; kind < MARKET_CHANNELS; kind++)
        venue->streams[kind] = kind != MARKET_AGG_TRADE;
    config->n_specs = config_default_specs(config->specs, config->measures);
    account_defaults(&config->accounts[0], "main");
}

struct account_rules config_rules(const struct config *config, const struct account_config *account)
{
    struct account_rules rules = {
        .fees = account->fees,
        .risk = config->risk,
        .shorts = account->shorts,
        .collateral_e4 = account->collateral_e4,
        .maintenance_e4 = account->maintenance_e4,
        .borrow_rate_e6 = account->borrow_rate_e6,
    };
    const struct fee_tier *tier = config_fee_tier(config, account->fee_tier);
    if (tier)
        rules.fees = tier->rates;
    if (account->policy[0]) { /* these are there by default, and would refuse what the policy learned to do */
        rules.risk.exposure_symbol = rules.risk.exposure_account = rules.risk.daily_loss = 0;
        rules.risk.orders_per_second = 0;
    }
    if (account->own_risk & OWN_EXPOSURE_SYMBOL)
        rules.risk.exposure_symbol = account->risk.exposure_symbol;
    if (account->own_risk & OWN_EXPOSURE_ACCOUNT)
        rules.risk.exposure_account = account->risk.exposure_account;
    if (account->own_risk & OWN_DAILY_LOSS)
        rules.risk.daily_loss = account->risk.daily_loss;
    if (account->own_risk & OWN_ORDERS_PER_SECOND)
        rules.risk.orders_per_second = account->risk.orders_per_second;
    if (account->own_risk & OWN_DRAWDOWN)
        rules.risk.drawdown = account->risk.drawdown;
    if (account->own_risk & OWN_PRICE_BAND)
        rules.risk.price_band = account->risk.price_band;
    if (account->own_risk & OWN_COOLDOWN)
        rules.risk.cooldown_ns = account->risk.cooldown_ns;
    if (account->own_risk & OWN_POSITIONS)
        rules.risk.positions = account->risk.positions;
    return rules;
}

static bool same_section(const struct config_key *key, const char *section)
{
    return strcmp(key->section, section) == 0;
}

/* "account main" of the prefix "account": the name after it; NULL for another section. */
static const char *named_section(const char *section, const char *prefix)
{
    size_t len = strlen(prefix);
    if (strncmp(section, prefix, len) != 0 || (section[len] != ' ' && section[len] != '\0'))
        return NULL;
    return section + len + strspn(section + len, " ");
}

int config_section(const char *section, const char **ret_name, char reason[static CONFIG_REASON_MAX])
{
    size_t n;
    const char *account = named_section(section, ACCOUNT_SECTION),
               *venue = named_section(section, VENUE_SECTION);
    if (account && !account_name_good(account))
        return config_reason(reason, CONFIG_REASON_MAX,
                             "a name of letters, digits, - _ and . is needed, at most %d: [account main]",
                             ACCOUNT_NAME_MAX - 1);
    if (venue && !venue_find(venue)) {
        const char *nearest = venue_nearest(venue);
        return config_reason(reason, CONFIG_REASON_MAX, "unknown venue: did you mean [venue %s]?",
                             nearest[0] ? nearest : venue_default()->format->name);
    }
    *ret_name = account ? account : venue;
    if (*ret_name)
        return account ? SECTION_ACCOUNT : SECTION_VENUE;
    const struct config_key *keys = config_keys(&n);
    struct nearest nearest = {0};
    for (size_t i = 0; i < n; i++) {
        if (same_section(&keys[i], section))
            return SECTION_PLAIN;
        nearest_offer(&nearest, section, keys[i].section);
    }
    /* "acount main" is nearest to "account main", not to a short word. */
    char first[32];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(section, " "), section);
    struct nearest word = nearest;
    nearest_offer(&word, first, ACCOUNT_SECTION);
    nearest_offer(&word, first, VENUE_SECTION);
    const char *meant = strcmp(word.best, ACCOUNT_SECTION) == 0 ? "account NAME"
                        : strcmp(word.best, VENUE_SECTION) == 0 ? "venue NAME"
                                                                : word.best;
    return config_reason(reason, CONFIG_REASON_MAX, "unknown section: did you mean [%s]?", meant);
}

static int unknown_key(const char *section, const struct strategy *strategy, const char *name, char *reason)
{
    size_t n;
    const struct config_key *keys = config_keys(&n);
    struct nearest nearest = {0};
    for (size_t i = 0; i < n; i++) {
        if (!same_section(&keys[i], section) && strcmp(keys[i].name, name) == 0)
            return config_reason(reason, CONFIG_REASON_MAX, "unknown key here: did you mean %s in [%s]?",
                                 name,
                                 strcmp(keys[i].section, ACCOUNT_SECTION) ? keys[i].section : "account NAME");
        if (same_section(&keys[i], section))
            nearest_offer(&nearest, name, keys[i].name);
    }
    char param[STRATEGY_PARAMS_MAX][64];
    for (size_t i = 0; strategy && i < strategy->n_params; i++) {
        snprintf(param[i], sizeof param[i], PARAM_PREFIX "%s", strategy->params[i].name);
        nearest_offer(&nearest, name, param[i]);
    }
    return config_reason(reason, CONFIG_REASON_MAX, "unknown key: did you mean %s?", nearest.best);
}

static int set_param(struct account_config *account, const char *name, const char *value, char *reason)
{
    const struct strategy *strategy = account->strategy;
    if (!strategy)
        return config_reason(reason, CONFIG_REASON_MAX, "strategy is none, which has no parameters");
    int e = strategy_set(strategy, account->params, name, value);
    if (e == 0)
        return 0;
    strategy_refusal(strategy, name, value, reason, CONFIG_REASON_MAX);
    return e;
}

static const struct config_key *find_key(const char *section, const char *name)
{
    size_t n;
    const struct config_key *keys = config_keys(&n);
    for (size_t i = 0; i < n; i++)
        if (same_section(&keys[i], section) && strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

/* Sets a key of an account, made with its defaults when there is none of that name; a key of NULL only makes
 * it. */
static int set_account(struct config *config, const char *name, const char *key, const char *value,
                       char *reason)
{
    int i = 0;
    while (i < config->n_accounts && strcmp(config->accounts[i].name, name) != 0)
        i++;
    if (i == ACCOUNTS_MAX)
        return config_reason(reason, CONFIG_REASON_MAX, "more than %d accounts", ACCOUNTS_MAX);
    struct account_config account;
    if (i < config->n_accounts)
        account = config->accounts[i];
    else
        account_defaults(&account, name);

    int e = 0;
    if (key) {
        const struct config_key *row = find_key(ACCOUNT_SECTION, key);
        if (row)
            e = row->parse(row, value, &account, reason);
        else if (strncmp(key, PARAM_PREFIX, strlen(PARAM_PREFIX)) == 0)
            e = set_param(&account, key + strlen(PARAM_PREFIX), value, reason);
        else
            e = unknown_key(ACCOUNT_SECTION, account.strategy, key, reason);
    }
    if (e)
        return e;
    config->accounts[i] = account;
    if (i == config->n_accounts)
        config->n_accounts++;
    return 0;
}

int config_set(struct config *config, const char *section, const char *key, const char *value,
               char error[static CONFIG_ERROR_MAX])
{
    char reason[CONFIG_REASON_MAX];
    const char *name;
    int kind = config_section(section, &name, reason), e = 0;
    if (kind < 0)
        return config_reason(error, CONFIG_ERROR_MAX, "[%.60s]: %s", section, reason);
    if (kind == SECTION_ACCOUNT) {
        e = set_account(config, name, key, value, reason);
    } else if (kind == SECTION_VENUE) {
        e = config_venue_set(config, name, key, value, reason);
    } else if (key) {
        const struct config_key *row = find_key(section, key);
        e = row ? row->parse(row, value, config, reason) : unknown_key(section, NULL, key, reason);
    }
    if (e)
        return config_reason(error, CONFIG_ERROR_MAX, "[%.60s] %.60s: %s", section, key ? key : "", reason);
    return 0;
}

/* A trained policy is one file, a recorded one two. */
static int check_policy_files(const struct account_config *account, char error[static CONFIG_ERROR_MAX])
{
    bool one_file = policy_names_one_file(account->policy);
    if (one_file && account->actions[0])
        return config_reason(
            error, CONFIG_ERROR_MAX,
            "[account %s] actions: a trained policy has none, nor has an ensemble: it is to be left "
            "out, or policy = PARAMS.json",
            account->name);
    if (one_file || !account->policy[0] == !account->actions[0])
        return 0;
    return config_reason(error, CONFIG_ERROR_MAX, "[account %s] %s: %s is needed too: %s", account->name,
                         account->policy[0] ? "policy" : "actions",
                         account->policy[0] ? "actions = ACTIONS.csv" : "policy = PARAMS.json",
                         account->policy[0]
                             ? "a recorded policy has two files, a trained one is F.safetensors, an ensemble "
                               "NAME.ensemble.json"
                             : "a recorded policy has two files");
}

int config_check(const struct config *config, char error[static CONFIG_ERROR_MAX])
{
    if (config->n_accounts < 1)
        return config_reason(error, CONFIG_ERROR_MAX, "[account NAME]: at least one is needed");
    int e = config_venue_check(config, error);
    if (e)
        return e;
    for (int i = 0; i < config->n_timeframes; i++)
        if (config->timeframes[i] % config->interval_ns != 0)
            return config_reason(error, CONFIG_ERROR_MAX,
                                 "[indicators] timeframes: %s is no multiple of the market's interval, %s",
                                 bar_interval_name(config->timeframes[i]),
                                 bar_interval_name(config->interval_ns));
    for (int i = 0; i < config->n_accounts; i++) {
        const struct account_config *account = &config->accounts[i];
        const struct strategy *strategy = account->strategy;
        const char *why = strategy && strategy->check ? strategy->check(account->params) : NULL;
        if (why)
            return config_reason(error, CONFIG_ERROR_MAX, "[account %s] " PARAM_PREFIX "%s", account->name,
                                 why);
        e = check_policy_files(account, error);
        if (e)
            return e;
        if (!account->cash[0] && !account->policy[0])
            return config_reason(error, CONFIG_ERROR_MAX, "[account %s] cash: an amount is needed",
                                 account->name);
        struct desk_spec specs[STRATEGY_SPECS_MAX];
        char unfit[SPECS_ERROR_MAX];
        size_t n_specs;
        if (strategy &&
            desk_specs(strategy, account->params, config->interval_ns, specs, &n_specs, unfit) < 0)
            return config_reason(error, CONFIG_ERROR_MAX, "[account %s] %s", account->name, unfit);
        if (account->fee_tier[0] && !config_fee_tier(config, account->fee_tier))
            return config_reason(error, CONFIG_ERROR_MAX,
                                 "[account %s] fees: %s is no tier of %s: see papertape fees", account->name,
                                 account->fee_tier, config->venues[0].venue->format->name);
        if (account->maintenance_e4 > account->collateral_e4)
            return config_reason(error, CONFIG_ERROR_MAX,
                                 "[account %s] maintenance: at most the collateral is needed", account->name);
        for (int j = 0; j < i; j++)
            if (strcmp(account->name, config->accounts[j].name) == 0)
                return config_reason(error, CONFIG_ERROR_MAX, "[account %s]: named twice", account->name);
    }
    return 0;
}

static void print_account(const struct account_config *account, FILE *to)
{
    size_t n;
    const struct config_key *keys = config_keys(&n);
    fprintf(to, "\n[%s %s]\n", ACCOUNT_SECTION, account->name);
    for (size_t i = 0; i < n; i++) {
        if (!same_section(&keys[i], ACCOUNT_SECTION))
            continue;
        fprintf(to, "# %s\n%s = ", keys[i].doc, keys[i].name);
        keys[i].print(&keys[i], account, to);
        fputc('\n', to);
    }
    for (size_t i = 0; account->strategy && i < account->strategy->n_params; i++) {
        const struct strategy_param *param = &account->strategy->params[i];
        fprintf(to, "# %s\n" PARAM_PREFIX "%s = ", param->summary, param->name);
        config_print_double(account->params[i], to);
        fputc('\n', to);
    }
}

void config_print(const struct config *config, FILE *to)
{
    size_t n;
    const struct config_key *keys = config_keys(&n);
    const char *section = "";
    for (size_t i = 0; i < n && !same_section(&keys[i], ACCOUNT_SECTION); i++) {
        if (!same_section(&keys[i], section)) {
            fprintf(to, "%s[%s]\n", *section ? "\n" : "", keys[i].section);
            section = keys[i].section;
        }
        fprintf(to, "# %s\n%s = ", keys[i].doc, keys[i].name);
        keys[i].print(&keys[i], config, to);
        fputc('\n', to);
    }
    for (int v = 0; v < config->n_venues; v++)
        config_venue_print(config, v, to);
    for (int i = 0; i < config->n_accounts; i++)
        print_account(&config->accounts[i], to);
}

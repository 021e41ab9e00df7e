#include "engine/backtest/terms.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/account_keys.h"
#include "exchange/decimal.h"
#include "exchange/fail.h"
#include "strategy/risk_keys.h"

#define AT(member) KEY_AT(struct backtest_terms, member)
#define FEE_KEY(member, name, fallback, about) \
    {NULL, name, about, fallback, .kind = CONFIG_WHOLE, ACCOUNT_FEE, AT(member)},
#define OWN_FEE_KEY(member, name, fallback, about)   FEE_KEY(fees.member, name, fallback, about)
#define CLASS_FEE_KEY(member, name, fallback, about) FEE_KEY(rules.member, name, fallback, about)
#define STOCK_KEY(member, name, list, fallback, about, further) \
    {NULL, name, about, fallback, KEY_WORDS(list), AT(rules.member)},
#define SHORT_KEY(member, name, value, fallback, about, further) \
    {NULL, name, about, fallback, value, AT(rules.member)},

const struct config_key backtest_terms_keys[BACKTEST_TERMS] = {
    {NULL, ACCOUNT_CASH_WORDS, .kind = CONFIG_WHOLE, ACCOUNT_CASH, AT(cash)},
    ACCOUNT_FEE_KEYS(OWN_FEE_KEY){NULL, ENGINE_SLIPPAGE_KEY, AT(slippage_e6)},
    {NULL, ENGINE_LATENCY_KEY, AT(latency_ns)},
    ACCOUNT_STOCK_KEYS(STOCK_KEY) ACCOUNT_SHORT_KEYS(SHORT_KEY) ACCOUNT_CLASS_FEE_KEYS(CLASS_FEE_KEY)};

const struct config_key backtest_charge_keys[BACKTEST_CHARGES] = {ACCOUNT_CHARGE_KEYS(SHORT_KEY)};

static const struct config_key shorts_key = {NULL,
                                             "shorts",
                                             "the account may sell what it does not hold",
                                             "off",
                                             KEY_SWITCH("off on"),
                                             AT(rules.shorts)};

void backtest_terms_init(struct backtest_terms *terms)
{
    char why[CONFIG_WHY_MAX];
    *terms = (struct backtest_terms){.session = SESSION_REGULAR};
    for (int i = 0; i < BACKTEST_TERMS; i++)
        (void)config_key_read(&backtest_terms_keys[i], backtest_terms_keys[i].fallback, terms, why);
}

static int set_limit(struct risk_limits *limits, const char *name, const char *text, char *why)
{
    const struct config_key *key = config_key_find(risk_keys, RISK_KEYS_N, NULL, name);
    if (key)
        return config_key_read(key, text, limits, why);
    (void)config_key_unknown(risk_keys, RISK_KEYS_N, NULL, name, why);
    return -ENOENT;
}

static int set(struct backtest_terms *terms, const char *name, const char *text, char *why)
{
    const struct config_key *key = config_key_find(backtest_terms_keys, BACKTEST_TERMS, NULL, name);
    if (strncmp(name, "risk.", 5) == 0)
        return set_limit(&terms->risk, name + 5, text, why);
    if (strcmp(name, shorts_key.name) == 0)
        key = &shorts_key;
    if (!key)
        key = config_key_find(backtest_charge_keys, BACKTEST_CHARGES, NULL, name);
    if (!key) {
        (void)config_key_unknown(backtest_terms_keys, BACKTEST_TERMS, NULL, name, why);
        return -ENOENT;
    }
    int r = config_key_read(key, text, terms, why);
    if (r == 0)
        terms->own_fees |= key == &backtest_terms_keys[BACKTEST_FEE_MAKER] ||
                           key == &backtest_terms_keys[BACKTEST_FEE_TAKER] || terms->rules.fee_tiers[0];
    return r;
}

int backtest_terms_set(struct backtest_terms *terms, const char *key, const char *text,
                       char err[static BACKTEST_TERMS_ERROR_MAX])
{
    char why[CONFIG_WHY_MAX];
    int r = set(terms, key, text, why);
    return r < 0 ? fail_with(r, err, BACKTEST_TERMS_ERROR_MAX, "%.64s: %s", key, why) : 0;
}

static int check_currency(const struct market *market, char *err)
{
    const struct symbol *first = &market->series[0].symbol;
    for (int s = 1; s < market->n_symbols; s++) {
        const struct symbol *symbol = &market->series[s].symbol;
        if (strcmp(symbol->quote, first->quote) != 0 || symbol->quote_scale != first->quote_scale)
            return fail_with(-EXDEV, err, BACKTEST_TERMS_ERROR_MAX,
                             "%s and %s: one account trades one currency: symbols quoted in the same are "
                             "needed, or --quote, where a name does not say it",
                             first->name, symbol->name);
    }
    return 0;
}

int backtest_terms_account(const struct backtest_terms *terms, const struct market *market,
                           struct account_spec *ret, char err[static BACKTEST_TERMS_ERROR_MAX])
{
    const struct symbol *first = &market->series[0].symbol;
    struct account_spec spec = {
        .currency_scale = first->quote_scale, .session = terms->session, .rules = terms->rules};
    int r = check_currency(market, err);
    if (r < 0)
        return r;
    spec.rules.fees = terms->fees;
    spec.rules.fees = account_fees_first(&spec.rules);
    spec.rules.risk = terms->risk;
    spec.rules.class_fees = terms->venue && !terms->own_fees;
    if (!spec.rules.shorts)
        spec.rules.collateral_e4 = spec.rules.maintenance_e4 = spec.rules.borrow_rate_e6 = 0;
    snprintf(spec.currency, sizeof spec.currency, "%s", first->quote);
    if (decimal_rescale(terms->cash, BACKTEST_CASH_SCALE, spec.currency_scale, &spec.cash) < 0)
        return fail_with(-ERANGE, err, BACKTEST_TERMS_ERROR_MAX,
                         "it has more digits than the currency, or is too much");
    *ret = spec;
    return 0;
}

int backtest_terms_range(const struct market *market, int64_t from_ns, int64_t to_ns, size_t *ret_from,
                         size_t *ret_to, char err[static BACKTEST_TERMS_ERROR_MAX])
{
    size_t from = from_ns ? market_store_row_at(market, from_ns) : 0;
    size_t to = to_ns ? market_store_row_at(market, to_ns) : market->rows;
    if (from >= market->rows)
        return fail_with(-EINVAL, err, BACKTEST_TERMS_ERROR_MAX, "--from: the bars end before it");
    if (to == 0)
        return fail_with(-EINVAL, err, BACKTEST_TERMS_ERROR_MAX, "--to: the bars begin after it");
    if (from >= to)
        return fail_with(-EINVAL, err, BACKTEST_TERMS_ERROR_MAX,
                         "--from: there is no bar between it and --to");
    *ret_from = from;
    *ret_to = to;
    return 0;
}

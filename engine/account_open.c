/* Makes accounts and their arrays. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core.h"
#include "engine/driver.h"

/* The ranges that the arithmetic supports in any event log. Not those of risk_keys.h and account_keys.h,
 * which are narrower and for what a user writes: a log of a former version (positions = 300) must replay. */
static const char *limits_check(const struct risk_limits *risk)
{
    const double shares[] = {risk->exposure_symbol, risk->exposure_account, risk->daily_loss, risk->drawdown,
                             risk->price_band};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        if (!(shares[i] >= 0 && shares[i] <= RISK_SHARE_MAX))
            return "a risk limit is negative, too large or no number";
    if (risk->cooldown_ns < 0 || risk->positions < 0)
        return "a risk limit is negative";
    return risk->orders_per_second < 0 || risk->orders_per_second > RISK_RATE_MAX
               ? "orders_per_second is not between 0 and 64"
               : NULL;
}

static bool bad_fees(const struct fee_rates *fees)
{
    return fees->maker_e6 < 0 || fees->maker_e6 > 1000000 || fees->taker_e6 < 0 || fees->taker_e6 > 1000000;
}

const struct fee_rates *account_fees(const struct account_rules *rules, const struct symbol *symbol)
{
    if (!rules->class_fees || symbol->asset == ASSET_UNKNOWN)
        return &rules->fees;
    return symbol->asset == ASSET_CRYPTO ? &rules->crypto_fees : &rules->us_equity_fees;
}

const char *account_rules_check(const struct account_rules *rules)
{
    if (bad_fees(&rules->fees))
        return "a fee is not between 0 and 100 %";
    const struct fee_rates *of_class[] = {&rules->crypto_fees, &rules->us_equity_fees};
    for (size_t i = 0; i < sizeof of_class / sizeof *of_class; i++)
        if (bad_fees(of_class[i]))
            return "a fee is not between 0 and 100 %";
    struct fee_tiers tiers;
    char why[FEE_TIERS_WHY_MAX];
    if (fee_tiers_parse(rules->fee_tiers, &tiers, why) < 0)
        return "its fee_tiers are no schedule of fees";
    if (rules->withholding_e6 < 0 || rules->withholding_e6 > 1000000)
        return "the withholding is not between 0 and 100 %";
    if (rules->borrow_rate_e6 < 0)
        return "the borrow rate is negative";
    if (rules->shorts && rules->maintenance_e4 < 10000)
        return "the maintenance share is below 100 %";
    if (rules->shorts && rules->collateral_e4 < rules->maintenance_e4)
        return "the collateral is below the maintenance share";
    if (rules->margin != MARGIN_OFF && rules->settlement == SETTLEMENT_STRICT)
        return "settlement = strict is of an account without a margin";
    if (rules->execution == EXECUTION_VENUE_PAPER &&
        (rules->shorts || rules->margin != MARGIN_OFF || rules->settlement != SETTLEMENT_OFF))
        return "execution = venue-paper takes no shorts, margin or settlement: its venue has its own";
    return limits_check(&rules->risk);
}

struct balance *account_find_balance(const struct account *account, const char *asset)
{
    for (int i = 0; i < account->n_assets; i++)
        if (strcmp(account->assets[i].asset, asset) == 0)
            return &account->assets[i];
    return NULL;
}

/* Finds or adds a balance; returns its index among the assets. An asset that is counted in different units
 * has a balance in each: also the account's currency, where it is the base of a symbol. */
static int place_balance(struct account *account, const char *asset, int scale)
{
    for (int i = 0; i < account->n_assets; i++)
        if (strcmp(account->assets[i].asset, asset) == 0 && account->assets[i].scale == scale)
            return i;
    struct balance *balance;
    if (account->n_assets == account->cap_assets)
        return -ENOMEM;
    balance = &account->assets[account->n_assets];
    *balance = (struct balance){.scale = scale};
    memcpy(balance->asset, asset, strnlen(asset, sizeof balance->asset - 1));
    return account->n_assets++;
}

static int make_room(struct account *account, int more)
{
    int wanted = account->n_assets + more;
    if (wanted > ACCOUNT_ASSETS_MAX)
        wanted = ACCOUNT_ASSETS_MAX;
    if (wanted <= account->cap_assets)
        return 0;
    struct balance *moved = realloc(account->assets, (size_t)wanted * sizeof *moved);
    if (!moved)
        return -ENOMEM;
    account->assets = moved;
    account->cap_assets = wanted;
    return 0;
}

int account_place(struct engine *engine, int index, const char *asset, int scale)
{
    struct account *account = &engine->accounts[index];
    int r = make_room(account, 1);
    return r < 0 ? r : place_balance(account, asset, scale);
}

int account_bind(struct engine *engine, int index)
{
    struct account *account = &engine->accounts[index];
    int r = make_room(account, 2 * engine->n_symbols + 1);
    if (r < 0)
        return r;
    account->currency_at = r = place_balance(account, account->currency, account->currency_scale);
    for (int s = 0; s < engine->n_symbols && r >= 0; s++) {
        const struct symbol *symbol = &engine->markets[s].symbol;
        struct account_pair *pair = &account->pairs[s];
        pair->base = r = place_balance(account, symbol->base, symbol->qty_scale);
        if (r >= 0 && strcmp(symbol->quote, account->currency) == 0 &&
            symbol->quote_scale != account->currency_scale)
            r = -EINVAL; /* its money is in one unit: the session sees to it */
        if (r >= 0)
            pair->quote = r = place_balance(account, symbol->quote, symbol->quote_scale);
    }
    return r < 0 ? r : 0;
}

void account_close(struct engine *engine, int index)
{
    struct account *account = &engine->accounts[index];
    engine_runner_close(engine, index);
    for (int s = 0; account->lots && s < engine->n_symbols; s++)
        position_lots_finish(&account->lots[s]);
    free(account->assets);
    free(account->positions);
    free(account->lots);
    free(account->records);
    free(account->pairs);
    free(account->days);
    free(account->receivables);
    *account = (struct account){0};
}

static bool grow(void **array, size_t size, int n, int cap)
{
    char *moved = realloc(*array, (size_t)cap * size);
    if (!moved)
        return false;
    memset(moved + (size_t)n * size, 0, (size_t)(cap - n) * size);
    *array = moved;
    return true;
}

int account_reserve(struct engine *engine, int n)
{
    if (n <= engine->cap_accounts)
        return 0;
    int cap = 2 * engine->cap_accounts > n ? 2 * engine->cap_accounts : n, had = engine->cap_accounts;
    void *accounts = engine->accounts, *runners = engine->runners, *rates = engine->rates,
         *specs = engine->specs;
    bool grown = grow(&accounts, sizeof *engine->accounts, had, cap) &&
                 grow(&runners, sizeof *engine->runners, had, cap) &&
                 grow(&rates, sizeof *engine->rates, had, cap) &&
                 grow(&specs, sizeof *engine->specs, had, cap);
    engine->accounts = accounts;
    engine->runners = runners;
    engine->rates = rates;
    engine->specs = specs;
    if (!grown)
        return -ENOMEM;
    engine->cap_accounts = cap;
    return 0;
}

int account_arrays(struct engine *engine, int index)
{
    struct account *account = &engine->accounts[index];
    size_t n = (size_t)engine->n_symbols;
    account->positions = calloc(n, sizeof *account->positions);
    account->lots = calloc(n, sizeof *account->lots);
    account->records = calloc(n, sizeof *account->records);
    account->pairs = calloc(n, sizeof *account->pairs);
    account->days = calloc(n, sizeof *account->days);
    return account->positions && account->lots && account->records && account->pairs && account->days
               ? 0
               : -ENOMEM;
}

int account_add(struct engine *engine, const struct account_spec *spec)
{
    if (engine->n_accounts == ACCOUNTS_MAX)
        return -ENOSPC;
    if (account_rules_check(&spec->rules))
        return -EINVAL;
    struct account_spec copy = *spec; /* it may be an element of an array that is reallocated now */
    int index = engine->n_accounts, r = account_reserve(engine, index + 1);
    if (r < 0)
        return r;
    struct account *account = &engine->accounts[index];
    *account = (struct account){
        .currency_scale = copy.currency_scale,
        .rules = copy.rules,
        .opening_cash = copy.cash,
        .tier_rates = {.maker_e6 = -1},
    };
    memcpy(account->name, copy.name, sizeof account->name);
    memcpy(account->currency, copy.currency, sizeof account->currency);
    engine->runners[index] = (struct strategy_runner){0};
    engine->rates[index] = (struct risk_rate){0};
    engine->specs[index] = copy;
    r = account_arrays(engine, index);
    if (r == 0)
        r = account_bind(engine, index);
    if (r == 0)
        r = engine_runner_open(engine, index, &copy);
    if (r == 0 && !engine_driver_is_in_quanta(engine, index))
        r = -EINVAL;
    if (r < 0) {
        account_close(engine, index);
        return r;
    }
    engine->n_accounts++;
    engine->to_begin = true;
    engine_fee_tiers_again(engine, index);
    engine_halt_watch(engine);
    return index;
}

const char *account_spec_trader(const struct account_spec *spec)
{
    return spec->strategy ? spec->strategy->name : spec->policy ? "policy" : NULL;
}

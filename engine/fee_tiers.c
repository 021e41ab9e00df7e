/* What an account's fills cost beside a fixed rate: rates by its volume, and the regulatory fees of sales.
 * docs/risk.md, "Fees", has the rules; exchange/fee_tiers.h and exchange/regulatory_fees.h the arithmetic. */
#include <string.h>

#include "engine/account_keys.h"
#include "engine/core.h"
#include "engine/match.h"
#include "exchange/regulatory_fees.h"

#define DAY_NS (86400 * INT64_C(1000000000))

int engine_fee_tiers_read(const struct config_key *key, const char *text, void *base,
                          char why[static CONFIG_WHY_MAX])
{
    struct fee_tiers tiers;
    char wrong[FEE_TIERS_WHY_MAX];
    if (strlen(text) >= FEE_TIERS_TEXT_MAX || key->size < FEE_TIERS_TEXT_MAX)
        return config_key_refuse(why, CONFIG_WHY_MAX, "at most %d characters are right",
                                 FEE_TIERS_TEXT_MAX - 1);
    if (fee_tiers_parse(text, &tiers, wrong) < 0)
        return config_key_refuse(why, CONFIG_WHY_MAX, "%s", wrong);
    memcpy((char *)base + key->offset, text, strlen(text) + 1);
    return 0;
}

struct fee_rates account_fees_first(const struct account_rules *rules)
{
    struct fee_tiers tiers;
    char why[FEE_TIERS_WHY_MAX];
    bool by_volume = fee_tiers_parse(rules->fee_tiers, &tiers, why) == 0 && tiers.n > 0;
    return by_volume ? tiers.steps[0].rates : rules->fees;
}

/* ---- the rates of a day ---- */

static void emit(struct engine *engine, int index, int64_t day, int64_t volume)
{
    struct account *account = &engine->accounts[index];
    const struct fee_rate_change change = {.id = ++engine->last_fee_rate,
                                           .ts_ns = engine->now_ns,
                                           .account = index,
                                           .day = day,
                                           .volume = volume,
                                           .last_fill = engine->last_fill,
                                           .tiers = account->rules.fee_tiers,
                                           .rates = account->rules.fees,
                                           .input_seq = engine->input_seq};
    account->tier_rates = account->rules.fees;
    if (account->rules.fee_tiers[0] == '\0')
        account->tier_rates.maker_e6 = -1;
    if (engine->sink.fee_rate)
        engine->sink.fee_rate(engine->sink.ctx, &change);
}

/* What rests reserves as much as it costs now. */
static void reserve_again(struct engine *engine, int index)
{
    for (size_t i = 0; i < engine->n_orders; i++)
        if (engine->orders[i].order.account == index)
            engine_reserve_set(engine, &engine->orders[i].order);
}

static bool same(const struct fee_rates *a, const struct fee_rates *b)
{
    return a->maker_e6 == b->maker_e6 && a->taker_e6 == b->taker_e6;
}

static void take_day(struct engine *engine, int index, int64_t day)
{
    struct account *account = &engine->accounts[index];
    struct fee_tiers tiers;
    char why[FEE_TIERS_WHY_MAX];
    account->fee_day = day;
    if (account->closed_ns > 0)
        return;
    bool by_volume = fee_tiers_parse(account->rules.fee_tiers, &tiers, why) == 0 && tiers.n > 0;
    if (!by_volume) {
        if (account->tier_rates.maker_e6 >= 0)
            emit(engine, index, day, 0);
        return;
    }
    int64_t volume = fee_volume_before(&account->volume, day);
    struct fee_rates rates = fee_tiers_rates(&tiers, volume, account->currency_scale);
    bool others = !same(&account->rules.fees, &rates);
    if (others) {
        account->rules.fees = rates;
        reserve_again(engine, index);
    }
    if (!same(&account->tier_rates, &rates))
        emit(engine, index, day, volume);
    if (others && engine->sink.account)
        engine->sink.account(engine->sink.ctx, index);
}

void engine_fee_tiers_due(struct engine *engine)
{
    if (engine->now_ns < engine->fees_due_ns)
        return;
    int64_t day = fee_volume_day(engine->now_ns);
    for (int a = 0; a < engine->n_accounts; a++)
        if (engine->accounts[a].fee_day < day)
            take_day(engine, a, day);
    engine->fees_due_ns = (day + 1) * DAY_NS;
}

void engine_fee_tiers_again(struct engine *engine, int index)
{
    engine->accounts[index].fee_day = 0;
    engine->fees_due_ns = 0;
}

/* ---- a fill ---- */

void engine_fee_tiers_count(struct engine *engine, const struct fill *fill)
{
    struct account *account = &engine->accounts[fill->account];
    if (account->pairs[fill->symbol].quote == account->currency_at)
        fee_volume_add(&account->volume, fee_volume_day(fill->ts_ns), fill->notional);
}

void engine_fee_tiers_regulatory(const struct engine *engine, struct fill *fill)
{
    const struct symbol *symbol = &engine->markets[fill->symbol].symbol;
    if (fill->side != ORDER_SELL || !engine->accounts[fill->account].rules.regulatory_fees ||
        !fee_regulatory_concerns(symbol))
        return;
    const struct regulatory_fees fees = fee_regulatory_of_sale(
        symbol, fee_regulatory_day(fill->ts_ns), fill->qty, fill->notional, fill->notional - fill->fee);
    fill->sec_fee = fees.sec;
    fill->taf_fee = fees.taf;
    fill->fee += fees.sec + fees.taf;
}

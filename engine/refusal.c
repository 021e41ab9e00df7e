#include "engine/refusal.h"

#include <stdio.h>

#include "engine/core.h"
#include "exchange/decimal.h"
#include "exchange/filter.h"
#include "exchange/order_reason.h"
#include "exchange/order_rules.h"
#include "strategy/risk_words.h"

static void of_day_trades(const struct engine *engine, int account, const struct engine_lack *lack,
                          const char *meaning, char words[static ORDER_WORDS_MAX])
{
    struct margin_figures figures;
    char equity[DECIMAL_TEXT_MAX];
    engine_margin_figures(engine, account, &figures);
    decimal_format_short(lack->available, lack->scale, equity);
    snprintf(
        words, ORDER_WORDS_MAX,
        "%s: equity is %s %s, after %lld day trades in %d business days, of which fewer than %d make none",
        meaning, equity, lack->asset, (long long)figures.day_trades, MARGIN_DAY_TRADE_DAYS,
        MARGIN_DAY_TRADES);
}

const char *engine_refusal_lack_words(const struct engine *engine, int account, enum order_reason reason,
                                      const struct engine_lack *lack, char words[static ORDER_WORDS_MAX])
{
    const char *meaning = order_reason_words(reason);
    char needed[DECIMAL_TEXT_MAX], available[DECIMAL_TEXT_MAX], unsettled[DECIMAL_TEXT_MAX];
    if (reason == ORDER_DAY_TRADER_EQUITY) {
        of_day_trades(engine, account, lack, meaning, words);
        return words;
    }
    decimal_format_short(lack->needed, lack->scale, needed);
    decimal_format_short(lack->available > 0 ? lack->available : 0, lack->scale, available);
    int n = snprintf(words, ORDER_WORDS_MAX, "%s: %s %s needed, %s available", meaning, needed, lack->asset,
                     available);
    if (lack->unsettled > 0) {
        decimal_format_short(lack->unsettled, lack->scale, unsettled);
        snprintf(words + n, (size_t)(ORDER_WORDS_MAX - n), ", %s not settled", unsettled);
    }
    return words;
}

/* With the bounds that the order's numbers are outside of. */
static const char *of_filter(const struct engine *engine, enum order_reason reason, const struct order *legs,
                             int n_legs, char words[static ORDER_WORDS_MAX])
{
    const struct symbol *symbol = engine_symbol(engine, legs[0].symbol);
    struct filter_request request;
    int i = 0;
    do
        request = engine_filter_request(engine, &legs[i], i);
    while (filter_check(symbol, &request) != reason && ++i < n_legs);
    return filter_words(symbol, &request, reason, words);
}

/* With the limit that refused it, and its facts. */
static const char *of_risk(const struct engine *engine, enum order_reason reason, const struct order *order,
                           char words[static ORDER_WORDS_MAX])
{
    const struct account *account = &engine->accounts[order->account];
    const struct risk_units units = {engine_symbol(engine, order->symbol), account->currency,
                                     account->currency_scale};
    return risk_words(reason, &account->rules.risk, &engine->refused_by, &units, words);
}

const char *engine_refusal_words(const struct engine *engine, enum order_reason reason,
                                 const struct order *legs, int n_legs, char words[static ORDER_WORDS_MAX])
{
    struct engine_lack lack;
    if (engine_lack(engine, reason, legs, n_legs, &lack))
        return engine_refusal_lack_words(engine, legs[0].account, reason, &lack, words);
    const char *bounds = of_risk(engine, reason, &legs[0], words);
    if (!bounds)
        bounds = of_filter(engine, reason, legs, n_legs, words);
    return bounds ? bounds : order_rules_words(engine_symbol(engine, legs[0].symbol), reason);
}

const char *engine_refusal_of_amend(const struct engine *engine, enum order_reason reason,
                                    const struct order_amend *amend, char words[static ORDER_WORDS_MAX])
{
    const struct order *found = engine_find_order(engine, amend->order_id);
    if (!found)
        return NULL;
    struct order order = *found;
    if (amend->set & AMEND_QTY)
        order.qty = amend->qty;
    if (amend->set & AMEND_PRICE)
        order.price = amend->price;
    if (amend->set & AMEND_STOP)
        order.stop_price = amend->stop_price;
    const char *limit = of_risk(engine, reason, &order, words);
    return limit ? limit : of_filter(engine, reason, &order, 1, words);
}

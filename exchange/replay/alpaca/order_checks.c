/* What the venue's paper accounts refuse of an order that is well written. */
#include <stdio.h>
#include <string.h>

#include "exchange/replay/alpaca/trading_call.h"

enum { STOCK_MIN = 1, COIN_MIN = 10 }; /* dollars */

/* Cents from one dollar on, hundredths of them below. */
static bool check_increment(struct trading_call *a, const char *name, int64_t price)
{
    char message[160], text[DECIMAL_TEXT_MAX];
    if (price % (price >= MADE_E9 ? MADE_E9 / 100 : MADE_E9 / 10000) == 0)
        return true;
    decimal_format_short(price, MADE_SCALE, text);
    snprintf(message, sizeof(message),
             "invalid %s %s. sub-penny increment does not fulfill minimum pricing criteria", name, text);
    return replay_trading_refuse(a, 422, 42210000, message);
}

static bool check_stock(struct trading_call *a, const struct broker_terms *terms,
                        const struct alpaca_paper_order *own)
{
    const bool part = terms->quote || terms->qty % MADE_E9 != 0;
    if (own->extended && (terms->type != ORDER_LIMIT || !own->by_day))
        return replay_trading_refuse(a, 422, 42210000, "extended hours order must be DAY limit orders");
    if (part && (a->o->alpaca->made[0].symbols[terms->symbol].denied & MADE_NOT_FRACTIONABLE))
        return replay_trading_refuse(a, 403, 40310000, "asset is not fractionable");
    if (part && !own->by_day)
        return replay_trading_refuse(a, 422, 42210000, "fractional orders must be DAY orders");
    return check_increment(a, "limit_price", terms->price) && check_increment(a, "stop_price", terms->stop) &&
           check_increment(a, "take_profit.limit_price", own->take_profit) &&
           check_increment(a, "stop_loss.stop_price", own->stop_loss) &&
           check_increment(a, "stop_loss.limit_price", own->stop_loss_limit);
}

/* What a purchase costs at least, of twice the scale; `price`: at the market. */
static bool check_cost(struct trading_call *a, const struct broker_terms *terms, bool coins, int64_t price)
{
    const int least = coins ? COIN_MIN : STOCK_MIN;
    const int64_t at = terms->price ? terms->price : terms->stop ? terms->stop : price;
    const int128_t cost = terms->quote ? (int128_t)terms->quote * MADE_E9 : (int128_t)at * terms->qty;
    char message[96];
    if (terms->side == ORDER_SELL || (!coins && !terms->quote && terms->qty % MADE_E9 == 0) ||
        cost >= (int128_t)least * MADE_E9 * MADE_E9)
        return true;
    snprintf(message, sizeof(message), "cost basis must be >= minimal amount of order %d", least);
    return replay_trading_refuse(a, 403, 40310000, message);
}

/* Could a purchase and a sale meet? One without a limit meets all. */
static bool meet(const struct broker_terms *x, const struct broker_terms *y)
{
    const struct broker_terms *buys = x->side == ORDER_BUY ? x : y, *sells = x->side == ORDER_BUY ? y : x;
    return x->side != y->side &&
           (!order_has_limit(x->type) || !order_has_limit(y->type) || buys->price >= sells->price);
}

/* An order that could trade with one of the account's own; of a group the venue does not ask. */
static bool check_wash(struct trading_call *a, const struct broker_terms *terms,
                       const struct alpaca_paper_order *own, const struct broker_order *old)
{
    size_t n;
    if (own->class)
        return true;
    const struct broker_order *all = replay_broker_orders(a->o->broker, &n);
    for (size_t i = 0; i < n; i++)
        if (&all[i] != old && all[i].terms.account == a->account && all[i].terms.symbol == terms->symbol &&
            broker_is_open(&all[i]) && !all[i].terms.held && meet(&all[i].terms, terms))
            return replay_trading_refuse(a, 422, 42210000,
                                         "potential wash trade detected. use complex orders");
    return true;
}

/* A market order of an auction, or for the opening, reserves nothing yet: the account must have what it costs
 * by now. */
static bool check_unreserved(struct trading_call *a, const struct broker_terms *terms,
                             const struct alpaca_paper_order *own, int64_t price)
{
    const struct broker_account *account = replay_broker_account_of(a->o->broker, a->account);
    if ((!own->auction_ns && !own->opens_ns) || terms->side == ORDER_SELL || terms->price)
        return true;
    const struct broker_balance *usd = replay_broker_balance(account, "USD");
    if (usd && usd->free >= (int128_t)terms->qty * price)
        return true;
    return replay_trading_refuse(a, 403, 40310000, "insufficient buying power");
}

bool replay_trading_checks(struct trading_call *a, const struct broker_terms *terms,
                           const struct alpaca_paper_order *own, const struct broker_order *old)
{
    const struct made_symbol *symbol = &a->o->alpaca->made[0].symbols[terms->symbol];
    const bool coins = symbol->class == MADE_CRYPTO;
    const char *slash = strchr(symbol->name, '/');
    if (!coins && !check_stock(a, terms, own))
        return false;
    /* Without keys a client's first order may be small. */
    if (a->o->alpaca->key_id && (!slash || strcmp(slash + 1, "USD") == 0) &&
        !check_cost(a, terms, coins, replay_alpaca_price(a->o, terms->symbol)))
        return false;
    return check_unreserved(a, terms, own, replay_alpaca_price(a->o, terms->symbol)) &&
           check_wash(a, terms, own, old);
}

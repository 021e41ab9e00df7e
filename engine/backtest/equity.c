#include "engine/backtest/equity.h"

#include <string.h>

#include "exchange/decimal.h"
#include "exchange/fill_rules.h"

void backtest_equity_begin(struct backtest_equity *equity, const struct market *market,
                           const struct backtest *backtest, const struct account_spec *accounts, int account)
{
    const struct account_spec *spec = &accounts[account];
    *equity = (struct backtest_equity){.market = market,
                                       .backtest = backtest,
                                       .account = &backtest->accounts[account],
                                       .spec = spec,
                                       .row = backtest->from,
                                       .most = decimal_to_double(FILL_MONEY_MAX, spec->currency_scale),
                                       .peak = spec->cash};
}

/* The currency's balance after the rows of the ledger up to a time. */
static int64_t cash_at(struct backtest_equity *equity, int64_t ts_ns)
{
    const struct backtest_account *account = equity->account;
    for (; equity->next < account->n_ledger && account->ledger[equity->next].ts_ns <= ts_ns; equity->next++)
        if (strcmp(account->ledger[equity->next].asset, equity->spec->currency) == 0)
            equity->cash = account->ledger[equity->next].balance;
    return equity->cash;
}

bool backtest_equity_next(struct backtest_equity *equity, struct backtest_point *ret)
{
    int scale = equity->spec->currency_scale;
    int64_t units = 0;
    if (equity->row >= equity->backtest->to)
        return false;
    double worth = equity->account->equity[equity->row - equity->backtest->from];
    if (worth >= equity->most || decimal_from_double(worth, scale, &units) < 0)
        units = FILL_MONEY_MAX;
    equity->peak = units > equity->peak ? units : equity->peak;
    ret->ts_ns = market_open_ns(equity->market, ++equity->row);
    ret->equity = units;
    ret->cash = cash_at(equity, ret->ts_ns);
    ret->peak = equity->peak;
    return true;
}

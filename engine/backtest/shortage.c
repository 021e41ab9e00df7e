/* Orders that were refused for their quantity: was it the cash, or the lot? */
#include "engine/backtest/run.h"
#include "exchange/fill_rules.h"
#include "exchange/filter.h"

static void count(struct backtest_shortage *shortage, int symbol, int n)
{
    if (shortage->n == 0)
        shortage->symbol = symbol;
    shortage->others |= shortage->symbol != symbol;
    shortage->n += (uint64_t)n;
}

void backtest_run_refused(struct backtest_account *account, enum order_reason reason, int n,
                          const struct run_refusal *refusal)
{
    const struct symbol *listed = refusal->listed;
    account->refused[reason] += (uint64_t)n;
    if (reason == ORDER_LOT_SIZE || reason == ORDER_MARKET_LOT_SIZE) {
        count(&account->short_of_lot, refusal->symbol, n);
        return;
    }
    if (reason != ORDER_BAD_QTY)
        return;
    int32_t fee_e6 = fee_rates_most_e6(account_fees(&refusal->spec->rules, listed));
    int64_t step = listed->filters.step, least = listed->filters.qty_min;
    int64_t cost = refusal->last > 0 ? fill_purchase(refusal->last, least > step ? least : step,
                                                     filter_notional_unit(listed), fee_e6)
                                     : 0;
    bool cash = refusal->free_cash < cost && refusal->spec->cash >= cost;
    count(cash ? &account->short_of_cash : &account->short_of_lot, refusal->symbol, n);
}

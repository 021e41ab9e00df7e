/* Groups fills into trades: from flat to flat, of one symbol each, through splits and dividends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/run.h"
#include "exchange/decimal.h"
#include "exchange/filter.h"

/* A trade that is not over yet, of one symbol. */
struct open_trade {
    struct backtest_trade trade;
    int64_t held; /* qty_scale; negative: short */
};

static size_t row_of(const struct market *market, int64_t ts_ns)
{
    return (size_t)((ts_ns - market->start_ns) / market->interval_ns);
}

static int64_t share(int64_t whole, int64_t part, int64_t of)
{
    if (part == 0)
        return 0;
    return part == of ? whole : (int64_t)((int128_t)whole * part / of);
}

/* Adds a part of a fill to a trade. */
static void take(struct open_trade *open, const struct fill *fill, int64_t qty, int64_t notional, int64_t fee)
{
    struct backtest_trade *trade = &open->trade;
    open->held += fill->side == ORDER_BUY ? qty : -qty;
    int64_t *sum = fill->side == ORDER_BUY ? &trade->cost : &trade->proceeds;
    if (__builtin_add_overflow(*sum, notional, sum))
        *sum = INT64_MAX;
    trade->fees += fee;
    if (llabs(open->held) > llabs(trade->qty))
        trade->qty = open->held;
}

static void begin(struct open_trade *open, const struct market *market, const struct fill *fill)
{
    *open = (struct open_trade){.trade = {.symbol = fill->symbol,
                                          .entry_row = row_of(market, fill->ts_ns),
                                          .exit_row = 0,
                                          .entry_ns = fill->ts_ns,
                                          .exit_ns = 0,
                                          .qty = 0,
                                          .cost = 0,
                                          .proceeds = 0,
                                          .dividends = 0,
                                          .fees = 0,
                                          .profit = 0},
                                .held = 0};
}

/* worth: of what is still held. */
static void end(struct open_trade *open, struct backtest_account *account, size_t row, int64_t ts_ns,
                int128_t worth)
{
    struct backtest_trade *trade = &open->trade;
    trade->exit_row = row;
    trade->exit_ns = ts_ns;
    int128_t profit = worth + trade->proceeds - trade->cost + trade->dividends - trade->fees;
    trade->profit = profit > INT64_MAX ? INT64_MAX : profit < INT64_MIN ? INT64_MIN : (int64_t)profit;
    account->trades[account->n_trades++] = *trade;
}

/* A fill through zero ends one trade and starts the next; what it closes gets its share of notional and
 * fee, rounded down. */
static void take_fill(struct open_trade *open, struct backtest_account *account, const struct market *market,
                      const struct fill *fill)
{
    int64_t against = fill->side == ORDER_BUY ? -open->held : open->held;
    int64_t closes = against <= 0 ? 0 : against < fill->qty ? against : fill->qty;
    int64_t notional = share(fill->notional, closes, fill->qty), fee = share(fill->fee, closes, fill->qty);
    if (closes > 0) {
        take(open, fill, closes, notional, fee);
        if (open->held == 0)
            end(open, account, row_of(market, fill->ts_ns), fill->ts_ns, 0);
    }
    if (closes == fill->qty)
        return;
    if (open->held == 0)
        begin(open, market, fill);
    take(open, fill, fill->qty - closes, fill->notional - notional, fill->fee - fee);
}

/* Quantities are in new shares from here on; what rounds to nothing ends the trade. */
static void take_action(struct open_trade *open, struct backtest_account *account,
                        const struct market *market, const struct backtest_taken *taken)
{
    struct backtest_trade *trade = &open->trade;
    if (open->held == 0)
        return;
    trade->dividends += taken->paid;
    if (taken->change == 0)
        return;
    if (open->held + taken->change != 0)
        trade->qty = share(trade->qty, open->held + taken->change, open->held);
    open->held += taken->change;
    if (open->held == 0)
        end(open, account, row_of(market, taken->ts_ns), taken->ts_ns, 0);
}

/* Values trades that are open at the end at the last close, as the account's equity is. */
static void value(struct open_trade *open, struct backtest_account *account, const struct market *market,
                  size_t to)
{
    const struct market_series *series = &market->series[open->trade.symbol];
    int64_t unit = filter_notional_unit(&series->symbol), price = 0;
    decimal_from_double(series->close[to - 1], series->symbol.price_scale, &price);
    int128_t worth = (int128_t)price * open->held;
    end(open, account, to, 0, worth < 0 ? -((unit - 1 - worth) / unit) : worth / unit);
}

const struct backtest_taken *backtest_taken_next(const struct backtest_account *account, size_t n_fills,
                                                 int64_t before_ns, size_t *next)
{
    if (*next == account->n_taken || account->taken[*next].n_fills > n_fills ||
        account->taken[*next].ts_ns >= before_ns)
        return NULL;
    return &account->taken[(*next)++];
}

static void take_actions(struct open_trade *open, struct backtest_account *account,
                         const struct market *market, size_t n_fills, size_t *next)
{
    const struct backtest_taken *taken;
    while ((taken = backtest_taken_next(account, n_fills, INT64_MAX, next)))
        take_action(&open[taken->symbol], account, market, taken);
}

int backtest_trades_sum(const struct backtest_config *config, struct backtest_account *account)
{
    const struct market *market = config->market;
    /* A fill through zero makes two trades, any other starts one at most. */
    struct open_trade *open = calloc((size_t)market->n_symbols, sizeof *open);
    account->trades = malloc((account->n_fills + 1) * sizeof *account->trades);
    if (!open || !account->trades) {
        free(open);
        return -ENOMEM;
    }
    size_t taken = 0;
    for (size_t i = 0; i < account->n_fills; i++) {
        take_actions(open, account, market, i, &taken);
        const struct fill *fill = &account->fills[i];
        account->fees += fill->fee;
        account->turnover += fill->notional;
        take_fill(&open[fill->symbol], account, market, fill);
    }
    take_actions(open, account, market, account->n_fills, &taken);
    for (int s = 0; s < market->n_symbols; s++)
        if (open[s].held != 0)
            value(&open[s], account, market, config->to);
    free(open);
    return 0;
}

#include "trainer/command/replay_trades.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exchange/decimal.h"
#include "exchange/filter.h"

struct replay_trades {
    FILE *file;
    const struct env_market *env_market;
    const struct market *bars;
    bool reference;
};

static void print_decimal(FILE *file, int64_t units, int scale)
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format(units, scale, text);
    fprintf(file, "%s,", text);
}

/* Whole units, as the account counts them. */
static void print_whole(const struct replay_trades *trades, const struct env_trade *trade)
{
    const struct symbol *symbol = &trades->bars->series[trade->asset].symbol;
    const struct policy_symbol *units = &env_market_view(trades->env_market)->symbols[trade->asset];
    enum order_side side = trade->qty < 0 ? ORDER_SELL : ORDER_BUY;
    int64_t price = llrint(trade->price * units->price_units);
    int64_t qty = llrint(fabs(trade->qty) * units->qty_units) * units->quantum;
    print_decimal(trades->file, price, symbol->price_scale);
    print_decimal(trades->file, qty, symbol->qty_scale);
    print_decimal(trades->file, fill_notional(side, price, qty, filter_notional_unit(symbol)),
                  symbol->quote_scale);
    print_decimal(trades->file, llrint(trade->fee * units->money_units), symbol->quote_scale);
}

void trainer_replay_trades_write(const struct replay_trades *trades, const struct env_trade *trade)
{
    int64_t ts_ns = env_market_open_ns(trades->env_market, (size_t)trade->row);
    bool at_open = trade->at_open && !trades->reference;
    if (!at_open)
        ts_ns += trades->bars->interval_ns - 1;
    fprintf(trades->file, "%" PRId64 ",%s,%s,", ts_ns, trades->bars->series[trade->asset].symbol.name,
            order_side_name(trade->qty < 0 ? ORDER_SELL : ORDER_BUY));
    if (trades->reference) {
        double qty = fabs(trade->qty);
        fprintf(trades->file, "%.15g,%.15g,%.15g,%.15g,", trade->price, qty, qty * trade->price, trade->fee);
    } else {
        print_whole(trades, trade);
    }
    fprintf(trades->file, "%s\n", trades->reference ? "close" : at_open ? "open" : "stop");
}

static void on_trade(void *ctx, size_t copy, const struct env_trade *trade)
{
    (void)copy;
    trainer_replay_trades_write(ctx, trade);
}

int trainer_replay_trades_create(const char *path, const struct env_market *env_market,
                                 const struct market *bars, bool reference, struct replay_trades **ret)
{
    struct replay_trades *trades = malloc(sizeof(*trades));
    if (!trades)
        return -ENOMEM;
    *trades = (struct replay_trades){fopen(path, "we"), env_market, bars, reference};
    if (!trades->file) {
        int r = -errno;
        free(trades);
        return r;
    }
    fputs("ts_ns,symbol,side,price,qty,notional,fee,kind\n", trades->file);
    *ret = trades;
    return 0;
}

int trainer_replay_trades_open(const char *path, struct env *env, const struct env_market *env_market,
                               const struct market *bars, bool reference, struct replay_trades **ret)
{
    struct replay_trades *trades;
    int r = trainer_replay_trades_create(path, env_market, bars, reference, &trades);
    if (r < 0)
        return r;
    r = env_trades(env, on_trade, trades);
    if (r < 0) {
        trainer_replay_trades_destroy(trades);
        return r;
    }
    *ret = trades;
    return 0;
}

int trainer_replay_trades_close(struct replay_trades *trades, struct env *env)
{
    env_trades(env, NULL, NULL);
    return trainer_replay_trades_destroy(trades);
}

int trainer_replay_trades_destroy(struct replay_trades *trades)
{
    int r = ferror(trades->file) ? -EIO : 0;
    if (fclose(trades->file) != 0 && r == 0)
        r = -errno;
    free(trades);
    return r;
}

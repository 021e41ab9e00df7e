#include "trainer/command/replay_trades.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct replay_trades {
    FILE *file;
    const struct env_market *market;
    const char *const *names;
    bool reference;
};

static void print_trade(void *ctx, size_t copy, const struct env_trade *trade)
{
    struct replay_trades *trades = ctx;
    int64_t open_ns = env_market_open_ns(trades->market, (size_t)trade->row);
    time_t s = (time_t)(open_ns / 1000000000);
    struct tm tm;
    char at[32];
    (void)copy;
    gmtime_r(&s, &tm);
    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", &tm);
    fprintf(trades->file, "%s,%s,%s,%.15g,%.15g,%.15g,%s\n", at, trades->names[trade->asset],
            trade->qty < 0 ? "sell" : "buy", fabs(trade->qty), trade->price, trade->fee,
            trades->reference ? "close"
            : trade->at_open  ? "open"
                              : "stop");
}

int replay_trades_open(const char *path, struct env *env, const struct env_market *market,
                       const char *const names[], bool reference, struct replay_trades **ret)
{
    struct replay_trades *trades = malloc(sizeof(*trades));
    if (!trades)
        return -ENOMEM;
    *trades = (struct replay_trades){fopen(path, "we"), market, names, reference};
    int r = trades->file ? env_trades(env, print_trade, trades) : -errno;
    if (r < 0) {
        if (trades->file)
            fclose(trades->file);
        free(trades);
        return r;
    }
    fputs("time,symbol,side,qty,price,fee,kind\n", trades->file);
    *ret = trades;
    return 0;
}

int replay_trades_close(struct replay_trades *trades, struct env *env)
{
    int r = ferror(trades->file) ? -EIO : 0;
    env_trades(env, NULL, NULL);
    if (fclose(trades->file) != 0 && r == 0)
        r = -errno;
    free(trades);
    return r;
}

#include "tui/statistics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"

/* A trade that may be open, of one account and symbol. */
struct running {
    int account, symbol;
    int64_t qty;
    int128_t flow; /* sales less purchases less fees since it began, quote units */
};

struct of_account {
    int number;
    char name[ACCOUNT_NAME_MAX];
    struct trade_statistics sums;
};

struct statistics {
    struct running *running;
    struct of_account *accounts;
    int n_running, n_accounts;
    uint64_t last;
};

struct statistics *statistics_create(void)
{
    return calloc(1, sizeof(struct statistics));
}

void statistics_destroy(struct statistics *statistics)
{
    if (!statistics)
        return;
    free(statistics->running);
    free(statistics->accounts);
    free(statistics);
}

uint64_t statistics_last(const struct statistics *statistics)
{
    return statistics->last;
}

static struct of_account *account_of(struct statistics *s, const struct db_account *account)
{
    for (int i = 0; i < s->n_accounts; i++)
        if (s->accounts[i].number == account->number)
            return &s->accounts[i];
    struct of_account *moved = realloc(s->accounts, (size_t)(s->n_accounts + 1) * sizeof(*moved));
    if (!moved)
        return NULL;
    s->accounts = moved;
    struct of_account *new = &moved[s->n_accounts++];
    *new = (struct of_account){.number = account->number, .sums = {.best = NAN, .worst = NAN}};
    memcpy(new->name, account->name, sizeof(new->name));
    return new;
}

static struct running *running_of(struct statistics *s, int account, int symbol)
{
    for (int i = 0; i < s->n_running; i++)
        if (s->running[i].account == account && s->running[i].symbol == symbol)
            return &s->running[i];
    struct running *moved = realloc(s->running, (size_t)(s->n_running + 1) * sizeof(*moved));
    if (!moved)
        return NULL;
    s->running = moved;
    moved[s->n_running] = (struct running){.account = account, .symbol = symbol};
    return &moved[s->n_running++];
}

static void close_trade(struct trade_statistics *sums, struct running *running, int scale)
{
    double made = decimal_to_double(running->flow, scale);
    sums->trades++;
    sums->open--;
    if (running->flow > 0) {
        sums->wins++;
        sums->won += made;
        sums->losing = 0;
    } else {
        sums->lost -= made;
        if (++sums->losing > sums->longest)
            sums->longest = sums->losing;
    }
    sums->best = fmax(sums->best, made); /* fmax() and fmin() pass a NaN over */
    sums->worst = fmin(sums->worst, made);
    running->flow = 0;
}

int statistics_fill(struct statistics *s, const struct db_fill_row *row)
{
    const struct fill *fill = &row->fill;
    int scale = row->symbol->symbol.quote_scale;
    struct of_account *account = account_of(s, row->account);
    struct running *running = account ? running_of(s, fill->account, (int)row->symbol->id) : NULL;
    if (!running)
        return -ENOMEM;

    struct trade_statistics *sums = &account->sums;
    int64_t signed_qty = fill->side == ORDER_BUY ? fill->qty : -fill->qty;
    int128_t flow = (fill->side == ORDER_BUY ? -(int128_t)fill->notional : fill->notional) - fill->fee;
    int64_t before = running->qty, after = before + signed_qty;
    bool turns = (before > 0 && after < 0) || (before < 0 && after > 0);
    /* A fill that turns the position closes one trade and begins another: each has its part of the money. */
    int128_t closing = turns ? flow * (before < 0 ? -before : before) / fill->qty : 0;

    if (before == 0 && after != 0)
        sums->open++;
    if (turns) {
        running->flow += closing;
        close_trade(sums, running, scale);
        sums->open++;
    }
    running->flow += flow - closing;
    running->qty = after;
    if (after == 0 && before != 0)
        close_trade(sums, running, scale);
    sums->fills++;
    sums->fees += decimal_to_double(fill->fee, scale);
    s->last = fill->id;
    return 0;
}

void statistics_of(const struct statistics *statistics, const char *account, struct trade_statistics *ret)
{
    *ret = (struct trade_statistics){.best = NAN, .worst = NAN};
    for (int i = 0; i < statistics->n_accounts; i++)
        if (strcmp(statistics->accounts[i].name, account) == 0)
            *ret = statistics->accounts[i].sums;
}

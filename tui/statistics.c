#include "tui/statistics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"
#include "strategy/record.h"

/* A trade that may be open, of one account and symbol. */
struct running_trade {
    int account, symbol;
    int64_t held;
    struct record_keeper keeper;
};

struct of_account {
    int number;
    char name[ACCOUNT_NAME_MAX];
    struct trade_statistics sums;
};

struct statistics {
    struct running_trade *running;
    struct of_account *accounts;
    int n_running, n_accounts;
    uint64_t last;
    int64_t last_ns;
};

struct statistics *tui_statistics_create(void)
{
    return calloc(1, sizeof(struct statistics));
}

void tui_statistics_destroy(struct statistics *statistics)
{
    if (!statistics)
        return;
    free(statistics->running);
    free(statistics->accounts);
    free(statistics);
}

uint64_t tui_statistics_last(const struct statistics *statistics)
{
    return statistics->last;
}

int64_t tui_statistics_last_ns(const struct statistics *statistics)
{
    return statistics->last_ns;
}

static void *copy_rows(const void *rows, int n, size_t size)
{
    void *made = malloc(n > 0 ? (size_t)n * size : size);

    if (made && n > 0)
        memcpy(made, rows, (size_t)n * size);
    return made;
}

struct statistics *tui_statistics_copy(const struct statistics *from)
{
    struct statistics *made = tui_statistics_create();

    if (!made)
        return NULL;
    *made = *from;
    made->running = copy_rows(from->running, from->n_running, sizeof(*from->running));
    made->accounts = copy_rows(from->accounts, from->n_accounts, sizeof(*from->accounts));
    if (made->running && made->accounts)
        return made;
    tui_statistics_destroy(made);
    return NULL;
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

static struct running_trade *running_of(struct statistics *s, int account, int symbol)
{
    for (int i = 0; i < s->n_running; i++)
        if (s->running[i].account == account && s->running[i].symbol == symbol)
            return &s->running[i];
    struct running_trade *moved = realloc(s->running, (size_t)(s->n_running + 1) * sizeof(*moved));
    if (!moved)
        return NULL;
    s->running = moved;
    moved[s->n_running] = (struct running_trade){.account = account, .symbol = symbol};
    return &moved[s->n_running++];
}

static void close_trade(struct trade_statistics *sums, double profit)
{
    sums->trades++;
    if (profit > 0) {
        sums->wins++;
        sums->won += profit;
        sums->losing = 0;
    } else {
        sums->lost -= profit;
        if (++sums->losing > sums->longest)
            sums->longest = sums->losing;
    }
    sums->best = fmax(sums->best, profit); /* fmax() and fmin() pass a NaN over */
    sums->worst = fmin(sums->worst, profit);
}

int tui_statistics_fill(struct statistics *s, const struct db_fill_row *row)
{
    const struct fill *fill = &row->fill;
    int scale = row->symbol->symbol.quote_scale;
    struct of_account *account = account_of(s, row->account);
    struct running_trade *running = account ? running_of(s, fill->account, (int)row->symbol->id) : NULL;
    int64_t profit;
    if (!running)
        return -ENOMEM;

    struct trade_statistics *sums = &account->sums;
    int64_t held = running->held;
    if (strategy_record_fill(&running->keeper, fill->side, fill_moves(fill), fill->notional, fill->fee, held,
                             scale, &profit))
        close_trade(sums, decimal_to_double(profit, scale));
    running->held += fill->side == ORDER_BUY ? fill_moves(fill) : -fill->qty;
    sums->open += (running->held != 0) - (held != 0);
    sums->fills++;
    sums->fees += decimal_to_double(fill->fee, scale);
    s->last = fill->id;
    s->last_ns = fill->ts_ns;
    return 0;
}

void tui_statistics_of(const struct statistics *statistics, const char *account, struct trade_statistics *ret)
{
    *ret = (struct trade_statistics){.best = NAN, .worst = NAN};
    for (int i = 0; i < statistics->n_accounts; i++)
        if (strcmp(statistics->accounts[i].name, account) == 0)
            *ret = statistics->accounts[i].sums;
}

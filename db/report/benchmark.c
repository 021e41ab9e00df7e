/* Buying and holding instead: equal parts of several symbols, hour by hour beside the account. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/report/internal.h"

/* What one part of the money is worth at each hour's end; 1 until its symbol's first bar. */
struct held_part {
    const struct report_curve *curve;
    double *worth;      /* [n_hours] */
    double bought, fee; /* the price, 0 before; the fee's rate */
    size_t hour, bars;  /* up to here it is filled; bars so far */
    double now;
};

static void fill_to(struct held_part *part, int64_t end_ns)
{
    /* A bar that ends with an hour is of that hour. */
    int64_t hour = (end_ns - 1) / REPORT_HOUR_NS - part->curve->first_hour;
    for (; part->hour < part->curve->n_hours && (int64_t)part->hour < hour; part->hour++)
        part->worth[part->hour] = part->now;
}

static void take_bar(void *ctx, int64_t open, int64_t close, int64_t end_ns)
{
    struct held_part *part = ctx;
    fill_to(part, end_ns);
    part->bars++;
    if (part->bought == 0)
        part->bought = (double)open;
    part->now = (double)close / part->bought / (1 + part->fee);
}

/* Bought at the price at the beginning, else at the first bar's opening. 1: it is held; 0: the symbol has no
 * bar in the period. */
static int hold(struct report_prices *prices, const struct report_curve *curve,
                const struct db_symbol_row *symbol, const struct db_report_account *account, double *worth)
{
    struct held_part part = {.curve = curve,
                             .worth = worth,
                             .fee = account_fees(&account->account.rules, &symbol->symbol)->taker_e6 / 1e6,
                             .now = 1};
    int64_t price;
    int r = db_report_price(prices, symbol->id, curve->start_ns, account->to_ns, &price);
    part.bought = (double)price;
    r = r < 0 ? r
              : db_report_prices_each(prices, symbol->id, curve->start_ns, account->to_ns, account->to_ns,
                                      take_bar, &part);
    if (r < 0 || part.bought == 0)
        return r;
    for (; part.hour < curve->n_hours; part.hour++)
        worth[part.hour] = part.now;
    return part.bars > 0;
}

static bool is_traded(const struct db_report_account *account, const struct symbol *symbol)
{
    for (size_t i = 0; i < account->n_symbols; i++)
        if (strcmp(account->symbols[i].symbol.name, symbol->name) == 0 &&
            strcmp(account->symbols[i].symbol.venue, symbol->venue) == 0)
            return true;
    return false;
}

/* Sums of parts, and how many there are. */
struct sum {
    double *worth; /* [n_hours] */
    size_t n;
};

static void add_part(struct sum *sum, const double *worth, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum->worth[i] += worth[i];
    sum->n++;
}

static void measure(struct sum *sum, const struct report_curve *curve, struct db_report_benchmark *ret)
{
    ret->symbols = sum->n;
    ret->against = (struct metrics_against){NAN, NAN};
    ret->metrics =
        (struct metrics){.total_return = NAN, .max_drawdown = NAN, .volatility = NAN, .sharpe = NAN};
    for (size_t i = 0; i < curve->n_hours && sum->n > 0; i++)
        sum->worth[i] /= (double)sum->n;
    if (sum->n == 0 || curve->n_hours == 0)
        return;
    const double periods = metrics_periods_per_year(REPORT_HOUR_NS);
    const struct metrics_series held = metrics_equity(1, sum->worth, curve->n_hours);
    const struct metrics_series own = metrics_returns(curve->hours, curve->n_hours);
    metrics_compute(&held, periods, &ret->metrics);
    if (curve->n_hours >= REPORT_HOURS_LEAST)
        metrics_against(&own, &held, periods, &ret->against);
    else
        ret->metrics.volatility = ret->metrics.sharpe = NAN;
}

static int add_symbol(struct report_prices *prices, const struct report_curve *curve,
                      struct db_report_account *account, const struct db_symbol_row *symbol, double *worth,
                      struct sum sums[static 2])
{
    if (strcmp(symbol->symbol.quote, account->account.currency) != 0)
        return 0;
    int r = hold(prices, curve, symbol, account, worth);
    if (r <= 0)
        return r;
    add_part(&sums[0], worth, curve->n_hours);
    if (is_traded(account, &symbol->symbol))
        add_part(&sums[1], worth, curve->n_hours);
    return 0;
}

int db_report_benchmarks(struct report_prices *prices, const struct report_curve *curve,
                         struct db_report_account *account)
{
    const size_t n = curve->n_hours;
    double *room = calloc(3 * n + 1, sizeof *room);
    struct sum sums[2] = {{room, 0}, {room + n, 0}};
    int r = room ? 0 : -ENOMEM;
    for (size_t i = 0; i < prices->reader->n_symbols && r == 0 && n > 0; i++) {
        const struct db_symbol_row symbol = prices->reader->symbols[i];
        r = add_symbol(prices, curve, account, &symbol, room + 2 * n, sums);
    }
    if (r == 0) {
        measure(&sums[0], curve, &account->streamed);
        measure(&sums[1], curve, &account->traded);
    }
    free(room);
    return r;
}

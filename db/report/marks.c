/* What a page draws of trades: closed ones one by one, purchases and sales, and prices under them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/report/internal.h"
#include "report/thin.h"

static double price_of(int128_t notional, const struct symbol *symbol, int64_t qty)
{
    return decimal_to_double(notional, symbol->quote_scale) / decimal_to_double(qty, symbol->qty_scale);
}

/* The newest DB_REPORT_TRIPS_MAX, the oldest of which makes room. */
int db_report_trip_closed(void *ctx, const struct report_holding *row, const struct report_fill *fill,
                          int64_t profit)
{
    struct report_walk *walk = ctx;
    struct db_report_account *account = db_report_account_of(walk, row->account);
    const struct report_trip *trip = &row->trip;
    const struct db_symbol_row *symbol;
    int r = account ? db_reader_symbol_id(walk->prices->reader, row->symbol, &symbol) : 0;
    if (!account || r < 0 || !symbol || trip->entered == 0 || trip->left == 0)
        return r;
    if (!account->trips && !(account->trips = calloc(DB_REPORT_TRIPS_MAX, sizeof *account->trips)))
        return -ENOMEM;
    struct db_report_trip made = {.symbol = symbol->symbol,
                                  .is_short = fill->side == ORDER_BUY,
                                  .opened_ns = row->opened_ns,
                                  .closed_ns = fill->ts_ns,
                                  .qty = trip->entered,
                                  .profit = profit,
                                  .fees = row->position.fees - row->opened_fees,
                                  .entry = price_of(trip->entry, &symbol->symbol, trip->entered),
                                  .exit = price_of(trip->exit, &symbol->symbol, trip->left)};
    memcpy(made.source, walk->sources[trip->source], sizeof made.source);
    account->trips[account->n_trips++ % DB_REPORT_TRIPS_MAX] = made;
    return 0;
}

/* ---- marks ---- */

static struct db_report_market_chart *chart_of(struct db_report_account *account, int64_t id)
{
    for (size_t i = 0; i < account->n_charts; i++)
        if (account->charts[i].id == id)
            return &account->charts[i];
    if (account->n_charts == DB_REPORT_CHARTS_MAX)
        return NULL;
    if (!account->charts && !(account->charts = calloc(DB_REPORT_CHARTS_MAX, sizeof *account->charts)))
        return NULL;
    account->charts[account->n_charts].id = id;
    return &account->charts[account->n_charts++];
}

static int push(struct db_report_points *points, int64_t ns, double price)
{
    if (!points->x) {
        points->x = calloc(DB_REPORT_POINTS_MAX, sizeof *points->x);
        points->y = calloc(DB_REPORT_POINTS_MAX, sizeof *points->y);
        if (!points->x || !points->y)
            return -ENOMEM;
    }
    if (points->n == DB_REPORT_POINTS_MAX)
        return 0;
    points->x[points->n] = ns;
    points->y[points->n++] = price;
    return 0;
}

/* The newest fills of the period, the newest first. */
static int read_fills(struct db_reader *reader, struct db_report_account *account)
{
    sqlite3_stmt *stmt;
    int64_t symbol, ts_ns, price, is_buy;
    const struct db_symbol_row *of;
    int r = db_query(
        reader,
        "SELECT symbol, ts_ns, price, side = 'BUY' FROM fills WHERE account = ?1 AND ts_ns >= ?2 AND "
        "ts_ns < ?3 ORDER BY id DESC LIMIT ?4",
        RECORD_PARAMS(account->account.number, account->from_ns, account->to_ns,
                      (int64_t)DB_REPORT_POINTS_MAX),
        &stmt);
    while (r >= 0 && (r = db_query_next(reader, stmt, RECORD_INTO(&symbol, &ts_ns, &price, &is_buy))) > 0) {
        struct db_report_market_chart *chart = chart_of(account, symbol);
        if (!chart)
            continue;
        r = db_reader_symbol_id(reader, symbol, &of);
        if (r < 0 || !of)
            break;
        chart->symbol = of->symbol;
        if (push(is_buy ? &chart->buys : &chart->sells, ts_ns,
                 decimal_to_double(price, of->symbol.price_scale)) < 0)
            r = -ENOMEM;
    }
    return db_query_end(stmt, r);
}

/* Marks are drawn in the order of their times. */
static void turn(struct db_report_points *points)
{
    for (size_t i = 0; i < points->n / 2; i++) {
        size_t k = points->n - 1 - i;
        int64_t x = points->x[i];
        double y = points->y[i];
        points->x[i] = points->x[k];
        points->y[i] = points->y[k];
        points->x[k] = x;
        points->y[k] = y;
    }
}

/* ---- prices ---- */

struct pricing {
    struct db_report_market_chart *chart;
    struct report_growth growth;
    int r;
};

static void take_price(void *ctx, int64_t open, int64_t close, int64_t end_ns)
{
    struct pricing *pricing = ctx;
    struct db_report_points *points = &pricing->chart->closes;
    bool halves;
    (void)open;
    if (pricing->r < 0 || !report_growth_next(&pricing->growth, &halves))
        return;
    if (halves) {
        for (size_t i = 0; 2 * i < points->n; i++) {
            points->x[i] = points->x[2 * i];
            points->y[i] = points->y[2 * i];
        }
        points->n /= 2;
    }
    pricing->r = push(points, end_ns, decimal_to_double(close, pricing->chart->symbol.price_scale));
}

int db_report_marks(struct report_prices *prices, struct db_report_account *account)
{
    int r = read_fills(prices->reader, account);
    for (size_t i = 0; i < account->n_charts && r == 0; i++) {
        struct pricing pricing = {&account->charts[i], report_growth_of(DB_REPORT_POINTS_MAX), 0};
        turn(&account->charts[i].buys);
        turn(&account->charts[i].sells);
        r = db_report_prices_each(prices, account->charts[i].id, account->from_ns, account->to_ns,
                                  REPORT_AS_TRADED, take_price, &pricing);
        r = r < 0 ? r : pricing.r;
        for (size_t k = 0; k < prices->n_splits; k++)
            account->charts[i].splits += prices->splits[k].symbol == account->charts[i].id &&
                                         prices->splits[k].ts_ns >= account->from_ns &&
                                         prices->splits[k].ts_ns < account->to_ns;
    }
    return r;
}

static void points_finish(struct db_report_points *points)
{
    free(points->x);
    free(points->y);
}

void db_report_marks_finish(struct db_report_account *account)
{
    for (size_t i = 0; i < account->n_charts; i++) {
        points_finish(&account->charts[i].closes);
        points_finish(&account->charts[i].buys);
        points_finish(&account->charts[i].sells);
    }
    free(account->charts);
    free(account->trips);
}

#include "db/backtest.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/books.h"
#include "db/holdings.h"
#include "db/writer.h"
#include "engine/backtest/audit.h"
#include "exchange/decimal.h"

enum {
    ROWS_A_GROUP = 4096,
    GROUPS_A_FLUSH = 16,
    LOOK_MS = 200, /* how often a waiting flush checks whether storing fails */
};

static const int64_t DAY_NS = INT64_C(86400) * 1000000000;

struct save {
    struct db_writer *writer;
    const struct backtest *backtest;
    const struct market *market;
    const struct account_spec *accounts;
    const char *calendar;
    struct backtest_rows rows;
    struct db_holdings holdings;
    size_t put; /* rows of the open group, and of those before it since the last flush */
    int r;
    atomic_bool failed;     /* storing has; then … */
    char why[DB_ERROR_MAX]; /* … says the first reason */
};

/* On the writer's thread: the first reason is the cause, later ones follow from it. */
static void note_state(void *ctx, bool ok, const char *detail)
{
    struct save *save = ctx;
    if (ok || atomic_load(&save->failed))
        return;
    snprintf(save->why, sizeof save->why, "%s", detail);
    atomic_store(&save->failed, true);
}

/* Waits until all that was put is stored, however long that takes, or storing fails. */
static int flush(struct save *save)
{
    int r = -ETIMEDOUT;
    while (r == -ETIMEDOUT && !atomic_load(&save->failed))
        r = db_writer_flush(save->writer, LOOK_MS);
    return r == -ETIMEDOUT ? -EIO : r;
}

/* Ends the writer; on failure err has the cause. */
static int close_writer(struct save *save, char *err, size_t err_size)
{
    struct db_writer_stats stats;
    if (save->r == 0)
        save->r = flush(save);
    db_writer_stats(save->writer, &stats);
    snprintf(err, err_size, "out of memory");
    int r = db_writer_close(save->writer, 0, err, err_size);
    if (atomic_load(&save->failed) && (save->r < 0 || r < 0))
        snprintf(err, err_size, "%llu rows could not be stored: %s", (unsigned long long)stats.queued,
                 save->why);
    return save->r < 0 ? save->r : r;
}

/* After each row: groups are kept short, and so is what waits for the disk. */
static void next(struct save *save, uint64_t ticket)
{
    if (ticket == 0)
        save->r = -ENOMEM;
    if (++save->put % ROWS_A_GROUP != 0)
        return;
    db_writer_group_end(save->writer);
    if (save->put % (ROWS_A_GROUP * GROUPS_A_FLUSH) == 0 && save->r == 0)
        save->r = flush(save);
    db_writer_group_begin(save->writer);
}

/* Those that took effect before the account's fill of that index, into what it holds. */
static void take_splits(struct save *save, int account, size_t n_fills, size_t *next)
{
    const struct backtest_account *of = &save->backtest->accounts[account];
    const struct backtest_taken *taken;
    while (save->r == 0 && (taken = backtest_taken_next(of, n_fills, INT64_MAX, next))) {
        const struct corporate_action *action = &taken->action;
        const struct stock_split split = {action->shares, action->per, action->ex_ns};
        struct db_holding *holding = action->kind == ACTION_SPLIT && taken->change != 0
                                         ? db_holdings_of(&save->holdings, account, taken->symbol)
                                         : NULL;
        int64_t change;
        bool left_out;
        if (holding)
            save->r = engine_split_position(&split, &holding->position, &holding->lots, taken->ts_ns, &change,
                                            &left_out);
    }
}

static void put_trading(struct save *save)
{
    for (size_t i = 0; i < save->rows.n_orders && save->r == 0; i++)
        next(save, db_writer_put_order(save->writer, save->rows.orders[i]));
    size_t taken[ACCOUNTS_MAX] = {0}, filled[ACCOUNTS_MAX] = {0};
    for (size_t i = 0; i < save->rows.n_fills && save->r == 0; i++) {
        const struct fill *fill = save->rows.fills[i];
        take_splits(save, fill->account, filled[fill->account]++, &taken[fill->account]);
        next(save, db_writer_put_fill(save->writer, fill));
        int r = db_holdings_fill(&save->holdings, fill->account, fill->symbol, fill->side, fill->qty,
                                 fill->notional, fill->fee, fill->ts_ns);
        save->r = save->r == 0 ? r : save->r;
    }
    for (size_t i = 0; i < save->rows.n_ledger && save->r == 0; i++)
        next(save, db_writer_put_ledger(save->writer, save->rows.ledger[i]));
    char last[24]; /* a backtest says no causes */
    snprintf(last, sizeof last, "%zu", save->rows.n_ledger);
    next(save, db_writer_put_meta(save->writer, DB_CAUSES_AFTER_KEY, last));
    for (int a = 0; a < save->backtest->n_accounts; a++)
        take_splits(save, a, SIZE_MAX, &taken[a]);
    for (size_t i = 0; i < save->holdings.n && save->r == 0; i++) {
        const struct db_holding *holding = &save->holdings.rows[i];
        next(save, db_writer_put_position(save->writer, (int)holding->account, (int)holding->symbol,
                                          &holding->position));
    }
}

/* What became of dividends, and rates by volume. */
static void put_charges(struct save *save, int account)
{
    const struct backtest_account *of = &save->backtest->accounts[account];
    for (size_t i = 0; i < of->n_receivables && save->r == 0; i++)
        next(save, db_writer_put_receivable(save->writer, &of->receivables[i]));
    for (size_t i = 0; i < of->n_fee_rates && save->r == 0; i++) {
        struct fee_rate_change change = of->fee_rates[i].change;
        change.tiers = of->fee_rates[i].tiers;
        next(save, db_writer_put_fee_rate(save->writer, &change));
    }
}

static void put_equity(struct save *save, int account)
{
    const struct backtest *backtest = save->backtest;
    const struct backtest_account *of = &backtest->accounts[account];
    const struct account_spec *spec = &save->accounts[account];
    int64_t peak = spec->cash, equity = spec->cash, cash = spec->cash, day = 0, day_equity = spec->cash;
    size_t next_row = 0;
    for (size_t row = backtest->from; row < backtest->to && save->r == 0; row++) {
        int64_t ts_ns = market_open_ns(save->market, row + 1);
        if (ts_ns / DAY_NS != day) {
            day = ts_ns / DAY_NS;
            day_equity = equity;
        }
        for (; next_row < of->n_ledger && of->ledger[next_row].ts_ns <= ts_ns; next_row++)
            if (strcmp(of->ledger[next_row].asset, spec->currency) == 0)
                cash = of->ledger[next_row].balance;
        decimal_from_double(of->equity[row - backtest->from], spec->currency_scale, &equity);
        peak = equity > peak ? equity : peak;
        const struct db_equity point = {.account = account,
                                        .kind = row + 1 == backtest->to ? DB_EQUITY_LAST : DB_EQUITY_PAST,
                                        .ts_ns = ts_ns,
                                        .equity = equity,
                                        .cash = cash,
                                        .peak = peak,
                                        .day = day,
                                        .day_equity = day_equity,
                                        .killed_ns = of->killed_ns <= ts_ns ? of->killed_ns : 0};
        next(save, db_writer_put_equity(save->writer, &point));
    }
}

static void put_bar(struct save *save, int symbol, size_t row)
{
    const struct market_series *series = &save->market->series[symbol];
    int scale = series->symbol.price_scale;
    struct bar bar = {.open_ns = market_open_ns(save->market, row),
                      .session = market_session(series, row),
                      .first_trade_id = -1,
                      .last_trade_id = -1};
    decimal_from_double(series->open[row], scale, &bar.open);
    decimal_from_double(series->high[row], scale, &bar.high);
    decimal_from_double(series->low[row], scale, &bar.low);
    decimal_from_double(series->close[row], scale, &bar.close);
    decimal128_from_double(series->volume[row], series->symbol.qty_scale, &bar.volume);
    next(save, db_writer_put_bar(save->writer, symbol, save->market->interval_ns, BAR_VENUE, &bar));
}

/* A symbol's bars from *row on that open before a time. */
static void put_bars(struct save *save, int symbol, int64_t before_ns, size_t *row)
{
    const struct market_series *series = &save->market->series[symbol];
    for (; *row <= series->last && *row < save->backtest->to && save->r == 0; ++*row) {
        if (market_open_ns(save->market, *row) >= before_ns)
            return;
        if (market_present(series, *row))
            put_bar(save, symbol, *row);
    }
}

/* Splits and dividends between the bars, as live: a bar has the shares of when it was stored. */
static void put_market(struct save *save)
{
    const struct backtest_account *of = &save->backtest->accounts[0]; /* they take effect on all accounts */
    size_t *rows = calloc((size_t)save->market->n_symbols, sizeof *rows);
    if (!rows) {
        save->r = -ENOMEM;
        return;
    }
    for (int s = 0; s < save->market->n_symbols; s++)
        rows[s] = save->market->series[s].first;
    for (size_t i = 0; i < of->n_taken && save->r == 0; i++) {
        const struct backtest_taken *taken = &of->taken[i];
        const struct db_action row = {.symbol = taken->symbol,
                                      .action = taken->action,
                                      .ts_ns = taken->ts_ns,
                                      .input_seq = taken->input_seq};
        put_bars(save, taken->symbol, taken->ts_ns, &rows[taken->symbol]);
        next(save, db_writer_put_action(save->writer, &row));
    }
    for (int s = 0; s < save->market->n_symbols; s++)
        put_bars(save, s, INT64_MAX, &rows[s]);
    free(rows);
}

/* Holdings are valued at the last close. */
static void put_price(struct save *save, int symbol)
{
    const struct market_series *series = &save->market->series[symbol];
    int64_t end_ns = market_open_ns(save->market, save->backtest->to), close = 0;
    decimal_from_double(series->close[save->backtest->to - 1], series->symbol.price_scale, &close);
    struct db_price price = {.symbol = symbol,
                             .last = close,
                             .mark = close,
                             .mark_ns = end_ns,
                             .ts_ns = end_ns,
                             .recv_wall_ns = end_ns};
    next(save, db_writer_put_price(save->writer, &price));
}

static void put_symbol(struct save *save, int symbol)
{
    const struct market_series *series = &save->market->series[symbol];
    struct symbol listed = series->symbol;
    if (market_session(series, series->first) != BAR_SESSION_NONE)
        snprintf(listed.calendar, sizeof listed.calendar, "%s", save->calendar);
    next(save,
         db_writer_put_symbol(save->writer, symbol, DB_BACKTEST_VENUE, &listed, save->market->start_ns));
}

static void put_all(struct save *save)
{
    const struct market *market = save->market;
    int64_t first_ns = market_open_ns(market, save->backtest->from);
    db_writer_group_begin(save->writer);
    next(save, db_writer_put_meta(save->writer, DB_BACKTEST_KEY, "1"));
    for (int s = 0; s < market->n_symbols && save->r == 0; s++)
        put_symbol(save, s);
    for (int a = 0; a < save->backtest->n_accounts && save->r == 0; a++) {
        struct db_account account;
        db_account_of(a, &save->accounts[a], first_ns, &account);
        next(save, db_writer_put_account(save->writer, &account));
    }
    put_trading(save);
    for (int a = 0; a < save->backtest->n_accounts; a++) {
        put_charges(save, a);
        put_equity(save, a);
    }
    put_market(save);
    for (int s = 0; s < market->n_symbols && save->r == 0; s++)
        put_price(save, s);
    db_writer_group_end(save->writer);
}

int db_backtest_save(const char *path, const struct backtest *backtest, const struct market *market,
                     const struct account_spec *accounts, const char *calendar, char *err, size_t err_size)
{
    struct save save = {
        .backtest = backtest, .market = market, .accounts = accounts, .calendar = calendar ? calendar : ""};
    const struct db_writer_config config = {.ctx = &save, .state = note_state};
    int r = backtest_rows(backtest, &save.rows, err, err_size);
    if (r < 0)
        return r;
    r = db_writer_open(path, &config, &save.writer, err, err_size);
    if (r == 0) {
        put_all(&save);
        r = close_writer(&save, err, err_size);
    }
    db_holdings_finish(&save.holdings);
    backtest_rows_finish(&save.rows);
    return r;
}

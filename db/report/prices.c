/* What a symbol was worth at a moment: from its bars, in the shares of that moment. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/report/internal.h"
#include "exchange/bar.h"

/* ---- splits ---- */

static int read_splits(struct report_prices *prices)
{
    sqlite3_stmt *stmt;
    struct report_split split;
    int r = db_query(
        prices->reader,
        "SELECT symbol, id, ts_ns, input_seq, shares, per, ex_ns FROM corporate_actions WHERE kind = "
        "'split' ORDER BY id",
        NULL, &stmt);
    while (r >= 0 &&
           (r = db_query_next(prices->reader, stmt,
                              RECORD_INTO(&split.symbol, &split.id, &split.ts_ns, &split.input_seq,
                                          &split.split.shares, &split.split.per, &split.split.ex_ns))) > 0) {
        struct report_split *more = reallocarray(prices->splits, prices->n_splits + 1, sizeof *more);
        if (!more)
            return db_query_end(stmt, -ENOMEM);
        prices->splits = more;
        if (engine_split_valid(&split.split))
            more[prices->n_splits++] = split;
    }
    return db_query_end(stmt, r);
}

/* A bar that was stored after the split `stored`, in the shares of ts_ns. */
static void convert(const struct report_prices *prices, int64_t symbol, int64_t stored, int64_t ts_ns,
                    struct bar *bar)
{
    for (size_t i = 0; i < prices->n_splits; i++) {
        const struct report_split *split = &prices->splits[i];
        if (split->symbol == symbol && split->id > stored && split->ts_ns <= ts_ns &&
            bar->open_ns < split->split.ex_ns)
            engine_split_bar(&split->split, bar);
    }
}

/* ---- which bars there are ---- */

#define BAR_IS "symbol = ?1 AND interval_ns = ?2 AND source = ?3 "

static const char *source_name(const struct report_price_source *source)
{
    return source->trades ? "trades" : "venue";
}

static int look_for(struct report_prices *prices, int64_t symbol, int64_t interval_ns, bool trades)
{
    struct report_price_source source = {symbol, interval_ns, trades};
    int64_t open_ns;
    int r = db_query_first(prices->reader, "SELECT open_ns FROM bars WHERE " BAR_IS "LIMIT 1",
                           RECORD_PARAMS(symbol, interval_ns, source_name(&source)), RECORD_INTO(&open_ns));
    struct report_price_source *more =
        r > 0 ? reallocarray(prices->sources, prices->n_sources + 1, sizeof *more) : NULL;
    if (r <= 0 || !more)
        return r <= 0 ? r : -ENOMEM;
    prices->sources = more;
    more[prices->n_sources++] = source;
    return 0;
}

int db_report_prices_open(struct db_reader *reader, struct report_prices *ret)
{
    *ret = (struct report_prices){.reader = reader};
    int r = db_reader_load_symbols(reader);
    r = r < 0 ? r : read_splits(ret);
    for (size_t s = 0; s < reader->n_symbols && r == 0; s++)
        for (size_t i = 0; i < BAR_INTERVALS && r == 0; i++)
            for (int trades = 0; trades < 2 && r == 0; trades++)
                r = look_for(ret, reader->symbols[s].id, bar_intervals[i].ns, trades == 1);
    if (r < 0)
        db_report_prices_finish(ret);
    return r;
}

void db_report_prices_finish(struct report_prices *prices)
{
    free(prices->splits);
    free(prices->sources);
    prices->splits = NULL;
    prices->sources = NULL;
    prices->n_splits = prices->n_sources = 0;
}

/* ---- one price ---- */

static struct bar bar_at(int64_t open_ns, int64_t open, int64_t close)
{
    return (struct bar){.open_ns = open_ns,
                        .open = open,
                        .high = open > close ? open : close,
                        .low = open < close ? open : close,
                        .close = close};
}

/* Of one kind of bars the last one that has closed; it is the mark where it closed later. */
static int last_close(struct report_prices *prices, const struct report_price_source *source, int64_t ts_ns,
                      int64_t shares_ns, struct report_mark *mark)
{
    int64_t open_ns, close, stored;
    int r = db_query_first(
        prices->reader,
        "SELECT open_ns, close, split FROM bars WHERE " BAR_IS
        "AND open_ns <= ?4 ORDER BY open_ns DESC LIMIT 1",
        RECORD_PARAMS(source->symbol, source->interval_ns, source_name(source), ts_ns - source->interval_ns),
        RECORD_INTO(&open_ns, &close, &stored));
    if (r <= 0 || open_ns + source->interval_ns <= mark->ns)
        return r;
    struct bar bar = bar_at(open_ns, close, close);
    convert(prices, source->symbol, stored, shares_ns, &bar);
    *mark =
        (struct report_mark){bar.close, open_ns + source->interval_ns, source->interval_ns, source->trades};
    return 0;
}

int db_report_mark(struct report_prices *prices, int64_t symbol, int64_t ts_ns, int64_t shares_ns,
                   struct report_mark *ret)
{
    struct report_mark mark = {.ns = INT64_MIN};
    int64_t stored, stored_ns;
    int r = 0;
    for (size_t i = 0; i < prices->n_sources && r >= 0; i++)
        if (prices->sources[i].symbol == symbol)
            r = last_close(prices, &prices->sources[i], ts_ns, shares_ns, &mark);
    if (r >= 0)
        r = db_query_first(prices->reader, "SELECT mark, ts_ns FROM prices WHERE symbol = ?1",
                           RECORD_PARAMS(symbol), RECORD_INTO(&stored, &stored_ns));
    if (r > 0 && stored > 0 && stored_ns <= ts_ns && stored_ns > mark.ns)
        mark = (struct report_mark){.price = stored, .ns = stored_ns};
    *ret = mark.price > 0 ? mark : (struct report_mark){0};
    return r < 0 ? r : 0;
}

int db_report_price_at(struct report_prices *prices, int64_t symbol, int64_t ts_ns, int64_t shares_ns,
                       int64_t *ret, int64_t *ret_ns)
{
    struct report_mark mark = {0};
    int r = db_report_mark(prices, symbol, ts_ns, shares_ns, &mark);
    *ret = mark.price;
    *ret_ns = mark.ns;
    return r;
}

int db_report_price(struct report_prices *prices, int64_t symbol, int64_t ts_ns, int64_t shares_ns,
                    int64_t *ret)
{
    int64_t since_ns;

    return db_report_price_at(prices, symbol, ts_ns, shares_ns, ret, &since_ns);
}

/* ---- a series ---- */

static int any_between(struct report_prices *prices, const struct report_price_source *source,
                       int64_t from_ns, int64_t to_ns)
{
    int64_t open_ns;
    return db_query_first(prices->reader,
                          "SELECT open_ns FROM bars WHERE " BAR_IS
                          "AND open_ns >= ?4 AND open_ns <= ?5 LIMIT 1",
                          RECORD_PARAMS(source->symbol, source->interval_ns, source_name(source), from_ns,
                                        to_ns - source->interval_ns),
                          RECORD_INTO(&open_ns));
}

int db_report_prices_each(struct report_prices *prices, int64_t symbol, int64_t from_ns, int64_t to_ns,
                          int64_t shares_ns,
                          void (*row)(void *ctx, int64_t open, int64_t close, int64_t end_ns), void *ctx)
{
    const struct report_price_source *source = NULL;
    int r = 0;
    for (size_t i = 0; i < prices->n_sources && r == 0; i++) {
        source = &prices->sources[i];
        r = source->symbol == symbol ? any_between(prices, source, from_ns, to_ns) : 0;
    }
    if (r <= 0)
        return r;
    sqlite3_stmt *stmt;
    int64_t open_ns, open, close, stored;
    r = db_query(
        prices->reader,
        "SELECT open_ns, open, close, split FROM bars WHERE " BAR_IS
        "AND open_ns >= ?4 AND open_ns <= ?5 ORDER BY open_ns",
        RECORD_PARAMS(symbol, source->interval_ns, source_name(source), from_ns, to_ns - source->interval_ns),
        &stmt);
    while (r >= 0 &&
           (r = db_query_next(prices->reader, stmt, RECORD_INTO(&open_ns, &open, &close, &stored))) > 0) {
        struct bar bar = bar_at(open_ns, open, close);
        convert(prices, symbol, stored, shares_ns, &bar);
        row(ctx, bar.open, bar.close, open_ns + source->interval_ns);
    }
    return db_query_end(stmt, r);
}

/* What else a period was: the bars that there are, the alerts, what parity says. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/report/internal.h"
#include "exchange/bar.h"

/* ---- bars ---- */

/* The first venue's kind of bars that has one in the period, as prices.c finds it. */
static const struct report_price_source *market_source(const struct report_prices *prices, int64_t symbol)
{
    for (size_t i = 0; i < prices->n_sources; i++)
        if (prices->sources[i].symbol == symbol && !prices->sources[i].trades)
            return &prices->sources[i];
    return NULL;
}

/* From the symbol's first bar on, or the period's beginning. */
static int count_bars(struct db_reader *reader, const struct report_price_source *source,
                      const struct db_report *report, struct db_report_market *ret)
{
    int64_t first_ns, step = source->interval_ns;
    int r = db_query_first(
        reader,
        "SELECT count(*), (SELECT min(open_ns) FROM bars WHERE symbol = ?1 AND interval_ns = ?2 AND "
        "source = 'venue') FROM bars WHERE symbol = ?1 AND interval_ns = ?2 AND source = 'venue' AND "
        "open_ns >= ?3 AND open_ns <= ?4",
        RECORD_PARAMS(source->symbol, step, report->from_ns, report->to_ns - step),
        RECORD_INTO(&ret->bars, &first_ns));
    int64_t from_ns = first_ns > report->from_ns ? first_ns : report->from_ns;
    int64_t open_ns = bar_open_time(from_ns, step);
    open_ns += open_ns < from_ns ? step : 0;
    ret->interval_ns = step;
    ret->expected = ret->symbol.calendar[0]          ? -1
                    : open_ns > report->to_ns - step ? 0
                                                     : (report->to_ns - step - open_ns) / step + 1;
    return r < 0 ? r : 0;
}

static int count_gaps(struct db_reader *reader, const struct report_price_source *source,
                      const struct db_report *report, struct db_report_market *ret)
{
    int r = db_query_first(
        reader,
        "SELECT count(*), ifnull(sum(n), 0), ifnull(sum(iif(filled_ns IS NULL, 0, n)), 0) FROM (SELECT "
        "filled_ns, (min(to_open_ns, ?4) - max(from_open_ns, ?3)) / ?2 + 1 AS n FROM gaps WHERE symbol "
        "= ?1 AND interval_ns = ?2 AND to_open_ns >= ?3 AND from_open_ns <= ?4)",
        RECORD_PARAMS(source->symbol, source->interval_ns, report->from_ns,
                      report->to_ns - source->interval_ns),
        RECORD_INTO(&ret->gaps, &ret->in_gaps, &ret->filled));
    return r < 0 ? r : 0;
}

/* The one figure of what is missing. A gap is what the daemon noticed: while it did not run there is none. */
static int64_t missing_of(const struct db_report_market *market)
{
    const int64_t missing =
        market->expected >= 0 ? market->expected - market->bars : market->in_gaps - market->filled;
    const bool known = market->interval_ns > 0 && (market->expected >= 0 || market->gaps >= 0);
    return !known ? -1 : missing > 0 ? missing : 0;
}

static int add_market(struct report_prices *prices, struct db_report *report,
                      const struct db_symbol_row *symbol)
{
    const struct report_price_source *source = market_source(prices, symbol->id);
    struct db_report_market market = {.symbol = symbol->symbol};
    int r = source ? count_bars(prices->reader, source, report, &market) : 0;
    r = r < 0 || !source ? r : count_gaps(prices->reader, source, report, &market);
    if (r == 0)
        r = db_query_first(
            prices->reader, "SELECT count(*) FROM revisions WHERE symbol = ?1 AND ts_ns >= ?2 AND ts_ns < ?3",
            RECORD_PARAMS(symbol->id, report->from_ns, report->to_ns), RECORD_INTO(&market.revisions));
    if (r < 0 || (market.bars == 0 && market.gaps == 0 && market.revisions == 0))
        return r < 0 ? r : 0;
    if (report->gaps_lost)
        market.gaps = market.in_gaps = market.filled = -1;
    market.missing = missing_of(&market);
    struct db_report_market *more = reallocarray(report->markets, report->n_markets + 1, sizeof *more);
    if (!more)
        return -ENOMEM;
    report->markets = more;
    more[report->n_markets++] = market;
    return 0;
}

static int read_markets(struct report_prices *prices, struct db_report *report)
{
    int r = 0;
    for (size_t i = 0; i < prices->reader->n_symbols && r == 0; i++) {
        const struct db_symbol_row symbol = prices->reader->symbols[i];
        r = add_market(prices, report, &symbol);
    }
    for (size_t i = 0; i < report->n_markets && report->bars_missing >= 0; i++) {
        const int64_t missing = report->markets[i].missing;
        report->bars_missing = missing < 0 ? -1 : report->bars_missing + missing;
    }
    return r;
}

/* ---- alerts ---- */

/* Those that were raised, seen again or lasting in it. */
#define ALERTS \
    "FROM alerts WHERE ts_ns < ?2 AND (last_ns >= ?1 OR (lasts = 1 AND (closed_ns IS NULL OR closed_ns >= ?1))) "

/* The schema has no other words. */
static enum db_severity severity_of(const char *word)
{
    int severity = record_words_parse(&db_words_severity, word);
    return severity < 0 ? DB_ERROR : (enum db_severity)severity;
}

static int count_alerts(struct db_reader *reader, struct db_report *report)
{
    sqlite3_stmt *stmt;
    const char *severity;
    int64_t raised, open;
    int r = db_query(
        reader,
        "SELECT severity, sum(ts_ns >= ?1 AND ts_ns < ?2), sum(acked_ns IS NULL AND closed_ns IS NULL) FROM "
        "alerts WHERE ts_ns < ?2 GROUP BY severity",
        RECORD_PARAMS(report->from_ns, report->to_ns), &stmt);
    while (r >= 0 && (r = db_query_next(reader, stmt, RECORD_INTO(&severity, &raised, &open))) > 0) {
        report->raised[severity_of(severity)] = (uint64_t)raised;
        report->open[severity_of(severity)] = (uint64_t)open;
    }
    return db_query_end(stmt, r);
}

static int read_alerts(struct db_reader *reader, struct db_report *report)
{
    sqlite3_stmt *stmt;
    struct db_report_alert alert = {0};
    const char *severity;
    report->alerts = calloc(DB_REPORT_ALERTS_MAX, sizeof *report->alerts);
    int r = !report->alerts ? -ENOMEM : count_alerts(reader, report);
    if (r < 0)
        return r;
    r = db_query(
        reader,
        "SELECT id, ts_ns, last_ns, closed_ns, count, severity, acked_ns IS NULL AND closed_ns IS NULL, code, "
        "text " ALERTS "ORDER BY id DESC LIMIT ?3",
        RECORD_PARAMS(report->from_ns, report->to_ns, DB_REPORT_ALERTS_MAX), &stmt);
    while (r >= 0 && (r = db_query_next(reader, stmt,
                                        RECORD_INTO(&alert.id, &alert.ts_ns, &alert.last_ns, &alert.closed_ns,
                                                    &alert.count, &severity, &alert.open,
                                                    record_into_chars(alert.code, sizeof alert.code),
                                                    record_into_chars(alert.text, sizeof alert.text)))) > 0) {
        alert.severity = severity_of(severity);
        report->alerts[report->n_alerts++] = alert;
    }
    return db_query_end(stmt, r);
}

/* When a feed was silent, each moment once: by the alerts of streams and connections. */
static int read_silence(struct db_reader *reader, struct db_report *report)
{
    sqlite3_stmt *stmt;
    int64_t from_ns, to_ns, done_ns = report->from_ns;
    int r = db_query(
        reader,
        "SELECT ts_ns, ifnull(closed_ns, ?2) AS closed FROM alerts WHERE code IN ('feed', 'stale') AND lasts = 1 "
        "AND ts_ns < ?2 AND ifnull(closed_ns, ?2) > ?1 ORDER BY ts_ns",
        RECORD_PARAMS(report->from_ns, report->to_ns), &stmt);
    while (r >= 0 && (r = db_query_next(reader, stmt, RECORD_INTO(&from_ns, &to_ns))) > 0) {
        from_ns = from_ns > done_ns ? from_ns : done_ns;
        to_ns = to_ns < report->to_ns ? to_ns : report->to_ns;
        report->silent_ns += to_ns > from_ns ? to_ns - from_ns : 0;
        done_ns = to_ns > done_ns ? to_ns : done_ns;
    }
    report->silent_ns = report->alerts_lost ? -1 : report->silent_ns;
    return db_query_end(stmt, r);
}

/* ---- parity ---- */

static int64_t meta_number(struct db_reader *reader, const char *key)
{
    char text[32];
    return db_reader_meta(reader, key, text, sizeof text) == 0 ? strtoll(text, NULL, 10) : 0;
}

static void read_parity(struct db_reader *reader, struct db_report *report)
{
    report->parity_known =
        db_reader_meta(reader, "parity_state", report->parity_state, sizeof report->parity_state) == 0;
    if (!report->parity_known)
        return;
    if (db_reader_meta(reader, "parity_detail", report->parity_detail, sizeof report->parity_detail) < 0)
        report->parity_detail[0] = '\0';
    report->parity_ns = meta_number(reader, "parity_ns");
    report->parity_to_ns = meta_number(reader, "parity_to_ns");
    report->parity_days = meta_number(reader, "parity_days");
}

int db_report_quality(struct report_prices *prices, struct db_report *report)
{
    int r = db_report_lost(prices->reader, report);
    r = r < 0 ? r : read_markets(prices, report);
    r = r < 0 ? r : read_alerts(prices->reader, report);
    r = r < 0 ? r : read_silence(prices->reader, report);
    r = r < 0 ? r : db_report_uptime(prices->reader, report);
    read_parity(prices->reader, report);
    return r;
}

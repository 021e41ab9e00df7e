/* What a period was: equity, returns, drawdown, P&L by symbol and strategy, trades, fees, a benchmark,
 * alerts, parity, uptime and the data's gaps, of every account. Read from a database beside its daemon or
 * after it; for the verb `report` and the timer's files. docs/report.md defines each figure.
 *
 * A period is [from, to): what happened at `from` belongs to it. Money is in units of the account's currency,
 * shares are plain (0.05 is 5 %), drawdowns are not more than 0, times are nanoseconds UTC. What is not known
 * is DB_REPORT_UNKNOWN, or NaN; never 0. */
#ifndef DB_REPORT_REPORT_H
#define DB_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "db/books/statement.h"
#include "db/reader.h"
#include "exchange/calendar_file.h"
#include "exchange/text.h"
#include "strategy/metrics.h"

#define DB_REPORT_UNKNOWN ((int128_t)1 << 120)

enum {
    DB_REPORT_SOURCE_MAX = 72,
    DB_REPORT_POINTS_MAX = 2048, /* of a chart */
    DB_REPORT_ALERTS_MAX = 200,
    DB_REPORT_TRIPS_MAX = 200, /* closed trades that are listed */
    DB_REPORT_CHARTS_MAX = 6,  /* symbols whose prices are drawn */
};

struct db_report_query {
    bool by_day;            /* `day`; else from_ns and to_ns, the same for all accounts */
    int64_t day;            /* days since 1970, in each account's own zone */
    int64_t from_ns, to_ns; /* INT64_MIN: from the beginning of the record */
    int64_t now_ns;         /* the wall clock: nothing is known of what is later */
    const char *account;    /* this one alone; NULL: all */
    bool pictures;          /* also what only a page draws: `charts` */
};

/* Bought in equal parts at the period's beginning (a symbol whose first bar is later: then), at the account's
 * taker fee, held to its end. Of 0 symbols nothing is known. */
struct db_report_benchmark {
    size_t symbols;
    struct metrics metrics;         /* of hourly returns */
    struct metrics_against against; /* the account, compared with it */
};

struct db_report_symbol {
    struct symbol symbol;
    bool counts; /* it is quoted in the account's currency; else it is no part of equity, and of P&L's sum */
    int64_t qty_from, qty_to;                 /* qty_scale; negative: short */
    int64_t price_from, price_to;             /* by which they are valued; 0: not known */
    int128_t realized, unrealized, fees, pnl; /* quote_scale: of the period; by average cost */
    int128_t volume;                          /* sum of notionals */
    int128_t fees_base; /* qty_scale: taken of the asset that was bought, and not among `fees` */
    uint64_t fills;
    struct metrics_trades trades; /* from flat to flat, closed in the period */
    double hold_return;           /* of its price alone, splits aside */
};

/* Who decided: a strategy's name, "policy NAME", "by hand": what it opened, and what became of that even if
 * another closed it. */
struct db_report_strategy {
    char name[DB_REPORT_SOURCE_MAX];
    int128_t pnl, fees;
    uint64_t fills;
    bool holds; /* what it opened is not closed yet: a part of pnl, and none of the trades */
    struct metrics_trades trades;
};

struct db_report_day {
    int64_t day; /* since 1970, in the account's zone */
    int64_t closing;
    int128_t flow, pnl;
    double total_return;
    uint64_t points; /* 0: nothing is known of it, and pnl is DB_REPORT_UNKNOWN */
};

/* A closed trade, from flat to flat, of one symbol. */
struct db_report_trip {
    struct symbol symbol;
    char source[DB_REPORT_SOURCE_MAX]; /* who opened it */
    bool is_short;
    int64_t opened_ns, closed_ns;
    int64_t qty;          /* qty_scale: all that was entered */
    int64_t profit, fees; /* quote_scale; profit is after fees */
    double entry, exit;   /* mean prices */
};

/* Points of a picture. */
struct db_report_points {
    int64_t *x;
    double *y;
    size_t n; /* DB_REPORT_POINTS_MAX at most */
};

/* Of a symbol that was traded: closes of its finest bars, thinned, and what was bought and sold. */
struct db_report_market_chart {
    int64_t id; /* in the database */
    struct symbol symbol;
    struct db_report_points closes, buys, sells; /* all as traded, in the shares of then */
    size_t splits;                               /* in the period */
};

struct db_report_account {
    struct db_account account;
    int64_t from_ns, to_ns; /* the period, in its own day's zone */
    char zone[CALENDAR_ZONE_MAX];
    uint64_t from_id, to_id; /* the ledger's rows of the period: [from_id, to_id) */
    bool created;            /* in the period */
    bool based; /* the record was rebuilt and begins after `from`: of before nothing is known, and of the
                   period no sum and no count */

    uint64_t points;                           /* of equity in the period */
    int64_t opening_ns, closing_ns;            /* of the points; 0: there is none */
    int128_t opening, closing, cash, peak;     /* at them */
    int128_t deposits, withdrawals, transfers; /* withdrawals <= 0; transfers in less those out */
    int128_t reset;                            /* by how much resets changed equity */
    uint64_t resets, flows;                    /* how many */
    int128_t pnl;                              /* closing - opening - all flows */
    int128_t realized, unrealized, fees, interest, dividends; /* fees and interest are positive when paid */
    int128_t other; /* pnl - (realized + unrealized + dividends - fees - interest): docs/report.md */

    bool stated; /* else there is no statement of the period: db/books/statement.h says when */
    struct db_statement_money statement; /* of the account's currency, of the same period */

    double total_return;          /* time-weighted */
    double max_drawdown;          /* of the curve without flows, from the period's beginning on */
    double drawdown;              /* at its end, from the account's highest ever */
    struct metrics metrics;       /* of hourly returns; NaN below 24 of them */
    size_t hours;                 /* rows */
    uint64_t unmeasured;          /* points without a return: equity was 0 or less before */
    double exposure;              /* hours at whose end something was held / hours */
    struct metrics_trades trades; /* from flat to flat */
    uint64_t fills, orders, rejected, cancelled; /* orders: given in the period, of which… */
    int128_t volume;
    struct db_report_benchmark streamed, traded;

    struct db_report_symbol *symbols;
    struct db_report_strategy *strategies;
    struct db_report_day *days;
    size_t n_symbols, n_strategies, n_days;

    int64_t *chart_ns; /* [n_chart] */
    double *chart_equity, *chart_drawdown;
    double *chart_exposure; /* what is not cash, as a percentage of equity; shorts below 0 */
    size_t n_chart;

    struct db_report_market_chart *charts; /* of the newest fills' symbols */
    size_t n_charts;
    /* Trade i, 0 <= i < n_trips, is at i % DB_REPORT_TRIPS_MAX: the newest are there. */
    struct db_report_trip *trips;
    size_t n_trips;
};

/* The bars of a symbol in the period. */
struct db_report_market {
    struct symbol symbol;
    int64_t interval_ns;           /* of its venue's bars; 0: there are none */
    int64_t bars, expected;        /* stored; by the clock, -1 where its market closes */
    int64_t gaps, in_gaps, filled; /* gaps that were found, bars in them, and of these fetched later */
    int64_t missing; /* bars that are not there: of the expected; where its market closes, of known gaps; -1:
                        not known */
    int64_t revisions;
};

struct db_report_alert {
    uint64_t id;
    int64_t ts_ns, last_ns, closed_ns, count;
    enum db_severity severity;
    bool open;
    char code[40], text[DB_ALERT_TEXT_MAX];
};

struct db_report {
    struct db_report_query query;
    int64_t from_ns, to_ns; /* of all accounts together; to_ns is never beyond now_ns */
    int64_t first_ns;       /* of the record: the first account's beginning; 0: there is none */

    struct db_report_account *accounts;
    struct db_report_market *markets;
    size_t n_accounts, n_markets;

    int64_t bars_missing; /* of all markets; -1: not known of one of them */

    struct db_report_alert *alerts; /* the newest DB_REPORT_ALERTS_MAX, newest first */
    size_t n_alerts;
    bool alerts_lost,
        gaps_lost; /* by a rebuild: what was raised, silent and missing in the period is not known */
    uint64_t raised[3], open[3]; /* by severity: in the period; at its end and now */

    bool parity_known; /* the newest comparison, whenever it was */
    char parity_state[16], parity_detail[256];
    int64_t parity_ns, parity_to_ns, parity_days;

    /* Of the period: of how much is known whether the daemon ran; it ran; since the record's beginning, not
     * known. Stretches without it, and its runs that ended there and were not stopped. */
    int64_t observed_ns, up_ns, unknown_ns;
    uint64_t outages, killed;
    int64_t silent_ns; /* any feed was silent; all of them, each moment once */
};

/* 0, for db_report_finish(); -EDOM: the period begins in the future, or ends before it begins; -ENOENT: there
 * is no such account; else -errno, all with db_reader_error(). Reads one moment of the database. */
int db_report_make(struct db_reader *reader, const struct db_report_query *query, struct db_report *ret);
void db_report_finish(struct db_report *report);

/* What an account gained in a UTC day, as its report has it, and the equity that it ended with, or has: in a
 * transaction of the caller's. DB_REPORT_UNKNOWN: there is no point. 0 or -errno. */
int db_report_day_gain(struct db_reader *reader, const struct db_account *account, int64_t day,
                       int128_t *ret_pnl, int128_t *ret_closing);

/* A figure that the account's statement of the period has otherwise: the report's less the statement's, in
 * units of the statement's scale, and why. Returns how many there are. */
struct db_report_difference {
    const char *figure; /* as JSON names it */
    int128_t by;
    const char *why;
};
enum { DB_REPORT_DIFFERENCES_MAX = 8 };
size_t db_report_differences(const struct db_report_account *account,
                             struct db_report_difference ret[static DB_REPORT_DIFFERENCES_MAX]);

/* Is an account's Sharpe ratio of the period more than luck? By its standard error and PSR(0), the
 * probability that the true one is above 0 (strategy/metrics/deflate.h), of hourly returns: of this account
 * alone, as if it were the only one that was tried. */
enum { DB_REPORT_LUCK_MAX = 320 };
enum db_report_luck_kind {
    DB_REPORT_LUCK_UNKNOWN, /* there is no Sharpe ratio, or no count of trades */
    DB_REPORT_LUCK_FEW,     /* trades */
    DB_REPORT_LUCK_LUCK,
    DB_REPORT_LUCK_MORE,
};
struct db_report_luck {
    enum db_report_luck_kind kind;
    double days;
    double sharpe, error;           /* a year; NaN: not known */
    double psr;                     /* NaN: not known */
    char words[DB_REPORT_LUCK_MAX]; /* a sentence */
};
void db_report_luck(const struct db_report_account *account, struct db_report_luck *ret);
const char *
db_report_luck_word(enum db_report_luck_kind kind); /* "unknown", "few_trades", "luck", "more_than_luck" */

/* "2026-11-24", or that and a time of day, UTC; how the days were counted. */
enum { DB_REPORT_TITLE_MAX = 160 };
const char *db_report_title(const struct db_report *report, char ret[static DB_REPORT_TITLE_MAX]);

/* Lines of at most 80 columns, each ended; and the same in a few lines, for a message. */
void db_report_text(const struct db_report *report, struct text *text);
void db_report_summary(const struct db_report *report, struct text *text);
/* papertape.report/1. The caller's; NULL without memory. */
json_t *db_report_json(const struct db_report *report);
/* One HTML page: report/page.h. 0 or -ENOMEM. */
int db_report_page(const struct db_report *report, struct text *text);

/* What a page and a terminal draw of an account's days. The products of their returns by month, or by year
 * (report/page_parts.h), into ret [n_days]: none of a single day; a day without a point changes nothing. And
 * the returns of days, percent, into ret [n_days]; NaN where there is none; none of fewer than 20 days. They
 * return how many there are. */
struct report_month;
size_t db_report_months(const struct db_report_account *account, bool years, struct report_month *ret);
size_t db_report_returns(const struct db_report_account *account, double *ret);

/* A day as 2026-11-24. */
enum { DB_REPORT_DAY_MAX = 16 };
const char *db_report_day(int64_t day, char ret[static DB_REPORT_DAY_MAX]);

/* Takes a day: "2026-11-24", "today", "yesterday" (UTC, of now_ns). False: it is none. */
bool db_report_day_parse(const char *word, int64_t now_ns, int64_t *ret);

#endif

/* Internal to the report. */
#ifndef DB_REPORT_INTERNAL_H
#define DB_REPORT_INTERNAL_H

#include "db/base.h"
#include "db/reader_query.h"
#include "db/report/report.h"
#include "engine/split.h"
#include "exchange/zone.h"

#define REPORT_DAY_NS  (86400 * INT64_C(1000000000))
#define REPORT_HOUR_NS (3600 * INT64_C(1000000000))

enum { REPORT_HOURS_LEAST = 24 }; /* below it no figure is annualised */

/* ---- make.c ---- */

/* Rows of the ledger are in the order of their events, but a fill at a closed bar's prices has the bar's
 * time: a period is the rows from the first one that is in it, up to the first that is beyond. The number of
 * the first row at `ns` or later; INT64_MAX: there is none. 0 or -errno. */
int db_report_first_row(struct db_reader *reader, int64_t ns, uint64_t *ret);

/* ---- days.c ---- */

/* A zone of the report's accounts, opened once. */
struct report_days {
    struct zone *zone; /* NULL: UTC */
    char name[CALENDAR_ZONE_MAX], calendar[CALENDAR_NAME_MAX];
};

/* When a day begins. */
int64_t db_report_midnight(const struct zone *zone, int64_t day);

/* The calendar whose symbols are all that an account ever held; "": its days are UTC's. 0 or -errno. */
int db_report_calendar_of(struct db_reader *reader, int account, char ret[static CALENDAR_NAME_MAX]);

/* Opens a calendar's zone where it is not the one that is open; zone_close() is the caller's. 0 or -errno. */
int db_report_days_open(struct db_reader *reader, const char *calendar, struct report_days *days);

/* ---- curve.c: pure ---- */

struct report_flow {
    int64_t ts_ns, amount;
    enum ledger_kind kind;
};

/* A curve of equity and what was put in or out, point by point. Zero it, set what it begins with, add. */
struct report_curve {
    const struct zone *zone;         /* of the days; NULL: UTC */
    const struct report_flow *flows; /* oldest first */
    size_t n_flows, at;
    bool based; /* the ledger may lack what was put in first: the record was rebuilt from a later state */
    struct db_report_account *into;
    int64_t start_ns;                  /* of the rows: `from`, or the first point */
    int64_t last_ns, last, day_equity; /* the point before; last_ns 0: there is none */
    double index, peak;
    double *hours; /* [n_hours] returns */
    size_t n_hours, cap_hours, cap_days;
    int64_t first_hour;
    size_t held;  /* hours at whose end something was held, of those before the newest */
    bool holds;   /* equity is not cash alone, at the point before */
    size_t every; /* of the chart's points one in so many is kept */
    uint64_t seen;
    bool newest_kept; /* is the chart's newest point one of them? */
};

/* The last point before the period; without it the account begins in it. */
void db_report_curve_begin(struct report_curve *curve, const struct db_equity_point *before);
/* 0 or -ENOMEM. */
int db_report_curve_add(struct report_curve *curve, const struct db_equity_point *point);
/* Figures of `into` that need all points. 0 or -ENOMEM. */
int db_report_curve_end(struct report_curve *curve);
void db_report_curve_finish(struct report_curve *curve);

/* ---- prices.c ---- */

struct report_split {
    int64_t symbol, id, ts_ns, input_seq;
    struct stock_split split;
};

/* One kind of a symbol's bars. */
struct report_price_source {
    int64_t symbol, interval_ns;
    bool trades; /* made here, else the venue's */
};

struct report_prices {
    struct db_reader *reader;
    struct report_split *splits; /* in the order in which they took effect */
    size_t n_splits;
    struct report_price_source *sources; /* that there are: by symbol, interval, the venue's first */
    size_t n_sources;
};

int db_report_prices_open(struct db_reader *reader, struct report_prices *ret);
void db_report_prices_finish(struct report_prices *prices);

/* The symbol's price at a moment, in the shares of shares_ns: of the bar that closed last, or what the engine
 * stored since. 0, or -errno; *ret is 0 where it is not known. */
int db_report_price(struct report_prices *prices, int64_t symbol, int64_t ts_ns, int64_t shares_ns,
                    int64_t *ret);
/* The same, and what it is. */
struct report_mark {
    int64_t price;       /* 0: not known, and so is the rest */
    int64_t ns;          /* when it was that price: the bar's end */
    int64_t interval_ns; /* of the bar; 0: the engine's newest mark, stored later */
    bool trades;         /* the bar was made here of trades */
};
int db_report_mark(struct report_prices *prices, int64_t symbol, int64_t ts_ns, int64_t shares_ns,
                   struct report_mark *ret);
/* The same, and when it was that price: the bar's end; 0: not known. */
int db_report_price_at(struct report_prices *prices, int64_t symbol, int64_t ts_ns, int64_t shares_ns,
                       int64_t *ret, int64_t *ret_ns);

/* Bars of the finest kind that has one in [from_ns, to_ns): opening and close, in the shares of shares_ns
 * (REPORT_AS_TRADED: of when each was stored), and the bar's end. */
#define REPORT_AS_TRADED INT64_MIN
int db_report_prices_each(struct report_prices *prices, int64_t symbol, int64_t from_ns, int64_t to_ns,
                          int64_t shares_ns,
                          void (*row)(void *ctx, int64_t open, int64_t close, int64_t end_ns), void *ctx);

/* ---- holdings.c: pure ---- */

enum { REPORT_WHOLE = -1 }; /* the source of an account's whole position */

/* What was done of a whole position since it was flat: quantities in shares of the newest split, notionals in
 * units of the quote asset. */
struct report_trip {
    int source; /* that opened it */
    int64_t first_fill, fills;
    int64_t entered, left; /* quantities */
    int128_t entry, exit;  /* sums of their notionals */
};

/* What an account holds of a symbol: the whole of it, or what one source opened. */
struct report_holding {
    int64_t account, symbol; /* ids in the database */
    int source;
    struct position position;
    struct lots lots;
    /* From flat to flat. */
    int64_t opened_ns, opened_realized, opened_fees;
    /* The period: where it began (or the account was reset), what was gained before that reset, and what was
     * done. */
    struct {
        int64_t qty;
        int128_t realized, unrealized, fees;
    } from, gone;
    bool unpriced; /* it was valued without a price */
    uint64_t fills;
    int128_t volume, fees_base;
    struct metrics_trades trades;
    struct report_trip trip; /* of the whole position */
};

struct report_fill;

/* {0} is empty. */
struct report_holdings {
    struct report_holding *rows; /* by account, symbol, source */
    size_t n;
    bool counts; /* the period has started */
    /* A fill of the period has closed a whole position, whose trip is complete. May be NULL. 0 or -errno. */
    int (*closed)(void *ctx, const struct report_holding *row, const struct report_fill *fill,
                  int64_t profit);
    void *ctx;
};

/* A fill of a source: it closes what that source opened, then what others did (the one that opened first,
 * first), and opens with the rest. The whole position takes it as the engine does. `scale`: of money, for the
 * trades' profits. 0, -ENOMEM, -ERANGE. */
struct report_fill {
    int64_t account, symbol;
    int source, scale;
    enum order_side side;
    int64_t qty, notional, fee, ts_ns;
    int64_t fee_base; /* qty already lacks it */
    int64_t id;
};
int db_report_holdings_fill(struct report_holdings *holdings, const struct report_fill *fill);
struct report_holding *db_report_holding_of(struct report_holdings *holdings, int64_t account, int64_t symbol,
                                            int source);
void db_report_holdings_finish(struct report_holdings *holdings);

/* ---- trades.c, trades_put.c ---- */

/* The way through the fills of one period. */
struct report_walk {
    struct report_prices *prices;
    struct db_report *report;
    int64_t from_ns, to_ns;
    uint64_t from_id, to_id; /* of the ledger */
    struct report_holdings holdings;
    char (*sources)[DB_REPORT_SOURCE_MAX];
    int n_sources;
    size_t split;       /* the next one */
    uint64_t after_id;  /* of the ledger: up to it all has been read */
    int64_t after_fill; /* the newest fill of these */
};

/* The account of that number, where the period is its own; else NULL. */
struct db_report_account *db_report_account_of(const struct report_walk *walk, int64_t number);

/* What open positions would have earned at ts_ns, into *ret; `unpriced` is set where no price is known. 0 or
 * -errno. */
int db_report_value(struct report_walk *walk, struct report_holding *row, int64_t ts_ns, int128_t *ret);

/* When what an account held at the period's two ends is valued: as its equity was. */
static inline int64_t report_opened_ns(const struct db_report_account *account)
{
    return account->opening_ns ? account->opening_ns : account->from_ns;
}

static inline int64_t report_closed_ns(const struct db_report_account *account)
{
    return account->closing_ns ? account->closing_ns : account->to_ns;
}

/* All holdings into the report. 0 or -errno. */
int db_report_trades_put(struct report_walk *walk);

/* Takes what a record without its beginning begins with, before anything else is read; then reads the ledger
 * from where the last call ended: what a call has taken stays taken, whatever ended it. 0 or -errno. */
int db_report_walk_begin(struct report_walk *walk, const struct db_base *base);
int db_report_walk_read(struct report_walk *walk, const struct db_base *base);
void db_report_walk_finish(struct report_walk *walk);

/* Goes through all fills once, and fills in positions, P&L and trades of the accounts with the period of the
 * one at `like`. */
int db_report_trades(struct report_prices *prices, const struct db_base *base,
                     const struct db_report_account *like, struct db_report *report);

/* ---- stated.c ---- */

/* The statements of all accounts' periods, in the report's transaction. 0 or -errno. */
int db_report_stated(struct db_reader *reader, struct db_report *report);

/* ---- marks.c ---- */

/* A report_holdings' closed(), of a struct report_walk. */
int db_report_trip_closed(void *ctx, const struct report_holding *row, const struct report_fill *fill,
                          int64_t profit);
/* Fills of the period and prices under them. 0 or -errno. */
int db_report_marks(struct report_prices *prices, struct db_report_account *account);
void db_report_marks_finish(struct db_report_account *account);

/* ---- benchmark.c ---- */

/* `hours` [n]: the account's returns, of the hours from first_hour on. */
int db_report_benchmarks(struct report_prices *prices, const struct report_curve *curve,
                         struct db_report_account *account);

/* ---- page_trades.c: parts of a page ---- */

/* Returns by month, and their distribution by day, where the period has some. 0 or -ENOMEM. */
int db_report_page_returns(struct text *text, const struct db_report_account *account);
/* Fills on prices, and closed trades one by one. */
void db_report_page_trades(struct text *text, const struct db_report_account *account);

/* ---- title.c ---- */

enum { DB_REPORT_TIME_MAX = 24 };
const char *db_report_time(int64_t ns, char ret[static DB_REPORT_TIME_MAX]); /* 2026-11-24 14:02, UTC */

/* "12 s", "90 min", "26.5 h"; below 0: "n/a". */
enum { DB_REPORT_DURATION_MAX = 40 };
const char *db_report_duration(char ret[static DB_REPORT_DURATION_MAX], int64_t ns);

/* Of the account's money: two, or six of one that has little. */
int db_report_decimals(const struct db_report_account *account);

/* ---- lost.c ---- */

/* Whether a rebuild lost alerts, or gaps of bars, of the period. 0 or -errno. */
int db_report_lost(struct db_reader *reader, struct db_report *report);
/* Of an account whose record begins in the period, at base_ns, what would need its rows of before. */
void db_report_lose(struct db_report_account *account, int64_t base_ns);

/* ---- uptime.c ---- */

int db_report_uptime(struct db_reader *reader, struct db_report *report);

/* What it was beside a share; the share is known. */
enum { DB_REPORT_UPTIME_MAX = 160 };
const char *db_report_uptime_words(const struct db_report *report, char ret[static DB_REPORT_UPTIME_MAX]);

/* ---- quality.c ---- */

int db_report_quality(struct report_prices *prices, struct db_report *report);

#endif

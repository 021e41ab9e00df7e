/* Windows of the long lists of papertape.db: which rows a list has, in what order, and those around a place
 * or around one of them. Each call reads one snapshot; db_reader_interrupt() ends it early. */
#ifndef DB_LIST_H
#define DB_LIST_H

#include "db/reader.h"
#include "db/report/report.h"

enum db_list {
    DB_LIST_ORDERS,
    DB_LIST_FILLS,
    DB_LIST_ALERTS,
    DB_LIST_LOG,
    DB_LIST_TRIPS,
    DB_LIST_LEDGER,
    DB_LIST_BARS, /* of one symbol and interval */
    DB_LISTS
};

enum {
    DB_LIST_WINDOW = 256,  /* rows that are read at a time */
    DB_LIST_FIRST = 64,    /* and before all of a filter are counted: as many as a screen has */
    DB_LIST_WORDS_MAX = 40 /* bytes of a filter, with the NUL */
};

/* The columns that a list is sorted by: their names, column 0 the list's usual order; NULL for another. */
const char *db_list_column(enum db_list list, int column);
int db_list_columns(enum db_list list);

/* Which rows, and their order. A filter is a text that a row has in one of its texts ("stop") or shown times
 * ("2026-11-20", "09:30"), in the column that it names ("symbol=BTC", "time=09:30"), or its number ("#883");
 * or a number or time that a column is above, below or equal to ("qty>0.5", "time<2026-11-20", "qty=0.5"),
 * also as it is shown ("return<-1%", "duration>10h"); after "!", that it has not; "": all. Case does not
 * count. Live orders stay before the others in the usual order of a filter's. Rows that are equal in the
 * column follow by number, the newest first; what has no value is last. */
struct db_list_query {
    enum db_list list;
    int sort; /* a column; another is column 0 */
    bool invert;
    char filter[DB_LIST_WORDS_MAX];
    bool first;                     /* only the first DB_LIST_FIRST rows: the rest is not counted */
    const char *without;            /* a JSON array of numbers that are left out; NULL: none */
    char account[ACCOUNT_NAME_MAX]; /* of the round trips, one alone; "": all, and of other lists */
    char symbol[SYMBOL_NAME_MAX];   /* of the bars, with their interval; "" and 0 of other lists */
    int64_t interval_ns;
    bool local; /* times are shown in the zone of this process, else UTC */
};

/* A window: `n` rows from place `first` on of `count` that the filter leaves of `total`. */
struct db_list_window {
    int64_t first, count, total;
    int64_t at; /* the place that was asked for: the row's, where it is there, else `at`, not past the end */
    bool partial; /* there may be more rows than `count`: the query was for the first */
    int n;
    int64_t ids[DB_LIST_WINDOW]; /* the rows' own numbers; a round trip's: of the fill that closed it; of the
                                    log: as db_list_log_kind() has it; a bar's: open_ns */
};

/* Reads the window around row `id`, or, where that is 0 or not in the list, around place `at`. Round trips
 * are read in a transaction of the caller's, db_reader_begin(). 0; -EINTR: interrupted; -errno with
 * db_reader_error(). */
int db_list_read(struct db_reader *reader, const struct db_list_query *query, int64_t id, int64_t at,
                 struct db_list_window *ret);

/* The next row after row `id` (0: after none) that `words` would be a filter for, or with `back` the one
 * before it; past an end it continues at the other. Rows of `without` count. 0; -ENOENT: there is none;
 * -EINTR; -errno. */
int db_list_find(struct db_reader *reader, const struct db_list_query *query, const char *words, int64_t id,
                 bool back, int64_t *ret);

/* What a number of the log stands for: an alert's, order's or command's own, which is written to *ret_id. */
enum db_list_log { DB_LIST_LOG_ALERT, DB_LIST_LOG_ORDER, DB_LIST_LOG_COMMAND };
enum db_list_log db_list_log_kind(int64_t id, int64_t *ret_id);

/* Passes the rows with these numbers in their order, with their index among them; those that are not there
 * are left out. 0 or -errno. */
int db_list_orders(struct db_reader *reader, const int64_t *ids, int n,
                   void (*row)(void *ctx, int at, const struct db_order_row *row), void *ctx);
int db_list_fills(struct db_reader *reader, const int64_t *ids, int n,
                  void (*row)(void *ctx, int at, const struct db_fill_row *row), void *ctx);
int db_list_alerts(struct db_reader *reader, const int64_t *ids, int n,
                   void (*row)(void *ctx, int at, const struct db_alert *row), void *ctx);
int db_list_commands(struct db_reader *reader, const int64_t *ids, int n,
                     void (*row)(void *ctx, int at, const struct db_command *row), void *ctx);
int db_list_ledger(struct db_reader *reader, const int64_t *ids, int n,
                   void (*row)(void *ctx, int at, const struct db_ledger_row *row), void *ctx);

/* A closed round trip, from flat to flat, as db/report/trips.h has it. */
struct db_trip {
    int64_t id, first_fill,
        fills;     /* the fill that closed it, that opened it (0: before the record); so many */
    int64_t order; /* that closed it */
    const struct db_account *account;
    const struct db_symbol_row *symbol;
    bool is_short;
    int64_t opened_ns, closed_ns, qty;                        /* qty: all that was entered, of qty_scale */
    double entry, exit;                                       /* mean prices */
    double share;                                             /* profit / what the entry was worth */
    int64_t profit, fees;                                     /* quote_scale; profit is after fees */
    char source[DB_REPORT_SOURCE_MAX], reason[ORDER_TAG_MAX]; /* who opened; why the exit, "": not known */
};

/* Those of the reader's last db_list_read() of the list. */
int db_list_trips(struct db_reader *reader, const int64_t *ids, int n,
                  void (*row)(void *ctx, int at, const struct db_trip *row), void *ctx);

/* The fills of one: from `first` on to the one that closed it, oldest first, at most `limit`. */
int db_list_trip_fills(struct db_reader *reader, int64_t id, int64_t first, int64_t limit,
                       void (*row)(void *ctx, const struct db_fill_row *row), void *ctx);

/* The bars of the query's symbol and interval with these numbers: the venue's that are stored, in the shares
 * of their time; where none of that interval is, those that are kept for the chart, whose quote_volume and
 * trades are not known: trades is -1. */
int db_list_bars(struct db_reader *reader, const struct db_list_query *query, const int64_t *ids, int n,
                 void (*row)(void *ctx, int at, const struct bar *row, const struct db_symbol_row *symbol),
                 void *ctx);

#endif

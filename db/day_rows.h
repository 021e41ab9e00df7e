/* Rows by the UTC day that they belong to, as `papertape export` takes them: a query a day, with bounded
 * memory and no lock between two. Days are counted from 1970-01-01. */
#ifndef DB_DAY_ROWS_H
#define DB_DAY_ROWS_H

#include "db/reader.h"

#define DB_DAY_NS INT64_C(86400000000000)

/* The tables whose rows have a number and a moment: of an order it is that of its creation. */
enum db_day_table { DB_DAY_ORDERS, DB_DAY_FILLS, DB_DAY_LEDGER, DB_DAY_TABLES };

/* A day that has rows, all of them among the numbers first to last. */
struct db_day {
    int64_t day, first, last;
};

/* The days that have rows, oldest first. *ret is the caller's to free, also with 0 days. */
int db_days(struct db_reader *reader, enum db_day_table table, struct db_day **ret, size_t *ret_n);

/* A day's rows, by number. */
int db_day_orders(struct db_reader *reader, const struct db_day *day,
                  void (*row)(void *ctx, const struct db_order_row *row), void *ctx);
int db_day_fills(struct db_reader *reader, const struct db_day *day,
                 void (*row)(void *ctx, const struct db_fill_row *row), void *ctx);
int db_day_ledger(struct db_reader *reader, const struct db_day *day,
                  void (*row)(void *ctx, const struct db_ledger_row *row), void *ctx);

/* The least number of a table's rows; 0: it has none. */
int db_day_first_row(struct db_reader *reader, enum db_day_table table, int64_t *ret);

/* The hash of the ledger's first row: the same in every copy of a database, and in one that was built again.
 * -ENOENT: the row is not there. */
int db_day_origin(struct db_reader *reader, uint8_t ret[static LEDGER_HASH_SIZE]);

/* An account's points of [from_ns, to_ns), oldest first; and between which times it has any: -ENOENT for
 * none. */
int db_day_equity(struct db_reader *reader, int account, int64_t from_ns, int64_t to_ns,
                  void (*row)(void *ctx, const struct db_equity_point *row), void *ctx);
int db_day_equity_span(struct db_reader *reader, int account, int64_t *ret_first_ns, int64_t *ret_last_ns);

/* The stored bars of one symbol, interval and source. */
struct db_bar_series {
    const struct db_symbol_row *symbol;
    int64_t interval_ns;
    enum bar_source source;
    int64_t first_ns, last_ns; /* when the first and the last of them open */
};
/* Every series that has bars, by symbol id, interval and source. */
int db_bar_series(struct db_reader *reader, void (*row)(void *ctx, const struct db_bar_series *row),
                  void *ctx);
/* When its first bar opens. -ENOENT: it has none. */
int db_series_first(struct db_reader *reader, int64_t symbol, int64_t interval_ns, enum bar_source source,
                    int64_t *ret_open_ns);
/* Its bars that open in [from_ns, to_ns), oldest first; the symbol by its id. */
int db_series_bars(struct db_reader *reader, int64_t symbol, int64_t interval_ns, enum bar_source source,
                   int64_t from_ns, int64_t to_ns, void (*row)(void *ctx, const struct bar *row), void *ctx);

#endif

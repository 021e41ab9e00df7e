/* Closed round trips, from flat to flat, one account and symbol each: those that a report counts as trades,
 * and sums of them as the report of the whole record has them, by the same walk through the ledger. A reader
 * keeps what it has read: each call reads what is new, by id. docs/report.md defines each figure. */
#ifndef DB_REPORT_TRIPS_H
#define DB_REPORT_TRIPS_H

#include "db/reader.h"
#include "db/report/report.h"

/* Of an account and a symbol, or an account and who opened ("policy NAME", "by hand"): all of the record. */
struct db_trip_sum {
    char account[ACCOUNT_NAME_MAX], name[DB_REPORT_SOURCE_MAX], currency[ASSET_NAME_MAX];
    bool by_symbol; /* else by who opened */
    int scale;      /* of the currency, which is what the trades are paid in */
    int128_t pnl;   /* realised and unrealised, after fees; DB_REPORT_UNKNOWN */
    int128_t fees;
    uint64_t fills;
    bool holds;                   /* a trade is open: of pnl, and none of `trades` */
    struct metrics_trades trades; /* closed */
};

struct db_trip_sums {
    struct db_trip_sum *rows; /* owned */
    size_t n;
};

/* Reads what is new of the ledger into the temporary table `trips`, in a transaction of the caller's. 0;
 * -EINTR: interrupted, the next call continues; -errno, with db_reader_error(): the next call starts
 * again. */
int db_trips_follow(struct db_reader *reader);

/* Follows, in a transaction of its own; *ret is another number where a list or a sum may have changed since
 * the last call: another row of the ledger, another point of equity, another name. 0 or as above. */
int db_trips_version(struct db_reader *reader, int64_t *ret);

/* After db_trips_follow(), in the same transaction: open positions are valued when each account's newest
 * point of equity was stored, as a report values them. 0 or -errno; *ret is for db_trip_sums_finish(). */
int db_trips_sums(struct db_reader *reader, struct db_trip_sums *ret);
void db_trip_sums_finish(struct db_trip_sums *sums);

/* Merges rows of the same name and currency, of one account or of all (""): those by symbol, or the others.
 * The greatest P&L first, what is not known last. `ret` has room for sums->n rows. Returns how many. */
size_t db_trip_sums_merge(const struct db_trip_sums *sums, const char *account, bool by_symbol,
                          struct db_trip_sum *ret);
/* How many it returns. */
size_t db_trip_sums_count(const struct db_trip_sums *sums, const char *account, bool by_symbol);

struct db_trips;
void db_trips_destroy(struct db_trips *trips); /* NULL is fine */

#endif

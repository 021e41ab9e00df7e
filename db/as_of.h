/* The record as it was at a moment. Each of the reader's queries then reads rows of that moment and of before
 * alone, as they were: an order that has changed since has what its fills up to then say of it, a condition
 * that ended later is open, a training is in the state that it was in then.
 *
 * What the database keeps only the newest of is not known of a past moment: an amended order and a trailing
 * stop have their newest numbers, an alert that was repeated later counts once, at its first time. Likewise
 * symbols, sessions of markets, margins, venues and feeds, runs, revisions, columns of the order book and
 * rows of `meta` are the newest. */
#ifndef DB_AS_OF_H
#define DB_AS_OF_H

#include "db/reader.h"

/* At most once a reader; ts_ns > 0. Positions and prices are db_as_of_positions() and db_as_of_prices() from
 * then on. 0; -ENODATA: the record was built again and begins later; -errno. */
int db_reader_as_of(struct db_reader *reader, int64_t ts_ns);

/* The table has only rows for which the SQL holds, of columns of `r`, from then on: as of the reader's
 * moment, or now. At most once a table. 0 or -errno. */
int db_as_of_narrow(struct db_reader *reader, const char *table, const char *where);

/* As db_reader_positions(), by the walk of the reports through the ledger up to the moment. */
int db_as_of_positions(struct db_reader *reader, void (*row)(void *ctx, const struct db_position_row *row),
                       void *ctx);

/* As db_reader_prices(): of each symbol that has one, the close of the bar that closed last, which is its
 * last price and its mark, at that bar's end. */
int db_as_of_prices(struct db_reader *reader, void (*row)(void *ctx, const struct db_price_row *row),
                    void *ctx);

/* Of the whole record, whatever the reader's moment: the newest moment before `ts_ns` at which something
 * happened: a fill, an order's first or last change, an alert's beginning or end; `later`: the first after
 * it. 0; -ENOENT: there is none. */
int db_as_of_step(struct db_reader *reader, int64_t ts_ns, bool later, int64_t *ret);
/* Likewise the end of a stored bar. -ENOENT also for an unknown symbol. */
int db_as_of_step_bar(struct db_reader *reader, const char *symbol, int64_t interval_ns, int64_t ts_ns,
                      bool later, int64_t *ret);
/* The newest moment that the record has: of those, of prices and of equity. -ENOENT likewise. */
int db_as_of_newest(struct db_reader *reader, int64_t *ret);

#endif

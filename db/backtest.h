/* Saves a backtest as a database, so that everything that reads a daemon's reads it too: its lists, the
 * dashboard, ledger verify. */
#ifndef DB_BACKTEST_H
#define DB_BACKTEST_H

#include <stdbool.h>

#include "engine/backtest/backtest.h"

/* The key of meta that marks a saved backtest: it holds a whole history, and nothing newer comes. */
#define DB_BACKTEST_KEY "saved_backtest"

/* The venue of its symbols. */
#define DB_BACKTEST_VENUE "backtest"

/* Makes the database `path`, which must not be there, with the accounts, symbols, orders, fills, ledger
 * rows, splits and dividends, positions, a point of equity a row, and the bars up to the last row, each
 * stored before the actions that came after it; symbols whose bars have sessions name `calendar` (NULL:
 * none). Of a backtest that kept its orders and its ledger. It takes as long as the disk takes. 0; an error
 * of db_writer_open(), -EBADMSG for rows that contradict each other, -EIO when the disk refuses (full, an I/O
 * error), -ENOMEM; err: one sentence with the cause; the file is then of no use.
 */
int db_backtest_save(const char *path, const struct backtest *backtest, const struct market *market,
                     const struct account_spec *accounts, const char *calendar, char *err, size_t err_size);

/* Is the database `path` a saved backtest, of any schema version? False where it cannot be read. */
bool db_backtest_is(const char *path);

#endif

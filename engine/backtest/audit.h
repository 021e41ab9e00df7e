/* Checks that a backtest is consistent: its ledger's ids and chain, every balance against its rows, every
 * fill against its ledger rows and its order, and the accounts' results against both. */
#ifndef ENGINE_BACKTEST_AUDIT_H
#define ENGINE_BACKTEST_AUDIT_H

#include "engine/backtest/backtest.h"

/* Rows of all accounts in the order of their ids, as one engine booked them: pointers into the backtest. */
struct backtest_rows {
    const struct ledger_row **ledger;
    const struct order **orders;
    const struct fill **fills;
    size_t n_ledger, n_orders, n_fills;
};

/* 0 with *ret; -EBADMSG where an id is missing or twice, with a sentence; -ENOMEM. What was not kept has no
 * rows. */
int backtest_rows(const struct backtest *backtest, struct backtest_rows *ret, char *err, size_t err_size);
void backtest_rows_finish(struct backtest_rows *rows); /* all zero is fine */

/* Of a backtest that kept its ledger and its orders. 0 and the last row's hash (zeros without rows); -EBADMSG
 * with a sentence that names the first row found wrong; -ENOMEM. */
int backtest_audit(const struct backtest *backtest, const struct market *market,
                   const struct account_spec *accounts, uint8_t ret_hash[static LEDGER_HASH_SIZE], char *err,
                   size_t err_size);

#endif

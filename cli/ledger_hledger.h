/* The ledger as a journal of hledger's, for whoever keeps books with it. */
#ifndef CLI_LEDGER_HLEDGER_H
#define CLI_LEDGER_HLEDGER_H

#include "db/reader.h"

/* Prints every row, oldest first: a transaction a fill, a transfer, or a row of another kind. What an account
 * holds of an asset is assets:NAME:ASSET; it comes from and goes to equity:deposits:NAME, equity:resets:NAME,
 * equity:transfers, liabilities:loans:NAME:ASSET, expenses:fees:NAME and expenses:interest:NAME. A trade's
 * base asset bears what it cost or brought in the quote asset (@@), so each transaction balances to the last
 * unit (where that is less than a unit, against equity:conversion); each posting asserts the balance that the
 * ledger has after it. Commodities and accounts are declared. 0, -ENOMEM, or the reader's -errno. */
int cli_ledger_hledger(struct db_reader *reader);

#endif

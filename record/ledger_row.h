/* The double-entry ledger: every row moves an amount of one asset from a contra account to an account of
 * the user's (or back, when negative), so that an account's balance is the sum of its rows, to the last unit,
 * at all times. Rows are chained by SHA-256. An amount of 0 has no row, with one exception (see RESET).
 *
 * Within an event rows are in the order in which things happened; those of one thing in this order:
 *
 *   a fill      BORROW of the base that a sale lacks, or of the currency that a purchase on margin lacks,
 *               TRADE of the base, TRADE of the quote, FEE in quote, BORROW, negative, of the base that a buy
 *               gives back, and of the currency that is paid back: all with its order's and its own id
 *   interest    INTEREST in the account's currency, a row for each short position, by account, by symbol,
 *               and then one for borrowed currency
 *   a transfer  TRANSFER out of one account, TRANSFER into the other
 *   a deposit,  its row, and BORROW, negative, of the currency that is paid back with it
 *   a dividend
 *   a reset     RESET of the account's currency, even of 0: it marks the moment; then asset by asset:
 *               RESET of the others to what is borrowed of them, BORROW, negative, of what was borrowed;
 *               DEPOSIT of the opening cash
 *
 * Only rows of a fill name an order and a fill. The borrowed amount of an asset is the sum of its BORROW
 * rows. */
#ifndef RECORD_LEDGER_ROW_H
#define RECORD_LEDGER_ROW_H

#include <stddef.h>
#include <stdint.h>

#include "exchange/symbol.h"
#include "record/field.h"

enum ledger_kind {
    LEDGER_DEPOSIT,  /* contra: "equity"; negative: a withdrawal */
    LEDGER_TRADE,    /* contra: "market" */
    LEDGER_FEE,      /* contra: "fees" */
    LEDGER_TRANSFER, /* contra: "transfers": out of one account, into another, of one sum */
    LEDGER_BORROW,   /* contra: "loans"; negative: given back */
    LEDGER_INTEREST, /* contra: "interest" */
    LEDGER_RESET,    /* contra: "equity": an account's balance when it was reset */
    LEDGER_SPLIT,    /* contra: "splits": the units of the base that a split added or removed */
    LEDGER_DIVIDEND, /* contra: "dividends": for a long position; negative: for a short one */
    LEDGER_KINDS,
};

enum { LEDGER_HASH_SIZE = 32 };

struct ledger_row {
    uint64_t id; /* 1, 2, 3 … without a gap */
    int64_t ts_ns;
    int account;
    char asset[ASSET_NAME_MAX];
    int scale; /* of amount and balance */
    enum ledger_kind kind;
    int64_t amount;                 /* into the account, out of the contra account */
    int64_t balance;                /* of (account, asset) after this row */
    uint64_t order_id, fill_id;     /* 0 where there is none */
    uint8_t hash[LEDGER_HASH_SIZE]; /* SHA-256(previous hash, ledger_row_text) */
};

/* Amounts have the row's own scale: to compare them, pass a symbol with that scale. */
#define RECORD_LEDGER_ROW(FIRST, NEXT) \
    FIRST(id, "id", "id", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(account, "account", "account", ACCOUNT, FIXED, REQUIRED, NULL) \
    NEXT(asset, "asset", "asset", TEXT, FIXED, REQUIRED, NULL) \
    NEXT(scale, "scale", "scale", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(kind, "kind", "kind", WORD, FIXED, REQUIRED, &record_words_ledger_kind) \
    NEXT(amount, "amount", "amount", QUOTE, FIXED, REQUIRED, NULL) \
    NEXT(balance, "balance", "balance", QUOTE, FIXED, REQUIRED, NULL) \
    NEXT(order_id, "order_id", "order_id", UNSIGNED, FIXED, NULLABLE, NULL) \
    NEXT(fill_id, "fill_id", "fill_id", UNSIGNED, FIXED, NULLABLE, NULL) \
    NEXT(hash, "hash", "hash", HASH, FIXED, REQUIRED, NULL)

extern const struct record record_ledger;

enum { LEDGER_TEXT_MAX = 256 };

const char *ledger_kind_name(enum ledger_kind kind); /* "deposit", "trade" … */
/* The kind as people call it: "withdrawal" of a deposit below 0. Not in the database, nor in the hash. */
const char *ledger_row_word(const struct ledger_row *row);
int ledger_kind_parse(const char *name);               /* enum ledger_kind or -EINVAL */
const char *ledger_contra_name(enum ledger_kind kind); /* "equity", "market" … */

/* The row in the one form that is hashed:
 * "id|ts_ns|account|asset|scale|kind|amount|balance|order_id|fill_id". Returns the length. */
size_t ledger_row_text(const struct ledger_row *row, char buf[static LEDGER_TEXT_MAX]);

/* Sets row->hash from the row before it (all zeros before the first). 0, or -ENOMEM from the library. */
int ledger_row_chain(struct ledger_row *row, const uint8_t previous[static LEDGER_HASH_SIZE]);

#endif

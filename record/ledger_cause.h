/* What a row of the ledger is of, so that each amount can be computed again from other rows: which symbol, of
 * which quantity at which price and rate, by which action or command. A row for each of the ledger, by its
 * id; those of a fill have its order and fill in the ledger's row. Not hashed in the ledger's chain: sealed
 * as the other tables are (db/row_hash.h). */
#ifndef RECORD_LEDGER_CAUSE_H
#define RECORD_LEDGER_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/corporate_action.h"
#include "record/field.h"

enum ledger_cause_kind {
    CAUSE_OPENING, /* an account's first deposit, and that after a reset */
    CAUSE_DEPOSIT,
    CAUSE_WITHDRAWAL, /* also of what is left as an account is closed */
    CAUSE_TRANSFER,   /* counterparty: the other account */
    CAUSE_RESET,
    CAUSE_FILL,     /* symbol */
    CAUSE_FEE,      /* the deposit of an asset that a venue's fee is taken in; symbol: the fill's */
    CAUSE_VENUE,    /* what an account at its venue has there beyond what is booked here */
    CAUSE_INTEREST, /* of a short (symbol, qty, price), or of borrowed currency (base); rate_e6, hours, due */
    CAUSE_ARREARS,  /* interest and dividends that the currency did not suffice for before; due: all of it */
    CAUSE_DIVIDEND, /* symbol, action, qty, due */
    CAUSE_SPLIT,    /* symbol, action, qty */
    CAUSE_KINDS,
};

enum { LEDGER_CAUSE_KEY_MAX = 37 }; /* COMMAND_KEY_MAX */

struct ledger_cause {
    uint64_t id; /* the ledger row's */
    enum ledger_cause_kind kind;
    bool derived;               /* of a row from before there were causes: only what other rows say */
    uint64_t event;             /* that it was booked with; 0: not known */
    int symbol;                 /* -1: none */
    char action[ACTION_ID_MAX]; /* with the symbol it names the row of corporate_actions; "": none */
    int64_t qty;                /* qty_scale; below 0: short. Dividends and splits: before it; 0: none */
    int64_t price; /* price_scale: what the short was valued at; 0: no price was known, `base` is its cost */
    int64_t base,
        due; /* what the rate is of; what should be booked, the row may have less: of the row's scale */
    int32_t rate_e6;                /* a year's */
    int64_t hours;                  /* 0: none */
    int counterparty;               /* -1: none */
    uint64_t command;               /* in the table of commands; 0: of none */
    char key[LEDGER_CAUSE_KEY_MAX]; /* given with it; "": none */
    int64_t uid;                    /* of its client; -1: of no command */
};

/* Numbers have the symbol's scales, base and due the ledger row's. */
#define RECORD_LEDGER_CAUSE(FIRST, NEXT) \
    FIRST(id, "id", "id", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(kind, "cause", "cause", WORD, FIXED, REQUIRED, &record_words_ledger_cause_kind) \
    NEXT(derived, "derived", "derived", BOOL, FIXED, REQUIRED, NULL) \
    NEXT(event, "event", "event", UNSIGNED, FIXED, NULLABLE, NULL) \
    NEXT(symbol, "symbol", "symbol", SYMBOL, FIXED, REQUIRED, NULL) \
    NEXT(action, "action", "action", TEXT, FIXED, NULLABLE, NULL) \
    NEXT(qty, "qty", "qty", QTY, FIXED, NULLABLE, NULL) \
    NEXT(price, "price", "price", PRICE, FIXED, NULLABLE, NULL) \
    NEXT(base, "base", "base", QUOTE, FIXED, NULLABLE, NULL) \
    NEXT(rate_e6, "rate_e6", "rate", SHARE_E6, FIXED, NULLABLE, NULL) \
    NEXT(hours, "hours", "hours", SIGNED, FIXED, NULLABLE, NULL) \
    NEXT(due, "due", "due", QUOTE, FIXED, NULLABLE, NULL) \
    NEXT(counterparty, "counterparty", "counterparty", ACCOUNT, FIXED, REQUIRED, NULL) \
    NEXT(command, "command", "command", UNSIGNED, FIXED, NULLABLE, NULL) \
    NEXT(key, "command_key", "key", TEXT, FIXED, NULLABLE, NULL) \
    NEXT(uid, "uid", "uid", SIGNED, FIXED, UNKNOWN, NULL)

/* What was due and has no row of the ledger, since the currency sufficed for nothing of it: interest, or the
 * dividend of a short. It is a liability from then on: a later row of CAUSE_ARREARS pays it. */
struct ledger_accrual {
    uint64_t id; /* 1, 2, 3 …; 0: the next */
    int account;
    int64_t ts_ns;
    struct ledger_cause cause; /* its id is 0 */
};

#define RECORD_ACCRUAL(FIRST, NEXT) \
    FIRST(id, "id", "id", UNSIGNED, FIXED, NULLABLE, NULL) \
    NEXT(account, "account", "account", ACCOUNT, FIXED, REQUIRED, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(cause.event, "input_seq", "event", UNSIGNED, FIXED, REQUIRED, NULL) \
    NEXT(cause.kind, "cause", "cause", WORD, FIXED, REQUIRED, &record_words_ledger_cause_kind) \
    NEXT(cause.symbol, "symbol", "symbol", SYMBOL, FIXED, REQUIRED, NULL) \
    NEXT(cause.action, "action", "action", TEXT, FIXED, NULLABLE, NULL) \
    NEXT(cause.qty, "qty", "qty", QTY, FIXED, NULLABLE, NULL) \
    NEXT(cause.price, "price", "price", PRICE, FIXED, NULLABLE, NULL) \
    NEXT(cause.base, "base", "base", QUOTE, FIXED, NULLABLE, NULL) \
    NEXT(cause.rate_e6, "rate_e6", "rate", SHARE_E6, FIXED, NULLABLE, NULL) \
    NEXT(cause.hours, "hours", "hours", SIGNED, FIXED, NULLABLE, NULL) \
    NEXT(cause.due, "due", "due", QUOTE, FIXED, REQUIRED, NULL)

extern const struct record record_ledger_accruals, record_ledger_causes;

const char *ledger_cause_kind_name(enum ledger_cause_kind kind); /* "opening", "deposit" … */
int ledger_cause_kind_parse(const char *name);                   /* or -EINVAL */

/* A cause of that kind and nothing else. */
struct ledger_cause ledger_cause_of(enum ledger_cause_kind kind);

#endif

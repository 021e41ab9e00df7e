/* Statements of accounts: of a period, and of each currency,
 *
 *   opening + flows + realized + change of unrealized - fees - interest + dividends = closing
 *
 * to the unit, with the marks by which positions were valued and their times. From the ledger, the fills and
 * the bars, beside the daemon or after it. docs/statements.md defines each figure.
 *
 * A period is [from, to), as a report's: what happened at `from` belongs to it, and what happened at `to` to
 * the next one, whose opening is this one's closing. Both are times of the record; the rows of the ledger
 * that belong to it are those from the first one at `from` or later up to the first one at `to` or later.
 *
 * Sums are int128 units of a currency at its `scale`; what trades leave of a position is int64, as the engine
 * has it. Nothing is a double. */
#ifndef DB_BOOKS_STATEMENT_H
#define DB_BOOKS_STATEMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/reader.h"
#include "exchange/text.h"

struct db_statement_query {
    int64_t from_ns, to_ns; /* INT64_MIN: from the beginning of the record; INT64_MAX: to now */
    int64_t now_ns;         /* the wall clock: nothing is known of what is later */
    const char *account;    /* this one alone; NULL: all */
    bool fifo;              /* realized by first in, first out; else by average cost, as positions are */
};

/* When a position was valued. */
enum db_statement_moment {
    DB_STATEMENT_OPENING,
    DB_STATEMENT_RESET, /* of the account, within the period */
    DB_STATEMENT_CLOSING,
};

/* What a mark is. */
enum db_statement_source {
    DB_STATEMENT_NONE,   /* there is no price: `price` is 0 */
    DB_STATEMENT_VENUE,  /* the close of a bar of the venue's, of interval_ns */
    DB_STATEMENT_TRADES, /* the close of a bar that was made here of trades */
    DB_STATEMENT_STORED, /* the engine's newest mark, stored after the last bar */
    DB_STATEMENT_STOP,   /* what it was valued at when the daemon was stopped, after the last bar */
    DB_STATEMENT_FILL,   /* the account's own last fill: no bar and no stored mark is as old */
};
const char *db_statement_source_word(enum db_statement_source source); /* "venue", "trades" … */
const char *db_statement_moment_word(enum db_statement_moment moment); /* "opening" … */

/* A position as it was valued. */
struct db_statement_mark {
    enum db_statement_moment moment;
    int64_t ts_ns; /* of the moment */
    struct symbol symbol;
    int64_t qty;     /* qty_scale; negative: short */
    int128_t cost;   /* quote_scale; negative: what a short was sold for */
    int64_t price;   /* price_scale */
    int64_t mark_ns; /* when it was the price; 0: there is none */
    enum db_statement_source source;
    int64_t interval_ns; /* of a bar */
    int128_t value;      /* quote_scale; without a price it is the cost, and no figure has it */
};

/* Money that came or went, by its row of the ledger. A reset is one row: all that was there. */
struct db_statement_flow {
    uint64_t id;
    int64_t ts_ns;
    enum ledger_kind kind;
    bool of_reset; /* a reset, or the opening cash after it */
    char asset[ASSET_NAME_MAX];
    int scale;
    int128_t amount;
};

/* One currency of an account. */
struct db_statement_money {
    char asset[ASSET_NAME_MAX];
    int scale;
    int128_t opening, closing;      /* cash, receivables, and positions quoted in it */
    int128_t opening_cash, cash;    /* less what of it is borrowed; at the end `cash` */
    int128_t deposits, withdrawals; /* withdrawals <= 0 */
    int128_t transfers;             /* in less out */
    int128_t resets;                /* what was there, leaving, and the opening cash that came after */
    int128_t exchanged;             /* the account's currency as another symbol's base */
    int128_t realized, unrealized;  /* of the period; unrealized is its change */
    int128_t fees, fees_in_kind;    /* positive when paid; the part of `fees` taken in the bought coin */
    int128_t interest;              /* positive when paid */
    int128_t opening_receivable;    /* dividends that are booked and not paid; below 0: of shorts */
    int128_t receivable;            /* at the end */
    int128_t withheld;              /* that `dividends` are without */
    int128_t dividends;             /* from the ex-date on, net; below 0: of shorts */
    bool no_opening, no_closing, no_reset; /* a position had no price then: what needs it is not known */
};

static inline int128_t db_statement_flows(const struct db_statement_money *money)
{
    return money->deposits + money->withdrawals + money->transfers + money->resets + money->exchanged;
}

struct db_statement_account {
    struct db_account account;
    int64_t from_ns, to_ns;            /* of a period without a beginning: the account's own */
    struct db_statement_money *moneys; /* the account's currency first, then those that moved */
    struct db_statement_mark *marks;   /* by time */
    struct db_statement_flow *flows;   /* likewise */
    size_t n_moneys, n_marks, n_flows;
    bool any; /* it has rows of the ledger before the period's end */
};

struct db_statements {
    struct db_statement_query query;
    int64_t from_ns, to_ns;
    struct db_statement_account *accounts; /* those that began before the period's end */
    size_t n_accounts;
};

/* 0, for db_statement_finish(). -EDOM: the period ends before it begins, or begins in the future; -ENODATA:
 * the record was rebuilt and begins later; -ENOENT: there is no such account; -EBADMSG: the ledger and the
 * fills do not tie; else -errno, all with db_reader_error(). Reads one moment of the database; within a
 * transaction of the caller's with `started`. */
int db_statement_make(struct db_reader *reader, const struct db_statement_query *query, bool started,
                      struct db_statements *ret);
void db_statement_finish(struct db_statements *statement);

/* papertape.statement/1: decimals as texts, null for what is not known. The caller's; NULL without memory. */
json_t *db_statement_json(const struct db_statements *statement);
/* Lines of at most 80 columns, each ended. */
void db_statement_text(const struct db_statements *statement, struct text *text);
/* One HTML page: report/page.h. 0 or -ENOMEM. */
int db_statement_page(const struct db_statements *statement, struct text *text);

/* "2026-11-24T14:02:00Z", with as many digits of a second as it has. */
enum { DB_STATEMENT_TIME_MAX = 48 };
const char *db_statement_time(int64_t ns, char ret[static DB_STATEMENT_TIME_MAX]);

#endif

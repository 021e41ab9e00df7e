/* What all accounts have together: one sum for each currency, and no sum of two. The daemon's status,
 * `papertape account list`, --once and the dashboard's header add by these functions, exactly.
 *
 * The first account's currency is the one that others are converted into, where a symbol of both currencies
 * is streamed and its price is fresh; without one they stay beside each other. */
#ifndef DB_BOOKS_TOTALS_H
#define DB_BOOKS_TOTALS_H

#include <jansson.h>
#include <stdbool.h>

#include "db/reader.h"
#include "exchange/decimal.h"
#include "exchange/symbol.h"

enum { DB_TOTALS_MAX = 32 };

struct db_total {
    char currency[ASSET_NAME_MAX];
    int scale;             /* of the amounts */
    int accounts, unknown; /* those whose equity is not known are not in it */
    int128_t equity, deposits;
    double rate;                       /* of one unit in the first currency: 1 of itself; NaN: not streamed */
    char rate_symbol[SYMBOL_NAME_MAX]; /* that it is of; "": of none */
};

struct db_totals {
    struct db_total list[DB_TOTALS_MAX]; /* in the order of the first account of each */
    int n;
    bool more; /* there are currencies beyond these */
};

/* An account's; `known`: is its equity? A scale other than that of the currency's first account is converted
 * to the finer of the two. */
void db_totals_add(struct db_totals *totals, const char *currency, int scale, bool known, int64_t equity,
                   int64_t deposits);
/* The same of figures that are not exact; NaN: not known. */
void db_totals_add_real(struct db_totals *totals, const char *currency, double equity, double deposits);

/* Adds every account that is stored: its equity at its newest point, and with `flows` what was put in since
 * its last reset, which reads its ledger. 0 or -errno with db_reader_error(). */
int db_totals_read(struct db_reader *reader, bool flows, struct db_totals *totals);

/* A symbol's fresh price, after all were added: a rate, where it is a pair of the first and another currency.
 */
void db_totals_price(struct db_totals *totals, const struct symbol *symbol, int64_t price);

/* All equity in the first currency; NaN where a rate or an account's equity is missing. */
double db_totals_converted(const struct db_totals *totals);

double db_total_equity(const struct db_total *total);     /* NaN where an account's is not known */
double db_total_return_pct(const struct db_total *total); /* of the deposits; NaN likewise */

/* An array: {"currency": "USDT", "accounts": 2, "equity": 10000.5, "deposits": 10000, "return_pct": 0.005,
 * "rate": 1, "rate_symbol": null, "converted": 10000.5}. A new reference, NULL without memory. */
json_t *db_totals_json(const struct db_totals *totals);

#endif

/* The live equity curve, whole, as text: of the verb `equity` and of the daemon's HTTP server. */
#ifndef DB_EQUITY_CURVE_H
#define DB_EQUITY_CURVE_H

#include "db/reader.h"

enum db_curve_form {
    /* A header, and exact decimals; drawdown_share is empty where it is not known; last ts_iso, the time in
     * ISO 8601. */
    DB_CURVE_CSV,
    DB_CURVE_JSON /* papertape.equity/1: {"schema":…,"equity":[{…}…]} in one line */
};

/* Which columns a point has, in this order, in either form: account, currency, ts_ns, equity, cash, peak (in
 * the currency) and drawdown_share, how far equity is below the peak (0 or less). */
struct db_curve_row {
    const struct db_account *account;
    struct db_equity_point point;
    double drawdown; /* NaN: the peak is not above 0 */
};

/* Every stored point of one account, or of all (NULL), by account and time. It is read a page at a time, each
 * a query of its own that holds no lock while the rows are used, so that memory is bounded and a slow reader
 * keeps nothing open; what the daemon adds meanwhile follows. `row` returns 0, or what ends it. 0; -ENOENT
 * with db_reader_error(): there is no such account; what `row` returned; -errno. */
int db_equity_curve_read(struct db_reader *reader, const char *account,
                         int (*row)(void *ctx, const struct db_curve_row *row), void *ctx);

/* The same as text, in parts of some 64 kB at most. `put` returns 0, or what ends it. */
int db_equity_curve_write(struct db_reader *reader, const char *account, enum db_curve_form form,
                          int (*put)(void *ctx, const char *bytes, size_t n), void *ctx);

#endif

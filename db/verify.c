#include "db/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/verification.h"

bool db_verify_stopped(const struct verification *v)
{
    return !v->to->ok || v->out_of_memory;
}

void db_verify_note(struct verification *v, const char *text)
{
    struct db_verified *to = v->to;
    if (to->ok)
        snprintf(to->failure, sizeof to->failure, "%s", text);
    to->ok = false;
    if (to->n_failures < DB_VERIFIED_FAILURES_MAX)
        snprintf(to->failures[to->n_failures++], DB_ERROR_MAX, "%s", text);
}

void db_verify_wrong(struct verification *v, const char *table, uint64_t id, const char *format, ...)
{
    char text[DB_ERROR_MAX];
    if (!v->to->ok)
        return;
    int n = snprintf(text, sizeof text, "%s: row %" PRIu64 ": ", table, id);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    db_verify_note(v, text);
}

void *db_verify_append(struct verification *v, void **rows, size_t *n, size_t size)
{
    if ((*n & (*n - 1)) == 0) {
        void *more = realloc(*rows, (*n ? 2 * *n : 1) * size);
        if (!more) {
            v->out_of_memory = true;
            return NULL;
        }
        *rows = more;
    }
    void *row = (char *)*rows + (*n)++ * size;
    memset(row, 0, size);
    return row;
}

static void check_position(void *ctx, const struct db_position_row *row)
{
    struct verification *v = ctx;
    const struct position *p = &row->position;
    char text[DB_ERROR_MAX];
    if (db_verify_stopped(v))
        return;
    v->to->positions++;
    int symbol = (int)(row->symbol - v->reader->symbols);
    const struct db_holding *holding = db_holdings_of(&v->holdings, row->account->number, symbol);
    if (!holding) {
        v->out_of_memory = true;
        return;
    }
    const struct position *e = &holding->position;
    if (p->qty != e->qty || p->cost != e->cost || p->realized != e->realized || p->fees != e->fees) {
        snprintf(text, sizeof text,
                 "positions: row %s %s: says quantity %" PRId64 ", cost %" PRId64 ", realized %" PRId64
                 ", fees %" PRId64 "; its fills lead to %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64,
                 row->account->name, row->symbol->symbol.name, p->qty, p->cost, p->realized, p->fees, e->qty,
                 e->cost, e->realized, e->fees);
        db_verify_note(v, text);
    } else if (p->fifo_cost != e->fifo_cost || p->fifo_realized != e->fifo_realized ||
               p->opened_ns != e->opened_ns) {
        snprintf(text, sizeof text,
                 "positions: row %s %s: says a cost of %" PRId64 ", realized %" PRId64
                 ", by first in, first out, held since %" PRId64 "; its fills lead to %" PRId64 ", %" PRId64
                 ", %" PRId64,
                 row->account->name, row->symbol->symbol.name, p->fifo_cost, p->fifo_realized, p->opened_ns,
                 e->fifo_cost, e->fifo_realized, e->opened_ns);
        db_verify_note(v, text);
    }
}

int db_verify_positions(struct verification *v)
{
    size_t expected = v->holdings.n;
    int r = db_reader_positions(v->reader, check_position, v);
    if (r == 0 && !db_verify_stopped(v) && v->to->positions < expected)
        db_verify_wrong(v, "positions", v->to->positions + 1,
                        "is missing: accounts and symbols with fills have one each");
    return r;
}

/* The first row of a PRAGMA that returns what is wrong. */
static int check_pragma(struct verification *v, const char *sql, bool foreign_keys)
{
    char said[DB_ERROR_MAX], parent[DB_ERROR_MAX], text[DB_ERROR_MAX + sizeof "the file: "];
    uint64_t row;
    int r = db_query_first(v->reader, sql, NULL,
                           foreign_keys ? RECORD_INTO(record_into_chars(said, sizeof said), &row,
                                                      record_into_chars(parent, sizeof parent))
                                        : RECORD_INTO(record_into_chars(said, sizeof said)));
    if (r > 0 && foreign_keys)
        db_verify_wrong(v, said, row, "names a row of %s that is not there", parent);
    else if (r > 0 && strcmp(said, "ok") != 0) {
        snprintf(text, sizeof text, "the file: %s", said);
        db_verify_note(v, text);
    }
    return r < 0 ? r : 0;
}

static int verify_all(struct verification *v)
{
    int r = db_verify_base(v);
    if (r == 0)
        r = db_verify_seals(v);
    if (r == 0 && !db_verify_stopped(v))
        r = db_reader_load_symbols(v->reader);
    if (r == 0 && !db_verify_stopped(v))
        r = db_reader_load_accounts(v->reader);
    if (r == 0 && !db_verify_stopped(v))
        r = db_verify_trades(v);
    if (r == 0 && !db_verify_stopped(v))
        r = db_verify_rates(v);
    if (r == 0 && !db_verify_stopped(v))
        r = db_verify_ledger(v);
    if (r == 0 && !db_verify_stopped(v))
        r = db_verify_positions(v);
    if (r == 0 && !db_verify_stopped(v))
        r = db_verify_causes(v);
    if (r == 0 && !db_verify_stopped(v))
        r = check_pragma(v, "PRAGMA foreign_key_check", true);
    if (r == 0 && !db_verify_stopped(v)) /* last: it names tables, not rows */
        r = check_pragma(v, "PRAGMA integrity_check(1)", false);
    return r;
}

int db_verify(struct db_reader *reader, struct db_verified **ret)
{
    struct verification v = {.reader = reader, .to = calloc(1, sizeof *v.to), .resetting = -1};
    if (!v.to)
        return -ENOMEM;
    v.to->ok = true;
    int r = db_reader_begin(reader);
    if (r == 0) {
        r = verify_all(&v);
        db_reader_end(reader);
    }
    if (r == -EBADMSG) { /* a row that cannot even be read, or a damaged file */
        db_verify_note(&v, db_reader_error(reader));
        r = 0;
    }
    if (v.out_of_memory)
        r = -ENOMEM;
    for (size_t i = 0; i < v.n_orders; i++)
        v.to->orders += !v.orders[i].missing;
    for (size_t i = 0; i < v.n_fills; i++)
        v.to->fills += !v.fills[i].missing;
    free(v.orders);
    free(v.fills);
    free(v.actions);
    free(v.receivables);
    free(v.expected);
    free(v.balance_index);
    db_holdings_finish(&v.holdings);
    if (r < 0) {
        db_verified_destroy(v.to);
        return r;
    }
    *ret = v.to;
    return 0;
}

void db_verified_destroy(struct db_verified *verified)
{
    if (!verified)
        return;
    free(verified->balances);
    free(verified);
}

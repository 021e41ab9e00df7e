/* The session's symbols: as a former run stored them, updates of their venue, and symbols added while it
 * runs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/session_internal.h"
#include "exchange/fail.h"

struct stored {
    const char *venue;
    const struct symbol *wanted;
    int n;
    struct symbol *found; /* as wanted; without a name: not stored */
};

static void take_stored(void *ctx, const struct db_symbol_row *row)
{
    struct stored *stored = ctx;
    for (int s = 0; s < stored->n; s++)
        if (strcmp(stored->wanted[s].name, row->symbol.name) == 0 && strcmp(stored->venue, row->venue) == 0)
            stored->found[s] = row->symbol;
}

int daemon_session_stored_symbols(struct session *session, const char *venue, struct symbol *symbols, int n)
{
    char reason[DB_ERROR_MAX];
    struct db_reader *reader;
    struct stored stored = {venue, symbols, n, calloc((size_t)n, sizeof *stored.found)};
    int r = stored.found ? db_reader_open(session->state->database, &reader, reason, sizeof reason) : -ENOMEM;
    if (r == 0) {
        r = db_reader_symbols(reader, take_stored, &stored);
        db_reader_close(reader);
    }
    for (int s = 0; s < n && r == 0; s++)
        if (!stored.found[s].name[0])
            r = -ENOENT;
    if (r == 0)
        memcpy(symbols, stored.found, (size_t)n * sizeof *symbols);
    free(stored.found);
    return r;
}

int daemon_session_first_moments(struct session *session,
                                 void (*row)(void *ctx, const struct db_symbol_row *symbol, int64_t first_ns),
                                 void *ctx)
{
    char reason[DB_ERROR_MAX];
    struct db_reader *reader;
    int r = db_reader_open(session->state->database, &reader, reason, sizeof reason);
    if (r < 0)
        return r;
    r = db_reader_first_moments(reader, row, ctx);
    db_reader_close(reader);
    return r;
}

static void take_open(void *ctx, const struct bar *bar)
{
    *(int64_t *)ctx = bar->open_ns;
}

int64_t daemon_session_stored_bar(const struct session *session, const char *symbol, int64_t interval_ns)
{
    char reason[DB_ERROR_MAX];
    struct db_reader *reader;
    int64_t open_ns = 0;
    if (db_reader_open(session->state->database, &reader, reason, sizeof reason) < 0)
        return 0;
    db_reader_last_bars(reader, symbol, interval_ns, BAR_VENUE, 1, take_open, &open_ns);
    db_reader_close(reader);
    return open_ns;
}

bool daemon_session_has_meta(const struct session *session, const char *key)
{
    char text[DB_ERROR_MAX];
    struct db_reader *reader;
    if (!session->state || db_reader_open(session->state->database, &reader, text, sizeof text) < 0)
        return false;
    bool has = db_reader_meta(reader, key, text, sizeof text) != -ENOENT;
    db_reader_close(reader);
    return has;
}

/* What it is from now on: an event, and its row. */
static void put_listed(struct session *session, int index, const struct symbol *symbol)
{
    struct event event = {.kind = EVENT_SYMBOL, .symbol = {index, *symbol}};
    db_writer_group_begin(session->writer);
    daemon_session_event(session, &event);
    daemon_session_put_symbol(session, index, symbol);
    db_writer_group_end(session->writer);
}

int daemon_session_update_symbol(struct session *session, int index, const struct symbol *symbol, char *err,
                                 size_t err_size)
{
    if (!symbol_same_units(engine_symbol(session->engine, index), symbol))
        return fail_with(-EINVAL, err, err_size,
                         "%s: the venue lists it with other assets or decimals than %s holds", symbol->name,
                         session->state->database);
    put_listed(session, index, symbol);
    return 0;
}

int daemon_session_rename_symbol(struct session *session, int index, const struct symbol *symbol)
{
    if (!symbol_renamed(engine_symbol(session->engine, index), symbol) ||
        engine_find_symbol(session->engine, symbol->name) >= 0)
        return -EINVAL;
    db_writer_group_begin(session->writer);
    daemon_session_price_rename(session, engine_symbol(session->engine, index)->name, symbol->name);
    put_listed(session, index, symbol);
    db_writer_group_end(session->writer);
    return 0;
}

/* ---- one more ---- */

struct past_symbol {
    const struct symbol *symbol;
    bool known;
};

static void see_position(void *ctx, const struct db_position_row *row)
{
    struct past_symbol *past = ctx;
    past->known |= strcmp(row->symbol->symbol.name, past->symbol->name) == 0;
}

static void see_action(void *ctx, const struct db_action_row *row)
{
    (void)row;
    ((struct past_symbol *)ctx)->known = true;
}

/* A symbol that an earlier run streamed: what was realized with it is kept, and splits and dividends that
 * took effect are not applied again. No event reports this, so a replay of the log needs a state after it. */
static int restore_past(struct session *session, int index)
{
    const struct engine *engine = session->engine;
    struct past_symbol past = {.symbol = engine_symbol(engine, index)};
    struct db_reader *reader = NULL;
    struct db_recovered *recovered = NULL;
    char reason[DB_ERROR_MAX] = "";
    int n = engine_symbols(engine), r;
    struct symbol *symbols = calloc((size_t)n, sizeof *symbols);
    if (!symbols)
        return -ENOMEM;
    for (int s = 0; s < n; s++)
        symbols[s] = *engine_symbol(engine, s);
    r = db_reader_open(session->state->database, &reader, reason, sizeof reason);
    if (r == 0)
        r = db_reader_positions(reader, see_position, &past);
    if (r == 0)
        r = db_reader_actions(reader, past.symbol->name, see_action, &past);
    if (r == -ENOENT) /* a name that is new */
        r = 0;
    if (r == 0 && past.known)
        r = db_recover(reader, symbols, n, &recovered, reason, sizeof reason);
    for (size_t i = 0; r == 0 && recovered && i < recovered->n_positions; i++) {
        const struct db_recovered_position *position = &recovered->positions[i];
        if (position->symbol == index && position->position.qty == 0)
            r = engine_restore_position(session->engine, position->account, index, &position->position);
    }
    for (size_t i = 0; r == 0 && recovered && i < recovered->n_actions; i++)
        if (recovered->actions[i].symbol == index)
            r = engine_restore_action(session->engine, index, recovered->actions[i].id,
                                      recovered->actions[i].ex_ns);
    if (r == 0 && recovered) {
        session->run++;
        r = daemon_session_log_state(session, STATE_NEW_RUN);
    }
    if (r < 0)
        daemon_log_error("%s: what the database holds of it cannot be kept: %s", past.symbol->name,
                         *reason ? reason : strerror(-r));
    db_recovered_destroy(recovered);
    db_reader_close(reader);
    free(symbols);
    return r;
}

int daemon_session_add_symbol(struct session *session, const struct symbol *symbol, bool command)
{
    int index = engine_symbols(session->engine);
    if (index >= SYMBOLS_MAX)
        return -ENOSPC;
    struct event event = {.kind = EVENT_SYMBOL, .symbol = {index, *symbol}};
    db_writer_group_begin(session->writer);
    daemon_session_put_symbol(session, index, symbol); /* before the rows that name it */
    if (command)
        db_writer_put_streamed(session->writer, index, true);
    daemon_session_event(session, &event);
    db_writer_group_end(session->writer);
    if (engine_symbols(session->engine) == index)
        return -EINVAL;
    int r = restore_past(session, index);
    return r < 0 ? r : index;
}

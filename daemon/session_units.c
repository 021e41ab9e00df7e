/* The decimals of money: a venue says how many its own quotes have, and an account has one balance of its
 * currency. A fill's notional is price times quantity, rounded to quote_scale, so that any scale within
 * bounds is exact in the same sense; what is stored keeps the one that it has. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/session_internal.h"
#include "exchange/fail.h"

/* Can notional be in units of that scale? As engine_create() asks. */
static bool takes(const struct symbol *symbol, int scale)
{
    int unit_scale = symbol->price_scale + symbol->qty_scale - scale;
    return scale >= 0 && unit_scale >= 0 && unit_scale <= DECIMAL_SCALE_MAX;
}

struct unit_choice {
    const struct session *session;
    struct symbol *symbols;
    int n;
    bool kept[SYMBOLS_MAX];
};

static const char *venue_of(const struct session *session, const struct symbol *symbol)
{
    return symbol->venue[0] ? symbol->venue : session->config->venues[0].venue->format->name;
}

/* A symbol that is stored stays in its units, whatever its venue says of its quotes today. */
static void keep_symbol(void *ctx, const struct db_symbol_row *row)
{
    struct unit_choice *choosing = ctx;
    for (int s = 0; s < choosing->n; s++) {
        struct symbol *symbol = &choosing->symbols[s], same = *symbol;
        same.quote_scale = row->symbol.quote_scale;
        if (strcmp(symbol->name, row->symbol.name) != 0 ||
            strcmp(venue_of(choosing->session, symbol), row->venue) != 0 ||
            !symbol_same_units(&same, &row->symbol))
            continue;
        *symbol = same;
        choosing->kept[s] = true;
    }
}

static void settle(struct unit_choice *choosing, const char *asset, int scale)
{
    for (int s = 0; s < choosing->n; s++)
        if (!choosing->kept[s] && strcmp(choosing->symbols[s].quote, asset) == 0 &&
            takes(&choosing->symbols[s], scale)) {
            choosing->symbols[s].quote_scale = scale;
            choosing->kept[s] = true;
        }
}

static void keep_account(void *ctx, const struct db_account_row *row)
{
    settle(ctx, row->account.currency, row->account.currency_scale);
}

static void read_stored(struct unit_choice *choosing)
{
    char reason[DB_ERROR_MAX];
    struct db_reader *reader;
    if (db_reader_open(choosing->session->state->database, &reader, reason, sizeof reason) < 0)
        return; /* the start will say why */
    db_reader_symbols(reader, keep_symbol, choosing);
    db_reader_accounts(reader, keep_account, choosing);
    db_reader_close(reader);
}

/* The scale of the first that is kept; else the most that one of them has and all take. */
static int common_scale(const struct unit_choice *choosing, const char *asset)
{
    int most = -1;
    for (int s = 0; s < choosing->n; s++) {
        const struct symbol *symbol = &choosing->symbols[s];
        if (strcmp(symbol->quote, asset) != 0)
            continue;
        if (choosing->kept[s])
            return symbol->quote_scale;
        bool all = true;
        for (int t = 0; t < choosing->n && all; t++)
            all = strcmp(choosing->symbols[t].quote, asset) != 0 ||
                  takes(&choosing->symbols[t], symbol->quote_scale);
        if (all && symbol->quote_scale > most)
            most = symbol->quote_scale;
    }
    return most;
}

void daemon_session_choose_units(const struct session *session, struct symbol *symbols, int n)
{
    struct unit_choice choosing = {.session = session, .symbols = symbols, .n = n};
    read_stored(&choosing);
    for (int s = 0; s < n; s++)
        if (!choosing.kept[s])
            settle(&choosing, symbols[s].quote, common_scale(&choosing, symbols[s].quote));
}

int daemon_session_unit_of(const struct session *session, const struct symbol *symbol)
{
    struct unit_choice choosing = {.session = session, .symbols = (struct symbol[1]){*symbol}, .n = 1};
    read_stored(&choosing);
    for (int s = 0; s < engine_symbols(session->engine) && !choosing.kept[0]; s++)
        if (strcmp(engine_symbol(session->engine, s)->quote, symbol->quote) == 0)
            settle(&choosing, symbol->quote, engine_symbol(session->engine, s)->quote_scale);
    return choosing.symbols[0].quote_scale;
}

int daemon_session_check_units(const struct session *session, const char *account, const char *currency,
                               int scale, char *err, size_t err_size)
{
    for (int s = 0; s < session->n_symbols; s++) {
        const struct symbol *symbol = &session->symbols[s];
        if (strcmp(symbol->quote, currency) != 0 || symbol->quote_scale == scale)
            continue;
        return fail_with(
            -EINVAL, err, err_size,
            "account %s: what is stored of %s of %s counts %s with %d decimals, and the account's "
            "has %d: leave that symbol out of [market] symbols, or begin with an empty state",
            account, symbol->name, venue_of(session, symbol), currency, symbol->quote_scale, scale);
    }
    return 0;
}

/* Every row against its seal, every table's numbers without a hole, the ledger's chain, and the schema
 * against the one that this program makes. One failure a table: its first altered row. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "db/counts.h"
#include "db/row_hash.h"
#include "db/verification.h"

#define NAME_OF_ACCOUNT "ifnull((SELECT name FROM accounts WHERE id = account), account)"

static const struct sealed {
    const char *table;
    bool numbered;        /* 1, 2, 3 …, or from the base on */
    const char *key, *by; /* the row's name as text, and the order of rows */
    const char *seal;     /* NULL: chained */
} sealed[] = {
    {"orders", true, "id", "id", DB_ORDER_SEAL},
    {"fills", true, "id", "id", DB_FILL_SEAL},
    {"ledger", true, "id", "id", NULL},
    {"accounts", false, "id", "id", "seal(2, " DB_ACCOUNT_COLUMNS ")"},
    {"symbols", false, "id", "id", "seal(2, " DB_SYMBOL_COLUMNS ")"},
    {"positions", false,
     NAME_OF_ACCOUNT " || ' ' || ifnull((SELECT name FROM symbols WHERE id = symbol), symbol)",
     "account, symbol", "seal(2, " DB_POSITION_COLUMNS ")"},
    {"equity", false, NAME_OF_ACCOUNT " || ' ' || ts_ns", "account, ts_ns", "seal(2, " DB_EQUITY_COLUMNS ")"},
    {"commands", false, "id", "id", "seal(2, " DB_COMMAND_COLUMNS ")"},
    {"alerts", false, "id", "id", "seal(2, " DB_ALERT_COLUMNS ")"},
    {"corporate_actions", true, "id", "id", "seal(2, " DB_ACTION_COLUMNS ")"},
    {"revisions", true, "id", "id", "seal(2, " DB_REVISION_COLUMNS ")"},
    {"meta", false, "key", "key", "seal(2, key, value)"},
    {"rebuilds", false, "id", "id", "seal(2, " DB_REBUILD_COLUMNS ")"},
    {"rebuild_sources", false, "rebuild || ' ' || name", "rebuild, name", "seal(2, " DB_SOURCE_COLUMNS ")"},
    {"salvaged", false, "name || ' ' || first", "name, first", "seal(2, " DB_SALVAGED_COLUMNS ")"},
    {"base", false, "id", "id", "seal(2, " DB_BASE_COLUMNS ")"},
    {"base_accounts", false, "account", "account", "seal(2, " DB_BASE_ACCOUNT_COLUMNS ")"},
    {"base_balances", false, NAME_OF_ACCOUNT " || ' ' || asset", "account, asset",
     "seal(2, " DB_BASE_BALANCE_COLUMNS ")"},
    {"base_positions", false, NAME_OF_ACCOUNT " || ' ' || symbol", "account, symbol",
     "seal(2, " DB_BASE_POSITION_COLUMNS ")"},
    {"base_orders", false, "id", "id", "seal(2, " DB_BASE_ORDER_COLUMNS ")"},
};

/* Up to this number rows of the table may be missing. */
static uint64_t base_of(const struct verification *v, const char *table)
{
    const struct {
        const char *table;
        uint64_t last;
    } bases[] = {
        {"orders", v->base.last_order},       {"fills", v->base.last_fill},
        {"ledger", v->base.last_ledger},      {"corporate_actions", v->base.last_action},
        {"revisions", v->base.last_revision},
    };
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (strcmp(bases[i].table, table) == 0)
            return bases[i].last;
    return 0;
}

/* The first row of a query is what is wrong: its first column's name with `format`. 1, 0, -errno. */
static int first_row(struct verification *v, char *sql, const char *table, const char *words)
{
    sqlite3_stmt *stmt;
    char text[DB_ERROR_MAX];
    int r = sql ? db_query(v->reader, sql, &stmt) : -ENOMEM;
    sqlite3_free(sql);
    if (r < 0)
        return r;
    r = db_query_step(v->reader, stmt);
    if (r > 0) {
        snprintf(text, sizeof text, "%s: row %s: %s", table, db_column_text(stmt, 0), words);
        verify_note(v, text);
    }
    return db_query_end(stmt, r);
}

/* 1 when something is wrong, 0, -errno. */
static int check_sealed(struct verification *v, const struct sealed *s)
{
    int r = 0;
    if (s->numbered)
        r = first_row(v,
                      sqlite3_mprintf("SELECT n FROM (SELECT id, %llu + row_number() OVER (ORDER BY id) AS n "
                                      "FROM %s WHERE id > %llu) WHERE id <> n LIMIT 1",
                                      base_of(v, s->table), s->table, base_of(v, s->table)),
                      s->table, "is missing");
    if (r == 0 && s->seal)
        r = first_row(v,
                      sqlite3_mprintf("SELECT %s FROM %s WHERE hash IS NOT %s ORDER BY %s LIMIT 1", s->key,
                                      s->table, s->seal, s->by),
                      s->table, "was altered: its values and its hash disagree");
    return r;
}

/* What the row `counts` of meta tells, which is sealed itself. */
static int read_counts(struct verification *v, struct db_counts *ret, bool *ret_known)
{
    sqlite3_stmt *stmt;
    int r = db_query(v->reader, "SELECT value FROM meta WHERE key = '" DB_COUNTS_KEY "'", &stmt);
    if (r < 0)
        return r;
    r = db_query_step(v->reader, stmt);
    *ret_known = r > 0 && db_counts_parse(db_column_text(stmt, 0), ret);
    if (r >= 0 && !*ret_known)
        verify_note(v, r > 0 ? "meta: row " DB_COUNTS_KEY ": does not tell how many rows the tables hold"
                             : "meta: row " DB_COUNTS_KEY ": is missing");
    return db_query_end(stmt, r < 0 ? r : 0);
}

/* 1 when a table does not hold as many rows as were stored, 0, -errno. */
static int check_count(struct verification *v, const struct sealed *s, const struct db_counts *counts)
{
    enum db_counted at = db_counted_find(s->table);
    sqlite3_stmt *stmt;
    char text[DB_ERROR_MAX], *sql;
    if (at == DB_COUNTED)
        return 0;
    sql = sqlite3_mprintf("SELECT count(*) FROM %s", s->table);
    int r = sql ? db_query(v->reader, sql, &stmt) : -ENOMEM;
    sqlite3_free(sql);
    if (r < 0)
        return r;
    r = db_query_step(v->reader, stmt);
    int64_t n = r > 0 ? sqlite3_column_int64(stmt, 0) : 0, should = counts->rows[at];
    if (r > 0 && n != should) {
        if (s->numbered)
            snprintf(text, sizeof text, "%s: row %" PRId64 ": is %s: the table should hold %" PRId64 " rows",
                     s->table, n < should ? n + 1 : should + 1, n < should ? "missing" : "too many", should);
        else
            snprintf(text, sizeof text, "%s: holds %" PRId64 " rows, and should hold %" PRId64, s->table, n,
                     should);
        verify_note(v, text);
    }
    return db_query_end(stmt, r < 0 ? r : n != should);
}

struct chain {
    struct verification *v;
    uint8_t hash[LEDGER_HASH_SIZE];
    uint64_t last; /* whose hash that is */
    bool broken;
};

static void check_link(void *ctx, const struct db_ledger_row *entry)
{
    struct chain *chain = ctx;
    struct ledger_row row = entry->row;
    char text[DB_ERROR_MAX];
    const struct db_base *base = &chain->v->base;
    if (chain->broken)
        return;
    bool first = base->event_seq && row.id == base->last_ledger + 1;
    bool follows =
        first || row.id == chain->last + 1; /* else rows of before the base are missing in between */
    if (ledger_row_chain(&row, first ? base->hash : chain->hash) < 0) {
        chain->v->out_of_memory = chain->broken = true;
        return;
    }
    const uint8_t *should = follows ? row.hash : entry->row.hash;
    if (base->event_seq && row.id == base->last_ledger)
        should = base->hash;
    memcpy(chain->hash, should, sizeof chain->hash);
    chain->last = row.id;
    if (memcmp(should, entry->row.hash, sizeof row.hash) == 0 &&
        (!follows || memcmp(row.hash, should, sizeof row.hash) == 0))
        return;
    snprintf(text, sizeof text, "ledger: row %" PRIu64 ": was altered: its values and its hash disagree",
             row.id);
    verify_note(chain->v, text);
    chain->broken = true;
}

/* The reader names a row that it cannot read; the other tables are looked through all the same. */
static int check_chain(struct verification *v)
{
    struct chain chain = {.v = v};
    int r = db_reader_ledger(v->reader, check_link, &chain);
    if (r != -EBADMSG)
        return r;
    if (!chain.broken)
        verify_note(v, db_reader_error(v->reader));
    return 0;
}

/* The schema as the migrations make it, object by object. */
static int check_schema(struct verification *v)
{
    char text[DB_ERROR_MAX];
    int r = db_schema_same(v->reader->db, db_migrations, db_migrations_count, text, sizeof text);
    v->out_of_memory |= r == -ENOMEM;
    if (r == -EBADMSG)
        verify_note(v, text);
    else if (r < 0)
        snprintf(v->reader->error, sizeof v->reader->error, "%s", text);
    return r == -EBADMSG || r == -ENOMEM ? 0 : r;
}

int verify_seals(struct verification *v)
{
    struct db_counts counts;
    bool known = false;
    int r = check_schema(v);
    if (r == 0)
        r = read_counts(v, &counts, &known);
    for (size_t i = 0; r == 0 && !v->out_of_memory && i < sizeof sealed / sizeof *sealed; i++) {
        r = check_sealed(v, &sealed[i]);
        if (r == 0 && known)
            r = check_count(v, &sealed[i], &counts);
        if (r == 0 && !sealed[i].seal)
            r = check_chain(v);
        r = r < 0 ? r : 0;
    }
    return r;
}

/* Checks every row against its seal, every table's numbers for holes, the ledger's chain, and the schema
 * against the one that this program makes. One failure a table: its first altered row. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "db/counts.h"
#include "db/tables.h"
#include "db/verification.h"

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

/* The first row of a query is what is wrong: reports its first column with `format`. 1, 0, -errno. */
static int first_row(struct verification *v, char *sql, const char *table, const char *words)
{
    char text[DB_ERROR_MAX], key[DB_ERROR_MAX];
    int r =
        sql ? db_query_first(v->reader, sql, NULL, RECORD_INTO(record_into_chars(key, sizeof key))) : -ENOMEM;
    sqlite3_free(sql);
    if (r > 0) {
        snprintf(text, sizeof text, "%s: row %.300s: %s", table, key, words);
        db_verify_note(v, text);
    }
    return r;
}

/* 1 when something is wrong, 0, -errno. */
static int check_sealed(struct verification *v, const struct db_table *s)
{
    int r = 0;
    if (s->numbered)
        r = first_row(v,
                      sqlite3_mprintf("SELECT n FROM (SELECT id, %llu + row_number() OVER (ORDER BY id) AS n "
                                      "FROM %s WHERE id > %llu) WHERE id <> n LIMIT 1",
                                      base_of(v, s->name), s->name, base_of(v, s->name)),
                      s->name, "is missing");
    if (r == 0 && s->seal)
        r = first_row(v,
                      sqlite3_mprintf("SELECT %s FROM %s WHERE hash IS NOT %s ORDER BY %s LIMIT 1", s->key,
                                      s->name, s->seal, s->by),
                      s->name, DB_SEALED_ALTERED);
    return r;
}

/* Reads the row `counts` of meta, which is sealed itself. */
static int read_counts(struct verification *v, struct db_counts *ret, bool *ret_known)
{
    char value[DB_COUNTS_TEXT + 1]; /* one that is longer is none */
    int r = db_query_first(v->reader, "SELECT value FROM meta WHERE key = '" DB_COUNTS_KEY "'", NULL,
                           RECORD_INTO(record_into_chars(value, sizeof value)));
    *ret_known = r > 0 && db_counts_parse(value, ret);
    if (r >= 0 && !*ret_known)
        db_verify_note(v, r > 0 ? "meta: row " DB_COUNTS_KEY ": does not say how many rows the tables hold"
                                : "meta: row " DB_COUNTS_KEY ": is missing");
    return r < 0 ? r : 0;
}

/* 1 when a table does not hold as many rows as were stored, 0, -errno. */
static int check_count(struct verification *v, const struct db_table *s, const struct db_counts *counts)
{
    const int at = s->counted;
    char text[DB_ERROR_MAX], *sql;
    if (at == DB_COUNTED)
        return 0;
    sql = sqlite3_mprintf(s->numbered ? "SELECT count(*), (SELECT max(id) FROM %s) FROM %s"
                                      : "SELECT count(*), 0, '%s' FROM %s",
                          s->name, s->name);
    int64_t n = 0, should = counts->rows[at];
    uint64_t last = 0;
    int r = sql ? db_query_first(v->reader, sql, NULL, RECORD_INTO(&n, &last)) : -ENOMEM;
    sqlite3_free(sql);
    if (r > 0 && n != should) {
        uint64_t base = base_of(v, s->name);
        last = last > base ? last : base;
        if (s->numbered) /* there is no hole: the newest */
            snprintf(text, sizeof text, "%s: row %" PRIu64 ": is %s: the table should hold %" PRId64 " rows",
                     s->name, last + (uint64_t)(n < should ? 1 : should - n + 1),
                     n < should ? "missing" : "too many", should);
        else
            snprintf(text, sizeof text, "%s: holds %" PRId64 " rows, and should hold %" PRId64, s->name, n,
                     should);
        db_verify_note(v, text);
    }
    return r < 0 ? r : n != should;
}

struct seal_chain {
    struct verification *v;
    uint8_t hash[LEDGER_HASH_SIZE];
    uint64_t last; /* whose hash that is */
    bool broken;
};

static void check_link(void *ctx, const struct db_ledger_row *entry)
{
    struct seal_chain *chain = ctx;
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
    snprintf(text, sizeof text, "ledger: row %" PRIu64 ": " DB_SEALED_ALTERED, row.id);
    db_verify_note(chain->v, text);
    chain->broken = true;
}

/* The reader names a row that it cannot read; the other tables are checked all the same. */
static int check_chain(struct verification *v)
{
    struct seal_chain chain = {.v = v};
    int r = db_reader_ledger(v->reader, check_link, &chain);
    if (r != -EBADMSG)
        return r;
    if (!chain.broken)
        db_verify_note(v, db_reader_error(v->reader));
    return 0;
}

/* The schema as the migrations make it, object by object. */
static int check_schema(struct verification *v)
{
    char text[DB_ERROR_MAX];
    int r = db_schema_same(v->reader->db, db_migrations, db_migrations_count, text, sizeof text);
    v->out_of_memory |= r == -ENOMEM;
    if (r == -EBADMSG)
        db_verify_note(v, text);
    else if (r < 0)
        snprintf(v->reader->error, sizeof v->reader->error, "%s", text);
    return r == -EBADMSG || r == -ENOMEM ? 0 : r;
}

int db_verify_seals(struct verification *v)
{
    struct db_counts counts;
    bool known = false;
    int r = check_schema(v);
    if (r == 0)
        r = read_counts(v, &counts, &known);
    for (size_t i = 0; r == 0 && !v->out_of_memory && i < db_tables_count; i++) {
        r = check_sealed(v, &db_tables[i]);
        if (r == 0 && known)
            r = check_count(v, &db_tables[i], &counts);
        if (r == 0 && db_tables[i].key && !db_tables[i].seal)
            r = check_chain(v);
        r = r < 0 ? r : 0;
    }
    return r;
}

#include "db/base.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/reader_query.h"
#include "db/row_hash.h"
#include "engine/engine.h"

static const char drop_sql[] = "DELETE FROM base; DELETE FROM base_accounts; DELETE FROM base_balances; "
                               "DELETE FROM base_positions; DELETE FROM base_orders;";

enum { LOT_TEXT = 66 };

struct base_position {
    int account, symbol;
    struct position position;
    const char *lots;
};

#define ROW struct db_base
static const struct record base_record = RECORD_LIST("base", RECORD_BASE);
#undef ROW
#define ROW struct db_base_account
static const struct record account_record = RECORD_LIST("base_accounts", RECORD_BASE_ACCOUNT);
#undef ROW
#define ROW struct db_base_balance
static const struct record balance_record = RECORD_LIST("base_balances", RECORD_BASE_BALANCE);
#undef ROW
#define ROW struct db_base_order
static const struct record order_record = RECORD_LIST("base_orders", RECORD_BASE_ORDER);
#undef ROW
#define ROW               struct base_position
#define HELD(member, ...) RECORD_FIELD_(position.member, __VA_ARGS__)
static const struct record_field position_fields[] = {
    RECORD_BASE_POSITION_OF(RECORD_FIELD_, RECORD_FIELD_, HELD)};
static const struct record position_record = RECORD_OF("base_positions", position_fields);
#undef ROW

/* ---- writing ---- */

struct putting {
    sqlite3 *db;
    sqlite3_stmt *stmt;
    const struct engine *engine;
    const char *venue; /* of symbols that name none */
};

static int64_t id_of_symbol(void *ctx, int index)
{
    const struct putting *to = ctx;
    const struct symbol *symbol = engine_symbol(to->engine, index);
    int64_t id = 0;
    record_sqlite_ask(to->db, "SELECT id FROM symbols WHERE venue = ?1 AND name = ?2",
                      RECORD_PARAMS(symbol->venue[0] ? symbol->venue : to->venue, symbol->name),
                      RECORD_INTO(&id));
    return id;
}

static int put(struct putting *to, const struct record *record, const void *row)
{
    const struct record_ids ids = {.ctx = to, .symbol_id = id_of_symbol};
    record_sqlite_bind(to->stmt, record, row, &ids);
    sqlite3_step(to->stmt);
    return sqlite3_reset(to->stmt);
}

static int put_accounts(struct putting *to)
{
    int rc = SQLITE_OK;
    for (int a = 0; a < engine_accounts(to->engine) && rc == SQLITE_OK; a++) {
        const struct account *account = engine_account(to->engine, a);
        const struct db_base_account row = {a, account->deposits, account->interest_ns};
        rc = put(to, &account_record, &row);
    }
    return rc;
}

static int put_balances(struct putting *to)
{
    int rc = SQLITE_OK;
    for (int a = 0; a < engine_accounts(to->engine); a++) {
        const struct account *account = engine_account(to->engine, a);
        for (int i = 0; i < account->n_assets && rc == SQLITE_OK; i++) {
            const struct balance *balance = &account->assets[i];
            if (balance->total == 0 && balance->borrowed == 0 &&
                (i != account->currency_at || !account->started))
                continue; /* the currency's row says that it has a ledger */
            struct db_base_balance row = {.account = a,
                                          .scale = balance->scale,
                                          .total = balance->total,
                                          .borrowed = balance->borrowed};
            memcpy(row.asset, balance->asset, sizeof row.asset);
            rc = put(to, &balance_record, &row);
        }
    }
    return rc;
}

/* NULL without memory. */
static char *lots_text(const struct lots *lots)
{
    uint32_t n = lots->n - lots->first;
    size_t size = (size_t)n * LOT_TEXT + 1, at = 0;
    char *text = calloc(1, size);
    for (uint32_t i = lots->first; text && i < lots->n; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%" PRId64 " %" PRId64 " %" PRId64, at ? ", " : "",
                               lots->lots[i].qty, lots->lots[i].cost, lots->lots[i].opened_ns);
    return text;
}

static bool traded(const struct position *p)
{
    return p->qty || p->cost || p->realized || p->fifo_realized || p->fees || p->updated_ns || p->closed_ns;
}

static int put_positions(struct putting *to)
{
    int rc = SQLITE_OK;
    for (int a = 0; a < engine_accounts(to->engine); a++) {
        const struct account *account = engine_account(to->engine, a);
        for (int s = 0; s < engine_symbols(to->engine) && rc == SQLITE_OK; s++) {
            if (!traded(&account->positions[s]))
                continue;
            char *lots = lots_text(&account->lots[s]);
            const struct base_position row = {a, s, account->positions[s], lots};
            rc = lots ? put(to, &position_record, &row) : SQLITE_NOMEM;
            free(lots);
        }
    }
    return rc;
}

static int put_orders(struct putting *to)
{
    int rc = SQLITE_OK;
    for (size_t i = 0; i < engine_orders(to->engine) && rc == SQLITE_OK; i++) {
        const struct order *order = engine_order(to->engine, i);
        const struct db_base_order row = {order->id, order->filled, order->cost};
        rc = put(to, &order_record, &row);
    }
    return rc;
}

int db_base_put(sqlite3 *db, const struct engine *engine, uint64_t seq, int64_t ts_ns, const char *venue)
{
    static const struct {
        const char *sql;
        int (*put)(struct putting *to);
    } tables[] = {
        {DB_SEALED_INSERT("base_accounts", RECORD_BASE_ACCOUNT), put_accounts},
        {DB_SEALED_INSERT("base_balances", RECORD_BASE_BALANCE), put_balances},
        {DB_SEALED_INSERT("base_positions", RECORD_BASE_POSITION), put_positions},
        {DB_SEALED_INSERT("base_orders", RECORD_BASE_ORDER), put_orders},
    };
    struct putting to = {.db = db, .engine = engine, .venue = venue};
    struct engine_ids ids;
    engine_ids(engine, &ids);
    struct db_base base = {.event_seq = seq,
                           .ts_ns = ts_ns,
                           .last_order = ids.last_order,
                           .last_fill = ids.last_fill,
                           .last_ledger = ids.last_ledger};
    memcpy(base.hash, ids.hash, sizeof base.hash);
    int rc = db_base_drop(db);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(db,
                                "INSERT INTO base (" DB_BASE_COLUMNS ", hash) VALUES (1, " RECORD_VALUES(
                                    RECORD_BASE) ", seal(2, 1, " RECORD_VALUES(RECORD_BASE) "))",
                                -1, &to.stmt, NULL);
    if (rc == SQLITE_OK)
        rc = put(&to, &base_record, &base);
    sqlite3_finalize(to.stmt);
    for (size_t i = 0; rc == SQLITE_OK && i < sizeof tables / sizeof *tables; i++) {
        rc = sqlite3_prepare_v2(db, tables[i].sql, -1, &to.stmt, NULL);
        if (rc == SQLITE_OK)
            rc = tables[i].put(&to);
        sqlite3_finalize(to.stmt);
    }
    return rc;
}

int db_base_put_salvaged(sqlite3 *db)
{
    return sqlite3_exec(
        db,
        "UPDATE base SET last_action = (SELECT ifnull(max(id), 0) FROM corporate_actions WHERE "
        "input_seq <= event_seq), last_revision = (SELECT ifnull(max(id), 0) FROM revisions "
        "WHERE input_seq <= event_seq); "
        "UPDATE base SET hash = seal(2, " DB_BASE_COLUMNS ");",
        NULL, NULL, NULL);
}

int db_base_end_orders(sqlite3 *db)
{
    return sqlite3_exec(db,
                        "UPDATE orders SET state = 'CANCELED' WHERE state IN " DB_LIVE_STATES " AND "
                        "id <= (SELECT last_order FROM base) AND id NOT IN (SELECT id FROM base_orders);"
                        "UPDATE orders SET rule = 2, hash = seal(" DB_ORDER_SEALED ", " DB_ORDER_COLUMNS
                        ") WHERE state = 'CANCELED' AND hash IS NOT (" DB_ORDER_SEAL ");",
                        NULL, NULL, NULL);
}

int db_base_drop(sqlite3 *db)
{
    return sqlite3_exec(db, drop_sql, NULL, NULL, NULL);
}

/* ---- reading ---- */

int db_base_read(struct db_reader *reader, struct db_base *ret)
{
    struct db_base base = {0};
    int r = db_query_first(reader, "SELECT " RECORD_COLUMNS(RECORD_BASE) " FROM base", NULL,
                           RECORD_INTO(&base.event_seq, &base.ts_ns, &base.last_order, &base.last_fill,
                                       &base.last_ledger, record_into_bytes(base.hash, sizeof base.hash),
                                       &base.last_action, &base.last_revision));
    if (r >= 0)
        *ret = base;
    return r < 0 ? r : 0;
}

int db_base_balances(struct db_reader *reader, void (*row)(void *ctx, const struct db_base_balance *row),
                     void *ctx)
{
    DB_QUERY_EACH(struct db_base_balance, &balance_record,
                  DB_SELECT("base_balances", RECORD_BASE_BALANCE) "ORDER BY account, asset, scale", NULL);
}

int db_base_orders(struct db_reader *reader, void (*row)(void *ctx, const struct db_base_order *row),
                   void *ctx)
{
    DB_QUERY_EACH(struct db_base_order, &order_record,
                  DB_SELECT("base_orders", RECORD_BASE_ORDER) "ORDER BY id", NULL);
}

/* -EBADMSG for a text that is none. */
static int read_lots(const char *text, struct lots *lots)
{
    int r = 0;
    while (*text && r == 0) {
        struct lot lot;
        int n = 0;
        if (sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd64 "%n", &lot.qty, &lot.cost, &lot.opened_ns, &n) !=
            3)
            return -EBADMSG;
        text += n;
        text += strspn(text, ", ");
        r = position_lots_push(lots, &lot);
    }
    return r;
}

static int64_t lots_held(const struct lots *lots)
{
    int64_t held = 0;
    for (uint32_t i = lots->first; i < lots->n; i++)
        held += lots->lots[i].qty;
    return held;
}

int db_base_positions(struct db_reader *reader, bool by_index, struct db_holdings *holdings)
{
    sqlite3_stmt *stmt;
    struct base_position row;
    int r = db_query(reader, DB_SELECT("base_positions", RECORD_BASE_POSITION) "ORDER BY account, symbol",
                     NULL, &stmt);
    while (r >= 0 && (r = db_query_row(reader, stmt, &position_record, &row, NULL)) > 0) {
        int64_t qty = row.position.qty;
        int64_t symbol = by_index ? row.symbol : reader->symbols[row.symbol].id;
        struct db_holding *holding = db_holdings_of(holdings, row.account, symbol);
        if (!holding) {
            r = -ENOMEM;
            break;
        }
        holding->position = row.position;
        r = read_lots(row.lots, &holding->lots);
        if (r == -EBADMSG || (r == 0 && lots_held(&holding->lots) != (qty < 0 ? -qty : qty)))
            r = db_query_bad(reader, "base_positions", row.account, "its lots are not what is held");
        if (r < 0)
            break;
    }
    return db_query_end(stmt, r);
}

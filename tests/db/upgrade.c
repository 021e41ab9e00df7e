/* A database of schema version 1, with data in it, as that version's program left it: it is migrated in
 * place, its old hashes hold, trading continues from it, and what is altered in it is found by its row. */
#include <errno.h>
#include <openssl/evp.h>

#include "db/recover.h"
#include "db/verify.h"
#include "tests/db/fixture.h"
#include "tests/db/sql.h"

enum { ROUNDS = 9 };

static const struct db_writer_config config = {0};

/* Version 1's seal, written down a second time. */
static void seal_1(const char *text, uint8_t hash[static 32])
{
    CHECK_INT(EVP_Digest(text, strlen(text), hash, NULL, EVP_sha256(), NULL), 1);
}

static void hex(const uint8_t hash[static 32], char text[static 65])
{
    for (int i = 0; i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", hash[i]);
}

/* The bookkeeping of one account and one symbol. */
struct old {
    sqlite3 *db;
    int64_t ts_ns, cash, base;
    uint64_t order_id, fill_id, ledger_id;
    uint8_t hash[32];
    struct position position;
    struct lots lots;
};

static void old_ledger(struct old *o, const char *asset, enum ledger_kind kind, int64_t amount,
                       int64_t *balance, uint64_t fill_id)
{
    char text[65];
    *balance += amount;
    struct ledger_row row = {
        .id = ++o->ledger_id,
        .ts_ns = o->ts_ns,
        .scale = 8,
        .kind = kind,
        .amount = amount,
        .balance = *balance,
        .order_id = fill_id ? o->order_id : 0,
        .fill_id = fill_id,
    };
    strcpy(row.asset, asset);
    CHECK_INT(ledger_row_chain(&row, o->hash), 0);
    memcpy(o->hash, row.hash, sizeof o->hash);
    hex(row.hash, text);
    sql_exec(o->db,
             "INSERT INTO ledger VALUES (%llu, %lld, 0, %Q, 8, %Q, %lld, %lld, nullif(%llu, 0), "
             "nullif(%llu, 0), x'%s')",
             row.id, row.ts_ns, row.asset, ledger_kind_name(kind), amount, *balance, row.order_id, fill_id,
             text);
}

static void old_order(struct old *o, const char *side, const char *type, const char *state, int64_t qty,
                      int64_t filled, int64_t price, int64_t stop, int64_t cost, const char *tag)
{
    char text[512], digest[65];
    uint8_t hash[32];
    bool refused = strcmp(state, "REJECTED") == 0;
    const char *reason = refused ? "UNKNOWN_SYMBOL" : "";
    snprintf(text, sizeof text,
             "%" PRIu64 "|%d|%d|%s|%s|%s|%s|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64
             "|%" PRId64 "|%" PRId64 "|%" PRId64 "|%d|%d|%s",
             ++o->order_id, refused ? -1 : 0, refused ? 0 : 1, side, type, state, reason, qty, filled, price,
             stop, cost, o->ts_ns, o->ts_ns + 1, o->ts_ns + 2, 7, 1, tag);
    seal_1(text, hash);
    hex(hash, digest);
    sql_exec(
        o->db,
        "INSERT INTO orders VALUES (%llu, %s, %s, %Q, %Q, %Q, %Q, %lld, %lld, %lld, %lld, %lld, %lld, %lld, "
        "%lld, 7, 1, %Q, x'%s')",
        o->order_id, refused ? "NULL" : "0", refused ? "NULL" : "1", side, type, state, reason, qty, filled,
        price, stop, cost, o->ts_ns, o->ts_ns + 1, o->ts_ns + 2, tag, digest);
}

/* An order that filled at once, whole, at 0.1 %. */
static void old_trade(struct old *o, enum order_side side, int64_t price, int64_t qty)
{
    char text[512], digest[65];
    uint8_t hash[32];
    int sign = side == ORDER_BUY ? 1 : -1;
    int64_t notional = fill_notional(side, price, qty, FIXTURE_UNIT), fee = fill_fee(notional, 1000);
    o->ts_ns += 1000000;
    old_order(o, order_side_name(side), "LIMIT", "FILLED", qty, qty, price, 0, notional, "cross up");
    snprintf(text, sizeof text,
             "%" PRIu64 "|%" PRIu64 "|0|1|%s|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64 "|1|8",
             ++o->fill_id, o->order_id, order_side_name(side), o->ts_ns, price, qty, notional, fee);
    seal_1(text, hash);
    hex(hash, digest);
    sql_exec(o->db,
             "INSERT INTO fills VALUES (%llu, %llu, 0, 1, %Q, %lld, %lld, %lld, %lld, %lld, 1, 8, x'%s')",
             o->fill_id, o->order_id, order_side_name(side), o->ts_ns, price, qty, notional, fee, digest);
    old_ledger(o, "BTC", LEDGER_TRADE, sign * qty, &o->base, o->fill_id);
    old_ledger(o, "USDT", LEDGER_TRADE, -sign * notional, &o->cash, o->fill_id);
    old_ledger(o, "USDT", LEDGER_FEE, -fee, &o->cash, o->fill_id);
    CHECK_INT(position_apply(&o->position, &o->lots, side, qty, notional, o->ts_ns), 0);
    o->position.fees += fee;
}

static void make_old(const char *path, struct old *o)
{
    char err[DB_ERROR_MAX] = "";
    *o = (struct old){.ts_ns = FIXTURE_START};
    CHECK_INT(sqlite3_open(path, &o->db), SQLITE_OK);
    CHECK_INT(db_migrate(o->db, db_migrations, 1, err, sizeof err), 0);
    sql_exec(o->db, "PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; BEGIN");
    sql_exec(o->db, "INSERT INTO accounts VALUES (0, 'main', 'USDT', 8, %lld, 777, %lld, 555)", FIXTURE_START,
             (FIXTURE_START + 20 * 1000000) / 86400000000000);
    sql_exec(o->db,
             "INSERT INTO symbols VALUES (1, 'binance', 'BTCUSDT', 'BTC', 'USDT', 8, 8, 8, 1, 0, 0, 1000000, "
             "0, 0, 1000, 0, 0, 0, 500000000, 0, 1, 0, 0, 0, 0, 0, 0, 5)");
    old_ledger(o, "USDT", LEDGER_DEPOSIT, FIXTURE_CASH, &o->cash, 0);
    for (int i = 0; i < ROUNDS; i++) {
        old_trade(o, ORDER_BUY, (61000 + i) * FIXTURE_UNIT, 123457 + i);
        old_trade(o, ORDER_BUY, (61007 - i) * FIXTURE_UNIT, 3 * 123457);
        old_trade(o, ORDER_SELL, (61500 + i) * FIXTURE_UNIT, 2 * 123457 + 11 * i);
    }
    old_order(o, "SELL", "STOP", "OPEN", 123457, 0, 0, 60000 * FIXTURE_UNIT, 0, "stop");
    old_order(o, "BUY", "MARKET", "REJECTED", 1, 0, 0, 0, 0, "");
    sql_exec(o->db, "INSERT INTO positions VALUES (0, 1, %lld, %lld, %lld, %lld, %lld, %lld)",
             o->position.qty, o->position.cost, o->position.realized, o->position.fees, FIXTURE_START,
             o->position.updated_ns);
    static const int64_t equity[] = {1000, 1200, 1100, 1300, 777};
    for (int i = 0; i < 5; i++)
        sql_exec(o->db, "INSERT INTO equity VALUES (0, %lld, %lld, 5)", FIXTURE_START + i * 5000000,
                 equity[i]);
    sql_exec(o->db, "INSERT INTO commands VALUES (1, 5, 0, 1, 'pause', '{}', 'done', '')");
    sql_exec(o->db, "INSERT INTO alerts VALUES (1, 5, 6, 2, 'stale', 'warning', 'no data', NULL)");
    sql_exec(o->db, "INSERT INTO meta VALUES ('paused', '1')");
    sql_exec(o->db, "INSERT INTO bars VALUES (1, 60000000000, 'venue', 0, 1, 2, 1, 2, '5', '6', 1, 1, 1)");
    sql_exec(o->db, "INSERT INTO prices VALUES (1, 5, NULL, NULL, 5, 1, 1)");
    sql_exec(o->db, "COMMIT");
    CHECK_INT(sqlite3_close(o->db), SQLITE_OK);
    o->db = NULL;
}

/* What the verification says of it: "" when all is well. */
static void verified(const char *path, const char *words)
{
    struct db_reader *reader = NULL;
    struct db_verified *verified = NULL;
    char err[DB_ERROR_MAX] = "";
    CHECK_INT(db_reader_open(path, &reader, err, sizeof err), 0);
    CHECK_INT(db_verify(reader, &verified), 0);
    if (strncmp(verified->failure, words, *words ? strlen(words) : sizeof err) != 0) {
        fprintf(stderr, "found \"%s\", not \"%s\"\n", verified->failure, words);
        check_failures++;
    }
    CHECK_INT(verified->ok, *words == '\0');
    db_verified_destroy(verified);
    db_reader_close(reader);
}

/* Trading continues: the next orders are of version 2. */
static void continue_trading(const char *path, const struct old *o)
{
    struct symbol symbol = fixture_symbol(0);
    struct db_reader *reader;
    struct db_recovered *r;
    char err[DB_ERROR_MAX] = "";
    struct db_writer *writer = fixture_writer(path, &config);
    db_writer_put_meta(writer, DB_CAUSES_AFTER_KEY, "1000000"); /* the fixture's rows have no cause */
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    CHECK_INT(db_reader_open(path, &reader, err, sizeof err), 0);
    CHECK_INT(db_recover(reader, &symbol, 1, &r, err, sizeof err), 0);
    CHECK_STR(err, "");
    db_reader_close(reader);
    CHECK_INT(r->n_orders, 1);
    CHECK_INT(r->orders[0].tif, ORDER_GTC);
    CHECK_INT(r->n_positions, 1);
    CHECK_INT(r->positions[0].position.fifo_realized, o->position.fifo_realized);
    CHECK_INT(r->positions[0].lots.n - r->positions[0].lots.first, o->lots.n - o->lots.first);
    CHECK_INT(r->accounts[0].peak, 777);
    CHECK_INT(r->accounts[0].day_equity, 555);
    CHECK_INT(r->accounts[0].deposits, FIXTURE_CASH);
    CHECK_INT(r->event_seq, 0);
    CHECK(r->paused);
    CHECK_INT(r->n_keys, 0);

    struct fixture f = {
        .writer = writer,
        .ts_ns = o->ts_ns,
        .order_id = r->last_order,
        .fill_id = r->last_fill,
        .ledger_id = r->last_ledger,
        .seq = 100,
        .cash = o->cash,
        .base = {o->base},
        .positions = {r->positions[0].position},
        .lots = fixture_lots(),
    };
    f.lots[0] = r->positions[0].lots;
    r->positions[0].lots = (struct lots){0};
    memcpy(f.hash, r->ledger_hash, sizeof f.hash);
    struct order stop = r->orders[0];
    stop.state = ORDER_CANCELED;
    stop.updated_ns = ++f.ts_ns;
    for (int i = 0; i < FIXTURE_SYMBOLS; i++) {
        struct symbol each = fixture_symbol(i);
        db_writer_put_symbol(writer, i, "binance", &each, FIXTURE_START);
    }
    db_writer_put_order(writer, &stop);
    db_writer_put_meta(writer, DB_CAUSES_AFTER_KEY, "1000000"); /* the fixture's rows have no cause */
    fixture_trade(&f);
    fixture_close(writer);
    db_recovered_destroy(r);
}

/* One of schema version 5, whose tables were counted already; what was altered in it before it is migrated is
 * not sealed again. */
static void from_5(const char *path, const char *sql, const char *words)
{
    struct old o;
    sqlite3 *db;
    char err[DB_ERROR_MAX] = "";
    make_old(path, &o);
    position_lots_finish(&o.lots);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(db_migrate(db, db_migrations, 5, err, sizeof err), 0);
    CHECK_STR(err, "");
    sql_exec(db, "INSERT INTO feed_status VALUES ('trade', 1, 'stale', '', 1, 2, 3, 4, 5, 6)");
    sql_exec(
        db,
        "INSERT INTO meta SELECT 'counts', text, seal(2, 'counts', text) FROM (SELECT 'accounts 1, symbols "
        "1, orders %d, fills %d, ledger %d, equity 5, commands 1, alerts 1' AS text)",
        3 * ROUNDS + 2, 3 * ROUNDS, 9 * ROUNDS + 1);
    sql_exec(db, "%s", sql);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
    fixture_close(fixture_writer(path, &config));
    CHECK_INT(sql_query_file(path, "PRAGMA user_version"), db_migrations_count);
    CHECK_INT(sql_query_file(path, "SELECT sum(frames) FROM feed_status WHERE state = 'stale'"), 3);
    CHECK_INT(
        sql_query_file(
            path,
            "SELECT value LIKE '%, alerts 1, corporate_actions 0, revisions 0, receivables 0, fee_rates 0, ledger_causes %' FROM meta "
            "WHERE key = 'counts'"),
        1);
    CHECK_INT(sql_query_file(path, "SELECT streamed IS NULL AND NOT gone AND calendar = '' FROM symbols"), 1);
    verified(path, words);
}

int main(void)
{
    char directory[SCRATCH_MAX], path[SCRATCH_PATH_MAX], err[DB_ERROR_MAX] = "";
    struct old old;
    struct db_writer *writer = NULL;
    scratch_make(directory);
    snprintf(path, sizeof path, "%s/papertape.db", directory);
    make_old(path, &old);

    /* A reader of today leaves it alone until a daemon has migrated it. */
    struct db_reader *reader = NULL;
    CHECK_INT(db_reader_open(path, &reader, err, sizeof err), -ESTALE);
    fixture_close(fixture_writer(path, &config));
    CHECK_INT(sql_query_file(path, "PRAGMA user_version"), db_migrations_count);
    verified(path, "");
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM orders WHERE rule = 1 AND tif = 'GTC'"),
              3 * ROUNDS + 2);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM fills WHERE rule = 1"), 3 * ROUNDS);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM ledger"), 9 * ROUNDS + 1);
    CHECK_INT(sql_query_file(path, "SELECT fifo_cost FROM positions"), old.position.fifo_cost);
    CHECK_INT(sql_query_file(path, "SELECT fifo_realized FROM positions"), old.position.fifo_realized);
    CHECK_INT(sql_query_file(path, "SELECT cost FROM positions"), old.position.cost);
    CHECK_INT(sql_query_file(path, "SELECT opened_ns FROM positions"), old.position.opened_ns);
    CHECK_INT(sql_query_file(path, "SELECT sum(peak) FROM equity"), 1000 + 1200 + 1200 + 1300 + 777);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM bars"), 1);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM runs"), 0); /* it is not known */
    CHECK_INT(sql_query_file(path, "SELECT lasts AND closed_ns IS NULL FROM alerts"),
              1); /* ends by itself from now on */
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM prices"), 1);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'new%'"), 0);
    CHECK_INT(sql_query_file(
                  path, "SELECT count(*) FROM sqlite_schema WHERE name IN ('orders_live', 'orders_client', "
                        "'fills_order', 'ledger_account', 'ledger_fill', 'commands_key', 'alerts_open')"),
              7);

    continue_trading(path, &old);
    verified(path, "");
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM orders WHERE rule = 1"), 3 * ROUNDS + 1);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM fills WHERE rule = 2"), 6);

    static const char *const alterations[][2] = {
        {"UPDATE orders SET price = price + 1 WHERE id = 3", "orders: row 3: was altered"},
        {"UPDATE orders SET tif = 'IOC' WHERE id = 4", "orders: row 4: was altered"},
        {"UPDATE orders SET client_id = 'x' WHERE id = 5", "orders: row 5: was altered"},
        {"UPDATE orders SET rule = 2 WHERE id = 6", "orders: row 6: was altered"},
        {"UPDATE orders SET rule = 1 WHERE id = 30", "orders: row 30: was altered"},
        {"UPDATE fills SET fee_e6 = 1000 WHERE id = 7", "fills: row 7: was altered"},
        {"UPDATE fills SET rule = 2 WHERE id = 8", "fills: row 8: was altered"},
        {"UPDATE equity SET equity = 1 WHERE ts_ns = (SELECT min(ts_ns) FROM equity)",
         "equity: row main 1723161255342000000: was altered"},
    };
    for (size_t i = 0; i < sizeof alterations / sizeof *alterations; i++) {
        char altered[SCRATCH_PATH_MAX];
        sqlite3 *db;
        snprintf(altered, sizeof altered, "%s/%zu.db", directory, i);
        CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
        sql_exec(db, "VACUUM INTO %Q", altered);
        CHECK_INT(sqlite3_close(db), SQLITE_OK);
        CHECK_INT(sqlite3_open(altered, &db), SQLITE_OK);
        sql_exec(db, "%s", alterations[i][0]);
        CHECK_INT(sqlite3_changes(db), 1);
        CHECK_INT(sqlite3_close(db), SQLITE_OK);
        verified(altered, alterations[i][1]);
    }

    static const char *const before[][2] = {
        {"", ""},
        {"UPDATE symbols SET tick = tick + 1", "symbols: row 1: was altered"},
        {"UPDATE meta SET value = replace(value, 'equity 5', 'equity 6') WHERE key = 'counts'",
         "equity: holds 5 rows, and should hold 6"},
        {"UPDATE ledger SET amount = amount + 1 WHERE id = 2", "ledger: row 2: was altered"},
    };
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        char five[SCRATCH_PATH_MAX];
        snprintf(five, sizeof five, "%s/five-%zu.db", directory, i);
        from_5(five, before[i][0], before[i][1]);
    }

    /* One that was damaged before is refused, and stays as it is. */
    position_lots_finish(&old.lots);
    snprintf(path, sizeof path, "%s/damaged.db", directory);
    make_old(path, &old);
    CHECK_INT(sqlite3_open(path, &old.db), SQLITE_OK);
    sql_exec(old.db, "DELETE FROM fills WHERE id = 3");
    CHECK_INT(sqlite3_close(old.db), SQLITE_OK);
    CHECK_INT(db_writer_open(path, &config, &writer, err, sizeof err), -EBADMSG);
    CHECK_STR(err, "002_record: ledger: row 8: names a row of fills that is not there");
    CHECK_INT(sql_query_file(path, "PRAGMA user_version"), 1);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM orders"), 3 * ROUNDS + 2);
    position_lots_finish(&old.lots);
    return check_done("upgrade");
}

/* Contradictions that no seal can show, as all seals and the chain were computed again over them: verify
 * finds what breaks the rules of trading and of bookkeeping. */
#include "db/verify.h"
#include "tests/counts.h"
#include "tests/db/books.h"
#include "tests/db/fixture.h"
#include "tests/db/forged.h"
#include "tests/db/sql.h"

enum { EVENTS_ALL = 12000, EVENTS = COUNTS_PART ? 4000 : EVENTS_ALL };

static void try(const char *path, const char *sql, const char *words)
{
    char altered[SCRATCH_PATH_MAX + 8];
    sqlite3 *db;
    struct db_reader *reader = NULL;
    struct db_verified *verified = NULL;
    snprintf(altered, sizeof altered, "%s.altered", path);
    remove(altered);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    sql_exec(db, "VACUUM INTO %Q", altered);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
    CHECK_INT(sqlite3_open(altered, &db), SQLITE_OK);
    CHECK_INT(db_row_hash_register(db), SQLITE_OK);
    sql_exec(db, "PRAGMA ignore_check_constraints = ON; BEGIN");
    sql_exec(db, "%s", sql);
    CHECK(sqlite3_changes(db) > 0);
    forged_chain(db);
    sql_exec(db, "%s", forged_seals);
    forged_recount(db);
    sql_exec(db, "COMMIT");
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
    char err[DB_ERROR_MAX] = "";
    CHECK_INT(db_reader_open(altered, &reader, err, sizeof err), 0);
    CHECK_INT(db_verify(reader, &verified), 0);
    CHECK_INT(verified->ok, *words == '\0');
    if (!strstr(verified->failure, words) || verified->ok != (*words == '\0')) {
        fprintf(stderr, "%s\n  found as: %s\n", sql, verified->failure);
        check_failures++;
    }
    db_verified_destroy(verified);
    db_reader_close(reader);
}

/* A cover on margin: the fill borrows the currency that it lacks, and gives back the base. Ledger rows: 1
 * deposit, 2 to 5 the short, 6 withdraws all, 7 to 11 the cover. */
static void put_cover(const char *path)
{
    struct db_writer_config config = {0};
    struct db_writer *writer = fixture_writer(path, &config);
    struct fixture f;
    fixture_open(&f, writer);
    struct order sale = fixture_order(&f, 0, ORDER_SELL, 100 * FIXTURE_UNIT, FIXTURE_UNIT);
    uint64_t fill = f.fill_id + 1;
    int64_t ns = f.ts_ns;
    f.ts_ns += 1000000; /* of the fill that follows */
    fixture_ledger(&f, "BTC", LEDGER_BORROW, FIXTURE_UNIT, &f.base[0], sale.id, fill);
    f.ts_ns = ns;
    fixture_fill(&f, &sale, 100 * FIXTURE_UNIT, FIXTURE_UNIT);
    fixture_ledger(&f, "USDT", LEDGER_DEPOSIT, -f.cash, &f.cash, 0, 0);
    struct order cover = fixture_order(&f, 0, ORDER_BUY, 100 * FIXTURE_UNIT, FIXTURE_UNIT);
    fill = f.fill_id + 1;
    ns = f.ts_ns;
    f.ts_ns += 1000000;
    fixture_ledger(&f, "USDT", LEDGER_BORROW, 100 * FIXTURE_UNIT + FIXTURE_UNIT / 10, &f.cash, cover.id,
                   fill);
    f.ts_ns = ns;
    fixture_fill(&f, &cover, 100 * FIXTURE_UNIT, FIXTURE_UNIT);
    fixture_ledger(&f, "BTC", LEDGER_BORROW, -FIXTURE_UNIT, &f.base[0], cover.id, fill);
    fixture_close(writer);
}

static void test_two_loans(const char *path)
{
    put_cover(path);
    try(path, "UPDATE meta SET value = value", "");
    try(path, "UPDATE ledger SET amount = amount + 1 WHERE id = 7", "row 7: fill 2 neither needs nor gives");
    try(path, "UPDATE ledger SET amount = amount - 1 WHERE id = 11",
        "row 11: fill 2 neither needs nor gives");
    try(path, "UPDATE ledger SET asset = 'USDT' WHERE id = 11", "row 11: fill 2 neither needs nor gives");
}

#define OF_A_FILL "(SELECT order_id FROM fills WHERE "

int main(void)
{
    static struct books b;
    char directory[SCRATCH_MAX], path[SCRATCH_PATH_MAX];
    if (COUNTS_PART)
        printf("counts: %d events (without a sanitizer: %d)\n", EVENTS, EVENTS_ALL);
    scratch_make(directory);
    snprintf(path, sizeof path, "%s/papertape.db", directory);
    struct random random = random_seeded("rules", 20261121);
    books_keep(&b, path, random_next(&random), EVENTS);
    books_close(&b);
    static const char *const cases[][2] = {
        {"UPDATE meta SET value = value", ""}, /* sealed and chained again it is what it was */
        {"UPDATE fills SET fee = fee + 1 WHERE id = 5", "fills: row 5: the fee is"},
        {"UPDATE fills SET notional = notional + 1 WHERE id = 6",
         "fills: row 6: the notional is not price times quantity"},
        {"UPDATE fills SET qty = qty + 1000 WHERE id = 7", "fills: row 7: the notional"},
        {"UPDATE fills SET side = iif(side = 'BUY', 'SELL', 'BUY') WHERE id = 8",
         "fills: row 8: is not of its order's account, symbol and side"},
        {"UPDATE orders SET price = iif(side = 'BUY', price / 2, price * 2) WHERE id = (SELECT o.id FROM "
         "orders AS o JOIN fills AS f ON f.order_id = o.id WHERE o.type = 'LIMIT' AND o.amends = 0 LIMIT 1)",
         "beyond the order's limit"},
        {"UPDATE orders SET triggered = 0 WHERE id = (SELECT o.id FROM orders AS o JOIN fills AS f ON "
         "f.order_id = o.id WHERE o.type IN ('STOP_LIMIT', 'TAKE_PROFIT_LIMIT') LIMIT 1)",
         "which was not triggered"},
        {"UPDATE orders SET post_only = 1 WHERE id = " OF_A_FILL "maker = 0 LIMIT 1)", "which is post-only"},
        {"UPDATE orders SET reduce_only = 1 WHERE id = " OF_A_FILL "id = 1)", "though reduce-only"},
        {"UPDATE orders SET tif = 'FOK' WHERE state = 'CANCELED' AND filled > 0", "fill or kill"},
        {"UPDATE orders SET group_id = 999999 WHERE id = 9", "orders: row 9: its group or parent"},
        {"UPDATE orders SET group_id = min(id, (SELECT min(a.id) FROM orders AS a JOIN orders AS b ON b.id = "
         "a.id + 1 WHERE a.filled > 0 AND b.filled > 0)), parent = 0 WHERE id IN (SELECT a.id + n.n FROM "
         "(SELECT min(a.id) AS id FROM orders AS a JOIN orders AS b ON b.id = a.id + 1 WHERE a.filled > 0 "
         "AND b.filled > 0) AS a, (SELECT 0 AS n UNION SELECT 1) AS n)",
         "one cancels the other"},
        {"UPDATE orders SET parent = id - 1, group_id = id - 1 WHERE id = "
         "(SELECT min(id) FROM orders WHERE filled > 0 AND id > 1)",
         "is no exit of its entry"},
        {"UPDATE orders SET filled = filled - 1, state = 'PARTIAL' WHERE state = 'FILLED' AND qty > 1",
         "filled, its fills add up to"},
        {"UPDATE orders SET cost = cost + 1 WHERE id = " OF_A_FILL "id = 3)", "says a cost of"},
        {"UPDATE orders SET state = 'OPEN' WHERE state = 'FILLED'", "OPEN does not go with"},
        {"UPDATE ledger SET amount = amount + 1 WHERE id = (SELECT min(id) FROM ledger WHERE kind = 'trade')",
         "asks for"},
        {"UPDATE ledger SET amount = amount - 1 WHERE id = (SELECT min(id) FROM ledger WHERE kind = 'fee')",
         "asks for"},
        {"UPDATE ledger SET amount = amount - 1 WHERE id = (SELECT min(id) FROM ledger WHERE kind = "
         "'transfer')",
         "that arrives nowhere"},
        {"UPDATE ledger SET account = 0 WHERE kind = 'transfer' AND id <= (SELECT min(id) + 1 FROM ledger "
         "WHERE kind = 'transfer')",
         "that arrives nowhere"},
        {"UPDATE ledger SET amount = -amount WHERE kind = 'transfer'", "that comes from nowhere"},
        {"UPDATE ledger SET amount = -amount WHERE id = (SELECT min(id) FROM ledger WHERE kind = 'interest')",
         "interest is paid"},
        {"UPDATE ledger SET kind = 'deposit' WHERE id = (SELECT min(id) FROM ledger WHERE kind = 'interest')",
         "does not say what the ledger's row is of"},
        {"UPDATE ledger SET amount = amount + 1 WHERE id = (SELECT min(id) FROM ledger WHERE kind = 'reset' "
         "AND amount < 0)",
         "the reset of account"},
        {"UPDATE ledger SET kind = 'reset' WHERE id = (SELECT min(id) FROM ledger WHERE kind = 'deposit')",
         "the reset of account"},
        {"UPDATE ledger SET amount = 2 * amount WHERE id = (SELECT min(id) FROM ledger WHERE kind = 'borrow' "
         "AND amount < 0)",
         "ledger: row"},
        {"UPDATE ledger SET amount = -amount WHERE id = (SELECT min(id) FROM ledger WHERE kind = 'borrow')",
         "neither needs nor gives back"},
        {"UPDATE ledger SET asset = 'DOGE' WHERE id = (SELECT min(id) FROM ledger WHERE kind = 'fee')",
         "is not the asset of"},
        {"UPDATE ledger SET fill_id = fill_id + 1 WHERE id = (SELECT min(id) FROM ledger WHERE kind = 'fee')",
         "ledger: row"},
        {"UPDATE ledger SET kind = 'deposit', order_id = NULL, fill_id = NULL WHERE id = (SELECT min(id) "
         "FROM ledger WHERE kind = 'fee')",
         "the ledger has no row of its fee"},
        {"UPDATE positions SET fifo_realized = fifo_realized + 1", "by first in, first out"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        try(path, cases[i][0], cases[i][1]);
    snprintf(path, sizeof path, "%s/cover.db", directory);
    test_two_loans(path);
    return check_done("rules");
}

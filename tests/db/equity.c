/* The curve of equity in the database: thinned to the hour beyond eight days behind the newest point, each
 * point looked at a bounded number of times however long the curve is, after a rollback, too; and kept whole
 * where it is a history. */
#include "db/store_bind.h"

#include <stdlib.h>

#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"

#define MINUTE_NS INT64_C(60000000000)
#define HOUR_NS   (60 * MINUTE_NS)
#define WINDOW_NS (8 * 24 * HOUR_NS)

enum { POINTS = 12000, A_COMMIT = 500 };

static int64_t times[POINTS];
static int64_t day_equity[POINTS]; /* another one: money moved there, or a day begins */

static void open_store(struct db_store *store, const char *name)
{
    const struct db_account account = {.name = "a", .currency = "USDT", .currency_scale = 8, .cash = 1};
    CHECK_INT(db_store_open(store, scratch_path(name), true), 0);
    CHECK_INT(db_store_begin(store), SQLITE_OK);
    CHECK_INT(db_apply_account(store, &account), SQLITE_OK);
    CHECK_INT(db_store_commit(store), SQLITE_OK);
}

static int put(struct db_store *store, int i, enum db_equity_kind kind)
{
    const struct db_equity row = {.kind = kind,
                                  .ts_ns = times[i],
                                  .equity = 100 + i,
                                  .cash = i,
                                  .peak = 200 + i,
                                  .day_equity = day_equity[i]};
    return db_apply_equity(store, &row);
}

/* Does the database hold just the points that `kept` says? */
static void check_points(struct db_store *store, const bool *kept)
{
    sqlite3_stmt *stmt;
    int at = 0, wrong = 0;
    CHECK_INT(
        sqlite3_prepare_v2(store->db, "SELECT ts_ns, equity FROM equity ORDER BY ts_ns", -1, &stmt, NULL),
        SQLITE_OK);
    for (int64_t n = 0;; n++) {
        bool row = sqlite3_step(stmt) == SQLITE_ROW;
        while (at < POINTS && !kept[at])
            at++;
        if (!row) {
            CHECK_INT(at, POINTS);
            CHECK_INT(store->counts.rows[DB_COUNT_EQUITY], n);
            break;
        }
        wrong += at >= POINTS || sqlite3_column_int64(stmt, 0) != times[at] ||
                 sqlite3_column_int64(stmt, 1) != 100 + at;
        at++;
    }
    CHECK_INT(wrong, 0);
    sqlite3_finalize(stmt);
}

/* Once an hour, what is older than the window then: all but the last of each hour and those where the
 * day's equity changes. */
static void expect(bool *kept)
{
    int64_t hour = 0;
    for (int i = 0; i < POINTS; i++) {
        kept[i] = true;
        if (times[i] / HOUR_NS <= hour)
            continue;
        hour = times[i] / HOUR_NS;
        for (int k = 0; k < i && times[k] < times[i] - WINDOW_NS; k++)
            kept[k] = kept[k] && (times[k + 1] / HOUR_NS != times[k] / HOUR_NS || k == 0 ||
                                  day_equity[k] != day_equity[k - 1]);
    }
}

static int thin_steps(struct db_store *store)
{
    return sqlite3_stmt_status(store->statements[DB_SQL_EQUITY_THIN], SQLITE_STMTSTATUS_VM_STEP, 1);
}

/* Some transactions are rolled back and done again, as when the disk was full. */
static void test_thinned(struct random *random, const bool *kept)
{
    static struct db_store store;
    int early = 0, late = 0;
    open_store(&store, "thinned.db");
    for (int begin = 0; begin < POINTS; begin += A_COMMIT) {
        bool again = random_between(random, 0, 5) == 0;
        for (int try = again ? 0 : 1; try < 2; try++) {
            CHECK_INT(db_store_begin(&store), SQLITE_OK);
            thin_steps(&store);
            for (int i = begin; i < begin + A_COMMIT; i++) {
                CHECK_INT(put(&store, i, DB_EQUITY_LIVE), SQLITE_OK);
                int steps = thin_steps(&store);
                bool counted = !again && i > begin && times[i] > times[0] + 2 * WINDOW_NS;
                int *most = i < POINTS / 2 ? &early : &late;
                if (counted && steps > *most)
                    *most = steps;
            }
            if (try == 0)
                db_store_rollback(&store);
            else
                CHECK_INT(db_store_commit(&store), SQLITE_OK);
        }
    }
    printf("equity: thinning takes %d steps at most in the first half, %d in the second\n", early, late);
    CHECK(early > 0 && late > 0 && late <= 2 * early);
    check_points(&store, kept);
    db_store_close(&store);
}

static void test_kept(void)
{
    static struct db_store store;
    static bool all[POINTS];
    open_store(&store, "kept.db");
    CHECK_INT(db_store_begin(&store), SQLITE_OK);
    for (int i = 0; i < POINTS; i++) {
        all[i] = true;
        CHECK_INT(put(&store, i, i + 1 < POINTS ? DB_EQUITY_PAST : DB_EQUITY_LAST), SQLITE_OK);
    }
    CHECK_INT(db_store_commit(&store), SQLITE_OK);
    CHECK_INT(thin_steps(&store), 0);
    check_points(&store, all);
    db_store_close(&store);
}

int main(void)
{
    static bool kept[POINTS];
    struct random random = random_seeded("equity", 20261127);
    scratch_in_memory();
    int64_t ts_ns = INT64_C(1700000000000000000);
    for (int i = 0; i < POINTS; i++)
        times[i] = ts_ns += MINUTE_NS * random_between(&random, 1, 15);
    for (int i = 0, moved = 1; i < POINTS; i++)
        day_equity[i] = moved += random_between(&random, 0, 30) == 0;
    expect(kept);
    test_thinned(&random, kept);
    test_kept();
    return check_done("equity");
}

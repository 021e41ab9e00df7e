/* A database in which one value of one row is garbage: that row alone is left out, its place in the lists
 * says which value it is, and every other row is read as before. What lacks its rows is not known, not 0. */
#include <locale.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "db/backtest.h"
#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tui/history_reader.h"
#include "tui/list_source.h"

/* How many rows of each kind were read. */
struct counts {
    int orders, fills, alerts, accounts, symbols, bars, curve;
};

static const struct bad {
    const char *sql, *words;
    int list; /* in which its place says so; LIST_ALL: none */
    struct counts fewer;
    bool trades_unknown;
} bad[] = {
    {"UPDATE orders SET state = 'GARBAGE' WHERE id = 5",
     "orders: row 5: unknown state",
     DB_LIST_ORDERS,
     {.orders = 1},
     false},
    {"UPDATE orders SET client_id = printf('%.2000c', 'x') WHERE id = 5",
     "orders: row 5: too long a client_id",
     DB_LIST_ORDERS,
     {.orders = 1},
     false},
    {"UPDATE orders SET account = 99 WHERE id = 5",
     "orders: row 5: unknown account",
     DB_LIST_ORDERS,
     {.orders = 1},
     false},
    {"UPDATE fills SET side = '' WHERE id = 4",
     "fills: row 4: unknown side",
     DB_LIST_FILLS,
     {.fills = 1},
     true},
    {"INSERT INTO ledger SELECT 5, 1, id, currency, 8, 'nan', 1, 1, NULL, NULL, hash FROM accounts",
     "ledger: row 5: unknown kind",
     DB_LIST_LEDGER,
     {0},
     false},
    {"UPDATE accounts SET strategy = 'sma-cross-rsi', params = '{\"nan\": 1}'",
     "accounts: row 0: the parameters are not its strategy's",
     LIST_ALL,
     {.accounts = 1},
     false},
    {"UPDATE accounts SET session = 'GARBAGE'",
     "accounts: row 0: unknown session",
     LIST_ALL,
     {.accounts = 1},
     false},
    {"UPDATE bars SET volume = 'NaN' WHERE (symbol, open_ns) = (SELECT symbol, max(open_ns) FROM bars WHERE symbol = 1)",
     "the volume is no number",
     DB_LIST_BARS,
     {0},
     false},
    {"UPDATE chart_bars SET volume = 'NaN' WHERE (symbol, open_ns) = (SELECT symbol, max(open_ns) FROM chart_bars "
     "WHERE symbol = 1)",
     "the volume is no number",
     LIST_ALL,
     {.bars = 1},
     false},
};

static void spoil(const char *path, const char *sql)
{
    sqlite3 *db;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "PRAGMA ignore_check_constraints = ON", NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    CHECK(sqlite3_changes(db) > 0);
    sqlite3_close(db);
}

static void read_all(const char *path, struct history *h, struct counts *ret, bool *ret_trades)
{
    static const struct history_want want = {.symbol = "BTCUSDT", .interval = "1m", .account = "main"};
    struct history_reader *reader;
    struct status status;
    int64_t age_ms;
    char err[256] = "";

    CHECK_INT(tui_history_open(path, &reader, err, sizeof err), 0);
    CHECK_INT(tui_history_status(reader, fixture_now_ns, &status, &age_ms, err, sizeof err), 0);
    CHECK_INT(tui_history_read(reader, fixture_now_ns, &want, h, err, sizeof err), 0);
    CHECK_STR(err, "");
    *ret = (struct counts){h->n_orders,      h->n_fills, h->n_alerts, status.n_accounts,
                           status.n_symbols, h->n_bars,  h->n_equity};
    *ret_trades = tui_history_account(h, "main") != NULL;
    tui_status_finish(&status);
    tui_history_close(reader);
}

/* Every list has all its rows; of the bad one's the place says which value it is. */
static void check_lists(const char *path, const struct bad *b)
{
    char err[DB_ERROR_MAX];
    struct db_reader *db;

    CHECK_INT(db_reader_open(path, &db, err, sizeof err), 0);
    for (int list = 0; list < DB_LISTS; list++) {
        struct list_want want = {.used = true, .query = {.list = (enum db_list)list}};
        struct list_rows rows = {0};
        int unread = 0;
        snprintf(want.query.symbol, sizeof want.query.symbol, "%s", list == DB_LIST_BARS ? "BTCUSDT" : "");
        want.query.interval_ns = list == DB_LIST_BARS ? 60000000000 : 0;
        if (tui_list_source_read(db, (enum db_list)list, &want, false, &rows) < 0) {
            CHECK_INT(list, DB_LIST_TRIPS); /* they are made of all fills and of the ledger */
            continue;
        }
        CHECK_INT(rows.window.n, rows.window.total);
        for (int i = 0; rows.unread && i < rows.window.n; i++)
            if (rows.unread[i][0]) {
                unread++;
                CHECK(strstr(rows.unread[i], b->words) != NULL);
            }
        CHECK_INT(unread, list == b->list || (list == DB_LIST_LOG && b->list == DB_LIST_ORDERS));
        tui_list_rows_finish(&rows);
    }
    db_reader_close(db);
}

static void check_bad(const char *folder, int at, const struct counts *whole, struct history *h)
{
    const struct bad *b = &bad[at];
    char path[SCRATCH_PATH_MAX + 32], words[HISTORY_UNREAD_SUM_MAX];
    struct counts left;
    bool trades;

    snprintf(path, sizeof path, "%s/%d.db", folder, at);
    CHECK_INT(fixture_database(path), 0);
    spoil(path, b->sql);
    *h = (struct history){0};
    read_all(path, h, &left, &trades);
    CHECK_INT(left.orders, whole->orders - b->fewer.orders);
    CHECK_INT(left.fills, whole->fills - b->fewer.fills);
    CHECK_INT(left.alerts, whole->alerts - b->fewer.alerts);
    CHECK_INT(left.accounts, whole->accounts - b->fewer.accounts);
    CHECK_INT(left.symbols, whole->symbols);
    CHECK_INT(left.bars, whole->bars - b->fewer.bars);
    CHECK_INT(left.curve, b->fewer.accounts ? 0 : whole->curve);
    CHECK_INT(trades, !b->trades_unknown && !b->fewer.accounts);
    const bool listed_only = b->list == DB_LIST_LEDGER || b->list == DB_LIST_BARS;
    CHECK_INT(h->unread.n, !listed_only);
    CHECK(strstr(tui_history_unread_text(&h->unread, words), listed_only ? "" : b->words) != NULL);
    check_lists(path, b);
}

/* A saved backtest that has no point of equity yet. */
static void check_no_equity(const char *folder)
{
    char path[SCRATCH_PATH_MAX + 32], err[256] = "";
    struct history_reader *reader;
    struct status status;
    int64_t age_ms;

    snprintf(path, sizeof path, "%s/saved.db", folder);
    CHECK_INT(fixture_database(path), 0);
    spoil(path, "INSERT INTO meta (key, value) VALUES ('" DB_BACKTEST_KEY "', '1'); DELETE FROM equity");
    CHECK_INT(tui_history_open(path, &reader, err, sizeof err), 0);
    CHECK_INT(tui_history_status(reader, fixture_now_ns, &status, &age_ms, err, sizeof err), 0);
    CHECK(status.saved && status.n_accounts > 0);
    for (int i = 0; i < status.n_accounts; i++)
        CHECK(isnan(status.accounts[i].max_drawdown_pct) && isnan(status.accounts[i].interest));
    tui_status_finish(&status);
    tui_history_close(reader);
}

int main(void)
{
    char path[SCRATCH_PATH_MAX + 32];
    struct history *h = calloc(1, sizeof *h);
    struct counts whole;
    bool trades;

    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return CHECK_SKIP;
    const char *folder = scratch_root();
    snprintf(path, sizeof path, "%s/whole.db", folder);
    CHECK_INT(fixture_database(path), 0);
    read_all(path, h, &whole, &trades);
    CHECK(trades && whole.orders > 1 && whole.fills > 1 && whole.alerts > 1 && whole.bars > 1);
    CHECK_INT(h->unread.n, 0);
    for (int i = 0; i < (int)(sizeof bad / sizeof bad[0]); i++)
        check_bad(folder, i, &whole, h);
    check_no_equity(folder);
    free(h);
    return check_done("tui/unread");
}

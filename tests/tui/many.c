/* More alerts than a list's window or the history has: each count is of all of them, now and in the past. */
#include <locale.h>
#include <poll.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tui/keys.h"
#include "tui/lists.h"
#include "tui/past.h"

enum { ALERTS = 10000, CLOSED_EACH = 10 /* one of so many is over */, WAIT_MS = 20000 };
static const int64_t second_ns = 1000000000;

/* One a second up to the fixture's moment; those that are over were closed at that moment. */
static void fill(const char *path)
{
    sqlite3 *db;
    char *sql = sqlite3_mprintf(
        "DELETE FROM alerts; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
        "INSERT INTO alerts (id, ts_ns, last_ns, severity, code, text, count, lasts, closed_ns, hash) SELECT i, "
        "%lld + i * %lld, %lld + i * %lld, 'warning', 'feed', 'feed ' || i, 1, 1, iif(i %% %d, NULL, %lld), "
        "zeroblob(32) "
        "FROM n",
        ALERTS, (long long)(fixture_now_ns - ALERTS * second_ns), (long long)second_ns,
        (long long)(fixture_now_ns - ALERTS * second_ns), (long long)second_ns, CLOSED_EACH,
        (long long)fixture_now_ns);

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_free(sql);
    sqlite3_close(db);
}

static void check_now(const char *path)
{
    static const struct history_want want = {.symbol = "BTCUSDT", .interval = "1m", .account = "main"};
    struct model *model = tui_model_create(1000);
    struct history_reader *reader;
    char err[256];

    CHECK(model && tui_history_open(path, &reader, err, sizeof err) == 0);
    CHECK_INT(tui_history_read(reader, fixture_now_ns, &want, &model->history, err, sizeof err), 0);
    model->have_history = true;
    CHECK_INT(model->history.n_alerts, HISTORY_ROWS_MAX);
    CHECK_INT(tui_model_alerts_open(model), ALERTS - ALERTS / CLOSED_EACH);
    tui_history_close(reader);
    tui_model_destroy(model);
}

/* At a moment at which 7,000 of them had come, all still open. */
static void check_past(const char *path)
{
    struct tui_past_source *source = tui_past_source_create(path);
    struct past_want want = {.jumps = true, .at_ns = fixture_now_ns - 3000 * second_ns};
    struct past_read read;

    tui_past_source_read(source, &want, &read);
    CHECK(read.model);
    CHECK_INT(tui_model_alerts_open(read.model), 7000);
    tui_model_destroy(read.model);
    tui_past_source_destroy(source);
}

static json_t *objects(int n, const char *key, const char *word)
{
    json_t *list = json_array();

    for (int i = 1; i <= n; i++)
        json_array_append_new(list, json_pack("{s:i, s:s}", key, i, "account", word));
    return list;
}

/* A status is copied several times a second: it has memory for what there is, not for all that may be. */
static void check_memory(const struct status *status)
{
    const int rows[STATUS_LISTS] = {[STATUS_ACCOUNTS] = status->n_accounts,
                                    [STATUS_TOTALS] = status->n_totals,
                                    [STATUS_ORDERS] = status->n_orders,
                                    [STATUS_PRICE_ALERTS] = status->n_price_alerts};

    CHECK(sizeof *status <= 16 << 10);
    for (int i = 0; i < STATUS_LISTS; i++)
        CHECK(rows[i] == 0 ? status->room[i] == 0
                           : status->room[i] >= rows[i] && status->room[i] <= 2 * rows[i] + 4);
}

/* Of a status every account, order and price alert is counted, and as many as fit are shown. */
static void check_status(int accounts, int orders, int alerts)
{
    json_t *object = json_pack("{s:s, s:o, s:o, s:o}", "schema", "papertape.status/1", "accounts",
                               objects(accounts, "n", "a"), "orders", objects(orders, "order", "a"),
                               "price_alerts", objects(alerts, "alert", "a"));
    struct status *status = calloc(1, sizeof *status);

    CHECK_INT(tui_status_parse(object, status), 0);
    CHECK_INT(status->n_accounts, accounts < STATUS_ACCOUNTS_MAX ? accounts : STATUS_ACCOUNTS_MAX);
    CHECK_INT(status->n_orders, orders < STATUS_ORDERS_MAX ? orders : STATUS_ORDERS_MAX);
    CHECK_INT(status->n_price_alerts, alerts < STATUS_PRICE_ALERTS_MAX ? alerts : STATUS_PRICE_ALERTS_MAX);
    CHECK_INT(status->accounts_total, accounts);
    CHECK_INT(status->orders_total, orders);
    CHECK_INT(status->price_alerts_total, alerts);
    check_memory(status);
    tui_status_finish(status);
    free(status);
    json_decref(object);
}

int main(void)
{
    char path[SCRATCH_PATH_MAX];

    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return CHECK_SKIP;
    snprintf(path, sizeof path, "%s/papertape.db", scratch_root());
    CHECK_INT(fixture_database(path), 0);
    fill(path);
    check_now(path);
    check_past(path);
    check_status(0, 0, 0);
    check_status(40, 200, 300);
    CHECK(40 < STATUS_ACCOUNTS_MAX && 200 < STATUS_ORDERS_MAX && 300 < STATUS_PRICE_ALERTS_MAX);
    check_status(STATUS_ACCOUNTS_MAX + 1, STATUS_ORDERS_MAX + 44, STATUS_PRICE_ALERTS_MAX + 1);
    return check_done("tui/many");
}

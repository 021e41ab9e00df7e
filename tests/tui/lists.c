/* The long lists with their thread over a database of some thousands of orders: what keys lead to. */
#include "tui/lists.h"

#include <locale.h>
#include <poll.h>
#include <sqlite3.h>
#include <unistd.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tui/keys.h"

enum { ORDERS = 3000, WAIT_MS = 20000 };

static struct model *model;
static struct view view;
static struct tui_list_reader *reader;
static struct lists_want wanted;
static const struct moment now = {1723161255342000000, 1000000};

static void fill(const char *path)
{
    sqlite3 *db;
    char *sql = sqlite3_mprintf(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO orders "
        "SELECT i, account, symbol, side, type, tif, 'FILLED', '', i %% 89 + 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
        "i, i, i, 0, i, 0, 0, '', 'batch ' || (i %% 500), rule, hash, 0, 0, 0 FROM n JOIN orders o ON o.id = "
        "(SELECT max(id) FROM orders) WHERE i NOT IN (SELECT id FROM orders)",
        ORDERS);

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_free(sql);
    sqlite3_close(db);
}

static void want(bool look_again)
{
    struct lists_want next;
    struct layout layout;

    tui_view_layout(&view, model, 80, 24, &layout);
    tui_lists_want(&view, model, &layout, &next);
    if (look_again || memcmp(&next, &wanted, sizeof next) != 0)
        tui_list_reader_want(reader, &next);
    wanted = next;
}

static bool is_settled(int64_t id, int64_t count)
{
    struct lists_rows rows;

    tui_lists_rows(&view, model, DB_LIST_ORDERS, &rows);
    const struct status_order *order = tui_lists_row(&rows, tui_view_cursor(&view, model, PANEL_ORDERS));
    const struct db_list_query *query = &model->lists[DB_LIST_ORDERS].query;
    const struct list_choice *list = &view.lists[DB_LIST_ORDERS];
    return order && query->invert == list->invert && list->asked == list->answered && order->id == id &&
           !rows.items.partial && tui_list_count(&rows.items) == count;
}

/* Takes what is read until the cursor is on that row of so many. */
static void settle(int64_t id, int64_t count)
{
    struct list_rows read[DB_LISTS];
    struct pollfd fd = {.fd = tui_list_reader_fd(reader), .events = POLLIN};

    want(true);
    while (!is_settled(id, count) && poll(&fd, 1, WAIT_MS) > 0) {
        if (tui_list_reader_take(reader, read))
            tui_lists_take(&view, model, read, now);
        want(false);
    }
    CHECK(is_settled(id, count));
}

/* Takes what is read until it is without the live orders, so many, which are the first rows of all. */
static void settle_live(int n, int64_t count)
{
    struct list_rows read[DB_LISTS];
    struct pollfd fd = {.fd = tui_list_reader_fd(reader), .events = POLLIN};
    struct lists_rows rows;

    want(true);
    do {
        if (tui_list_reader_take(reader, read))
            tui_lists_take(&view, model, read, now);
        tui_lists_rows(&view, model, DB_LIST_ORDERS, &rows);
    } while (!(model->lists[DB_LIST_ORDERS].window.count == count - n) && poll(&fd, 1, WAIT_MS) > 0);
    CHECK_INT(rows.items.n_heads, n);
    CHECK_INT(tui_list_count(&rows.items), count);
}

static void press(const char *keys)
{
    for (; *keys; keys++)
        tui_keys_press(&view, model, 80, 24, now,
                       *keys == '\n'     ? PRESS_ENTER
                       : *keys == '\033' ? PRESS_ESCAPE
                                         : *keys);
}

/* An order that ends is a row, and chosen, before the others are read with it, and after that. */
static void check_ended(void)
{
    static const struct status_order live[2] = {{.id = 2999}, {.id = 3000}};
    struct lists_rows rows;

    for (int i = 0; i < 2; i++)
        *(struct status_order *)tui_status_add(&model->status, STATUS_ORDERS) = live[i];
    model->history.orders[0] = live[0];
    model->history.n_orders = 1;
    settle_live(2, ORDERS);
    view.lists[DB_LIST_ORDERS].id = 2999;
    model->status.orders[0] = live[1];
    model->status.n_orders = 1;
    tui_lists_rows(&view, model, DB_LIST_ORDERS, &rows);
    CHECK_INT(tui_lists_chosen(&view, model, DB_LIST_ORDERS), 2999);
    CHECK_INT(tui_list_count(&rows.items), ORDERS);
    const struct status_order *order = tui_lists_row(&rows, tui_lists_cursor(&view, model, DB_LIST_ORDERS));
    CHECK(order && order->id == 2999);
    settle_live(1, ORDERS);
    CHECK_INT(tui_lists_chosen(&view, model, DB_LIST_ORDERS), 2999);
    model->status.n_orders = model->history.n_orders = 0;
    press("gg");
    settle(ORDERS, ORDERS);
}

/* Likewise an alert that is stored: a row before, and after the history has it. */
static void check_stored(void)
{
    const struct list_rows kept = model->lists[DB_LIST_ALERTS];
    struct lists_rows rows;

    model->lists[DB_LIST_ALERTS] = (struct list_rows){.have = true, .without = "[6,7]"};
    model->history.n_alerts = 2;
    for (int unstored = 2; unstored >= 0; unstored--) {
        for (int i = 0; i < 2; i++)
            model->history.alerts[i] = (struct history_alert){.id = 7 - i, .unstored = i < unstored};
        tui_lists_rows(&view, model, DB_LIST_ALERTS, &rows);
        CHECK_INT(tui_list_count(&rows.items), 2);
        CHECK_INT(rows.former, unstored);
        for (int i = 0; i < 2; i++) {
            const struct history_alert *alert = tui_lists_row(&rows, i);
            CHECK(alert && (alert->id == 6 || alert->id == 7));
        }
    }
    model->history.n_alerts = 0;
    model->lists[DB_LIST_ALERTS] = kept;
}

static void check_keys(const char *path)
{
    sqlite3 *db;

    settle(ORDERS, ORDERS);
    press("G\n"); /* its row has not come yet */
    CHECK_INT(view.item.kind, ITEM_NONE);
    CHECK_STR(view.words, "the row is not read yet");
    settle(1, ORDERS);
    press("\n");
    CHECK(view.item.kind == ITEM_ORDER && view.item.id == 1);
    press("\0334D\n"); /* nor has any of the bars */
    CHECK(view.bars);
    CHECK_STR(view.words, "the row is not read yet");
    press("D6");
    settle(1, ORDERS);
    press("k");
    settle(2, ORDERS);
    press("gg");
    settle(ORDERS, ORDERS);
    press("jjj");
    settle(ORDERS - 3, ORDERS);
    check_ended();
    check_stored();
    press("/batch 123\n\n"); /* what is shown until the answer need not have that text */
    CHECK_INT(view.item.kind, ITEM_NONE);
    CHECK_STR(view.words, "the row is not read yet");
    CHECK_INT(tui_lists_order(&view, model, PANEL_ORDERS), 0);
    settle(2623, ORDERS / 500);
    press("G");
    settle(123, ORDERS / 500);
    press("\033");
    settle(ORDERS, ORDERS);
    press("n");
    CHECK_STR(view.command, "find:"); /* the filter of then, which the screen says */
    CHECK_STR(view.words, "batch 123");
    settle(2623, ORDERS);
    press("nN");
    settle(2623, ORDERS);
    press("nnn"); /* faster than they are answered */
    settle(1123, ORDERS);
    press("NnNN");
    settle(2123, ORDERS);
    press("N");
    settle(2623, ORDERS);
    press("N");
    settle(123, ORDERS); /* past the first from the last */
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(
        sqlite3_exec(
            db,
            "INSERT INTO orders SELECT id + 3000, account, symbol, side, type, tif, state, reason, qty, "
            "filled, price, stop_price, trail, trail_e6, peak, triggered, post_only, reduce_only, "
            "group_id, parent, cost, created_ns, effective_ns, updated_ns, expires_ns, input_seq, "
            "amends, by_hand, client_id, 'new', rule, hash, 0, 0, 0 FROM orders WHERE id <= 400",
            NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    settle(123, ORDERS + 400); /* the cursor stays on its row */
    press("I");
    settle(123, ORDERS + 400);
    CHECK_INT(tui_view_cursor(&view, model, PANEL_ORDERS), 122);
    press("gg");
    settle(1, ORDERS + 400);
    press("IG"); /* the last of the order that is not read yet */
    settle(1, ORDERS + 400);
    CHECK_INT(tui_view_cursor(&view, model, PANEL_ORDERS), ORDERS + 399);
}

/* A filter that is wrong leaves no row, of as many as there are. */
static void check_wrong(int64_t total)
{
    struct list_rows read[DB_LISTS];
    struct pollfd fd = {.fd = tui_list_reader_fd(reader), .events = POLLIN};
    const struct list_rows *rows = &model->lists[DB_LIST_ORDERS];

    press("/qty>abc\n");
    want(true);
    while (!rows->words[0] && poll(&fd, 1, WAIT_MS) > 0)
        if (tui_list_reader_take(reader, read))
            tui_lists_take(&view, model, read, now);
    CHECK_STR(rows->words, "qty: \"abc\" is no number");
    CHECK_INT(rows->window.total, total);
    CHECK_INT(rows->window.count, 0);
}

int main(void)
{
    char path[SCRATCH_PATH_MAX];

    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return CHECK_SKIP;
    snprintf(path, sizeof path, "%s/papertape.db", scratch_root());
    CHECK_INT(fixture_database(path), 0);
    fill(path);
    model = tui_model_create(1000);
    reader = tui_list_reader_create(path);
    CHECK(model && reader);
    tui_view_init(&view, true, 1000);
    view.tab = TAB_ORDERS;
    view.focus = PANEL_ORDERS;
    check_keys(path);
    check_wrong(ORDERS + 400);
    tui_list_reader_destroy(reader);
    tui_model_destroy(model);
    return check_done("tui/lists");
}

/* The ledger as a list of the dashboard: its rows, its place beside the log, and an entry's page with what
 * caused it. */
#include <locale.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/history_reader.h"
#include "tui/item_keys.h"
#include "tui/lists.h"

static const char *golden;
static struct model *model;
static struct history_reader *reader;
static struct view view;
static const struct moment now = {1723161255342000000, 1000000};
static int width = 80, height = 24;

/* A deposit by command, the entries of fill 6 at its time, a withdrawal, and more than a screen of interest.
 */
static void put_entries(const char *path)
{
    static const char sql[] =
        "INSERT INTO commands (id, ts_ns, peer_uid, peer_pid, cmd, args, state, result) VALUES "
        "(9, 1723150000000000000, 1000, 7, 'account_deposit', '{\"account\":\"main\",\"amount\":\"10000\"}', "
        "'done', '{}');"
        "WITH f AS (SELECT * FROM fills WHERE id = 6) INSERT INTO ledger "
        "SELECT 1, 1723150000000000000, 0, 'USDT', 8, 'deposit', 1000000000000, 1000000000000, NULL, NULL, "
        "zeroblob(32) UNION ALL "
        "SELECT 2, ts_ns, 0, 'BTC', 8, 'trade', qty, qty, order_id, id, zeroblob(32) FROM f UNION ALL "
        "SELECT 3, ts_ns, 0, 'USDT', 8, 'trade', -notional, 1000000000000 - notional, order_id, id, zeroblob(32) "
        "FROM f UNION ALL "
        "SELECT 4, ts_ns, 0, 'USDT', 8, 'fee', -fee, 1000000000000 - notional - fee, order_id, id, zeroblob(32) "
        "FROM f UNION ALL "
        "SELECT 5, 1723161000000000000, 0, 'USDT', 8, 'deposit', -5000000000, 900000000000, NULL, NULL, "
        "zeroblob(32);"
        "WITH RECURSIVE n(i) AS (SELECT 6 UNION ALL SELECT i + 1 FROM n WHERE i < 45) INSERT INTO ledger "
        "SELECT i, 1723161000000000000 + i * 1000000000, 0, 'USDT', 8, 'interest', -12345678 * i, "
        "900000000000 - i, NULL, NULL, zeroblob(32) FROM n;";
    sqlite3 *db;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* What the collector does once an interval. */
static void read_lists(void)
{
    struct list_rows read[DB_LISTS] = {0};
    struct lists_want want;
    struct layout layout;

    tui_view_layout(&view, model, width, height, &layout);
    tui_lists_want(&view, model, &layout, &want);
    for (int i = 0; i < DB_LISTS; i++)
        if (want.list[i].used)
            CHECK_INT(tui_list_source_read(reader->db, (enum db_list)i, &want.list[i], true, &read[i]), 0);
    tui_lists_take(&view, model, read, now);
}

static void read_item(void)
{
    struct item_page page = {.item = view.item};

    CHECK_INT(tui_item_read(&page, reader), 1);
    tui_item_page_finish(&model->item);
    model->item = page;
}

static void press(int key)
{
    tui_keys_press(&view, model, width, height, now, key);
    read_lists();
    if (view.item.kind != ITEM_NONE)
        read_item();
}

static void type(const char *keys)
{
    for (; *keys; keys++)
        press(*keys == '\n' ? PRESS_ENTER : *keys);
}

static void size(int columns, int rows)
{
    width = columns;
    height = rows;
}

static bool page_has(const char *label, const char *text)
{
    for (size_t i = 0; i < model->item.n; i++)
        if (strcmp(model->item.lines[i].label, label) == 0 && strstr(model->item.lines[i].text, text))
            return true;
    fprintf(stderr, "no \"%s\" \"%s\" on the page\n", label, text);
    return false;
}

/* J leads to it from everywhere, and from it to the log. A tall screen has both. */
static void check_place(void)
{
    struct layout layout;

    tui_view_init(&view, false, 1000);
    size(80, 24);
    press('J');
    CHECK_INT(view.tab, TAB_LOG);
    CHECK_INT(view.focus, PANEL_LEDGER);
    tui_view_layout(&view, model, 80, 24, &layout);
    CHECK(tui_layout_find(&layout, PANEL_LEDGER) && !tui_layout_find(&layout, PANEL_LOG));
    press('z');
    press('J');
    CHECK_INT(view.zoomed, PANEL_LOG);
    CHECK_INT(view.focus, PANEL_LOG);
    press('z');
    press('J');
    press('6');
    press('8'); /* as it was left */
    tui_view_layout(&view, model, 80, 24, &layout);
    CHECK_INT(tui_view_focus(&view, &layout), PANEL_LEDGER);
    size(120, 40);
    press('J');
    tui_view_layout(&view, model, 120, 40, &layout);
    CHECK(tui_layout_find(&layout, PANEL_LEDGER) && tui_layout_find(&layout, PANEL_LOG));
    CHECK_INT(tui_view_focus(&view, &layout), PANEL_LOG);
    press('J');
    CHECK_INT(tui_view_focus(&view, &layout), PANEL_LEDGER);
}

static void check_list(void)
{
    tui_view_init(&view, false, 1000);
    size(80, 24);
    press('J');
    CHECK_INT(tui_lists_count(&view, model, DB_LIST_LEDGER), 45);
    CHECK_INT(tui_lists_chosen(&view, model, DB_LIST_LEDGER), 45);
    press('G');
    CHECK_INT(tui_lists_chosen(&view, model, DB_LIST_LEDGER), 1);
    press('I'); /* the cursor stays on its entry */
    CHECK_INT(tui_lists_chosen(&view, model, DB_LIST_LEDGER), 1);
    CHECK_INT(tui_view_cursor(&view, model, PANEL_LEDGER), 0);
    press('I');
    type("/fee\n");
    CHECK_INT(tui_lists_count(&view, model, DB_LIST_LEDGER), 1);
    CHECK_INT(tui_lists_chosen(&view, model, DB_LIST_LEDGER), 4);
    CHECK(picture_matches(golden, "ledger-filter-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    press(PRESS_ESCAPE);
    CHECK_INT(tui_lists_count(&view, model, DB_LIST_LEDGER), 45);
    type("/!interest\n");
    CHECK_INT(tui_lists_count(&view, model, DB_LIST_LEDGER), 5);
    press(PRESS_ESCAPE);
}

/* An entry's page: of a fill, of a command; Enter there opens the order, where there is one. */
static void check_page(void)
{
    struct item item;

    tui_view_init(&view, false, 1000);
    size(80, 24);
    type("J/#3\n");
    press(PRESS_ENTER);
    CHECK_INT(view.item.kind, ITEM_LEDGER);
    CHECK_INT(view.item.id, 3);
    CHECK(page_has("kind", "trade") && page_has("fill id", "6") && page_has("order id", "6"));
    CHECK(page_has("contra", "market") && page_has("tag", "by hand"));
    CHECK(page_has("", "entry 2: trade +") && page_has("", "entry 4: fee -"));
    CHECK(picture_matches(golden, "item-ledger-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    press(PRESS_ENTER);
    CHECK_INT(view.item.kind, ITEM_ORDER);
    CHECK_INT(view.item.id, 6);
    press(PRESS_ESCAPE);
    CHECK_INT(view.focus, PANEL_LEDGER);
    CHECK_INT(tui_lists_chosen(&view, model, DB_LIST_LEDGER), 3);

    CHECK(tui_item_parse("ledger:1", &item));
    tui_view_init(&view, false, 1000);
    tui_item_keys_open(&view, &item);
    read_item();
    CHECK(page_has("cmd", "account_deposit") && page_has("amount", "10000") && page_has("contra", "equity"));
    press(PRESS_ENTER); /* no order */
    CHECK_INT(view.item.kind, ITEM_LEDGER);
    press(PRESS_ESCAPE);
    CHECK_INT(view.tab, TAB_LOG);
    CHECK_INT(view.focus, PANEL_LEDGER);
    CHECK(view.ledger);
    CHECK(tui_item_parse("ledger:5", &item));
    tui_item_keys_open(&view, &item);
    read_item();
    CHECK(page_has("amount", "-50") && page_has("", "none")); /* no command of that moment */
    tui_view_init(&view, false, 1000);
    CHECK(tui_item_parse("ledger:777", &item));
    struct item_page page = {.item = item};
    CHECK_INT(tui_item_read(&page, reader), 0);
    tui_item_page_finish(&page);
}

static void check_pictures(void)
{
    static const struct {
        const char *name;
        int width, height;
    } sizes[] = {{"ledger-80x24", 80, 24},
                 {"ledger-40x10", 40, 10},
                 {"ledger-120x40", 120, 40},
                 {"ledger-200x60", 200, 60}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        tui_view_init(&view, false, 1000);
        size(sizes[i].width, sizes[i].height);
        press('J');
        CHECK(picture_matches(golden, sizes[i].name, model, &view, now, width, height, GLYPHS_BRAILLE));
    }
}

int main(int argc, char **argv)
{
    const char *path = scratch_path("papertape.db");

    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    golden = argv[1];
    CHECK_INT(fixture_database(path), 0);
    put_entries(path);
    model = picture_model(path, "{}", now, &reader);
    if (!model)
        return EXIT_FAILURE;
    check_place();
    check_list();
    check_page();
    check_pictures();
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/ledger");
}

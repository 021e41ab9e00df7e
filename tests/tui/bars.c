/* The bars of the chart's symbol as a list of the market's tab: its place in the chart's, its rows, a bar of
 * it in the chart. */
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
#include "tui/keys.h"
#include "tui/lists.h"

static const char *golden;
static struct model *model;
static struct history_reader *reader;
static struct view view;
static const struct moment now = {1723161255342000000, 1000000};
static int width = 80, height = 24;
static sqlite3 *db;

static int64_t number(const char *sql)
{
    sqlite3_stmt *stmt;

    CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
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

static enum action press(int key)
{
    enum action action = tui_keys_press(&view, model, width, height, now, key);

    read_lists();
    return action;
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

static bool has(enum panel panel)
{
    struct layout layout;

    tui_view_layout(&view, model, width, height, &layout);
    return tui_layout_find(&layout, panel) != NULL;
}

static int64_t chosen(void)
{
    return tui_lists_chosen(&view, model, DB_LIST_BARS);
}

static void start(int columns, int rows)
{
    tui_view_init(&view, false, 1000);
    size(columns, rows);
    press('4');
}

/* D takes the chart's place, and gives it back; so does the depth. */
static void check_place(void)
{
    start(80, 24);
    CHECK(has(PANEL_CHART) && !has(PANEL_BARS));
    press('D');
    CHECK(has(PANEL_BARS) && !has(PANEL_CHART));
    CHECK_INT(view.focus, PANEL_BARS);
    press('z');
    press('D');
    CHECK_INT(view.zoomed, PANEL_CHART);
    press('D');
    CHECK_INT(view.zoomed, PANEL_BARS);
    press('z');
    press('d');
    CHECK(has(PANEL_DEPTH) && !has(PANEL_BARS));
    press('D');
    CHECK(has(PANEL_BARS) && !has(PANEL_DEPTH));
    press('5');
    press('D'); /* of the market's tab alone */
    CHECK_INT(view.outcome, OUTCOME_NOTE);
    press('4');
    CHECK(has(PANEL_BARS));
}

#define OF_BTC "FROM bars WHERE source = 'venue' AND interval_ns = 60000000000 AND symbol = 1"

static void check_list(void)
{
    int64_t n = number("SELECT count(*) " OF_BTC),
            highest = number("SELECT open_ns " OF_BTC " ORDER BY high DESC, "
                             "open_ns DESC LIMIT 1");

    CHECK(n > 20);
    start(80, 24);
    press('D');
    CHECK_INT(tui_lists_count(&view, model, DB_LIST_BARS), n);
    CHECK_INT(chosen(), number("SELECT max(open_ns) " OF_BTC));
    press('G');
    CHECK_INT(chosen(), number("SELECT min(open_ns) " OF_BTC));
    while (view.lists[DB_LIST_BARS].sort == 0 ||
           strcmp(db_list_column(DB_LIST_BARS, view.lists[DB_LIST_BARS].sort), "high") != 0)
        press('o'); /* the cursor stays on its bar */
    CHECK_INT(chosen(), number("SELECT min(open_ns) " OF_BTC));
    press(PRESS_HOME);
    CHECK_INT(chosen(), highest);
    CHECK(picture_matches(golden, "bars-high-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    type("/23:3\n");
    CHECK_INT(tui_lists_count(&view, model, DB_LIST_BARS),
              number("SELECT count(*) " OF_BTC
                     " AND strftime('%H:%M', open_ns / 1000000000, 'unixepoch') LIKE '%23:3%'"));
    CHECK(picture_matches(golden, "bars-filter-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    press(PRESS_ESCAPE);
    CHECK_INT(tui_lists_count(&view, model, DB_LIST_BARS), n);
    type("n"); /* what the filter was */
    CHECK(chosen() != highest);
    press('C');
    CHECK_INT(view.choosing, CHOOSING_COLUMNS);
    press(PRESS_ESCAPE);
}

/* Enter shows the bar in the chart, with the crosshair on it. */
static void check_chart(void)
{
    start(80, 24);
    type("DGk");
    int64_t open_ns = chosen();
    CHECK_INT(press(PRESS_ENTER), ACTION_BARS);
    CHECK(has(PANEL_CHART) && !has(PANEL_BARS));
    CHECK(view.chart.crosshair && view.chart.crosshair_ns == open_ns && view.chart.end_ns > open_ns);
    press('D'); /* as it was left */
    CHECK_INT(chosen(), open_ns);
}

/* Of another symbol the rows that were read are not shown. */
static void check_symbol(void)
{
    struct lists_rows rows;

    start(80, 24);
    press('D');
    memcpy(view.symbol, "ETHUSDT", 8);
    tui_lists_rows(&view, model, DB_LIST_BARS, &rows);
    CHECK(!rows.have && rows.items.n == 0);
    read_lists();
    tui_lists_rows(&view, model, DB_LIST_BARS, &rows);
    CHECK(rows.have);
    CHECK_INT(tui_list_count(&rows.items),
              number("SELECT count(*) FROM bars WHERE source = 'venue' AND interval_ns = "
                     "60000000000 AND symbol = 2"));
}

static void check_pictures(void)
{
    static const struct {
        const char *name;
        int width, height;
    } sizes[] = {
        {"bars-80x24", 80, 24}, {"bars-40x10", 40, 10}, {"bars-120x40", 120, 40}, {"bars-200x60", 200, 60}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        start(sizes[i].width, sizes[i].height);
        press('D');
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
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    model = picture_model(path, "{}", now, &reader);
    if (!model)
        return EXIT_FAILURE;
    check_place();
    check_list();
    check_chart();
    check_symbol();
    check_pictures();
    sqlite3_close(db);
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/bars");
}

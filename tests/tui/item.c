/* Pages of items: which row opens which, what they hold, and that nothing of them is lost at any width. */
#include "tui/item_keys.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "db/reader_query.h"
#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/collect.h"
#include "tui/history_reader.h"
#include "tui/panel/panel.h"

static const char *golden;
static struct model *model;
static struct history_reader *reader;
static struct view view;
static const struct moment now = {1723161255342000000, 1000000};

static enum action press(int key)
{
    return tui_keys_press(&view, model, 80, 24, now, key);
}

/* What the collector does once an interval. */
static void read_item(void)
{
    struct item_page page = {.item = view.item};

    tui_item_status(&page, model);
    int r = tui_item_read(&page, reader);
    CHECK(r >= 0);
    tui_item_settle(&page, r, &model->item, model, now.wall_ns);
    tui_item_page_finish(&model->item);
    model->item = page;
}

static void open_item(enum tab tab, enum panel panel, int at)
{
    tui_view_init(&view, false, 1000);
    press('1' + (int)tab);
    view.focus = panel;
    view.cursor[panel] = at;
    CHECK_INT(press(PRESS_ENTER), ACTION_COLLECT);
    CHECK_INT(view.focus, PANEL_ITEM);
    read_item();
}

/* Enter opens the row under the cursor, Esc leads back to it. */
static void check_rows(void)
{
    static const struct {
        enum tab tab;
        enum panel panel;
        int at;
        const char *title;
    } rows[] = {
        {TAB_ORDERS, PANEL_ORDERS, 0, "order 7"},
        {TAB_ORDERS, PANEL_ORDERS, 1, "order 6"}, /* the first that has ended */
        {TAB_ORDERS, PANEL_ORDERS, 2, "order 5"},
        {TAB_ORDERS, PANEL_FILLS, 0, "fill 6"},
        {TAB_ALERTS, PANEL_ALERTS, 0, "alert "},
        {TAB_POSITIONS, PANEL_POSITIONS, 1, "position ETHUSDT of main"},
        {TAB_POSITIONS, PANEL_ACCOUNTS, 0, "account main"},
        {TAB_POSITIONS, PANEL_STRATEGIES, 0, "account main"},
        {TAB_MARKET, PANEL_PRICES, 1, "symbol ETHUSDT"},
        {TAB_OVERVIEW, PANEL_POSITIONS, 0, "position BTCUSDT of main"},
    };
    char title[ITEM_NAME_MAX + 80];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        open_item(rows[i].tab, rows[i].panel, rows[i].at);
        tui_item_title(&view.item, title, sizeof(title));
        CHECK(strncmp(title, rows[i].title, strlen(rows[i].title)) == 0);
        CHECK(model->item.n > 3);
        CHECK_INT(press(PRESS_ESCAPE), ACTION_COLLECT);
        CHECK_INT(view.item.kind, ITEM_NONE);
        CHECK_INT(view.focus, rows[i].panel);
        CHECK_INT(view.cursor[rows[i].panel], rows[i].at);
    }
    for (int at = 0; at < model->history.n_log; at++) {
        open_item(TAB_LOG, PANEL_LOG, at);
        CHECK_INT(view.item.id, model->history.log[at].id);
        CHECK(view.item.id > 0);
    }
    open_item(TAB_ORDERS, PANEL_FILLS, 0); /* Enter again: the order that it filled */
    CHECK_INT(press(PRESS_ENTER), ACTION_COLLECT);
    CHECK_INT(view.item.kind, ITEM_ORDER);
    CHECK_INT(view.item.id, model->history.fills[0].order);
    press('5'); /* another tab has no page open */
    CHECK_INT(view.item.kind, ITEM_NONE);
}

/* What --open takes, and on which tab its page is. */
static void check_parsed(void)
{
    static const char *const bad[] = {"",
                                      "order",
                                      "order:",
                                      "order:0",
                                      "order:-1",
                                      "order:7x",
                                      "orders:7",
                                      "none:1",
                                      "position:BTC",
                                      "position::main",
                                      ":7",
                                      "position:A:",
                                      "fill:1e3",
                                      "order from elsewhere:7",
                                      "order:99999999999999999999"};
    static const struct {
        const char *text;
        enum tab tab;
        const char *title;
    } good[] = {
        {"order:7", TAB_ORDERS, "order 7"},
        {"fill:6", TAB_ORDERS, "fill 6"},
        {"alert:3", TAB_ALERTS, "alert 3"},
        {"command:1", TAB_LOG, "command 1"},
        {"account:main", TAB_POSITIONS, "account main"},
        {"position:BTCUSDT:main", TAB_POSITIONS, "position BTCUSDT of main"},
        {"symbol:ETHUSDT", TAB_MARKET, "symbol ETHUSDT"},
        {"policy:ppo_1", TAB_STUDY, "policy ppo_1"},
    };
    struct item item;
    char title[ITEM_NAME_MAX + 80];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(!tui_item_parse(bad[i], &item));
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        CHECK(tui_item_parse(good[i].text, &item));
        tui_item_title(&item, title, sizeof(title));
        CHECK_STR(title, good[i].title);
        tui_view_init(&view, false, 1000);
        tui_item_keys_open(&view, &item);
        CHECK_INT(view.tab, good[i].tab);
        CHECK_INT(press(PRESS_ESCAPE), ACTION_COLLECT);
        CHECK_INT(view.item.kind, ITEM_NONE);
    }
}

/* Keys that act mean the page's item, wherever the list's cursor has gone. */
static void check_acts(void)
{
    open_item(TAB_ORDERS, PANEL_ORDERS, 0);
    view.cursor[PANEL_ORDERS] = 2;
    press('x');
    CHECK_INT(view.prompt, PROMPT_CANCEL);
    CHECK_INT(view.order, 7);
    open_item(TAB_ORDERS, PANEL_ORDERS, 1);
    view.cursor[PANEL_ORDERS] = 0;
    press('x');
    CHECK_INT(view.prompt, PROMPT_NONE);
    CHECK_STR(view.words, "that order has ended");
    int at = 0, others = 0;
    while (at < model->history.n_alerts && !(model->history.alerts[at].open && others++ == 1))
        at++; /* not the first that is open, which a acknowledges elsewhere */
    CHECK(at < model->history.n_alerts);
    open_item(TAB_ALERTS, PANEL_ALERTS, at);
    view.cursor[PANEL_ALERTS] = 0;
    CHECK_INT(press('a'), ACTION_ACK);
    CHECK_INT(view.alert, model->history.alerts[at].id);
    view.item.id = 90210; /* older than those of the lists */
    CHECK_INT(press('a'), ACTION_ACK);
    CHECK_INT(view.alert, 90210);
}

static int lines_of(const char *text)
{
    int n = 0;

    for (size_t i = 0; i < model->item.n; i++)
        n += strstr(model->item.lines[i].text, text) != NULL;
    return n;
}

/* Of what neither the status nor the database has, the page says so, and Esc leaves it. */
static void check_unknown(void)
{
    static const struct item unknown[] = {{.kind = ITEM_ACCOUNT, .name = "nope"},
                                          {.kind = ITEM_POSITION, .name = "NOPEUSDT", .account = "main"},
                                          {.kind = ITEM_POSITION, .name = "BTCUSDT", .account = "nope"},
                                          {.kind = ITEM_SYMBOL, .name = "NOPEUSDT"},
                                          {.kind = ITEM_POLICY, .name = "nope"},
                                          {.kind = ITEM_EXTERNAL, .name = "nope"},
                                          {.kind = ITEM_ORDER, .id = 12345},
                                          {.kind = ITEM_FILL, .id = 12345},
                                          {.kind = ITEM_ALERT, .id = 12345},
                                          {.kind = ITEM_COMMAND, .id = 12345},
                                          {.kind = ITEM_LEDGER, .id = 12345},
                                          {.kind = ITEM_TRIP, .id = 12345, .first = -1}};
    char title[ITEM_NAME_MAX + 80], words[ITEM_NAME_MAX + 160];

    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        view.item = unknown[i];
        view.item_from = PANEL_ORDERS;
        view.focus = PANEL_ITEM;
        read_item();
        tui_item_title(&view.item, title, sizeof(title));
        snprintf(words, sizeof(words), "no such %s: neither the daemon nor the database has it", title);
        CHECK_INT(model->item.n, 1);
        CHECK_STR(model->item.lines[0].text, words);
        char *text = picture_draw(model, &view, now, 80, 24, GLYPHS_ASCII);
        CHECK(text && strstr(text, "no such ") && strstr(text, " Esc goes back "));
        free(text);
        CHECK_INT(press(PRESS_ESCAPE), ACTION_COLLECT);
        CHECK_INT(view.item.kind, ITEM_NONE);
    }
}

static int count_dim(void)
{
    int n = 0;

    for (size_t i = 0; i < model->item.n; i++)
        n += model->item.lines[i].style == STYLE_DIM;
    return n;
}

/* What `explain` says of a refusal is the first line, not the reason's own words. */
static void check_refusal(void)
{
    struct item_page page = {.item = {.kind = ITEM_ORDER, .id = 5}, .refusal = "RISK_STALE_DATA: and more"};

    CHECK_INT(tui_item_read(&page, reader), 1);
    CHECK_STR(page.lines[0].text, "RISK_STALE_DATA: and more");
    tui_item_page_finish(&page);
    page.item = (struct item){.kind = ITEM_ORDER, .id = 5};
    CHECK_INT(tui_item_read(&page, reader), 1);
    CHECK_STR(page.lines[0].text, "RISK_STALE_DATA: the market data is stale");
    tui_item_page_finish(&page);
}

/* Of an order without a command, as in a saved run: its filter's bounds. Those of a band are of the close of
 * the bar that ended as the order was created, 0.2 and 5 times it, and are its multipliers where none did. */
static void check_filter(const char *path)
{
    static const struct {
        const char *reason;
        int after_ns; /* the end of the newest bar */
        const char *line;
    } orders[] = {
        {"LOT_SIZE", 0,
         "LOT_SIZE: the quantity is outside the venue's bounds or not a multiple of its step: step 0.00001"},
        {"PERCENT_PRICE", 0,
         "PERCENT_PRICE: the price is too far from the market: 12382.1 to 309552.35, 0.2 to 5 times 61910.47"},
        {"PERCENT_PRICE", 1,
         "PERCENT_PRICE: the price is too far from the market: 0.2 to 5 times the market's"},
        {"RISK_STALE_DATA", 0, "RISK_STALE_DATA: the market data is stale"},
    };
    struct history_reader *own;
    char sql[240], words[256];
    sqlite3 *db;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db,
                           "CREATE TEMP TABLE kept AS SELECT * FROM orders WHERE id = 5;"
                           "UPDATE symbols SET bid_up_e4 = 50000, bid_down_e4 = 2000 WHERE id = 1",
                           NULL, NULL, NULL),
              SQLITE_OK);
    CHECK_INT(tui_history_open(path, &own, words, sizeof(words)), 0);
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        struct item_page page = {.item = {.kind = ITEM_ORDER, .id = 5}};
        snprintf(sql, sizeof(sql),
                 "UPDATE orders SET symbol = 1, reason = '%s', created_ns = %d +"
                 " (SELECT max(open_ns) + interval_ns FROM bars WHERE symbol = 1) WHERE id = 5",
                 orders[i].reason, orders[i].after_ns);
        CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        CHECK_INT(tui_item_read(&page, own), 1);
        CHECK_STR(page.lines[0].text, orders[i].line);
        tui_item_page_finish(&page);
    }
    tui_history_close(own);
    CHECK_INT(sqlite3_exec(db,
                           "REPLACE INTO orders SELECT * FROM kept;"
                           "UPDATE symbols SET bid_up_e4 = 0, bid_down_e4 = 0",
                           NULL, NULL, NULL),
              SQLITE_OK);
    sqlite3_close(db);
}

/* The child that a collector in this test starts: `explain`, or a what-if that names its arguments. */
static int papertape(int argc, char **argv)
{
    if (strcmp(argv[1], "explain") == 0)
        puts("order 5\n\nVerdict\n  refused: RISK_STALE_DATA by its limit: 31 s old\n  facts");
    for (int i = 1; i < argc; i++)
        printf("%s%s", i > 1 ? " " : "", argv[i]);
    return EXIT_SUCCESS;
}

static void read_child(struct collector *collector, const struct item *item)
{
    struct pollfd fd = {.events = POLLIN};

    tui_collector_want_item(collector, item);
    tui_collector_read_item(collector, now);
    CHECK(collector->explain.child.pid > 0);
    while ((fd.fd = collector->explain.child.out) >= 0) {
        CHECK_INT(poll(&fd, 1, 60000), 1);
        tui_collector_explain_io(collector, now);
    }
}

/* The first line of an order's page is the verdict of `explain`; a what-if's options that lack a value take
 * no other's. */
static void check_child(const char *path)
{
    static const struct item order = {.kind = ITEM_ORDER, .id = 5},
                             what_if = {.kind = ITEM_WHAT_IF, .name = "what-if --at 23:20 --set"};
    struct state_dir state = {.path = "/nowhere", .socket = "/nowhere/control.sock"};
    struct collector collector;

    snprintf(state.database, sizeof(state.database), "%s", path);
    CHECK_INT(tui_collector_init(&collector, &state, NULL, 1000), 0);
    tui_collector_read(&collector, &(struct history_want){.symbol = ""});
    read_child(&collector, &order);
    CHECK_STR(collector.model->item.lines[0].text, "RISK_STALE_DATA by its limit: 31 s old");
    read_child(&collector, &what_if);
    CHECK_STR(collector.model->item.lines[collector.model->item.n - 1].text,
              "what-if --state /nowhere --at 23:20 --set");
    tui_collector_finish(&collector);
}

/* One that was there is gone, as after a database is built again: what it was stays, dim; then it comes back.
 */
static void check_gone(const char *path)
{
    sqlite3 *db;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    open_item(TAB_ORDERS, PANEL_ORDERS, 1);
    const int lines = (int)model->item.n;
    CHECK(lines > 9 && !model->item.gone);
    CHECK_INT(
        sqlite3_exec(
            db,
            "PRAGMA foreign_keys = OFF;"
            "CREATE TEMP TABLE kept AS SELECT * FROM orders WHERE id = 6; DELETE FROM orders WHERE id = 6",
            NULL, NULL, NULL),
        SQLITE_OK);
    for (int i = 0; i < 3; i++) { /* however often it is looked at */
        read_item();
        CHECK(model->item.gone);
        CHECK_STR(model->item.lines[0].text,
                  "no such order 6 any more (it was here until 23:54:15Z, as below)");
        CHECK_INT(model->item.n, lines + 2);
        CHECK_INT(count_dim(), lines);
        CHECK_INT(lines_of("BTCUSDT"), 1);
    }
    CHECK(picture_matches(golden, "item-gone-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    CHECK_INT(sqlite3_exec(db, "INSERT INTO orders SELECT * FROM kept", NULL, NULL, NULL), SQLITE_OK);
    read_item();
    CHECK(!model->item.gone);
    CHECK_INT(model->item.n, lines);
    CHECK_INT(press(PRESS_ESCAPE), ACTION_COLLECT);
    CHECK_INT(view.focus, PANEL_ORDERS);
    sqlite3_close(db);
}

/* Another connection, which stores a fill of order 7 once an order's fills are to be read. */
static int store_fill(unsigned kind, void *other, void *stmt, void *sql)
{
    (void)kind, (void)stmt;
    if (strstr(sql, "FROM fills WHERE order_id"))
        CHECK_INT(sqlite3_exec(other, "INSERT OR IGNORE INTO fills SELECT * FROM one", NULL, NULL, NULL),
                  SQLITE_OK);
    return 0;
}

/* A page is of one moment, whatever is stored while it is read. */
static void check_moment(const char *path)
{
    sqlite3 *db;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db,
                           "CREATE TEMP TABLE one AS SELECT * FROM fills WHERE id = 6;"
                           "UPDATE one SET id = 999, order_id = 7",
                           NULL, NULL, NULL),
              SQLITE_OK);
    view.item = (struct item){.kind = ITEM_ORDER, .id = 7};
    sqlite3_trace_v2(reader->db->db, SQLITE_TRACE_STMT, store_fill, db);
    read_item();
    sqlite3_trace_v2(reader->db->db, 0, NULL, NULL);
    CHECK_INT(lines_of("fill 999"), 0);
    read_item();
    CHECK_INT(lines_of("fill 999"), 1);
    CHECK_INT(sqlite3_exec(db, "DELETE FROM fills WHERE id = 999", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* That there are more rows than the page has is said where there are, and only there. */
static void check_more(const char *path)
{
    enum { MOST = 200 };
    sqlite3 *db;
    char sql[160];

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "CREATE TEMP TABLE one AS SELECT * FROM fills WHERE id = 6", NULL, NULL, NULL),
              SQLITE_OK);
    view.item = (struct item){.kind = ITEM_ORDER, .id = 7};
    for (int fills = 0; fills <= MOST + 1; fills++) {
        if (fills == 0 || fills >= MOST) {
            read_item();
            CHECK_INT(lines_of("  fill 1"), fills < MOST ? fills : MOST);
            CHECK_INT(lines_of("none"), fills ? 1 : 2); /* the ledger has no entry */
            CHECK_INT(lines_of("and more"), fills > MOST);
        }
        snprintf(sql, sizeof(sql),
                 "UPDATE one SET id = 1000 + %d, order_id = 7; INSERT INTO fills SELECT * FROM one", fills);
        CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    }
    view.item = (struct item){.kind = ITEM_ACCOUNT, .name = "main"};
    read_item();
    CHECK_STR(model->item.lines[model->item.n - 1].text, "none"); /* of the ledger, which is last */
    sqlite3_close(db);
}

static void check_pictures(void)
{
    open_item(TAB_ORDERS, PANEL_ORDERS, 1);
    CHECK(picture_matches(golden, "item-order-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    CHECK(picture_matches(golden, "item-order-120x40", model, &view, now, 120, 40, GLYPHS_BRAILLE));
    CHECK(picture_matches(golden, "item-order-40x10", model, &view, now, 40, 10, GLYPHS_ASCII));
    for (int i = 0; i < 60; i++)
        press(PRESS_DOWN);
    CHECK(picture_matches(golden, "item-order-end-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    open_item(TAB_ORDERS, PANEL_ORDERS, 2); /* rejected: its reason */
    CHECK(picture_matches(golden, "item-rejected-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    open_item(TAB_ORDERS, PANEL_FILLS, 0);
    CHECK(picture_matches(golden, "item-fill-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    open_item(TAB_ALERTS, PANEL_ALERTS, 0);
    CHECK(picture_matches(golden, "item-alert-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    open_item(TAB_POSITIONS, PANEL_ACCOUNTS, 0);
    CHECK(picture_matches(golden, "item-account-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    open_item(TAB_POSITIONS, PANEL_POSITIONS, 0);
    CHECK(picture_matches(golden, "item-position-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    open_item(TAB_MARKET, PANEL_PRICES, 0);
    CHECK(picture_matches(golden, "item-symbol-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
}

/* Its characters except blanks, as they stand on a canvas. */
static size_t gather(const struct canvas *canvas, int from_row, wchar_t *text, size_t n, size_t size)
{
    for (int y = from_row; y < canvas->height; y++)
        for (int x = 0; x < canvas->width; x++) {
            const struct cell *cell = tui_canvas_cell(canvas, x, y);
            if (cell->text[0] && cell->text[0] != L' ' && n < size)
                text[n++] = cell->text[0];
        }
    return n;
}

/* At every width, with lines of every length: rows hold each character once and in order, as many as are
 * announced; and from row k on the page is the same rows without the first k. */
static void check_widths(void)
{
    enum { TEXT_MAX = 1 << 14 };
    static wchar_t whole[TEXT_MAX], seen[TEXT_MAX];
    struct item_page *page = &model->item;
    struct canvas canvas;
    char text[200];

    open_item(TAB_ORDERS, PANEL_ORDERS, 1);
    for (int length = 0; length < 160; length += 7) {
        for (int i = 0; i < length; i++)
            text[i] = i % (1 + length % 23) == length % 5 ? ' ' : (char)('a' + i % 26);
        text[length] = '\0';
        if (length % 2)
            tui_item_field(page, length % 3 ? "label" : "a label that is longer than its column",
                           STYLE_NORMAL, text);
        else
            tui_item_text(page, STYLE_NORMAL, text);
    }
    size_t n = 0;
    for (size_t i = 0; i < page->n; i++)
        for (const char *part = page->lines[i].label, *end = NULL; part;
             part = end ? NULL : (end = page->lines[i].text))
            for (const char *c = part; *c && n < TEXT_MAX; c++)
                if (*c != ' ')
                    whole[n++] = (wchar_t)(unsigned char)*c;
    for (int width = LAYOUT_WIDTH_MIN; width <= 160; width++) {
        view.cursor[PANEL_ITEM] = 0;
        CHECK_INT(tui_canvas_init(&canvas, width, 900, GLYPHS_ASCII), 0);
        tui_view_draw(&view, model, now, &canvas);
        canvas.height--; /* without the keys */
        size_t m = gather(&canvas, 3, seen, 0, TEXT_MAX);
        canvas.height++;
        CHECK_INT(m, n);
        CHECK(wmemcmp(whole, seen, n) == 0);
        int rows = panel_item_rows(page, width), last = 0;
        for (int y = 3; y < 899; y++)
            for (int x = 0; x < width; x++)
                if (tui_canvas_cell(&canvas, x, y)->text[0] != L' ')
                    last = y - 2;
        CHECK_INT(last, rows);
        tui_canvas_finish(&canvas);
        m = 0; /* and page by page */
        for (int from = 0; from < rows; from += 7) {
            view.cursor[PANEL_ITEM] = from;
            int height = from + 7 <= rows ? 7 : rows - from;
            if (height < 7) /* the last page shows rows again: those before are not counted */
                view.cursor[PANEL_ITEM] = rows - 7;
            CHECK_INT(tui_canvas_init(&canvas, width, 11, GLYPHS_ASCII), 0);
            tui_view_draw(&view, model, now, &canvas);
            canvas.height--;
            m = gather(&canvas, 3 + 7 - height, seen, m, TEXT_MAX);
            canvas.height++;
            tui_canvas_finish(&canvas);
        }
        CHECK_INT(m, n);
        CHECK(wmemcmp(whole, seen, n) == 0);
    }
}

/* The characters on the canvas that end at column x of row y. */
static void before_mark(const struct canvas *canvas, int x, int y, int n, char *ret)
{
    for (int i = 0; i < n; i++)
        ret[i] = (char)tui_canvas_cell(canvas, x - n + i, y)->text[0];
    ret[n] = '\0';
}

/* A text as long as an alert's may be, in one row of a screen that is wider. */
static void check_whole_wide(void)
{
    char *alert = model->history.alerts[0].text, end[] = " the end";
    const size_t last = sizeof(model->history.alerts[0].text) - sizeof(end);

    tui_view_init(&view, false, 1000);
    view.whole = true;
    for (size_t i = 0; i < last; i++)
        alert[i] = i % 10 ? 'a' : ' ';
    memcpy(alert + last, end, sizeof(end));
    char *text = picture_draw(model, &view, now, 800, 40, GLYPHS_ASCII);
    CHECK(text && strstr(text, "aaa the end"));
    free(text);
}

/* Each text that ends in "~" on any screen is among those that are kept whole, which w shows. */
static void check_whole(void)
{
    enum { LENGTH = 5 };
    struct canvas canvas;
    char part[LENGTH + 1];
    int marks = 0, panel;
    const char *text;

    tui_view_init(&view, false, 1000);
    strcpy(model->history.alerts[1].text,
           "the second alert is so long that no screen of this size has room for "
           "all of its words in a row that another is not chosen in");
    for (int width = LAYOUT_WIDTH_MIN; width <= 200; width += 8)
        for (int tab = 0; tab < TABS; tab++) {
            view.tab = (enum tab)tab;
            CHECK_INT(tui_canvas_init(&canvas, width, 40, GLYPHS_ASCII), 0);
            tui_view_draw(&view, model, now, &canvas);
            for (int y = 2; y < 40; y++)
                for (int x = LENGTH; x < width; x++) {
                    bool end = x == width - 1 || tui_canvas_cell(&canvas, x + 1, y)->text[0] == L' ';
                    if (tui_canvas_cell(&canvas, x, y)->text[0] != L'~' || !end)
                        continue;
                    before_mark(&canvas, x, y, LENGTH, part);
                    const char *word = strrchr(part, ' ') ? strrchr(part, ' ') + 1 : part;
                    bool found = false;
                    for (int i = 0; (text = tui_canvas_cut(&canvas, i, &panel)) && !found; i++)
                        found = strstr(text, word) != NULL;
                    CHECK(found);
                    marks++;
                }
            tui_canvas_finish(&canvas);
        }
    CHECK(marks > 20);
    view.tab = TAB_ALERTS;
    CHECK_INT(press('w'), ACTION_NONE);
    CHECK(view.whole);
    CHECK(picture_matches(golden, "whole-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    model->studies_error = -ENOENT; /* no study was ever started: no error */
    strcpy(model->studies_words, "studies.db: there is none");
    CHECK(picture_matches(golden, "whole-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    model->studies_error = 0;
    model->studies_words[0] = '\0';
    CHECK_INT(press('F'), ACTION_NONE); /* closes it, and nothing else */
    CHECK(!view.whole && view.prompt == PROMPT_NONE);
}

/* What a challenger still lacks, on its own page alone: each figure of its evidence by its label. */
static void check_evidence(void)
{
    static const struct {
        const char *label, *value;
    } wanted[] = {{"against", "cash"},
                  {"days", "12"},
                  {"days needed", "20"},
                  {"value", "3.14159"},
                  {"value needed", "20"}};
    static const char heading[] = "Evidence for becoming champion";

    for (int i = 0; i < model->status.n_policies; i++) {
        open_item(TAB_STUDY, PANEL_POLICIES, i);
        const bool young = strcmp(view.item.name, "young") == 0;
        char *text = picture_draw(model, &view, now, 80, 60, GLYPHS_BRAILLE);
        const char *at = text ? strstr(text, heading) : NULL;
        CHECK(text && !at == !young);
        for (size_t k = 0; at && k < sizeof(wanted) / sizeof(*wanted); k++) {
            char row[64];
            at = strchr(at, '\n');
            snprintf(row, sizeof(row), "\n %-19s %s\n", wanted[k].label, wanted[k].value);
            CHECK(at && strncmp(at, row, strlen(row)) == 0);
            at = at ? at + 1 : at;
        }
        free(text);
        if (!young)
            continue;
        press('G');
        CHECK(
            picture_matches(golden, "item-policy-evidence-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    }
}

/* The pages that the other statuses have: a command's, a policy's, an order's from elsewhere; and a what-if.
 */
static void check_other_pictures(void)
{
    static const char played[] =
        "account main, from 2024-08-08 23:20:00.000Z (event 8125) to 2024-08-08 23:54:15.342Z (event 9130)\n"
        "was       sma-cross-rsi: fast 10, slow 30\n"
        "would be  sma-cross-rsi: fast 5, slow 30\n"
        "\n"
        "final equity                   10243.11000000       10238.80437125\n"
        "orders                                      7                    9\n"
        "fills                                       3                    6\n"
        "fees                              12.20000000          14.03163479\n"
        "\n"
        "It is assumed that the market does not react: no price moves, and nothing is taken from anyone.\n";
    int at = 0;

    while (at < model->history.n_log && strcmp(model->history.log[at].kind, "command") != 0)
        at++;
    CHECK(at < model->history.n_log);
    open_item(TAB_LOG, PANEL_LOG, at);
    CHECK(picture_matches(golden, "item-command-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    CHECK_INT(fixture_take(model, fixture_trainings, now), 0);
    open_item(TAB_STUDY, PANEL_POLICIES, 0);
    CHECK(picture_matches(golden, "item-policy-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    check_evidence();
    CHECK_INT(fixture_take(model, fixture_at_venue, now), 0);
    open_item(TAB_ORDERS, PANEL_ORDERS, model->status.n_orders);
    CHECK_INT(view.item.kind, ITEM_EXTERNAL);
    CHECK(picture_matches(golden, "item-external-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    view.item = (struct item){.kind = ITEM_WHAT_IF, .name = "what-if --at 2024-08-08T23:20 --set fast=5"};
    tui_item_page_finish(&model->item);
    model->item.item = view.item;
    tui_item_heading(&model->item, "Played from the event log");
    tui_item_text(&model->item, STYLE_NORMAL, played);
    CHECK(picture_matches(golden, "item-what-if-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
}

int main(int argc, char **argv)
{
    static const struct history_want want = {.symbol = "BTCUSDT", .interval = "1m"};
    char words[256];

    if (argc > 1 && strcmp(argv[0], "papertape") == 0)
        return papertape(argc, argv);
    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    golden = argv[1];
    const char *path = scratch_path("papertape.db");
    json_t *status = json_loads(fixture_status, 0, NULL);
    CHECK_INT(fixture_database(path), 0);
    model = tui_model_create(1000);
    CHECK_INT(tui_model_take_status(model, status, now), 0);
    json_decref(status);
    CHECK_INT(tui_history_open(path, &reader, words, sizeof(words)), 0);
    CHECK_INT(tui_history_read(reader, fixture_now_ns, &want, &model->history, words, sizeof(words)), 0);
    model->have_history = true;
    model->history_mono_ms = now.mono_ms;
    check_rows();
    check_parsed();
    check_acts();
    check_pictures();
    check_widths();
    check_whole();
    check_unknown();
    check_refusal();
    check_filter(path);
    check_child(path);
    check_gone(path);
    check_moment(path);
    check_more(path);
    check_whole_wide();
    check_other_pictures();
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/item");
}

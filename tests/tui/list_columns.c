/* The columns of the long lists: every choice of them by keys, kept and read again; what is drawn of them. */
#include "tui/list_columns.h"

#include <locale.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/keys.h"
#include "tui/lists.h"

static const enum db_list lists[] = {DB_LIST_ORDERS, DB_LIST_FILLS,  DB_LIST_TRIPS, DB_LIST_LEDGER,
                                     DB_LIST_BARS,   DB_LIST_ALERTS, DB_LIST_LOG};
_Static_assert(sizeof(lists) / sizeof(lists[0]) == DB_LISTS, "all of them");
static struct model *model;
static struct view view;
static const struct moment now = {1723161255342000000, 1000000};

/* Random columns shown and hidden, against a plain array; what is kept of them gives them again. */
static void check_choices(void)
{
    struct random random = random_seeded("tui/list_columns", 1);

    for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++) {
        char choice[LIST_COLUMNS_TEXT_MAX] = LIST_COLUMNS_AUTO;
        bool plain[LIST_COLUMNS_MAX] = {0}, shown[LIST_COLUMNS_MAX];
        size_t len;
        int n;
        const struct list_column_row *rows = tui_list_columns(lists[k], &n);
        CHECK(rows && n > 0 && n <= LIST_COLUMNS_MAX);
        for (int i = 0; i < n; i++)
            plain[i] = rows[i].rank > 0;
        for (int turn = 0; turn < 400; turn++) {
            int at = (int)random_between(&random, 0, n - 1), left = 0;
            tui_list_columns_toggle(lists[k], choice, at);
            plain[at] = !plain[at];
            for (int i = 0; i < n; i++)
                left += plain[i];
            if (left == 0) /* one stays */
                plain[at] = true;
            tui_list_columns_shown(lists[k], choice, shown);
            CHECK(memcmp(shown, plain, (size_t)n) == 0);
            CHECK(tui_list_columns_wrong(lists[k], choice, &len) == NULL);
        }
        for (int i = 0; i < n; i++) /* the usual ones again */
            if (plain[i] != (rows[i].rank > 0))
                tui_list_columns_toggle(lists[k], choice, i);
        CHECK_STR(choice, LIST_COLUMNS_AUTO);
        for (int i = 0; i < n; i++) /* all at once fit into the text */
            if (!(rows[i].rank > 0))
                tui_list_columns_toggle(lists[k], choice, i);
        tui_list_columns_shown(lists[k], choice, shown);
        for (int i = 0; i < n; i++)
            CHECK(shown[i]);
    }
}

static void check_wrong(void)
{
    size_t len;
    const char *wrong = tui_list_columns_wrong(DB_LIST_ORDERS, "order pirce", &len);

    CHECK(wrong && len == 5 && strncmp(wrong, "pirce", 5) == 0);
    CHECK(tui_list_columns_wrong(DB_LIST_ORDERS, "", &len) != NULL && len == 0);
    CHECK(tui_list_columns_wrong(DB_LIST_ORDERS, "  order   price ", &len) == NULL);
    CHECK(tui_list_columns_wrong(DB_LIST_ORDERS, "order auto", &len) != NULL);
}

static bool sorts_by(enum db_list list, const char *name)
{
    for (int c = 0; c < db_list_columns(list); c++)
        if (strcmp(db_list_column(list, c), name) == 0)
            return true;
    return false;
}

/* Each column is one to sort by, under its own name or the one that the list's order has for it. */
static void check_sorted(void)
{
    static const struct {
        enum db_list list;
        const char *name, *sort;
    } others[] = {{DB_LIST_ORDERS, "order", "newest"},   {DB_LIST_ORDERS, "date", "time"},
                  {DB_LIST_FILLS, "date", "time"},       {DB_LIST_FILLS, "fill", "newest"},
                  {DB_LIST_LEDGER, "entry", "newest"},   {DB_LIST_TRIPS, "opened", "entry time"},
                  {DB_LIST_TRIPS, "closed", "exit time"}};

    for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++) {
        int n;
        const struct list_column_row *rows = tui_list_columns(lists[k], &n);
        for (int i = 0; i < n; i++) {
            const char *sort = rows[i].name;
            for (size_t o = 0; o < sizeof(others) / sizeof(others[0]); o++)
                if (others[o].list == lists[k] && strcmp(others[o].name, sort) == 0)
                    sort = others[o].sort;
            if (!sorts_by(lists[k], sort))
                fprintf(stderr, "%s cannot be sorted by\n", rows[i].name);
            CHECK(sorts_by(lists[k], sort));
        }
    }
}

static void press(int key)
{
    tui_keys_press(&view, model, 80, 24, now, key);
}

static void check_keys(void)
{
    char names[SETTINGS_NAMES_MAX];
    bool shown[LIST_COLUMNS_MAX];

    tui_view_init(&view, false, 1000);
    press('8');
    press('C');
    CHECK_INT(view.listed, DB_LIST_LOG);
    press(PRESS_ESCAPE);
    press('7');
    press('C');
    CHECK_INT(view.listed, DB_LIST_ALERTS);
    press(PRESS_ESCAPE);
    press('6');
    press('C');
    CHECK_INT(view.choosing, CHOOSING_COLUMNS);
    CHECK_INT(view.listed, DB_LIST_ORDERS);
    press(PRESS_DOWN);
    press(' '); /* created */
    tui_list_columns_shown(DB_LIST_ORDERS, view.settings.columns[DB_LIST_ORDERS], shown);
    CHECK(shown[1]);
    CHECK_STR(tui_settings_changed(&view.settings, &view.settings_kept, names), "orders_columns");
    CHECK_INT(tui_keys_press(&view, model, 80, 24, now, 's'), ACTION_SETTINGS_SAVE);
    press('a');
    CHECK_STR(view.settings.columns[DB_LIST_ORDERS], LIST_COLUMNS_AUTO);
    CHECK_STR(tui_settings_changed(&view.settings, &view.settings_kept, names), "");
    press(PRESS_UP);
    press(PRESS_UP);
    CHECK_INT(view.choosing_row, 0);
    press(PRESS_END);
    press('j');
    int n;
    tui_list_columns(DB_LIST_ORDERS, &n);
    CHECK_INT(view.choosing_row, n - 1);
    press('6'); /* does not leave it */
    CHECK_INT(view.choosing, CHOOSING_COLUMNS);
    press(PRESS_ESCAPE);
    CHECK_INT(view.choosing, CHOOSING_NOTHING);
    press('\t');
    press('C');
    CHECK_INT(view.listed, DB_LIST_FILLS);
    CHECK_INT(view.choosing_row, 0);
}

/* Parameters chosen and no longer: the usual columns are as many as fit again. Names in which others are. */
static void check_usual_again(void)
{
    char choice[LIST_COLUMNS_TEXT_MAX] = LIST_COLUMNS_AUTO;

    CHECK(tui_list_columns_toggle_param(choice, "ppo.param:lr"));
    CHECK(!tui_list_columns_param(choice, "lr") && tui_list_columns_param(choice, "ppo.param:lr"));
    CHECK(tui_list_columns_toggle_param(choice, "ppo.param:lr"));
    CHECK_STR(choice, LIST_COLUMNS_AUTO);
    const char *name = choice + strlen(LIST_COLUMNS_PARAM);
    memset(choice, 'x', sizeof choice - 1); /* one parameter that takes all the room there is */
    choice[sizeof choice - 1] = '\0';
    memcpy(choice, LIST_COLUMNS_PARAM, strlen(LIST_COLUMNS_PARAM));
    CHECK(tui_list_columns_param(choice, name));
    CHECK(!tui_list_columns_toggle(LIST_TRIALS, choice, 1) && !tui_list_columns_toggle_param(choice, "lr"));
    CHECK(tui_list_columns_param(choice, name));
}

/* Parameters of trials beside the columns that each study has: words of the same choice. */
static void check_params(void)
{
    char choice[LIST_COLUMNS_TEXT_MAX] = LIST_COLUMNS_AUTO, long_name[LIST_COLUMNS_TEXT_MAX], name[16];
    bool shown[LIST_COLUMNS_MAX], usual[LIST_COLUMNS_MAX];
    size_t len;

    tui_list_columns_shown(LIST_TRIALS, choice, usual);
    CHECK(!tui_list_columns_param(choice, "lr"));
    CHECK(tui_list_columns_toggle_param(choice, "lr"));
    CHECK(tui_list_columns_toggle_param(choice, "lr_end"));
    CHECK(tui_list_columns_param(choice, "lr") && tui_list_columns_param(choice, "lr_end"));
    CHECK(!tui_list_columns_param(choice, "l") && !tui_list_columns_param(choice, "end"));
    CHECK(!tui_list_columns_wrong(LIST_TRIALS, choice, &len));
    CHECK(tui_list_columns_wrong(DB_LIST_ORDERS, choice, &len));
    tui_list_columns_shown(LIST_TRIALS, choice, shown);
    CHECK(memcmp(shown, usual, sizeof shown) == 0);
    tui_list_columns_toggle(LIST_TRIALS, choice, 1); /* the parameters stay */
    CHECK(tui_list_columns_param(choice, "lr") && tui_list_columns_param(choice, "lr_end"));
    tui_list_columns_toggle(LIST_TRIALS, choice, 1);
    CHECK(tui_list_columns_toggle_param(choice, "lr"));
    CHECK(!tui_list_columns_param(choice, "lr") && tui_list_columns_param(choice, "lr_end"));
    CHECK(strstr(choice, "trial state value"));
    int n;
    tui_list_columns(LIST_TRIALS, &n);
    for (int i = 0; i < n; i++) { /* one parameter may be all that is shown */
        tui_list_columns_shown(LIST_TRIALS, choice, shown);
        if (shown[i])
            tui_list_columns_toggle(LIST_TRIALS, choice, i);
    }
    CHECK_STR(choice, "param:lr_end");
    CHECK(tui_list_columns_toggle_param(choice, "lr_end")); /* the last stays */
    CHECK_STR(choice, "param:lr_end");
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    CHECK(!tui_list_columns_toggle_param(choice, long_name));
    CHECK(!tui_list_columns_toggle_param(choice, "two words"));
    int most = 0;
    do
        snprintf(name, sizeof name, "p%d", ++most);
    while (tui_list_columns_toggle_param(choice, name));
    CHECK(strlen(choice) < sizeof choice && most > 10);
    CHECK(!tui_list_columns_wrong(LIST_TRIALS, choice, &len));
    CHECK(tui_list_columns_wrong(LIST_TRIALS, "param:", &len));
}

static void check_pictures(const char *golden)
{
    tui_view_init(&view, false, 1000);
    press('6');
    press('C');
    CHECK(picture_matches(golden, "columns-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    CHECK(picture_matches(golden, "columns-40x10", model, &view, now, 40, 10, GLYPHS_ASCII));
    press(PRESS_ESCAPE);
    strcpy(view.settings.columns[DB_LIST_ORDERS], "created order symbol state average client reason");
    strcpy(view.settings.columns[DB_LIST_FILLS], "fill symbol value fee currency rate order");
    CHECK(picture_matches(golden, "columns-chosen-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    int n;
    for (size_t k = 0; k < 2; k++) /* all that there is, where there is room */
        for (int i = (tui_list_columns(lists[k], &n), 0); i < n; i++) {
            bool shown[LIST_COLUMNS_MAX];
            tui_list_columns_shown(lists[k], view.settings.columns[lists[k]], shown);
            if (!shown[i])
                tui_list_columns_toggle(lists[k], view.settings.columns[lists[k]], i);
        }
    CHECK(picture_matches(golden, "columns-all-200x60", model, &view, now, 200, 60, GLYPHS_BRAILLE));
    strcpy(view.settings.columns[DB_LIST_ALERTS], "time severity code text count first acknowledged closed");
    strcpy(view.settings.columns[DB_LIST_LOG], "time number text");
    press('7');
    CHECK(picture_matches(golden, "columns-alerts-120x40", model, &view, now, 120, 40, GLYPHS_BRAILLE));
    press('8');
    CHECK(picture_matches(golden, "columns-log-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
}

/* The rows below the tabs without their labels, days and seconds, one blank between two words. For free(). */
static char *rows_without_day(const char *text)
{
    const char *const day = "08-08 ", *const rule = "─";
    char *ret = calloc(strlen(text) + 1, 1);
    size_t n = 0;
    int line = 0;

    for (const char *c = text; ret && *c; c++) {
        const bool starts = c == text || c[-1] == '\n';
        line += starts;
        if (line < 3 || (starts && strncmp(c, rule, strlen(rule)) == 0)) {
            c += strcspn(c, "\n");
            continue;
        }
        if (strncmp(c, day, strlen(day)) == 0)
            c += strlen(day);
        if (*c == ':' && n > 2 && ret[n - 3] == ':') /* seconds */
            c += strlen(":15");
        if (*c != ' ' || (n > 0 && ret[n - 1] != ' '))
            ret[n++] = *c;
    }
    return ret;
}

/* At that hour the list's rows have their day; they are those that they are without it. */
static bool has_day(int width, int height, int64_t now_ns)
{
    const int64_t shown_ns = model->status.now_ns;
    char *plain = picture_draw(model, &view, now, width, height, GLYPHS_BRAILLE);
    model->status.now_ns = now_ns;
    char *text = picture_draw(model, &view, now, width, height, GLYPHS_BRAILLE);
    char *rows = rows_without_day(plain), *same = rows_without_day(text);
    const bool has = strstr(text, "08-08 23:44");

    CHECK_STR(same, rows);
    CHECK(strstr(rows, "BTCUSDT") && !strstr(plain, "08-08 2"));
    model->status.now_ns = shown_ns;
    free(plain);
    free(text);
    free(rows);
    free(same);
    return has;
}

/* The day is shown where not all rows are of the clock's, as far as no column goes for it. */
static void check_days(const char *golden)
{
    const int64_t midnight_ns = 1723161600 * INT64_C(1000000000), shown_ns = model->status.now_ns;
    int with = 0;

    tui_view_init(&view, false, 1000);
    press('6');
    for (int width = 40; width <= 200; width++) {
        CHECK(!has_day(width, 24, midnight_ns - 1));
        with += has_day(width, 24, midnight_ns);
    }
    CHECK(with > 80);
    CHECK(has_day(120, 40, midnight_ns) && has_day(200, 60, midnight_ns));
    model->status.now_ns = midnight_ns;
    CHECK(picture_matches(golden, "columns-day-120x40", model, &view, now, 120, 40, GLYPHS_BRAILLE));
    strcpy(view.settings.columns[DB_LIST_ORDERS], "time date order symbol state");
    strcpy(view.settings.columns[DB_LIST_FILLS], "date fill symbol qty price");
    CHECK(picture_matches(golden, "columns-day-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    model->status.now_ns = shown_ns;
}

/* What the fixture's rows have no value of. */
static void put_values(const char *path)
{
    sqlite3 *db;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(
        sqlite3_exec(db,
                     "UPDATE orders SET cost = 308502500000, client_id = 'mine/3', parent = 2 WHERE id = 3;"
                     "UPDATE fills SET fee_e6 = 1000",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
}

int main(int argc, char **argv)
{
    const char *path = scratch_path("papertape.db");
    struct history_reader *reader;

    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    CHECK_INT(fixture_database(path), 0);
    put_values(path);
    model = picture_model(path, "{}", now, &reader);
    if (!model)
        return EXIT_FAILURE;
    check_choices();
    check_wrong();
    check_sorted();
    check_keys();
    check_params();
    check_usual_again();
    check_pictures(argv[1]);
    check_days(argv[1]);
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/list_columns");
}

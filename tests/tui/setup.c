/* The box of F2: what its rows open and where one is after that, each row at the smallest size, its picture.
 *
 * usage: test-tui-setup GOLDEN_FOLDER */
#include "tui/setup.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/history_reader.h"
#include "tui/lists.h"

static struct model *model;
static struct view view;
static const struct moment now = {1723161255342000000, 1000000};

static enum action press(int key)
{
    return tui_keys_press(&view, model, 80, 24, now, key);
}

/* The cursor to the row of that name; its value. */
static const char *to_row(const char *name)
{
    static struct setup_row row;

    while (view.setup_row > 0)
        press('k');
    for (int i = 0; tui_setup_row(&view, i, &row); i++, press('j')) {
        CHECK_INT(view.setup_row, i);
        if (strcmp(row.name, name) == 0)
            return row.value;
    }
    fprintf(stderr, "%s: no such row\n", name);
    CHECK(false);
    return "";
}

static void check_opens(const char *name, int key, enum choosing choosing, enum action action)
{
    to_row(name);
    CHECK_INT(press(key), action);
    CHECK_INT(view.choosing, choosing);
    CHECK_INT(press(PRESS_ESCAPE), ACTION_NONE);
    CHECK(view.setup && view.choosing == CHOOSING_NOTHING);
}

static void check_boxes(void)
{
    tui_view_init(&view, false, 1000);
    press('3'); /* a tab without a list */
    press(PRESS_F2);
    CHECK(view.setup);
    CHECK_INT(view.setup_row, 0);
    CHECK_STR(to_row("columns"), "orders");
    CHECK_STR(to_row("keys"), "usual");
    CHECK_STR(to_row("views"), "0 saved");
    CHECK_STR(to_row("indicators"), "all");
    for (int i = 0; i < 2; i++) {
        const int key = i ? ' ' : PRESS_ENTER;
        check_opens("columns", key, CHOOSING_COLUMNS, ACTION_NONE);
        check_opens("indicators", key, CHOOSING_INDICATORS, ACTION_NONE);
        check_opens("keys", key, CHOOSING_KEYS, ACTION_NONE);
        check_opens("views", key, CHOOSING_VIEWS, ACTION_VIEWS);
    }
    check_opens("scheme", 'C', CHOOSING_COLUMNS, ACTION_NONE);
    check_opens("scheme", 'K', CHOOSING_KEYS, ACTION_NONE);
    check_opens("scheme", 'V', CHOOSING_VIEWS, ACTION_VIEWS);
    to_row("keys");
    CHECK_INT(press('l'), ACTION_NONE); /* there is no next value */
    CHECK_INT(press(PRESS_ESCAPE), ACTION_NONE);
    CHECK(!view.setup);
    press(PRESS_F2); /* it opens at the first row again */
    CHECK_INT(view.setup_row, 0);
    press(PRESS_ESCAPE);
}

/* Each list that has columns once, both ways round; what is chosen is that list's. */
static void check_lists(void)
{
    static const int lists[] = {
#define LIST(list, word, name) list,
        LIST_TABLES(LIST)
#undef LIST
    };
    enum { LISTS = sizeof(lists) / sizeof(lists[0]) };
    bool seen[LIST_ALL] = {false};

    tui_view_init(&view, false, 1000);
    press('5');
    view.focus = PANEL_POSITIONS;
    press(PRESS_F2);
    CHECK_STR(to_row("columns"), "positions");
    for (int i = 0; i < LISTS; i++) {
        CHECK(!seen[view.listed]);
        seen[view.listed] = true;
        CHECK_INT(press('l'), ACTION_NONE);
    }
    CHECK_INT(view.listed, LIST_POSITIONS);
    for (int i = 0; i < LISTS; i++)
        CHECK(seen[lists[i]]);
    press('l');
    press('h');
    CHECK_INT(view.listed, LIST_POSITIONS);
    while (view.listed != DB_LIST_FILLS)
        press('h');
    press(PRESS_ENTER);
    press(' ');
    CHECK(strcmp(view.settings.columns[DB_LIST_FILLS], LIST_COLUMNS_AUTO) != 0);
    press(PRESS_ESCAPE);
    CHECK(view.setup && !view.choosing);
    CHECK_INT(press('s'), ACTION_SETTINGS_SAVE);
}

/* Of a list on whose panel the box is opened. */
static void check_focus(void)
{
    tui_view_init(&view, false, 1000);
    press('6');
    press('\t');
    press(PRESS_F2);
    const int list = tui_lists_of(view.focus);
    CHECK(list < LIST_ALL && list == view.listed);
}

/* At 40x10 the chosen row is drawn, whichever it is. */
static void check_small(void)
{
    struct setup_row row;

    tui_view_init(&view, false, 1000);
    press(PRESS_F2);
    for (int i = 0; tui_setup_row(&view, i, &row); i++, press('j')) {
        char *text = picture_draw(model, &view, now, 40, 10, GLYPHS_ASCII), chosen[64];
        snprintf(chosen, sizeof(chosen), ">%s ", row.name);
        CHECK(strstr(text, chosen) != NULL && strstr(text, row.value) != NULL);
        free(text);
    }
}

static void check_picture(const char *golden)
{
    tui_view_init(&view, false, 1000);
    press('6');
    press(PRESS_F2);
    to_row("columns");
    CHECK(picture_matches(golden, "setup-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    strcpy(view.settings_words, "/home/ann/.config/papertape/dashboard.ini:2: scheme: \"lihgt\" is none of: "
                                "default light colour-blind mono");
    CHECK(picture_matches(golden, "setup-wrong-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
}

int main(int argc, char **argv)
{
    const char *path = scratch_path("papertape.db");
    struct history_reader *reader;

    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    CHECK_INT(fixture_database(path), 0);
    model = picture_model(path, "{}", now, &reader);
    CHECK(model != NULL);
    if (!model)
        return check_done("tui/setup");
    check_boxes();
    check_lists();
    check_focus();
    check_small();
    check_picture(argv[1]);
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/setup");
}

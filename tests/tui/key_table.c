/* The table of keys: what it names the dashboard does, what it does not name does nothing; docs/keys.md and
 * the man page's KEYS are the table. With PAPERTAPE_GOLDEN=write they are written again.
 *
 * usage: test-tui-key_table DOCS_KEYS_MD PAPERTAPE_1_SCD */
#include "tui/key_table.h"

#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tui/history_reader.h"
#include "tui/item_keys.h"
#include "tui/key_map.h"

enum { TEXT_MAX = 1 << 17 };

static struct model *model;
static const struct moment now = {1723161255342000000, 1000000};

/* ---- the documents ---- */

/* A row's words without the quotes of the keys in them. */
static const char *plain(const char *words)
{
    static const struct key_map none;
    static char text[2][256];
    static int at;

    at = !at;
    return tui_key_map_sentence(&none, (struct key_where){KEYS_EVERYWHERE, KEYS_EVERYWHERE}, words, text[at],
                                sizeof(text[at]));
}

static char *read_file(const char *path)
{
    char *text = calloc(1, TEXT_MAX);
    FILE *file = fopen(path, "r");
    size_t n = text && file ? fread(text, 1, TEXT_MAX - 1, file) : 0;

    CHECK(n > 0 || getenv("PAPERTAPE_GOLDEN"));
    if (file)
        fclose(file);
    return text;
}

static void compare(const char *path, const char *found, const char *right)
{
    const char *golden = getenv("PAPERTAPE_GOLDEN");

    if (golden && strcmp(golden, "write") == 0) {
        FILE *file = fopen(path, "w");
        CHECK(file && fputs(right, file) >= 0 && fclose(file) == 0);
        return;
    }
    if (strcmp(found, right) != 0)
        fprintf(stderr, "%s: not as tui/key_table.c: PAPERTAPE_GOLDEN=write tests/tui/test-tui-key_table\n",
                path);
    CHECK(strcmp(found, right) == 0);
}

/* "`j` `k`" */
static void put_keys(FILE *out, const char *keys)
{
    for (const char *key = keys; *key; key += strspn(key, " ")) {
        size_t len = strcspn(key, " ");
        fprintf(out, "%s`%.*s`", key == keys ? "" : " ", (int)len, key);
        key += len;
    }
}

static void check_page(const char *path)
{
    char *right = NULL, *found = read_file(path);
    size_t size;
    FILE *out = open_memstream(&right, &size);
    const struct key_row *row;
    int place = -1;

    fputs(
        "# Keys\n\nThe dashboard's keys, as its help (`?`) has them: those of the panel at hand first. The "
        "table is\n`tui/key_table.c`; `tests/tui/key_table.c` compares this page with it. An action can be given another\nkey: "
        "[the key map](dashboard.md#the-key-map).\n",
        out);
    for (int i = 0; (row = tui_key_table(i)); i++) {
        if ((int)row->place != place) {
            const char *words = plain(tui_key_place_words(row->place));
            fprintf(out, "\n## %c%s\n\n| Key | Action | What it does |\n|---|---|---|\n", toupper(words[0]),
                    words + 1);
            place = (int)row->place;
        }
        fputs("| ", out);
        put_keys(out, row->keys);
        fprintf(out, " | %s | %s%s%s |\n",
                strspn(row->actions, "- ") == strlen(row->actions) ? "" : row->actions, row->words,
                row->more ? ". " : "", row->more ? row->more : "");
    }
    CHECK_INT(fclose(out), 0);
    compare(path, found, right);
    free(found);
    free(right);
}

/* The table under the man page's KEYS ends at its first blank line. */
static void check_man(const char *path)
{
    char *right = NULL, *found = read_file(path);
    char *start = strstr(found, "# KEYS\n\n"), *end = start ? strstr(start + 8, "\n\n") : NULL;
    const struct key_row *row;
    size_t size;
    FILE *out = open_memstream(&right, &size);

    CHECK(start && end);
    if (start && end) {
        fwrite(found, 1, (size_t)(start + 8 - found), out);
        fputs("[[ *Key*\n:< *Action*\n:< *Where*\n:< *Does*\n", out);
        for (int i = 0; (row = tui_key_table(i)); i++)
            fprintf(out, "|  %s\n:  %s\n:  %s\n:  %s%s%s\n", row->keys, row->actions,
                    plain(tui_key_place_words(row->place)), plain(row->words), row->more ? ". " : "",
                    row->more ? row->more : "");
        fputs(end + 1, out);
    }
    CHECK_INT(fclose(out), 0);
    compare(path, found, right);
    free(found);
    free(right);
}

/* ---- the keys ---- */

/* The presses that a word of the table stands for: 0 ends them. */
static void presses(const char *word, size_t len, int ret[static 9])
{
    static const struct {
        const char *word;
        int keys[9];
    } named[] = {
        {"1-8", {'1', '2', '3', '4', '5', '6', '7', '8'}},
        {"gg", {'g'}},
        {"Tab", {'\t'}},
        {"Enter", {PRESS_ENTER}},
        {"Space", {' '}},
        {"Esc", {PRESS_ESCAPE}},
        {"F1", {PRESS_HELP}},
        {"F2", {PRESS_F2}},
        {"F3", {PRESS_F3}},
        {"F5", {PRESS_F5}},
        {"F12", {PRESS_F12}},
        {"Up", {PRESS_UP}},
        {"Down", {PRESS_DOWN}},
        {"Left", {PRESS_LEFT}},
        {"0-9", {'0', '1', '2', '3', '4', '5', '6', '9'}},
        {"Ctrl-U", {'U' & 0x1f}},
        {"Ctrl-L", {'L' & 0x1f}},
        {"paste", {0}},
    };

    memset(ret, 0, 9 * sizeof(*ret));
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        if (strlen(named[i].word) == len && strncmp(named[i].word, word, len) == 0) {
            memcpy(ret, named[i].keys, sizeof(named[i].keys));
            return;
        }
    CHECK_INT(len, 1);
    ret[0] = word[0];
}

/* A view in which keys of that place have something to do. */
static void begin(struct view *view, enum key_place place, int key)
{
    static const enum tab tabs[KEYS_PLACES] = {
        [KEYS_EVERYWHERE] = TAB_ORDERS, [KEYS_ITEM] = TAB_ORDERS,         [KEYS_LISTS] = TAB_ORDERS,
        [KEYS_MARKET] = TAB_MARKET,     [KEYS_POSITIONS] = TAB_POSITIONS, [KEYS_STUDY] = TAB_STUDY,
        [KEYS_STUDY_PAGE] = TAB_STUDY,
    };

    memset(view, 0, sizeof(*view));
    tui_view_init(view, false, 1000);
    view->tab = tabs[place];
    view->focus = place == KEYS_STUDY        ? PANEL_TRAININGS
                  : place == KEYS_STUDY_PAGE ? PANEL_TRIALS
                  : place == KEYS_POSITIONS  ? PANEL_ACCOUNTS
                  : place == KEYS_MARKET     ? PANEL_PRICES
                                             : PANEL_ORDERS;
    view->study_view = place == KEYS_STUDY_PAGE ? STUDY_PAGE : STUDY_LISTED;
    if (place == KEYS_EVERYWHERE) {
        view->cursor[PANEL_ORDERS] = 1;
        view->zoomed = key == PRESS_ESCAPE ? PANEL_ORDERS : PANEL_NONE;
    }
    if (place == KEYS_ORDER) {
        tui_keys_press(view, model, 80, 24, now, 'O');
        CHECK(view->order_form != NULL);
        tui_order_form_put(view->order_form, "qty", "0.5");
        view->order_form->rules = (struct symbol){.name = "BTCUSDT", .price_scale = 8, .qty_scale = 8};
        return;
    }
    if (key == '.') /* newer ones than these */
        view->chart.end_ns = model->history.bars[0].open_ns;
    if (place != KEYS_ITEM)
        return;
    view->item = key == PRESS_ENTER ? (struct item){.kind = ITEM_FILL, .id = 6, .order = 6}
                 : key == 'a'       ? (struct item){.kind = ITEM_ALERT, .id = model->history.alerts[0].id}
                                    : (struct item){.kind = ITEM_ORDER, .id = 7};
    view->item_from = PANEL_ORDERS;
    view->focus = PANEL_ITEM;
    view->cursor[PANEL_ITEM] = 3;
}

/* Does the key do anything there? */
static bool acts(enum key_place place, int key)
{
    struct view view, before;

    begin(&view, place, key);
    if (key == 'g') { /* it is gg */
        tui_keys_press(&view, model, 80, 24, now, key);
        view.got_g = true;
    }
    memcpy(&before, &view, sizeof(view));
    struct order_form form = view.order_form ? *view.order_form : (struct order_form){0};
    bool done = tui_keys_press(&view, model, 80, 24, now, key) != ACTION_NONE;
    before.got_g = view.got_g = false;
    done |= memcmp(&before, &view, sizeof(view)) != 0;
    done |= view.order_form && memcmp(&form, view.order_form, sizeof(form)) != 0;
    tui_view_finish(&view);
    return done;
}

static bool named[0x80];

static void check_rows(void)
{
    const struct key_row *row;
    int keys[9], before = -1;

    for (int i = 0; (row = tui_key_table(i)); i++) {
        CHECK((int)row->place >= before); /* those of one place together */
        before = (int)row->place;
        CHECK(cli_text_width(plain(row->words)) <= KEY_WORDS_MAX && cli_text_width(row->keys) < KEYS_COLUMNS);
        for (const char *word = row->keys; *word; word += strspn(word, " ")) {
            size_t len = strcspn(word, " ");
            presses(word, len, keys);
            for (int k = 0; keys[k]; k++) {
                named[keys[k] < 0x80 ? keys[k] : 0] = true;
                /* Without a study there is nothing to check; the form and sweeps have their own tests. */
                bool elsewhere = row->place >= KEYS_FORM || (row->place == KEYS_STUDY_PAGE && keys[k] == 'v');
                if (!elsewhere && !acts(row->place, keys[k])) {
                    fprintf(stderr, "%s: %.*s does nothing\n", tui_key_place_words(row->place), (int)len,
                            word);
                    CHECK(false);
                }
            }
            word += len;
        }
    }
    CHECK_INT(before, KEYS_PLACES - 1);
    named['='] = true; /* + without Shift */
    for (int place = 0; place < KEYS_FORM; place++)
        for (int key = 0x20; key < 0x7f; key++)
            if (!named[key] && acts((enum key_place)place, key)) {
                fprintf(stderr, "%c does something: a row of tui/key_table.c\n", key);
                CHECK(false);
            }
}

/* The help shows the keys of the panel at hand first, and all of them by scrolling. */
static void check_help(void)
{
    const struct key_row *row;
    struct canvas canvas;
    struct view view;

    for (int place = 0; place < KEYS_FORM; place++) {
        begin(&view, (enum key_place)place, 0);
        if (place == KEYS_EVERYWHERE) {
            view.tab = TAB_OVERVIEW;
            view.focus = PANEL_POSITIONS;
        }
        tui_keys_press(&view, model, 80, 24, now, '?');
        CHECK(view.help);
        char seen[1 << 18] = "", first[80] = "";
        for (int turn = 0; turn < (place == KEYS_ORDER ? 1 : 20); turn++) { /* a form's is one page */
            char *text = NULL;
            size_t size;
            FILE *out = open_memstream(&text, &size);
            CHECK_INT(tui_canvas_init(&canvas, 80, 24, GLYPHS_ASCII), 0);
            tui_view_draw(&view, model, now, &canvas);
            tui_canvas_print(&canvas, out);
            fclose(out);
            if (turn == 0) /* below the box's upper edge */
                snprintf(first, sizeof(first), "%.70s", strchr(strstr(text, " Help "), '\n') + 1);
            strncat(seen, text, sizeof(seen) - strlen(seen) - 1);
            free(text);
            tui_canvas_finish(&canvas);
            if (place != KEYS_ORDER)
                tui_keys_press(&view, model, 80, 24, now, PRESS_PAGE_DOWN);
        }
        CHECK(view.help);
        CHECK(strstr(first, plain(tui_key_place_words((enum key_place)place))) != NULL);
        for (int i = 0; (row = tui_key_table(i)); i++)
            CHECK(row->place >= KEYS_FORM || (place == KEYS_ORDER && row->place != KEYS_ORDER) ||
                  strstr(seen, plain(row->words)) != NULL);
        tui_keys_press(&view, model, 80, 24, now, 'x');
        CHECK(!view.help && view.prompt == PROMPT_NONE);
        tui_view_finish(&view);
    }
}

int main(int argc, char **argv)
{
    static const struct history_want want = {.symbol = "BTCUSDT", .interval = "1m"};
    const char *path = scratch_path("papertape.db");
    char words[256];
    struct history_reader *reader;

    if (argc != 3 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 3 ? EXIT_FAILURE : CHECK_SKIP;
    check_page(argv[1]);
    check_man(argv[2]);
    CHECK_INT(fixture_database(path), 0);
    model = tui_model_create(1000);
    CHECK_INT(fixture_take(model, fixture_trainings, now), 0);
    CHECK_INT(tui_history_open(path, &reader, words, sizeof(words)), 0);
    CHECK_INT(tui_history_read(reader, fixture_now_ns, &want, &model->history, words, sizeof(words)), 0);
    model->item = (struct item_page){.item = {.kind = ITEM_ORDER, .id = 7}};
    for (int i = 0; i < 60; i++)
        tui_item_line(&model->item, STYLE_NORMAL, "line %d", i);
    check_rows();
    check_help();
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/key_table");
}

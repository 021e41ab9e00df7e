/* Keys that a user has given to actions: words and codes of keys, random maps in every place, what presses
 * then do, the file's wrong lines, the box of F2, and what is drawn of keys.
 *
 * usage: test-tui-key_map GOLDEN_FOLDER */
#include "tui/key_map.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/history_reader.h"
#include "tui/keys.h"

enum { MAPS = 400, CHANGES = 12 };

static struct model *model;
static struct view view;
static const struct moment now = {1723161255342000000, 1000000};

static enum action press(int key)
{
    return tui_keys_press(&view, model, 80, 24, now, key);
}

static int action_of(const char *name)
{
    const struct key_action *action;

    for (int i = 0; (action = tui_key_action(i)); i++)
        if (strcmp(action->name, name) == 0)
            return i;
    fprintf(stderr, "%s: no such action\n", name);
    CHECK(false);
    return 0;
}

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* ---- words, and the table's own keys ---- */

static void check_words(void)
{
    static const char *const none[] = {"",       "F13",    "F0",     "F1x",      "Ctrl-1", "Ctrl-C",
                                       "Ctrl-M", "Ctrl-I", "Alt-x",  "Shift-F2", "XX",     " ",
                                       "\x01",   "\xff",   "ctrl-a", "Ctrl-Z"};
    char word[KEY_WORD_MAX];
    int n = 0;

    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        CHECK_INT(tui_key_code(none[i]), 0);
    for (int code = 1; code < 0x80; code++)
        if (tui_key_code(tui_key_word(code, word))) {
            CHECK_INT(tui_key_code(tui_key_word(code, word)), code);
            n++;
        }
    CHECK_INT(n, 0x7f - 0x20 + 26 - 8 + 1); /* what can be printed, Space, and letters with Ctrl, and Tab */
    for (int code = PRESS_UP; code <= PRESS_F12; code++)
        CHECK_INT(tui_key_code(tui_key_word(code, word)), code);
    CHECK_INT(tui_key_code("\xc3\xa9"), 0xe9);
    CHECK_STR(tui_key_word(0xe9, word), "\xc3\xa9");
}

static void check_table(void)
{
    static const struct key_map usual;
    const struct key_action *action, *other;
    char word[KEY_WORD_MAX], hint[KEY_HINT_MAX];
    int n = 0;

    for (; (action = tui_key_action(n)); n++) {
        CHECK_INT(tui_key_map_clash(&usual, n), -1);
        CHECK_INT(tui_key_code(tui_key_word(action->key, word)), action->key);
        for (int k = 0; k < n && action->name[0]; k++)
            CHECK(strcmp((other = tui_key_action(k))->name, action->name) != 0);
        CHECK(strspn(action->name, "abcdefghijklmnopqrstuvwxyz-") == strlen(action->name));
    }
    CHECK(n > 80 && n < KEY_ACTIONS_MAX);
    const struct key_row *row;
    for (int i = 0; (row = tui_key_table(i)); i++)
        for (int place = 0; place < KEYS_PLACES; place++)
            CHECK_STR(tui_key_map_hint(&usual, (struct key_where){row->place, (enum key_place)place},
                                       row->keys, hint),
                      row->keys);
    for (int here = 0; here < KEYS_PLACES; here++)
        for (int tab = 0; tab < KEYS_PLACES; tab++)
            for (int key = 1; key <= PRESS_OTHER; key = key == 0x2ff ? PRESS_UP : key + 1)
                CHECK_INT(tui_key_map_take(
                              &usual, (struct key_where){(enum key_place)here, (enum key_place)tab}, key),
                          key == '=' && here < KEYS_ORDER ? '+' : key);
}

/* ---- maps at random ---- */

/* Each action's key means it in each of its places; the key that it gave away means it in none of them. */
static void check_map(const struct key_map *map)
{
    const struct key_action *action;

    for (int i = 0; (action = tui_key_action(i)); i++)
        for (int place = 0; place < KEYS_PLACES; place++) {
            const struct key_where where = {(enum key_place)place, (enum key_place)place};
            if (!(action->places & 1u << place))
                continue;
            bool moved = map->keys[i] != 0;
            int key = tui_key_map_key(map, i);
            CHECK_INT(tui_key_map_take(map, where, key), moved && action->twice ? PRESS_HOME : action->key);
            if (moved && key != action->key)
                CHECK(tui_key_map_take(map, where, action->key) != action->key);
        }
}

static void check_random(void)
{
    static const char keys[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!\"#$%&'()*,./<>[]{}?";
    struct random random = random_seeded("tui/key_map", 1);
    char why[CONFIG_WHY_MAX];
    int taken = 0, refused = 0;

    for (int turn = 0; turn < MAPS; turn++) {
        struct key_map map = {0};
        for (int i = 0; i < CHANGES; i++) {
            struct key_map before = map;
            const struct key_action *action =
                tui_key_action((int)random_between(&random, 0, KEY_ACTIONS_MAX - 1));
            char word[2] = {keys[random_between(&random, 0, sizeof(keys) - 2)], '\0'};
            if (!action || !action->name[0])
                continue;
            CHECK_INT(tui_key_map_set(&map, action->name, word, why), 0);
            bool clash = tui_key_map_clash(&map, action_of(action->name)) >= 0;
            if (clash)
                map = before;
            refused += clash;
            taken += !clash;
        }
        check_map(&map);
    }
    CHECK(taken > MAPS && refused > MAPS);
}

/* ---- what presses do ---- */

static void check_sentences(void)
{
    static const struct key_where where = {KEYS_EVERYWHERE, KEYS_EVERYWHERE};
    struct key_map map = {0};
    char why[CONFIG_WHY_MAX], ret[40], small[12];

    CHECK_STR(tui_key_map_sentence(&map, where, "no key", ret, sizeof(ret)), "no key");
    CHECK_STR(tui_key_map_sentence(&map, where, "`V` lists, `Esc` leaves: `:`", ret, sizeof(ret)),
              "V lists, Esc leaves: :");
    CHECK_INT(tui_key_map_set(&map, "views", "F3", why), 0);
    CHECK_INT(tui_key_map_set(&map, "command", "Space", why), 0);
    CHECK_STR(tui_key_map_sentence(&map, where, "`V` lists, `Esc` leaves: `:`", ret, sizeof(ret)),
              "F3 lists, Esc leaves: Space");
    CHECK_STR(tui_key_map_sentence(&map, where, "`V` lists, `Esc` leaves", small, sizeof(small)),
              "F3 lists, E");
}

static void check_presses(void)
{
    char why[CONFIG_WHY_MAX];

    tui_view_init(&view, false, 1000);
    struct key_map *map = &view.settings.keys;
    CHECK_INT(tui_key_map_set(map, "flatten", "X", why), 0);
    CHECK_INT(tui_key_map_set(map, "quit", "F10", why), 0);
    CHECK_INT(tui_key_map_set(map, "first", "T", why), 0);
    CHECK_INT(tui_key_map_set(map, "cancel", "D", why), 0);
    CHECK_INT(tui_key_map_set(map, "log", "9", why), 0);
    CHECK_INT(tui_key_map_set(map, "market", "0", why), 0);
    CHECK_INT(press('F'), ACTION_NONE);
    CHECK_INT(view.prompt, PROMPT_NONE);
    press('X');
    CHECK_INT(view.prompt, PROMPT_FLATTEN);
    for (const char *word = "FLATTEN"; *word; word++)
        press(*word); /* what is typed is typed */
    CHECK_INT(press(PRESS_ENTER), ACTION_FLATTEN);
    view.outcome = OUTCOME_NONE;
    press('d'); /* what is said names the keys in force */
    CHECK_STR(view.words, "the market's tab is 0");
    view.outcome = OUTCOME_NONE;
    CHECK_INT(press('q'), ACTION_NONE);
    CHECK_INT(tui_keys_press(&view, model, 39, 9, now, 'q'), ACTION_NONE);
    CHECK_INT(tui_keys_press(&view, model, 39, 9, now, PRESS_F10), ACTION_QUIT);
    CHECK_INT(press(PRESS_F10), ACTION_QUIT);
    press('8');
    CHECK_INT(view.tab, TAB_OVERVIEW);
    press('9');
    CHECK_INT(view.tab, TAB_LOG);
    press('6');
    view.focus = PANEL_ORDERS;
    press('j');
    CHECK_INT(view.cursor[PANEL_ORDERS], 1);
    press('x'); /* stop's, which is elsewhere */
    CHECK_INT(view.prompt, PROMPT_NONE);
    press('g');
    press('g');
    CHECK_INT(view.cursor[PANEL_ORDERS], 1);
    press('T');
    CHECK_INT(view.cursor[PANEL_ORDERS], 0);
    press('D');
    CHECK_INT(view.prompt, PROMPT_CANCEL);
    press('n');
    tui_view_finish(&view);
}

/* ---- the file ---- */

static void wrong(const char *text, const char *line, const char *action, const char *hint)
{
    const char *path = scratch_path("dashboard.ini");
    struct dashboard_settings settings;
    char words[KEPT_FILE_WORDS_MAX];

    put_text(path, text);
    CHECK_INT(tui_settings_read(path, &settings, words), -EINVAL);
    if (!strstr(words, line) || !strstr(words, hint))
        fprintf(stderr, "%s", words);
    CHECK(strstr(words, line) && strstr(words, hint));
    CHECK_INT(tui_settings_write(path, &settings, words), -EEXIST);
    for (int i = 0; action && tui_key_action(i); i++)
        if (strcmp(tui_key_action(i)->name, action) == 0)
            CHECK_INT(settings.keys.keys[i], 0);
}

static void check_file(void)
{
    const char *path = scratch_path("dashboard.ini");
    struct dashboard_settings settings, again;
    char words[KEPT_FILE_WORDS_MAX];

    put_text(path, "[keys]\nflatten = X\nline = L\nscale = c\nfilter = Semicolon\nslower = =\nmark = Ctrl-T\n"
                   "[dashboard]\ntimes = local\n");
    CHECK_INT(tui_settings_read(path, &settings, words), 0);
    CHECK_STR(words, "");
    CHECK_INT(settings.local, 1);
    CHECK_INT(tui_key_map_key(&settings.keys, action_of("flatten")), 'X');
    CHECK_INT(tui_key_map_key(&settings.keys, action_of("line")), 'L'); /* the two changed places */
    CHECK_INT(tui_key_map_key(&settings.keys, action_of("scale")), 'c');
    CHECK_INT(tui_key_map_key(&settings.keys, action_of("filter")), ';');
    CHECK_INT(tui_key_map_key(&settings.keys, action_of("slower")), '=');
    CHECK_INT(tui_settings_write(path, &settings, words), 0);
    CHECK_INT(tui_settings_read(path, &again, words), 0);
    CHECK(memcmp(&settings.keys, &again.keys, sizeof(again.keys)) == 0);

    wrong("[keys]\nflaten = X\n", ":2: [keys] flaten: no such action", NULL, "flatten");
    wrong("[keys]\nflatten = Alt-F\n", ":2: [keys] flatten: \"Alt-F\"", "flatten", "Ctrl-A to");
    wrong("[keys]\nflatten =\n", ":2: [keys] flatten: \"\"", "flatten", "F2 to");
    wrong("[keys]\nflatten = Left\n", ":2: [keys] flatten: Left always", "flatten", "another key");
    wrong("[keys]\nflatten = X\nzoom = X\n", ":3: [keys] zoom: X is the key of flatten", "zoom",
          "a free one");
    wrong("[keys]\nflatten = z\n", ":2: [keys] flatten: z is the key of zoom", "flatten", "another for zoom");
    wrong("[keys]\nflatten = F1\n", ":2: [keys] flatten: F1 is a fixed key", "flatten", "this help");
    /* freeze keeps f, so that flatten cannot have it, and so on */
    wrong("[keys]\nflatten = f\nfreeze = z\nzoom = F\nquit = F\n", ":5: [keys] quit", "quit", "");
    wrong("[keys]\nflatten = f\nfreeze = z\n", ":3: [keys] freeze: z is the key of zoom", "flatten",
          ":2: [keys] flatten");
    wrong("[keys]\nflatten = X\nflatten = Y\n", ":3: ", NULL, "already set in line 2");
    wrong("[key]\nflatten = X\n", ":1: ", NULL, "[dashboard] or [keys]");
    CHECK_INT(remove(path), 0);
}

/* ---- the box of F2, and what is drawn ---- */

static void to_action(const char *name)
{
    press(PRESS_HOME);
    for (int i = 0; strcmp(tui_key_action(i)->name, name) != 0; i++)
        if (tui_key_action(i)->name[0])
            press('j');
}

static void check_box(const char *golden)
{
    char names[SETTINGS_NAMES_MAX];

    tui_view_init(&view, false, 1000);
    press(PRESS_F2);
    press('K');
    CHECK_INT(view.choosing, CHOOSING_KEYS);
    to_action("flatten");
    press(PRESS_ENTER);
    press('z');
    CHECK(view.outcome == OUTCOME_NOTE && strstr(view.words, "key of zoom"));
    press(PRESS_ENTER);
    press(PRESS_ESCAPE);
    CHECK_STR(tui_settings_changed(&view.settings, &view.settings_kept, names), "");
    CHECK_INT(view.choosing, CHOOSING_KEYS);
    press(PRESS_ENTER);
    press('X');
    CHECK_STR(tui_settings_changed(&view.settings, &view.settings_kept, names), "keys");
    CHECK_INT(tui_key_map_key(&view.settings.keys, action_of("flatten")), 'X');
    to_action("help");
    press(' ');
    press('F');
    to_action("flatten");
    press('d'); /* F is the help's now */
    CHECK(view.outcome == OUTCOME_NOTE && strstr(view.words, "key of help"));
    CHECK(picture_matches(golden, "keys-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    CHECK_INT(press('s'), ACTION_SETTINGS_SAVE);
    press(PRESS_ESCAPE);
    CHECK(view.setup && !view.choosing);
    press(PRESS_ESCAPE);
    to_action("first"); /* any keys: the cursor stays where it is */
    view.outcome = OUTCOME_NONE;

    char *text = picture_draw(model, &view, now, 80, 24, GLYPHS_ASCII);
    CHECK(strstr(text, "X flatten") && strstr(text, "F=help"));
    free(text);
    press('F');
    CHECK(view.help);
    text = picture_draw(model, &view, now, 80, 60, GLYPHS_ASCII);
    CHECK(strstr(text, "X           flatten:") && strstr(text, "F F1        this help"));
    free(text);
    press('?');
    press(PRESS_F2);
    press('K');
    press('a');
    CHECK_INT(tui_key_map_print(&view.settings.keys, stderr), 0);
    tui_view_finish(&view);
}

/* ---- every action moved: what is shown and what it does are those of the table's keys ---- */

enum { FIRST_CODE = 0x1e00 }; /* of the Latin letters with marks, which no action has */
enum { SIDE = 200, ROWS = 60 };

/* The key of each action that may have another one: a letter of its own. */
static void move_all(struct key_map *map)
{
    const struct key_action *action;
    char word[KEY_WORD_MAX], why[CONFIG_WHY_MAX];

    for (int i = 0; (action = tui_key_action(i)); i++)
        if (action->name[0])
            CHECK_INT(tui_key_map_set(map, action->name, tui_key_word(FIRST_CODE + i, word), why), 0);
    for (int i = 0; (action = tui_key_action(i)); i++)
        CHECK_INT(tui_key_map_clash(map, i), -1);
}

/* Places that have keys of their own. */
static const struct place {
    enum tab tab;
    enum panel focus;
    enum item_kind item;
    enum layout_study study;
    bool depth, bars, past;
} places[] = {
    {.tab = TAB_OVERVIEW, .focus = PANEL_POSITIONS},
    {.tab = TAB_STUDY, .focus = PANEL_TRAININGS},
    {.tab = TAB_STUDY, .focus = PANEL_POLICIES},
    {.tab = TAB_STUDY, .focus = PANEL_STUDIES},
    {.tab = TAB_STUDY, .focus = PANEL_TRIALS, .study = STUDY_PAGE},
    {.tab = TAB_GPU},
    {.tab = TAB_MARKET, .focus = PANEL_CHART},
    {.tab = TAB_MARKET, .focus = PANEL_PRICES},
    {.tab = TAB_MARKET, .depth = true},
    {.tab = TAB_MARKET, .focus = PANEL_BARS, .bars = true},
    {.tab = TAB_POSITIONS, .focus = PANEL_POSITIONS},
    {.tab = TAB_POSITIONS, .focus = PANEL_ACCOUNTS},
    {.tab = TAB_ORDERS, .focus = PANEL_ORDERS},
    {.tab = TAB_ORDERS, .focus = PANEL_ITEM, .item = ITEM_ORDER},
    {.tab = TAB_ORDERS, .focus = PANEL_ITEM, .item = ITEM_FILL},
    {.tab = TAB_ORDERS, .focus = PANEL_ORDERS, .past = true},
    {.tab = TAB_ALERTS, .focus = PANEL_ALERTS},
    {.tab = TAB_LOG, .focus = PANEL_LOG},
};

static void open_place(struct view *ret, const struct place *place, const struct key_map *map)
{
    memset(ret, 0, sizeof(*ret)); /* they are compared as bytes */
    tui_view_init(ret, false, 1000);
    ret->settings.keys = *map;
    ret->tab = place->tab;
    ret->focus = place->focus;
    ret->item = (struct item){.kind = place->item, .id = 6, .order = place->item == ITEM_FILL ? 6 : 0};
    ret->study_view = place->study;
    ret->depth = place->depth;
    ret->bars = place->bars;
    ret->at_ns = place->past ? 1723161000000000000 : 0;
}

/* The keys of a hint: those of one word, or each of its letters. Returns their number. */
static int codes_of(const char *hint, int ret[static 4])
{
    wchar_t wide[8];
    size_t n = tui_key_code(hint) ? 0 : mbstowcs(wide, hint, 4);

    ret[0] = tui_key_code(hint);
    for (size_t i = 0; i < n && i < 4; i++)
        ret[i] = (int)wide[i];
    return ret[0] && n == 0 ? 1 : (int)n;
}

/* The next "KEY WORDS" of a line whose parts stand two blanks apart. False: there is none. */
static bool next_hint(const char **line, char key[static 32], char words[static 64])
{
    *line += strspn(*line, " ");
    const char *end = strstr(*line, "  "), *line_end = *line + strcspn(*line, "\n");

    end = end && end < line_end ? end : line_end;
    if (end == *line)
        return false;
    size_t len = strcspn(*line, " \n");
    snprintf(key, 32, "%.*s", (int)len, *line);
    snprintf(words, 64, "%.*s", (int)(end - *line - (ptrdiff_t)len), *line + len);
    *line = end;
    return true;
}

static const char *last_line(char *text)
{
    size_t n = strlen(text);

    if (n > 0 && text[n - 1] == '\n')
        text[n - 1] = '\0';
    const char *line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

/* What the key does there: the view after it as bytes, without what may differ. Returns the action. */
static enum action press_in(const struct place *place, const struct key_map *map, int key, struct view *ret)
{
    open_place(ret, place, map);
    enum action action = tui_keys_press(ret, model, SIDE, ROWS, now, key);
    struct view after = *ret;

    tui_view_finish(ret);
    *ret = after;
    ret->line = NULL;
    ret->page = NULL;
    ret->sweeps = NULL;
    ret->order_form = NULL;
    memset(&ret->settings.keys, 0, sizeof(ret->settings.keys));
    memset(ret->words, 0, sizeof(ret->words)); /* they name keys */
    return action;
}

static void check_hint(const struct place *place, const struct key_map *map, const char *usual,
                       const char *moved)
{
    static const struct key_map none;
    static struct view before, after;
    int keys[4], others[4], n = codes_of(usual, keys);

    CHECK(n > 0 && codes_of(moved, others) == n);
    for (int i = 0; i < n && i < 4; i++) {
        CHECK(keys[i] != others[i]);
        enum action action = press_in(place, &none, keys[i], &before);
        CHECK_INT(press_in(place, map, others[i], &after), action);
        if (memcmp(&before, &after, sizeof(before)) != 0)
            fprintf(stderr, "tab %d panel %d: %s does another thing than %s\n", place->tab + 1, place->focus,
                    moved, usual);
        CHECK(memcmp(&before, &after, sizeof(before)) == 0);
    }
}

static int check_foot(const struct place *place, const struct key_map *map)
{
    static const struct key_map none;
    static struct view with, without;
    char key[32], words[64], moved[32], same[64];
    int n = 0;

    open_place(&without, place, &none);
    open_place(&with, place, map);
    char *usual = picture_draw(model, &without, now, SIDE, ROWS, GLYPHS_ASCII),
         *other = picture_draw(model, &with, now, SIDE, ROWS, GLYPHS_ASCII);
    const char *line = last_line(usual), *its = last_line(other);
    for (; next_hint(&line, key, words) && next_hint(&its, moved, same); n++) {
        CHECK_STR(same, words);
        check_hint(place, map, key, moved);
    }
    CHECK(n > 5 && !next_hint(&line, key, words));
    CHECK(strstr(other, "=help") && !strstr(other, "?=help") && !strstr(other, "[1]"));
    free(usual);
    free(other);
    tui_view_finish(&with);
    tui_view_finish(&without);
    return n;
}

/* The help has each row with its keys in force, wherever that row works, and no key of the table in its
 * words. */
static void check_help(const struct key_map *map)
{
    const struct key_row *row;
    char seen[1 << 17] = "", keys[KEY_HINT_MAX], words[128];

    tui_view_init(&view, false, 1000);
    view.settings.keys = *map;
    press(tui_key_map_key(map, action_of("help")));
    CHECK(view.help);
    for (int turn = 0; turn < 8; turn++) {
        char *text = picture_draw(model, &view, now, 80, 60, GLYPHS_ASCII);
        strncat(seen, text, sizeof(seen) - strlen(seen) - 1);
        free(text);
        tui_keys_press(&view, model, 80, 60, now, PRESS_PAGE_DOWN);
    }
    for (int i = 0; (row = tui_key_table(i)); i++) {
        const struct key_where where = {row->place, row->place};
        if (row->place == KEYS_FORM || row->place == KEYS_ORDER)
            continue;
        tui_key_map_hint(map, where, row->keys, keys);
        tui_key_map_sentence(map, where, row->words, words, sizeof(words));
        const char *at = strstr(seen, words);
        bool found = false;
        for (; at && !found; at = strstr(at + 1, words)) {
            const char *start = at;
            while (start > seen && start[-1] != '\n')
                start--;
            const char *hint = strstr(start, keys);
            found = hint && hint < at;
        }
        if (!found)
            fprintf(stderr, "the help has no row \"%s  %s\"\n", keys, words);
        CHECK(found);
    }
    CHECK(!strstr(seen, "tab 4") && !strstr(seen, "on 8") && strstr(seen, "the market, tab "));
    tui_view_finish(&view);
}

static void check_all_moved(void)
{
    struct key_map map = {0};
    int n = 0;

    move_all(&map);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        n += check_foot(&places[i], &map);
    CHECK(n > 150);
    check_help(&map);
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
        return check_done("tui/key_map");
    check_words();
    check_table();
    check_random();
    check_sentences();
    check_presses();
    check_file();
    check_box(argv[1]);
    check_all_moved();
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/key_map");
}

/* Keys that a user has given to actions: words and codes of keys, random maps in every place, what presses
 * then do, the file's wrong lines, the box of F2, and what is drawn of keys.
 *
 * usage: test-tui-key_map GOLDEN_FOLDER */
#include "tui/key_map.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

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
                          key == '=' && here != KEYS_ORDER && here != KEYS_FORM ? '+' : key);
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
    CHECK(!view.settings_changed && view.choosing == CHOOSING_KEYS);
    press(PRESS_ENTER);
    press('X');
    CHECK(view.settings_changed);
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
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/key_map");
}

#include "tui/key_map.h"

#include <errno.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "exchange/nearest.h"
#include "tui/press.h"
#include "tui/view.h"

#define FORMS (1u << KEYS_ORDER | 1u << KEYS_FORM | 1u << KEYS_SWEEPS)

static const struct {
    const char *word;
    int code;
} named[] = {
    {"Space", ' '},          {"Tab", '\t'},
    {"Enter", PRESS_ENTER},  {"Esc", PRESS_ESCAPE},
    {"Del", PRESS_DELETE},   {"Backspace", PRESS_BACKSPACE},
    {"F1", PRESS_HELP},      {"Semicolon", ';'},
    {"Up", PRESS_UP},        {"Down", PRESS_DOWN},
    {"Left", PRESS_LEFT},    {"Right", PRESS_RIGHT},
    {"PgUp", PRESS_PAGE_UP}, {"PgDn", PRESS_PAGE_DOWN},
    {"Home", PRESS_HOME},    {"End", PRESS_END},
};
enum { NAMED = sizeof(named) / sizeof(named[0]) };

static struct key_action actions[KEY_ACTIONS_MAX]; /* of the table, made at first use */
static int n_actions;

/* ---- words of keys ---- */

/* What a terminal sends for Ctrl and the letter is another key, ends or stops the program, or stops what it
 * writes. */
static bool is_taken(char letter)
{
    return strchr("CHIJMQSZ", letter) != NULL;
}

int tui_key_code(const char *word)
{
    size_t len = strlen(word);
    int number, end = 0;
    wchar_t wide;
    mbstate_t state = {0};

    for (int i = 0; i < NAMED; i++)
        if (strcmp(named[i].word, word) == 0)
            return named[i].code;
    if (strncmp(word, "Ctrl-", 5) == 0 && len == 6 && word[5] >= 'A' && word[5] <= 'Z')
        return is_taken(word[5]) ? 0 : word[5] & 0x1f;
    if (word[0] == 'F' && sscanf(word + 1, "%2d%n", &number, &end) == 1 && word[1 + end] == '\0' &&
        word[1] != '0' && number >= 2 && number <= 12)
        return PRESS_F2 + number - 2;
    if (len == 1)
        return word[0] > ' ' && word[0] < 0x7f ? word[0] : 0;
    if (len > 0 && mbrtowc(&wide, word, len, &state) == len && iswprint((wint_t)wide) && wcwidth(wide) == 1)
        return (int)wide;
    return 0;
}

const char *tui_key_word(int code, char ret[static KEY_WORD_MAX])
{
    for (int i = 0; i < NAMED; i++)
        if (named[i].code == code)
            return named[i].word;
    if (code >= PRESS_F2 && code <= PRESS_F12)
        snprintf(ret, KEY_WORD_MAX, "F%d", code - PRESS_F2 + 2);
    else if (code > 0 && code < ' ')
        snprintf(ret, KEY_WORD_MAX, "Ctrl-%c", code | 0x40);
    else
        snprintf(ret, KEY_WORD_MAX, "%lc", (wint_t)code);
    return ret;
}

/* ---- the table's actions ---- */

static void add(const struct key_row *row, const char *name, size_t len, int key, bool twice)
{
    const bool fixed = len == 1 && *name == '-';
    const unsigned place = 1u << row->place;

    for (int i = 0; i < n_actions; i++)
        if (!fixed && strlen(actions[i].name) == len && strncmp(actions[i].name, name, len) == 0) {
            actions[i].places |= place;
            return;
        }
    if (n_actions == KEY_ACTIONS_MAX) /* a test counts them */
        return;
    struct key_action *action = &actions[n_actions++];
    *action = (struct key_action){.key = key, .places = place, .twice = twice, .words = row->words};
    if (!fixed)
        snprintf(action->name, sizeof(action->name), "%.*s", (int)len, name);
}

/* The keys of a row beside their names; "1-8" are eight of them. */
static void add_row(const struct key_row *row)
{
    const char *key = row->keys, *name = row->actions;

    while (*key && *name) {
        size_t len = strcspn(key, " "), name_len = strcspn(name, " ");
        const bool several = len == 3 && key[1] == '-', twice = len == 2 && key[0] == key[1];
        char word[KEY_WORD_MAX];
        snprintf(word, sizeof(word), "%.*s", several || twice ? 1 : (int)len, key);
        for (int code = several ? key[0] : tui_key_code(word); code; code++) {
            add(row, name, name_len, code, twice);
            if (!several || code == key[2])
                break;
            name += name[name_len] ? name_len + 1 : 0;
            name_len = strcspn(name, " ");
        }
        key += len + strspn(key + len, " ");
        name += name_len + strspn(name + name_len, " ");
    }
}

const struct key_action *tui_key_action(int i)
{
    const struct key_row *row;

    if (n_actions == 0)
        for (int k = 0; (row = tui_key_table(k)); k++)
            add_row(row);
    return i >= 0 && i < n_actions ? &actions[i] : NULL;
}

/* ---- the map ---- */

int tui_key_map_key(const struct key_map *map, int i)
{
    return map->keys[i] ? map->keys[i] : tui_key_action(i)->key;
}

static bool is_moved(const struct key_map *map, int i)
{
    return map->keys[i] != 0;
}

static bool moves(int code)
{
    return code >= PRESS_UP && code <= PRESS_END;
}

int tui_key_map_set(struct key_map *map, const char *action, const char *word,
                    char why[static CONFIG_WHY_MAX])
{
    const struct key_action *known;
    struct nearest nearest = {0};
    int i, code = tui_key_code(word);

    for (i = 0; (known = tui_key_action(i)); i++) {
        if (known->name[0] && strcmp(known->name, action) == 0)
            break;
        if (known->name[0])
            nearest_offer(&nearest, action, known->name);
    }
    if (!known) {
        config_key_refuse(why, CONFIG_WHY_MAX, "no such action%s; ? and F2 show their names",
                          NEAREST_HINT(&nearest, action));
        return -ENOENT;
    }
    if (code && moves(code))
        return config_key_refuse(why, CONFIG_WHY_MAX, "%s always moves: another key is needed", word);
    if (!code)
        return config_key_refuse(why, CONFIG_WHY_MAX,
                                 "\"%.20s\" is no key that a terminal sends by itself: one character, F2 to "
                                 "F12, Space, Tab, Enter, Esc, Del, Backspace, Semicolon, or Ctrl-A to "
                                 "Ctrl-Z without C, H, I, J, M, Q, S and Z is needed",
                                 word);
    map->keys[i] = code == known->key && !known->twice ? 0 : code;
    return 0;
}

/* Can both be meant by one press? */
static bool meet(unsigned a, unsigned b)
{
    const unsigned everywhere = 1u << KEYS_EVERYWHERE;

    return (a & b) || (a & everywhere && b & ~FORMS) || (b & everywhere && a & ~FORMS);
}

int tui_key_map_clash(const struct key_map *map, int i)
{
    const struct key_action *action = tui_key_action(i), *other;

    for (int k = 0; (other = tui_key_action(k)); k++)
        if (k != i && tui_key_map_key(map, k) == tui_key_map_key(map, i) &&
            meet(action->places, other->places))
            return k;
    return -1;
}

void tui_key_map_clash_words(const struct key_map *map, int i, int other, char why[static CONFIG_WHY_MAX])
{
    const struct key_action *has = tui_key_action(other);
    char word[KEY_WORD_MAX], words[CONFIG_WHY_MAX];
    const char *key = tui_key_word(tui_key_map_key(map, i), word);

    if (has->name[0])
        config_key_refuse(why, CONFIG_WHY_MAX, "%s is the key of %s: a free one is needed, or another for %s",
                          key, has->name, has->name);
    else
        config_key_refuse(why, CONFIG_WHY_MAX, "%s is a fixed key (%s): another is needed", key,
                          tui_key_map_sentence(map, (struct key_where){KEYS_EVERYWHERE, KEYS_EVERYWHERE},
                                               has->words, words, sizeof(words)));
}

/* The action that has the key in force there, or by `table` the one that has it in the table; -1. */
static int find(const struct key_map *map, unsigned places, int key, bool table)
{
    const struct key_action *action;

    for (int i = 0; (action = tui_key_action(i)); i++)
        if (action->places & places && (table ? action->key : tui_key_map_key(map, i)) == key)
            return i;
    return -1;
}

/* As find(), in the places from the nearest to all that can be meant. */
static int find_near(const struct key_map *map, struct key_where where, int key, bool table)
{
    const bool form = 1u << where.here & FORMS;
    int i = find(map, 1u << where.here, key, table);

    if (i < 0 && !form)
        i = find(map, 1u << where.tab, key, table);
    return i < 0 && !form ? find(map, 1u << KEYS_EVERYWHERE, key, table) : i;
}

int tui_key_map_take(const struct key_map *map, struct key_where where, int press)
{
    int key = press == '=' && find(map, ~0u, '=', false) < 0 ? '+' : press; /* + without Shift */
    int i = find_near(map, where, key, false);

    if (i < 0 && find_near(map, where, key, true) >= 0)
        return PRESS_OTHER;
    if (i < 0 && 1u << where.here & FORMS)
        return press;
    if (i < 0) /* some keys of a place work elsewhere too */
        i = find(map, ~FORMS, key, false);
    if (i < 0)
        return find(map, ~FORMS, key, true) >= 0 ? PRESS_OTHER : press;
    const struct key_action *action = tui_key_action(i);
    return !is_moved(map, i) ? key : action->twice ? PRESS_HOME : action->key;
}

/* The key in force of the action that has this one in the table. */
static int in_force(const struct key_map *map, struct key_where where, int key, bool *ret_twice)
{
    int i = find_near(map, where, key, true);

    i = i < 0 ? find(map, ~0u, key, true) : i;
    *ret_twice = i >= 0 && tui_key_action(i)->twice && !is_moved(map, i);
    return i < 0 ? key : tui_key_map_key(map, i);
}

const char *tui_key_map_hint(const struct key_map *map, struct key_where where, const char *keys,
                             char ret[static KEY_HINT_MAX])
{
    static const struct key_map none;
    char word[KEY_WORD_MAX];
    size_t n = 0;
    bool twice;

    snprintf(ret, KEY_HINT_MAX, "%s", keys);
    if (memcmp(map, &none, sizeof(none)) == 0)
        return ret;
    ret[0] = '\0';
    for (const char *at = keys; *at && n + KEY_WORD_MAX < KEY_HINT_MAX;) {
        size_t len = strcspn(at, " ");
        char one[KEY_WORD_MAX];
        snprintf(one, sizeof(one), "%.*s", (int)len, at);
        const bool several = len == 3 && at[1] == '-', same = len == 2 && at[0] == at[1];
        const bool pair = !several && !same && tui_key_code(one) == 0; /* "[]": each by itself */
        bool usual = several;
        for (int code = at[0]; usual && code <= at[2]; code++)
            usual = in_force(map, where, code, &twice) == code;
        if (usual)
            n += (size_t)snprintf(ret + n, KEY_HINT_MAX - n, "%s", one);
        for (int code = at[0]; several && !usual && code <= at[2] && n + KEY_WORD_MAX < KEY_HINT_MAX; code++)
            n += (size_t)snprintf(ret + n, KEY_HINT_MAX - n, "%s",
                                  tui_key_word(in_force(map, where, code, &twice), word));
        if (!several) {
            int key = pair || same ? at[0] : tui_key_code(one);
            const char *shown = tui_key_word(in_force(map, where, key, &twice), word);
            n += (size_t)snprintf(ret + n, KEY_HINT_MAX - n, "%s%s", shown, twice ? shown : "");
        }
        at += pair ? 1 : len;
        if (*at == ' ')
            ret[n++] = ' ', ret[n] = '\0', at++;
    }
    return ret;
}

const char *tui_key_map_sentence(const struct key_map *map, struct key_where where, const char *text,
                                 char *ret, size_t size)
{
    char keys[KEY_HINT_MAX], hint[KEY_HINT_MAX];
    size_t n = 0;
    bool quoted = false;

    ret[0] = '\0';
    for (const char *at = text; n < size; quoted = !quoted) {
        int len = (int)strcspn(at, "`");
        snprintf(keys, sizeof(keys), "%.*s", len, at);
        n += quoted ? (size_t)snprintf(ret + n, size - n, "%s", tui_key_map_hint(map, where, keys, hint))
                    : (size_t)snprintf(ret + n, size - n, "%.*s", len, at);
        if (!at[len])
            break;
        at += len + 1;
    }
    return ret;
}

int tui_key_map_print(const struct key_map *map, FILE *to)
{
    const struct key_action *action;
    char word[KEY_WORD_MAX];
    int n = 0;

    for (int i = 0; (action = tui_key_action(i)); i++)
        if (is_moved(map, i) && ++n)
            fprintf(to, "%s = %s\n", action->name, tui_key_word(map->keys[i], word));
    return n;
}

struct key_where tui_key_where(const struct view *view, enum panel focus)
{
    const enum key_place here = tui_key_place(view, focus);

    return (struct key_where){here, view->item.kind != ITEM_NONE ? here
                                    : view->tab == TAB_MARKET    ? KEYS_MARKET
                                    : view->tab == TAB_POSITIONS ? KEYS_POSITIONS
                                    : view->tab == TAB_STUDY     ? KEYS_STUDY
                                                                 : KEYS_EVERYWHERE};
}

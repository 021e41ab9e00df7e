/* Keys that a user has given to actions instead of those of tui/key_table.h: the section [keys] of
 * dashboard.ini, and F2. The dashboard's functions know the table's keys alone; a press is translated to
 * them, and what is shown of keys from them. */
#ifndef TUI_KEY_MAP_H
#define TUI_KEY_MAP_H

#include <stdbool.h>
#include <stdio.h>

#include "record/config_key.h"
#include "tui/key_table.h"

enum { KEY_ACTIONS_MAX = 160, KEY_ACTION_NAME_MAX = 24, KEY_WORD_MAX = 12 };

/* An action: one name of the table, in every place that has it. */
struct key_action {
    char name[KEY_ACTION_NAME_MAX]; /* "": a fixed key, which has none */
    int key;                        /* the table's: a code point or enum press */
    unsigned places;                /* 1 << enum key_place, of each row that has it */
    bool twice;                     /* "gg" */
    const char *words;              /* of its first row */
};

/* By number, 0 … in the table's order; NULL: past the last. */
const struct key_action *tui_key_action(int i);

struct key_map {
    int keys[KEY_ACTIONS_MAX]; /* of each action; 0: the table's */
};

/* Where a press is made: the place at hand, and that of its tab. */
struct key_where {
    enum key_place here, tab;
};
struct key_where tui_key_where(const struct view *view, enum panel focus);

/* The key that a word names ("X", "Space", "F3", "Ctrl-A"): its code. 0: there is no such key, or a terminal
 * cannot send it. */
int tui_key_code(const char *word);
/* The other way round. */
const char *tui_key_word(int code, char ret[static KEY_WORD_MAX]);

/* The key in force of action i. */
int tui_key_map_key(const struct key_map *map, int i);

/* Gives an action the key of a word; the action's own gives it the table's again. 0; -ENOENT: no such action;
 * -EINVAL: no such key, with what would be right in `why`. Whether it is another's is not looked at. */
int tui_key_map_set(struct key_map *map, const char *action, const char *word,
                    char why[static CONFIG_WHY_MAX]);

/* The first action that has the key of action i where both can be meant: its number, and in *ret_key the
 * key; -1: none. A fixed key has a number too. Of a list and of the tab that it is on, the list is meant. */
int tui_key_map_clash(const struct key_map *map, int i);

/* The sentence for that. */
void tui_key_map_clash_words(const struct key_map *map, int i, int other, char why[static CONFIG_WHY_MAX]);

/* What a press means: the table's key of the action that has it, PRESS_OTHER where it lost its action, else
 * the press itself. */
int tui_key_map_take(const struct key_map *map, struct key_where where, int press);

/* The keys in force of a hint of the table's keys, as "p", "Tab" or "[]", or of a row of the table, "gg G".
 */
enum { KEY_HINT_MAX = 64 };
const char *tui_key_map_hint(const struct key_map *map, struct key_where where, const char *keys,
                             char ret[static KEY_HINT_MAX]);

/* A sentence in which keys of the table stand between backquotes, "the market's tab is `4`": with those in
 * force, without the quotes. */
const char *tui_key_map_sentence(const struct key_map *map, struct key_where where, const char *text,
                                 char *ret, size_t size);

/* Prints "ACTION = KEY" of each action that has another key than the table's. Returns how many. */
int tui_key_map_print(const struct key_map *map, FILE *to);

#endif

#include "tui/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS    "keys"
#define LEAST_S 0.25
#define MOST_S  60.0

static int read_columns(const struct config_key *key, const char *text, void *base,
                        char why[static CONFIG_WHY_MAX]);
static void print_columns(const struct config_key *key, const void *base, FILE *to);

#define COLUMNS_OF(list, word, name) \
    {"dashboard", \
     #word "_columns", \
     "columns of the list of " #word "; auto: as many as fit", \
     LIST_COLUMNS_AUTO, \
     KEY_OWN(read_columns, print_columns), \
     KEY_AT(struct dashboard_settings, columns[list])},

const struct config_key tui_settings_rows[] = {
    {"dashboard", "scheme", "colours; NO_COLOR is mono", "default",
     KEY_WORDS("default light colour-blind mono"), KEY_AT(struct dashboard_settings, scheme)},
    {"dashboard", "colours", "how many; auto: as many as the terminal says", "auto",
     KEY_WORDS("auto true 256 8"), KEY_AT(struct dashboard_settings, colours)},
    {"dashboard", "glyphs", "characters of charts; auto: by the terminal", "auto",
     KEY_WORDS("auto ascii block braille"), KEY_AT(struct dashboard_settings, glyphs)},
    {"dashboard", "times", "the zone of times", "utc", KEY_WORDS("utc local"),
     KEY_AT(struct dashboard_settings, local)},
    {"dashboard", "mouse", "it chooses; off: it selects text", "on", KEY_WORDS("off on"),
     KEY_AT(struct dashboard_settings, mouse)},
    {"dashboard", "interval", "seconds between two looks", "1", KEY_NUMBER(LEAST_S, MOST_S),
     KEY_AT(struct dashboard_settings, interval)},
    {"dashboard", "chart_hides", "indicators that the chart does not show", OVERLAY_HIDES_NONE, KEY_TEXT,
     KEY_AT(struct dashboard_settings, hides)},
    LIST_TABLES(COLUMNS_OF)
#undef COLUMNS_OF
};
#define ONE(list, word, name) +1
enum { ROWS = sizeof(tui_settings_rows) / sizeof(tui_settings_rows[0]), CHOSEN_ROWS = 1 LIST_TABLES(ONE) };
const size_t tui_settings_n = ROWS - CHOSEN_ROWS;

/* Which list's columns they are. */
static int list_of(const struct config_key *key)
{
    return (int)((key->offset - offsetof(struct dashboard_settings, columns)) / LIST_COLUMNS_TEXT_MAX);
}

static int read_columns(const struct config_key *key, const char *text, void *base,
                        char why[static CONFIG_WHY_MAX])
{
    int list = list_of(key);
    const struct list_column_row *rows;
    char names[LIST_COLUMNS_TEXT_MAX] = "";
    size_t len, n = 0;
    int count;
    const char *wrong = tui_list_columns_wrong(list, text, &len);

    if (!wrong && strlen(text) < LIST_COLUMNS_TEXT_MAX) {
        memcpy((char *)base + key->offset, text, strlen(text) + 1);
        return 0;
    }
    rows = tui_list_columns(list, &count);
    for (int i = 0; i < count; i++)
        n += (size_t)snprintf(names + n, sizeof(names) - n, " %s", rows[i].name);
    if (!wrong)
        return config_key_refuse(why, CONFIG_WHY_MAX, "too long: %d bytes at most",
                                 LIST_COLUMNS_TEXT_MAX - 1);
    return config_key_refuse(why, CONFIG_WHY_MAX, "\"%.*s\" is none of:%s; or " LIST_COLUMNS_AUTO, (int)len,
                             wrong, names);
}

static void print_columns(const struct config_key *key, const void *base, FILE *to)
{
    fputs((const char *)base + key->offset, to);
}

void tui_settings_defaults(struct dashboard_settings *settings)
{
    config_key_defaults(tui_settings_rows, ROWS, "dashboard", settings);
    settings->keys = (struct key_map){0};
}

bool tui_settings_path(char ret[static PATH_MAX])
{
    return tui_kept_file_path("dashboard.ini", ret);
}

static int heading(const char *section, char why[static CONFIG_WHY_MAX])
{
    return strcmp(section, "dashboard") == 0 || strcmp(section, KEYS) == 0
               ? 0
               : config_key_refuse(why, CONFIG_WHY_MAX,
                                   "no such section: [dashboard] or [" KEYS "] is needed");
}

static int set(void *ctx, const struct config_line *line, char why[static CONFIG_WHY_MAX])
{
    if (line->key && strcmp(line->section, KEYS) == 0)
        return tui_key_map_set(&((struct dashboard_settings *)ctx)->keys, line->key, line->value, why);
    return tui_kept_file_set(tui_settings_rows, ROWS, line, ctx, why);
}

/* Keys that two actions would have: the later line of such a pair is wrong, and its action keeps the table's
 * key; which may be one that another line gives away, and so again. */
static void refuse_clashes(struct config_file *file, const struct config_form *form, void *settings)
{
    struct key_map *map = &((struct dashboard_settings *)settings)->keys;
    const struct key_action *action;
    char why[CONFIG_WHY_MAX];

    for (;;) {
        int last = -1, last_line = 0;
        for (int i = 0; (action = tui_key_action(i)); i++) {
            int line = map->keys[i] ? config_file_line(file, form, KEYS, action->name, false) : 0;
            if (line > last_line && tui_key_map_clash(map, i) >= 0) {
                last = i;
                last_line = line;
            }
        }
        if (last < 0)
            return;
        tui_key_map_clash_words(map, last, tui_key_map_clash(map, last), why);
        config_file_error(file, last_line, KEYS, tui_key_action(last)->name, why);
        map->keys[last] = 0;
    }
}

int tui_settings_read(const char *path, struct dashboard_settings *ret,
                      char words[static KEPT_FILE_WORDS_MAX])
{
    static const struct config_form form = {
        .example = "[dashboard]", .heading = heading, .turns = 1, .turn = tui_kept_file_turn, .set = set};

    tui_settings_defaults(ret);
    int r = tui_kept_file_read(path, &form, refuse_clashes, ret, words);
    return r == -ENOENT ? 0 : r;
}

static void print(const void *settings, FILE *to)
{
    fputs("[dashboard]\n", to);
    config_key_print_section(tui_settings_rows, ROWS, "dashboard", settings, to);
    fputs("\n[" KEYS "]\n", to);
    tui_key_map_print(&((const struct dashboard_settings *)settings)->keys, to);
}

int tui_settings_write(const char *path, const struct dashboard_settings *settings,
                       char words[static KEPT_FILE_WORDS_MAX])
{
    struct dashboard_settings there;

    if (tui_settings_read(path, &there, words) < 0) /* what the user wrote there is not lost */
        return -EEXIST;
    return tui_kept_file_write(path, print, settings);
}

static bool is_equal(const struct config_key *row, const char *a, const char *b)
{
    switch (row->kind) {
    case CONFIG_WORD:
        return *(const int *)a == *(const int *)b;
    case CONFIG_NUMBER:
        return *(const double *)a == *(const double *)b;
    default:
        return strcmp(a, b) == 0;
    }
}

const char *tui_settings_changed(const struct dashboard_settings *settings,
                                 const struct dashboard_settings *kept, char ret[static SETTINGS_NAMES_MAX])
{
    size_t n = 0;

    ret[0] = '\0';
    for (size_t i = 0; i <= ROWS && n < SETTINGS_NAMES_MAX; i++) {
        const struct config_key *row = &tui_settings_rows[i];
        const bool equal =
            i == ROWS ? memcmp(&settings->keys, &kept->keys, sizeof(kept->keys)) == 0
                      : is_equal(row, (const char *)settings + row->offset, (const char *)kept + row->offset);
        if (!equal)
            n += (size_t)snprintf(ret + n, SETTINGS_NAMES_MAX - n, "%s%s", n ? " " : "",
                                  i == ROWS ? KEYS : row->name);
    }
    return ret;
}

/* How many words a row has. */
static int choices(const struct config_key *row)
{
    int n = 1;

    for (const char *c = row->words; *c; c++)
        n += *c == ' ';
    return n;
}

void tui_settings_step(struct dashboard_settings *settings, size_t row, int by)
{
    const struct config_key *key = &tui_settings_rows[row];
    char *value = (char *)settings + key->offset;

    if (key->kind == CONFIG_WORD) {
        int n = choices(key);
        *(int *)value = (*(int *)value + n + by) % n;
    } else {
        double s = *(double *)value * (by > 0 ? 2 : 0.5);
        *(double *)value = s < LEAST_S ? LEAST_S : s > MOST_S ? MOST_S : s;
    }
}

enum glyphs tui_settings_glyphs(const struct dashboard_settings *settings, enum glyphs best)
{
    static const enum glyphs glyphs[] = {[SETTINGS_ASCII] = GLYPHS_ASCII,
                                         [SETTINGS_BLOCK] = GLYPHS_BLOCK,
                                         [SETTINGS_BRAILLE] = GLYPHS_BRAILLE};

    return settings->glyphs == SETTINGS_AUTO ? best : glyphs[settings->glyphs];
}

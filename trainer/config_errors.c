#include "trainer/config_errors.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/config_table.h"
#include "trainer/study/settings_table.h"

/* A key's line, or a heading's where `key` is NULL. */
struct entry {
    int line;
    struct ini_lines from; /* holds section, key and value */
    const char *section, *key, *value;
};

struct found {
    int line; /* INT_MAX: none */
    size_t order;
    char section[CONFIG_WORD_MAX], key[CONFIG_WORD_MAX], message[CONFIG_ERROR_MAX];
};

struct checking {
    struct entry *entries;
    size_t n_entries, cap_entries;
    struct found *found;
    size_t n_found, cap_found;
    struct config *config;
    struct search_settings settings;
    bool no_memory;
};

enum { NO_LINE = 0x7fffffff };

static bool same_section(const char *a, const char *b)
{
    return strcmp(a, b) == 0 || (config_is_ppo_section(a) && config_is_ppo_section(b));
}

/* ---- What was found. ---- */

/* `words` without "[section] key: ", which the form shows beside them. */
static const char *bare(const char *words, const char *section, const char *key)
{
    char prefix[2 * CONFIG_WORD_MAX + 8];
    size_t n = (size_t)snprintf(prefix, sizeof prefix, *key ? "[%s] " : "[%s]: ", section);
    if (strncmp(words, prefix, n) == 0)
        words += n;
    n = (size_t)snprintf(prefix, sizeof prefix, "%s: ", key);
    return *key && strncmp(words, prefix, n) == 0 ? words + n : words;
}

/* Bytes of a letter beyond ASCII that begins here; 0: none does. */
static size_t letter_bytes(const unsigned char *p)
{
    size_t n = *p >= 0xC2 && *p < 0xE0 ? 2 : *p >= 0xE0 && *p < 0xF0 ? 3 : *p >= 0xF0 && *p < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    bool wrong = (*p == 0xE0 && p[1] < 0xA0) || (*p == 0xED && p[1] > 0x9F) || (*p == 0xF0 && p[1] < 0x90) ||
                 (*p == 0xF4 && p[1] > 0x8F);
    return wrong ? 0 : n;
}

/* What is not UTF-8, and control characters, as ?: sentences quote the text, and are shown and sent on. */
static void clean(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p;) {
        size_t n = letter_bytes(p);
        if (n == 0) {
            *p = *p < ' ' || *p >= 0x7F ? '?' : *p;
            n = 1;
        }
        p += n;
    }
}

static void add(struct checking *checking, int line, const char *section, const char *key, const char *words)
{
    if (checking->n_found == checking->cap_found) {
        size_t cap = checking->cap_found ? 2 * checking->cap_found : 16;
        struct found *moved = reallocarray(checking->found, cap, sizeof *moved);
        if (!moved) {
            checking->no_memory = true;
            return;
        }
        checking->found = moved;
        checking->cap_found = cap;
    }
    struct found *found = &checking->found[checking->n_found];
    *found = (struct found){.line = line, .order = checking->n_found};
    snprintf(found->section, sizeof found->section, "%.63s", section);
    snprintf(found->key, sizeof found->key, "%.63s", key);
    snprintf(found->message, sizeof found->message, "%s", bare(words, found->section, found->key));
    clean(found->section);
    clean(found->key);
    clean(found->message);
    checking->n_found++;
}

static bool is_faulty(const struct checking *checking, const char *section, const char *key, size_t key_n)
{
    for (size_t i = 0; i < checking->n_found; i++) {
        const struct found *found = &checking->found[i];
        if (same_section(found->section, section) && strlen(found->key) == key_n &&
            strncmp(found->key, key, key_n) == 0)
            return true;
    }
    return false;
}

static int by_line(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
                              : (x->order > y->order) - (x->order < y->order);
}

/* ---- Lines, each read as it would be in its file. ---- */

/* 0, with at most the heading that it was given and one entry; else why not, in `reason`. */
static int read_line(int number, const char *section, const char *line, size_t n, struct ini_lines *ret,
                     char reason[static INI_ERROR_MAX])
{
    char err[INI_ERROR_MAX], *text = malloc(n + CONFIG_WORD_MAX + 8);
    if (!text)
        return -ENOMEM;
    /* What may stand in a file's first line alone must not be there. */
    int head = *section     ? snprintf(text, CONFIG_WORD_MAX + 4, "[%.60s]\n", section)
               : number > 1 ? snprintf(text, CONFIG_WORD_MAX, "\n")
                            : 0;
    memcpy(text + head, line, n);
    size_t all = (size_t)head + n;
    FILE *file = all > 0 ? fmemopen(text, all, "r") : NULL;
    int r = file ? ini_lines_read(file, "", &config_rules, ret, err) : all > 0 ? -ENOMEM : 0;
    if (r < 0 && r != -ENOMEM) {
        const char *words = strstr(err, ": "); /* after the line's number, which counts from the heading */
        snprintf(reason, INI_ERROR_MAX, "%s", words ? words + 2 : err);
    }
    if (file)
        fclose(file);
    free(text);
    return r;
}

static bool is_heading(const char *line, size_t n)
{
    while (n > 0 && (*line == ' ' || *line == '\t'))
        line++, n--;
    return n > 0 && *line == '[' && memchr(line, ']', n);
}

static bool keep(struct checking *checking, const struct entry *entry)
{
    if (checking->n_entries == checking->cap_entries) {
        size_t cap = checking->cap_entries ? 2 * checking->cap_entries : 64;
        struct entry *moved = reallocarray(checking->entries, cap, sizeof *moved);
        if (!moved)
            return false;
        checking->entries = moved;
        checking->cap_entries = cap;
    }
    checking->entries[checking->n_entries++] = *entry;
    return true;
}

/* Where the reader is: keys under a heading that is wrong cannot be judged. */
struct place {
    char section[CONFIG_WORD_MAX]; /* "": before any */
    bool lost;
};

static void take_line(struct checking *checking, struct place *place, int number, const char *line, size_t n)
{
    static const char bom[] = "\xEF\xBB\xBF";
    char reason[INI_ERROR_MAX];
    struct ini_lines lines = {0};
    size_t skip = number == 1 && n >= 3 && memcmp(line, bom, 3) == 0 ? 3 : 0;
    bool heading = is_heading(line + skip, n - skip);
    bool lost = place->lost && !heading; /* of such a line only its form is judged */
    int r = read_line(number,
                      heading ? ""
                      : lost  ? config_rules.example
                              : place->section,
                      line, n, &lines, reason);
    if (lost && r != -ENOMEM) {
        if (r < 0)
            add(checking, number, "", "", reason);
    } else if (r == -ENOMEM) {
        checking->no_memory = true;
    } else if (r < 0) {
        const char *name = line + skip + strcspn(line + skip, "[") + 1;
        char section[CONFIG_WORD_MAX] = "";
        if (heading)
            snprintf(section, sizeof section, "%.*s", (int)strcspn(name, "]"), name);
        add(checking, number, heading ? section : place->section, "", reason);
        place->lost = place->lost || heading;
    } else {
        const size_t first = !heading && *place->section ? 1 : 0;
        for (size_t i = first; i < lines.n; i++) {
            const struct entry entry = {.line = number,
                                        .from = lines,
                                        .section = lines.lines[i].section,
                                        .key = lines.lines[i].key,
                                        .value = lines.lines[i].value};
            if (heading) {
                snprintf(place->section, sizeof place->section, "%.63s", entry.section);
                place->lost = false;
            }
            if (!entry.key)
                continue;
            if (keep(checking, &entry))
                return;
            checking->no_memory = true;
        }
    }
    ini_lines_finish(&lines);
}

static void take_text(struct checking *checking, const char *name, const char *text)
{
    char why[CONFIG_ERROR_MAX];
    struct place place = {0};
    size_t headings = 0;
    int number = 0;
    for (const char *line = text; *line && !checking->no_memory;) {
        size_t n = strcspn(line, "\n");
        n += line[n] == '\n';
        headings += is_heading(line, n);
        if (checking->n_entries + headings > INI_LINES_MAX) {
            snprintf(why, sizeof why, "too many lines for a configuration: %.300s: at most %d are right",
                     name, INI_LINES_MAX);
            add(checking, number + 1, place.section, "", why);
            return;
        }
        take_line(checking, &place, ++number, line, n);
        line += n;
    }
}

/* ---- Keys. ---- */

static const struct entry *earlier(const struct checking *checking, size_t at)
{
    const struct entry *entry = &checking->entries[at];
    for (size_t i = 0; i < at; i++)
        if (strcmp(checking->entries[i].key, entry->key) == 0 &&
            same_section(checking->entries[i].section, entry->section))
            return &checking->entries[i];
    return NULL;
}

static void set_keys(struct checking *checking)
{
    char why[CONFIG_ERROR_MAX];
    for (int turn = 0; turn < CONFIG_TURNS; turn++)
        for (size_t i = 0; i < checking->n_entries; i++) {
            const struct entry *entry = &checking->entries[i];
            if (config_turn(entry->section, entry->key) != turn)
                continue;
            const struct entry *before = earlier(checking, i);
            if (before)
                snprintf(why, sizeof why, "already set in line %d", before->line);
            int r = before ? -EINVAL
                           : config_set_line(checking->config, &checking->settings, entry->section,
                                             entry->key, entry->value, why);
            if (r < 0)
                add(checking, entry->line, entry->section, entry->key, why);
            checking->no_memory = checking->no_memory || r == -ENOMEM;
        }
}

static int line_of(const struct checking *checking, const char *section, const char *key)
{
    for (size_t i = 0; i < checking->n_entries; i++)
        if (strcmp(checking->entries[i].key, key) == 0 && same_section(checking->entries[i].section, section))
            return checking->entries[i].line;
    return NO_LINE;
}

/* At the line of the first of its keys. */
static void take_misfit(void *ctx, const char *section, const char *keys, const char *words)
{
    struct checking *checking = ctx;
    char key[CONFIG_WORD_MAX];
    for (const char *word = keys; *word; word += strspn(word, " ")) {
        size_t n = strcspn(word, " ");
        if (is_faulty(checking, section, word, n))
            return;
        word += n;
    }
    snprintf(key, sizeof key, "%.*s", (int)strcspn(keys, " "), keys);
    add(checking, line_of(checking, section, key), section, key, words);
}

static void fit_keys(struct checking *checking)
{
    char why[CONFIG_ERROR_MAX];
    const struct config *config = checking->config;
    const char *section = "";
    if (is_faulty(checking, "training", "world", strlen("world")))
        return;
    if (config_check_world(config, why) < 0) {
        add(checking, line_of(checking, "training", "world"), "training", "world", why);
        return;
    }
    for (size_t i = 0; i < checking->n_entries && !config_trades(config); i++) {
        const struct entry *entry = &checking->entries[i];
        if (!config_is_market_section(entry->section) || strcmp(entry->section, section) == 0)
            continue;
        section = entry->section;
        snprintf(why, sizeof why, "the world %.60s is no market: leave the section out", config->world);
        add(checking, entry->line, section, entry->key, why);
    }
    if (!is_faulty(checking, "training", "preset", strlen("preset")))
        config_misfits(config, take_misfit, checking);
    const char *key;
    int r = checking->n_found == 0 ? config_complete(config, &checking->settings, &key, why)
                                   : settings_check(&checking->settings, &key, why);
    if (r < 0 && key)
        take_misfit(checking, "study", key, why);
    checking->no_memory = checking->no_memory || r == -ENOMEM;
}

int config_errors(const char *name, const char *text, struct config *ret,
                  void (*error)(void *ctx, int line, const char *section, const char *key,
                                const char *message),
                  void *ctx)
{
    struct checking checking = {.config = malloc(sizeof *checking.config), .settings = settings_defaults()};
    checking.no_memory = !checking.config;
    if (checking.config) {
        config_defaults(checking.config);
        checking.config->now_ns = config_clock_ns();
        take_text(&checking, name, text);
        set_keys(&checking);
        fit_keys(&checking);
    }
    int n = checking.no_memory ? -ENOMEM : (int)checking.n_found;
    if (n > 0)
        qsort(checking.found, checking.n_found, sizeof *checking.found, by_line);
    for (int i = 0; i < n; i++) {
        const struct found *found = &checking.found[i];
        error(ctx, found->line == NO_LINE ? 0 : found->line, found->section, found->key, found->message);
    }
    if (n == 0 && ret)
        *ret = *checking.config;
    for (size_t i = 0; i < checking.n_entries; i++)
        ini_lines_finish(&checking.entries[i].from);
    free(checking.entries);
    free(checking.found);
    settings_finish(&checking.settings);
    free(checking.config);
    return n;
}

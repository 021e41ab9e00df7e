/* Keys and sections of a configuration that have no effect in a study of a strategy. */
#include <string.h>

#include "record/config_file.h"
#include "trainer/study/rules.h"

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

/* Sections that a study of a strategy reads, and what of them: NULL: all; "!" first: all but these. */
static const struct {
    const char *section;
    const char *keys[14];
} read_of[] = {
    {"study", {"!", "space", "ensemble", "combine", "expires", NULL}},
    {"search", {NULL}},
    {"account", {NULL}},
    {"serve", {NULL}},
    {"training", {"name", "world", "output", NULL}}, /* output: the co-process sets it */
    {"data",
     {"bars", "state", "symbols", "exchange_info", "lots", "interval", "calendar", "zone", "train_from",
      "train_to", "to", NULL}},
};

static bool is_read(const char *section, const char *key)
{
    for (size_t i = 0; i < sizeof read_of / sizeof *read_of; i++) {
        const char *const *keys = read_of[i].keys;
        if (strcmp(read_of[i].section, section) != 0)
            continue;
        if (!keys[0])
            return true;
        return keys[0][0] == '!' ? !is_one_of(key, keys + 1) : is_one_of(key, keys);
    }
    return false;
}

void study_rules_refuse(struct config_file *file)
{
    for (size_t i = 0; i < file->n; i++) {
        const struct config_line *line = &file->lines[i];
        if (line->key && !is_read(line->section, line->key))
            config_file_error(file, line->line, line->section, line->key,
                              "it has no effect: a study of a strategy trains nothing: leave it out");
    }
}

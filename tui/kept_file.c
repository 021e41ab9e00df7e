#include "tui/kept_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/text.h"
#include "exchange/folder.h"
#include "exchange/whole_file.h"

bool tui_kept_file_path(const char *name, char ret[static PATH_MAX])
{
    char below[NAME_MAX + 1];

    return (size_t)snprintf(below, sizeof(below), "papertape/%s", name) < sizeof(below) &&
           folder_of_user("XDG_CONFIG_HOME", ".config", below, ret) == 0;
}

int tui_kept_file_turn(const struct config_line *line)
{
    (void)line;
    return 0;
}

int tui_kept_file_set(const struct config_key *rows, size_t n, const struct config_line *line, void *into,
                      char why[static CONFIG_WHY_MAX])
{
    if (!line->key) /* the section's heading */
        return 0;
    const struct config_key *row = config_key_find(rows, n, line->section, line->key);
    return row ? config_key_read(row, line->value, into, why)
               : config_key_unknown(rows, n, line->section, line->key, why);
}

int tui_kept_file_read(const char *path, const struct config_form *form,
                       void (*check)(struct config_file *file, const struct config_form *form, void *into),
                       void *into, char words[static KEPT_FILE_WORDS_MAX])
{
    struct config_file file;
    char lines[KEPT_FILE_WORDS_MAX];

    words[0] = '\0';
    if (access(path, F_OK) < 0 && errno == ENOENT)
        return -ENOENT;
    int r = config_file_read(&file, path, form);
    if (r == 0) {
        config_file_apply(&file, form, into);
        if (check)
            check(&file, form, into);
    }
    config_file_sort(&file);
    config_file_words(&file, lines, sizeof(lines));
    cli_text_one_line(words, KEPT_FILE_WORDS_MAX, lines);
    if (r == 0 && file.n_errors > 0)
        r = -EINVAL;
    config_file_finish(&file);
    return r;
}

int tui_kept_file_write(const char *path, void (*print)(const void *from, FILE *to), const void *from)
{
    struct whole_file file;
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        return -ENOMEM;
    print(from, to);
    int r = fclose(to) != 0 ? -ENOMEM : folder_make_above(path, 0700);
    if (r == 0 && (r = whole_file_open(path, ".new", 0644, &file)) == 0)
        r = whole_file_close(&file, whole_file_put(&file, text, size));
    free(text);
    return r;
}

void tui_kept_file_not_saved(const char *path, int error, char words[static KEPT_FILE_WORDS_MAX])
{
    snprintf(words, KEPT_FILE_WORDS_MAX, "not saved: %.400s: %s", path, strerror(-error));
}

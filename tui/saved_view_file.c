#include "tui/saved_view_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/text.h"
#include "exchange/folder.h"
#include "exchange/nearest.h"
#include "exchange/whole_file.h"
#include "record/config_file.h"

#define ENDING  ".ini"
#define NOWHERE "neither $XDG_CONFIG_HOME nor $HOME is set"

bool tui_saved_view_path(const char *name, char ret[static PATH_MAX])
{
    char below[SAVED_VIEW_NAME_MAX + 32];

    snprintf(below, sizeof(below), "papertape/views/%s%s", name, *name ? ENDING : "");
    return folder_of_user("XDG_CONFIG_HOME", ".config", below, ret) == 0;
}

static int add_name(void *ctx, const char *file)
{
    struct saved_views *views = ctx;
    char name[SAVED_VIEW_NAME_MAX + sizeof(ENDING)];
    size_t len = strlen(file), ending = strlen(ENDING);
    int at = views->n;

    if (len <= ending || len >= sizeof(name) || strcmp(file + len - ending, ENDING) != 0)
        return 0;
    snprintf(name, sizeof(name), "%.*s", (int)(len - ending), file);
    if (tui_saved_view_wrong(name))
        return 0;
    while (at > 0 && strcmp(views->names[at - 1], name) > 0)
        at--;
    if (at == SAVED_VIEWS_MAX)
        return 0;
    int moved = (views->n < SAVED_VIEWS_MAX ? views->n : SAVED_VIEWS_MAX - 1) - at;
    memmove(views->names + at + 1, views->names + at, (size_t)moved * sizeof(views->names[0]));
    memcpy(views->names[at], name, SAVED_VIEW_NAME_MAX);
    views->n += views->n < SAVED_VIEWS_MAX;
    return 0;
}

void tui_saved_view_list(struct saved_views *ret)
{
    char path[PATH_MAX];

    *ret = (struct saved_views){0};
    if (tui_saved_view_path("", path))
        folder_each(path, add_name, ret);
}

/* ---- one of them ---- */

static int heading(const char *section, char why[static CONFIG_WHY_MAX])
{
    return strcmp(section, "view") == 0
               ? 0
               : config_key_refuse(why, CONFIG_WHY_MAX, "no such section: [view] is the only one");
}

static int set(void *ctx, const struct config_line *line, char why[static CONFIG_WHY_MAX])
{
    size_t n;
    const struct config_key *rows = tui_saved_view_rows(&n);
    const struct config_key *row = line->key ? config_key_find(rows, n, line->section, line->key) : NULL;

    if (!line->key) /* the section's heading */
        return 0;
    return row ? config_key_read(row, line->value, ctx, why)
               : config_key_unknown(rows, n, line->section, line->key, why);
}

static int turn(const struct config_line *line)
{
    (void)line;
    return 0;
}

static void say_absent(const char *name, char words[static SAVED_VIEW_WORDS_MAX])
{
    struct nearest nearest = {0};
    struct saved_views views;

    tui_saved_view_list(&views);
    for (int i = 0; i < views.n; i++)
        nearest_offer(&nearest, name, views.names[i]);
    snprintf(words, SAVED_VIEW_WORDS_MAX, "no view is saved as %s%s", name,
             views.n ? NEAREST_HINT(&nearest, name) : ": :view save NAME saves what is shown");
}

int tui_saved_view_read(const char *name, struct saved_view *ret, char words[static SAVED_VIEW_WORDS_MAX])
{
    static const struct config_form form = {
        .example = "[view]", .heading = heading, .turns = 1, .turn = turn, .set = set};
    char path[PATH_MAX], lines[SAVED_VIEW_WORDS_MAX];
    const char *wrong = tui_saved_view_wrong(name);
    struct config_file file;

    tui_saved_view_defaults(ret);
    words[0] = '\0';
    if (wrong || !tui_saved_view_path(name, path)) {
        snprintf(words, SAVED_VIEW_WORDS_MAX, "%s", wrong ? wrong : NOWHERE);
        return -ENOENT;
    }
    if (access(path, F_OK) < 0 && errno == ENOENT) {
        say_absent(name, words);
        return -ENOENT;
    }
    int r = config_file_read(&file, path, &form);
    if (r == 0)
        config_file_apply(&file, &form, ret);
    config_file_sort(&file);
    config_file_words(&file, lines, sizeof(lines));
    cli_text_one_line(words, SAVED_VIEW_WORDS_MAX, lines);
    if (r == 0 && file.n_errors > 0)
        r = -EINVAL;
    config_file_finish(&file);
    return r;
}

static int print(const struct saved_view *saved, char **ret, size_t *ret_size)
{
    size_t n;
    const struct config_key *rows = tui_saved_view_rows(&n);
    FILE *to = open_memstream(ret, ret_size);

    if (!to)
        return -ENOMEM;
    fputs("[view]\n", to);
    config_key_print_section(rows, n, "view", saved, to);
    return fclose(to) != 0 ? -ENOMEM : 0;
}

int tui_saved_view_write(const char *name, const struct saved_view *saved,
                         char words[static SAVED_VIEW_WORDS_MAX])
{
    const char *wrong = tui_saved_view_wrong(name);
    struct saved_views views;
    struct whole_file file;
    char path[PATH_MAX], *text = NULL;
    size_t size;

    if (wrong || !tui_saved_view_path(name, path)) {
        snprintf(words, SAVED_VIEW_WORDS_MAX, "not saved: %s", wrong ? wrong : NOWHERE);
        return -EINVAL;
    }
    tui_saved_view_list(&views);
    bool there = access(path, F_OK) == 0;
    if (!there && views.n == SAVED_VIEWS_MAX) {
        snprintf(words, SAVED_VIEW_WORDS_MAX, "not saved: there are %d already: remove one", SAVED_VIEWS_MAX);
        return -ENOSPC;
    }
    int r = print(saved, &text, &size);
    if (r == 0 && (r = folder_make_above(path, 0700)) == 0 &&
        (r = whole_file_open(path, ".new", 0644, &file)) == 0)
        r = whole_file_close(&file, whole_file_put(&file, text, size));
    free(text);
    if (r < 0)
        snprintf(words, SAVED_VIEW_WORDS_MAX, "not saved: %.400s: %s", path, strerror(-r));
    else
        snprintf(words, SAVED_VIEW_WORDS_MAX, "%s saved%s", name, there ? " again" : "");
    return r;
}

int tui_saved_view_remove(const char *name, char words[static SAVED_VIEW_WORDS_MAX])
{
    const char *wrong = tui_saved_view_wrong(name);
    char path[PATH_MAX];

    if (wrong || !tui_saved_view_path(name, path)) {
        snprintf(words, SAVED_VIEW_WORDS_MAX, "%s", wrong ? wrong : NOWHERE);
        return -EINVAL;
    }
    int r = unlink(path) < 0 ? -errno : whole_file_sync_folder(path);
    if (r == -ENOENT)
        say_absent(name, words);
    else
        snprintf(words, SAVED_VIEW_WORDS_MAX, "%.400s %s%s", r < 0 ? path : name,
                 r < 0 ? "is not removed: " : "removed", r < 0 ? strerror(-r) : "");
    return r;
}

#include "tui/saved_view_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exchange/folder.h"
#include "exchange/nearest.h"
#include "exchange/whole_file.h"

#define ENDING ".ini"

bool tui_saved_view_path(const char *name, char ret[static PATH_MAX])
{
    char file[SAVED_VIEW_NAME_MAX + 16];

    snprintf(file, sizeof(file), "views/%s%s", name, *name ? ENDING : "");
    return tui_kept_file_path(file, ret);
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

    return tui_kept_file_set(rows, n, line, ctx, why);
}

static void say_absent(const char *name, char words[static KEPT_FILE_WORDS_MAX])
{
    struct nearest nearest = {0};
    struct saved_views views;

    tui_saved_view_list(&views);
    for (int i = 0; i < views.n; i++)
        nearest_offer(&nearest, name, views.names[i]);
    snprintf(words, KEPT_FILE_WORDS_MAX, "no view is saved as %s%s", name,
             views.n ? NEAREST_HINT(&nearest, name) : ": :view save NAME saves what is shown");
}

int tui_saved_view_read(const char *name, struct saved_view *ret, char words[static KEPT_FILE_WORDS_MAX])
{
    static const struct config_form form = {
        .example = "[view]", .heading = heading, .turns = 1, .turn = tui_kept_file_turn, .set = set};
    const char *wrong = tui_saved_view_wrong(name);
    char path[PATH_MAX];

    tui_saved_view_defaults(ret);
    if (wrong || !tui_saved_view_path(name, path)) {
        snprintf(words, KEPT_FILE_WORDS_MAX, "%s", wrong ? wrong : KEPT_FILE_NOWHERE);
        return -ENOENT;
    }
    int r = tui_kept_file_read(path, &form, NULL, ret, words);
    if (r == -ENOENT)
        say_absent(name, words);
    return r;
}

static void print(const void *saved, FILE *to)
{
    size_t n;
    const struct config_key *rows = tui_saved_view_rows(&n);

    fputs("[view]\n", to);
    config_key_print_section(rows, n, "view", saved, to);
}

int tui_saved_view_write(const char *name, const struct saved_view *saved,
                         char words[static KEPT_FILE_WORDS_MAX])
{
    const char *wrong = tui_saved_view_wrong(name);
    struct saved_views views;
    struct saved_view kept;
    char path[PATH_MAX], why[KEPT_FILE_WORDS_MAX];

    if (wrong || !tui_saved_view_path(name, path)) {
        snprintf(words, KEPT_FILE_WORDS_MAX, "not saved: %s", wrong ? wrong : KEPT_FILE_NOWHERE);
        return -EINVAL;
    }
    tui_saved_view_list(&views);
    int r = tui_saved_view_read(name, &kept, why);
    const bool there = r != -ENOENT;
    if (r < 0 && there) { /* what the user wrote there is not lost */
        snprintf(words, KEPT_FILE_WORDS_MAX, "not saved, %s is as it was: %.500s", name, why);
        return -EEXIST;
    }
    if (!there && views.n == SAVED_VIEWS_MAX) {
        snprintf(words, KEPT_FILE_WORDS_MAX, "not saved: there are %d already: remove one", SAVED_VIEWS_MAX);
        return -ENOSPC;
    }
    r = tui_kept_file_write(path, print, saved);
    if (r < 0)
        tui_kept_file_not_saved(path, r, words);
    else
        snprintf(words, KEPT_FILE_WORDS_MAX, "%s saved%s", name, there ? " again" : "");
    return r;
}

int tui_saved_view_remove(const char *name, char words[static KEPT_FILE_WORDS_MAX])
{
    const char *wrong = tui_saved_view_wrong(name);
    char path[PATH_MAX];

    if (wrong || !tui_saved_view_path(name, path)) {
        snprintf(words, KEPT_FILE_WORDS_MAX, "%s", wrong ? wrong : KEPT_FILE_NOWHERE);
        return -EINVAL;
    }
    int r = unlink(path) < 0 ? -errno : whole_file_sync_folder(path);
    if (r == -ENOENT)
        say_absent(name, words);
    else
        snprintf(words, KEPT_FILE_WORDS_MAX, "%.400s %s%s", r < 0 ? path : name,
                 r < 0 ? "is not removed: " : "removed", r < 0 ? strerror(-r) : "");
    return r;
}

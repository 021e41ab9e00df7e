#include "tui/command_history.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange/folder.h"

/* The file's path. False: there is no place for it. */
static bool find(char path[static PATH_MAX])
{
    return folder_of_user("XDG_STATE_HOME", ".local/state", "papertape-dashboard/commands", path) == 0;
}

static FILE *open_to_write(const char *path, int flags)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "a");

    if (fd >= 0 && !file)
        close(fd);
    return file;
}

static void shorten(const struct command_line *line, const char *path)
{
    char next[PATH_MAX + 8];

    snprintf(next, sizeof next, "%s.new", path);
    FILE *file = open_to_write(next, O_TRUNC);
    if (!file)
        return;
    for (int i = 0; i < line->n_lines; i++)
        fprintf(file, "%s\n", line->lines[i]);
    bool good = !ferror(file);
    if (fclose(file) == 0 && good)
        rename(next, path);
    else
        unlink(next);
}

void tui_command_history_load(struct command_line *line)
{
    char path[PATH_MAX], *text = NULL;
    size_t size = 0, n = 0;
    FILE *file = find(path) ? fopen(path, "re") : NULL;

    if (!file)
        return;
    for (ssize_t len; (len = getline(&text, &size, file)) >= 0; n++) {
        if (len > 0 && text[len - 1] == '\n')
            text[len - 1] = '\0';
        tui_command_line_keep(line, text);
    }
    free(text);
    fclose(file);
    if (n > 2 * (size_t)COMMAND_LINES_MAX)
        shorten(line, path);
}

void tui_command_history_add(struct command_line *line, const char *text)
{
    char path[PATH_MAX];

    if (!tui_command_line_keep(line, text) || !find(path) || folder_make_above(path, 0700) < 0)
        return;
    FILE *file = open_to_write(path, O_APPEND);
    if (!file)
        return;
    fprintf(file, "%s\n", line->lines[line->n_lines - 1]);
    fclose(file);
}

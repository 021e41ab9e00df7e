#include "tui/command_history.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange/folder.h"
#include "exchange/whole_file.h"

/* The file's path. False: there is no place for it. */
static bool find(char path[static PATH_MAX])
{
    return folder_of_user("XDG_STATE_HOME", ".local/state", "papertape-dashboard/commands", path) == 0;
}

static void shorten(const struct command_line *line, const char *path)
{
    struct whole_file file;
    int r = whole_file_open(path, ".new", 0600, &file);

    if (r < 0)
        return;
    for (int i = 0; r == 0 && i < line->n_lines; i++)
        if ((r = whole_file_put(&file, line->lines[i], strlen(line->lines[i]))) == 0)
            r = whole_file_put(&file, "\n", 1);
    whole_file_close(&file, r);
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
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
    if (fd < 0)
        return;
    dprintf(fd, "%s\n", line->lines[line->n_lines - 1]);
    close(fd);
}

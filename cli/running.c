#include "cli/running.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/procfs.h"
#include "db/state.h"

enum { WORDS_MAX = 64 };

/* The value of an option at words[i]: "--name VALUE" or "--name=VALUE"; NULL: another word. */
static const char *value_of(char *const words[], int n, int i, const char *name)
{
    size_t len = strlen(name);
    if (strncmp(words[i], name, len) != 0)
        return NULL;
    if (words[i][len] == '=')
        return words[i] + len + 1;
    return words[i][len] == '\0' && i + 1 < n ? words[i + 1] : NULL;
}

static int split(char *text, size_t len, char *words[static WORDS_MAX])
{
    int n = 0;
    for (size_t at = 0; at < len && n < WORDS_MAX; at += strlen(text + at) + 1)
        words[n++] = text + at;
    return n;
}

/* A path as the process sees it; NULL where that cannot be known. */
static const char *path_of(pid_t pid, const char *path)
{
    char link[64], folder[STATE_PATH_MAX];
    char *whole = NULL;
    if (path[0] == '/')
        return strdup(path);
    snprintf(link, sizeof link, "%s/%d/cwd", daemon_procfs_root(), (int)pid);
    ssize_t n = readlink(link, folder, sizeof folder);
    if (n > 0 && (size_t)n < sizeof folder && asprintf(&whole, "%.*s/%s", (int)n, folder, path) < 0)
        whole = NULL;
    return whole;
}

bool cli_running_given(pid_t pid, struct daemon_config_given *ret)
{
    const struct {
        const char *name;
        const char **to;
        bool path;
    } options[] = {{"--config", &ret->file, true},          {"-c", &ret->file, true},
                   {"--venue-url", &ret->venue_url, false}, {"--rest-url", &ret->rest_url, false},
                   {"--ca-file", &ret->ca_file, true},      {"--clock", &ret->clock, false}};
    static char text[PROCFS_TEXT_MAX];
    char *words[WORDS_MAX];
    int len = daemon_procfs_read_of(pid, "cmdline", text, sizeof text);
    int n = len > 0 ? split(text, (size_t)len, words) : 0;
    if (n == 0 || !strstr(words[0], "papertaped"))
        return false;
    for (int i = 1; i < n; i++)
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
            const char *value = value_of(words, n, i, options[k].name);
            if (value)
                *options[k].to = options[k].path ? path_of(pid, value) : value;
        }
    return true;
}

bool cli_running_is_own(pid_t pid)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "%s/%d", daemon_procfs_root(), (int)pid);
    return stat(path, &st) == 0 && st.st_uid == geteuid();
}

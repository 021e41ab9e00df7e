#include "trainer/serve/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Has it a component ".."? */
static bool climbs(const char *path)
{
    for (const char *at = path; (at = strstr(at, "..")); at += 2)
        if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
            return true;
    return false;
}

/* Resolves as much of the path as exists; a link that leads nowhere is not resolved. */
static bool resolve(const char *path, char ret[static PATH_MAX])
{
    char there[PATH_MAX];
    if (snprintf(there, sizeof there, "%s", path) >= (int)sizeof there)
        return false;
    while (!realpath(there, ret)) {
        struct stat link;
        char *slash = strrchr(there, '/');
        if (errno != ENOENT || !slash || lstat(there, &link) == 0)
            return false;
        slash[slash == there] = '\0';
    }
    return true;
}

bool serve_output_is_below(const char *folder, const char *path)
{
    char top[PATH_MAX], there[PATH_MAX];
    if (path[0] != '/' || climbs(path) || !realpath(folder, top) || !resolve(path, there))
        return false;
    size_t n = strcmp(top, "/") == 0 ? 0 : strlen(top);
    return strncmp(there, top, n) == 0 && (there[n] == '/' || there[n] == '\0');
}

bool serve_output_is_below_one(const char *folders, const char *path)
{
    char folder[PATH_MAX];
    for (const char *at = folders ? folders : ""; *at;) {
        size_t n = strcspn(at, ",");
        if (n > 0 && n < sizeof folder) {
            memcpy(folder, at, n);
            folder[n] = '\0';
            if (serve_output_is_below(folder, path))
                return true;
        }
        at += n + (at[n] == ',');
    }
    return false;
}

#include "exchange/folder.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DESCRIPTORS = 16 };

int folder_each(const char *path, int (*each)(void *ctx, const char *name), void *ctx)
{
    DIR *listing = opendir(path);
    int r = listing ? 0 : -errno;
    for (const struct dirent *entry; r == 0 && (errno = 0, entry = readdir(listing)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = each(ctx, entry->d_name);
    if (r == 0 && errno != 0)
        r = -errno;
    if (listing)
        closedir(listing);
    return r;
}

int folder_make(const char *path, mode_t mode, char failed[static PATH_MAX])
{
    struct stat st;
    if (snprintf(failed, PATH_MAX, "%s", path) >= PATH_MAX)
        return -ENAMETOOLONG;
    for (char *slash = failed; slash; *slash = '/') {
        slash = strchr(slash + 1, '/');
        if (slash)
            *slash = '\0';
        int r = mkdir(failed, mode) < 0 ? -errno : 0;
        if (r < 0 && lstat(failed, &st) < 0)
            return r;
        if (!slash)
            break;
    }
    return 0;
}

int folder_make_above(const char *path, mode_t mode)
{
    char above[PATH_MAX], failed[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return 0;
    if (snprintf(above, sizeof above, "%.*s", (int)(slash - path), path) >= PATH_MAX)
        return -ENAMETOOLONG;
    return folder_make(above, mode, failed);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st, (void)kind, (void)walk;
    return remove(path) < 0 && errno != ENOENT ? -errno : 0;
}

int folder_remove(const char *path)
{
    /* Not FTW_MOUNT: on overlayfs, as of a container, files have other devices than their folder. */
    int r = nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
    return r == -1 ? (errno == ENOENT ? 0 : -errno) : r;
}

int folder_of_user(const char *variable, const char *usual, const char *name, char ret[static PATH_MAX])
{
    const char *place = getenv(variable), *home = getenv("HOME");
    bool own = place && place[0] == '/';
    if (!own && !(home && home[0] == '/'))
        return -ENOENT;
    int n = snprintf(ret, PATH_MAX, "%s/%s%s%s", own ? place : home, own ? "" : usual, own ? "" : "/", name);
    return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

bool folder_cache(const char *name, const char *wanted, char ret[static PATH_MAX])
{
    char own[NAME_MAX + 1];
    int n = snprintf(own, sizeof own, "papertape/%s", name);
    if (wanted) {
        n = snprintf(ret, PATH_MAX, "%s", wanted);
        return n > 0 && n < PATH_MAX;
    }
    return n < (int)sizeof own && folder_of_user("XDG_CACHE_HOME", ".cache", own, ret) == 0;
}

int folder_temporary(const char *name, char ret[static PATH_MAX])
{
    const char *place = getenv("TMPDIR");
    int n = snprintf(ret, PATH_MAX, "%s/papertape-%s-XXXXXX", place && *place ? place : "/tmp", name);
    return n >= PATH_MAX ? -ENAMETOOLONG : mkdtemp(ret) ? 0 : -errno;
}

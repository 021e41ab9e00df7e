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

bool folder_cache(const char *name, const char *wanted, char ret[static PATH_MAX])
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = 0;
    if (wanted)
        n = snprintf(ret, PATH_MAX, "%s", wanted);
    else if (xdg && xdg[0] == '/')
        n = snprintf(ret, PATH_MAX, "%s/papertape/%s", xdg, name);
    else if (home && home[0] == '/')
        n = snprintf(ret, PATH_MAX, "%s/.cache/papertape/%s", home, name);
    return n > 0 && n < PATH_MAX;
}

int folder_temporary(const char *name, char ret[static PATH_MAX])
{
    const char *place = getenv("TMPDIR");
    int n = snprintf(ret, PATH_MAX, "%s/papertape-%s-XXXXXX", place && *place ? place : "/tmp", name);
    return n >= PATH_MAX ? -ENAMETOOLONG : mkdtemp(ret) ? 0 : -errno;
}

/* Trees of files as /sys and /proc have them, in a directory of the test's own. */
#ifndef TESTS_DAEMON_TREE_H
#define TESTS_DAEMON_TREE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/scratch.h"

enum { TREE_PATH_MAX = 512 };

static inline void tree_folders(char *path)
{
    for (char *at = path + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            abort();
        *at = '/';
    }
}

static inline void tree_path(const char *root, const char *name, char ret[static TREE_PATH_MAX])
{
    if (snprintf(ret, TREE_PATH_MAX, "%s/%s", root, name) >= TREE_PATH_MAX)
        abort();
}

/* A file, with the folders above it; NULL: it is removed. */
static inline void tree_put_bytes(const char *root, const char *name, const void *bytes, size_t n)
{
    char path[TREE_PATH_MAX];
    tree_path(root, name, path);
    tree_folders(path);
    FILE *file = bytes ? fopen(path, "we") : NULL;
    if (bytes ? !file || fwrite(bytes, 1, n, file) != n || fclose(file) != 0
              : unlink(path) < 0 && errno != ENOENT)
        abort();
}

static inline void tree_put(const char *root, const char *name, const char *text)
{
    tree_put_bytes(root, name, text, text ? strlen(text) : 0);
}

/* A symbolic link, to what may not be there. */
static inline void tree_link(const char *root, const char *name, const char *target)
{
    char path[TREE_PATH_MAX];
    tree_path(root, name, path);
    tree_folders(path);
    if ((unlink(path) < 0 && errno != ENOENT) || symlink(target, path) < 0)
        abort();
}

/* A folder with all that is in it. */
static inline void tree_remove(const char *root, const char *name)
{
    char path[TREE_PATH_MAX];
    tree_path(root, name, path);
    scratch_remove(path);
}

/* A process of /proc, by its stat and comm: when it started, its user and its system time, in ticks. */
static inline void tree_process(const char *root, int pid, int parent, const char *name, long started,
                                long user, long system)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "%d/stat", pid);
    snprintf(text, sizeof text, "%d (%s) S %d %d %d 0 -1 4194304 9 9 9 9 %ld %ld 7 7 20 0 1 0 %ld 1000 99\n",
             pid, name, parent, pid, pid, user, system, started);
    tree_put(root, path, text);
    snprintf(path, sizeof path, "%d/comm", pid);
    snprintf(text, sizeof text, "%s\n", name);
    tree_put(root, path, text);
}

/* A descriptor of a device, with what fdinfo says of it. */
static inline void tree_descriptor(const char *root, int pid, int number, const char *info)
{
    char path[64];
    snprintf(path, sizeof path, "%d/fd/%d", pid, number);
    tree_link(root, path, "/dev/dri/renderD128");
    snprintf(path, sizeof path, "%d/fdinfo/%d", pid, number);
    tree_put(root, path, info);
}

#endif

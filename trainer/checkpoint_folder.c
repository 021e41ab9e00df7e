/* A folder of checkpoints: NAME-STEPS.ckpt. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange/fail.h"
#include "exchange/whole_file.h"
#include "trainer/checkpoint_parse.h"

static const char ending[] = ".ckpt";

struct list {
    int64_t *steps; /* rising */
    size_t n, cap;
};

/* The steps of a file NAME-STEPS.ckpt, and its suffix; -1: no such file. */
static int64_t steps_of(const char *file, const char *name, const char **ret_rest)
{
    size_t length = strlen(name);
    if (strncmp(file, name, length) != 0 || file[length] != '-')
        return -1;
    const char *digits = file + length + 1;
    size_t n = strspn(digits, "0123456789");
    if (n == 0 || n > 18 || strncmp(digits + n, ending, strlen(ending)) != 0)
        return -1;
    *ret_rest = digits + n + strlen(ending);
    return strtoll(digits, NULL, 10);
}

static int by_steps(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static bool add(struct list *list, int64_t steps)
{
    if (list->n == list->cap) {
        size_t cap = list->cap ? 2 * list->cap : 16;
        int64_t *grown = reallocarray(list->steps, cap, sizeof *grown);
        if (!grown)
            return false;
        list->steps = grown;
        list->cap = cap;
    }
    list->steps[list->n++] = steps;
    return true;
}

/* Those that are whole; with `sweep` removes a killed writer's temporary files. */
static int list_folder(const char *dir, const char *name, bool sweep, struct list *ret,
                       char err[static CHECKPOINT_ERROR_MAX])
{
    struct list list = {0};
    DIR *folder = opendir(dir);
    if (!folder) {
        int r = -errno;
        snprintf(err, CHECKPOINT_ERROR_MAX, "cannot read the checkpoints: %.300s: %s: a folder of them", dir,
                 strerror(-r));
        return r;
    }
    bool memory = true;
    for (struct dirent *entry; memory && (entry = readdir(folder));) {
        const char *rest;
        int64_t steps = steps_of(entry->d_name, name, &rest);
        if (steps >= 0 && *rest == '\0')
            memory = add(&list, steps);
        else if (steps >= 0 && sweep && whole_file_is_rest(rest, CHECKPOINT_TEMPORARY))
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
    if (!memory) {
        free(list.steps);
        return fail_with(-ENOMEM, err, CHECKPOINT_ERROR_MAX,
                         "out of memory: %.300s: the list of its checkpoints", dir);
    }
    if (list.n > 0)
        qsort(list.steps, list.n, sizeof *list.steps, by_steps);
    *ret = list;
    return 0;
}

static bool path_of(const char *dir, const char *name, int64_t steps, char ret[static PATH_MAX])
{
    return snprintf(ret, PATH_MAX, "%s/%s-%lld%s", dir, name, (long long)steps, ending) < PATH_MAX;
}

int checkpoint_keep(const char *dir, const char *name, int64_t steps, int keep,
                    const struct checkpoint_piece *pieces, size_t n, char err[static CHECKPOINT_ERROR_MAX])
{
    char path[PATH_MAX];
    struct list list;
    if (!path_of(dir, name, steps, path))
        return fail_with(-ENAMETOOLONG, err, CHECKPOINT_ERROR_MAX,
                         "cannot write a checkpoint: %.300s…: a shorter path", dir);
    int r = checkpoint_write(path, pieces, n, err);
    if (r == 0)
        r = list_folder(dir, name, true, &list, err);
    if (r < 0)
        return r;
    /* Newer ones belong to a run that got further: they do not count, and stay. */
    size_t older = 0;
    while (older < list.n && list.steps[older] <= steps)
        older++;
    for (size_t i = 0; i + (size_t)keep < older; i++)
        if (list.steps[i] < steps && path_of(dir, name, list.steps[i], path))
            unlink(path);
    free(list.steps);
    return 0;
}

int checkpoint_alone(const char *dir, const char *name, int64_t steps, char err[static CHECKPOINT_ERROR_MAX])
{
    char path[PATH_MAX];
    struct list list;
    int r = list_folder(dir, name, true, &list, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < list.n; i++)
        if (list.steps[i] != steps && path_of(dir, name, list.steps[i], path) && unlink(path) < 0 && r == 0) {
            r = -errno;
            snprintf(err, CHECKPOINT_ERROR_MAX,
                     "cannot remove a checkpoint: %.300s: %s: a folder that can be written to is needed",
                     path, strerror(-r));
        }
    free(list.steps);
    return r;
}

int checkpoint_newest(const char *dir, const char *name, int64_t *ret, char err[static CHECKPOINT_ERROR_MAX])
{
    struct list list;
    int r = list_folder(dir, name, false, &list, err);
    if (r < 0)
        return r;
    *ret = list.n > 0 ? list.steps[list.n - 1] : -1;
    free(list.steps);
    return 0;
}

int checkpoint_latest(const char *dir, const char *name, void (*rejected)(void *ctx, const char *reason),
                      void *ctx, struct checkpoint **ret, char err[static CHECKPOINT_ERROR_MAX])
{
    char path[PATH_MAX], why[CHECKPOINT_ERROR_MAX];
    struct list list;
    int r = list_folder(dir, name, false, &list, err);
    if (r < 0)
        return r;
    r = -ENOENT;
    for (size_t i = list.n; i-- > 0 && r != 0;) {
        if (!path_of(dir, name, list.steps[i], path))
            continue;
        r = checkpoint_read(path, ret, why);
        if (r < 0 && rejected)
            rejected(ctx, why);
    }
    if (r < 0) {
        snprintf(err, CHECKPOINT_ERROR_MAX, "no %scheckpoint: %.300s/%.100s-*%s: %s",
                 list.n > 0 ? "good " : "", dir, name, ending,
                 list.n > 0 ? "all that there are cannot be read" : "training writes them there");
        r = -ENOENT;
    }
    free(list.steps);
    return r;
}

/* Old runs of a scheduled study in the store, as run_retention.c has it for folders. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/study/artifacts.h"

struct keys {
    char **all;
    int n, cap;
};

static int add_key(void *ctx, const char *key, int64_t size)
{
    struct keys *keys = ctx;
    (void)size;
    if (keys->n == keys->cap) {
        int cap = 2 * keys->cap + 64;
        char **grown = reallocarray(keys->all, (size_t)cap, sizeof *grown);
        if (!grown)
            return -ENOMEM;
        keys->all = grown;
        keys->cap = cap;
    }
    keys->all[keys->n] = strdup(key);
    return keys->all[keys->n] ? keys->n++, 0 : -ENOMEM;
}

/* Are they of one run? */
static bool same_run(const char *a, const char *b)
{
    size_t n = strcspn(a, "/");
    return strcspn(b, "/") == n && strncmp(a, b, n) == 0;
}

/* RUN/N/…: a trial's. */
static bool is_of_trial(const char *key)
{
    const char *number = strchr(key, '/');
    size_t n = number ? strspn(number + 1, "0123456789") : 0;
    return n > 0 && number[n + 1] == '/';
}

int study_artifacts_retain(struct artifact_store *store, const char *run, int keep, int *ret_removed,
                           char err[static ARTIFACT_ERROR_MAX])
{
    struct keys keys = {0};
    char prefix[ARTIFACT_KEY_MAX / 2];
    const char *at = strrchr(run, '@');
    int runs = 0, removed = 0;
    if (!at || (size_t)(at - run) + 2 > sizeof prefix) {
        *ret_removed = 0;
        return 0;
    }
    memcpy(prefix, run, (size_t)(at - run) + 1);
    prefix[at - run + 1] = '\0';
    int r = artifact_store_list(store, prefix, add_key, &keys, err);
    /* Times are of equal length: the last run is the newest. */
    for (int i = keys.n - 1; r == 0 && i >= 0; i--) {
        runs += i == keys.n - 1 || !same_run(keys.all[i], keys.all[i + 1]);
        if (runs > keep && is_of_trial(keys.all[i]) &&
            (r = artifact_store_delete(store, keys.all[i], err)) == 0)
            removed++;
    }
    for (int i = 0; i < keys.n; i++)
        free(keys.all[i]);
    free(keys.all);
    if (r == 0)
        *ret_removed = removed;
    return r;
}

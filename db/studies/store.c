#include "db/studies/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/store_ops.h"
#include "exchange/clock.h"
#include "exchange/nearest.h"

void study_store_close(struct study_store *store)
{
    if (!store)
        return;
    study_store_rollback(store);
    study_store_known_destroy(store->known);
    free(store->url);
    store->ops->close(store);
}

bool study_store_stopped(struct study_store *store)
{
    if (!store->waits.stop || !atomic_load(store->waits.stop))
        return false;
    double now = clock_now_s();
    if (store->stopped_s == 0)
        store->stopped_s = now;
    return (now - store->stopped_s) * 1e3 >= store->waits.answer_ms;
}

bool study_store_again(struct study_store *store, int *r, char err[static STUDY_ERROR_MAX])
{
    if (*r != -ECONNRESET || store->within || !store->ops->again)
        return false;
    int waited = store->ops->again(store, err);
    if (waited < 0)
        *r = waited;
    return waited == 0;
}

static int begin(struct study_store *store, char err[static STUDY_ERROR_MAX])
{
    if (store->mode == STUDY_STORE_READ)
        return study_store_fail(store, -EROFS, err, "was opened to be read only");
    double before = clock_now_s();
    int r = store->ops->begin(store, err);
    store->commit_s += clock_now_s() - before;
    return r;
}

static int commit(struct study_store *store, char err[static STUDY_ERROR_MAX])
{
    double before = clock_now_s();
    int r = store->ops->commit(store, err);
    store->commit_s += clock_now_s() - before;
    if (r < 0)
        store->ops->rollback(store);
    return r;
}

int study_store_begin(struct study_store *store, char err[static STUDY_ERROR_MAX])
{
    if (store->within)
        return study_store_fail(store, -EINVAL, err, "a transaction is open: one at a time is right");
    int r = begin(store, err);
    store->within = r == 0;
    store->cancelled = false;
    return r;
}

int study_store_commit(struct study_store *store, char err[static STUDY_ERROR_MAX])
{
    if (!store->within)
        return study_store_fail(store, -EINVAL, err, "no transaction is open");
    store->within = false;
    if (store->cancelled)
        return study_store_fail(store, -ECANCELED, err,
                                "the transaction was taken back when a call in it failed");
    return commit(store, err);
}

void study_store_rollback(struct study_store *store)
{
    if (store->within && !store->cancelled)
        store->ops->rollback(store);
    store->within = false;
}

int study_store_await(struct study_store *store, int timeout_ms, char err[static STUDY_ERROR_MAX])
{
    if (!store->ops->await)
        return study_store_fail(store, -EOPNOTSUPP, err, "does not notify: reading it again is right");
    return store->ops->await(store, timeout_ms, err);
}

double study_store_commit_s(const struct study_store *store)
{
    return store->commit_s;
}

int study_store_enter(struct study_store *store, bool *ret_own, char err[static STUDY_ERROR_MAX])
{
    if (store->within && store->cancelled)
        return study_store_fail(store, -ECANCELED, err,
                                "the transaction was taken back when a call in it failed");
    *ret_own = !store->within;
    return store->within ? 0 : begin(store, err);
}

int study_store_leave(struct study_store *store, bool own, int r, char err[static STUDY_ERROR_MAX])
{
    if (own) {
        if (r == 0)
            return commit(store, err);
        store->ops->rollback(store);
    } else if (r < 0 && r != -EINVAL && r != -ENOENT && r != -EEXIST) {
        store->ops->rollback(store);
        store->cancelled = true;
    }
    return r;
}

static void write_directions(const enum study_direction *directions, int n, char *buf, size_t cap)
{
    size_t at = 0;
    *buf = '\0';
    for (int i = 0; i < n && at + 16 < cap; i++)
        at +=
            (size_t)snprintf(buf + at, cap - at, "%s%s", i ? ", " : "", study_direction_name(directions[i]));
}

static int check_directions(const struct study_store *store, const char *name,
                            const enum study_direction *directions, int n, char err[static STUDY_ERROR_MAX])
{
    if (strnlen(name, STUDY_NAME_MAX + 1) > STUDY_NAME_MAX || !*name)
        return study_store_fail(store, -EINVAL, err, "study \"%.40s\": a name of 1 to %d bytes is needed",
                                name, STUDY_NAME_MAX);
    if (n < 1 || n > STUDY_OBJECTIVES_MAX)
        return study_store_fail(store, -EINVAL, err, "study \"%.100s\": %d objectives: 1 to %d are right",
                                name, n, STUDY_OBJECTIVES_MAX);
    for (int i = 0; i < n; i++)
        if (directions[i] != STUDY_MINIMIZE && directions[i] != STUDY_MAXIMIZE)
            return study_store_fail(store, -EINVAL, err,
                                    "study \"%.100s\": objective %d: MINIMIZE or MAXIMIZE is needed", name,
                                    i);
    return 0;
}

static int take_existing(struct study_store *store, const char *name, int64_t id,
                         const enum study_direction *directions, int n, bool wanted,
                         char err[static STUDY_ERROR_MAX])
{
    enum study_direction there[STUDY_OBJECTIVES_MAX];
    char asked[200], has[200];
    int n_there = 0, r = store->ops->study_directions(store, id, there, &n_there, err);
    if (r < 0)
        return r;
    write_directions(directions, n, asked, sizeof asked);
    write_directions(there, n_there, has, sizeof has);
    if (n != n_there || memcmp(there, directions, (size_t)n * sizeof *there) != 0)
        return study_store_fail(
            store, -EEXIST, err,
            "study \"%.100s\": is there with directions %s; %s were asked for: another name, "
            "or those directions, would be right",
            name, has, asked);
    if (!wanted)
        return study_store_fail(store, -EEXIST, err,
                                "study \"%.100s\": is there already (%s): another name would be right", name,
                                has);
    return 0;
}

static int once_create(struct study_store *store, const char *name, const enum study_direction *directions,
                       int n, int64_t *ret_id, bool *ret_existed, char err[static STUDY_ERROR_MAX])
{
    int r = check_directions(store, name, directions, n, err);
    if (r < 0)
        return r;
    bool own, existed;
    r = study_store_enter(store, &own, err);
    if (r < 0)
        return r;
    int64_t id;
    r = store->ops->study_find(store, name, &id, err);
    existed = r == 0;
    if (existed)
        r = take_existing(store, name, id, directions, n, ret_existed != NULL, err);
    else if (r == -ENOENT)
        r = store->ops->study_insert(store, name, directions, n, &id, err);
    if (!existed && r == -EEXIST) {
        existed = true;
        r = store->ops->study_find(store, name, &id, err);
        r = r < 0 ? r : take_existing(store, name, id, directions, n, ret_existed != NULL, err);
    }
    r = study_store_leave(store, own, r, err);
    if (r < 0)
        return r;
    *ret_id = id;
    if (ret_existed)
        *ret_existed = existed;
    return 0;
}

int study_store_create(struct study_store *store, const char *name, const enum study_direction *directions,
                       int n, int64_t *ret_id, bool *ret_existed, char err[static STUDY_ERROR_MAX])
{
    return STUDY_STORE_CALL(store, err, once_create(store, name, directions, n, ret_id, ret_existed, err));
}

int study_store_find(struct study_store *store, const char *name, int64_t *ret_id,
                     char err[static STUDY_ERROR_MAX])
{
    int r = STUDY_STORE_CALL(store, err, store->ops->study_find(store, name, ret_id, err));
    if (r != -ENOENT)
        return r;
    struct study_summary *all;
    size_t n;
    r = study_store_list(store, &all, &n, err);
    if (r < 0)
        return r;
    struct nearest nearest = {0};
    for (size_t i = 0; i < n; i++)
        nearest_offer(&nearest, name, all[i].name);
    study_store_fail(store, 0, err, "study \"%.100s\": is not there%s", name,
                     n > 0 ? NEAREST_HINT(&nearest, name) : ": no study is");
    study_summaries_finish(all, n);
    free(all);
    return -ENOENT;
}

int study_store_list(struct study_store *store, struct study_summary **ret, size_t *ret_n,
                     char err[static STUDY_ERROR_MAX])
{
    return STUDY_STORE_CALL(store, err, store->ops->list(store, ret, ret_n, err));
}

void study_summaries_finish(struct study_summary *summaries, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(summaries[i].name);
}

int study_store_peek(struct study_store *store, int64_t study_id, struct study **ret,
                     char err[static STUDY_ERROR_MAX])
{
    return STUDY_STORE_CALL(store, err, store->ops->peek(store, study_id, ret, err));
}

int study_store_load(struct study_store *store, int64_t study_id, struct study **ret,
                     char err[static STUDY_ERROR_MAX])
{
    struct study *study;
    int r = study_store_peek(store, study_id, &study, err);
    if (r < 0)
        return r;
    r = study_store_sync(store, study, err);
    if (r < 0) {
        study_destroy(study);
        return r;
    }
    *ret = study;
    return 0;
}

int study_store_sync(struct study_store *store, struct study *study, char err[static STUDY_ERROR_MAX])
{
    int r = STUDY_STORE_CALL(store, err, store->ops->sync(store, study, err));
    if (r == 0 && store->mode == STUDY_STORE_WRITE)
        study_store_learn(store, study);
    return r;
}

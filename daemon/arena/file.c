#include "daemon/arena/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/policies.h"
#include "db/reader.h"
#include "exchange/bar.h"
#include "exchange/fail.h"
#include "strategy/policy/cache.h"
#include "strategy/policy/limit_file.h"

enum { READS_MAX = 8, SYMBOLS_SHOWN = 8 }; /* a training may write the next one meanwhile */

#define fail(file, code, ...) \
    ((void)((file)->error = fail_with(code, (file)->why, sizeof(file)->why, __VA_ARGS__)))

/* ---- where it is ---- */

static void take_training(void *ctx, const struct db_training *row)
{
    struct arena_file *file = ctx;
    if (!file->given && row->policy[0])
        snprintf(file->path, sizeof file->path, "%s", row->policy);
    if (!file->given || strcmp(file->path, row->policy) == 0)
        snprintf(file->training, sizeof file->training, "%s", file->name);
}

/* The file that the training's row names, else the one that a training of that name writes by default. */
static void find_file(struct arena_file *file)
{
    char err[DB_ERROR_MAX];
    struct db_reader *reader;
    struct stat info;
    if (db_reader_open(file->state.database, &reader, err, sizeof err) == 0) {
        db_reader_trainings(reader, file->name, take_training, file);
        db_reader_close(reader);
    }
    if (file->path[0])
        return;
    snprintf(file->path, sizeof file->path, "%s/%s.safetensors", file->state.checkpoints, file->name);
    if (stat(file->path, &info) == 0)
        snprintf(file->training, sizeof file->training, "%s", file->name);
    else
        fail(file, -ENOENT,
             "no training %s has written a policy: %.400s is not there; args.path names another file",
             file->name, file->path);
}

/* ---- is it for this market? ---- */

struct symbol *arena_symbols(const struct engine *engine)
{
    struct symbol *symbols = calloc((size_t)engine_symbols(engine), sizeof *symbols);
    for (int s = 0; symbols && s < engine_symbols(engine); s++)
        symbols[s] = *engine_symbol(engine, s);
    return symbols;
}

static size_t list_symbols(const struct symbol *symbols, int n_symbols, char *buf, size_t size)
{
    size_t len = 0;
    buf[0] = '\0';
    for (int s = 0; s < n_symbols && s < SYMBOLS_SHOWN && len < size; s++)
        len += (size_t)snprintf(buf + len, size - len, "%s%s", s ? ", " : "", symbols[s].name);
    if (n_symbols > SYMBOLS_SHOWN && len < size)
        len += (size_t)snprintf(buf + len, size - len, ", …");
    return len;
}

const char *arena_refusal(const struct policy *policy, const char *currency, const struct symbol *symbols,
                          int n_symbols, int64_t interval_ns, bool extended_hours,
                          char err[static ARENA_ERROR_MAX])
{
    char why[POLICY_ERROR_MAX], streamed[256];
    if (!daemon_policy_refusal(policy, currency, symbols, n_symbols, interval_ns, extended_hours, why))
        return NULL;
    const char *bars = bar_interval_name(interval_ns);
    list_symbols(symbols, n_symbols, streamed, sizeof streamed);
    snprintf(err, ARENA_ERROR_MAX, "%.400s; traded here: %s, on bars of %s, in %s", why, streamed,
             bars ? bars : "another interval", currency);
    return err;
}

static void check(struct arena_file *file)
{
    char first[ARENA_ERROR_MAX] = "", other[ARENA_ERROR_MAX];
    for (int i = 0; i < file->n_currencies; i++) {
        if (!arena_refusal(file->policy, file->currencies[i], file->symbols, file->n_symbols,
                           file->interval_ns, file->extended_hours, i == 0 ? first : other)) {
            memcpy(file->currency, file->currencies[i], sizeof file->currency);
            return;
        }
    }
    file->refused = true;
    fail(file, -EINVAL, "%.300s: %.600s", file->path, first);
}

/* ---- reading ---- */

/* Where the copy with limits is, while it is read. */
static void limited_path(const struct arena_file *file, char ret[static ARENA_PATH_MAX + 64])
{
    snprintf(ret, ARENA_PATH_MAX + 64, "%.4000s/%s%s", file->state.policies, file->name,
             policy_names_ensemble(file->path) ? ".limits.ensemble.json" : ".limits.safetensors");
}

/* Takes the file's copy with the limits under which it is to trade, where these are others. False: it has the
 * limits; or an error. */
static bool limit(struct arena_file *file, char copy[static ARENA_PATH_MAX + 64])
{
    char err[POLICY_ERROR_MAX], why[CONFIG_WHY_MAX];
    struct policy_limits limits = file->limits;
    if (!file->in_force && arena_limits_new(&file->policy->rules.limits, &file->configured,
                                            &file->given_limits, &limits, why) < 0) {
        fail(file, -EINVAL, "%.300s: with its own limits: %s", file->path, why);
        return false;
    }
    if (policy_limits_same(&limits, &file->policy->rules.limits))
        return false;
    limited_path(file, copy);
    policy_destroy(file->policy);
    file->policy = NULL;
    int r = mkdir(file->state.policies, 0750) < 0 && errno != EEXIST ? -errno : 0;
    if (r < 0)
        snprintf(err, sizeof err, "%.300s: %s", file->state.policies, strerror(-r));
    if (r == 0)
        r = policy_limit_file(file->path, copy, &limits, err);
    if (r == 0)
        r = policy_load(copy, NULL, &file->policy, err);
    if (r < 0)
        fail(file, r, "%s", err);
    return true;
}

static void keep(struct arena_file *file, const char *path)
{
    char err[POLICY_ERROR_MAX], beside[ARENA_PATH_MAX + 16];
    int r = policy_keep(file->policy, path, file->state.policies, err);
    if (r == 0 && file->recording[0]) {
        snprintf(beside, sizeof beside, "%s/policies", file->recording);
        r = policy_keep(file->policy, path, beside, err);
    }
    if (r < 0)
        fail(file, r, "%s", err);
}

static void drop(struct arena_file *file)
{
    policy_destroy(file->policy);
    file->policy = NULL;
}

static void read_once(struct arena_file *file)
{
    char err[POLICY_ERROR_MAX], copy[ARENA_PATH_MAX + 64];
    int r = policy_load(file->path, NULL, &file->policy, err);
    file->error = 0;
    if (r < 0) {
        file->refused = r == -EINVAL;
        fail(file, r, "%s", err);
        return;
    }
    bool limited = limit(file, copy);
    if (file->error == 0)
        check(file);
    if (file->error == 0)
        keep(file, limited ? copy : file->path);
    if (limited)
        unlink(copy);
    if (file->error < 0)
        drop(file);
}

void arena_file_read(struct arena_file *file)
{
    find_file(file);
    if (file->error < 0)
        return;
    for (int i = 0; i < READS_MAX; i++) {
        read_once(file);
        if (file->error != -ESTALE)
            return;
    }
}

void arena_file_finish(struct arena_file *file)
{
    drop(file);
    free(file->symbols);
    file->symbols = NULL;
}

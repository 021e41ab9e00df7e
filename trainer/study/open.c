#include "trainer/study/open.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange/fail.h"
#include "exchange/whole_file.h"
#include "trainer/study/definition.h"
#include "trainer/study/members.h"
#include "trainer/study/proposal_folder.h"
#include "trainer/study/runs.h"
#include "trainer/study/stale_files.h"
#include "trainer/study/versions.h"

#define NOW                 "papertape:now_ns"

#define say(err, code, ...) fail_with(code, err, STUDY_ERROR_MAX, __VA_ARGS__)

/* ---- Whether there is one. ---- */

static int64_t began_at(const struct study *study)
{
    json_t *value = study_attribute_json(study->user, study->n_user, NOW);
    int64_t ns = json_is_integer(value) ? json_integer_value(value) : 0;
    json_decref(value);
    return ns > 0 ? ns : 0;
}

/* -ENOENT: no such file, or no such study in it. */
static int find(const char *url, const char *name, enum study_store_mode mode,
                const struct study_store_waits *waits, struct study **ret, char *err)
{
    struct study_store *store = NULL;
    int64_t id;
    int r = study_store_open_waiting(url, mode, 0, waits, &store, err);
    if (r == 0)
        r = study_store_find(store, name, &id, err);
    if (r == 0)
        r = study_store_load(store, id, ret, err);
    study_store_close(store);
    return r;
}

static void take_validation(const struct study *study, char ret[static STUDY_SPLIT_TEXT_MAX])
{
    json_t *definition = study_attribute_json(study->user, study->n_user, "papertape:trial");
    const char *text = json_string_value(json_object_get(definition, "[study] validation"));
    snprintf(ret, STUDY_SPLIT_TEXT_MAX, "%s", text ? text : "");
    json_decref(definition);
}

static int trials_of(const struct study *study)
{
    json_t *value = study_attribute_json(study->user, study->n_user, "papertape:trials");
    json_int_t n = json_is_integer(value) ? json_integer_value(value) : 0;
    json_decref(value);
    return n > 0 && n <= INT_MAX ? (int)n : 0;
}

int study_began_as(const char *url, const char *name, enum study_store_mode mode,
                   const struct study_store_waits *waits, struct study_beginning *ret,
                   char err[static STUDY_ERROR_MAX])
{
    struct study *study = NULL;
    struct study_beginning beginning = {0};
    int r = find(url, name, mode, waits, &study, err);
    if (r < 0 && r != -ENOENT)
        return r;
    beginning.there = r == 0;
    if (study) {
        beginning.now_ns = began_at(study);
        take_validation(study, beginning.validation);
        beginning.trials = trials_of(study);
        beginning.text = study_attribute_text(study->user, study->n_user, "papertape:config");
    }
    study_destroy(study);
    *ret = beginning;
    return 0;
}

/* ---- Whose folder is it? ---- */

#define STORAGE_FILE "storage"

/* For free(); NULL without memory. The file may not be there yet. */
static char *absolute(const char *file)
{
    char *path = realpath(file, NULL), *here = NULL;
    if (!path && file[0] == '/')
        path = strdup(file);
    else if (!path && (here = getcwd(NULL, 0)) && asprintf(&path, "%s/%s", here, file) < 0)
        path = NULL;
    free(here);
    return path;
}

/* What is written of `url`: a file's absolute path, or a server's URL. 0 or -errno with a sentence. */
static int name_of(const char *url, char **ret, char *err)
{
    char *file = study_store_file(url), *own = file ? absolute(file) : NULL;
    bool named = file;
    free(file);
    if (named && !own)
        return say(err, -ENOMEM, "out of memory");
    *ret = own;
    return named ? 0 : study_store_name(url, ret, err);
}

/* The storage that the file `path` names, for free(); the state's own, `of_state`, where there is no such
 * file, or a crash left it empty. */
static int storage_of(const char *path, const char *of_state, char **ret)
{
    char *named = NULL;
    size_t n;
    int r = whole_file_read(path, PATH_MAX, &named, &n);
    if (r == 0)
        named[strcspn(named, "\n")] = '\0';
    if (r == 0 && strstr(named, "://"))
        r = (*ret = strdup(named)) ? 0 : -ENOMEM;
    else if (r == 0 || r == -ENOENT)
        r = (*ret = absolute(r == 0 && named[0] ? named : of_state)) ? 0 : -ENOMEM;
    free(named);
    return r;
}

/* Has that storage a study of this name which writes here? */
static int check_other(const char *storage, const char *name, const char *folder, char *err)
{
    struct study *study = NULL;
    int r = find(storage, name, STUDY_STORE_READ, NULL, &study, err);
    char *writes = study ? study_folder(study, "") : NULL;
    if (writes && strcmp(writes, folder) == 0)
        r = say(err, -EEXIST,
                "another study's folder: %.200s: of the one in %.180s: --storage with that, or another name "
                "or --state, would be right",
                folder, storage);
    free(writes);
    study_destroy(study);
    return r == -ENOENT ? 0 : r;
}

static int write_storage(const char *path, const char *storage)
{
    struct whole_file file;
    int r = whole_file_open(path, STUDY_TEMPORARY, 0644, &file);
    if (r < 0)
        return r;
    r = whole_file_put(&file, storage, strlen(storage));
    return whole_file_close(&file, r == 0 ? whole_file_put(&file, "\n", 1) : r);
}

/* -EEXIST where another storage than `url` has a study `name` whose files are in `folder`. Else the folder
 * names this one from now on. */
static int take_folder(const char *url, const char *name, const char *folder, char *err)
{
    char *own = NULL, *other = NULL, *path = NULL, *of_state = NULL;
    int r = name_of(url, &own, err);
    if (r < 0)
        return r;
    if (asprintf(&path, "%s/" STORAGE_FILE, folder) < 0 ||
        asprintf(&of_state, "%s/../../studies.db", folder) < 0)
        r = -ENOMEM;
    if (r == 0)
        r = storage_of(path, of_state, &other);
    if (r < 0)
        say(err, r, "cannot read: %.300s/" STORAGE_FILE ": %s: a file that can be read is needed", folder,
            strerror(-r));
    if (r == 0 && strcmp(own, other) != 0)
        r = check_other(other, name, folder, err);
    if (r == 0 && (r = write_storage(path, own)) < 0)
        say(err, r, "cannot write: %.300s: %s: room on the disk is needed", path, strerror(-r));
    free(own);
    free(other);
    free(path);
    free(of_state);
    return r;
}

/* ---- Is it the same study? ---- */

static int differs(const struct study *study, const struct space_param *param, const struct distribution *was,
                   const char *hint, char *err)
{
    char *before = distribution_text(was), *now = distribution_text(&param->distribution);
    int r = say(err, -EINVAL, "another study: %.100s: [search] %.60s: it was %.120s, now it is %.120s: %s",
                study->name, param->name, before ? before : "another", now ? now : "another", hint);
    free(before);
    free(now);
    return r;
}

static int check_space(const struct study *study, const struct space *space,
                       void (*warn)(void *ctx, const char *words), void *ctx, char *err)
{
    struct space was = {0};
    char words[STUDY_ERROR_MAX];
    int r = space_union(study, &was);
    if (r < 0)
        return say(err, r, "out of memory");
    for (int i = 0; i < space->n && r == 0; i++)
        for (int j = 0; j < was.n && r == 0; j++) {
            const struct space_param *param = &space->params[i];
            const struct distribution *before = &was.params[j].distribution;
            if (strcmp(param->name, was.params[j].name) != 0)
                continue;
            if (!distribution_compatible(&param->distribution, before))
                r = differs(study, param, before, "the same, or another name of the study, is right", err);
            else if (!distribution_equal(&param->distribution, before)) {
                differs(study, param, before, "what was tried before says less of it", words);
                warn(ctx, words);
            }
        }
    space_finish(&was);
    return r;
}

/* Has it trials with whose values others are compared? */
static bool is_bound(const struct study *study)
{
    for (int i = 0; i < study->n_trials; i++) {
        const enum trial_state state = study->trials[i]->state;
        if (state == TRIAL_RUNNING || state == TRIAL_COMPLETE || state == TRIAL_PRUNED)
            return true;
    }
    return false;
}

/* `now` is what the attribute would be; an attribute that the study lacks is no difference. */
static int check_same(const struct study *study, const char *attribute, json_t *now, const char *what,
                      const char *hint, char *err)
{
    json_t *was = is_bound(study) ? study_attribute_json(study->user, study->n_user, attribute) : NULL;
    const char *key = now ? study_differs(was, now) : NULL;
    int r = now ? 0 : say(err, -ENOMEM, "out of memory");
    if (key) {
        char *before = json_dumps(json_object_get(was, key), JSON_ENCODE_ANY);
        char *after = json_dumps(json_object_get(now, key), JSON_ENCODE_ANY);
        r = say(err, -EINVAL, "another study: %.100s: %s%.60s: it was %.80s, now it is %.80s: %s",
                study->name, what, key, before ? before : "another", after ? after : "another", hint);
        free(before);
        free(after);
    }
    json_decref(was);
    return r;
}

static int check_defined(const struct study_opening *opening, const struct study *study, char *err)
{
    json_t *now = study_definition(opening->config, opening->settings);
    int r = check_same(study, "papertape:trial", now, "", "the same, or another name of the study, is right",
                       err);
    json_decref(now);
    return r;
}

/* ---- Making it. ---- */

static int set(struct study_store *store, int64_t id, const char *key, json_t *value, char *err)
{
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    int r = text ? study_store_set_study_user(store, id, key, text, err) : say(err, -ENOMEM, "out of memory");
    json_decref(value);
    free(text);
    return r;
}

/* `what` is the text's name in the error: not UTF-8. */
static int set_text(struct study_store *store, int64_t id, const char *key, const char *text,
                    const char *what, char *err)
{
    json_t *value = json_string(text), *any = value ? NULL : json_stringn_nocheck(text, strlen(text));
    int r = any ? say(err, -EINVAL, "%s: UTF-8 text is right", what) : set(store, id, key, value, err);
    json_decref(any);
    return r;
}

static int set_all(struct study_store *store, int64_t id, const struct study_opening *opening, char *err)
{
    int r = set(store, id, "papertape:trials", json_integer(opening->settings->trials), err);
    if (r == 0)
        r = set_text(store, id, "papertape:config", opening->text, "the configuration", err);
    if (r == 0)
        r = set_text(store, id, "papertape:folder", opening->folder, "the study's folder: --state", err);
    if (r == 0)
        r = set(store, id, "papertape:trial", study_definition(opening->config, opening->settings), err);
    return r == 0 ? set(store, id, NOW, json_integer(opening->now_ns), err) : r;
}

static int open_in(struct study_store *store, const struct study_opening *opening,
                   void (*warn)(void *ctx, const char *words), void *ctx, struct study **ret, char *err)
{
    const enum study_direction direction = STUDY_MAXIMIZE;
    struct study *study = NULL;
    int64_t id;
    bool existed;
    int r = study_store_create(store, opening->name, &direction, 1, &id, &existed, err);
    if (r == 0)
        r = study_store_load(store, id, &study, err);
    if (r == 0)
        r = check_space(study, &opening->settings->space, warn, ctx, err);
    if (r == 0)
        r = check_defined(opening, study, err);
    if (r == 0)
        r = study_versions_check(study, opening->settings->grace_s, warn, ctx, err);
    if (r == 0 && !(existed && opening->joins))
        r = set_all(store, id, opening, err);
    if (r == 0)
        r = study_store_sync(store, study, err);
    if (r < 0)
        study_destroy(study);
    else
        *ret = study;
    return r;
}

static int open_once(struct study_store *store, const struct study_opening *opening,
                     void (*warned)(void *ctx, const char *words), void *ctx, struct study **ret, char *err)
{
    int r = study_store_begin(store, err);
    if (r < 0)
        return r;
    r = open_in(store, opening, warned, ctx, ret, err);
    if (r < 0) {
        study_store_rollback(store);
    } else if ((r = study_store_commit(store, err)) < 0) {
        study_destroy(*ret);
        *ret = NULL;
    }
    return r;
}

static int load_or_create(const struct study_opening *opening, void (*warn)(void *ctx, const char *words),
                          void *ctx, struct study **ret, char *err)
{
    struct study_store *store;
    int r = study_store_open_waiting(opening->url, STUDY_STORE_AGAIN, 0, opening->waits, &store, err);
    if (r < 0)
        return r;
    do
        r = open_once(store, opening, warn, ctx, ret, err);
    while (r < 0 && study_store_again(store, &r, err));
    study_store_close(store);
    return r;
}

/* Of two that start at once the second finds the first one's study: the lock lasts until that is stored. */
int study_load_or_create(const struct study_opening *opening, void (*warn)(void *ctx, const char *words),
                         void *ctx, struct study **ret, char err[static STUDY_ERROR_MAX])
{
    int lock = study_folder_lock(opening->folder);
    int r = lock < 0 ? say(err, lock, "%.300s: %s", opening->folder,
                           lock == -EBUSY ? FAIL_IN_USE("another process") : strerror(-lock))
                     : take_folder(opening->url, opening->name, opening->folder, err);
    if (r == 0)
        r = load_or_create(opening, warn, ctx, ret, err);
    study_folder_unlock(lock);
    return r;
}

/* ---- Its rows. ---- */

static int take_rows(struct study_store *store, const struct study_opening *opening,
                     const struct study_market *market, struct study *study, char *err)
{
    json_t *rows = study_rows(market);
    int r = study_store_sync(store, study, err);
    if (r == 0) /* another process may have started it meanwhile */
        r = check_defined(opening, study, err);
    if (r == 0)
        r = check_same(study, "papertape:rows", rows,
                       "rows: ", "the bars that it began with, or another name of the study, are right", err);
    if (r == 0)
        r = set(store, study->id, "papertape:rows", json_incref(rows), err);
    if (r == 0)
        r = set(store, study->id, RUNS_BARS, study_runs_bars(market), err);
    if (r == 0)
        r = study_store_sync(store, study, err);
    json_decref(rows);
    return r;
}

int study_open_rows(const struct study_opening *opening, const struct study_market *market,
                    struct study *study, char err[static STUDY_ERROR_MAX])
{
    struct study_store *store;
    int r = study_store_open_waiting(opening->url, STUDY_STORE_AGAIN, 0, opening->waits, &store, err);
    if (r < 0)
        return r;
    do {
        r = study_store_begin(store, err);
        if (r == 0 && (r = take_rows(store, opening, market, study, err)) < 0)
            study_store_rollback(store);
        else if (r == 0)
            r = study_store_commit(store, err);
    } while (r < 0 && study_store_again(store, &r, err));
    study_store_close(store);
    return r;
}

#include "db/studies/sql/sql_store.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "db/studies/sql/schema_text.h"
#include "exchange/fail.h"

uint64_t study_sql_serial(void)
{
    static atomic_uint_fast64_t opened;
    return atomic_fetch_add(&opened, 1) + 1;
}

void study_sql_release(struct study_sql *store)
{
    store->held = (struct study_sql_held){0};
}

void study_sql_rolled_back(struct study_sql *store)
{
    study_sql_release(store);
    store->rollbacks++;
    store->mark.study = 0;
}

struct study_rows study_sql_query(struct study_sql *store, enum study_sql_statement which,
                                  const struct record_param *params)
{
    return store->driver->query(store, which, params);
}

int study_sql_next(struct study_sql *store, struct study_rows *rows, const struct record_into *into,
                   char err[static STUDY_ERROR_MAX])
{
    return store->driver->next(store, rows, into, err);
}

int study_sql_first(struct study_sql *store, enum study_sql_statement which,
                    const struct record_param *params, const struct record_into *into,
                    char err[static STUDY_ERROR_MAX])
{
    struct study_rows rows = study_sql_query(store, which, params);
    int r = study_sql_next(store, &rows, into, err);
    if (r > 0)
        store->driver->end(&rows);
    return r > 0 ? 0 : r < 0 ? r : -ENOENT;
}

int study_sql_run(struct study_sql *store, enum study_sql_statement which, const struct record_param *params,
                  char err[static STUDY_ERROR_MAX])
{
    int r = study_sql_first(store, which, params, NULL, err);
    return r == -ENOENT ? 0 : r;
}

int study_sql_text(struct study_sql *store, enum study_sql_statement which, const struct record_param *params,
                   char **ret, char err[static STUDY_ERROR_MAX])
{
    struct study_rows rows = study_sql_query(store, which, params);
    const char *text = NULL;
    int r = study_sql_next(store, &rows, RECORD_INTO(&text), err);
    if (r <= 0)
        return r < 0 ? r : -ENOENT;
    char *copy = text ? strdup(text) : NULL;
    r = copy ? 0 : text ? study_store_fail(&store->base, -ENOMEM, err, "no memory") : -ENOENT;
    store->driver->end(&rows);
    if (r == 0)
        *ret = copy;
    return r;
}

int study_sql_later(struct study_sql *store, enum study_sql_statement which,
                    const struct record_param *params, char err[static STUDY_ERROR_MAX])
{
    return store->driver->later ? store->driver->later(store, which, params, err)
                                : study_sql_run(store, which, params, err);
}

void study_sql_ahead(struct study_sql *store, const enum study_sql_statement *which, int n,
                     const struct record_param *params)
{
    if (store->driver->ahead)
        store->driver->ahead(store, which, n, params);
}

int study_sql_put(struct study_sql *store, bool fresh, enum study_sql_statement update,
                  enum study_sql_statement insert, const struct record_param *params,
                  char err[static STUDY_ERROR_MAX])
{
    if (fresh)
        return study_sql_later(store, insert, params, err);
    int r = study_sql_run(store, update, params, err);
    return r < 0 || store->driver->changed(store) > 0 ? r : study_sql_later(store, insert, params, err);
}

int study_sql_lock_study(struct study_sql *store, int64_t study, char err[static STUDY_ERROR_MAX])
{
    if (!store->driver->locks_rows || store->held.study == study)
        return 0;
    int r = study_sql_run(store, STUDY_SQL_LOCK_STUDY, RECORD_PARAMS(study), err);
    if (r == 0) {
        store->held.study = study;
        store->held.counted = false;
    }
    return r;
}

void study_sql_now(const struct study_sql *store, double ago_s, char ret[static STUDY_SQL_TIME])
{
    int64_t us = store->driver->now_us(store) - (int64_t)(ago_s * 1e6);
    time_t seconds = (time_t)(us / 1000000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    size_t n = strftime(ret, STUDY_SQL_TIME, "%Y-%m-%d %H:%M:%S", &tm);
    snprintf(ret + n, STUDY_SQL_TIME - n, ".%06d", (int)(us % 1000000));
}

int64_t study_sql_time(const char *text)
{
    struct tm tm = {0};
    const char *rest = text ? strptime(text, "%Y-%m-%d %H:%M:%S", &tm) : NULL;
    if (!rest)
        return STUDY_NO_TIME;
    int64_t us = (int64_t)timegm(&tm) * 1000000;
    if (*rest == '.')
        for (int64_t unit = 100000; unit > 0 && rest[1] >= '0' && rest[1] <= '9'; unit /= 10)
            us += unit * (*++rest - '0');
    return us;
}

double study_sql_double(double value, const char *type)
{
    if (type && strcmp(type, "INF_POS") == 0)
        return INFINITY;
    if (type && strcmp(type, "INF_NEG") == 0)
        return -INFINITY;
    return value;
}

struct record_param study_sql_value(double value)
{
    return isfinite(value) ? record_param_real(value) : record_param_text(NULL);
}

const char *study_sql_value_type(double value)
{
    return isnan(value) ? "NAN" : !isinf(value) ? "FINITE" : value > 0 ? "INF_POS" : "INF_NEG";
}

bool study_sql_state(const char *name, enum trial_state *ret)
{
    for (enum trial_state state = 0; name && state < TRIAL_STATES; state++)
        if (strcmp(name, study_trial_state_name(state)) == 0) {
            *ret = state;
            return true;
        }
    return false;
}

int study_sql_fail_busy(const struct study_store *store, int busy_ms, char err[static STUDY_ERROR_MAX])
{
    return study_store_fail(
        store, -EBUSY, err,
        FAIL_IN_USE("other processes") " for %g s: shorter transactions there, or fewer workers, are needed",
        busy_ms / 1e3);
}

/* Revisions of Optuna 0.9 to 3.1; `optuna storage upgrade` brings them to ours. */
static const char *const older[] = {"v0.9.0.a", "v1.2.0.a", "v1.3.0.a", "v2.4.0.a", "v2.6.0.a",
                                    "v3.0.0.a", "v3.0.0.b", "v3.0.0.c", "v3.0.0.d"};

int study_sql_check_version(const struct study_store *store, int64_t version, const char *revision,
                            const char *library, char err[static STUDY_ERROR_MAX])
{
    if (version == STUDY_SCHEMA_VERSION && strcmp(revision, STUDY_SCHEMA_REVISION) == 0)
        return 0;
    bool old = version < STUDY_SCHEMA_VERSION;
    for (size_t i = 0; i < sizeof older / sizeof *older; i++)
        old = old || strcmp(revision, older[i]) == 0;
    return study_store_fail(
        store, -EMEDIUMTYPE, err,
        old ? "its schema %lld (%s, Optuna %s) is older than %d (%s): optuna storage upgrade would be right"
            : FAIL_NEWER("its schema %lld (%s, Optuna %s)", "%d (%s)"),
        (long long)version, revision, library, STUDY_SCHEMA_VERSION, STUDY_SCHEMA_REVISION);
}

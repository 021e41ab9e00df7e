/* What the tests of studies share: a store in a directory of the test's own, and shorthands that fail loudly.
 */
#ifndef TESTS_DB_STUDIES_FIXTURE_H
#define TESTS_DB_STUDIES_FIXTURE_H

#include <errno.h>

#include "db/studies/store.h"
#include "tests/check.h"
#include "tests/scratch.h"

static char err[STUDY_ERROR_MAX];

/* Prints what went wrong. */
#define OK(call) CHECK_SAID(call, 0)
#define CHECK_SAID(call, expected) \
    do { \
        int check_r = (call); \
        check_count++; \
        if (check_r != (expected)) { \
            check_failures++; \
            fprintf(stderr, "%s:%d: %s is %d, not %d: %s\n", __FILE__, __LINE__, #call, check_r, (expected), \
                    err); \
        } \
    } while (0)
/* Refused with a sentence that has `words`. */
#define REFUSED(call, expected, words) \
    do { \
        *err = '\0'; \
        CHECK_SAID(call, expected); \
        if (!strstr(err, words)) { \
            check_failures++; \
            fprintf(stderr, "%s:%d: %s says \"%s\", not \"%s\"\n", __FILE__, __LINE__, #call, err, words); \
        } \
    } while (0)

static const enum study_direction maximize[] = {STUDY_MAXIMIZE, STUDY_MINIMIZE, STUDY_MINIMIZE};

/* Where the tests run on a server: PAPERTAPE_STUDIES is its URL up to the name of a schema, PAPERTAPE_PSQL
 * how psql is called there. */
static inline const char *server_url(void)
{
    return getenv("PAPERTAPE_STUDIES");
}

static inline void server_run(const char *sql)
{
    char command[1024];
    snprintf(command, sizeof command, "%s -c \"%s\"", getenv("PAPERTAPE_PSQL"), sql);
    CHECK_INT(system(command), 0);
}

/* A storage of its own: a file, or a schema of the server. Static memory, of the last four. */
static inline const char *storage_of(const char *name)
{
    static char urls[4][512];
    static int next;
    char *url = urls[next++ % 4], sql[128];
    if (!server_url())
        return scratch_path(name);
    snprintf(sql, sizeof sql, "CREATE SCHEMA IF NOT EXISTS s_%.*s", (int)strcspn(name, "."), name);
    server_run(sql);
    snprintf(url, sizeof urls[0], "%ss_%.*s", server_url(), (int)strcspn(name, "."), name);
    return url;
}

static inline struct study_store *open_store(const char *path)
{
    struct study_store *store = NULL;
    OK(study_store_open(path, STUDY_STORE_WRITE, 0, &store, err));
    if (!store)
        exit(EXIT_FAILURE);
    return store;
}

static inline int64_t make_study(struct study_store *store, const char *name)
{
    int64_t id = 0;
    OK(study_store_create(store, name, maximize, 1, &id, NULL, err));
    return id;
}

static inline struct study *load(struct study_store *store, int64_t id)
{
    struct study *study = NULL;
    OK(study_store_load(store, id, &study, err));
    if (!study)
        exit(EXIT_FAILURE);
    return study;
}

static inline int64_t ask(struct study_store *store, int64_t study, bool heartbeat)
{
    int64_t trial = 0;
    int number;
    OK(study_store_ask(store, study, heartbeat, &trial, &number, err));
    return trial;
}

/* One parameter. */
static inline int set_param(struct study_store *store, int64_t trial, const char *name,
                            const struct distribution *distribution, double value)
{
    return study_store_set_params(store, trial, &(struct study_store_param){name, distribution, value}, 1,
                                  err);
}

static inline struct distribution number_of(enum distribution_kind kind, double low, double high, double step,
                                            bool log)
{
    struct distribution distribution = {0};
    OK(distribution_number(kind, low, high, step, log, &distribution, err));
    return distribution;
}

static inline struct distribution choices_of(const char *json)
{
    struct distribution distribution = {0};
    json_t *choices = json_loads(json, 0, NULL);
    OK(distribution_categories(choices, &distribution, err));
    json_decref(choices);
    return distribution;
}

#endif

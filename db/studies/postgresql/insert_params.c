/* A trial's parameters in one statement, whose arrays are PostgreSQL's texts of arrays. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/postgresql/postgresql_store.h"

enum { TRIAL_, STUDY_, NAMES, VALUES, TEXTS, KNOWN, ARGUMENTS };

static void put_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

static void put(FILE *file, int column, const struct study_param_row *row)
{
    switch (column) {
    case NAMES:
        put_text(file, row->name);
        break;
    case VALUES:
        fprintf(file, "%.17g", row->value);
        break;
    case TEXTS:
        put_text(file, row->text);
        break;
    default:
        fprintf(file, "%lld", (long long)row->known);
    }
}

/* For free(); NULL without memory. */
static char *array(int column, const struct study_param_row *params, int n)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return NULL;
    for (int i = 0; i < n; i++) {
        fputc(i == 0 ? '{' : ',', file);
        put(file, column, &params[i]);
    }
    fputc('}', file);
    bool failed = ferror(file);
    if (fclose(file) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}

/* The names that come back are those that were stored, in their order. */
static int take_stored(struct study_postgresql *store, PGresult *result, struct study_param_row *params,
                       int n, char err[static STUDY_ERROR_MAX])
{
    struct study_rows rows = {.of = result};
    const char *name;
    int at = 0, r;
    while ((r = study_postgresql_next(&store->sql, &rows, RECORD_INTO(&name), err)) > 0) {
        while (at < n && strcmp(params[at].name, name) != 0)
            at++;
        if (at < n)
            params[at++].stored = true;
    }
    return r;
}

int study_postgresql_insert_params(struct study_sql *sql, int64_t study, int64_t trial,
                                   struct study_param_row *params, int n, char err[static STUDY_ERROR_MAX])
{
    struct study_postgresql *store = study_postgresql_of(sql);
    char ids[2][STUDY_POSTGRESQL_NUMBER], *arrays[ARGUMENTS] = {NULL};
    const char *values[ARGUMENTS] = {ids[0], ids[1]};
    bool memory = true;
    snprintf(ids[0], sizeof ids[0], "%lld", (long long)trial);
    snprintf(ids[1], sizeof ids[1], "%lld", (long long)study);
    for (int i = NAMES; i < ARGUMENTS && memory; i++) {
        values[i] = arrays[i] = array(i, params, n);
        memory = arrays[i] != NULL;
    }
    int r = memory
                ? take_stored(store,
                              study_postgresql_run(store, STUDY_POSTGRESQL_INSERT_PARAMS, ARGUMENTS, values),
                              params, n, err)
                : study_store_fail(&sql->base, -ENOMEM, err, "no memory for %d parameters", n);
    for (int i = NAMES; i < ARGUMENTS; i++)
        free(arrays[i]);
    return r;
}

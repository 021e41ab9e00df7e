/* A recorded trajectory with the bars that it was made on. What is wrong with the files ends the test. */
#ifndef TESTS_TRAINER_ENV_RECORDING_H
#define TESTS_TRAINER_ENV_RECORDING_H

#include <jansson.h>
#include <stdbool.h>

#include "exchange/bars_file.h"
#include "trainer/env/env.h"

enum { RECORDING_ASSETS = 8, RECORDING_COLUMNS = 64 };

struct recording {
    char name[64], dir[512];
    struct env_params params;
    struct env_market_source source;
    struct env_asset_source assets[RECORDING_ASSETS];
    char symbols[RECORDING_ASSETS][16];
    int n_assets;
    double *columns[RECORDING_ASSETS][2]; /* close, volume: [rows] */
    double *first_observation, *last_observation;
    int observation_size;
    char headers[RECORDING_COLUMNS][32];
    int n_headers;
    double *cells; /* [steps][n_headers] */
    double largest[RECORDING_COLUMNS];
    size_t steps;
};

static inline _Noreturn void recording_bad(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static inline int recording_column(const struct recording *r, const char *column)
{
    for (int i = 0; i < r->n_headers; i++)
        if (strcmp(r->headers[i], column) == 0)
            return i;
    recording_bad(column, "the recording has no such column");
}

static inline double recording_cell(const struct recording *r, size_t step, const char *column)
{
    return r->cells[step * (size_t)r->n_headers + (size_t)recording_column(r, column)];
}

static inline double recording_largest(const struct recording *r, const char *column)
{
    return r->largest[recording_column(r, column)];
}

/* "qty_BTC"; good until the next call. */
static inline const char *recording_of(const struct recording *r, const char *what, int asset)
{
    static char name[32];
    snprintf(name, sizeof name, "%s_%s", what, r->symbols[asset]);
    return name;
}

static inline void recording_read_csv(struct recording *r)
{
    char path[640], line[4096];
    snprintf(path, sizeof path, "%s/data/env/%s.csv", r->dir, r->name);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(line, sizeof line, file))
        recording_bad(path, "unreadable");
    for (char *cell = strtok(line, ",\r\n"); cell; cell = strtok(NULL, ",\r\n"))
        snprintf(r->headers[r->n_headers++], sizeof r->headers[0], "%.31s", cell);
    size_t cap = 0;
    while (fgets(line, sizeof line, file)) {
        if (r->steps == cap) {
            cap = cap ? 2 * cap : 1024;
            r->cells = realloc(r->cells, cap * (size_t)r->n_headers * sizeof *r->cells);
        }
        int n = 0;
        for (char *cell = strtok(line, ",\r\n"); cell; cell = strtok(NULL, ",\r\n"), n++) {
            double value = strtod(cell, NULL);
            r->cells[r->steps * (size_t)r->n_headers + (size_t)n] = value;
            r->largest[n] = fabs(value) > r->largest[n] ? fabs(value) : r->largest[n];
        }
        if (n != r->n_headers)
            recording_bad(path, "a row of another length than the header");
        r->steps++;
    }
    fclose(file);
}

static inline double *recording_numbers(const json_t *array, int *ret_n)
{
    *ret_n = (int)json_array_size(array);
    double *numbers = calloc((size_t)*ret_n, sizeof *numbers);
    for (int i = 0; i < *ret_n; i++)
        numbers[i] = json_number_value(json_array_get(array, (size_t)i));
    return numbers;
}

/* The rows that all files have, from the first bar on. */
static inline void recording_read_bars(struct recording *r, int64_t first_ns, size_t rows)
{
    struct bars_file files[RECORDING_ASSETS];
    char path[640], error[BARS_FILE_ERROR_MAX];
    for (int i = 0; i < r->n_assets; i++) {
        snprintf(path, sizeof path, "%s/data/bars/%sUSDT_5m.csv.gz", r->dir, r->symbols[i]);
        if (bars_file_read(path, NULL, &files[i], error) < 0)
            recording_bad(path, error);
        for (int k = 0; k < 2; k++)
            r->columns[i][k] = calloc(rows, sizeof(double));
    }
    size_t at[RECORDING_ASSETS] = {0}, row = 0;
    for (size_t b = 0; b < files[0].n && row < rows; b++) {
        int64_t time = files[0].open_time_ns[b];
        bool all = time >= first_ns;
        at[0] = b;
        for (int i = 1; i < r->n_assets && all; i++) {
            while (at[i] < files[i].n && files[i].open_time_ns[at[i]] < time)
                at[i]++;
            all = at[i] < files[i].n && files[i].open_time_ns[at[i]] == time;
        }
        for (int i = 0; i < r->n_assets && all; i++) {
            r->columns[i][0][row] = files[i].close[at[i]];
            r->columns[i][1][row] = files[i].volume[at[i]];
        }
        row += all;
    }
    if (row != rows)
        recording_bad(r->name, "the bars files have too few rows");
    for (int i = 0; i < r->n_assets; i++)
        bars_file_finish(&files[i]);
}

static inline void recording_read_json(struct recording *r)
{
    char path[640], err[ENV_ERROR_MAX];
    json_error_t error;
    snprintf(path, sizeof path, "%s/data/env/%s.json", r->dir, r->name);
    json_t *json = json_load_file(path, 0, &error), *value;
    if (!json)
        recording_bad(path, error.text);
    if (env_params_preset("reference", &r->params, err) < 0)
        recording_bad(path, err);
    const char *key;
    json_object_foreach(json_object_get(json, "params"), key, value)
    {
        char text[64];
        snprintf(text, sizeof text, "%.17g", json_number_value(value));
        if (env_params_set(&r->params, key, text, err) < 0)
            recording_bad(path, err);
    }
    json_t *symbols = json_object_get(json, "symbols"), *least = json_object_get(json, "min_order_qty");
    r->n_assets = (int)json_array_size(symbols);
    size_t rows = (size_t)json_integer_value(json_object_get(json, "bars"));
    const char *first = json_string_value(json_object_get(json, "first_bar"));
    int64_t first_ns;
    if (r->n_assets < 1 || r->n_assets > RECORDING_ASSETS || !first ||
        bars_time_parse(first, strlen(first), &first_ns) < 0)
        recording_bad(path, "no symbols, or no first bar");
    for (int i = 0; i < r->n_assets; i++)
        snprintf(r->symbols[i], sizeof r->symbols[i], "%.15s",
                 json_string_value(json_array_get(symbols, (size_t)i)));
    recording_read_bars(r, first_ns, rows);
    for (int i = 0; i < r->n_assets; i++)
        r->assets[i] = (struct env_asset_source){
            .name = r->symbols[i],
            .min_order_qty = json_number_value(json_array_get(least, (size_t)i)),
            .close = r->columns[i][0],
            .volume = r->columns[i][1],
        };
    r->source = (struct env_market_source){
        .rows = rows,
        .n_assets = r->n_assets,
        .assets = r->assets,
        .start_ns = first_ns,
        .interval_ns = 300000000000,
    };
    r->first_observation =
        recording_numbers(json_object_get(json, "first_observation"), &r->observation_size);
    r->last_observation = recording_numbers(json_object_get(json, "last_observation"), &r->observation_size);
    json_decref(json);
}

/* False without sample data. *ret does not move afterwards: its source points into it. */
static inline bool recording_read(const char *name, struct recording *ret)
{
    const char *shared = getenv("PAPERTAPE_SHARED");
    *ret = (struct recording){0};
    snprintf(ret->name, sizeof ret->name, "%s", name);
    snprintf(ret->dir, sizeof ret->dir, "%s", shared ? shared : "../shared");
    char path[640];
    snprintf(path, sizeof path, "%s/data/env/%s.csv", ret->dir, name);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    fclose(file);
    recording_read_csv(ret);
    recording_read_json(ret);
    return true;
}

static inline void recording_finish(struct recording *r)
{
    for (int i = 0; i < r->n_assets; i++)
        for (int k = 0; k < 2; k++)
            free(r->columns[i][k]);
    free(r->first_observation);
    free(r->last_observation);
    free(r->cells);
}

#endif

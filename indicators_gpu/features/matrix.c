/* The matrix: groups of features, each computed as columns and then written into its place of every row.
 *
 * A group of 8 features is 64 bytes a bar of float64 columns, written once and read once, and 32 bytes of
 * every row: about 200 bytes of memory traffic a bar and group with the lines that are fetched to be written
 * into, so 14 groups of a million bars move 3 GB, 0.15 s on two cores at 10 GB/s each; the indicators
 * themselves cost about as much. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange/fail.h"
#include "indicators_gpu/features/group.h"
#include "indicators_gpu/features/scaling.h"

enum { TILE = 256, THREADS_MAX = 8 };

/* The threads' input, and their shared state. */
struct matrix_work {
    const struct feature_set *set;
    struct feature_market market;
    double z[FEATURE_KNOTS];
    float *out;

    atomic_size_t next; /* the next group to take */
    pthread_mutex_t lock;
    int error; /* of the first group that failed */
    size_t error_group, first;
    char why[FEATURE_ERROR_MAX];
};

/* Whether what was scaled is still finite, as a float32, wherever there is a value. */
static int check_scaled(const struct feature *feature, const double x[], const float scaled[], size_t begin,
                        size_t n, char *err, size_t err_cap)
{
    unsigned bad = 0;
    for (size_t i = 0; i < n; i++)
        bad |= fabsf(scaled[i]) > FLT_MAX;
    for (size_t i = 0; bad && i < n; i++)
        if (fabsf(scaled[i]) > FLT_MAX)
            return fail_with(-EINVAL, err, err_cap, "%s at bar %zu is %g: more than a float32 holds",
                             feature->name, begin + i, x[i]);
    return 0;
}

static int write_group(const struct matrix_work *work, const struct feature_group *group, size_t *ret_first,
                       char *err, size_t err_cap)
{
    size_t first[GROUP_MAX], width = work->set->n, n_bars = work->market.bars->n;
    _Alignas(64) float scaled[GROUP_MAX][TILE];
    struct feature_scaler scalers[GROUP_MAX];
    for (size_t k = 0; k < group->n; k++) {
        first[k] = SIZE_MAX;
        feature_scaler_prepare(&group->features[k], work->z, &scalers[k]);
    }
    for (size_t begin = 0; begin < n_bars; begin += TILE) {
        size_t n = n_bars - begin < TILE ? n_bars - begin : TILE;
        for (size_t k = 0; k < group->n; k++) {
            _Alignas(64) double x[TILE];
            feature_group_values(&work->market, group, k, begin, n, x);
            int r = feature_group_check(&group->features[k], x, begin, n, &first[k], err, err_cap);
            if (r < 0)
                return r;
            feature_scaler_apply(&scalers[k], x, n, scaled[k]);
            r = check_scaled(&group->features[k], x, scaled[k], begin, n, err, err_cap);
            if (r < 0)
                return r;
        }
        float *row = work->out + begin * width + group->begin;
        for (size_t i = 0; i < n; i++, row += width)
            for (size_t k = 0; k < group->n; k++)
                row[k] = scaled[k][i];
    }
    for (size_t k = 0; k < group->n; k++)
        *ret_first = first[k] > *ret_first ? first[k] : *ret_first;
    return 0;
}

static int do_group(const struct matrix_work *work, size_t index, double *cells, size_t *first, char *err,
                    size_t err_cap)
{
    struct feature_group group = feature_group_at(work->set, index, cells);
    int r = feature_group_compute(&work->market, &group, err, err_cap);
    return r < 0 ? r : write_group(work, &group, first, err, err_cap);
}

static void *run_groups(void *context)
{
    struct matrix_work *work = context;
    double *cells = feature_group_cells(&work->market);
    for (size_t index; (index = atomic_fetch_add(&work->next, 1)) < feature_group_count(work->set);) {
        char why[FEATURE_ERROR_MAX] = "";
        size_t first = 0;
        int r = cells ? do_group(work, index, cells, &first, why, sizeof(why)) : -ENOMEM;
        pthread_mutex_lock(&work->lock);
        work->first = first > work->first ? first : work->first;
        if (r < 0 && (work->error == 0 || index < work->error_group)) {
            work->error = r;
            work->error_group = index;
            memcpy(work->why, why, sizeof(why));
        }
        pthread_mutex_unlock(&work->lock);
    }
    free(cells);
    return NULL;
}

static int run_threads(struct matrix_work *work, unsigned threads)
{
    pthread_t others[THREADS_MAX];
    unsigned started = 0;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (threads == 0)
        threads = processors < 1 ? 1 : (unsigned)processors;
    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    if (threads > feature_group_count(work->set))
        threads = (unsigned)feature_group_count(work->set);
    /* Fewer threads than configured compute the same, more slowly. */
    while (started + 1 < threads && pthread_create(&others[started], NULL, run_groups, work) == 0)
        started++;
    run_groups(work);
    for (unsigned i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    return work->error;
}

static int check_memory(const struct feature_set *set, const struct feature_bars *bars, const float *out,
                        char *err, size_t err_cap)
{
    static const char *const names[INDICATOR_COLUMNS] = {"open", "high", "low", "close", "volume", "time"};
    const struct indicator_columns *in = &bars->columns;
    const double *const columns[INDICATOR_COLUMNS] = {in->open,  in->high,   in->low,
                                                      in->close, in->volume, in->time};
    uintptr_t begin = (uintptr_t)out, end = begin + bars->n * set->n * sizeof(*out);
    if (bars->n > 0 && (!out || begin % sizeof(*out) != 0))
        return fail_with(-EINVAL, err, err_cap,
                         "the matrix is missing or misaligned: its address has to be a multiple of %zu",
                         sizeof(*out));
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        uintptr_t column = (uintptr_t)columns[c];
        if (column % sizeof(double) != 0)
            return fail_with(-EINVAL, err, err_cap,
                             "the column %s is misaligned: its address has to be a multiple of %zu", names[c],
                             sizeof(double));
        if (column && column < end && begin < column + bars->n * sizeof(double))
            return fail_with(-EINVAL, err, err_cap, "the matrix overlaps the column %s", names[c]);
    }
    return 0;
}

int feature_matrix(const struct feature_set *set, const struct feature_bars *bars,
                   const struct feature_options *options, float *out, size_t *ret_first, char *err,
                   size_t err_cap)
{
    if (!set->fitted)
        return fail_with(-EINVAL, err, err_cap, "set %s is not fitted: feature_set_fit() first", set->name);
    struct matrix_work work = {.set = set, .out = out, .lock = PTHREAD_MUTEX_INITIALIZER};
    int r = check_memory(set, bars, out, err, err_cap);
    if (r == 0)
        r = feature_market_open(&work.market, set, bars, options->backend == FEATURE_EXACT, err, err_cap);
    if (r < 0)
        return r;
    feature_scaling_normal_quantiles(work.z);
    r = run_threads(&work, options->threads);
    if (r == -EINVAL)
        snprintf(err, err_cap, "%s", work.why);
    else if (r == 0 && ret_first)
        *ret_first = work.first < bars->n ? work.first : bars->n;
    feature_market_close(&work.market);
    return r;
}

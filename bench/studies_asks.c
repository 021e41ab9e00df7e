/* Times a study's storage and sampler: bench/studies builds and runs it.
 *
 *   studies_asks fill WHERE TRIALS             a study of so many finished trials of 24 parameters
 *
 *   studies_asks one WHERE TIMES               ask-and-tell, alone: seconds of each, without commits, of
 *                                              commits, of processor time
 *
 *   studies_asks many WHERE WORKERS SECONDS    parallel processes of ask-and-tell: the seconds of all, and
 *                                              of each ask-and-tell
 *
 * WHERE is a file, or a server's URL. One ask-and-tell is a worker's storage access for a trial, without its
 * training: what others wrote is read, a trial begins, TPE draws (Optuna's defaults), 24 parameters are
 * stored, all in one transaction; the trial's value is stored in another. Lines of numbers go to stdout. The
 * parameters are floats, logarithmic floats, whole numbers and categories in turn, of the default search
 * space's kinds. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/measure.h"
#include "db/studies/store.h"
#include "trainer/study/sampler.h"

enum { PARAMS = 24, ASKS_MAX = 1 << 20, SEED = 7 };

static char err[STUDY_ERROR_MAX];

struct worker {
    struct study_store *store;
    struct study *study;
    struct sampler *sampler;
    struct space space;
};

/* Shared by the processes of "many". */
struct shared {
    volatile int ready, asks;
    volatile int go; /* 1: begin; -1: end, one of them failed */
    double seconds[ASKS_MAX];
};

static void need(int r, const char *what)
{
    if (r == 0)
        return;
    fprintf(stderr, "studies_asks: %s: %s\n", what, err[0] ? err : strerror(-r));
    exit(EXIT_FAILURE);
}

static void make_space(struct space *space)
{
    json_t *choices = json_pack("[i,i,i,i]", 2048, 4096, 8192, 16384);
    for (int i = 0; i < PARAMS; i++) {
        struct distribution distribution;
        char name[16];
        snprintf(name, sizeof name, "p%02d", i);
        switch (i % 4) {
        case 0:
            need(distribution_number(DISTRIBUTION_FLOAT, 0.88, 0.99, 0, false, &distribution, err), name);
            break;
        case 1:
            need(distribution_number(DISTRIBUTION_FLOAT, 1e-6, 1e-3, 0, true, &distribution, err), name);
            break;
        case 2:
            need(distribution_number(DISTRIBUTION_INT, 4, 160, 1, false, &distribution, err), name);
            break;
        default:
            need(distribution_categories(choices, &distribution, err), name);
        }
        need(space_add(space, name, &distribution), name);
        distribution_finish(&distribution);
    }
    json_decref(choices);
}

static void open_worker(struct worker *worker, const char *path, uint64_t seed)
{
    static const enum study_direction directions[] = {STUDY_MAXIMIZE};
    struct sampler_options options = sampler_defaults();
    int64_t id;
    bool existed;
    options.seed = seed;
    *worker = (struct worker){0};
    make_space(&worker->space);
    need(study_store_open(path, STUDY_STORE_WRITE, 0, &worker->store, err), path);
    need(study_store_create(worker->store, "bench", directions, 1, &id, &existed, err), path);
    need(study_store_load(worker->store, id, &worker->study, err), path);
    need(sampler_create(&options, &worker->sampler), "sampler");
}

static void close_worker(struct worker *worker)
{
    sampler_destroy(worker->sampler);
    study_destroy(worker->study);
    study_store_close(worker->store);
    space_finish(&worker->space);
}

static void put_relative(struct worker *worker, int64_t trial, json_t *pieces)
{
    size_t i;
    json_t *piece;
    json_array_foreach(pieces, i, piece)
    {
        char key[64], *json = json_dumps(piece, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
        snprintf(key, sizeof key, "tpe:relative_params:%zu", i);
        need(study_store_set_system(worker->store, trial, key, json, err), key);
        free(json);
    }
    json_decref(pieces);
}

/* A trial with its parameters, in one transaction; values [PARAMS]. */
static int64_t ask(struct worker *worker, bool draw, double *values)
{
    int64_t trial;
    int number;
    json_t *relative = NULL;
    if (draw)
        need(study_store_begin(worker->store, err), "begin");
    need(study_store_ask(worker->store, worker->study->id, true, &trial, &number, err), "ask");
    if (draw) {
        need(study_store_sync(worker->store, worker->study, err), "sync");
        need(sampler_sample(worker->sampler, worker->study, number, &worker->space, values, &relative),
             "sample");
        put_relative(worker, trial, relative);
    }
    struct study_store_param params[PARAMS];
    for (int i = 0; i < PARAMS; i++)
        params[i] = (struct study_store_param){worker->space.params[i].name,
                                               &worker->space.params[i].distribution, values[i]};
    need(study_store_set_params(worker->store, trial, params, PARAMS, err), "params");
    if (draw)
        need(study_store_commit(worker->store, err), "commit");
    return trial;
}

static void finish_trial(struct worker *worker, int64_t trial, const double *values)
{
    double value = -fabs(values[0] - 0.95) - 1e-3 * fabs(values[2] - 40);
    need(study_store_tell(worker->store, trial, TRIAL_COMPLETE, &value, 1, err), "finish");
}

static void fill(const char *path, int trials)
{
    struct worker worker;
    uint64_t state = SEED;
    open_worker(&worker, path, SEED);
    need(study_store_begin(worker.store, err), "begin");
    for (int n = 0; n < trials; n++) {
        double values[PARAMS];
        for (int i = 0; i < PARAMS; i++) {
            const struct distribution *distribution = &worker.space.params[i].distribution;
            double share = bench_uniform(&state), span = distribution->high - distribution->low;
            values[i] = distribution->log
                            ? distribution->low * pow(distribution->high / distribution->low, share)
                        : distribution->step > 0 || distribution->choices
                            ? distribution->low + floor(share * (span + 1))
                            : distribution->low + share * span;
        }
        finish_trial(&worker, ask(&worker, false, values), values);
    }
    need(study_store_commit(worker.store, err), "commit");
    close_worker(&worker);
}

static void one(const char *path, int times)
{
    struct worker worker;
    double values[PARAMS];
    open_worker(&worker, path, SEED);
    for (int i = 0; i < times; i++) {
        double before = bench_seconds(), processor = bench_cpu_seconds(),
               commits = study_store_commit_s(worker.store);
        finish_trial(&worker, ask(&worker, true, values), values);
        commits = study_store_commit_s(worker.store) - commits;
        double took = bench_seconds() - before;
        printf("%.9f %.9f %.9f\n", took - commits, commits, bench_cpu_seconds() - processor);
    }
    close_worker(&worker);
}

/* Watches its parent: no process would end the workers of one that was killed before it released them. */
static void work(const char *path, uint64_t seed, double seconds, pid_t parent, struct shared *shared)
{
    struct worker worker;
    double values[PARAMS];
    open_worker(&worker, path, seed);
    __sync_fetch_and_add(&shared->ready, 1);
    while (shared->go == 0 && getppid() == parent)
        usleep(1000);
    double end = bench_seconds() + seconds;
    while (shared->go > 0 && bench_seconds() < end) {
        double before = bench_seconds();
        finish_trial(&worker, ask(&worker, true, values), values);
        int at = __sync_fetch_and_add(&shared->asks, 1);
        if (at < ASKS_MAX)
            shared->seconds[at] = bench_seconds() - before;
    }
    close_worker(&worker);
}

static void many(const char *path, int workers, double seconds)
{
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        need(-errno, "mmap");
    struct worker worker;
    open_worker(&worker, path, SEED); /* makes the study */
    close_worker(&worker);
    const pid_t parent = getpid();
    for (int i = 0; i < workers; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            work(path, SEED + (uint64_t)i, seconds, parent, shared);
            _exit(EXIT_SUCCESS);
        }
        if (pid < 0) {
            shared->go = -1;
            need(-errno, "fork");
        }
    }
    int status, failed = 0;
    while (shared->ready < workers && failed == 0) {
        usleep(1000);
        failed += waitpid(-1, &status, WNOHANG) > 0; /* none ends well before it is let go */
    }
    shared->go = failed ? -1 : 1;
    double begin = bench_seconds();
    while (wait(&status) > 0)
        failed += status != 0;
    double took = bench_seconds() - begin;
    int n = shared->asks < ASKS_MAX ? shared->asks : ASKS_MAX;
    if (failed)
        fprintf(stderr, "studies_asks: %d workers failed\n", failed);
    printf("%.6f\n", took);
    for (int i = 0; i < n; i++)
        printf("%.6f\n", shared->seconds[i]);
    if (failed)
        exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "fill") == 0)
        fill(argv[2], atoi(argv[3]));
    else if (argc == 4 && strcmp(argv[1], "one") == 0)
        one(argv[2], atoi(argv[3]));
    else if (argc == 5 && strcmp(argv[1], "many") == 0)
        many(argv[2], atoi(argv[3]), atof(argv[4]));
    else
        return 2;
    return 0;
}

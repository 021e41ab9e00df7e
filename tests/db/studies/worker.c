/* A worker of a study, to be killed at any moment: worker URL STUDY TRIALS GRACE_S PAUSE_MS. It works until
 * TRIALS have ended COMPLETE or PRUNED and none waits or runs; takes over those whose worker is silent for
 * longer than the grace. A trial's value is sum() of its parameters, so that what was mixed up is found. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/studies/store.h"

enum { PARAMS = 4, STEPS = 5, PRUNED_OF = 7 };

static char err[STUDY_ERROR_MAX];
static long pause_ms;

static void die(const char *what)
{
    fprintf(stderr, "worker %d: %s: %s\n", (int)getpid(), what, err);
    exit(EXIT_FAILURE);
}

#define TRY(call) \
    do { \
        if ((call) < 0) \
            die(#call); \
    } while (0)

static void work(void)
{
    usleep((useconds_t)pause_ms * 1000);
}

static void count(const struct study *study, int ret[static TRIAL_STATES])
{
    memset(ret, 0, TRIAL_STATES * sizeof *ret);
    for (int i = 0; i < study->n_trials; i++)
        ret[study->trials[i]->state]++;
}

/* A new trial's parameters; those of one that is tried again stay, and those that were asked for. */
static double put_params(struct study_store *store, const struct study *study, int64_t trial, int number)
{
    const struct study_trial *at = study->trials[number];
    const struct study_attribute *attribute = study_attribute_find(at->system, at->n_system, "fixed_params");
    json_t *fixed = attribute ? json_loads(attribute->json, 0, NULL) : NULL;
    double sum = 0;
    for (int i = 0; i < PARAMS; i++) {
        struct distribution distribution;
        char name[16];
        TRY(distribution_number(DISTRIBUTION_FLOAT, 0, 1, 0, false, &distribution, err));
        snprintf(name, sizeof name, "x%d", i);
        const struct trial_param *param = study_trial_param(at, study_param_find(study, name));
        double value = param ? param->value : drand48();
        json_t *wanted = fixed ? json_object_get(fixed, name) : NULL;
        if (wanted && distribution_internal(&distribution, wanted, &value) < 0)
            die("fixed_params");
        TRY(study_store_set_param(store, trial, name, &distribution, value, err));
        sum += value;
    }
    json_decref(fixed);
    return sum;
}

/* False: somebody took this worker for dead. */
static bool alive(int r, const char *what)
{
    if (r < 0 && r != -EINVAL)
        die(what);
    return r == 0;
}

static void run(struct study_store *store, int64_t trial, double sum)
{
    bool prune = false;
    for (int step = 0; step < STEPS && !prune; step++) {
        work();
        if (!alive(study_store_report(store, trial, step, step < STEPS - 1 ? sum * step : sum, err),
                   "report") ||
            !alive(study_store_heartbeat(store, trial, err), "heartbeat"))
            return;
        prune = step == STEPS - 2 && lrand48() % PRUNED_OF == 0;
    }
    alive(study_store_tell(store, trial, prune ? TRIAL_PRUNED : TRIAL_COMPLETE, prune ? NULL : &sum,
                           prune ? 0 : 1, err),
          "finish");
}

int main(int argc, char **argv)
{
    static const enum study_direction directions[] = {STUDY_MAXIMIZE};
    struct study_store *store;
    struct study *study;
    int64_t id, trial = 0;
    int failed, retried, number = 0, states[TRIAL_STATES];
    bool existed;
    if (argc != 6)
        return 2;
    int wanted = atoi(argv[3]);
    double grace_s = atof(argv[4]);
    pause_ms = atol(argv[5]);
    srand48(getpid());
    TRY(study_store_open(argv[1], STUDY_STORE_WRITE, 0, &store, err));
    TRY(study_store_create(store, argv[2], directions, 1, &id, &existed, err));
    TRY(study_store_load(store, id, &study, err));
    for (;;) {
        TRY(study_store_fail_stale(store, id, grace_s, -1, &failed, &retried, err));
        TRY(study_store_begin(store, err)); /* what is counted is of the moment in which it is asked */
        TRY(study_store_sync(store, study, err));
        count(study, states);
        int ended = states[TRIAL_COMPLETE] + states[TRIAL_PRUNED];
        int coming = states[TRIAL_RUNNING] + states[TRIAL_WAITING];
        bool asked = states[TRIAL_WAITING] > 0 || ended + coming < wanted;
        double sum = 0;
        if (asked) {
            TRY(study_store_ask(store, id, true, &trial, &number, err));
            TRY(study_store_sync(store, study, err));
            sum = put_params(store, study, trial, number);
            char worker[32];
            snprintf(worker, sizeof worker, "\"%d\"", (int)getpid());
            TRY(study_store_set_user(store, trial, "papertape:worker", worker, err));
        }
        TRY(study_store_commit(store, err));
        if (asked)
            run(store, trial, sum);
        else if (coming == 0)
            break;
        else
            work();
    }
    study_destroy(study);
    study_store_close(store);
    return 0;
}

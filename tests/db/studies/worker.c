/* A worker of a study, to be killed at any moment: worker URL STUDY TRIALS GRACE_S PAUSE_MS. It works until
 * TRIALS have ended COMPLETE or PRUNED and none waits or runs; takes over those whose worker is silent for
 * longer than the grace. A trial's value is sum() of its parameters, so that what was mixed up is found. When
 * its first trial begins, it says so in a line. */
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

struct worker {
    struct study_store *store;
    struct study *study;
    int wanted;
    int64_t trial;
    int number;
    double sum;
};

/* A new trial's parameters, whose sum is worker->sum; those of one that is tried again stay, and those that
 * were asked for. */
static int put_params(struct worker *worker)
{
    const struct study_trial *at = worker->study->trials[worker->number];
    const struct study_attribute *attribute = study_attribute_find(at->system, at->n_system, "fixed_params");
    json_t *fixed = attribute ? json_loads(attribute->json, 0, NULL) : NULL;
    static const char *const names[PARAMS] = {"x0", "x1", "x2", "x3"};
    struct study_store_param params[PARAMS];
    struct distribution distribution;
    TRY(distribution_number(DISTRIBUTION_FLOAT, 0, 1, 0, false, &distribution, err));
    worker->sum = 0;
    for (int i = 0; i < PARAMS; i++) {
        const struct trial_param *param = study_trial_param(at, study_param_find(worker->study, names[i]));
        double value = param ? param->value : drand48();
        json_t *wanted = fixed ? json_object_get(fixed, names[i]) : NULL;
        if (wanted && distribution_internal(&distribution, wanted, &value) < 0)
            die("fixed_params");
        params[i] = (struct study_store_param){names[i], &distribution, value};
        worker->sum += value;
    }
    json_decref(fixed);
    return study_store_set_params(worker->store, worker->trial, params, PARAMS, err);
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

enum claim { CLAIM_TRIAL, CLAIM_WAIT, CLAIM_END };

/* Whether a trial is to be run. -ECONNRESET: the server was lost within the transaction. */
static int claim(struct worker *worker, enum claim *ret)
{
    int states[TRIAL_STATES], r;
    char name[32];
    if ((r = study_store_begin(worker->store, err)) < 0 || /* what is counted is of the moment of asking */
        (r = study_store_sync(worker->store, worker->study, err)) < 0)
        return r;
    count(worker->study, states);
    int ended = states[TRIAL_COMPLETE] + states[TRIAL_PRUNED];
    int coming = states[TRIAL_RUNNING] + states[TRIAL_WAITING];
    bool asked = states[TRIAL_WAITING] > 0 || ended + coming < worker->wanted;
    *ret = asked ? CLAIM_TRIAL : coming > 0 ? CLAIM_WAIT : CLAIM_END;
    snprintf(name, sizeof name, "\"%d\"", (int)getpid());
    if (asked &&
        ((r = study_store_ask(worker->store, worker->study->id, true, &worker->trial, &worker->number, err)) <
             0 ||
         (r = study_store_sync(worker->store, worker->study, err)) < 0 || (r = put_params(worker)) < 0 ||
         (r = study_store_set_user(worker->store, worker->trial, "papertape:worker", name, err)) < 0))
        return r;
    return study_store_commit(worker->store, err);
}

int main(int argc, char **argv)
{
    static const enum study_direction directions[] = {STUDY_MAXIMIZE};
    struct worker worker = {0};
    int64_t id;
    int failed, retried, r;
    bool existed, began = false;
    if (argc != 6)
        return 2;
    worker.wanted = atoi(argv[3]);
    double grace_s = atof(argv[4]);
    pause_ms = atol(argv[5]);
    srand48(getpid());
    TRY(study_store_open(argv[1], STUDY_STORE_WRITE, 0, &worker.store, err));
    TRY(study_store_create(worker.store, argv[2], directions, 1, &id, &existed, err));
    TRY(study_store_load(worker.store, id, &worker.study, err));
    for (enum claim next = CLAIM_WAIT; next != CLAIM_END;) {
        TRY(study_store_fail_stale(worker.store, id, grace_s, -1, &failed, &retried, err));
        do {
            r = claim(&worker, &next);
            if (r < 0)
                study_store_rollback(worker.store);
        } while (r < 0 && study_store_again(worker.store, &r, err));
        if (r < 0)
            die("claim");
        if (next == CLAIM_TRIAL && !began)
            began = puts("began") >= 0 && fflush(stdout) == 0;
        if (next == CLAIM_TRIAL)
            run(worker.store, worker.trial, worker.sum);
        else if (next == CLAIM_WAIT)
            work();
    }
    study_destroy(worker.study);
    study_store_close(worker.store);
    return 0;
}

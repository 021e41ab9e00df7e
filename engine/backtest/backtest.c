#include "engine/backtest/backtest.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/backtest/sim.h"
#include "exchange/clock.h"
#include "exchange/fail.h"

enum { THREADS_MAX = 64, ROOM_FIRST = 64 };

void *backtest_run_room(void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return array;
    size_t more = *cap ? 2 * *cap : ROOM_FIRST;
    void *moved = realloc(array, more * size);
    if (moved)
        *cap = more;
    return moved;
}

bool backtest_run_progress(struct run_thread *thread, size_t rows)
{
    struct backtest_run *run = thread->run;
    const struct backtest_config *config = run->config;
    size_t done = atomic_fetch_add(&run->done, rows) + rows;
    if (thread->reports && config->progress &&
        !config->progress(config->ctx, run->work ? (double)done / (double)run->work : 1))
        atomic_store(&run->stopped, true);
    return !atomic_load(&run->stopped) && !atomic_load(&run->failed);
}

int backtest_run_fail(struct run_thread *thread, int r, const char *format, ...)
{
    struct backtest_run *run = thread->run;
    va_list args;
    if (atomic_flag_test_and_set(&run->reported))
        return r;
    run->result = r;
    va_start(args, format);
    vsnprintf(run->error, sizeof run->error, format, args);
    va_end(args);
    atomic_store(&run->failed, true);
    return r;
}

/* The unit of work of a thread: one account, or all of them in one engine. */
struct jobs {
    struct backtest_run *run;
    int n, accounts_each;
    atomic_int next;
};

struct backtest_worker {
    struct jobs *jobs;
    struct run_thread thread;
};

static void forget(struct backtest_account *account)
{
    free(account->equity);
    free(account->fills);
    free(account->orders);
    free(account->ledger);
    free(account->trades);
    free(account->taken);
    free(account->receivables);
    free(account->fee_rates);
    *account = (struct backtest_account){0};
}

/* 0: the accounts ran to their last rows. */
static int run_accounts(struct run_thread *thread, int first, int n)
{
    const struct backtest_config *config = thread->run->config;
    enum backtest_way way = n > 1 ? BACKTEST_ENGINE : config->way;
    if (way != BACKTEST_ENGINE && !backtest_sim_covers(config, &config->accounts[first])) {
        size_t done = atomic_load(&thread->run->done);
        int r = backtest_vectorised(thread, first);
        if (r != -ENOTSUP)
            return r;
        forget(&thread->run->ret->accounts[first]);
        atomic_store(&thread->run->done, done);
        if (config->restarts)
            config->restarts(config->ctx, first);
        if (way == BACKTEST_COLUMNS) {
            return backtest_run_fail(
                thread, -EINVAL,
                "account %s: too many orders at once, too much money, a margin call, or an intent that the "
                "engine alone carries out, to be vectorised: leave the way open, or take the "
                "engine's",
                config->accounts[first].name);
        }
    }
    return backtest_by_engine(thread, first, n);
}

static void run_job(struct run_thread *thread, int first, int n)
{
    const struct backtest_config *config = thread->run->config;
    double started_s = clock_now_s();
    if (run_accounts(thread, first, n) < 0 || !config->ended)
        return;
    for (int a = first; a < first + n; a++)
        config->ended(config->ctx, thread->run->ret, a, clock_now_s() - started_s);
}

static void *work(void *data)
{
    struct backtest_worker *worker = data;
    struct jobs *jobs = worker->jobs;
    for (;;) {
        int job = atomic_fetch_add(&jobs->next, 1);
        if (job >= jobs->n || atomic_load(&jobs->run->stopped) || atomic_load(&jobs->run->failed))
            return NULL;
        run_job(&worker->thread, job * jobs->accounts_each, jobs->accounts_each);
    }
}

static int count_threads(const struct backtest_config *config)
{
    long threads = config->threads > 0 ? config->threads : sysconf(_SC_NPROCESSORS_ONLN);
    if (threads < 1)
        threads = 1;
    return threads < THREADS_MAX ? (int)threads : THREADS_MAX;
}

/* The time that passed is split in proportion to the seconds that the threads spent. */
static void share_seconds(struct backtest *ret, const struct backtest_worker *workers, int n, double passed)
{
    double busy[BACKTEST_STAGES] = {0}, sum = 0;
    for (int i = 0; i < n; i++)
        for (int s = 0; s < BACKTEST_STAGES; s++) {
            busy[s] += workers[i].thread.busy[s];
            sum += workers[i].thread.busy[s];
        }
    for (int s = 0; s < BACKTEST_STAGES && sum > 0; s++)
        ret->seconds[s] = passed * busy[s] / sum;
}

static void run_jobs(struct backtest_run *run)
{
    const struct backtest_config *config = run->config;
    struct backtest_worker workers[THREADS_MAX];
    pthread_t others[THREADS_MAX];
    /* Ids and hashes of several accounts are a live engine's only in one engine. */
    bool together = config->ledger || config->orders;
    struct jobs jobs = {.run = run,
                        .n = together ? 1 : config->n_accounts,
                        .accounts_each = together ? config->n_accounts : 1};
    int most = count_threads(config), started = 1;
    int threads = config->decided ? 1 : most < jobs.n ? most : jobs.n;
    double started_s = clock_now_s();
    for (int i = 0; i < threads; i++)
        workers[i] = (struct backtest_worker){
            .jobs = &jobs, .thread = {.run = run, .reports = i == 0, .helpers = most / threads}};
    while (started < threads && pthread_create(&others[started], NULL, work, &workers[started]) == 0)
        started++;
    work(&workers[0]);
    for (int i = 1; i < started; i++)
        pthread_join(others[i], NULL);
    share_seconds(run->ret, workers, started, clock_now_s() - started_s);
}

int backtest_run(const struct backtest_config *config, struct backtest *ret, char *err, size_t err_size)
{
    int r = backtest_check_config(config, err, err_size);
    if (r < 0)
        return r;
    struct backtest backtest = {.n_accounts = config->n_accounts, .from = config->from, .to = config->to};
    backtest.accounts = calloc((size_t)config->n_accounts, sizeof *backtest.accounts);
    if (!backtest.accounts)
        return fail_with(-ENOMEM, err, err_size, "not enough memory for this backtest");
    struct backtest_run run = {.config = config,
                               .ret = &backtest,
                               .work = (config->to - config->from) * (size_t)config->n_accounts,
                               .reported = ATOMIC_FLAG_INIT};
    run_jobs(&run);
    r = atomic_load(&run.failed) ? run.result : atomic_load(&run.stopped) ? -ECANCELED : 0;
    if (r < 0) {
        snprintf(err, err_size, "%s", r == -ECANCELED ? "stopped" : run.error);
        backtest_finish(&backtest);
        return r;
    }
    *ret = backtest;
    return 0;
}

size_t backtest_taken_from(const struct backtest_account *account, int64_t from_ns)
{
    size_t first = 0;
    while (first < account->n_taken && account->taken[first].ts_ns < from_ns)
        first++;
    return first;
}

void backtest_finish(struct backtest *backtest)
{
    for (int a = 0; backtest->accounts && a < backtest->n_accounts; a++)
        forget(&backtest->accounts[a]);
    free(backtest->accounts);
    *backtest = (struct backtest){0};
}

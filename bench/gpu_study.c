/* A search on the GPU: how long do 500 trials take, and what does the device do meanwhile? One JSON line a
 * figure (see bench/run for the keys), one worker, eight, and three searches at once apart (bench/cases.h).
 * Without a device: exit 77. A learner that is not on the device, or with fewer copies than was asked for, is
 * a failure: what it would measure is the CPU. Arguments: the module's path; the name of one case, or all;
 * how many workers; a suffix of the cases' names, as -mps where NVIDIA's MPS lets kernels of several
 * processes run side by side.
 *
 * A trial is a copy of what trainer/study/trial.h does, since a build of option gpu_only, for a machine with
 * a GPU and little else, has no library of the trainer: for each of the ten splits of CPCV (5 groups, 2
 * tested) the environment's market is made and uploaded, a learner of two layers of 768 made (policy and
 * value), trained for 132,000 steps with minibatches of 16,384 on the split's blocks, and its policy tested
 * on the CPU, bar by bar, on the others: a test's next observation follows from its last action, so it is no
 * work for a device. 7 assets of 14 features each, 25,000 generated bars, 64 copies; lookback, epochs, steps
 * of a rollout and the rest are drawn from the ranges of the default search space. What fits are computed
 * once a search (trainer/study/internal.h) is not part of it.
 *
 * Trials share the device as processes under a memory budget: WORKERS of them, each with its share of 80 %
 * of the memory. Why not streams of one arena in one process: what would run beside a trial's kernels is
 * mostly the other trials' CPU part (tests, markets, learners), which processes overlap as well and with
 * nothing shared that a crash takes along; a minibatch of 16,384 fills the device alone, so that two at once
 * would finish no sooner; and a learner is one allocation already, freed whole, so that nothing fragments.
 * What processes cost: a context each (some 0.5 GB), and switches between them, since kernels of two
 * processes do not run side by side without MPS.
 *
 * Prediction for an H100 (320 TFLOP/s in bf16 at these widths) and 16 cores, a split. Observations are 1 + 7
 * + 98 lookback numbers, 302 in the middle; a row is 3.3 MFLOP forward through both networks and 9 forward
 * and back: with 10 epochs 93 MFLOP a step, 12 TFLOP a split, 38 ms; 80 to 100 minibatches of 60 kernels'
 * ends 15 ms; rollouts are 132,000 / 64 = 2063 steps of 8 launches one after the other, 5.1 us each as in
 * reference-4080 (bench/gpu_train.c), 41 us, 85 ms: the most of it. 0.14 s of the device a split, 700 s for
 * 500 trials. The CPU: market 30 ms, upload and learner (cuBLASLt's plans, two graphs) 150 ms, test 10,000
 * rows of 90 us (the weights, 3.3 MB, come from the L3) 0.9 s: with the device's 0.14 s, in which its worker
 * waits, 1.22 s a split, 6100 s for 500 trials by one worker, and 11 % of it the device's. Eight workers:
 * 5000 * 1.22 / 8 = 760 s, more than the device needs: so the workers bind, 13 minutes, and the device is
 * idle for 8 % of them, which misses the goal of 97 %. Nine workers would take the device's 700 s, and ten
 * leave it something to spare; six would take 1020 s.
 *
 * studies-3: three searches of one worker each, at once and one after the other. At once they need a third
 * of the device (3 * 11 %), so that they seldom wait for each other: 2.7 times the throughput, less than
 * three since the longest of the three trials ends last and kernels of several processes take turns.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/cases.h"
#include "bench/driver.h"
#include "bench/line.h"
#include "bench/measure.h"
#include "bench/module.h"
#include "exchange/symbol.h"
#include "strategy/policy/trained.h"
#include "trainer/ppo/device.h"
#include "trainer/study/split.h"

enum {
    ASSETS = 7,
    FEATURES = 14 * ASSETS,
    ROWS = 25000,
    ROWS_SMALL = 5000,  /* of which a group still has an episode */
    PURGE = 5 + 48 + 1, /* lookback, forced_exit_bars, a bar */
    EMBARGO = 100,      /* the slowest feature's first value */
    TRIALS = 500,       /* that are predicted */
    SAMPLE = 8,         /* a trial a worker: 16 take longer than a case may */
    SPLITS = 10,
    WORKERS = 8,
    WORKERS_MAX = 32,
    STUDIES = 3,      /* at once, of a worker each */
    STUDY_SPLITS = 4, /* of a trial, in which each of them is measured */
};

static const double GOAL_S = 3600, GOAL_UTILISATION = 0.97, GOAL_STUDIES = 1.5, MEMORY = 0.8, CASE_S = 55;
static const char *const bench = "gpu_study";

static char err[ENV_ERROR_MAX];
_Static_assert((int)ENV_ERROR_MAX >= (int)PPO_ERROR_MAX, "one text for both");

static int fails(const char *what)
{
    return bench_because("%s: %s", what, err);
}

/* ---- What is traded; shared by all workers. ---- */

static struct symbol symbol;
static struct env_asset_source assets[ASSETS];
static struct env_market_source source;

static size_t rows(void)
{
    return bench_small() ? ROWS_SMALL : ROWS;
}

static void generate(void)
{
    static const char *const names[ASSETS] = {"A", "B", "C", "D", "E", "F", "G"};
    uint64_t seed = 1;
    symbol = (struct symbol){.price_scale = 8,
                             .trading = true,
                             .qty_scale = 8,
                             .quote_scale = 8,
                             .filters = {.price_min = 1000000,
                                         .tick = 1000000,
                                         .qty_min = 1000,
                                         .step = 1000,
                                         .notional_min = 500000000,
                                         .notional_min_market = true}};
    for (int i = 0; i < ASSETS; i++) {
        double *column[5], cents = 5000.0 * (i + 1);
        for (int c = 0; c < 5; c++)
            column[c] = bench_room(rows(), sizeof(double));
        for (size_t r = 0; r < rows(); r++) {
            double open = cents;
            cents = (double)(int64_t)(cents * (1 + 0.004 * (bench_uniform(&seed) - 0.5)) + 0.5);
            cents = cents < 1000 ? 1000 : cents;
            column[0][r] = open / 100;
            column[1][r] = ((open > cents ? open : cents) + 2) / 100;
            column[2][r] = ((open < cents ? open : cents) - 2) / 100;
            column[3][r] = cents / 100;
            column[4][r] = 1 + 9 * bench_uniform(&seed);
        }
        assets[i] = (struct env_asset_source){names[i],  1e-4,      &symbol,   column[0], column[1],
                                              column[2], column[3], column[4], NULL};
    }
    float *features = bench_room(rows() * FEATURES, sizeof(float));
    for (size_t k = 0; k < rows() * FEATURES; k++)
        features[k] = (float)bench_uniform(&seed);
    source = (struct env_market_source){.rows = rows(),
                                        .n_assets = ASSETS,
                                        .assets = assets,
                                        .interval_ns = INT64_C(300000000000),
                                        .features = features,
                                        .n_features = FEATURES};
}

/* ---- The workers' reports, in shared memory. ---- */

struct split_times {
    double market, learner, train, device, test, end; /* seconds; end: when, by the clock */
};
struct board {
    pthread_barrier_t begin;
    atomic_int next;          /* trial */
    atomic_int failed, ready; /* workers */
    double started;
    _Atomic double closed; /* when a worker first found nothing to do */
    struct split_times times[SAMPLE][SPLITS];
};
static struct board *board;

/* ---- One trial. ---- */

static double between(uint64_t *seed, double low, double high)
{
    return low + (high - low) * bench_uniform(seed);
}

static int draw(int trial, int workers, struct env_params *env, struct ppo_params *ppo)
{
    uint64_t seed = 100 + (uint64_t)trial;
    if (env_params_preset("cappuccino", env, err) < 0 || ppo_params_preset("default", ppo, err) < 0)
        return fails("preset");
    env->autoreset = ENV_SAME_STEP;
    env->random_start = true;
    env->episode_bars = 700;
    env->lookback = 1 + (int)(5 * bench_uniform(&seed));
    env->time_decay_floor = between(&seed, 0, 0.5);
    env->min_cash_reserve = between(&seed, 0.04, 0.3);
    ppo->net =
        (struct net_shape){.n_pi = 2, .pi = {768, 768}, .n_vf = 2, .vf = {768, 768}, .activation = NET_TANH};
    ppo->copies = 64;
    ppo->steps = 256 << (int)(3 * bench_uniform(&seed)); /* 16,384 to 65,536 rows */
    ppo->minibatch = 16384;
    ppo->total_steps = 132000;
    ppo->epochs = 4 + (int)(13 * bench_uniform(&seed));
    if (bench_small()) {
        ppo->net.pi[0] = ppo->net.pi[1] = ppo->net.vf[0] = ppo->net.vf[1] = 8;
        ppo->copies = 4;
        ppo->steps = ppo->minibatch = 16;
        ppo->total_steps = 64;
        ppo->epochs = 1;
    }
    ppo->clip_range = between(&seed, 0.1, 0.4);
    ppo->gae_lambda = between(&seed, 0.90, 0.99);
    ppo->learning_rate = 1e-4;
    ppo->precision = PPO_BF16;
    ppo->normalise_observations = ppo->normalise_rewards = true;
    ppo->device = PPO_CUDA;
    ppo->memory_cap = MEMORY;
    ppo->sharers = workers;
    ppo->seed = (uint64_t)trial;
    return 0;
}

static char left_because[2 * PPO_ERROR_MAX]; /* why the learner is not what was asked for */

static void reported(void *ctx, const char *sentence)
{
    (void)ctx;
    snprintf(left_because, sizeof left_because, "%s", sentence);
}

/* Is it on the device, with all copies? */
static int check_place(const struct learner_stack *stack, int copies)
{
    if (!stack->module)
        return bench_because("a learner is not on the device: %s", left_because);
    if (stack->learner->params.copies != copies)
        return bench_because("a learner has %d copies: %s", stack->learner->params.copies, left_because);
    return 0;
}

/* The policy on its rows, one bar after the other, on this core. */
static int test(const struct env_params *trained, const struct env_market *market, struct learner *learner,
                const struct split_rows *blocks, int n)
{
    const struct net_layout *layout = &learner->layout;
    const struct env_options one = {.copies = 1, .backend = ENV_SCALAR};
    size_t o = (size_t)layout->shape.observation, bytes = layout->n_params * sizeof(float);
    const struct ppo_snapshot snapshot = {aligned_alloc(64, (bytes + 63) / 64 * 64),
                                          bench_room(o, sizeof(float)), bench_room(o, sizeof(float))};
    struct env_params params = *trained;
    struct net_model *model = NULL;
    struct net_memory *memory = NULL;
    struct env *env = NULL;
    float *obs = bench_room(o, sizeof(float)), actions[ASSETS], reward;
    uint8_t terminated, truncated;
    const struct env_io io = {
        .actions = actions, .rewards = &reward, .terminated = &terminated, .truncated = &truncated};
    params.autoreset = ENV_NO_RESET;
    params.random_start = false;
    params.episode_bars = 0;
    int r = snapshot.params ? ppo_learner_snapshot(learner, &snapshot, err) : -ENOMEM;
    if (r == 0)
        r = policy_net_model_create(layout, snapshot.params, snapshot.mean, snapshot.scale,
                                    (float)learner->params.clip_observations, NET_BEST, &model);
    if (r == 0)
        r = policy_net_memory_create(model, &memory);
    if (r == 0)
        r = env_create(&params, market, &one, &env, err);
    for (int i = 0; i < n && r == 0; i++) {
        int64_t start = (int64_t)blocks[i].from, bars = (int64_t)(blocks[i].to - blocks[i].from);
        r = env_windows(env, &start, &bars, err);
        if (r == 0)
            env_reset(env, NULL);
        terminated = truncated = 0;
        while (r == 0 && !terminated && !truncated) {
            env_observe(env, obs);
            policy_net_model_act(model, memory, obs, actions);
            r = env_step(env, &io, err);
        }
    }
    env_destroy(env);
    policy_net_memory_destroy(memory);
    policy_net_model_destroy(model);
    free(obs);
    free(snapshot.params);
    free(snapshot.mean);
    free(snapshot.scale);
    return r < 0 ? fails("test") : 0;
}

static int learn(struct learner *learner, struct split_times *ret)
{
    struct ppo_update u = {0};
    for (int64_t steps = 0; steps < learner->params.total_steps; steps = u.steps) {
        if (ppo_learner_iterate(learner, &u, err) < 0)
            return fails("iteration");
        ret->device += u.seconds_rollout + u.seconds_advantage + u.seconds_update;
    }
    return 0;
}

static int run_split(const char *module_path, const struct study_split *split, const int *chosen,
                     const struct env_params *env, const struct ppo_params *ppo, struct split_times *ret)
{
    struct split_rows train[SPLIT_BLOCKS_MAX], tested[SPLIT_GROUPS_MAX];
    struct env_block blocks[SPLIT_BLOCKS_MAX];
    struct env_market *market = NULL, *within = NULL;
    struct learner_stack stack = {0};
    double started = bench_seconds();
    int n = split_training(split, rows(), chosen, PURGE, EMBARGO, train);
    for (int i = 0; i < n; i++)
        blocks[i] = (struct env_block){(int32_t)train[i].from, (int32_t)train[i].to};
    int r = env_market_create(&source, env, &market, err);
    if (r == 0)
        r = env_market_blocks(market, blocks, n, &within, err);
    ret->market = bench_seconds() - started;
    const struct learner_source from = {
        .env_params = env, .market = within, .module_path = module_path, .warned = reported};
    if (r == 0)
        r = ppo_learner_create_auto(ppo, &from, &stack, err);
    ret->learner = bench_seconds() - started - ret->market;
    if (r < 0)
        fails("learner");
    if (r == 0)
        r = check_place(&stack, ppo->copies);
    if (r == 0)
        r = learn(stack.learner, ret);
    ret->train = bench_seconds() - started - ret->market - ret->learner;
    if (r == 0)
        r = test(env, market, stack.learner, tested, split_blocks(split, rows(), chosen, tested));
    ppo_learner_stack_destroy(&stack);
    env_market_destroy(within);
    env_market_destroy(market);
    ret->end = bench_seconds();
    ret->test = ret->end - started - ret->market - ret->learner - ret->train;
    return r;
}

/* The first `splits` of its splits. */
static int run_trial(const char *module_path, int trial, int workers, int splits)
{
    struct study_split split;
    struct env_params env;
    struct ppo_params ppo;
    int chosen[SPLIT_GROUPS_MAX], k = 0;
    if (split_parse("cpcv:5,2", &split, err) < 0)
        return fails("split");
    int r = draw(trial, workers, &env, &ppo);
    split_begin(&split, chosen);
    do {
        if (r == 0)
            r = run_split(module_path, &split, chosen, &env, &ppo, &board->times[trial][k++]);
    } while (r == 0 && k < splits && split_next(&split, chosen));
    return r;
}

/* ---- Workers. ---- */

/* What is run: trials, by so many processes. */
struct load {
    const char *module_path;
    int workers, sample, splits; /* sample: trials; splits: of each, at most */
};

static int work(const struct load *load)
{
    struct gpu_module *module = NULL; /* keeps the context from one learner to the next, as a search does */
    double none = 0;
    int r = bench_module_open(load->module_path, &module);
    if (r == 0)
        atomic_fetch_add(&board->ready, 1);
    pthread_barrier_wait(&board->begin);
    if (atomic_load(&board->ready) < load->workers) {
        gpu_module_close(module);
        return r == 0 ? EXIT_SUCCESS : r == BENCH_SKIP ? BENCH_SKIP : EXIT_FAILURE;
    }
    for (int trial; (trial = atomic_fetch_add(&board->next, 1)) < load->sample;)
        if (run_trial(load->module_path, trial, load->workers, load->splits) < 0) {
            atomic_fetch_add(&board->failed, 1);
            break;
        }
    atomic_compare_exchange_strong(&board->closed, &none, bench_seconds());
    gpu_module_close(module);
    return atomic_load(&board->failed) > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- What the device does meanwhile. ---- */

/* Counts an ended worker; its failure is the benchmark's. */
static void take_leave(int how, int *left)
{
    --*left;
    if (!WIFEXITED(how) || WEXITSTATUS(how) == EXIT_FAILURE)
        atomic_fetch_add(&board->failed, 1);
}

/* Until the first worker finds nothing to do: the share of time in which a kernel runs; NaN: unknown. */
static double watch(const struct bench_driver *driver, int *left)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    double sum = 0, n = 0;
    int how;
    while (atomic_load(&board->closed) == 0 && *left > 0) {
        nanosleep(&pause, NULL);
        const double busy = bench_driver_busy(driver);
        if (isfinite(busy)) {
            sum += busy;
            n++;
        }
        while (*left > 0 && waitpid(-1, &how, WNOHANG) > 0)
            take_leave(how, left);
    }
    return n > 0 ? sum / n : NAN;
}

/* ---- Figures. ---- */

static const char *name_suffix = "";

static void line(const char *name, const char *what, double value, const char *unit, double goal)
{
    char whole[BENCH_CASE_MAX];
    snprintf(whole, sizeof whole, "%s%s%s", name, name_suffix, what);
    bench_line_value(bench, whole, value, unit);
    if (goal > 0)
        bench_line_number("goal", goal);
    bench_line_end();
}

static void report(const char *name, const struct load *load, double busy)
{
    const int workers = load->workers, sample = load->sample;
    struct split_times sum = {0};
    double done = 0, all = 0, window = board->closed - board->started;
    for (int t = 0; t < sample; t++)
        for (int k = 0; k < SPLITS; k++) {
            const struct split_times *s = &board->times[t][k];
            all += s->end > 0;
            done += s->end > 0 && s->end <= board->closed;
            sum.market += s->market;
            sum.learner += s->learner;
            sum.train += s->train;
            sum.device += s->device;
            sum.test += s->test;
        }
    line(name, "", TRIALS * SPLITS * window / done, "s/500 trials", workers > 1 ? GOAL_S : 0);
    line(name, "-sample", all / SPLITS, "trials", 0);
    line(name, "-workers", workers, "processes", 0);
    line(name, "-market", sum.market / all, "s/split", 0);
    line(name, "-learner", sum.learner / all, "s/split", 0);
    line(name, "-train", sum.train / all, "s/split", 0);
    line(name, "-device", sum.device / all, "s/split", 0); /* by events: of several workers shared time too */
    line(name, "-test", sum.test / all, "s/split", 0);
    line(name, "-utilisation", busy, "share", workers > 1 ? GOAL_UTILISATION : 0); /* null: no NVML here */
}

/* One that cannot be started ends them all: the others wait for it. */
static void start_workers(const struct load *load)
{
    pid_t pids[WORKERS_MAX];
    const pid_t parent = getpid();
    fflush(NULL);
    for (int i = 0; i < load->workers; i++) {
        pids[i] = fork(); /* before any process opens the device */
        if (pids[i] < 0) {
            bench_because("fork: %s", strerror(errno));
            while (i-- > 0)
                kill(pids[i], SIGKILL);
            exit(EXIT_FAILURE);
        }
        if (pids[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            _exit(getppid() == parent ? work(load) : EXIT_FAILURE);
        }
    }
}

/* Until all have ended. *ret_busy: as watch(). */
static int run_load(const struct load *load, double *ret_busy)
{
    pthread_barrierattr_t shared;
    struct bench_driver driver;
    int left = load->workers, how;
    bool skipped = false;
    board = bench_shared(sizeof *board);
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&board->begin, &shared, (unsigned)load->workers + 1);
    start_workers(load);
    pthread_barrier_wait(&board->begin);
    board->started = bench_seconds();
    const bool all = atomic_load(&board->ready) == load->workers;
    bench_driver_open(&driver);
    *ret_busy = all ? watch(&driver, &left) : NAN;
    while (left > 0 && waitpid(-1, &how, 0) > 0) {
        take_leave(how, &left);
        skipped |= WIFEXITED(how) && WEXITSTATUS(how) == BENCH_SKIP;
    }
    if (!all)
        return skipped ? BENCH_SKIP : -1;
    return atomic_load(&board->failed) > 0 || board->closed == 0 ? -1 : 0; /* the worker said why */
}

static int measure(const char *name, const struct load *load)
{
    double busy;
    const int r = run_load(load, &busy);
    if (r == 0)
        report(name, load, busy);
    return r;
}

/* From the workers' start to the end of the last split. */
static double duration(void)
{
    double end = 0;
    for (int t = 0; t < SAMPLE; t++)
        for (int k = 0; k < SPLITS; k++)
            end = fmax(end, board->times[t][k].end);
    return end - board->started;
}

/* The same trials one after the other, then at once, of a process each. */
static int measure_studies(const char *name, const char *module_path)
{
    const struct load serial = {module_path, 1, STUDIES, STUDY_SPLITS},
                      at_once = {module_path, STUDIES, STUDIES, STUDY_SPLITS};
    double busy;
    int r = run_load(&serial, &busy);
    if (r < 0 || r == BENCH_SKIP)
        return r;
    const double serial_s = duration();
    r = run_load(&at_once, &busy);
    if (r != 0)
        return r;
    const double at_once_s = duration(), splits = STUDIES * STUDY_SPLITS;
    char whole[BENCH_CASE_MAX];
    snprintf(whole, sizeof whole, "%s%s", name, name_suffix);
    bench_line_value(bench, whole, serial_s / at_once_s, "times the serial throughput");
    bench_line_number("goal", GOAL_STUDIES);
    bench_line_number("at_once", splits / at_once_s); /* splits/s */
    bench_line_number("serial", splits / serial_s);
    bench_line_number("utilisation", busy); /* of three at once */
    bench_line_end();
    return 0;
}

/* ---- Cases. ---- */

static const char *const names[] = {"study-alone", "study", "studies-3"};
enum { CASES = sizeof names / sizeof *names };

struct setup {
    const char *module_path;
    int workers;
};

static void name_of(int i, char ret[static BENCH_CASE_MAX])
{
    snprintf(ret, BENCH_CASE_MAX, "%s%s", names[i], name_suffix);
}

static int run_case(void *ctx, int i)
{
    const struct setup *setup = ctx;
    const struct load alone = {setup->module_path, 1, 1, SPLITS},
                      shared = {setup->module_path, setup->workers, bench_small() ? 2 : SAMPLE, SPLITS};
    return i == 0   ? measure(names[i], &alone)
           : i == 1 ? measure(names[i], &shared)
                    : measure_studies(names[i], setup->module_path);
}

int main(int argc, char **argv)
{
    struct setup setup = {.module_path = argc > 1 ? argv[1] : NULL,
                          .workers = argc > 3 ? atoi(argv[3]) : WORKERS};
    if (setup.workers < 1 || setup.workers > WORKERS_MAX) {
        fprintf(stderr, "gpu_study: workers: %d: 1 to %d are right\n", setup.workers, WORKERS_MAX);
        return EXIT_FAILURE;
    }
    name_suffix = argc > 4 ? argv[4] : "";
    generate();
    const struct bench_cases all = {.bench = bench,
                                    .n = CASES,
                                    .limit_s = CASE_S,
                                    .apart = true,
                                    .name = name_of,
                                    .run = run_case,
                                    .ctx = &setup};
    return bench_cases_run(&all, argc, argv);
}

/* Times PPO on the trading environment: bench/train builds and runs it.
 *
 *   train_updates train COPIES STEPS WIDTHS SECONDS [KEY=VALUE…]   iterations, as one JSON line
 *   train_updates sgemm WIDTHS ROWS SECONDS                        the rate of OpenBLAS at these networks'
 * shapes
 *
 * train: five assets over 100,000 generated bars, an observation of 36 floats, every option of the
 * reference's environment at its default, random starts, episodes of 700 bars. WIDTHS are both networks'
 * hidden layers
 * ("64,64"); keys are PPO's. The line has seconds and steps of the fastest iteration and of all, its parts,
 * and the floating-point operations of a step.
 *
 * sgemm: two threads (as many as the processor has), each with its share of ROWS rows of a minibatch and
 * OpenBLAS one-threaded, through the products of one minibatch: forward, weights' and inputs' gradients of
 * every hidden layer but the first one's input's. GFLOP/s of all threads, wall time, the fastest of the
 * repetitions. */
#include <cblas.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/generated.h"
#include "bench/measure.h"
#include "trainer/ppo/learner.h"

enum { OBSERVATION = 36, THREADS_MAX = 64, SGEMM_REPETITIONS = 5 };

static const double ROUGH_RATE = 80e9; /* of one core: how many passes fill the time */

static char err[ENV_ERROR_MAX];
_Static_assert((int)ENV_ERROR_MAX >= (int)PPO_ERROR_MAX, "one text for both");

static void need(int r, const char *what)
{
    if (r == 0)
        return;
    fprintf(stderr, "train_updates: %s: %s\n", what, err[0] ? err : strerror(-r));
    exit(EXIT_FAILURE);
}

/* ---- sgemm ---- */

struct products {
    int n_layers;
    int widths[NET_LAYERS_MAX + 1];
    int rows;
    double seconds;
    pthread_barrier_t *barrier;
    float *weights, *grads, *activations, *deltas;
    double best; /* seconds of one pass */
};

static double pass_flops(const struct products *p)
{
    double flops = 0;
    for (int l = 0; l < p->n_layers; l++)
        flops += 2.0 * p->rows * p->widths[l] * p->widths[l + 1] * (l > 0 ? 3 : 2);
    return flops;
}

static double one_pass(const struct products *p)
{
    double begin = bench_seconds();
    size_t w = 0, a = 0;
    for (int l = 0; l < p->n_layers; l++) {
        int in = p->widths[l], out = p->widths[l + 1];
        const float *x = p->activations + a, *y = x + (size_t)p->rows * (size_t)in;
        const float *delta = p->deltas + (y - p->activations);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, p->rows, out, in, 1, x, in, p->weights + w,
                    out, 0, p->activations + (y - p->activations), out);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, in, out, p->rows, 1, x, in, delta, out, 0,
                    p->grads + w, out);
        if (l > 0)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, p->rows, in, out, 1, delta, out,
                        p->weights + w, out, 0, p->deltas + a, in);
        w += (size_t)in * (size_t)out;
        a += (size_t)p->rows * (size_t)in;
    }
    return bench_seconds() - begin;
}

static void fill(float *p, size_t n, uint64_t *seed, double span)
{
    for (size_t k = 0; k < n; k++)
        p[k] = (float)(span * (bench_uniform(seed) - 0.5));
}

static void *run_products(void *data)
{
    struct products *p = data;
    size_t weights = 0, cells = 0;
    uint64_t seed = 1;
    for (int l = 0; l <= p->n_layers; l++) {
        cells += (size_t)p->rows * (size_t)p->widths[l];
        weights += l < p->n_layers ? (size_t)p->widths[l] * (size_t)p->widths[l + 1] : 0;
    }
    p->weights = bench_room(weights, sizeof(float));
    p->grads = bench_room(weights, sizeof(float));
    p->activations = bench_room(cells, sizeof(float));
    p->deltas = bench_room(cells, sizeof(float));
    fill(p->weights, weights, &seed, 0.01);
    fill(p->activations, cells, &seed, 1);
    fill(p->deltas, cells, &seed, 0.01);
    one_pass(p);
    int passes = (int)(p->seconds / SGEMM_REPETITIONS * ROUGH_RATE / pass_flops(p)) + 1;
    for (int r = 0; r < SGEMM_REPETITIONS; r++) {
        pthread_barrier_wait(p->barrier);
        double begin = bench_seconds();
        for (int k = 0; k < passes; k++)
            one_pass(p);
        pthread_barrier_wait(p->barrier);
        p->best = fmin(p->best, (bench_seconds() - begin) / passes);
    }
    free(p->weights);
    free(p->grads);
    free(p->activations);
    free(p->deltas);
    return NULL;
}

static int parse_widths(const char *text, int ret[static NET_LAYERS_MAX])
{
    int n = 0;
    for (char *end; *text && n < NET_LAYERS_MAX; text = *end == ',' ? end + 1 : end) {
        ret[n++] = (int)strtol(text, &end, 10);
        if (end == text)
            return -EINVAL;
    }
    return n;
}

static int sgemm(const char *widths, int rows, double seconds)
{
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
    struct products all[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    pthread_barrier_t barrier;
    openblas_set_num_threads(1);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (long i = 0; i < threads; i++) {
        all[i] = (struct products){
            .rows = rows / (int)threads, .seconds = seconds, .barrier = &barrier, .best = INFINITY};
        all[i].widths[0] = OBSERVATION;
        all[i].n_layers = parse_widths(widths, all[i].widths + 1);
        if (all[i].n_layers <= 0)
            return EXIT_FAILURE;
        errno = pthread_create(&ids[i], NULL, run_products, &all[i]);
        need(-errno, "thread");
    }
    double flops = 0, slowest = 0;
    for (long i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        slowest = fmax(slowest, all[i].best);
        flops += pass_flops(&all[i]);
    }
    pthread_barrier_destroy(&barrier);
    printf("%.4g\n", flops / slowest);
    return EXIT_SUCCESS;
}

/* ---- train ---- */

static void set(struct ppo_params *params, const char *key, const char *value)
{
    need(ppo_params_set(params, key, value, err), key);
}

static int train(int argc, char **argv)
{
    struct ppo_params params;
    need(ppo_params_preset("default", &params, err), "preset");
    set(&params, "copies", argv[0]);
    set(&params, "steps", argv[1]);
    set(&params, "policy_layers", argv[2]);
    set(&params, "value_layers", argv[2]);
    set(&params, "minibatch", "1024");
    set(&params, "epochs", "4");
    double seconds = atof(argv[3]);
    for (int k = 4; k < argc; k++) {
        char *is = strchr(argv[k], '=');
        if (!is)
            return 2;
        *is = 0;
        set(&params, argv[k], is + 1);
    }
    struct env_params env_params;
    need(env_params_preset("reference", &env_params, err), "environment");
    need(env_params_set(&env_params, "episode_bars", "700", err), "episode_bars");
    need(env_params_set(&env_params, "random_start", "true", err), "random_start");
    need(env_params_set(&env_params, "autoreset", "same_step", err), "autoreset");
    uint64_t seed = 1;
    struct env_market *market;
    struct env *env;
    need(generated_market(&env_params, 0, &seed, &market, err), "market");
    need(env_create(&env_params, market, &(struct env_options){.copies = (size_t)params.copies, .seed = 1},
                    &env, err),
         "environment");
    struct ppo_world world;
    need(ppo_world_trading(env, &world, err), "world");
    struct learner *learner;
    need(ppo_learner_create_cpu(&params, &world, &learner, err), "learner");

    struct ppo_update update, best = {.seconds_rollout = INFINITY};
    need(ppo_learner_iterate(learner, &update, err), "first iteration");
    double begin = bench_seconds(), end = begin, least = INFINITY;
    int iterations = 0;
    do {
        double before = end;
        need(ppo_learner_iterate(learner, &update, err), "iteration");
        end = bench_seconds();
        iterations++;
        if (end - before < least) {
            least = end - before;
            best = update;
        }
    } while (end - begin < seconds);
    double rows = (double)params.copies * params.steps;
    struct ppo_work work = ppo_work_of(&learner->layout);
    printf("{\"steps_per_s\":%.1f,\"steps_per_s_mean\":%.1f,\"iterations\":%d,\"rollout_s\":%.6f,\"advantage_"
           "s\":%.6f,"
           "\"update_s\":%.6f,\"flop_per_step\":%.0f,\"backend\":\"%s\"}\n",
           rows / least, rows * iterations / (end - begin), iterations, best.seconds_rollout,
           best.seconds_advantage, best.seconds_update, work.rollout + params.epochs * work.update,
           learner->ops->backend);
    ppo_learner_destroy(learner);
    ppo_world_destroy(&world);
    env_market_destroy(market);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "sgemm") == 0)
        return sgemm(argv[2], atoi(argv[3]), atof(argv[4]));
    if (argc >= 6 && strcmp(argv[1], "train") == 0)
        return train(argc - 2, argv + 2);
    fputs("usage: train_updates train COPIES STEPS WIDTHS SECONDS [KEY=VALUE…]\n"
          "       train_updates sgemm WIDTHS ROWS SECONDS\n",
          stderr);
    return 2;
}

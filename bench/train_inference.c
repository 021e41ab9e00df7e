/* Times a trained policy's networks, one observation a call, on one core: bench/train runs it.
 *
 *   train_inference [CALLS]      figures as JSON lines; CALLS (1000) cold calls of the reference widths
 *
 * Cold: between two calls 128 MB are read, more than any cache holds, so that every weight comes
 * from memory: [2048, 1024, 512] with 256 observations and 5 actions are 12.6 MB. Predicted: a core reads 25
 * to 40 GB/s, so 0.3 to 0.5 ms. The rate of a plain sum over 64 MB stands beside it, and the times of plain
 * sums of as many bytes between the calls: what of a tail is the memory's. 64x64 with 36 observations lies in
 * the first cache: 7,424 products and as many sums, padding included, 16 of them at a time and two a cycle:
 * 464 cycles, and some 100 for 128 tanh: 8 M calls/s at 4.5 GHz.
 *
 * Processor time is the thread's own: other load on the machine shows in the wall time's p99. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "bench/measure.h"
#include "strategy/policy/trained.h"

enum {
    SWEEP = 128 << 20,
    READ = 64 << 20,
    AHEAD = 512,
    HUGE_PAGE = 2 << 20,
    OBSERVATION = 256,
    ACTIONS = 5,
    CALLS = 1000
};

static const double SMALL_S = 0.5, LIMIT_S = 0.5e-3;

struct network {
    struct net_model *model;
    struct net_memory *memory;
    size_t learned; /* of the policy: what a call reads */
};

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct network network_of(const struct net_shape *shape, uint64_t *seed)
{
    struct net_layout *layout = bench_room(1, sizeof *layout);
    struct network net = {0};
    char err[NET_ERROR_MAX];
    if (policy_net_layout_init(layout, shape, err) < 0) {
        fprintf(stderr, "train_inference: %s\n", err);
        exit(EXIT_FAILURE);
    }
    float *params = bench_room(layout->n_params, sizeof *params),
          *mean = bench_room((size_t)shape->observation, sizeof *mean),
          *scale = bench_room((size_t)shape->observation, sizeof *scale);
    for (int i = 0; i < shape->observation; i++)
        scale[i] = 1;
    for (int t = 0; t < layout->n_tensors; t++) {
        const struct net_tensor *tensor = &layout->tensors[t];
        for (int i = 0; i < tensor->rows; i++)
            for (int k = 0; k < tensor->cols; k++)
                params[tensor->offset + (size_t)i * (size_t)tensor->stride + (size_t)k] =
                    (float)((2 * bench_uniform(seed) - 1) / sqrt(tensor->rows));
        if (tensor->part == NET_PI && tensor->kind != NET_LOG_STD)
            net.learned += (size_t)tensor->rows * (size_t)tensor->cols;
    }
    if (policy_net_model_create(layout, params, mean, scale, 10, NET_BEST, &net.model) < 0 ||
        policy_net_memory_create(net.model, &net.memory) < 0) {
        fputs("train_inference: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    free(params);
    free(mean);
    free(scale);
    free(layout);
    return net;
}

static void network_finish(struct network *net)
{
    policy_net_memory_destroy(net->memory);
    policy_net_model_destroy(net->model);
}

static void figure(const char *name, double value, const char *unit)
{
    printf("{\"bench\":\"train\",\"case\":\"inference %s\",\"value\":%.6g,\"unit\":\"%s\"}\n", name, value,
           unit);
}

static void limited(const char *name, double value, double limit)
{
    printf("{\"bench\":\"train\",\"case\":\"inference %s\",\"value\":%.6g,\"unit\":\"s\",\"limit\":%g,"
           "\"of_limit\":%.3g}\n",
           name, value, limit, value / limit);
}

static void fill(float *observation, uint64_t *seed)
{
    for (int i = 0; i < OBSERVATION; i++)
        observation[i] = (float)(2 * bench_uniform(seed) - 1);
}

/* Seconds of a plain sum of `bytes` bytes. */
static double read_seconds(const char *room, size_t bytes)
{
    const uint64_t *words = (const uint64_t *)room;
    uint64_t sums[8] = {0};
    double started = bench_seconds();
    for (size_t i = 0; i < bytes / sizeof *words / 8 * 8; i += 8) {
        __builtin_prefetch(words + i + AHEAD);
        for (size_t j = 0; j < 8; j++)
            sums[j] += words[i + j];
    }
    double took = bench_seconds() - started;
    volatile uint64_t seen = sums[0] ^ sums[1] ^ sums[2] ^ sums[3] ^ sums[4] ^ sums[5] ^ sums[6] ^ sums[7];
    (void)seen;
    return took;
}

/* One core's, cold: the fastest of some. */
static double read_rate(const char *room)
{
    double best = 0;
    for (int k = 0; k < 5; k++) {
        double rate = READ / read_seconds(room, READ);
        best = rate > best ? rate : best;
    }
    return best;
}

/* Read only: lines that had been written would have to go to memory while the weights come from there. */
static void sweep(const char *room)
{
    char sum = 0;
    for (size_t i = 0; i < SWEEP; i += 64)
        sum = (char)(sum ^ room[i]);
    volatile char seen = sum;
    (void)seen;
}

static void time_cold(const char *name, const struct net_shape *shape, int calls, char *room, uint64_t *seed)
{
    struct network net = network_of(shape, seed);
    double *times = bench_room((size_t)calls, sizeof *times), *own = bench_room((size_t)calls, sizeof *own);
    double *plain = bench_room((size_t)calls, sizeof *plain);
    float observation[OBSERVATION], actions[ACTIONS];
    char text[96];
    double rate = read_rate(room);
    for (int k = 0; k < calls; k++) {
        sweep(room);
        fill(observation, seed);
        double own_started = processor_seconds(), started = bench_seconds();
        policy_net_model_act(net.model, net.memory, observation, actions);
        times[k] = bench_seconds() - started;
        own[k] = processor_seconds() - own_started;
        /* What the sweep touched first is what the caches lost first. */
        plain[k] = read_seconds(room, net.learned * sizeof(float));
    }
    qsort(plain, (size_t)calls, sizeof *plain, bench_by_value);
    qsort(times, (size_t)calls, sizeof *times, bench_by_value);
    qsort(own, (size_t)calls, sizeof *own, bench_by_value);
    double p50 = times[calls / 2], p99 = times[calls * 99 / 100], bytes = (double)net.learned * sizeof(float);
    snprintf(text, sizeof text, "%s cold p50", name);
    limited(text, p50, LIMIT_S);
    snprintf(text, sizeof text, "%s cold p99", name);
    limited(text, p99, LIMIT_S);
    snprintf(text, sizeof text, "%s cold p99 of processor time", name);
    limited(text, own[calls * 99 / 100], LIMIT_S);
    snprintf(text, sizeof text, "%s plain sum of as many bytes, cold p50", name);
    figure(text, plain[calls / 2], "s");
    snprintf(text, sizeof text, "%s plain sum of as many bytes, cold p99", name);
    figure(text, plain[calls * 99 / 100], "s");
    snprintf(text, sizeof text, "%s cold weights", name);
    printf(
        "{\"bench\":\"train\",\"case\":\"inference %s\",\"value\":%.6g,\"unit\":\"bytes/s\",\"limit\":%.6g,"
        "\"of_limit\":%.3g}\n",
        text, bytes / p50, rate, bytes / p50 / rate);
    free(times);
    free(own);
    free(plain);
    network_finish(&net);
}

static void time_warm(const char *name, const struct net_shape *shape, uint64_t *seed)
{
    struct network net = network_of(shape, seed);
    float observation[OBSERVATION], actions[ACTIONS];
    double best = 0;
    char text[96];
    fill(observation, seed);
    for (double started = bench_seconds(); bench_seconds() - started < SMALL_S;) {
        int calls = net.learned > 100000 ? 8 : 2000;
        double from = processor_seconds();
        for (int k = 0; k < calls; k++) {
            policy_net_model_act(net.model, net.memory, observation, actions);
            observation[k % shape->observation] = actions[0]; /* each waits for the one before */
        }
        double rate = calls / (processor_seconds() - from);
        best = rate > best ? rate : best;
    }
    snprintf(text, sizeof text, "%s warm, of processor time", name);
    figure(text, best, "calls/s");
    network_finish(&net);
}

int main(int argc, char **argv)
{
    const struct net_shape reference = {.observation = OBSERVATION,
                                        .actions = ACTIONS,
                                        .n_pi = 3,
                                        .n_vf = 3,
                                        .pi = {2048, 1024, 512},
                                        .vf = {2048, 1024, 512}},
                           small = {.observation = 36,
                                    .actions = ACTIONS,
                                    .n_pi = 2,
                                    .n_vf = 2,
                                    .pi = {64, 64},
                                    .vf = {64, 64}};
    int calls = argc > 1 ? atoi(argv[1]) : CALLS;
    uint64_t seed = 1;
    char *room = aligned_alloc(HUGE_PAGE, SWEEP);
    if (!room) {
        fputs("train_inference: out of memory\n", stderr);
        return EXIT_FAILURE;
    }
    if (calls < 1) {
        fputs("train_inference: CALLS: a number of calls from 1 on is right\n", stderr);
        return 2;
    }
    madvise(room, SWEEP, MADV_HUGEPAGE); /* as the model's weights */
    memset(room, 1, SWEEP);
    time_cold("2048x1024x512", &reference, calls, room, &seed);
    time_warm("2048x1024x512", &reference, &seed);
    time_warm("64x64", &small, &seed);
    free(room);
    return EXIT_SUCCESS;
}

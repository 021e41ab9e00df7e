/* How long a decision of a policy's networks takes on the CPU and on the GPU, observation and heads in the
 * host's memory; one JSON line a figure (see bench/run for the keys), each number of models apart
 * (bench/cases.h). Without a device the CPU's figures alone, and exit 77. Before the device is timed the two
 * must have given the same bits, 200 observations each. Arguments: the module's path; the name of one case
 * (WIDTHS-N), or all.
 *
 * Cases, WIDTHS 64x64 (36 observations) and 2048x1024x512 (256), 1, 10 and 50 models in turn:
 * - cpu-WIDTHS-N-p50, -p99: seconds of a decision, weights of the others in between
 * - gpu-WIDTHS-N-p50, -p99: the same through strategy/policy/device.h: thread, copies, launches
 * - crossover: the widths from which on the GPU's p50 is below the CPU's, of N = 50, or none
 *
 * Prediction for an H100: handing over to the device's thread and back 15 us, two copies and a launch a step
 * 4 us each: 36 us of 64x64, whose sums take 4 us more. Of 2048x1024x512 a thread adds 256, 2048 and 1024
 * products in their order, 16 weights asked for at once, 0.6 us a time from the L2 or memory: 9 + 77 + 38 us,
 * and 20 of the head: 190 us. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cases.h"
#include "bench/line.h"
#include "bench/measure.h"
#include "bench/module.h"
#include "fixtures/networks.h"
#include "indicators_gpu/module.h"
#include "strategy/policy/device.h"

enum { SETTLE_MS = 10000, WARM = 100, ROUNDS = 1000, CHECKED = 200, MODELS_MAX = 50 };

static const double CASE_S = 30; /* 50 wide models are made first, 630 MB of them */
static const char *const bench = "gpu_policy";

static const struct widths {
    const char *name;
    struct net_shape shape;
} widths[] = {
    {"64x64", {.observation = 36, .actions = 5, .n_pi = 2, .pi = {64, 64}, .n_vf = 1, .vf = {1}}},
    {"2048x1024x512",
     {.observation = 256, .actions = 7, .n_pi = 3, .pi = {2048, 1024, 512}, .n_vf = 1, .vf = {1}}},
};
enum { WIDTHS = sizeof widths / sizeof *widths };
static const int ladder[] = {1, 10, 50};
enum { LADDER = sizeof ladder / sizeof *ladder };

struct crowd {
    int n;
    struct net_model *models[MODELS_MAX];
    struct net_memory *memories[MODELS_MAX];
    size_t observation, outputs;
    float *seen, *heads;
};

static void crowd_open(struct crowd *crowd, const struct net_shape *shape, int n)
{
    uint64_t random = 20261122;
    struct net_layout *layout = bench_room(1, sizeof *layout);
    *crowd = (struct crowd){.n = n, .observation = (size_t)shape->observation};
    for (int i = 0; i < n; i++) {
        crowd->models[i] = network_made(&random, shape, NET_BEST, layout);
        if (policy_net_memory_create(crowd->models[i], &crowd->memories[i]) < 0)
            exit(EXIT_FAILURE);
    }
    crowd->outputs = (size_t)layout->outputs;
    crowd->seen = bench_room(crowd->observation, sizeof(float));
    crowd->heads = bench_room(crowd->outputs, sizeof(float));
    free(layout);
}

static void crowd_close(struct crowd *crowd)
{
    for (int i = 0; i < crowd->n; i++) {
        policy_net_memory_destroy(crowd->memories[i]);
        policy_net_model_destroy(crowd->models[i]);
    }
    free(crowd->seen);
    free(crowd->heads);
}

static void see(struct crowd *crowd, uint64_t *seed)
{
    for (size_t k = 0; k < crowd->observation; k++)
        crowd->seen[k] = (float)(2 * bench_uniform(seed) - 1);
}

static void decide(struct crowd *crowd, int i)
{
    policy_net_model_heads(crowd->models[i], crowd->memories[i], crowd->seen, crowd->heads);
}

static void time_all(struct crowd *crowd, double ret[static 2])
{
    uint64_t seed = 1;
    static double times[ROUNDS];
    const int rounds = bench_small() ? 20 : ROUNDS, warm = bench_small() ? 2 : WARM;
    for (int round = -warm; round < rounds; round++) {
        const int i = (round + warm) % crowd->n;
        see(crowd, &seed);
        const double begin = bench_seconds();
        decide(crowd, i);
        if (round >= 0)
            times[round] = bench_seconds() - begin;
    }
    qsort(times, (size_t)rounds, sizeof *times, bench_by_value);
    ret[0] = times[rounds / 2];
    ret[1] = times[rounds * 99 / 100];
}

static bool same_bits(struct crowd *cpu, struct crowd *gpu)
{
    uint64_t seed_cpu = 7, seed_gpu = 7;
    for (int k = 0; k < (bench_small() ? 2 * cpu->n : CHECKED); k++) {
        see(cpu, &seed_cpu);
        decide(cpu, k % cpu->n);
        see(gpu, &seed_gpu);
        decide(gpu, k % gpu->n);
        if (memcmp(cpu->heads, gpu->heads, cpu->outputs * sizeof(float)) != 0 ||
            strncmp(policy_net_model_backend(gpu->models[k % gpu->n]), "gpu", 3) != 0)
            return false;
    }
    return true;
}

static void print(const char *where, const char *name, const double times[static 2], const double *peer)
{
    static const char *const what[] = {"p50", "p99"};
    for (int k = 0; k < 2; k++) {
        char whole[BENCH_CASE_MAX + 20];
        snprintf(whole, sizeof whole, "%s-%s-%s", where, name, what[k]);
        bench_line_value(bench, whole, times[k], "s");
        if (peer)
            bench_line_peer("CPU, one core", peer[k], peer[k] / times[k]);
        bench_line_end();
    }
}

/* ---- cases ---- */

/* What is known of most models: shared with the parent, who looks for the crossover. */
enum known { NOTHING, SLOWER, FASTER };
struct results {
    enum known known[WIDTHS];
    bool no_device;
};

struct place {
    const char *path;
    struct net_device *device; /* NULL: the CPU alone */
    struct results *results;
};

static const struct widths *widths_of(int i)
{
    return &widths[i / LADDER];
}

static int models_of(int i)
{
    return bench_small() ? 1 + i % LADDER : ladder[i % LADDER];
}

static void name_of(int i, char ret[static BENCH_CASE_MAX])
{
    snprintf(ret, BENCH_CASE_MAX, "%s-%d", widths_of(i)->name, models_of(i));
}

static int open_place(void *ctx)
{
    struct place *p = ctx;
    char err[NET_DEVICE_ERROR_MAX] = "";
    struct gpu_module *module;
    int r = bench_module_open(p->path, &module); /* of the two alone it says why there is none */
    p->results->no_device = r == BENCH_SKIP;
    if (r != 0)
        return r == BENCH_SKIP ? 0 : -1;
    gpu_module_close(module);
    if (policy_net_device_open(p->path, &p->device, err) < 0)
        return bench_because("%s", err);
    if (policy_net_device_settle(p->device, SETTLE_MS))
        return 0;
    policy_net_device_is_lost(p->device, err);
    return bench_because("%s", err);
}

static void close_place(void *ctx)
{
    struct place *p = ctx;
    policy_net_device_close(p->device);
}

static int run_on_device(struct net_device *device, struct crowd *cpu, struct crowd *gpu,
                         double ret[static 2])
{
    char err[NET_DEVICE_ERROR_MAX] = "";
    int r = 0;
    for (int i = 0; i < gpu->n && r == 0; i++)
        r = policy_net_model_on_device(gpu->models[i], device, err);
    if (r < 0 || !policy_net_device_settle(device, SETTLE_MS) || !same_bits(cpu, gpu)) {
        policy_net_device_is_lost(device, err);
        return bench_because("%s", err[0] ? err : "other bits than the CPU's");
    }
    time_all(gpu, ret);
    return policy_net_device_is_lost(device, err) ? bench_because("%s", err) : 0;
}

static int run_case(void *ctx, int i)
{
    struct place *p = ctx;
    const struct widths *w = widths_of(i);
    const int n = models_of(i);
    struct crowd cpu, gpu;
    char name[BENCH_CASE_MAX];
    double times[2][2];
    int r = 0;
    name_of(i, name);
    crowd_open(&cpu, &w->shape, n);
    time_all(&cpu, times[0]);
    print("cpu", name, times[0], NULL);
    if (p->device) {
        crowd_open(&gpu, &w->shape, n);
        r = run_on_device(p->device, &cpu, &gpu, times[1]);
        if (r == 0)
            print("gpu", name, times[1], times[0]);
        if (r == 0 && i % LADDER == LADDER - 1)
            p->results->known[i / LADDER] = times[1][0] < times[0][0] ? FASTER : SLOWER;
        crowd_close(&gpu);
    }
    crowd_close(&cpu);
    return r;
}

/* The narrowest widths from which on the GPU was faster. No line where one is missing. */
static void print_crossover(const struct results *results)
{
    const char *crossover = NULL;
    for (int w = 0; w < WIDTHS; w++) {
        if (results->known[w] == NOTHING)
            return;
        crossover = results->known[w] == SLOWER ? NULL : crossover ? crossover : widths[w].name;
    }
    bench_line_begin(bench, "crossover");
    bench_line_text("value", crossover ? crossover : "none");
    bench_line_text("unit", "widths");
    bench_line_end();
}

int main(int argc, char **argv)
{
    struct place place = {.path = argc > 1 ? argv[1] : NULL, .results = bench_shared(sizeof *place.results)};
    const struct bench_cases all = {bench,      WIDTHS * LADDER, CASE_S,      false, name_of,
                                    open_place, run_case,        close_place, &place};
    const int status = bench_cases_run(&all, argc, argv);
    print_crossover(place.results);
    return status == EXIT_SUCCESS && place.results->no_device ? BENCH_SKIP : status;
}

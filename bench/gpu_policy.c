/* How long a decision of a policy's networks takes on the CPU and on the GPU, observation and heads in the
 * host's memory; one JSON line a figure (see bench/run for the keys). Without a device the CPU's figures
 * alone, and exit 77. Before anything is timed the two must have given the same bits, 200 observations each.
 *
 * Cases, WIDTHS 64x64 (36 observations) and 2048x1024x512 (256), 1, 10 and 50 models in turn:
 * - cpu-WIDTHS-N-p50, -p99: seconds of a decision, weights of the others in between
 * - gpu-WIDTHS-N-p50, -p99: the same through strategy/policy/device.h: thread, copies, launches
 * - crossover: the widths from which on the GPU's p50 is below the CPU's, of N = 50; null: none
 *
 * Prediction for an H100: handing over to the device's thread and back 15 us, two copies and a launch a step
 * 4 us each: 36 us of 64x64, whose sums take 4 us more. Of 2048x1024x512 a thread adds 256, 2048 and 1024
 * products in their order, 16 weights asked for at once, 0.6 us a time from the L2 or memory: 9 + 77 + 38 us,
 * and 20 of the head: 190 us. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "fixtures/networks.h"
#include "strategy/policy/device.h"

enum { EXIT_SKIP = 77, SETTLE_MS = 30000, WARM = 100, ROUNDS = 1000, CHECKED = 200, MODELS_MAX = 50 };

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

static void decide(struct crowd *crowd, int i, uint64_t *seed)
{
    for (size_t k = 0; k < crowd->observation; k++)
        crowd->seen[k] = (float)(2 * bench_uniform(seed) - 1);
    policy_net_model_heads(crowd->models[i], crowd->memories[i], crowd->seen, crowd->heads);
}

static void time_all(struct crowd *crowd, double ret[static 2])
{
    uint64_t seed = 1;
    static double times[ROUNDS];
    for (int round = -WARM; round < ROUNDS; round++) {
        const int i = (round + WARM) % crowd->n;
        for (size_t k = 0; k < crowd->observation; k++)
            crowd->seen[k] = (float)(2 * bench_uniform(&seed) - 1);
        const double begin = bench_seconds();
        policy_net_model_heads(crowd->models[i], crowd->memories[i], crowd->seen, crowd->heads);
        if (round >= 0)
            times[round] = bench_seconds() - begin;
    }
    qsort(times, ROUNDS, sizeof *times, bench_by_value);
    ret[0] = times[ROUNDS / 2];
    ret[1] = times[ROUNDS * 99 / 100];
}

static bool same_bits(struct crowd *cpu, struct crowd *gpu)
{
    uint64_t seed_cpu = 7, seed_gpu = 7;
    for (int k = 0; k < CHECKED; k++) {
        decide(cpu, k % cpu->n, &seed_cpu);
        decide(gpu, k % gpu->n, &seed_gpu);
        if (memcmp(cpu->heads, gpu->heads, cpu->outputs * sizeof(float)) != 0 ||
            strncmp(policy_net_model_backend(gpu->models[k % gpu->n]), "gpu", 3) != 0)
            return false;
    }
    return true;
}

static void print(const char *where, const char *name, int n, const double times[static 2],
                  const double *peer)
{
    static const char *const what[] = {"p50", "p99"};
    for (int k = 0; k < 2; k++) {
        printf("{\"bench\":\"gpu_policy\",\"case\":\"%s-%s-%d-%s\",\"value\":%.6g,\"unit\":\"s\"", where,
               name, n, what[k], times[k]);
        if (peer)
            printf(",\"peer\":\"CPU, one core\",\"peer_value\":%.6g,\"ratio\":%.4g", peer[k],
                   peer[k] / times[k]);
        printf("}\n");
    }
    fflush(stdout);
}

/* 0, or -1: other bits, or the device was left. */
static int run(struct net_device *device, const struct widths *w, int n, bool *ret_faster)
{
    struct crowd cpu, gpu;
    char err[NET_DEVICE_ERROR_MAX] = "";
    double times[2][2];
    crowd_open(&cpu, &w->shape, n);
    time_all(&cpu, times[0]);
    print("cpu", w->name, n, times[0], NULL);
    int r = 0;
    if (device) {
        crowd_open(&gpu, &w->shape, n);
        for (int i = 0; i < n && r == 0; i++)
            r = policy_net_model_on_device(gpu.models[i], device, err);
        if (r < 0 || !policy_net_device_settle(device, SETTLE_MS) || !same_bits(&cpu, &gpu)) {
            policy_net_device_is_lost(device, err);
            fprintf(stderr, "gpu_policy: %s of %d models: %s\n", w->name, n, err[0] ? err : "other bits");
            r = -1;
        } else {
            time_all(&gpu, times[1]);
            print("gpu", w->name, n, times[1], times[0]);
            *ret_faster = times[1][0] < times[0][0];
            r = policy_net_device_is_lost(device, err) ? -1 : 0;
        }
        crowd_close(&gpu);
    }
    crowd_close(&cpu);
    return r;
}

int main(int argc, char **argv)
{
    struct net_device *device = NULL;
    char err[NET_DEVICE_ERROR_MAX] = "";
    const char *crossover = NULL;
    int r = policy_net_device_open(argc > 1 ? argv[1] : NULL, &device, err);
    if (r < 0 || !policy_net_device_settle(device, SETTLE_MS)) {
        if (r == 0)
            policy_net_device_is_lost(device, err);
        fprintf(stderr, "gpu_policy: the CPU alone: %s\n", err);
        policy_net_device_close(device);
        device = NULL;
        r = 0;
    }
    for (int w = 0; w < WIDTHS && r == 0; w++)
        for (int i = 0; i < LADDER && r == 0; i++) {
            bool faster = false;
            r = run(device, &widths[w], ladder[i], &faster);
            if (i == LADDER - 1)
                crossover = !faster ? NULL : crossover ? crossover : widths[w].name;
        }
    if (device && r == 0)
        printf("{\"bench\":\"gpu_policy\",\"case\":\"crossover\",\"value\":%s%s%s,\"unit\":\"widths\"}\n",
               crossover ? "\"" : "", crossover ? crossover : "null", crossover ? "\"" : "");
    const bool skipped = !device;
    policy_net_device_close(device);
    return r < 0 ? EXIT_FAILURE : skipped ? EXIT_SKIP : EXIT_SUCCESS;
}

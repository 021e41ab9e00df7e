/* A case of bench/gpu_train.c, what it is run on, and its lines (bench/line.h). */
#ifndef BENCH_GPU_TRAIN_H
#define BENCH_GPU_TRAIN_H

#include "bench/cases.h"
#include "bench/driver.h"
#include "trainer/ppo/device.h"

enum { ITERATIONS_MAX = 64 };

struct queue_record;

struct bench_case {
    const char *name, *preset; /* preset NULL: default */
    int n_widths, widths[3];
    enum net_activation activation;
    int lookback, features;               /* features 0: closes and volumes, ten */
    int copies, steps, minibatch, epochs; /* 0: the preset's */
    int iterations;
    double goal_steps, goal_of_limit, goal_of_plain; /* 0: none; of_plain: of PLAIN_RATE, of updates */
};

/* Bytes in use on the device, of all processes; NaN: unknown. */
struct use {
    double before, module, environment, learner, first, second, total;
    double held; /* by NVML, since `before`: both count what the driver reserves */
};

/* A market, an environment, both on the device, and the learner. */
struct place {
    struct gpu_module *module;
    struct bench_driver driver;
    struct use use;
    struct env_params env_params;
    struct ppo_params params;
    struct env_market *market;
    struct env *env;
    struct env_device_market *on_device;
    struct learner *learner;
};

struct trained {
    double seconds[ITERATIONS_MAX], busy[ITERATIONS_MAX], rollout, advantage, update;
    uint64_t waits; /* the most in one iteration */
};

/* Sorts them. */
double gpu_train_middle_of(double *values, int n);
/* "NAME-SUFFIX" */
void gpu_train_suffixed(const char *name, const char *suffix, char ret[static BENCH_CASE_MAX]);

/* A line each, of the case's name or with a suffix. A goal of 0: none. `matrix`: FLOP/s measured here; NaN:
 * unknown. */
void gpu_train_print_figure(const char *name, const char *suffix, double value, const char *unit,
                            double goal);
void gpu_train_print_rate(const struct bench_case *c, const struct place *p, struct trained *t,
                          double matrix);
void gpu_train_print_update(const struct bench_case *c, const struct place *p, const struct trained *t,
                            double matrix);
void gpu_train_print_memory(const struct bench_case *c, const struct place *p);
/* One that took so many seconds alone; NaN: it never ran. */
void gpu_train_print_product(const char *name, const struct queue_record *r, double seconds);

#endif

/* The GPU module with the CPU for a device: the same kernels' source, the same plans and launches, in loops;
 * loaded like the real one. Memory is poisoned with NaN before it is used, guard cells behind every row must
 * keep their value (else it aborts), and a limit is a device's memory.
 *
 * $BLOCKS_REVERSED=1 runs threads, and blocks where they may, last to first. */
#ifndef TESTS_INDICATORS_GPU_CPU_DEVICE_H
#define TESTS_INDICATORS_GPU_CPU_DEVICE_H

#include "indicators_gpu/cuda/abi.h"

struct gpu_indicators {
    size_t held, limit;
    enum indicator_precision precision;
    size_t n_series, n_bars, stride, n_columns;
    void *columns[INDICATOR_COLUMNS];
    size_t column_bytes[INDICATOR_COLUMNS], out_bytes;
    void *out;
    uint64_t *said; /* the sum of what a learner's graph does, while it does it; else NULL */
};

/* Into that sum: an argument that a graph would keep. */
static inline void cpu_say(struct gpu_indicators *g, uint64_t what)
{
    if (g->said)
        *g->said = (*g->said ^ what) * 0x100000001b3u + 1;
}

/* What the device has done since the module was loaded: for tests, which find it by its name. */
struct cpu_counts {
    uint64_t kernels, steps, products; /* that ran; steps: the environment's */
    uint64_t skipped;                  /* graphs that were left out */
};
extern struct cpu_counts cpu_counts;
/* A graph is being recorded: kernels, steps and products do nothing. */
extern bool cpu_recording;

/* Poisoned; NULL above the limit. */
void *cpu_allocate(struct gpu_indicators *g, size_t bytes);
void cpu_release(struct gpu_indicators *g, void *p, size_t bytes); /* NULL is fine */
int cpu_none_left(char *reason, size_t cap);                       /* -ENOMEM */
bool cpu_reversed(void);

#endif

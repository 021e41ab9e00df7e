/* The GPU module with the CPU for a device: the same kernels' source, the same plans and launches, in loops;
 * one shared object with all four interfaces (indicators, environment, learner, policies), loaded like the
 * real one: PAPERTAPE_GPU_MODULE=build/tests/indicators_gpu/libgpu-on-cpu.so. Memory is poisoned with NaN
 * before it is used, guard cells behind every row must keep their value (else it aborts), and a limit is a
 * device's memory.
 *
 * What it is like is in the environment. $CPU_DEVICE: words with blanks between them, each once; anything
 * else refuses to open. Sizes are bytes, or end in KiB, MiB or GiB; N counts from 1, in each process.
 *
 *   memory=FILE        the device's memory is that of all processes with this file, which the first one
 *                      makes; what a process held is free when it has ended. Without it each process has a
 *                      device of its own, each handle its own memory, and no context
 *   total=SIZE         its bytes, by the file's first process; 16 GiB
 *   context=SIZE       what the driver takes of it for a process, when it opens the device; 256 MiB
 *   code=SIZE          and when its first learner records a graph; 1 MiB
 *   launch_us=N        microseconds of each launch
 *   sync_us=N          and of each wait for the device
 *   fail_allocation=N  the Nth allocation finds no memory; the device works on
 *   fail_launch=N      the Nth launch fails, and the device is lost
 *   fail_capture=N     the Nth recording of a graph fails (tests/trainer/ppo/cpu_queue.c)
 *   lose=N             the device is lost in the Nth wait
 *
 * $BLOCKS_REVERSED=1 runs threads, and blocks where they may, last to first. $QUEUE_PLAIN=1: products have no
 * epilogue but the bias. $QUEUE_MEMORY: `total`, without a file. $POLICY_FAILS=1, $POLICY_HANGS=FIFO: a
 * policy's forward pass fails, or does not come back before somebody writes there. */
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

/* Poisoned; NULL above the limit, and where the device has no room. */
void *cpu_allocate(struct gpu_indicators *g, size_t bytes);
void cpu_release(struct gpu_indicators *g, void *p, size_t bytes); /* NULL is fine */
int cpu_none_left(char *reason, size_t cap);                       /* -ENOMEM */
bool cpu_reversed(void);

/* ---- $CPU_DEVICE: cpu_setup.c ---- */

enum cpu_fault { CPU_FAIL_ALLOCATION, CPU_FAIL_LAUNCH, CPU_FAIL_CAPTURE, CPU_LOSE, CPU_FAULTS };

struct cpu_setup {
    char memory[512]; /* "": none */
    size_t total, context, code;
    uint64_t launch_us, sync_us;
    uint64_t faults[CPU_FAULTS]; /* the N of each; 0: never */
};

/* Reads it, whenever a handle is opened. 0 or -EINVAL. */
int cpu_setup_read(char *reason, size_t cap);
const struct cpu_setup *cpu_setup(void);

/* Counts an event of this kind: true: it is the one that fails. */
bool cpu_fails(enum cpu_fault kind);

void cpu_launch(void); /* in every launch: its latency; may lose the device */
/* In every call that waits: its latency. 0, or -EIO with a sentence once the device is lost. */
int cpu_wait(char *reason, size_t cap);
int cpu_alive(char *reason, size_t cap); /* the same without waiting */
void cpu_lose(void);
void cpu_reset(void); /* the device works again, as after its context was destroyed */

/* ---- The memory of `memory`: cpu_memory.c. Without it these do nothing, and there is room. ---- */

bool cpu_memory_is_shared(void);
/* The file's own name for share.h; "" without. */
int cpu_memory_identify(char ret[GPU_DEVICE_ID_MAX]);
/* A handle is opened (the first takes the context: -ENOMEM), closed (the last gives everything back). */
int cpu_memory_open(char *reason, size_t cap);
void cpu_memory_close(void);
bool cpu_memory_take(size_t bytes);
void cpu_memory_give(size_t bytes);
bool cpu_memory_take_code(void); /* once a process */
struct cpu_memory_figures {
    size_t total, free, held, context, driver; /* as struct queue_memory */
};
void cpu_memory_count(struct cpu_memory_figures *ret);

#endif

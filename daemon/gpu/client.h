/* A client of a device, as one file of /proc/PID/fdinfo describes it. */
#ifndef DAEMON_GPU_CLIENT_H
#define DAEMON_GPU_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

enum { GPU_ENGINES_MAX = 12, GPU_ENGINE_NAME_MAX = 24, GPU_CLIENT_SLOT_MAX = 32 };

struct gpu_engine {
    char name[GPU_ENGINE_NAME_MAX]; /* "gfx", "render", "compute", … */
    double worked;                  /* ns, or cycles of `total` where the driver counts those */
    double total;                   /* cycles that passed; 0: the time is the wall's */
    double capacity;                /* how many there are of this kind; 0: one */
    bool known;                     /* worked was there */
};

/* What was asked for, what is resident, in three words of drivers: the last that one has counts. */
enum gpu_memory_word { GPU_MEMORY_TOTAL, GPU_MEMORY_OLD, GPU_MEMORY_RESIDENT, GPU_MEMORY_WORDS };

struct gpu_client {
    char slot[GPU_CLIENT_SLOT_MAX]; /* drm-pdev */
    uint64_t id;                    /* drm-client-id */
    bool has_id;
    struct gpu_engine engines[GPU_ENGINES_MAX];
    int n_engines;
    double memory[GPU_MEMORY_WORDS]; /* bytes of the device's own; NaN: not said */
};

/* false: it describes no client of a device. Lines that are malformed are left out. */
bool daemon_gpu_client_parse(const char *text, struct gpu_client *ret);

double daemon_gpu_client_memory(const struct gpu_client *client); /* bytes; NaN: not said */

#endif

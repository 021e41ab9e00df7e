/* What `papertape gpu` prints: what it has read, and its three forms. */
#ifndef CLI_GPU_H
#define CLI_GPU_H

#include "cli/selected.h"
#include "db/device_span.h"

struct gpu_asked {
    struct db_selection selection;
    int64_t from_ns, to_ns; /* of samples, both included, as queries take them */
    const char *statistic;  /* of periods: NULL is mean */
    bool processes;         /* samples of processes, not of devices */
};

/* A device, or a process of ours, with its last sample and its span's. */
struct gpu_sampled {
    const char *key, *name, *driver, *profile, *reason; /* of a process: its role, and none */
    int64_t pid, first_ns, last_ns;
    bool processes_known;
    double last[DB_SPAN_FIGURES];
    struct db_span span;
};

struct gpu_read {
    struct gpu_sampled *devices, *processes;
    struct db_device_process *holders;
    struct db_device_phase *phases;
    size_t n_devices, n_processes, n_holders, n_phases;
    char reason[256]; /* why the daemon has no samples; "" */
    char **texts;     /* all that the rows point to */
    size_t n_texts;
    bool no_memory;
};

/* Which devices and processes there are, without a figure; all of it. Owned. 0, or -errno of the reader. */
int cli_gpu_read_sampled(struct db_reader *reader, struct gpu_read *ret);
int cli_gpu_read(struct db_reader *reader, const struct gpu_asked *asked, struct gpu_read *ret);
void cli_gpu_finish(struct gpu_read *read);

/* Tables for people; an object, NULL without memory. */
void cli_gpu_print(const struct gpu_read *read, int64_t now_ns);
json_t *cli_gpu_object(const struct gpu_read *read, int64_t now_ns);

/* The names of figures, in the order of the structs. */
extern const char *const cli_gpu_device_figures[DB_DEVICE_FIGURES];
extern const char *const cli_gpu_process_figures[DB_PROCESS_FIGURES];

#endif

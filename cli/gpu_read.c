/* Reads what `papertape gpu` prints. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/gpu.h"

#define NAME(name) #name,
const char *const cli_gpu_device_figures[DB_DEVICE_FIGURES] = {RECORD_DEVICE_FIGURES(NAME)};
const char *const cli_gpu_process_figures[DB_PROCESS_FIGURES] = {RECORD_PROCESS_FIGURES(NAME)};
#undef NAME

/* Room for one more at the end, of zeros; NULL, noted, without memory. */
static void *append(struct gpu_read *read, void *rows, size_t *n, size_t size)
{
    char *moved = read->no_memory ? NULL : realloc(*(void **)rows, (*n + 1) * size);
    if (!moved) {
        read->no_memory = true;
        return NULL;
    }
    memcpy(rows, &moved, sizeof moved);
    return memset(moved + (*n)++ * size, 0, size);
}

static const char *copy(struct gpu_read *read, const char *text)
{
    char **copied = append(read, &read->texts, &read->n_texts, sizeof *copied);
    if (copied)
        read->no_memory |= !(*copied = strdup(text));
    return copied ? *copied : NULL;
}

static void forget_figures(struct gpu_sampled *sampled)
{
    for (int i = 0; i < DB_SPAN_FIGURES; i++)
        sampled->last[i] = NAN;
}

static void on_device(void *ctx, const struct db_device *row)
{
    struct gpu_read *read = ctx;
    struct gpu_sampled *device = append(read, &read->devices, &read->n_devices, sizeof *device);
    if (!device)
        return;
    *device = (struct gpu_sampled){.key = copy(read, row->device),
                                   .name = copy(read, row->name),
                                   .driver = copy(read, row->driver),
                                   .profile = copy(read, row->profile),
                                   .reason = copy(read, row->reason),
                                   .first_ns = row->first_ns,
                                   .last_ns = row->last_ns,
                                   .processes_known = row->processes_known};
    forget_figures(device);
}

static void on_process(void *ctx, const struct db_process *row)
{
    struct gpu_read *read = ctx;
    struct gpu_sampled *process = append(read, &read->processes, &read->n_processes, sizeof *process);
    if (!process)
        return;
    *process = (struct gpu_sampled){
        .key = copy(read, row->role), .pid = row->pid, .first_ns = row->first_ns, .last_ns = row->last_ns};
    forget_figures(process);
}

static void on_holder(void *ctx, const struct db_device_process *row)
{
    struct gpu_read *read = ctx;
    struct db_device_process *holder = append(read, &read->holders, &read->n_holders, sizeof *holder);
    if (!holder)
        return;
    *holder = *row;
    holder->device = copy(read, row->device);
    holder->name = copy(read, row->name);
    holder->role = copy(read, row->role);
}

static void on_phase(void *ctx, const struct db_device_phase *row)
{
    struct gpu_read *read = ctx;
    struct db_device_phase *phase = append(read, &read->phases, &read->n_phases, sizeof *phase);
    if (!phase)
        return;
    *phase = *row;
    phase->training = copy(read, row->training);
    phase->device = copy(read, row->device);
    phase->state = copy(read, row->state);
}

/* ---- spans ---- */

static void span_device(void *ctx, const struct db_device_sample *row)
{
    struct gpu_sampled *device = ctx;
    db_span_add(&device->span, row->statistic, row->n, (const double *)&row->figures, DB_DEVICE_FIGURES);
}

static void last_device(void *ctx, const struct db_device_sample *row)
{
    memcpy(((struct gpu_sampled *)ctx)->last, &row->figures, sizeof row->figures);
}

static void span_process(void *ctx, const struct db_process_sample *row)
{
    struct gpu_sampled *process = ctx;
    db_span_add(&process->span, row->statistic, row->n, (const double *)&row->figures, DB_PROCESS_FIGURES);
}

static void last_process(void *ctx, const struct db_process_sample *row)
{
    memcpy(((struct gpu_sampled *)ctx)->last, &row->figures, sizeof row->figures);
}

static int read_spans(struct db_reader *reader, const struct gpu_asked *asked, struct gpu_read *read)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < read->n_devices + read->n_processes; i++) {
        bool device = i < read->n_devices;
        struct gpu_sampled *of = device ? &read->devices[i] : &read->processes[i - read->n_devices];
        const struct db_samples_wanted span = {of->key,   asked->from_ns, asked->to_ns,
                                               INT64_MIN, INT64_MIN,      true};
        const struct db_samples_wanted last = {of->key,   of->last_ns, of->last_ns,
                                               INT64_MIN, INT64_MIN,   false};
        r = device ? db_reader_device_samples(reader, &span, span_device, of)
                   : db_reader_process_samples(reader, &span, span_process, of);
        if (r == 0)
            r = device ? db_reader_device_samples(reader, &last, last_device, of)
                       : db_reader_process_samples(reader, &last, last_process, of);
    }
    return r;
}

int cli_gpu_read_sampled(struct db_reader *reader, struct gpu_read *ret)
{
    *ret = (struct gpu_read){0};
    int r = db_reader_devices(reader, on_device, ret);
    if (r == 0)
        r = db_reader_processes(reader, on_process, ret);
    return r == 0 && ret->no_memory ? -ENOMEM : r;
}

int cli_gpu_read(struct db_reader *reader, const struct gpu_asked *asked, struct gpu_read *ret)
{
    int r = cli_gpu_read_sampled(reader, ret);
    if (r < 0)
        return r;
    r = db_reader_meta(reader, DB_GPU_REASON_KEY, ret->reason, sizeof ret->reason);
    if (r < 0 && r != -ENOENT && r != -ENOSPC)
        return r;
    if ((r = db_reader_device_processes(reader, asked->from_ns, asked->to_ns, on_holder, ret)) == 0 &&
        (r = db_reader_device_phases(reader, asked->from_ns, asked->to_ns, on_phase, ret)) == 0 &&
        !ret->no_memory)
        r = read_spans(reader, asked, ret);
    return r == 0 && ret->no_memory ? -ENOMEM : r;
}

void cli_gpu_finish(struct gpu_read *read)
{
    for (size_t i = 0; i < read->n_texts; i++)
        free(read->texts[i]);
    free(read->texts);
    free(read->devices);
    free(read->processes);
    free(read->holders);
    free(read->phases);
    *read = (struct gpu_read){0};
}

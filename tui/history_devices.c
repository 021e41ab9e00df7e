/* Reads devices and processes: the newest samples at each call, the day before them once a minute. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "tui/history_reader.h"
#include "tui/history_samples.h"

#define COPY(field, text) cli_text_clean(field, sizeof(field), text)

#define SECOND_NS         INT64_C(1000000000)
#define MINUTE_NS         (60 * SECOND_NS)
#define DAY_NS            (24 * 60 * MINUTE_NS)
#define USES_NS           (HISTORY_USES_S * SECOND_NS)

/* ---- devices and processes that there are ---- */

static void on_time(void *ctx, const struct db_device *row)
{
    int64_t *newest_ns = ctx;

    *newest_ns = row->last_ns > *newest_ns ? row->last_ns : *newest_ns;
}

static void on_device(void *ctx, const struct db_device *row)
{
    struct history_devices *h = ctx;

    if (h->n == HISTORY_DEVICES_MAX || row->last_ns < h->newest_ns - DAY_NS)
        return;
    struct history_device *d = &h->devices[h->n++];
    if (strcmp(d->key, row->device) != 0) { /* another than in the last reading */
        *d = (struct history_device){0};
        tui_history_unknown((double *)&d->last, DB_DEVICE_FIGURES);
        h->uses_minute = 0; /* whose devices had other places */
    }
    COPY(d->key, row->device);
    COPY(d->name, row->name);
    COPY(d->driver, row->driver);
    COPY(d->profile, row->profile);
    COPY(d->reason, row->reason);
    d->processes_known = row->processes_known;
    d->last_ns = row->last_ns;
}

struct processes {
    struct history_process rows[4 * HISTORY_PROCESSES_MAX];
    int n;
};

static void on_process(void *ctx, const struct db_process *row)
{
    struct processes *all = ctx;

    if (all->n == 4 * HISTORY_PROCESSES_MAX)
        return;
    struct history_process *p = &all->rows[all->n++];
    *p = (struct history_process){.pid = row->pid, .last_ns = row->last_ns};
    tui_history_unknown((double *)&p->last, DB_PROCESS_FIGURES);
    tui_history_unknown(p->day, HISTORY_DAY_PARTS);
    tui_history_unknown(p->memory_day, HISTORY_DAY_PARTS);
    COPY(p->role, row->role);
}

static void take_process(struct history_devices *h, const struct history_process *row,
                         const struct history_process *before, int n_before)
{
    if (h->n_processes == HISTORY_PROCESSES_MAX)
        return;
    struct history_process *p = &h->processes[h->n_processes++];
    *p = *row;
    for (int i = 0; i < n_before; i++) /* the day of the last reading */
        if (strcmp(before[i].role, p->role) == 0) {
            p->span = before[i].span;
            memcpy(p->day, before[i].day, sizeof(p->day));
            memcpy(p->memory_day, before[i].memory_day, sizeof(p->memory_day));
            p->day_ns = before[i].day_ns;
            p->day_minute = before[i].day_minute;
        }
}

/* Those that are there, by name, then those of the day. */
static void take_processes(struct history_devices *h, const struct processes *all)
{
    struct history_process before[HISTORY_PROCESSES_MAX];
    int n = h->n_processes;
    int64_t newest_ns = 0;

    memcpy(before, h->processes, sizeof(before));
    for (int i = 0; i < all->n; i++)
        newest_ns = all->rows[i].last_ns > newest_ns ? all->rows[i].last_ns : newest_ns;
    h->n_processes = 0;
    for (int i = 0; i < all->n; i++)
        if (all->rows[i].last_ns >= newest_ns - MINUTE_NS)
            take_process(h, &all->rows[i], before, n);
    for (int i = 0; i < all->n; i++)
        if (all->rows[i].last_ns < newest_ns - MINUTE_NS && all->rows[i].last_ns >= newest_ns - DAY_NS)
            take_process(h, &all->rows[i], before, n);
}

/* ---- their samples ---- */

/* n where it is not there, or not of this day. */
static int find_device(const struct history_devices *h, const char *key)
{
    int device = 0;

    while (device < h->n && strcmp(h->devices[device].key, key) != 0)
        device++;
    return device;
}

static void on_use(void *ctx, const struct db_device_phase *row)
{
    struct history_devices *h = ctx;

    int device = find_device(h, row->device);

    if (device == h->n || h->n_uses == HISTORY_USES_MAX)
        return;
    struct history_use *use = &h->uses[h->n_uses++];
    *use = (struct history_use){.device = device,
                                .n = row->n,
                                .util_percent = row->util_percent,
                                .util_percent_max = row->util_percent_max};
    COPY(use->training, row->training);
    COPY(use->state, row->state);
}

/* Is the day to be read: never was, or of an earlier minute and the one for this call? */
static bool due(int64_t *read_minute, int64_t last_ns, int *budget)
{
    int64_t minute = last_ns / MINUTE_NS;

    if (*read_minute == minute || (*read_minute > 0 && *budget == 0))
        return false;
    *budget -= *read_minute > 0;
    *read_minute = minute;
    return true;
}

/* Once a minute each, one a call, so that no call takes long. */
static int read_days(struct db_reader *db, struct history_devices *h)
{
    int r = 0, budget = 1;

    for (int i = 0; r == 0 && i < h->n; i++)
        if (due(&h->devices[i].day_minute, h->devices[i].last_ns, &budget))
            r = tui_history_day(db, &h->devices[i]);
    for (int i = 0; r == 0 && i < h->n_processes; i++)
        if (due(&h->processes[i].day_minute, h->processes[i].last_ns, &budget))
            r = tui_history_day_of_process(db, &h->processes[i]);
    if (r < 0 || !due(&h->uses_minute, h->newest_ns, &budget))
        return r;
    h->n_uses = 0;
    return db_reader_device_phases(db, h->newest_ns - USES_NS, INT64_MAX, on_use, h);
}

/* ---- all of it ---- */

static void on_holder(void *ctx, const struct db_device_process *row)
{
    struct history_devices *h = ctx;
    int device = find_device(h, row->device);

    if (device == h->n || h->n_holders == HISTORY_HOLDERS_MAX)
        return;
    struct history_holder *holder = &h->holders[h->n_holders++];
    *holder = (struct history_holder){.device = device,
                                      .now = row->ts_ns == h->devices[device].last_ns,
                                      .pid = row->pid,
                                      .first_ns = row->first_ns,
                                      .ts_ns = row->ts_ns,
                                      .memory_bytes = row->memory_bytes,
                                      .memory_bytes_max = row->memory_bytes_max,
                                      .util_percent = row->util_percent,
                                      .util_percent_max = row->util_percent_max};
    COPY(holder->name, row->name);
    COPY(holder->role, row->role);
}

static int read_reason(struct db_reader *db, struct history_devices *h)
{
    char text[4 * STATUS_TEXT_MAX] = "";
    int r = db_reader_meta(db, DB_GPU_REASON_KEY, text, sizeof(text));

    COPY(h->reason, text);
    return r == -ENOENT || r == -ENOSPC ? 0 : r;
}

static int read_there(struct db_reader *db, struct history_devices *h)
{
    struct processes *all = calloc(1, sizeof(*all));
    int r = all ? read_reason(db, h) : -ENOMEM;

    h->n = h->n_holders = 0;
    h->newest_ns = 0;
    if (r == 0)
        r = db_reader_devices(db, on_time, &h->newest_ns);
    if (r == 0)
        r = db_reader_devices(db, on_device, h);
    if (r == 0)
        r = db_reader_processes(db, on_process, all);
    if (r == 0) {
        take_processes(h, all);
        r = db_reader_device_processes(db, h->newest_ns - 60 * MINUTE_NS, INT64_MAX, on_holder, h);
    }
    free(all);
    return r;
}

int tui_history_read_devices(struct history_reader *reader, int64_t now_ns, struct history_devices *h)
{
    int r = read_there(reader->db, h);

    if (r == 0)
        r = read_days(reader->db, h);
    for (int i = 0; r == 0 && i < h->n; i++)
        r = tui_history_newest(reader->db, &h->devices[i], now_ns);
    for (int i = 0; r == 0 && i < h->n_processes; i++)
        r = tui_history_newest_of_process(reader->db, &h->processes[i], now_ns);
    return r;
}

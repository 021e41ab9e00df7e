#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/process.h"
#include "daemon/procfs.h"

enum { NO_ROLE = -1, ANCESTORS_MAX = 64 /* a chain of them that was read while it changed may be a ring */ };

struct entry {
    int64_t pid, parent, started, cpu_ticks;
    double read_bytes, written_bytes; /* from its start; NaN: not known */
};

struct reading {
    struct entry *all; /* by pid, going up */
    size_t n, cap;
};

struct process_meter {
    struct reading now, before;
    int64_t before_ns;
};

struct process_meter *daemon_process_meter_create(void)
{
    return calloc(1, sizeof(struct process_meter));
}

void daemon_process_meter_destroy(struct process_meter *meter)
{
    if (!meter)
        return;
    free(meter->now.all);
    free(meter->before.all);
    free(meter);
}

/* --- all processes --- */

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static bool make_room(struct reading *reading, size_t n)
{
    struct entry *all = n > reading->cap ? realloc(reading->all, n * sizeof *all) : reading->all;
    if (!all)
        return n == 0;
    reading->all = all;
    reading->cap = n > reading->cap ? n : reading->cap;
    return true;
}

static void read_all(struct reading *reading)
{
    int64_t *pids = NULL;
    size_t n = 0;
    struct procfs_stat stat;
    reading->n = 0;
    if (daemon_procfs_processes(&pids, &n) < 0 || !make_room(reading, n))
        n = 0;
    for (size_t i = 0; i < n; i++)
        if (daemon_procfs_stat(pids[i], &stat))
            reading->all[reading->n++] = (struct entry){.pid = pids[i],
                                                        .parent = stat.parent,
                                                        .started = stat.started,
                                                        .cpu_ticks = stat.cpu_ticks,
                                                        .read_bytes = NAN,
                                                        .written_bytes = NAN};
    free(pids);
}

static struct entry *find(const struct reading *reading, int64_t pid)
{
    const struct entry key = {.pid = pid};
    return reading->n == 0 ? NULL : bsearch(&key, reading->all, reading->n, sizeof key, compare);
}

/* The same process, not another one with its number. */
static const struct entry *find_before(const struct process_meter *meter, const struct entry *now)
{
    const struct entry *before = find(&meter->before, now->pid);
    return before && before->started == now->started ? before : NULL;
}

/* --- whose they are --- */

static int role_at(const struct process_role roles[], int n, int64_t pid)
{
    for (int i = 0; i < n; i++)
        if (roles[i].pid == pid && pid > 0)
            return i;
    return NO_ROLE;
}

static int role_of(const struct reading *reading, const struct process_role roles[], int n, int64_t pid)
{
    for (int i = 0; i < ANCESTORS_MAX && pid > 0; i++) {
        const struct entry *entry = find(reading, pid);
        int role = entry ? role_at(roles, n, pid) : NO_ROLE;
        if (!entry || role != NO_ROLE)
            return role;
        pid = entry->parent;
    }
    return NO_ROLE;
}

const char *daemon_process_role_of(const struct process_role roles[], int n, int64_t pid)
{
    struct procfs_stat stat;
    for (int i = 0; i < ANCESTORS_MAX && pid > 0; i++) {
        int role = role_at(roles, n, pid);
        if (!daemon_procfs_stat(pid, &stat))
            return NULL;
        if (role != NO_ROLE)
            return roles[role].role;
        pid = stat.parent;
    }
    return NULL;
}

/* --- what they use --- */

/* The number behind a name at the start of a line; NaN. */
static double named(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    unsigned long long value;
    bool starts = at && (at == text || at[-1] == '\n');
    return starts && sscanf(at + strlen(name), " %llu", &value) == 1 ? (double)value : NAN;
}

static void read_disk(struct entry *entry)
{
    char text[1024];
    if (daemon_procfs_read_of(entry->pid, "io", text, sizeof text) <= 0)
        return;
    entry->read_bytes = named(text, "read_bytes:");
    entry->written_bytes = named(text, "write_bytes:");
}

/* Resident bytes; with `own`, those that it shares with no other. */
static double resident(int64_t pid, bool own)
{
    char text[128];
    unsigned long long pages, shared;
    if (daemon_procfs_read_of(pid, "statm", text, sizeof text) <= 0 ||
        sscanf(text, "%*u %llu %llu", &pages, &shared) != 2)
        return NAN;
    return (double)(own && shared <= pages ? pages - shared : pages) * (double)sysconf(_SC_PAGESIZE);
}

static void add(const struct process_meter *meter, const struct entry *now, bool root,
                struct process_sample *ret)
{
    static const struct entry none;
    const struct entry *before = find_before(meter, now);
    double memory = resident(now->pid, !root);
    if (root || !isnan(memory)) /* a descendant that ends meanwhile has none */
        ret->resident_bytes += memory;
    if (root && !before) { /* the first call for this one: nothing to subtract from */
        ret->cpu_percent = ret->read_bytes_s = ret->written_bytes_s = NAN;
        return;
    }
    before = before ? before : &none; /* a descendant that was not there: it started since then */
    ret->cpu_percent += (double)now->cpu_ticks - (double)before->cpu_ticks;
    ret->read_bytes_s += now->read_bytes - before->read_bytes;
    ret->written_bytes_s += now->written_bytes - before->written_bytes;
}

/* Sums become shares of the time. */
static void divide(struct process_sample *sample, double passed_s)
{
    double ticks = (double)sysconf(_SC_CLK_TCK);
    sample->cpu_percent = passed_s > 0 ? sample->cpu_percent / ticks / passed_s * 100 : NAN;
    sample->read_bytes_s = passed_s > 0 ? sample->read_bytes_s / passed_s : NAN;
    sample->written_bytes_s = passed_s > 0 ? sample->written_bytes_s / passed_s : NAN;
}

static void begin(const struct process_meter *meter, const struct process_role *role,
                  struct process_sample *ret)
{
    bool lives = find(&meter->now, role->pid) != NULL;
    double from = lives ? 0 : NAN;
    *ret = (struct process_sample){.pid = role->pid,
                                   .cpu_percent = from,
                                   .resident_bytes = from,
                                   .read_bytes_s = from,
                                   .written_bytes_s = from};
    memcpy(ret->role, role->role, sizeof ret->role);
}

void daemon_process_meter_sample(struct process_meter *meter, int64_t now_ns,
                                 const struct process_role roles[], int n, struct process_sample ret[])
{
    struct reading spare = meter->before;
    meter->before = meter->now;
    meter->now = spare;
    read_all(&meter->now);
    for (int i = 0; i < n; i++)
        begin(meter, &roles[i], &ret[i]);
    for (size_t i = 0; i < meter->now.n; i++) {
        struct entry *entry = &meter->now.all[i];
        int role = role_of(&meter->now, roles, n, entry->pid);
        if (role == NO_ROLE)
            continue;
        read_disk(entry);
        add(meter, entry, entry->pid == roles[role].pid, &ret[role]);
    }
    for (int i = 0; i < n; i++)
        divide(&ret[i], meter->before_ns > 0 ? (double)(now_ns - meter->before_ns) / 1e9 : NAN);
    meter->before_ns = now_ns;
}

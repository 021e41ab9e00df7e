#include "daemon/gpu/fdinfo.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/gpu/client.h"
#include "daemon/gpu/source.h"
#include "daemon/procfs.h"

enum { CLIENTS_MAX = 4096 };

/* The inode of the first namespace of processes, PROC_PID_INIT_INO of the kernel: in another, as a
 * container's, only some processes have numbers. */
static const char first_namespace[] = "pid:[4026531836]";

struct seen {
    struct gpu_client client;
    int device;
    int64_t pid; /* the first that has it */
};

struct clients {
    struct seen *all;
    size_t n, cap;
};

struct gpu_fdinfo {
    struct clients now, before;
    int64_t before_ns; /* 0: never */
};

struct scan {
    struct clients *into;
    const char *const *slots;
    int n_slots;
    bool hidden; /* something may not be seen */
};

struct gpu_fdinfo *daemon_gpu_fdinfo_create(void)
{
    return calloc(1, sizeof(struct gpu_fdinfo));
}

void daemon_gpu_fdinfo_destroy(struct gpu_fdinfo *fdinfo)
{
    if (!fdinfo)
        return;
    free(fdinfo->now.all);
    free(fdinfo->before.all);
    free(fdinfo);
}

/* --- the clients that there are --- */

static const struct seen *find(const struct clients *clients, int device, uint64_t id)
{
    for (size_t i = 0; i < clients->n; i++)
        if (clients->all[i].device == device && clients->all[i].client.id == id)
            return &clients->all[i];
    return NULL;
}

static bool grow(struct clients *clients)
{
    size_t cap = clients->cap ? 2 * clients->cap : 16;
    struct seen *all =
        clients->n < clients->cap || cap > CLIENTS_MAX ? NULL : realloc(clients->all, cap * sizeof *all);
    if (all) {
        clients->all = all;
        clients->cap = cap;
    }
    return clients->n < clients->cap;
}

static void take_client(struct scan *scan, int64_t pid, const struct gpu_client *client)
{
    int device = 0;
    while (device < scan->n_slots && strcmp(scan->slots[device], client->slot) != 0)
        device++;
    if (device == scan->n_slots || find(scan->into, device, client->id))
        return;
    if (grow(scan->into))
        scan->into->all[scan->into->n++] = (struct seen){*client, device, pid};
    else
        scan->hidden = true;
}

static void take_descriptor(struct scan *scan, int64_t pid, int folder, const char *name)
{
    static const char devices[] = "/dev/dri/";
    char target[64], file[64], text[PROCFS_TEXT_MAX];
    struct gpu_client client;
    ssize_t n = readlinkat(folder, name, target, sizeof target);
    if (n < (ssize_t)sizeof devices - 1 || memcmp(target, devices, sizeof devices - 1) != 0)
        return;
    if (snprintf(file, sizeof file, "fdinfo/%s", name) >= (int)sizeof file)
        return;
    int read = daemon_procfs_read_of(pid, file, text, sizeof text);
    if (read >= 0 && daemon_gpu_client_parse(text, &client))
        take_client(scan, pid, &client);
    scan->hidden |= read == -EACCES || read == -EPERM;
}

static void take_process(struct scan *scan, int64_t pid)
{
    char path[PROCFS_PATH_MAX];
    struct procfs_stat stat;
    snprintf(path, sizeof path, "%s/%jd/fd", daemon_procfs_root(), (intmax_t)pid);
    DIR *dir = opendir(path);
    if (!dir) {
        bool refused = errno == EACCES || errno == EPERM;
        scan->hidden |= refused && daemon_procfs_stat(pid, &stat) && !stat.kernel;
        return;
    }
    for (const struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            take_descriptor(scan, pid, dirfd(dir), entry->d_name);
    closedir(dir);
}

/* Has every process of the machine a number here? */
static bool sees_all(const char *root)
{
    char path[PROCFS_PATH_MAX], name[sizeof first_namespace];
    snprintf(path, sizeof path, "%s/1", root);
    if (access(path, F_OK) != 0)
        return false;
    snprintf(path, sizeof path, "%s/self/ns/pid", root);
    ssize_t n = readlink(path, name, sizeof name);
    return n < 0 || (n == sizeof first_namespace - 1 && memcmp(name, first_namespace, (size_t)n) == 0);
}

/* Returns whether all were seen. */
static bool look(struct scan *scan)
{
    int64_t *pids;
    size_t n;
    if (daemon_procfs_processes(&pids, &n) < 0)
        return false;
    for (size_t i = 0; i < n; i++)
        take_process(scan, pids[i]);
    free(pids);
    return sees_all(daemon_procfs_root()) && !scan->hidden;
}

/* --- their use --- */

struct use { /* shares of the time, by kind of engine */
    char names[GPU_ENGINES_MAX][GPU_ENGINE_NAME_MAX];
    double shares[GPU_ENGINES_MAX];
    int n;
};

static void use_add(struct use *use, const char *name, double share)
{
    int i = 0;
    while (i < use->n && strcmp(use->names[i], name) != 0)
        i++;
    if (i == GPU_ENGINES_MAX)
        return;
    if (i == use->n) {
        memcpy(use->names[use->n++], name, GPU_ENGINE_NAME_MAX);
        use->shares[i] = 0;
    }
    use->shares[i] += share;
}

static double use_percent(const struct use *use)
{
    double most = NAN;
    for (int i = 0; i < use->n; i++)
        most = fmax(most, use->shares[i] * 100);
    return most > 100 ? 100 : most;
}

static const struct gpu_engine *engine_before(const struct seen *before, const char *name)
{
    static const struct gpu_engine none;
    for (int i = 0; before && i < before->client.n_engines; i++)
        if (strcmp(before->client.engines[i].name, name) == 0)
            return &before->client.engines[i];
    return &none; /* a client that was not there, or an engine that it had not used: from 0 */
}

static void use_client(struct use *use, const struct gpu_fdinfo *fdinfo, const struct seen *seen,
                       double elapsed_ns)
{
    const struct seen *before = find(&fdinfo->before, seen->device, seen->client.id);
    for (int i = 0; i < seen->client.n_engines; i++) {
        const struct gpu_engine *engine = &seen->client.engines[i];
        const struct gpu_engine *then = engine_before(before, engine->name);
        double passed = engine->total > 0 ? engine->total - then->total : elapsed_ns;
        double worked = engine->worked - then->worked;
        if (engine->known && passed > 0 && worked >= 0)
            use_add(use, engine->name, worked / passed / (engine->capacity > 0 ? engine->capacity : 1));
    }
}

/* Of one process, or of all (pid 0); NaN in the first call. */
static double percent_of(const struct gpu_fdinfo *fdinfo, int device, int64_t pid, int64_t now_ns)
{
    struct use use = {.n = 0};
    if (fdinfo->before_ns == 0 || now_ns <= fdinfo->before_ns)
        return NAN;
    for (size_t i = 0; i < fdinfo->now.n; i++) {
        const struct seen *seen = &fdinfo->now.all[i];
        if (seen->device == device && (pid == 0 || seen->pid == pid))
            use_client(&use, fdinfo, seen, (double)(now_ns - fdinfo->before_ns));
    }
    return use_percent(&use);
}

/* --- devices --- */

static double sum_memory(const struct clients *clients, int device, int64_t pid)
{
    double sum = NAN;
    for (size_t i = 0; i < clients->n; i++) {
        double bytes = daemon_gpu_client_memory(&clients->all[i].client);
        if (clients->all[i].device == device && clients->all[i].pid == pid && !isnan(bytes))
            sum = isnan(sum) ? bytes : sum + bytes;
    }
    return sum;
}

static bool is_first_of_its_process(const struct clients *clients, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (clients->all[i].pid == clients->all[at].pid && clients->all[i].device == clients->all[at].device)
            return false;
    return true;
}

static void add_process(const struct gpu_fdinfo *fdinfo, size_t at, int64_t now_ns,
                        struct device_sample *device)
{
    const struct seen *seen = &fdinfo->now.all[at];
    struct device_process process = {.pid = seen->pid,
                                     .memory_bytes = sum_memory(&fdinfo->now, seen->device, seen->pid),
                                     .util_percent = percent_of(fdinfo, seen->device, seen->pid, now_ns)};
    daemon_gpu_process_name(&process);
    daemon_gpu_device_add(device, &process);
}

bool daemon_gpu_fdinfo_sample(struct gpu_fdinfo *fdinfo, int64_t now_ns, const char *const slots[],
                              struct device_sample devices[], int n, double ret_use[])
{
    struct clients empty = fdinfo->before;
    fdinfo->before = fdinfo->now;
    empty.n = 0;
    fdinfo->now = empty;
    struct scan scan = {.into = &fdinfo->now, .slots = slots, .n_slots = n};
    bool all = look(&scan);
    for (size_t i = 0; i < fdinfo->now.n; i++)
        if (is_first_of_its_process(&fdinfo->now, i))
            add_process(fdinfo, i, now_ns, &devices[fdinfo->now.all[i].device]);
    for (int i = 0; i < n; i++)
        ret_use[i] = percent_of(fdinfo, i, 0, now_ns);
    fdinfo->before_ns = now_ns;
    return all;
}

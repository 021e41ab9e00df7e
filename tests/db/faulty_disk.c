#include "tests/db/faulty_disk.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/db/faulty_internal.h"
#include "tests/random.h"

enum { PATH_LENGTH = 256 };

struct op {
    int64_t offset;
    int64_t size; /* -1: a truncation to offset */
    unsigned char *bytes;
};

/* A file: what the disk has of it, and what waits to get there. */
struct medium {
    char path[PATH_LENGTH];    /* in the page cache */
    bool gone;                 /* from there */
    char on_disk[PATH_LENGTH]; /* its name on the disk; "": none yet, or no more */
    unsigned char *bytes;
    int64_t size;
    struct op *ops;
    size_t n, cap;
};

/* A name that the page cache changed, and the disk not yet. */
struct change {
    struct medium *medium;
    char to[PATH_LENGTH]; /* "": removed */
};

static struct {
    pthread_mutex_t lock;
    struct faulty_owner owner;
    struct medium **media;
    size_t n, cap;
    struct change *changes; /* in order */
    size_t n_changes, cap_changes;
    struct faulty_plan plan;
    struct random random;
    uint64_t count, syncs, faults;
    bool lost, following;
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool ends(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* ---- a file's bytes ---- */

static void forget_ops(struct medium *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->ops[i].bytes);
    m->n = 0;
}

static void forget(struct medium *m)
{
    forget_ops(m);
    free(m->ops);
    free(m->bytes);
    free(m);
}

static void add_op(struct medium *m, int64_t offset, int64_t size, const void *bytes)
{
    if (m->n == m->cap) {
        m->cap = m->cap ? 2 * m->cap : 64;
        m->ops = realloc(m->ops, m->cap * sizeof *m->ops);
    }
    struct op *op = &m->ops[m->n++];
    *op = (struct op){offset, size, NULL};
    if (size > 0) {
        op->bytes = malloc((size_t)size);
        memcpy(op->bytes, bytes, (size_t)size);
    }
}

static void resize(struct medium *m, int64_t size)
{
    if (size > m->size) {
        m->bytes = realloc(m->bytes, (size_t)size);
        memset(m->bytes + m->size, 0, (size_t)(size - m->size));
    }
    m->size = size;
}

static void put(struct medium *m, int64_t offset, int64_t size, const unsigned char *bytes)
{
    if (size <= 0)
        return;
    if (offset + size > m->size)
        resize(m, offset + size);
    memcpy(m->bytes + offset, bytes, (size_t)size);
}

static void apply_all(struct medium *m)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct op *op = &m->ops[i];
        if (op->size < 0)
            resize(m, op->offset);
        else
            put(m, op->offset, op->size, op->bytes);
    }
    forget_ops(m);
}

/* Some of what was on its way arrives: whole sectors, or nothing. */
static void settle(struct medium *m, struct random *random)
{
    int sector = random_chance(random, 50) ? 512 : 4096, likely = (int)random_between(random, 0, 4) * 25;
    for (size_t i = 0; i < m->n; i++) {
        const struct op *op = &m->ops[i];
        if (op->size < 0) {
            if (random_chance(random, likely))
                resize(m, op->offset);
            continue;
        }
        for (int64_t at = 0; at < op->size;) {
            int64_t part = sector - (op->offset + at) % sector;
            if (part > op->size - at)
                part = op->size - at;
            if (random_chance(random, likely))
                put(m, op->offset + at, part, op->bytes + at);
            at += part;
        }
    }
    forget_ops(m);
}

/* The file as the real file system has it, when it is first seen. */
static void load(struct medium *m)
{
    FILE *file = fopen(m->path, "rb");
    if (!file)
        return;
    fseek(file, 0, SEEK_END);
    resize(m, ftell(file));
    rewind(file);
    if (m->size > 0)
        CHECK_INT(fread(m->bytes, 1, (size_t)m->size, file), m->size);
    fclose(file);
}

/* ---- names ---- */

static struct medium *find(const char *path)
{
    for (size_t i = 0; i < disk.n; i++)
        if (!disk.media[i]->gone && strcmp(disk.media[i]->path, path) == 0)
            return disk.media[i];
    return NULL;
}

static struct medium *add(const char *path)
{
    if (disk.n == disk.cap) {
        disk.cap = disk.cap ? 2 * disk.cap : 64;
        disk.media = realloc(disk.media, disk.cap * sizeof(struct medium *));
    }
    struct medium *m = disk.media[disk.n++] = calloc(1, sizeof *m);
    snprintf(m->path, sizeof m->path, "%s", path);
    return m;
}

static void add_change(struct medium *m, const char *to)
{
    if (disk.n_changes == disk.cap_changes) {
        disk.cap_changes = disk.cap_changes ? 2 * disk.cap_changes : 64;
        disk.changes = realloc(disk.changes, disk.cap_changes * sizeof *disk.changes);
    }
    struct change *change = &disk.changes[disk.n_changes++];
    change->medium = m;
    snprintf(change->to, sizeof change->to, "%s", to);
}

/* The disk has that name's change. */
static void change_name(const struct change *change)
{
    for (size_t i = 0; i < disk.n && change->to[0]; i++)
        if (strcmp(disk.media[i]->on_disk, change->to) == 0)
            disk.media[i]->on_disk[0] = '\0';
    memcpy(change->medium->on_disk, change->to, sizeof change->to);
}

static bool within(const char *folder, const char *path)
{
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && path[n] == '/' && !strchr(path + n + 1, '/');
}

static void sync_names(const char *folder)
{
    size_t left = 0;
    for (size_t i = 0; i < disk.n_changes; i++) {
        const struct change *change = &disk.changes[i];
        if (within(folder, change->to) || within(folder, change->medium->on_disk))
            change_name(change);
        else
            disk.changes[left++] = *change;
    }
    disk.n_changes = left;
}

struct medium *faulty_open(const char *path, bool made)
{
    pthread_mutex_lock(&disk.lock);
    struct medium *m = disk.following && path && !ends(path, "-shm") ? find(path) : NULL;
    if (!m && disk.following && path && !ends(path, "-shm")) {
        m = add(path);
        load(m);
        if (made || m->size == 0)
            add_change(m, path);
        else
            memcpy(m->on_disk, m->path, sizeof m->path);
    }
    pthread_mutex_unlock(&disk.lock);
    return m;
}

const char *faulty_path(const struct medium *m)
{
    return m->path;
}

void faulty_named(const char *from, const char *to)
{
    pthread_mutex_lock(&disk.lock);
    struct medium *m = find(from), *over = to ? find(to) : NULL;
    if (over && m)
        over->gone = true;
    if (m) {
        add_change(m, to ? to : "");
        m->gone = !to;
        if (to)
            snprintf(m->path, sizeof m->path, "%s", to);
    }
    pthread_mutex_unlock(&disk.lock);
}

void faulty_sync_folder(const char *folder)
{
    pthread_mutex_lock(&disk.lock);
    sync_names(folder);
    pthread_mutex_unlock(&disk.lock);
}

/* ---- calls ---- */

enum faulty_fate faulty_fate(const struct medium *m, enum faulty_call call)
{
    enum faulty_fate fate = FATE_DONE;
    pthread_mutex_lock(&disk.lock);
    const struct faulty_plan *plan = &disk.plan;
    bool counts = disk.following && !disk.lost;
    disk.count += counts;
    disk.syncs += counts && call == FAULTY_SYNC;
    if (counts && plan->power_at && disk.count >= plan->power_at)
        disk.lost = true;
    if (counts && plan->power_sync && disk.syncs >= plan->power_sync)
        disk.lost = true;
    if (disk.lost)
        fate = FATE_LOST;
    else if (!counts || (plan->only && (!m || !ends(m->path, plan->only))))
        fate = FATE_DONE;
    else if (call == FAULTY_WRITE && disk.count >= plan->full_from && disk.count < plan->full_to)
        fate = FATE_FULL;
    else if (call == FAULTY_SYNC &&
             ((plan->sync_at && disk.count >= plan->sync_at) ||
              (plan->sync_fails > 0 && random_between(&disk.random, 0, 999) < plan->sync_fails)))
        fate = FATE_FAILS;
    if (fate == FATE_FAILS)
        disk.plan.sync_at = 0;
    disk.faults += fate == FATE_FAILS || fate == FATE_FULL;
    pthread_mutex_unlock(&disk.lock);
    return fate;
}

void faulty_wrote(struct medium *m, int64_t at, const void *bytes, size_t n)
{
    pthread_mutex_lock(&disk.lock);
    if (m && n > 0)
        add_op(m, at, (int64_t)n, bytes);
    pthread_mutex_unlock(&disk.lock);
}

void faulty_cut(struct medium *m, int64_t size)
{
    pthread_mutex_lock(&disk.lock);
    if (m)
        add_op(m, size, -1, NULL);
    pthread_mutex_unlock(&disk.lock);
}

static int64_t time_of_sync(void)
{
    pthread_mutex_lock(&disk.lock);
    const struct faulty_plan *plan = &disk.plan;
    bool slow = plan->sync_slow > 0 && random_between(&disk.random, 0, 999) < plan->sync_slow;
    int64_t ns = slow ? random_between(&disk.random, 0, plan->slow_max_ns) : 0;
    pthread_mutex_unlock(&disk.lock);
    return ns;
}

/* The lock is held. */
static bool sync_lies(const struct medium *m, bool log)
{
    int lies = m && log ? disk.plan.sync_lies : 0;
    return lies > 0 && random_between(&disk.random, 0, 999) < lies;
}

enum faulty_fate faulty_sync(struct medium *m, bool log)
{
    enum faulty_fate fate = faulty_fate(m, FAULTY_SYNC);
    int64_t ns = fate == FATE_LOST ? 0 : time_of_sync();
    if (ns > 0 && disk.owner.flushing)
        disk.owner.flushing(disk.owner.ctx, ns, log);
    pthread_mutex_lock(&disk.lock);
    if (disk.lost)
        fate = FATE_LOST;
    bool lies = fate == FATE_DONE && sync_lies(m, log);
    disk.faults += lies;
    if (m && (lies || fate == FATE_FAILS))
        settle(m, &disk.random);
    else if (m && fate == FATE_DONE)
        apply_all(m);
    pthread_mutex_unlock(&disk.lock);
    return fate;
}

bool faulty_same(struct medium *m, int64_t from, int64_t to, const unsigned char *shown)
{
    pthread_mutex_lock(&disk.lock);
    struct medium view = {.bytes = m->size > 0 ? malloc((size_t)m->size) : NULL, .size = m->size};
    if (m->size > 0)
        memcpy(view.bytes, m->bytes, (size_t)m->size);
    for (size_t i = 0; i < m->n; i++) {
        if (m->ops[i].size < 0)
            resize(&view, m->ops[i].offset);
        else
            put(&view, m->ops[i].offset, m->ops[i].size, m->ops[i].bytes);
    }
    bool same = view.size >= to && memcmp(view.bytes + from, shown, (size_t)(to - from)) == 0;
    free(view.bytes);
    pthread_mutex_unlock(&disk.lock);
    return same;
}

void faulty_traced(const char *what, const char *path, int64_t at, const void *bytes, size_t n, int r)
{
    const char *slash = strrchr(path, '/');
    if (disk.following && disk.owner.call)
        disk.owner.call(disk.owner.ctx, what, slash ? slash + 1 : path, at, bytes, n, r);
}

void faulty_random(void *bytes, size_t n)
{
    unsigned char *to = bytes;
    pthread_mutex_lock(&disk.lock);
    for (size_t i = 0; i < n; i++)
        to[i] = (unsigned char)random_next(&disk.random);
    pthread_mutex_unlock(&disk.lock);
}

/* ---- the owner's ---- */

bool faulty_disk_lost(void)
{
    pthread_mutex_lock(&disk.lock);
    bool lost = disk.lost;
    pthread_mutex_unlock(&disk.lock);
    return lost;
}

bool faulty_lost(void)
{
    return faulty_disk_lost();
}

void faulty_disk_owner(const struct faulty_owner *owner)
{
    disk.owner = *owner;
}

static void forget_all(void)
{
    for (size_t i = 0; i < disk.n; i++)
        forget(disk.media[i]);
    disk.n = disk.n_changes = 0;
}

void faulty_disk_resume(const struct faulty_plan *plan)
{
    pthread_mutex_lock(&disk.lock);
    disk.plan = *plan;
    disk.random = (struct random){plan->seed};
    disk.count = disk.syncs = disk.faults = 0;
    disk.lost = false;
    disk.following = true;
    pthread_mutex_unlock(&disk.lock);
}

void faulty_disk_begin(const struct faulty_plan *plan)
{
    pthread_mutex_lock(&disk.lock);
    forget_all();
    pthread_mutex_unlock(&disk.lock);
    faulty_disk_resume(plan);
}

static uint64_t counter(const uint64_t *of)
{
    pthread_mutex_lock(&disk.lock);
    uint64_t value = *of;
    pthread_mutex_unlock(&disk.lock);
    return value;
}

uint64_t faulty_disk_calls(void)
{
    return counter(&disk.count);
}

uint64_t faulty_disk_faults(void)
{
    return counter(&disk.faults);
}

bool faulty_disk_holds(const char *end, const void *bytes, size_t n)
{
    pthread_mutex_lock(&disk.lock);
    bool found = false;
    for (size_t i = 0; i < disk.n && !found; i++) {
        const struct medium *m = disk.media[i];
        found = ends(m->on_disk, end) && m->size > 0 && memmem(m->bytes, (size_t)m->size, bytes, n) != NULL;
    }
    pthread_mutex_unlock(&disk.lock);
    return found;
}

static void write_out(const struct medium *m)
{
    FILE *file = fopen(m->on_disk, "wb");
    CHECK(file &&
          fwrite(m->bytes ? (const char *)m->bytes : "", 1, (size_t)m->size, file) == (size_t)m->size);
    if (file)
        fclose(file);
}

static void remove_real(const struct medium *m)
{
    char shm[PATH_LENGTH + 8];
    snprintf(shm, sizeof shm, "%s-shm", m->path);
    remove(m->path);
    remove(shm);
}

void faulty_disk_restart(uint64_t seed)
{
    struct random random = {seed};
    pthread_mutex_lock(&disk.lock);
    size_t changes = (size_t)random_between(&random, 0, (int64_t)disk.n_changes);
    for (size_t i = 0; i < changes; i++)
        change_name(&disk.changes[i]);
    for (size_t i = 0; i < disk.n; i++) {
        struct medium *m = disk.media[i];
        settle(m, &random);
        if (!m->gone && access(m->path, F_OK) < 0) /* its folder has another name, and it stays there */
            m->on_disk[0] = '\0';
        else if (!m->gone)
            remove_real(m);
    }
    for (size_t i = 0; i < disk.n; i++)
        if (disk.media[i]->on_disk[0])
            write_out(disk.media[i]);
    forget_all();
    disk.lost = disk.following = false;
    disk.plan = (struct faulty_plan){0};
    pthread_mutex_unlock(&disk.lock);
}

void faulty_disk_killed(void)
{
    pthread_mutex_lock(&disk.lock);
    disk.lost = false;
    disk.plan = (struct faulty_plan){0};
    pthread_mutex_unlock(&disk.lock);
}

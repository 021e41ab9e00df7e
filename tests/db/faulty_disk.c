#include "tests/db/faulty_disk.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/random.h"

enum { FILES_MAX = 8, PATH_LENGTH = 256 };

struct op {
    int64_t offset;
    int size; /* -1: a truncation to offset */
    unsigned char *bytes;
};

/* What the disk has of a file, and what waits to get there. */
struct medium {
    char path[PATH_LENGTH];
    bool there, deleted; /* on the disk; deleted, not yet for ever */
    unsigned char *bytes;
    int64_t size;
    struct op *ops;
    size_t n, cap;
};

struct faulty_file {
    sqlite3_file base;
    struct medium *medium; /* NULL: not followed */
    sqlite3_file *real;
};

static struct {
    pthread_mutex_t lock;
    sqlite3_vfs vfs, *real;
    struct medium media[FILES_MAX];
    int n;
    struct faulty_plan plan;
    uint64_t count, faults;
    bool lost, following;
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool ends(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

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
    *m = (struct medium){0};
}

static void add_op(struct medium *m, int64_t offset, int size, const void *bytes)
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

static void apply(struct medium *m, const struct op *op)
{
    if (op->size < 0)
        resize(m, op->offset);
    else
        put(m, op->offset, op->size, op->bytes);
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
    m->there = true;
}

static struct medium *medium_of(const char *path)
{
    if (!disk.following || !path || ends(path, "-shm"))
        return NULL;
    for (int i = 0; i < disk.n; i++)
        if (strcmp(disk.media[i].path, path) == 0)
            return &disk.media[i];
    CHECK(disk.n < FILES_MAX);
    struct medium *m = &disk.media[disk.n++];
    snprintf(m->path, sizeof m->path, "%s", path);
    load(m);
    return m;
}

/* Counts a call that changes something: what becomes of it. The lock is held. */
static int fate(const struct medium *m, bool is_sync, bool is_write)
{
    const struct faulty_plan *plan = &disk.plan;
    if (disk.lost)
        return SQLITE_IOERR;
    if (!m)
        return SQLITE_OK;
    disk.count++;
    if (plan->power_at && disk.count >= plan->power_at) {
        disk.lost = true;
        return SQLITE_IOERR;
    }
    if (plan->only && !ends(m->path, plan->only))
        return SQLITE_OK;
    if (is_write && disk.count >= plan->full_from && disk.count < plan->full_to) {
        disk.faults++;
        return SQLITE_FULL;
    }
    if (is_sync && plan->sync_at && disk.count >= plan->sync_at) {
        disk.plan.sync_at = 0;
        disk.faults++;
        return SQLITE_IOERR_FSYNC;
    }
    return SQLITE_OK;
}

/* ---- the methods ---- */

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct faulty_file *)file)->real;
}

static int file_close(sqlite3_file *file)
{
    sqlite3_file *real = real_of(file);
    return real->pMethods ? real->pMethods->xClose(real) : SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset)
{
    pthread_mutex_lock(&disk.lock);
    bool lost = disk.lost;
    pthread_mutex_unlock(&disk.lock);
    return lost ? SQLITE_IOERR_READ : real_of(file)->pMethods->xRead(real_of(file), bytes, size, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset)
{
    struct medium *m = ((struct faulty_file *)file)->medium;
    pthread_mutex_lock(&disk.lock);
    int rc = fate(m, false, true);
    int done = rc == SQLITE_OK ? size : rc == SQLITE_FULL ? size / 3 : 0; /* a full disk takes a part */
    if (m && done > 0)
        add_op(m, offset, done, bytes);
    pthread_mutex_unlock(&disk.lock);
    int real = done > 0 ? real_of(file)->pMethods->xWrite(real_of(file), bytes, done, offset) : SQLITE_OK;
    return rc != SQLITE_OK ? rc : real;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct medium *m = ((struct faulty_file *)file)->medium;
    pthread_mutex_lock(&disk.lock);
    int rc = fate(m, false, false);
    if (m && rc == SQLITE_OK)
        add_op(m, size, -1, NULL);
    pthread_mutex_unlock(&disk.lock);
    return rc != SQLITE_OK ? rc : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int file_sync(sqlite3_file *file, int flags)
{
    struct medium *m = ((struct faulty_file *)file)->medium;
    (void)flags; /* the real disk need not be waited for */
    pthread_mutex_lock(&disk.lock);
    int rc = fate(m, true, false);
    if (m && rc == SQLITE_OK) {
        for (size_t i = 0; i < m->n; i++)
            apply(m, &m->ops[i]);
        m->there = true;
        for (int i = 0; i < disk.n; i++)
            if (disk.media[i].deleted)
                disk.media[i].there = disk.media[i].deleted = false;
    }
    if (m && (rc == SQLITE_OK || rc == SQLITE_IOERR_FSYNC))
        forget_ops(m);
    pthread_mutex_unlock(&disk.lock);
    return rc;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int file_lock(sqlite3_file *file, int lock)
{
    return real_of(file)->pMethods->xLock(real_of(file), lock);
}

static int file_unlock(sqlite3_file *file, int lock)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), lock);
}

static int file_reserved(sqlite3_file *file, int *ret)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret);
}

static int file_control(sqlite3_file *file, int op, void *arg)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), op, arg);
}

static int file_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_traits(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, ret);
}

static int shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, n, flags);
}

static void shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int shm_unmap(sqlite3_file *file, int delete)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), delete);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2, /* no memory map: every write is seen */
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *ret_flags)
{
    struct faulty_file *f = (struct faulty_file *)file;
    (void)vfs;
    pthread_mutex_lock(&disk.lock);
    bool lost = disk.lost;
    pthread_mutex_unlock(&disk.lock);
    f->base.pMethods = NULL;
    if (lost)
        return SQLITE_CANTOPEN;
    f->real = (sqlite3_file *)(void *)(f + 1);
    int rc = disk.real->xOpen(disk.real, path, f->real, flags, ret_flags);
    pthread_mutex_lock(&disk.lock);
    f->medium = medium_of(path);
    if (f->medium && f->medium->deleted && rc == SQLITE_OK)
        f->medium->deleted = false;
    pthread_mutex_unlock(&disk.lock);
    if (f->real->pMethods)
        f->base.pMethods = &methods;
    return rc;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync_folder)
{
    (void)vfs;
    pthread_mutex_lock(&disk.lock);
    int rc = disk.lost ? SQLITE_IOERR_DELETE : SQLITE_OK;
    struct medium *m = rc == SQLITE_OK ? medium_of(path) : NULL;
    if (m) {
        forget_ops(m);
        m->deleted = m->there && !sync_folder;
        m->there = m->deleted;
    }
    pthread_mutex_unlock(&disk.lock);
    return rc == SQLITE_OK ? disk.real->xDelete(disk.real, path, sync_folder) : rc;
}

void faulty_disk_install(void)
{
    disk.real = sqlite3_vfs_find(NULL);
    disk.vfs = *disk.real;
    disk.vfs.zName = "faulty";
    disk.vfs.szOsFile = (int)sizeof(struct faulty_file) + disk.real->szOsFile;
    disk.vfs.xOpen = disk_open;
    disk.vfs.xDelete = disk_delete;
    CHECK_INT(sqlite3_vfs_register(&disk.vfs, 1), SQLITE_OK);
}

void faulty_disk_begin(const struct faulty_plan *plan)
{
    pthread_mutex_lock(&disk.lock);
    for (int i = 0; i < disk.n; i++)
        forget(&disk.media[i]);
    disk.n = 0;
    disk.plan = *plan;
    disk.count = disk.faults = 0;
    disk.lost = false;
    disk.following = true;
    pthread_mutex_unlock(&disk.lock);
}

bool faulty_disk_lost(void)
{
    pthread_mutex_lock(&disk.lock);
    bool lost = disk.lost;
    pthread_mutex_unlock(&disk.lock);
    return lost;
}

uint64_t faulty_disk_faults(void)
{
    pthread_mutex_lock(&disk.lock);
    uint64_t faults = disk.faults;
    pthread_mutex_unlock(&disk.lock);
    return faults;
}

/* Some of what was on its way arrives: whole sectors, parts of them, or nothing. */
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
                put(m, op->offset + at, random_chance(random, 5) ? random_between(random, 0, part) : part,
                    op->bytes + at);
            at += part;
        }
    }
}

void faulty_disk_restart(uint64_t seed)
{
    struct random random = {seed};
    pthread_mutex_lock(&disk.lock);
    for (int i = 0; i < disk.n; i++) {
        struct medium *m = &disk.media[i];
        char shm[PATH_LENGTH + 8];
        bool there =
            m->deleted ? random_chance(&random, 50) : m->there || (m->n > 0 && random_chance(&random, 50));
        settle(m, &random);
        remove(m->path);
        snprintf(shm, sizeof shm, "%s-shm", m->path);
        remove(shm);
        if (there) {
            FILE *file = fopen(m->path, "wb");
            CHECK(file && fwrite(m->bytes ? (const char *)m->bytes : "", 1, (size_t)m->size, file) ==
                              (size_t)m->size);
            fclose(file);
        }
        forget(m);
    }
    disk.n = 0;
    disk.lost = disk.following = false;
    disk.plan = (struct faulty_plan){0};
    pthread_mutex_unlock(&disk.lock);
}

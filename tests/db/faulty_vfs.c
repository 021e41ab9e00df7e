/* SQLite's side of the faulty disk. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/db/faulty_internal.h"

struct faulty_file {
    sqlite3_file base;
    struct medium *medium; /* NULL: not followed */
    sqlite3_file *real;
};

static sqlite3_vfs faulty, *system_vfs;

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct faulty_file *)file)->real;
}

static struct medium *medium_of(sqlite3_file *file)
{
    return ((struct faulty_file *)file)->medium;
}

static int code_of(enum faulty_fate fate)
{
    return fate == FATE_DONE ? SQLITE_OK : fate == FATE_FULL ? SQLITE_FULL : SQLITE_IOERR;
}

static int file_close(sqlite3_file *file)
{
    sqlite3_file *real = real_of(file);
    return real->pMethods ? real->pMethods->xClose(real) : SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset)
{
    return faulty_lost() ? SQLITE_IOERR_READ
                         : real_of(file)->pMethods->xRead(real_of(file), bytes, size, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset)
{
    struct medium *m = medium_of(file);
    if (!m)
        return faulty_lost() ? SQLITE_IOERR
                             : real_of(file)->pMethods->xWrite(real_of(file), bytes, size, offset);
    enum faulty_fate fate = faulty_fate(m, FAULTY_WRITE);
    int done = fate == FATE_DONE ? size : fate == FATE_FULL ? size / 3 : 0; /* a full disk takes a part */
    faulty_wrote(m, offset, bytes, (size_t)done);
    int real = done > 0 ? real_of(file)->pMethods->xWrite(real_of(file), bytes, done, offset) : SQLITE_OK;
    faulty_traced("write", faulty_path(m), offset, bytes, (size_t)done, code_of(fate));
    return fate != FATE_DONE ? code_of(fate) : real;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct medium *m = medium_of(file);
    enum faulty_fate fate = m ? faulty_fate(m, FAULTY_CUT) : faulty_lost() ? FATE_LOST : FATE_DONE;
    if (m && fate == FATE_DONE)
        faulty_cut(m, size);
    if (m)
        faulty_traced("cut", faulty_path(m), size, NULL, 0, code_of(fate));
    return fate != FATE_DONE ? code_of(fate) : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

/* The real disk need not be waited for. As SQLite's own, it syncs the folder of a file that may be new. */
static int file_sync(sqlite3_file *file, int flags)
{
    struct medium *m = medium_of(file);
    (void)flags;
    if (!m)
        return faulty_lost() ? SQLITE_IOERR : SQLITE_OK;
    enum faulty_fate fate = faulty_sync(m, false);
    char folder[512];
    snprintf(folder, sizeof folder, "%s", faulty_path(m));
    *strrchr(folder, '/') = '\0';
    if (fate == FATE_DONE)
        faulty_sync_folder(folder);
    faulty_traced("sync", faulty_path(m), 0, NULL, 0, code_of(fate));
    return fate == FATE_FAILS ? SQLITE_IOERR_FSYNC : code_of(fate);
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
    f->base.pMethods = NULL;
    if (faulty_lost())
        return SQLITE_CANTOPEN;
    bool made = path && access(path, F_OK) < 0;
    f->real = (sqlite3_file *)(void *)(f + 1);
    int rc = system_vfs->xOpen(system_vfs, path, f->real, flags, ret_flags);
    f->medium = rc == SQLITE_OK ? faulty_open(path, made) : NULL;
    if (f->real->pMethods)
        f->base.pMethods = &methods;
    return rc;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync_folder)
{
    (void)vfs;
    enum faulty_fate fate = faulty_fate(NULL, FAULTY_NAME);
    faulty_traced("remove", path, 0, NULL, 0, code_of(fate));
    if (fate != FATE_DONE)
        return SQLITE_IOERR_DELETE;
    char folder[512];
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    faulty_named(path, NULL);
    if (sync_folder)
        faulty_sync_folder(folder);
    return system_vfs->xDelete(system_vfs, path, sync_folder);
}

static int disk_random(sqlite3_vfs *vfs, int n, char *bytes)
{
    (void)vfs;
    faulty_random(bytes, (size_t)n);
    return n;
}

void faulty_disk_install(void)
{
    system_vfs = sqlite3_vfs_find(NULL);
    faulty = *system_vfs;
    faulty.zName = "faulty";
    faulty.szOsFile = (int)sizeof(struct faulty_file) + system_vfs->szOsFile;
    faulty.xOpen = disk_open;
    faulty.xDelete = disk_delete;
    faulty.xRandomness = disk_random;
    CHECK_INT(sqlite3_vfs_register(&faulty, 1), SQLITE_OK);
}

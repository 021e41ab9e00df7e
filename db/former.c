#include "db/former.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/backup.h"
#include "db/migrate.h"
#include "exchange/fail.h"
#include "exchange/folder.h"

enum { DIRECTORY_MODE = 0750, FILE_MODE = 0640, FOLDERS_MAX = 64, PATHS_MAX = DB_FORMER_PATH_MAX + 16 };

static const char unfinished[] = "new", mark[] = "schema-";

int db_former_schema(const char *database)
{
    sqlite3 *db = NULL;
    char err[DB_ERROR_MAX];
    int version = 0;
    int rc = sqlite3_open_v2(database, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK || db_schema_check(db, db_migrations_count, &version, err, sizeof err) < 0)
        version = 0;
    sqlite3_close(db);
    return version < db_migrations_count ? version : 0;
}

/* ---- files and folders ---- */

static int sync_path(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = fsync(fd) < 0 ? -errno : 0;
    close(fd);
    return r;
}

/* All files except locks, whose names begin with a dot. */
static int link_all(DIR *listing, int from, int to)
{
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        struct stat st;
        if (entry->d_name[0] != '.' && fstatat(from, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode) && linkat(from, entry->d_name, to, entry->d_name, 0) < 0)
            return errno == EXDEV ? 1 : -errno;
    }
    return fsync(to) < 0 ? -errno : 0;
}

/* Every file of the folder `from` gets a second name in the new folder `to`. 1: it is on another file system,
 * and `to` is not made. */
static int link_files(const char *from, const char *to)
{
    DIR *listing = opendir(from);
    if (!listing)
        return errno == ENOENT ? 0 : -errno;
    int r = mkdir(to, DIRECTORY_MODE) < 0 ? -errno : 0;
    int fd = r == 0 ? open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (r == 0)
        r = fd < 0 ? -errno : link_all(listing, dirfd(listing), fd);
    if (fd >= 0)
        close(fd);
    closedir(listing);
    if (r > 0)
        folder_remove(to);
    return r;
}

/* ---- one copy ---- */

/* Others wait for it: it takes the disk as it can. */
static int copy_database(const char *from, const char *to, char *err, size_t err_size)
{
    int r = db_backup_copy(from, to, (struct db_backup_way){.only_read = true}, err, err_size);
    if (r == 0 && (r = sync_path(to)) < 0)
        snprintf(err, err_size, "%s: %s", to, strerror(-r));
    return r;
}

static int fill(const struct state_dir *state, const char *folder, char *err, size_t err_size)
{
    const char *const linked[][2] = {{state->events, "events"}, {state->policies, "policies"}};
    char path[PATHS_MAX];
    if (mkdir(folder, DIRECTORY_MODE) < 0)
        return fail_with(-errno, err, err_size, "%s: %s", folder, strerror(errno));
    snprintf(path, sizeof path, "%s/papertape.db", folder);
    int r = copy_database(state->database, path, err, err_size);
    for (size_t i = 0; i < sizeof linked / sizeof *linked && r == 0; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, linked[i][1]);
        r = link_files(linked[i][0], path);
        if (r < 0)
            snprintf(err, err_size, "%s: %s", path, strerror(-r));
        r = r > 0 ? 0 : r;
    }
    if (r == 0 && (r = sync_path(folder)) < 0)
        snprintf(err, err_size, "%s: %s", folder, strerror(-r));
    return r;
}

int db_former_keep(const struct state_dir *state, int schema, char folder[static DB_FORMER_PATH_MAX],
                   char *err, size_t err_size)
{
    char all[DB_FORMER_PATH_MAX], making[DB_FORMER_PATH_MAX];
    snprintf(all, sizeof all, "%s/former", state->path);
    snprintf(making, sizeof making, "%s/former/%s", state->path, unfinished);
    snprintf(folder, DB_FORMER_PATH_MAX, "%s/former/%s%d", state->path, mark, schema);
    if (mkdir(all, DIRECTORY_MODE) < 0 && errno != EEXIST)
        return fail_with(-errno, err, err_size, "%s: %s", all, strerror(errno));
    int r = folder_remove(making);
    if (r < 0)
        return fail_with(r, err, err_size, "%s: %s", making, strerror(-r));
    r = fill(state, making, err, err_size);
    if (r == 0 && ((r = folder_remove(folder)) < 0 || (r = rename(making, folder) < 0 ? -errno : 0) < 0 ||
                   (r = sync_path(all)) < 0 || (r = sync_path(state->path)) < 0))
        snprintf(err, err_size, "%s: %s", folder, strerror(-r));
    if (r < 0)
        folder_remove(making);
    return r;
}

bool db_former_is(const char *folder)
{
    char path[PATH_MAX];
    if (!realpath(folder, path))
        return false;
    char *name = strrchr(path, '/'), *above;
    *name = '\0';
    above = strrchr(path, '/');
    return above && strcmp(above, "/former") == 0 && strncmp(name + 1, mark, sizeof mark - 1) == 0;
}

/* ---- which of them are removed ---- */

struct former_state {
    char path[DB_FORMER_PATH_MAX];
    int64_t made_s;
};

static int newest_first(const void *a, const void *b)
{
    const struct former_state *x = a, *y = b;
    return (x->made_s < y->made_s) - (x->made_s > y->made_s);
}

static int list(const struct state_dir *state, struct former_state kept[static FOLDERS_MAX])
{
    char path[DB_FORMER_PATH_MAX];
    int n = 0;
    snprintf(path, sizeof path, "%s/former", state->path);
    DIR *listing = opendir(path);
    if (!listing)
        return errno == ENOENT ? 0 : -errno;
    for (const struct dirent *entry; n < FOLDERS_MAX && (entry = readdir(listing)) != NULL;) {
        struct stat st;
        if (strncmp(entry->d_name, mark, sizeof mark - 1) != 0)
            continue;
        snprintf(kept[n].path, sizeof kept[n].path, "%s/former/%.20s", state->path, entry->d_name);
        if (lstat(kept[n].path, &st) < 0 || !S_ISDIR(st.st_mode))
            continue;
        kept[n++].made_s = st.st_mtim.tv_sec;
    }
    closedir(listing);
    qsort(kept, (size_t)n, sizeof *kept, newest_first);
    return n;
}

int db_former_prune(const struct state_dir *state, int64_t now_ns)
{
    char making[DB_FORMER_PATH_MAX];
    struct former_state kept[FOLDERS_MAX];
    int n = list(state, kept), removed = 0;
    if (n < 0)
        return n;
    snprintf(making, sizeof making, "%s/former/%s", state->path, unfinished);
    int r = folder_remove(making);
    for (int i = 0; i < n && r == 0; i++) {
        const int64_t age_s = now_ns / 1000000000 - kept[i].made_s;
        if (i < DB_FORMER_MAX && age_s <= DB_FORMER_DAYS * (int64_t)86400)
            continue;
        r = folder_remove(kept[i].path);
        removed += r == 0;
    }
    return r < 0 ? r : removed;
}

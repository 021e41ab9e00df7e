#include "daemon/rebuild_swap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/rebuild.h"

enum { DATE_SIZE = 24, SAME_SECOND_MAX = 100 };

static const char *const companions[] = {"-wal", "-shm", "-journal"};
enum { COMPANIONS = sizeof companions / sizeof *companions };

int daemon_rebuild_fail(int r, char *err, size_t err_size, const char *path)
{
    snprintf(err, err_size, "%s: %s", path, strerror(-r));
    return r;
}

bool daemon_rebuild_there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static int sync_path(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = fsync(fd) < 0 ? -errno : 0;
    close(fd);
    return r;
}

int daemon_rebuild_remove(const char *path)
{
    char name[REBUILD_PATH_MAX + 16];
    for (int i = 0; i < COMPANIONS; i++) {
        snprintf(name, sizeof name, "%s%s", path, companions[i]);
        if (unlink(name) < 0 && errno != ENOENT)
            return -errno;
    }
    return unlink(path) < 0 && errno != ENOENT ? -errno : 0;
}

static int move(const char *from, const char *to)
{
    return rename(from, to) < 0 && errno != ENOENT ? -errno : 0;
}

/* Companions first: without its WAL the database is merely older, and a WAL must never stand beside a
 * database that is not its own. Nothing is kept of one whose file was removed. */
int daemon_rebuild_swap(const struct state_dir *state, const struct rebuild_paths *paths)
{
    char from[REBUILD_PATH_MAX + 16], to[REBUILD_PATH_MAX + 16];
    int r = daemon_rebuild_there(state->database) ? 0 : daemon_rebuild_remove(state->database);
    for (int i = 0; i < COMPANIONS && r == 0; i++) {
        snprintf(from, sizeof from, "%s%s", state->database, companions[i]);
        snprintf(to, sizeof to, "%s%s", paths->aside, companions[i]);
        r = move(from, to);
    }
    if (r == 0)
        r = move(state->database, paths->aside);
    if (r == 0)
        r = sync_path(state->path, O_RDONLY | O_DIRECTORY);
    if (r == 0 && rename(paths->built, state->database) < 0)
        r = -errno;
    return r == 0 ? sync_path(state->path, O_RDONLY | O_DIRECTORY) : r;
}

static void name_paths(const struct state_dir *state, const char *date, struct rebuild_paths *ret)
{
    snprintf(ret->building, sizeof ret->building, "%s.rebuilding", state->database);
    snprintf(ret->built, sizeof ret->built, "%s.rebuilt-%s", state->database, date);
    snprintf(ret->aside, sizeof ret->aside, "%s.former-%s", state->database, date);
    snprintf(ret->unsound, sizeof ret->unsound, "%s.unsound-%s", state->database, date);
}

int daemon_rebuild_paths_choose(const struct state_dir *state, int64_t now_ns, struct rebuild_paths *ret)
{
    char date[DATE_SIZE], with[REBUILD_PATH_MAX];
    struct tm tm;
    for (int64_t second = now_ns / 1000000000, last = second + SAME_SECOND_MAX; second < last; second++) {
        time_t at = (time_t)second;
        if (!gmtime_r(&at, &tm) || !strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &tm))
            return -EOVERFLOW;
        name_paths(state, date, ret);
        snprintf(with, sizeof with, "%.500s-wal", ret->aside);
        if (!daemon_rebuild_there(ret->built) && !daemon_rebuild_there(ret->aside) &&
            !daemon_rebuild_there(with))
            return 0;
    }
    return -EEXIST;
}

int daemon_rebuild_seal(const struct state_dir *state, const struct rebuild_paths *paths, char *err,
                        size_t err_size)
{
    char name[REBUILD_PATH_MAX + 16];
    struct stat st;
    snprintf(name, sizeof name, "%s-wal", paths->building);
    if (stat(name, &st) == 0 && st.st_size > 0)
        return daemon_rebuild_fail(-EBUSY, err, err_size, name);
    for (int i = 0; i < COMPANIONS; i++) {
        snprintf(name, sizeof name, "%s%s", paths->building, companions[i]);
        unlink(name);
    }
    int r = sync_path(paths->building, O_RDONLY);
    if (r == 0 && rename(paths->building, paths->built) < 0)
        r = -errno;
    if (r == 0)
        r = sync_path(state->path, O_RDONLY | O_DIRECTORY);
    return r < 0 ? daemon_rebuild_fail(r, err, err_size, paths->building) : 0;
}

int daemon_rebuild_finish(const struct state_dir *state, char *err, size_t err_size)
{
    static const char mark[] = "papertape.db.rebuilt-";
    struct rebuild_paths paths;
    char date[DATE_SIZE] = "";
    DIR *dir = opendir(state->path);
    if (!dir)
        return daemon_rebuild_fail(-errno, err, err_size, state->path);
    for (struct dirent *entry; (entry = readdir(dir));) /* the newest, should there be two */
        if (strncmp(entry->d_name, mark, sizeof mark - 1) == 0 &&
            strlen(entry->d_name) == sizeof mark - 1 + 16 &&
            strcmp(entry->d_name + sizeof mark - 1, date) > 0)
            snprintf(date, sizeof date, "%.16s", entry->d_name + sizeof mark - 1);
    closedir(dir);
    name_paths(state, date, &paths);
    int r = daemon_rebuild_remove(paths.building);
    if (r < 0)
        return daemon_rebuild_fail(r, err, err_size, paths.building);
    if (!*date)
        return 0;
    r = daemon_rebuild_swap(state, &paths);
    return r < 0 ? daemon_rebuild_fail(r, err, err_size, paths.built) : 1;
}

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/backup_part.h"
#include "cli/restore.h"
#include "cli/restore_move.h"
#include "exchange/fail.h"
#include "exchange/folder.h"
#include "exchange/whole_file.h"

enum { DESCRIPTORS = 16, PARENT_MODE = 0750 };

/* ---- where to ---- */

/* A lock that is there: does a daemon hold it? */
static int check_unused(const struct state_dir *state, char *err, size_t err_size)
{
    int fd;
    if (access(state->lock, F_OK) < 0)
        return 0;
    int r = db_state_dir_lock(state, &fd, err, err_size);
    if (r == 0)
        close(fd);
    return r;
}

/* The folder is replaced by another, which a mount point cannot be. */
static bool is_mount_point(const struct state_dir *state, const struct stat *st)
{
    char parent[STATE_PATH_MAX + 4];
    struct stat above;
    snprintf(parent, sizeof parent, "%s/..", state->path);
    return stat(parent, &above) == 0 && above.st_dev != st->st_dev;
}

static int check_target(const struct state_dir *state, char *err, size_t err_size)
{
    char first[NAME_MAX + 1];
    struct stat st;
    if (lstat(state->path, &st) < 0)
        return errno == ENOENT ? 0 : fail_with(-errno, err, err_size, "%s: %s", state->path, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return fail_with(-EEXIST, err, err_size, "%s: is no folder: a new or an empty one is right",
                         state->path);
    int r = check_unused(state, err, err_size);
    if (r == 0 && is_mount_point(state, &st))
        r = fail_with(-EBUSY, err, err_size,
                      "%s: a mount point cannot be replaced: give a folder on it with --state DIR",
                      state->path);
    if (r == 0)
        r = cli_restore_clear(state->path, err, err_size);
    if (r < 0)
        return r;
    r = cli_backup_part_is_empty(state->path, STATE_RESTORE_PART, first);
    if (r == -ENOTEMPTY)
        return fail_with(-EEXIST, err, err_size,
                         "%s: it is not empty (%.100s): move it away, or give another --state DIR",
                         state->path, first);
    return r < 0 ? fail_with(r, err, err_size, "%s: %s", state->path, strerror(-r)) : 0;
}

static int64_t room_of(int folder)
{
    struct statvfs disk;
    return fstatvfs(folder, &disk) == 0 ? (int64_t)(disk.f_bavail * disk.f_frsize) : INT64_MAX;
}

/* ---- whose it is ---- */

static uid_t owner;
static gid_t group;

static int give_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st;
    (void)kind;
    (void)walk;
    return lchown(path, owner, group) < 0 ? -errno : 0;
}

/* What root restores belongs to the owner of the folder that it replaces. */
static int give_to_owner(const char *part, const char *path)
{
    struct stat st;
    if (geteuid() != 0 || stat(path, &st) < 0)
        return 0;
    owner = st.st_uid;
    group = st.st_gid;
    return nftw(part, give_one, DESCRIPTORS, FTW_PHYS);
}

/* ---- the whole ---- */

static int64_t size_of(const struct backup_manifest *manifest)
{
    const char *name;
    json_t *row;
    int64_t bytes = 0;
    json_object_foreach(manifest->files, name, row) bytes += json_integer_value(json_object_get(row, "size"));
    return bytes;
}

/* Is `part` a folder in `path`, not beside it? */
static bool is_within(const char *part, const char *path)
{
    const size_t n = strlen(path);
    return strncmp(part, path, n) == 0 && part[n] == '/';
}

static int finish(const char *part, const char *path, int folder, char *err, size_t err_size)
{
    const bool within = is_within(part, path);
    int r = cli_backup_part_show(folder);
    if (r == 0)
        r = give_to_owner(part, path);
    if (r == 0 && (syncfs(folder) < 0 || (!within && rename(part, path) < 0)))
        r = -errno;
    if (r == 0 && within)
        return cli_restore_move(part, path, err, err_size);
    if (r == 0)
        r = whole_file_sync_folder(path);
    return r < 0 ? fail_with(r, err, err_size, "%s: %s", path, strerror(-r)) : 0;
}

/* Into the folder that is open, and locked. */
static int restore(const char *from, const struct state_dir *part, const char *path, int folder, bool paced,
                   const atomic_bool *stop, struct restore_result *ret, char *err, size_t err_size)
{
    struct backup_manifest manifest = {0};
    int r = cli_restore_check(from, room_of(folder), stop, &manifest, err, err_size);
    if (r < 0)
        return r;
    *ret = (struct restore_result){.event = manifest.moment.event,
                                   .ledger_rows = manifest.moment.ledger_rows,
                                   .created_ns = manifest.created_ns,
                                   .bytes = size_of(&manifest),
                                   .files = (int)json_object_size(manifest.files)};
    cli_backup_hash_text(manifest.moment.ledger_hash, ret->hash);
    r = cli_restore_unpack(from, &manifest, folder, paced, stop, err, err_size);
    if (r == 0)
        r = cli_restore_verify(part, &manifest, ret, err, err_size);
    if (r == 0)
        r = finish(part->path, path, folder, err, err_size);
    cli_backup_manifest_finish(&manifest);
    return r;
}

static int open_at(const char *path, const char *ending, struct state_dir *ret, char *err, size_t err_size)
{
    char name[STATE_PATH_MAX + sizeof "/" STATE_RESTORE_PART];
    snprintf(name, sizeof name, "%s%s", path, ending);
    int r = db_state_dir_find(name, ret, err, err_size);
    return r == 0 ? cli_backup_part_open(ret->path, err, err_size) : r;
}

/* Beside the state; within it, where it is there and its parent is not this user's to write in, or a killed
 * restore has left one there: the state is not empty then, and cannot be replaced. */
static int open_part(const struct state_dir *state, struct state_dir *ret, char *err, size_t err_size)
{
    char within[STATE_PATH_MAX + sizeof "/" STATE_RESTORE_PART];
    struct stat st;
    snprintf(within, sizeof within, "%s/" STATE_RESTORE_PART, state->path);
    if (lstat(within, &st) == 0)
        return open_at(state->path, "/" STATE_RESTORE_PART, ret, err, err_size);
    int folder = open_at(state->path, BACKUP_PART_ENDING, ret, err, err_size);
    if ((folder != -EACCES && folder != -EROFS && folder != -EPERM) || access(state->path, W_OK) < 0)
        return folder;
    return open_at(state->path, "/" STATE_RESTORE_PART, ret, err, err_size);
}

/* As the daemon makes them. */
static int make_parents(const char *path, char *err, size_t err_size)
{
    char parent[STATE_PATH_MAX], failed[PATH_MAX];
    snprintf(parent, sizeof parent, "%s", path);
    char *slash = strrchr(parent, '/');
    if (!slash || slash == parent)
        return 0;
    *slash = '\0';
    int r = folder_make(parent, PARENT_MODE, failed);
    return r < 0 ? fail_with(r, err, err_size, "%s: cannot be created: %s", failed, strerror(-r)) : 0;
}

/* Where a state that is a link to a folder is; the owner's rules are the daemon's. */
static int follow_link(struct state_dir *state, char *err, size_t err_size)
{
    struct stat st;
    char place[PATH_MAX];
    if (lstat(state->path, &st) < 0 || !S_ISLNK(st.st_mode) || stat(state->path, &st) < 0 ||
        !S_ISDIR(st.st_mode) || !realpath(state->path, place))
        return 0; /* what is wrong with it, check_target() says */
    if ((geteuid() != 0 && st.st_uid != geteuid()) || (st.st_mode & S_IWOTH))
        return fail_with(-EPERM, err, err_size,
                         "%s: leads to %s, of uid %u, mode %04o: a folder of uid %u, mode 0750, is right",
                         state->path, place, (unsigned)st.st_uid, (unsigned)(st.st_mode & 07777),
                         (unsigned)geteuid());
    return db_state_dir_find(place, state, err, err_size);
}

int cli_restore_state(const char *from, const char *path, bool paced, const atomic_bool *stop,
                      struct restore_result *ret, char *err, size_t err_size)
{
    struct state_dir state, part;
    int r = db_state_dir_find(path, &state, err, err_size);
    if (r == 0)
        r = follow_link(&state, err, err_size);
    if (r == 0)
        r = check_target(&state, err, err_size);
    if (r == 0)
        r = make_parents(state.path, err, err_size);
    if (r < 0)
        return r;
    int folder = open_part(&state, &part, err, err_size);
    if (folder < 0)
        return folder;
    r = restore(from, &part, state.path, folder, paced, stop, ret, err, err_size);
    if (r < 0)
        folder_remove(part.path);
    close(folder);
    return r;
}

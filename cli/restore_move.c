#include "cli/restore_move.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/backup_part.h"
#include "db/state.h"
#include "exchange/fail.h"
#include "exchange/folder.h"
#include "exchange/whole_file.h"

#define LAST "papertape.db" /* without which it is no state yet */

enum { LIST_MODE = 0600 }; /* who else could open it could lock it */

struct moving {
    const char *part, *folder;
    char list[PATH_MAX]; /* its path in the folder */
    json_t *names;       /* {name: inode} */
};

static int join(char ret[static PATH_MAX], const char *folder, const char *name)
{
    return snprintf(ret, PATH_MAX, "%s/%s", folder, name) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* ---- the list ---- */

static int note_name(void *ctx, const char *name)
{
    const struct moving *moving = ctx;
    char path[PATH_MAX];
    struct stat st;
    int r = join(path, moving->part, name);
    if (r == 0 && lstat(path, &st) < 0)
        r = -errno;
    if (r == 0 && json_object_set_new(moving->names, name, json_integer((json_int_t)st.st_ino)) < 0)
        r = -ENOMEM;
    return r;
}

/* It is the folder's owner's, whose restore may be the next one. */
static int write_list(const struct moving *moving, int fd)
{
    struct stat st;
    char *text = json_dumps(moving->names, 0);
    int r = text ? whole_file_write(fd, text, strlen(text)) : -ENOMEM;
    free(text);
    if (r == 0 && (fsync(fd) < 0 || stat(moving->folder, &st) < 0 ||
                   (geteuid() == 0 && fchown(fd, st.st_uid, st.st_gid) < 0)))
        r = -errno;
    return r;
}

/* Puts the list into the folder, whole. The descriptor, which locks it; -errno. */
static int put_list(const struct moving *moving)
{
    char path[PATH_MAX];
    int r = join(path, moving->part, STATE_RESTORE_LIST);
    int fd = r == 0 ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, LIST_MODE) : r;
    if (fd < 0)
        return r < 0 ? r : -errno;
    r = flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : write_list(moving, fd);
    if (r == 0 && rename(path, moving->list) < 0)
        r = -errno;
    if (r == 0)
        r = whole_file_sync_folder(moving->list);
    if (r < 0)
        close(fd);
    return r < 0 ? r : fd;
}

/* ---- there and back ---- */

static int move_all(const struct moving *moving)
{
    char from[PATH_MAX], to[PATH_MAX];
    const char *name;
    json_t *inode;
    json_object_foreach(moving->names, name, inode)
    {
        int r = join(from, moving->part, name);
        if (r == 0)
            r = join(to, moving->folder, name);
        if (r < 0 || rename(from, to) < 0)
            return r < 0 ? r : -errno;
    }
    return rmdir(moving->part) < 0 ? -errno : whole_file_sync_folder(moving->list);
}

static int end_list(const struct moving *moving)
{
    return unlink(moving->list) < 0 && errno != ENOENT ? -errno : whole_file_sync_folder(moving->list);
}

/* The list is the state's user's, and root may be who restores: no name in it leads out of the folder. */
static bool is_within(const char *name)
{
    return name[0] && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* What has another inode than the list says did not come from the part. */
static int clear_listed(const struct moving *moving)
{
    char path[PATH_MAX];
    const char *name;
    struct stat st;
    json_t *inode;
    int r = 0;
    json_object_foreach(moving->names, name, inode)
    {
        if (r == 0 && is_within(name) && join(path, moving->folder, name) == 0 && lstat(path, &st) == 0 &&
            (json_int_t)st.st_ino == json_integer_value(inode))
            r = folder_remove(path);
    }
    if (r == 0)
        r = whole_file_sync_folder(moving->list);
    return r == 0 ? end_list(moving) : r;
}

static int list_names(const struct moving *moving)
{
    int r = moving->names ? folder_each(moving->part, note_name, (void *)(uintptr_t)moving) : -ENOMEM;
    json_t *last = r == 0 ? json_incref(json_object_get(moving->names, LAST)) : NULL;
    if (last && (json_object_del(moving->names, LAST) < 0 || json_object_set(moving->names, LAST, last) < 0))
        r = -ENOMEM;
    json_decref(last);
    return r;
}

static int begin(const struct moving *moving, char *err, size_t err_size)
{
    char first[NAME_MAX + 1];
    int r = cli_backup_part_is_empty(moving->folder, STATE_RESTORE_PART, first);
    if (r == -ENOTEMPTY)
        return fail_with(-EEXIST, err, err_size, "%s: it is no longer empty (%.100s)", moving->folder, first);
    if (r == 0)
        r = list_names(moving);
    return r < 0 ? fail_with(r, err, err_size, "%s: %s", moving->part, strerror(-r)) : 0;
}

int cli_restore_move(const char *part, const char *folder, char *err, size_t err_size)
{
    struct moving moving = {.part = part, .folder = folder, .names = json_object()};
    int r = join(moving.list, folder, STATE_RESTORE_LIST);
    r = r < 0 ? fail_with(r, err, err_size, "%s: %s", folder, strerror(-r)) : begin(&moving, err, err_size);
    if (r == 0) {
        int fd = put_list(&moving);
        r = fd < 0 ? fd : move_all(&moving);
        r = r < 0 ? r : end_list(&moving);
        if (r < 0) {
            (void)clear_listed(&moving); /* what cannot be removed now has its list for the next restore */
            fail_with(r, err, err_size, "%s: %s", folder, strerror(-r));
        }
        if (fd >= 0)
            close(fd);
    }
    json_decref(moving.names);
    return r;
}

/* ---- after a kill ---- */

/* The list, locked. The descriptor; -ENOENT: there is none, or a restore has removed it meanwhile. */
static int lock_list(const char *list)
{
    struct stat opened, there;
    int fd = open(list, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    int r = flock(fd, LOCK_EX | LOCK_NB) < 0 ? (errno == EWOULDBLOCK ? -EBUSY : -errno) : 0;
    if (r == 0 && (fstat(fd, &opened) < 0 || lstat(list, &there) < 0))
        r = -errno;
    if (r == 0 && (opened.st_ino != there.st_ino || !S_ISREG(opened.st_mode)))
        r = -ENOENT;
    if (r < 0)
        close(fd);
    return r < 0 ? r : fd;
}

int cli_restore_clear(const char *folder, char *err, size_t err_size)
{
    struct moving moving = {.folder = folder};
    int r = join(moving.list, folder, STATE_RESTORE_LIST);
    int fd = r == 0 ? lock_list(moving.list) : r;
    if (fd == -ENOENT)
        return 0;
    if (fd == -EBUSY)
        return fail_with(fd, err, err_size, "%s: another process restores into it", folder);
    if (fd >= 0) {
        moving.names = json_loadfd(fd, 0, NULL);
        r = json_is_object(moving.names) ? clear_listed(&moving) : -EBADMSG;
        json_decref(moving.names);
        close(fd);
    } else {
        r = fd;
    }
    return r < 0 ? fail_with(r, err, err_size, "%s: what a killed restore left cannot be removed: %s",
                             moving.list, strerror(-r))
                 : 0;
}

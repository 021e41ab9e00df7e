#include "cli/backup_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/fail.h"
#include "exchange/folder.h"
#include "exchange/journal/journal.h"

#define DATABASE "papertape.db"
#define NOTICES  "notify.db"

struct walk {
    struct backup_sink *sink;
    const char *state;          /* its path */
    char name[BACKUP_NAME_MAX]; /* of the folder, relative to it; "": itself */
};

static int fail(struct backup_sink *sink, int r, const char *what)
{
    return fail_with(r, sink->err, sizeof sink->err, "%s: %s", what, strerror(-r));
}

/* "FOLDER/NAME". False: too long. */
static bool join(char ret[static PATH_MAX], const char *folder, const char *name)
{
    return snprintf(ret, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

static int put_segment(void *ctx, const struct journal_extent *extent)
{
    struct backup_sink *sink = ctx;
    char name[BACKUP_NAME_MAX];
    snprintf(name, sizeof name, "events/%s", extent->name);
    if (extent->last_seq > sink->manifest.log_event)
        sink->manifest.log_event = extent->last_seq;
    return cli_backup_sink_put(sink, name, extent->fd, extent->bytes);
}

static int put_log(struct backup_sink *sink, const struct state_dir *state)
{
    char err[BACKUP_ERROR_MAX] = "";
    int r = access(state->events, F_OK) < 0 && errno == ENOENT
                ? 0
                : journal_each_up_to(state->events, sink->manifest.moment.event, put_segment, sink, err,
                                     sizeof err);
    if (r < 0 && err[0])
        snprintf(sink->err, sizeof sink->err, "%s", err);
    return r;
}

static bool is_file(const char *path)
{
    struct stat st;
    return lstat(path, &st) < 0 ||
           S_ISREG(st.st_mode); /* one that is absent is reported where it is opened */
}

/* Not through a link: root makes backups of other users' folders. */
static int copy_database(struct backup_sink *sink, const char *from, const char *name)
{
    char to[PATH_MAX];
    if (!is_file(from))
        return fail(sink, -ELOOP, from);
    cli_backup_sink_place(sink, name, to);
    const struct db_backup_way way = {
        .only_read = strcmp(name, DATABASE) == 0, .paced = true, .stop = sink->stop};
    return db_backup_copy(from, to, way, sink->err, sizeof sink->err);
}

/* The database first, then the log: so the log has every event whose rows are in the database. */
static int put_record(struct backup_sink *sink, const struct state_dir *state)
{
    char copy[PATH_MAX];
    int r = copy_database(sink, state->database, DATABASE);
    cli_backup_sink_place(sink, DATABASE, copy);
    if (r == 0)
        r = db_backup_moment(copy, &sink->manifest.moment, sink->err, sizeof sink->err);
    if (r == 0)
        r = put_log(sink, state);
    return r == 0 ? cli_backup_sink_add(sink, DATABASE) : r;
}

static int put_database(void *ctx, const char *name)
{
    struct walk *walk = ctx;
    char path[PATH_MAX];
    const char *end = strrchr(name, '.');
    struct backup_file there;
    if (!end || strcmp(end, ".db") != 0 || strcmp(name, DATABASE) == 0 || !cli_backup_takes(name) ||
        cli_backup_manifest_find(&walk->sink->manifest, name, &there))
        return 0;
    if (!join(path, walk->state, name) || !is_file(path) || !db_backup_is_database(path))
        return 0;
    int r = copy_database(walk->sink, path, name);
    return r == 0 ? cli_backup_sink_add(walk->sink, name) : r;
}

/* ---- folders ---- */

static int walk_folder(struct walk *walk);

static int put_open(struct walk *walk, const char *name, int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return fail(walk->sink, -errno, name);
    return S_ISREG(st.st_mode) ? cli_backup_sink_put(walk->sink, name, fd, st.st_size) : 0;
}

/* A file that is gone by now was replaced or is no longer kept; links and devices are left out. */
static int put_file(struct walk *walk, const char *path, const char *name)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT || errno == ELOOP || errno == ENXIO ? 0 : fail(walk->sink, -errno, path);
    int r = put_open(walk, name, fd);
    close(fd);
    return r;
}

static int put_name(void *ctx, const char *name)
{
    struct walk *walk = ctx;
    struct walk inner = {.sink = walk->sink, .state = walk->state};
    char path[PATH_MAX];
    struct stat st;
    if (snprintf(inner.name, sizeof inner.name, "%.*s/%.255s", BACKUP_NAME_MAX - 257, walk->name, name) >=
            (int)sizeof inner.name ||
        !join(path, walk->state, inner.name) || !cli_backup_takes(inner.name))
        return 0;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : fail(walk->sink, -errno, path);
    return S_ISDIR(st.st_mode) ? walk_folder(&inner) : put_file(walk, path, inner.name);
}

static int walk_folder(struct walk *walk)
{
    char path[PATH_MAX];
    if (!join(path, walk->state, walk->name))
        return 0;
    int r = folder_each(path, put_name, walk);
    if (r == -ENOENT)
        return 0;
    return r < 0 && !walk->sink->err[0] ? fail(walk->sink, r, path) : r;
}

static int put_config(struct backup_sink *sink, const char *config)
{
    struct walk walk = {.sink = sink};
    int fd = open(config, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return fail(sink, -errno, config);
    int r = put_open(&walk, BACKUP_CONFIG, fd);
    close(fd);
    return r;
}

int cli_backup_state(struct backup_sink *sink, const struct state_dir *state, const char *config)
{
    struct walk walk = {.sink = sink, .state = state->path};
    /* Notices before the record: an alert whose number they have already would never be delivered. */
    int r = put_database(&walk, NOTICES);
    if (r == 0)
        r = put_record(sink, state);
    if (r == 0 && (r = folder_each(state->path, put_database, &walk)) < 0 && !sink->err[0])
        fail(sink, r, state->path);
    for (size_t i = 0; r == 0 && cli_backup_folders[i]; i++) {
        snprintf(walk.name, sizeof walk.name, "%s", cli_backup_folders[i]);
        r = walk_folder(&walk);
    }
    return r == 0 && config ? put_config(sink, config) : r;
}

#include "db/state.h"
#include "exchange/fail.h"
#include "exchange/folder.h"
#include "exchange/lock_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECTORY_MODE = 0750 };

static bool join(char ret[static STATE_PATH_MAX], const char *directory, const char *name)
{
    return snprintf(ret, STATE_PATH_MAX, "%s/%s", directory, name) < STATE_PATH_MAX;
}

static int find_path(const char *option, char ret[static STATE_PATH_MAX], char *err, size_t err_size)
{
    const char *system = getenv("STATE_DIRECTORY");
    char own[PATH_MAX];
    int n, r;
    if (option) {
        if (!*option)
            return fail_with(-EINVAL, err, err_size, "--state: empty: a directory is needed");
        if (option[0] == '@' && (!option[1] || strchr(option, '/')))
            return fail_with(-EINVAL, err, err_size,
                             "--state: \"%.64s\": @NAME is the state of papertaped@NAME.service", option);
        n = option[0] == '@' ? snprintf(ret, STATE_PATH_MAX, STATE_SERVICE_DIR "-%s", option + 1)
                             : snprintf(ret, STATE_PATH_MAX, "%s", option);
    } else if (system && *system) {
        /* systemd joins several by colons; the first is ours. */
        n = snprintf(ret, STATE_PATH_MAX, "%.*s", (int)strcspn(system, ":"), system);
        if (*ret != '/')
            return fail_with(-EINVAL, err, err_size, "STATE_DIRECTORY: \"%s\": an absolute path is needed",
                             system);
    } else if ((r = folder_of_user("XDG_STATE_HOME", ".local/state", "papertape", own)) != -ENOENT) {
        n = r < 0 ? STATE_PATH_MAX : snprintf(ret, STATE_PATH_MAX, "%s", own);
    } else {
        return fail_with(-EINVAL, err, err_size, "no state directory: give --state DIR, or set HOME");
    }
    if (n >= STATE_PATH_MAX)
        return fail_with(-ENAMETOOLONG, err, err_size, "the state directory's path is longer than %d bytes",
                         STATE_PATH_MAX - 1);
    while (n > 1 && ret[n - 1] == '/')
        ret[--n] = '\0';
    return 0;
}

int db_state_dir_find(const char *option, struct state_dir *ret, char *err, size_t err_size)
{
    struct state_dir state;
    int r = find_path(option, state.path, err, err_size);
    if (r < 0)
        return r;
    const char *runtime = getenv("RUNTIME_DIRECTORY");
    char socket_dir[STATE_PATH_MAX];
    bool in_runtime = !option && runtime && *runtime == '/';
    int n = in_runtime ? snprintf(socket_dir, sizeof socket_dir, "%.*s", (int)strcspn(runtime, ":"), runtime)
                       : snprintf(socket_dir, sizeof socket_dir, "%s", state.path);
    if (n >= STATE_PATH_MAX || !join(state.database, state.path, "papertape.db") ||
        !join(state.policies, state.path, "policies") ||
        !join(state.checkpoints, state.path, "checkpoints") || !join(state.events, state.path, "events") ||
        !join(state.lock, state.path, "papertaped.lock") || !join(state.socket, socket_dir, "control.sock") ||
        !join(state.socket_read, socket_dir, "control-read.sock"))
        return fail_with(-ENAMETOOLONG, err, err_size, "%.64s…: the path is longer than %d bytes", state.path,
                         STATE_PATH_MAX - 1);
    *ret = state;
    return 0;
}

static bool is_kept(const struct state_dir *state)
{
    return access(state->database, F_OK) == 0 || access(state->socket, F_OK) == 0;
}

/* The instances of the service that keep something, beside it: SERVICE-NAME. How many; the last of them, and
 * their names as --state takes them: "@a, @b". */
static int find_instances(const char *service, struct state_dir *ret, char *names, size_t size)
{
    char pattern[STATE_PATH_MAX], ignored[STATE_PATH_MAX];
    struct state_dir state;
    glob_t found;
    int n = 0;
    size_t used = 0;
    snprintf(pattern, sizeof pattern, "%s-*", service);
    if (glob(pattern, 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (db_state_dir_find(found.gl_pathv[i], &state, ignored, sizeof ignored) == 0 && is_kept(&state)) {
            *ret = state;
            if (used < size)
                used += (size_t)snprintf(names + used, size - used, "%s@%s", n > 0 ? ", " : "",
                                         found.gl_pathv[i] + strlen(service) + 1);
            n++;
        }
    globfree(&found);
    return n;
}

int db_state_dir_look_in(const char *service, const char *option, struct state_dir *ret, char *err,
                         size_t err_size)
{
    const char *system = getenv("STATE_DIRECTORY");
    struct state_dir own, served;
    char ignored[STATE_PATH_MAX], names[256];
    int r = db_state_dir_find(option, &own, err, err_size);
    bool given = option || (system && *system);
    if (r == 0)
        *ret = own;
    if (given || (r == 0 && is_kept(&own)))
        return r;
    bool is_served = db_state_dir_find(service, &served, ignored, sizeof ignored) == 0 && is_kept(&served);
    int n = is_served ? 1 : find_instances(service, &served, names, sizeof names);
    if (n > 1)
        return fail_with(-EINVAL, err, err_size,
                         "%d instances of papertaped have a state here: name one by --state: %s", n, names);
    if (n == 1)
        *ret = served;
    return n == 1 ? 0 : r;
}

int db_state_dir_resolve(const char *option, struct state_dir *ret, char *err, size_t err_size)
{
    return db_state_dir_look_in(STATE_SERVICE_DIR, option, ret, err, err_size);
}

/* May this user see what is in it? */
static bool denied(const char *path, struct stat *ret)
{
    return stat(path, ret) == 0 && S_ISDIR(ret->st_mode) && access(path, R_OK | X_OK) < 0 && errno == EACCES;
}

bool db_state_dir_denied_in(const char *service, const struct state_dir *state, const char *option,
                            char *words, size_t size)
{
    struct stat st;
    const char *path = state->path, *system = getenv("STATE_DIRECTORY");
    bool given = option || (system && *system);
    if (!denied(path, &st)) {
        path = service;
        if (given || is_kept(state) || !denied(path, &st))
            return false;
    }
    const struct group *group = getgrgid(st.st_gid);
    char operators[33]; /* before another look-up */
    snprintf(operators, sizeof operators, "%s", group ? group->gr_name : "");
    snprintf(
        words, size,
        "%s: what is kept there may not be read by uid %u: be a member of its group %s%.32s%s, or name a "
        "state of your own with --state",
        path, (unsigned)geteuid(), group ? "" : "(unnamed)", operators,
        getgrnam(STATE_READERS) ? ", or of " STATE_READERS " to read only" : "");
    return true;
}

bool db_state_dir_denied(const struct state_dir *state, const char *option, char *words, size_t size)
{
    return db_state_dir_denied_in(STATE_SERVICE_DIR, state, option, words, size);
}

int db_state_dir_check_socket(const struct state_dir *state, char *err, size_t err_size)
{
    if (strlen(state->socket) > STATE_SOCKET_MAX)
        return fail_with(-ENAMETOOLONG, err, err_size,
                         "%s: a socket's path has at most %d bytes: use a shorter state directory",
                         state->socket, STATE_SOCKET_MAX);
    struct stat st;
    if (lstat(state->socket, &st) == 0 && S_ISDIR(st.st_mode)) /* anything else is replaced */
        return fail_with(-EPERM, err, err_size, "%s: is a directory: a socket is made there: move that away",
                         state->socket);
    return 0;
}

static int check_directory(const char *path, char *err, size_t err_size)
{
    struct stat st;
    if (stat(path, &st) < 0 && errno == ENOENT)
        return fail_with(-EPERM, err, err_size,
                         "%s: is a symbolic link that leads nowhere: make the directory, or remove the link",
                         path);
    if (stat(path, &st) < 0)
        return fail_with(-errno, err, err_size, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return fail_with(-ENOTDIR, err, err_size, "%s: is not a directory: one is needed, as --state DIR",
                         path);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return fail_with(
            -EPERM, err, err_size,
            "%s: belongs to uid %u, not to uid %u which runs this: chown it, or give another --state DIR",
            path, (unsigned)st.st_uid, (unsigned)geteuid());
    if (st.st_mode & S_IWOTH)
        return fail_with(-EPERM, err, err_size,
                         "%s: every user may write in it (mode %04o): mode 0750 is needed: chmod 0750 %s",
                         path, (unsigned)(st.st_mode & 07777), path);
    return 0;
}

/* Creates a directory and its parents. */
static int make_directory(const char *path, char *err, size_t err_size)
{
    char failed[PATH_MAX];
    int r = folder_make(path, DIRECTORY_MODE, failed);
    return r < 0 ? fail_with(r, err, err_size, "%s: cannot be created: %s", failed, strerror(-r))
                 : check_directory(path, err, err_size);
}

const char *db_state_kind(mode_t mode)
{
    return S_ISLNK(mode)    ? "a symbolic link"
           : S_ISDIR(mode)  ? "a directory"
           : S_ISFIFO(mode) ? "a FIFO"
           : S_ISREG(mode)  ? "a file"
                            : "neither file nor directory";
}

/* May this user do what is needed with a path of the state? -EACCES with its owner. */
static int check_access(const char *path, int wanted, const char *needed, char *err, size_t err_size)
{
    struct stat st;
    if (access(path, wanted) == 0 || errno == ENOENT)
        return 0;
    int r = -errno;
    if (r != -EACCES || stat(path, &st) < 0)
        return fail_with(r, err, err_size, "%s: cannot be %s: %s", path, wanted & W_OK ? "written" : "read",
                         strerror(-r));
    return fail_with(r, err, err_size,
                     "%s: uid %u, which runs this, may not %s it (it belongs to uid %u, mode %04o): %s %s %s",
                     path, (unsigned)geteuid(), wanted & W_OK ? "read and write" : "read",
                     (unsigned)st.st_uid, (unsigned)(st.st_mode & 07777),
                     st.st_uid == geteuid() ? "chmod" : "chown it to that user and chmod", needed, path);
}

/* A segment that cannot be read is not a damaged one. The newest, which is the last by name, is written to.
 */
static int check_segments(const struct state_dir *state, char *err, size_t err_size)
{
    char path[STATE_PATH_MAX + NAME_MAX + 2], newest[NAME_MAX + 1] = "";
    DIR *listing = opendir(state->events);
    int r = listing ? 0 : fail_with(-errno, err, err_size, "%s: %s", state->events, strerror(errno));
    for (const struct dirent *entry; r == 0 && (entry = readdir(listing)) != NULL;) {
        const char *name = entry->d_name, *end = strrchr(name, '.');
        if (!end || strcmp(end, ".journal") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", state->events, name);
        r = check_access(path, R_OK, "0640", err, err_size);
        if (strcmp(name, newest) > 0)
            snprintf(newest, sizeof newest, "%s", name);
    }
    if (listing)
        closedir(listing);
    if (r < 0 || !newest[0])
        return r;
    snprintf(path, sizeof path, "%s/%s", state->events, newest);
    return check_access(path, R_OK | W_OK, "0640", err, err_size);
}

/* SQLite would follow a link, and write where it points to. */
static int check_database(const struct state_dir *state, char *err, size_t err_size)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char path[STATE_PATH_MAX + 16];
        struct stat st;
        snprintf(path, sizeof path, "%s%s", state->database, ends[i]);
        if (lstat(path, &st) < 0)
            continue; /* absent, or the open reports why */
        if (!S_ISREG(st.st_mode))
            return fail_with(
                -EPERM, err, err_size,
                "%s: is %s: the database is a file in the state directory itself: move that here", path,
                db_state_kind(st.st_mode));
        if (st.st_uid != geteuid())
            return fail_with(
                -EPERM, err, err_size,
                "%s: belongs to uid %u, not to uid %u which runs this: chown it, or give another --state "
                "DIR",
                path, (unsigned)st.st_uid, (unsigned)geteuid());
        int r = check_access(path, R_OK | W_OK, "0640", err, err_size);
        if (r < 0)
            return r;
    }
    return 0;
}

/* What is there is no state before all of it is. */
static int check_restored(const struct state_dir *state, char *err, size_t err_size)
{
    static const char *const names[] = {STATE_RESTORE_LIST, STATE_RESTORE_PART};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[STATE_PATH_MAX + 32];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", state->path, names[i]);
        if (lstat(path, &st) == 0)
            return fail_with(-EBUSY, err, err_size,
                             "%s: a restore into it is not complete: wait for its end, or run `papertape "
                             "restore` again if it was killed (%s)",
                             state->path, names[i]);
    }
    return 0;
}

int db_state_dir_create(const struct state_dir *state, char *err, size_t err_size)
{
    int restored = check_restored(state, err, err_size);
    if (restored < 0)
        return restored;
    const char *const directories[] = {state->path, state->policies, state->checkpoints, state->events};
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        int r = make_directory(directories[i], err, err_size);
        if (r < 0)
            return r;
        if ((r = check_access(directories[i], R_OK | W_OK | X_OK, "0750", err, err_size)) < 0)
            return r;
    }
    int r = check_database(state, err, err_size);
    return r < 0 ? r : check_segments(state, err, err_size);
}

static pid_t read_pid(int fd)
{
    char text[24];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    return (pid_t)strtol(text, NULL, 10);
}

/* Its pid is written over the file's content: so the file must be ours. */
static int check_lock(const struct state_dir *state, int fd, char *err, size_t err_size)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return fail_with(-errno, err, err_size, "%s: %s", state->lock, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return fail_with(-EPERM, err, err_size, "%s: is %s: a file is needed: remove that", state->lock,
                         db_state_kind(st.st_mode));
    if (st.st_nlink > 1)
        return fail_with(-EPERM, err, err_size,
                         "%s: the file has %u names (hard links): one of its own is needed: remove this one",
                         state->lock, (unsigned)st.st_nlink);
    if (st.st_uid != geteuid())
        return fail_with(-EPERM, err, err_size,
                         "%s: belongs to uid %u, not to uid %u which runs this: remove it", state->lock,
                         (unsigned)st.st_uid, (unsigned)geteuid());
    return 0;
}

static int open_lock(const struct state_dir *state, char *err, size_t err_size)
{
    int fd = lock_file_open(AT_FDCWD, state->lock);
    if (fd == -ELOOP || fd == -EISDIR)
        return fail_with(-EPERM, err, err_size, "%s: is %s: a file is needed: remove that", state->lock,
                         fd == -ELOOP ? "a symbolic link" : "a directory");
    if (fd < 0) {
        int denied = check_access(state->lock, R_OK | W_OK, "0600", err, err_size);
        return denied < 0 ? denied : fail_with(fd, err, err_size, "%s: %s", state->lock, strerror(-fd));
    }
    int r = check_lock(state, fd, err, err_size);
    if (r < 0)
        close(fd);
    return r < 0 ? r : fd;
}

int db_state_dir_lock(const struct state_dir *state, int *ret_fd, char *err, size_t err_size)
{
    int fd = open_lock(state, err, err_size);
    if (fd < 0)
        return fd;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int r;
    if (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
        r = errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
        if (r == -EBUSY)
            fail_with(r, err, err_size, "%s: " FAIL_LOCKED("papertaped, pid %d", "--state DIR"), state->path,
                      (int)read_pid(fd));
        else
            fail_with(r, err, err_size, "%s: cannot be locked: %s", state->lock, strerror(-r));
        close(fd);
        return r;
    }
    char pid[24];
    int n = snprintf(pid, sizeof pid, "%d\n", (int)getpid());
    if (ftruncate(fd, 0) < 0 || pwrite(fd, pid, (size_t)n, 0) != n) {
        r = errno ? -errno : -EIO;
        fail_with(r, err, err_size, "%s: cannot be written: %s", state->lock, strerror(-r));
        close(fd);
        return r;
    }
    *ret_fd = fd;
    return 0;
}

int db_state_dir_holder(const struct state_dir *state, pid_t *ret_pid)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(state->lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    int r = fcntl(fd, F_OFD_GETLK, &lock) < 0 ? -errno : lock.l_type != F_UNLCK;
    if (r == 1)
        *ret_pid = read_pid(fd);
    close(fd);
    return r;
}

int db_state_dir_keep_lock(const struct state_dir *state, int *fd, char *err, size_t err_size)
{
    struct stat own, named = {0};
    int taken;
    if (fstat(*fd, &own) < 0 || (lstat(state->lock, &named) < 0 && errno != ENOENT))
        return 0; /* not known */
    if (own.st_nlink > 0 && own.st_ino == named.st_ino && own.st_dev == named.st_dev)
        return 0;
    int r = db_state_dir_lock(state, &taken, err, err_size);
    if (r < 0)
        return r;
    close(*fd);
    *fd = taken;
    return 1;
}

bool db_state_database(const char *given, char database[static STATE_PATH_MAX])
{
    static const char magic[16] = "SQLite format 3";
    char head[sizeof magic] = "";
    struct stat info;
    if (stat(given, &info) < 0) { /* opening it reports why */
        size_t len = strlen(given);
        return len > 3 && strcmp(given + len - 3, ".db") == 0 &&
               snprintf(database, STATE_PATH_MAX, "%s", given) < STATE_PATH_MAX;
    }
    int n = snprintf(database, STATE_PATH_MAX, S_ISDIR(info.st_mode) ? "%s/papertape.db" : "%s", given);
    if (n < 0 || n >= STATE_PATH_MAX)
        return false;
    if (S_ISDIR(info.st_mode))
        return true;
    if (!S_ISREG(info.st_mode)) /* a pipe can be read once */
        return false;
    FILE *file = fopen(given, "rbe");
    bool is =
        file && fread(head, 1, sizeof head, file) == sizeof head && memcmp(head, magic, sizeof magic) == 0;
    if (file)
        fclose(file);
    return is;
}

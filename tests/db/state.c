/* The state directory: where it is, what is made of it, and that one daemon at a time has it. */
#include "db/state.h"

#include <errno.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/db/fixture.h"

static void test_find(void)
{
    struct state_dir state = {0};
    char err[256] = "", text[256];
    setenv("HOME", "/home/u", 1);
    unsetenv("STATE_DIRECTORY");
    unsetenv("XDG_STATE_HOME");
    unsetenv("RUNTIME_DIRECTORY");
    CHECK_INT(db_state_dir_find(NULL, &state, err, sizeof err), 0);
    CHECK_STR(state.path, "/home/u/.local/state/papertape");
    CHECK_STR(state.database, "/home/u/.local/state/papertape/papertape.db");
    CHECK_STR(state.socket, "/home/u/.local/state/papertape/control.sock");
    CHECK_STR(state.events, "/home/u/.local/state/papertape/events");
    setenv("XDG_STATE_HOME", "/x", 1);
    CHECK_INT(db_state_dir_find(NULL, &state, err, sizeof err), 0);
    CHECK_STR(state.path, "/x/papertape");
    setenv("STATE_DIRECTORY", "/var/lib/papertape:/var/lib/other", 1);
    setenv("RUNTIME_DIRECTORY", "/run/papertape", 1);
    CHECK_INT(db_state_dir_find(NULL, &state, err, sizeof err), 0);
    CHECK_STR(state.path, "/var/lib/papertape");
    CHECK_STR(state.socket, "/run/papertape/control.sock");
    CHECK_INT(db_state_dir_find("d//", &state, err, sizeof err), 0);
    CHECK_STR(state.path, "d");
    CHECK_STR(state.socket, "d/control.sock");
    CHECK_STR(err, "");

    CHECK_INT(db_state_dir_find("", &state, err, sizeof err), -EINVAL);
    CHECK_STR(state.path, "d");
    setenv("STATE_DIRECTORY", "relative", 1);
    CHECK_INT(db_state_dir_find(NULL, &state, err, sizeof err), -EINVAL);
    CHECK_STR(err, "STATE_DIRECTORY: \"relative\": an absolute path is needed");
    unsetenv("STATE_DIRECTORY");
    unsetenv("XDG_STATE_HOME");
    unsetenv("HOME");
    CHECK_INT(db_state_dir_find(NULL, &state, err, sizeof err), -EINVAL);

    /* 107 bytes are a socket's longest path. */
    memset(text, 'a', sizeof text);
    text[0] = '/';
    text[107 - strlen("/control.sock")] = '\0';
    CHECK_INT(db_state_dir_find(text, &state, err, sizeof err), 0);
    CHECK_INT(strlen(state.socket), 107);
    CHECK_INT(db_state_dir_check_socket(&state, err, sizeof err), 0);
    text[107 - strlen("/control.sock")] = 'a';
    text[108 - strlen("/control.sock")] = '\0';
    CHECK_INT(db_state_dir_find(text, &state, err, sizeof err),
              0); /* a program that opens no socket may have such a path */
    CHECK_INT(db_state_dir_check_socket(&state, err, sizeof err), -ENAMETOOLONG);
    CHECK(strstr(err, "at most 107 bytes") != NULL);
}

/* @NAME is an instance of the service; without --state the only one is found, where the service has no state.
 */
static void test_instances(const char *directory)
{
    struct state_dir state;
    char err[256] = "", own[SCRATCH_PATH_MAX], service[SCRATCH_PATH_MAX], one[SCRATCH_PATH_MAX + 16],
         file[SCRATCH_PATH_MAX + 32];
    CHECK_INT(db_state_dir_find("@crypto", &state, err, sizeof err), 0);
    CHECK_STR(state.socket, STATE_SERVICE_DIR "-crypto/control.sock");
    CHECK_STR(state.socket_read, STATE_SERVICE_DIR "-crypto/control-read.sock");
    CHECK_INT(db_state_dir_find("@", &state, err, sizeof err), -EINVAL);
    CHECK_INT(db_state_dir_find("@../x", &state, err, sizeof err), -EINVAL);
    CHECK_INT(db_state_dir_find("./@crypto", &state, err, sizeof err), 0);
    CHECK_STR(state.path, "./@crypto");

    snprintf(own, sizeof own, "%s/no-own", directory);
    snprintf(service, sizeof service, "%s/named", directory);
    setenv("XDG_STATE_HOME", own, 1);
    for (int i = 1; i <= 2; i++) {
        snprintf(one, sizeof one, "%s-%d", service, i);
        CHECK_INT(mkdir(one, 0700), 0);
        CHECK_INT(db_state_dir_look_in(service, NULL, &state, err, sizeof err), 0);
        CHECK(i == 2 || strncmp(state.path, own, strlen(own)) == 0); /* an empty one is none */
        snprintf(file, sizeof file, "%s/papertape.db", one);
        fclose(fopen(file, "w"));
        CHECK_INT(db_state_dir_look_in(service, NULL, &state, err, sizeof err), i == 1 ? 0 : -EINVAL);
        CHECK(i == 2 || strcmp(state.path, one) == 0);
    }
    CHECK_STR(err, "2 instances of papertaped have a state here: name one by --state: @1, @2");
    CHECK_INT(mkdir(service, 0700), 0);
    snprintf(file, sizeof file, "%s/papertape.db", service);
    fclose(fopen(file, "w"));
    CHECK_INT(db_state_dir_look_in(service, NULL, &state, err, sizeof err), 0);
    CHECK_STR(state.path, service);
}

/* A program that only reads finds the service's state where its user has no state. */
static void test_look(const char *directory)
{
    struct state_dir state;
    char err[256] = "", own[SCRATCH_PATH_MAX], service[SCRATCH_PATH_MAX], mine[SCRATCH_PATH_MAX + 16],
         theirs[SCRATCH_PATH_MAX + 16];
    snprintf(own, sizeof own, "%s/own", directory);
    snprintf(mine, sizeof mine, "%s/papertape", own);
    snprintf(service, sizeof service, "%s/service", directory);
    unsetenv("RUNTIME_DIRECTORY");
    CHECK_INT(mkdir(own, 0700) | mkdir(mine, 0700) | mkdir(service, 0700), 0);
    setenv("XDG_STATE_HOME", own, 1);
    CHECK_INT(db_state_dir_look_in(service, NULL, &state, err, sizeof err), 0);
    CHECK_STR(state.path, mine); /* neither has one */
    snprintf(theirs, sizeof theirs, "%s/papertape.db", service);
    fclose(fopen(theirs, "w"));
    CHECK_INT(db_state_dir_look_in(service, NULL, &state, err, sizeof err), 0);
    CHECK_STR(state.path, service);
    CHECK_INT(db_state_dir_look_in(service, "d", &state, err, sizeof err), 0);
    CHECK_STR(state.path, "d");
    setenv("STATE_DIRECTORY", own, 1);
    CHECK_INT(db_state_dir_look_in(service, NULL, &state, err, sizeof err), 0);
    CHECK_STR(state.path, own);
    unsetenv("STATE_DIRECTORY");
    CHECK_INT(db_state_dir_find(NULL, &state, err, sizeof err), 0);
    CHECK_STR(state.path, mine); /* a daemon has its own */
    strcat(mine, "/control.sock");
    fclose(fopen(mine, "w"));
    CHECK_INT(db_state_dir_look_in(service, NULL, &state, err, sizeof err), 0);
    CHECK_STR(state.socket, mine);
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    unsetenv("XDG_STATE_HOME");
    unsetenv("HOME"); /* as of a cron job */
    CHECK_INT(db_state_dir_look_in(service, NULL, &state, err, sizeof err), 0);
    CHECK_STR(state.path, service);
    CHECK_INT(db_state_dir_look_in(own, NULL, &state, err, sizeof err), -EINVAL);
    if (home)
        setenv("HOME", home, 1);
    free(home);
}

static void refused(const struct state_dir *state, const char *words)
{
    char err[512] = "";
    CHECK_INT(db_state_dir_create(state, err, sizeof err), -EPERM);
    CHECK(strstr(err, words) != NULL);
}

/* A user who may not look into the service's state reads that, and whose group may. */
static void test_denied(const char *directory)
{
    struct state_dir state;
    char service[SCRATCH_PATH_MAX], mine[SCRATCH_PATH_MAX], words[512], expected[512] = "";
    snprintf(service, sizeof service, "%s/denied", directory);
    snprintf(mine, sizeof mine, "%s/none", directory);
    CHECK_INT(mkdir(service, 0750), 0);
    CHECK_INT(db_state_dir_find(mine, &state, words, sizeof words), 0);
    CHECK(!db_state_dir_denied_in(service, &state, NULL, words, sizeof words)); /* its own user */
    if (geteuid() != 0) {
        puts("another user's state is not tried: that needs root");
        return;
    }
    CHECK_INT(chmod(scratch.root, 0755) | chmod(directory, 0755), 0);
    snprintf(expected, sizeof expected,
             "%s: what is kept there may not be read by uid 65534: be a member of its group root, or",
             service);
    pid_t child = fork();
    if (child == 0) {
        bool right = setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0 &&
                     db_state_dir_denied_in(service, &state, NULL, words, sizeof words) &&
                     strncmp(words, expected, strlen(expected)) == 0 &&
                     !db_state_dir_denied_in(service, &state, mine, words, sizeof words) && /* --state */
                     db_state_dir_find(service, &state, words, sizeof words) == 0 &&
                     db_state_dir_denied_in("/none", &state, service, words, sizeof words);
        _exit(right ? 0 : 1);
    }
    int status;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

/* What others could have put there is not written to. */
static void test_not_ours(const char *directory)
{
    struct state_dir state;
    char err[256] = "", path[SCRATCH_PATH_MAX], wal[STATE_PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/safe", directory);
    CHECK_INT(db_state_dir_find(path, &state, err, sizeof err), 0);
    CHECK_INT(db_state_dir_create(&state, err, sizeof err), 0);
    CHECK_INT(chmod(path, 01777), 0);
    refused(&state, "every user may write in it (mode 1777)");
    CHECK_INT(chmod(path, 0770), 0);
    CHECK_INT(chmod(state.events, 0757), 0);
    refused(&state, "events: every user may write in it (mode 0757)");
    CHECK_INT(chmod(state.events, 0750), 0);
    CHECK_INT(db_state_dir_create(&state, err, sizeof err), 0);
    CHECK_INT(symlink("/dev/null", state.database), 0);
    refused(&state, "papertape.db: is a symbolic link");
    unlink(state.database);
    snprintf(wal, sizeof wal, "%s-wal", state.database);
    CHECK_INT(mkfifo(wal, 0600), 0);
    refused(&state, "papertape.db-wal: is a FIFO");
    unlink(wal);
    fclose(fopen(state.database, "w"));
    CHECK_INT(db_state_dir_create(&state, err, sizeof err), 0);
    CHECK_INT(rmdir(state.events), 0);
    snprintf(path, sizeof path, "%s/larger", directory);
    CHECK_INT(symlink(path, state.events), 0);
    refused(&state, "events: is a symbolic link that leads nowhere");
    CHECK_INT(mkdir(path, 0750), 0); /* a directory on a larger disk */
    CHECK_INT(db_state_dir_create(&state, err, sizeof err), 0);
    if (geteuid() != 0)
        return;
    CHECK_INT(chown(path, 65534, 65534), 0);
    refused(&state, "events: belongs to uid 65534, not to uid 0");
    CHECK_INT(chown(path, 0, 0), 0);
    CHECK_INT(chown(state.database, 65534, 65534), 0);
    refused(&state, "papertape.db: belongs to uid 65534, not to uid 0");
    CHECK_INT(chown(state.path, 65534, 65534), 0);
    refused(&state, "safe: belongs to uid 65534, not to uid 0");
}

/* Takes each permission away in turn: 0, or the number of the first that is not refused in words. */
static int closed_steps(const struct state_dir *state, const char *const segments[2])
{
    const struct {
        const char *path, *words;
        mode_t mode, back;
    } steps[] = {
        {state->database,
         "papertape.db: uid 65534, which runs this, may not read and write it (it belongs to uid 65534, mode "
         "0000): chmod 0640 ",
         0, 0640},
        {state->database, "papertape.db: uid 65534, which runs this, may not read and write it", 0400, 0640},
        {state->events,
         "events: uid 65534, which runs this, may not read and write it (it belongs to uid 65534, mode "
         "0000): chmod 0750 ",
         0, 0750},
        {state->events, "events: uid 65534, which runs this, may not read", 0300, 0750},
        {segments[0],
         "-0.journal: uid 65534, which runs this, may not read it (it belongs to uid 65534, mode 0200)", 0200,
         0640},
        {segments[1], "-9.journal: uid 65534, which runs this, may not read and write it", 0440, 0640},
        {state->path, "closed-db: uid 65534, which runs this, may not read", 0300, 0750},
        {state->policies, "policies: uid 65534, which runs this, may not read", 0500, 0750},
    };
    for (int i = 0; i < (int)(sizeof steps / sizeof *steps); i++) {
        char err[512] = "";
        if (chmod(steps[i].path, steps[i].mode) < 0)
            return i + 1;
        int r = db_state_dir_create(state, err, sizeof err);
        if (chmod(steps[i].path, steps[i].back) < 0 || r != -EACCES || !strstr(err, steps[i].words)) {
            fprintf(stderr, "%s: %d: %s\n", steps[i].words, r, err);
            return i + 1;
        }
    }
    return 0;
}

/* As an ordinary user, since root may read all: what cannot be read is refused, whatever else stands there.
 */
static int closed_child(const struct state_dir *state)
{
    char err[512] = "", older[STATE_PATH_MAX + 64], newest[STATE_PATH_MAX + 64];
    int fd;
    if (setgroups(0, NULL) < 0 || setgid(65534) < 0 || setuid(65534) < 0 ||
        db_state_dir_create(state, err, sizeof err) < 0)
        return 100;
    snprintf(older, sizeof older, "%s/00000001-20261123T000000Z-0.journal", state->events);
    snprintf(newest, sizeof newest, "%s/00000002-20261123T000000Z-9.journal", state->events);
    const char *const files[] = {state->database, older, newest, state->lock};
    for (int i = 0; i < 4; i++)
        fclose(fopen(files[i], "w"));
    if (chmod(older, 0440) < 0 || db_state_dir_create(state, err, sizeof err) < 0)
        return 101; /* an older segment is only read */
    if (chmod(state->lock, 0) < 0 || db_state_dir_lock(state, &fd, err, sizeof err) != -EACCES ||
        !strstr(err, "papertaped.lock: uid 65534, which runs this, may not read and write it"))
        return 102;
    return closed_steps(state, (const char *const[]){older, newest});
}

static void test_closed(const char *directory)
{
    struct state_dir state;
    char err[256] = "", above[SCRATCH_PATH_MAX], path[SCRATCH_PATH_MAX + 16];
    if (geteuid() != 0) {
        puts("what another user may not read is not tried: that needs root");
        return;
    }
    snprintf(above, sizeof above, "%s/above", directory);
    snprintf(path, sizeof path, "%s/closed-db", above);
    CHECK_INT(mkdir(above, 0755) | chmod(scratch.root, 0755) | chmod(directory, 0755), 0);
    CHECK_INT(chown(above, 65534, 65534), 0);
    CHECK_INT(db_state_dir_find(path, &state, err, sizeof err), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(closed_child(&state));
    int status;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(WEXITSTATUS(status), 0);
    CHECK_INT(status, 0);
}

static void lock_refused(const struct state_dir *state, const char *words)
{
    int fd = -1;
    char err[512] = "";
    CHECK_INT(db_state_dir_lock(state, &fd, err, sizeof err), -EPERM);
    CHECK(strstr(err, words) != NULL);
    CHECK_INT(fd, -1);
    unlink(state->lock);
}

/* Nor is what stands in the lock's place. */
static void test_lock_not_ours(const char *directory)
{
    struct state_dir state;
    char err[512] = "", path[SCRATCH_PATH_MAX], other[SCRATCH_PATH_MAX], text[16] = "";
    int fd;
    snprintf(path, sizeof path, "%s/locks", directory);
    snprintf(other, sizeof other, "%s/precious", directory);
    CHECK_INT(db_state_dir_find(path, &state, err, sizeof err), 0);
    CHECK_INT(db_state_dir_create(&state, err, sizeof err), 0);
    FILE *file = fopen(other, "w");
    fputs("precious", file);
    fclose(file);
    CHECK_INT(link(other, state.lock), 0);
    lock_refused(&state, "papertaped.lock: the file has 2 names (hard links)");
    CHECK_INT(symlink(other, state.lock), 0);
    lock_refused(&state, "papertaped.lock: is a symbolic link");
    CHECK_INT(mkfifo(state.lock, 0600), 0);
    lock_refused(&state, "papertaped.lock: is a FIFO");
    CHECK_INT(mkdir(state.lock, 0700), 0);
    lock_refused(&state, "papertaped.lock: is a directory");
    CHECK_INT(rmdir(state.lock), 0);
    file = fopen(other, "r");
    CHECK(fgets(text, sizeof text, file) != NULL);
    fclose(file);
    CHECK_STR(text, "precious");
    CHECK_INT(db_state_dir_lock(&state, &fd, err, sizeof err), 0);
    close(fd);
}

static void test_create(const char *directory)
{
    struct state_dir state;
    char err[256] = "", path[SCRATCH_PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%s/a/b", directory);
    CHECK_INT(db_state_dir_find(path, &state, err, sizeof err), 0);
    mode_t mask = umask(0);
    CHECK_INT(db_state_dir_create(&state, err, sizeof err), 0);
    CHECK_INT(db_state_dir_create(&state, err, sizeof err), 0);
    umask(mask);
    CHECK_INT(stat(state.checkpoints, &st), 0);
    CHECK_INT(st.st_mode & 07777, 0750);
    CHECK_STR(err, "");

    snprintf(path, sizeof path, "%s/file", directory);
    fclose(fopen(path, "w"));
    CHECK_INT(db_state_dir_find(path, &state, err, sizeof err), 0);
    CHECK_INT(db_state_dir_create(&state, err, sizeof err), -ENOTDIR);
    CHECK(strstr(err, "file: is not a directory") != NULL);

    CHECK_INT(db_state_dir_find("/proc/papertape", &state, err, sizeof err), 0);
    CHECK(db_state_dir_create(&state, err, sizeof err) < 0);
    CHECK(strstr(err, "/proc/papertape: cannot be created: ") != NULL);
    if (geteuid() == 0)
        return; /* root may write anywhere */
    snprintf(path, sizeof path, "%s/closed", directory);
    CHECK_INT(mkdir(path, 0500), 0);
    CHECK_INT(db_state_dir_find(path, &state, err, sizeof err), 0);
    CHECK_INT(db_state_dir_create(&state, err, sizeof err), -EACCES);
}

static void test_lock(const char *directory)
{
    struct state_dir state;
    char err[256] = "", expected[256];
    int fd = -1, fd2 = -1, status;
    CHECK_INT(db_state_dir_find(directory, &state, err, sizeof err), 0);
    CHECK_INT(db_state_dir_lock(&state, &fd, err, sizeof err), 0);
    snprintf(expected, sizeof expected,
             "%s: is in use by papertaped, pid %d: end that one, or give another --state DIR", directory,
             (int)getpid());
    CHECK_INT(db_state_dir_lock(&state, &fd2, err, sizeof err), -EBUSY);
    CHECK_STR(err, expected);
    CHECK_INT(fd2, -1);
    pid_t child = fork();
    if (child == 0) {
        bool right = db_state_dir_lock(&state, &fd2, err, sizeof err) == -EBUSY && strcmp(err, expected) == 0;
        _exit(right ? 0 : 1);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    close(fd);
    CHECK_INT(db_state_dir_lock(&state, &fd, err, sizeof err), 0);
    CHECK_INT(db_state_dir_keep_lock(&state, &fd, err, sizeof err), 0);
    CHECK_INT(unlink(state.lock), 0);
    CHECK_INT(db_state_dir_keep_lock(&state, &fd, err, sizeof err), 1);
    CHECK_INT(db_state_dir_keep_lock(&state, &fd, err, sizeof err), 0);
    CHECK_INT(db_state_dir_lock(&state, &fd2, err, sizeof err), -EBUSY); /* it is held */
    CHECK_INT(unlink(state.lock), 0);
    CHECK_INT(db_state_dir_lock(&state, &fd2, err, sizeof err), 0); /* another was quicker */
    CHECK_INT(db_state_dir_keep_lock(&state, &fd, err, sizeof err), -EBUSY);
    close(fd2);
    close(fd);
}

int main(void)
{
    char directory[SCRATCH_MAX];
    scratch_make(directory);
    test_find();
    test_instances(directory);
    test_look(directory);
    test_denied(directory);
    test_lock_not_ours(directory);
    test_create(directory);
    test_closed(directory);
    test_not_ours(directory);
    test_lock(directory);
    return check_done("state");
}

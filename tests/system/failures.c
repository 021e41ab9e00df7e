/* What fails as long as a test wants it: for LD_PRELOAD. The file $FAILURES has lines, read at each try:
 * `copies ERRNO`: no folder for a policy's copy can be made; `building ERRNO`: rows of a
 * database that is built again cannot be written; `account N CODE`: what was put into the account
 * of that number cannot be asked for, SQLite says CODE; `archive ERRNO`: no archive of a backup can be read;
 * `restoring N`: the N-th call that moves or removes a name of a restore within a state is the process's
 * last: it is killed. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPENED = 64 << 10 }; /* more than is written of a log before rows are */

#define PUBLIC __attribute__((visibility("default")))

/* What the line that begins with `what` says; 0: no such line. */
static int failure(const char *what)
{
    const char *path = getenv("FAILURES");
    FILE *file = path ? fopen(path, "re") : NULL;
    size_t n = strlen(what);
    char line[64];
    int code = 0;
    while (file && code == 0 && fgets(line, sizeof line, file))
        if (strncmp(line, what, n) == 0 && line[n] == ' ')
            code = (int)strtol(line + n, NULL, 10);
    if (file)
        fclose(file);
    return code;
}

PUBLIC int mkdirat(int dir, const char *name, mode_t mode)
{
    int code = failure("copies");
    if (code == 0)
        return (int)syscall(SYS_mkdirat, dir, name, mode);
    errno = code;
    return -1;
}

/* Is it a file with that in its path? */
static bool is_file(int fd, const char *text)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return strstr(path, text) != NULL;
}

PUBLIC ssize_t read(int fd, void *bytes, size_t len)
{
    int code = is_file(fd, ".tar.zst") ? failure("archive") : 0;
    if (code == 0)
        return syscall(SYS_read, fd, bytes, len);
    errno = code;
    return -1;
}

static void count_restoring(const char *path)
{
    static int n;
    if (strstr(path, "/restore.papertape-") && ++n == failure("restoring"))
        raise(SIGKILL);
}

PUBLIC int rename(const char *from, const char *to)
{
    count_restoring(from);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

PUBLIC int unlink(const char *path)
{
    count_restoring(path);
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

PUBLIC int rmdir(const char *path)
{
    count_restoring(path);
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

PUBLIC ssize_t pwrite64(int fd, const void *bytes, size_t len, off_t at)
{
    int code = at >= OPENED && is_file(fd, ".rebuilding-wal") ? failure("building") : 0;
    if (code == 0)
        return syscall(SYS_pwrite64, fd, bytes, len, at);
    errno = code;
    return -1;
}

/* The account whose deposits and the like a statement asks for; below 0: it asks for something else. */
static int account_of(sqlite3_stmt *stmt)
{
    static const char begin[] = "SELECT id, ts_ns, kind, amount FROM ledger WHERE account = ";
    const char *sql = sqlite3_sql(stmt);
    if (!sql || strncmp(sql, begin, strlen(begin)) != 0)
        return -1;
    char *bound = sqlite3_expanded_sql(stmt);
    int account = bound ? (int)strtol(bound + strlen(begin), NULL, 10) : -1;
    sqlite3_free(bound);
    return account;
}

PUBLIC int sqlite3_step(sqlite3_stmt *stmt)
{
    static int (*step)(sqlite3_stmt *);
    int account = account_of(stmt), code = 0;
    char what[32];
    if (account >= 0) {
        snprintf(what, sizeof what, "account %d", account);
        code = failure(what);
    }
    if (!step)
        *(void **)&step = dlsym(RTLD_NEXT, "sqlite3_step");
    return code ? code : step(stmt);
}

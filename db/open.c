#include "db/open.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* https://www.sqlite.org/fileformat2.html#the_database_header: the version that reads it is 2 with a log. */
static bool has_log(const char *path)
{
    unsigned char head[20] = {0};
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    ssize_t n = fd >= 0 ? read(fd, head, sizeof head) : -1;
    if (fd >= 0)
        close(fd);
    return n == sizeof head && head[19] == 2;
}

/* Of the file beside the database; -1: there is none. */
static off_t size_beside(const char *path, const char *suffix)
{
    char beside[PATH_MAX];
    struct stat st;
    bool fits = snprintf(beside, sizeof beside, "%s%s", path, suffix) < PATH_MAX;
    return fits && lstat(beside, &st) == 0 ? st.st_size : -1;
}

static bool cannot_change(const char *path)
{
    struct statvfs fs;
    return statvfs(path, &fs) == 0 && (fs.f_flag & ST_RDONLY) && has_log(path) &&
           size_beside(path, "-shm") < 0 && size_beside(path, "-wal") <= 0;
}

/* https://www.sqlite.org/uri.html: a character that could mean something there is written as %XX. */
static void write_uri(const char *path, char *uri, size_t size)
{
    int n = snprintf(uri, size, "file:");
    for (const char *c = path; *c && (size_t)n < size; c++)
        n += snprintf(uri + n, size - (size_t)n, isalnum((unsigned char)*c) ? "%c" : "%%%02X",
                      (unsigned char)*c);
    if ((size_t)n < size)
        snprintf(uri + n, size - (size_t)n, "?immutable=1");
}

int db_open(const char *path, int flags, sqlite3 **ret)
{
    char uri[3 * PATH_MAX + 32];
    if (!cannot_change(path))
        return sqlite3_open_v2(path, ret, flags, NULL);
    write_uri(path, uri, sizeof uri);
    return sqlite3_open_v2(uri, ret,
                           (flags & ~SQLITE_OPEN_READWRITE) | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
}

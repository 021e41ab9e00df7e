#include "daemon/safe_program.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/fail.h"

static bool find(const char *program, char ret[static PATH_MAX])
{
    const char *all = getenv("PATH");
    if (strchr(program, '/')) {
        snprintf(ret, PATH_MAX, "%s", program);
        return access(ret, X_OK) == 0;
    }
    for (const char *at = all ? all : "/usr/bin:/bin"; *at; at += strcspn(at, ":"), at += *at == ':') {
        snprintf(ret, PATH_MAX, "%.*s/%s", (int)strcspn(at, ":"), at, program);
        if (access(ret, X_OK) == 0)
            return true;
    }
    return false;
}

static int check(const char *program, const char *path, bool folder, char *err, size_t err_size)
{
    struct stat is;
    if (stat(path, &is) < 0)
        return fail_with(-errno, err, err_size, "%.200s: %.200s: %s", program, path, strerror(errno));
    if (!folder && !S_ISREG(is.st_mode))
        return fail_with(-EACCES, err, err_size, "%.200s: a program that this user may run is needed",
                         program);
    if (is.st_uid != 0 && is.st_uid != geteuid())
        return fail_with(
            -EPERM, err, err_size,
            "%.200s: not safe: %.200s belongs to uid %u: root or uid %u, which runs this, is needed", program,
            path, (unsigned)is.st_uid, (unsigned)geteuid());
    if ((is.st_mode & 022) != 0 && !(folder && (is.st_mode & S_ISVTX)))
        return fail_with(-EPERM, err, err_size,
                         "%.200s: not safe: others may write %.200s (mode %04o): chmod go-w is needed",
                         program, path, (unsigned)(is.st_mode & 07777));
    return 0;
}

/* All folders above it, of a path without links and dots. */
static int check_folders(const char *program, char *path, char *err, size_t err_size)
{
    int r = 0;
    for (char *slash; r == 0 && (slash = strrchr(path, '/'));) {
        slash[slash == path] = '\0';
        r = check(program, path, true, err, err_size);
        if (slash == path)
            break;
    }
    return r;
}

int daemon_safe_program(const char *program, char *err, size_t err_size)
{
    char given[PATH_MAX], real[PATH_MAX], *slash;
    if (!find(program, given) || !realpath(given, real))
        return fail_with(-EACCES, err, err_size, "%.200s: a program that this user may run is needed",
                         program);
    int r = check(program, real, false, err, err_size);
    if (r == 0)
        r = check_folders(program, real, err, err_size);
    if (r < 0)
        return r;
    /* Where a link is, others could put another one. */
    slash = strrchr(given, '/');
    slash[slash == given] = '\0';
    if (!realpath(given, real))
        return fail_with(-errno, err, err_size, "%.200s: %s", program, strerror(errno));
    r = check(program, real, true, err, err_size);
    return r < 0 ? r : check_folders(program, real, err, err_size);
}

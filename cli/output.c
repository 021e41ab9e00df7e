#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/stored.h"
#include "exchange/exit_status.h"

/* As fopen() would make it. */
static void set_mode(int fd, const char *path)
{
    struct stat info;
    mode_t mask = umask(0);
    umask(mask);
    mode_t mode = stat(path, &info) == 0 ? info.st_mode & 0777 : 0666 & ~mask;
    if (fchmod(fd, mode) < 0) /* it keeps mkstemp()'s, which is safe */
        return;
}

/* A file of the target's folder without a name: a kill leaves nothing of it. Not every file system has one,
 * and only /proc gives it a name later. */
static int open_nameless(const char *target)
{
    char folder[PATH_MAX], link[32];
    const char *slash = strrchr(target, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - target) + 1 : 1, slash ? target : ".");
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (access(link, F_OK) == 0)
        return fd;
    close(fd);
    return -ENOENT;
}

/* Beside the target, with a name only where it must have one. */
static int open_beside(struct output *ret)
{
    int n = snprintf(ret->temporary, sizeof ret->temporary, "%s.XXXXXX", ret->target);
    if (n < 0 || (size_t)n >= sizeof ret->temporary)
        return -ENAMETOOLONG;
    int fd = open_nameless(ret->target);
    ret->nameless = fd >= 0;
    if (fd < 0)
        fd = mkstemp(ret->temporary);
    if (fd < 0)
        return -errno;
    set_mode(fd, ret->target);
    ret->file = fdopen(fd, "w");
    if (ret->file)
        return 0;
    int r = -errno;
    close(fd);
    if (!ret->nameless)
        unlink(ret->temporary);
    return r;
}

/* Gives what is nameless a name beside the target's, which it replaces next: a link cannot replace a file. */
static int give_name(struct output *output)
{
    enum { TRIES = 100, DIGITS = 6 };
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    char link[32], *ending = output->temporary + strlen(output->temporary) - DIGITS;
    unsigned char bytes[DIGITS];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fileno(output->file));
    for (int i = 0; i < TRIES; i++) {
        if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
            return -errno;
        for (int k = 0; k < DIGITS; k++)
            ending[k] = letters[bytes[k] % 32];
        if (linkat(AT_FDCWD, link, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW) == 0) {
            output->nameless = false;
            return 0;
        }
        if (errno != EEXIST)
            break;
    }
    return -errno;
}

static int open_straight(int fd, FILE **ret)
{
    *ret = fd < 0 ? NULL : fdopen(fd, "w");
    if (*ret)
        return 0;
    int r = -errno;
    if (fd >= 0)
        close(fd);
    return r;
}

static bool is_stdout(const struct stat *info)
{
    struct stat out;
    return fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == info->st_dev && out.st_ino == info->st_ino;
}

/* Finds the file that the path leads to, through links. */
static int find_target(const char *path, bool there, char ret[static PATH_MAX])
{
    struct stat info;
    if (there)
        return realpath(path, ret) ? 0 : -errno;
    if (lstat(path, &info) == 0) /* a link to nothing */
        return -ENOENT;
    return snprintf(ret, PATH_MAX, "%s", path) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static bool is_strange_link(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode) && info.st_uid != 0 && info.st_uid != geteuid();
}

int cli_output_open(const char *verb, const char *path, struct output *ret)
{
    struct output output = {.path = path};
    struct stat info;
    int r = 0;
    if (is_strange_link(path))
        return cli_stored_fail(EXIT_ERROR, verb, path, "is a link that another user made: give a file");
    bool there = stat(path, &info) == 0;
    if (strcmp(path, "-") == 0)
        r = open_straight(dup(STDOUT_FILENO), &output.file);
    else if (there && S_ISDIR(info.st_mode))
        r = -EISDIR;
    else if (there && is_stdout(&info))
        r = open_straight(dup(STDOUT_FILENO), &output.file);
    else if (there && !S_ISREG(info.st_mode))
        r = open_straight(open(path, O_WRONLY | O_CLOEXEC), &output.file);
    else if (there && access(path, W_OK) < 0)
        r = -errno;
    else if ((r = find_target(path, there, output.target)) == 0)
        r = open_beside(&output);
    if (r < 0)
        return cli_stored_fail(EXIT_ERROR, verb, path[0] ? path : "\"\"", strerror(-r));
    *ret = output;
    return EXIT_OK;
}

static void forget(const struct output *output)
{
    if (output->temporary[0] && !output->nameless)
        unlink(output->temporary);
}

int cli_output_apart(const char *verb, const char *const options[], const struct output outputs[], int one)
{
    char words[96];
    int other = 0;
    while (other < one &&
           (!outputs[one].target[0] || strcmp(outputs[one].target, outputs[other].target) != 0))
        other++;
    if (other == one)
        return EXIT_OK;
    snprintf(words, sizeof words, "--%s and --%s are both to be written there: a file for each is needed",
             options[other], options[one]);
    return cli_stored_fail(EXIT_USAGE, verb, outputs[one].path, words);
}

int cli_output_commit(const char *verb, struct output *output)
{
    if (!output->file)
        return EXIT_OK;
    bool failed = ferror(output->file) != 0;
    if (failed) { /* the reason is long lost: it fails again, and reports it */
        clearerr(output->file);
        fputc('\n', output->file);
    }
    errno = 0;
    failed |= fflush(output->file) != 0;
    int error = errno;
    int named = !failed && output->nameless ? give_name(output) : 0;
    if (named < 0) {
        failed = true;
        error = -named;
    }
    failed |= fclose(output->file) != 0;
    error = error ? error : errno;
    output->file = NULL;
    if (!failed && output->temporary[0] && rename(output->temporary, output->target) < 0) {
        failed = true;
        error = errno;
    }
    if (!failed)
        return EXIT_OK;
    forget(output);
    return cli_stored_fail(EXIT_ERROR, verb, output->path,
                           error ? strerror(error) : "not all of it was written");
}

void cli_output_drop(struct output *output)
{
    if (!output->file)
        return;
    fclose(output->file);
    output->file = NULL;
    forget(output);
}

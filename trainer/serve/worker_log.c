
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/whole_file.h"
#include "record/json.h"
#include "trainer/serve/worker.h"

static int open_file(struct worker_log *log)
{
    struct stat st;
    log->fd = open(log->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (log->fd < 0)
        return -errno;
    log->size = fstat(log->fd, &st) == 0 ? (size_t)st.st_size : 0;
    return 0;
}

int serve_worker_log_open(struct worker_log *log, const char *folder)
{
    if (snprintf(log->path, sizeof log->path, "%s/worker.log", folder) >= (int)sizeof log->path - 2)
        return -ENAMETOOLONG;
    return open_file(log);
}

void serve_worker_log_close(struct worker_log *log)
{
    if (log->fd >= 0)
        close(log->fd);
    log->fd = -1;
}

static void turn(struct worker_log *log)
{
    char older[PATH_MAX + 2];
    snprintf(older, sizeof older, "%s.1", log->path);
    serve_worker_log_close(log);
    if (rename(log->path, older) < 0)
        (void)unlink(log->path);
    (void)open_file(log); /* without it the rest is lost */
}

void serve_worker_log_write(struct worker_log *log, const char *text, size_t n)
{
    if (log->size + n > WORKER_LOG_MAX && log->fd >= 0 && log->size > 0)
        turn(log);
    if (log->fd >= 0 && whole_file_write(log->fd, text, n) == 0)
        log->size += n;
}

/* ---- The newest lines. ---- */

/* The end of a file; for free(). NULL: it is not there, or no memory. */
static char *read_end(const char *path, size_t most, size_t *ret_n)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    size_t n = fstat(fd, &st) == 0 ? (size_t)st.st_size : 0;
    off_t from = n > most ? (off_t)(n - most) : 0;
    n -= (size_t)from;
    char *text = malloc(n + 1);
    ssize_t got = text ? pread(fd, text, n, from) : -1;
    close(fd);
    if (got < 0) {
        free(text);
        return NULL;
    }
    *ret_n = (size_t)got;
    return text;
}

/* Replaces control characters except the tab by question marks, those of two bytes (U+0080 to U+009F) by two;
 * also bytes that are not UTF-8. */
static json_t *text_json(char *line, size_t n)
{
    unsigned char *bytes = (unsigned char *)line;
    for (size_t i = 0; i < n; i++) {
        if ((bytes[i] < ' ' && bytes[i] != '\t') || bytes[i] == 127)
            bytes[i] = '?';
        if (bytes[i] == 0xc2 && i + 1 < n && bytes[i + 1] >= 0x80 && bytes[i + 1] < 0xa0)
            bytes[i] = bytes[i + 1] = '?';
    }
    json_t *json = json_stringn(line, n);
    if (json)
        return json;
    record_json_clean(line, n);
    return json_stringn(line, n);
}

/* The lines of one file before those that are in the array. false: enough, or no memory. */
static bool put_before(json_t *array, const char *path, size_t lines, size_t *bytes_left)
{
    size_t n = 0;
    char *text = read_end(path, *bytes_left, &n);
    bool good = true;
    if (!text)
        return true;
    size_t end = n > 0 && text[n - 1] == '\n' ? n - 1 : n;
    while (good && end > 0 && json_array_size(array) < lines && *bytes_left > 0) {
        char *before = memrchr(text, '\n', end);
        size_t from = before ? (size_t)(before - text) + 1 : 0;
        good = json_array_insert_new(array, 0, text_json(text + from, end - from)) == 0;
        *bytes_left -= end - from + 1 < *bytes_left ? end - from + 1 : *bytes_left;
        end = from > 0 ? from - 1 : 0;
    }
    free(text);
    return good;
}

json_t *serve_worker_log_tail(const char *folder, size_t lines, size_t bytes_max)
{
    char path[PATH_MAX];
    json_t *array = json_array();
    static const char *const names[] = {"worker.log", "worker.log.1"};
    for (size_t i = 0; array && i < sizeof names / sizeof *names; i++) {
        if (snprintf(path, sizeof path, "%s/%s", folder, names[i]) >= (int)sizeof path)
            break;
        if (!put_before(array, path, lines, &bytes_max))
            break;
    }
    return array;
}

#include "trainer/ppo/cuda/product_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = PRODUCT_KEY_MAX + 64, HEURISTIC_MAX = 1000, CACHE_MODE = 0600 };

/* A wait looks again after 1 ms, then more rarely: flock() would wait for a process that hangs for ever. */
enum { LOOK_FIRST_NS = 1000000, LOOK_LAST_NS = 20000000 };

/* ---- in the process ---- */

static struct product_entry *look_up(const struct product_cache *c, const char *key)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->entries[i].key, key) == 0)
            return &c->entries[i];
    return NULL;
}

/* The first of a key counts. Without memory it is forgotten. */
static void add(struct product_cache *c, const char *key, const struct product_choice *choice)
{
    if (look_up(c, key))
        return;
    if (c->n == c->cap) {
        const size_t cap = c->cap ? 2 * c->cap : 64;
        struct product_entry *more = realloc(c->entries, cap * sizeof(*more));
        if (!more)
            return;
        c->entries = more;
        c->cap = cap;
    }
    char *own = strdup(key);
    if (!own)
        return;
    c->entries[c->n++] =
        (struct product_entry){own, {choice->apart, choice->heuristic, choice->seconds, .tried = 0}};
}

/* ---- the file ---- */

static bool read_line(char *line, char **ret_key, struct product_choice *ret)
{
    char *fields[4] = {line}, *end;
    for (int i = 1; i < 4; i++) {
        char *tab = strchr(fields[i - 1], '\t');
        if (!tab)
            return false;
        *tab = '\0';
        fields[i] = tab + 1;
    }
    const bool apart = strcmp(fields[1], "1") == 0;
    const long heuristic = strtol(fields[2], &end, 10);
    if ((!apart && strcmp(fields[1], "0") != 0) || end == fields[2] || *end != '\0' || heuristic < 0 ||
        heuristic > HEURISTIC_MAX)
        return false;
    const double seconds = strtod(fields[3], &end);
    if (end == fields[3] || *end != '\0')
        return false;
    *ret_key = fields[0];
    *ret = (struct product_choice){.apart = apart, .heuristic = (int)heuristic, .seconds = seconds};
    return true;
}

static void take_lines(struct product_cache *c, char *text)
{
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        struct product_choice choice;
        char *key;
        *end = '\0';
        if (strlen(line) < LINE_MAX_BYTES && read_line(line, &key, &choice))
            add(c, key, &choice);
        c->read += (size_t)(end - line) + 1;
    }
}

/* Takes the whole lines that came since it was read last. */
static void read_more(struct product_cache *c, int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || st.st_size > PRODUCT_FILE_MAX + LINE_MAX_BYTES)
        return;
    if ((size_t)st.st_size < c->read) /* another file by now */
        c->read = 0;
    const size_t more = (size_t)st.st_size - c->read;
    char *text = more > 0 ? malloc(more + 1) : NULL;
    if (!text)
        return;
    const ssize_t got = pread(fd, text, more, (off_t)c->read);
    if (got > 0) {
        text[got] = '\0';
        if (strlen(text) == (size_t)got)
            take_lines(c, text);
    }
    free(text);
}

static int open_file(const struct product_cache *c, int flags)
{
    return c->path[0] ? open(c->path, flags | O_CLOEXEC, CACHE_MODE) : -1;
}

/* Whole or not at all; behind a line that a process left unfinished, on a line of its own. */
static void write_line(int fd, const char *key, const struct product_choice *choice)
{
    char line[LINE_MAX_BYTES], last = '\n';
    struct stat st;
    const int n = snprintf(line, sizeof(line), "\n%s\t%d\t%d\t%.9g\n", key, choice->apart, choice->heuristic,
                           choice->seconds);
    if (n >= (int)sizeof(line) || fstat(fd, &st) < 0 || st.st_size + n > PRODUCT_FILE_MAX)
        return;
    if (st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) != 1)
        return;
    const int skipped = last == '\n';
    if (write(fd, line + skipped, (size_t)(n - skipped)) != n - skipped && ftruncate(fd, st.st_size) < 0)
        return; /* a part of a line, which readers leave out */
}

static void make_path(char ret[static PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = 0;
    if (cache && cache[0])
        n = snprintf(ret, PATH_MAX, "%s", cache);
    else if (home && home[0])
        n = snprintf(ret, PATH_MAX, "%s/.cache", home);
    if (n == 0 || n + (int)sizeof("/papertape/products") > PATH_MAX) {
        ret[0] = '\0';
        return;
    }
    mkdir(ret, 0777); /* where they are missing; else the file cannot be opened, which is noticed there */
    memcpy(ret + n, "/papertape", sizeof("/papertape"));
    mkdir(ret, 0777);
    memcpy(ret + n, "/papertape/products", sizeof("/papertape/products"));
}

void ppo_product_cache_open(struct product_cache *c, const char *path)
{
    if (path[0])
        snprintf(c->path, sizeof(c->path), "%s", path);
    else
        make_path(c->path);
    c->read = 0;
    int fd = open_file(c, O_RDONLY);
    if (fd < 0)
        return;
    read_more(c, fd);
    close(fd);
}

void ppo_product_cache_finish(struct product_cache *c)
{
    ppo_product_cache_release(c);
    for (size_t i = 0; i < c->n; i++)
        free(c->entries[i].key);
    free(c->entries);
    *c = (struct product_cache){0};
}

bool ppo_product_cache_find(struct product_cache *c, const char *key, struct product_choice *ret)
{
    const struct product_entry *entry = look_up(c, key);
    int fd = entry ? -1 : open_file(c, O_RDONLY);
    if (fd >= 0) {
        read_more(c, fd);
        close(fd);
        entry = look_up(c, key);
    }
    if (entry)
        *ret = entry->choice;
    return entry != NULL;
}

/* ---- the lock ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Takes the file's lock, or not if another process has it, or there is no file to write. */
static bool try_lock(struct product_cache *c, bool *ret_busy)
{
    int fd = open_file(c, O_RDWR | O_APPEND | O_CREAT);
    *ret_busy = false;
    if (fd < 0)
        return false;
    (void)fchmod(fd, CACHE_MODE); /* an older version's had another; of another user's file it fails */
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        *ret_busy = errno == EWOULDBLOCK || errno == EINTR;
        close(fd);
        return false;
    }
    c->fd = fd;
    c->locked = true;
    return true;
}

bool ppo_product_cache_claim(struct product_cache *c, const char *key, double *left,
                             struct product_choice *ret)
{
    struct timespec pause = {.tv_nsec = LOOK_FIRST_NS};
    const double begin = now(), most = *left;
    ppo_product_cache_release(c);
    if (ppo_product_cache_find(c, key, ret))
        return true;
    for (;;) {
        bool busy;
        const bool locked = try_lock(c, &busy);
        if ((locked || busy) && ppo_product_cache_find(c, key, ret)) { /* who had the lock has written it */
            ppo_product_cache_release(c);
            return true;
        }
        if (!busy || !(*left > 0))
            return false;
        nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec * 2 < LOOK_LAST_NS ? pause.tv_nsec * 2 : LOOK_LAST_NS;
        *left = most - (now() - begin);
    }
}

void ppo_product_cache_release(struct product_cache *c)
{
    if (c->locked)
        close(c->fd); /* and so the lock */
    c->locked = false;
}

void ppo_product_cache_keep(struct product_cache *c, const char *key, struct product_choice *choice)
{
    bool busy;
    if (c->locked || try_lock(c, &busy)) {
        read_more(c, c->fd);
        if (!look_up(c, key))
            write_line(c->fd, key, choice);
    }
    const struct product_entry *entry = look_up(c, key);
    if (entry)
        *choice = entry->choice;
    else
        add(c, key, choice);
    ppo_product_cache_release(c);
}

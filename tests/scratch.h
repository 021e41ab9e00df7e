/* Directories of a test's own. All are in one under TMPDIR, else /tmp, that is removed with what is in it
 * when the program ends, also after failed checks. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory; a file in it, by a short name. */
enum { SCRATCH_MAX = 256, SCRATCH_PATH_MAX = SCRATCH_MAX + 64 };

static struct {
    char root[SCRATCH_MAX - 16]; /* "" until it is made */
    pid_t owner;                 /* a fork that ends leaves it alone */
    int made;
    const char *usual; /* where TMPDIR names nothing */
} scratch = {.usual = "/tmp"};

static inline int scratch_remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

/* With all that is in it; nothing for one that is not there. */
static inline void scratch_remove(const char *path)
{
    nftw(path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void scratch_end(void)
{
    if (getpid() == scratch.owner)
        scratch_remove(scratch.root);
}

/* For tests that sync thousands of times: in memory, where the system has a place for that. Before the first
 * directory is made. */
static inline void scratch_in_memory(void)
{
    if (access("/dev/shm", W_OK) == 0)
        scratch.usual = "/dev/shm";
}

/* The program's directory. */
static inline const char *scratch_root(void)
{
    const char *tmp = getenv("TMPDIR");
    if (scratch.root[0])
        return scratch.root;
    int n =
        snprintf(scratch.root, sizeof scratch.root, "%s/papertape-XXXXXX", tmp && *tmp ? tmp : scratch.usual);
    if (n >= (int)sizeof scratch.root || !mkdtemp(scratch.root)) {
        perror(scratch.root);
        exit(EXIT_FAILURE);
    }
    scratch.owner = getpid();
    atexit(scratch_end);
    return scratch.root;
}

/* A new empty directory in it. */
static inline void scratch_make(char path[static SCRATCH_MAX])
{
    snprintf(path, SCRATCH_MAX, "%s/%d", scratch_root(), scratch.made++);
    if (mkdir(path, 0700) < 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

/* The path of `name` in the program's directory. Good until 64 more were asked for. */
static inline const char *scratch_path(const char *name)
{
    static char paths[64][SCRATCH_PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 64];
    snprintf(path, sizeof paths[0], "%s/%s", scratch_root(), name);
    return path;
}

/* Puts `text` into the file `name` there; its path. */
static inline const char *scratch_write(const char *name, const char *text)
{
    const char *path = scratch_path(name);
    FILE *file = fopen(path, "we");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    return path;
}

#endif

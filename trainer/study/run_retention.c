#include "trainer/study/runs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trainer/study/stale_files.h"

static size_t name_length(const char *run)
{
    const char *at = strrchr(run, '@');
    return at ? (size_t)(at - run) + 1 : 0; /* includes the @ */
}

static bool is_number(const char *name)
{
    return *name && name[strspn(name, "0123456789")] == '\0';
}

static void thin_run(int studies, const char *run)
{
    int fd = openat(studies, run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder && fd >= 0)
        close(fd);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        int trial = is_number(entry->d_name)
                        ? openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                        : -1;
        if (trial < 0)
            continue;
        (void)unlinkat(trial, "returns.csv", 0);
        (void)unlinkat(trial, "returns.csv.differs", 0); /* artifact_fetch.c's */
        (void)unlinkat(trial, "holdout.csv", 0);
        study_stale_files_remove(trial, 0);
        close(trial);
        (void)unlinkat(fd, entry->d_name, AT_REMOVEDIR); /* fails where a policy is left, which is wanted */
    }
    if (folder) {
        study_stale_files_remove(fd, STALE_FILES_AGE_S);
        closedir(folder);
    }
}

/* Times have equal length, so that names sort by age. */
static int newest_first(const void *a, const void *b)
{
    return strcmp(*(char *const *)b, *(char *const *)a);
}

void study_runs_retain(const char *studies, const char *run, int keep)
{
    size_t n = name_length(run), found = 0, cap = 0;
    char **runs = NULL;
    DIR *folder = n > 0 ? opendir(studies) : NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (strncmp(entry->d_name, run, n) != 0)
            continue;
        if (found == cap) {
            char **grown = realloc(runs, (cap = 2 * cap + 16) * sizeof *runs);
            if (!grown)
                break;
            runs = grown;
        }
        if (!(runs[found] = strdup(entry->d_name)))
            break;
        found++;
    }
    if (found > 0)
        qsort(runs, found, sizeof *runs, newest_first);
    for (size_t i = 0; i < found; i++) {
        if (i >= (size_t)keep)
            thin_run(dirfd(folder), runs[i]);
        free(runs[i]);
    }
    free(runs);
    if (folder)
        closedir(folder);
}

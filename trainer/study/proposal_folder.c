#include "trainer/study/proposal_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "exchange/folder.h"
#include "exchange/lock_file.h"
#include "trainer/study/internal.h"

enum { LOCK_MS = 60000, LOCK_NAP_MS = 10 };
enum { FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* Marks a folder whose proposal no proposal.json names yet: its maker has its lock. */
static const char unfinished[] = "unfinished", unfinished_new[] = "unfinished.new";

int study_folder_lock(const char *folder)
{
    const struct timespec nap = {.tv_nsec = LOCK_NAP_MS * 1000000};
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = fd < 0 ? -errno : -EBUSY;
    for (int ms = 0; fd >= 0 && r == -EBUSY && ms < LOCK_MS; ms += LOCK_NAP_MS) {
        r = lock_file_take(fd, ".lock");
        if (r == -EBUSY)
            nanosleep(&nap, NULL);
    }
    if (fd >= 0)
        close(fd);
    return r;
}

void study_folder_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}

/* ---- What killed processes left. ---- */

/* Is its maker still alive? The lock ends with its process, however that ends. */
static bool is_abandoned(int fd)
{
    int lock =
        faccessat(fd, unfinished, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ? lock_file_take(fd, unfinished) : -1;
    if (lock >= 0)
        close(lock);
    return lock >= 0;
}

/* `published`: the number of the folder that proposal.json names, which is finished despite the mark. Where
 * proposal.json is empty, its writer was killed before it could name one. */
static int sweep(const char *folders, unsigned long published, char err[static TRIAL_ERROR_MAX])
{
    char own[PATH_MAX];
    DIR *all = opendir(folders);
    int r = 0;
    for (struct dirent *entry; all && r == 0 && (entry = readdir(all));) {
        if (entry->d_name[strspn(entry->d_name, "0123456789")] != '\0')
            continue;
        int fd = openat(dirfd(all), entry->d_name, FOLDER_FLAGS);
        if (fd >= 0 && strtoul(entry->d_name, NULL, 10) == published) {
            if (unlinkat(fd, unfinished, 0) < 0 && errno != ENOENT)
                r = study_error(err, -errno, "cannot remove: %.300s/%lu/%s: %s", folders, published,
                                unfinished, strerror(errno));
        } else if (fd >= 0 && is_abandoned(fd)) {
            if (study_join_path(own, folders, entry->d_name, err) == 0)
                folder_remove(own);
        } else if (fd >= 0) {
            (void)unlinkat(fd, unfinished_new, 0);
            (void)unlinkat(dirfd(all), entry->d_name, AT_REMOVEDIR);
        }
        if (fd >= 0)
            close(fd);
    }
    if (all)
        closedir(all);
    return r;
}

/* ---- One of its own. ---- */

/* The number of the folder that FOLDER/proposal.json names; 0: none. False: it cannot be read. */
static bool find_published(const char *path, unsigned long *ret)
{
    static const char within[] = "/proposals/";
    json_t *before = json_load_file(path, 0, NULL);
    const char *policy = json_string_value(json_object_get(before, "policy")), *at = NULL;
    for (const char *next = policy; next && (next = strstr(next, within)); next++)
        at = next + sizeof within - 1;
    *ret = at ? strtoul(at, NULL, 10) : 0;
    json_decref(before);
    return at || (access(path, F_OK) < 0 && errno == ENOENT);
}

/* The mark has its name once it is locked. Without the lock no process can see whether the folder's maker is
 * alive: the folder is never swept then. */
static int mark(struct proposal_folder *own)
{
    own->fd = open(own->path, FOLDER_FLAGS);
    if (own->fd < 0)
        return -errno;
    own->mark = lock_file_take(own->fd, unfinished_new);
    if (own->mark >= 0)
        return renameat(own->fd, unfinished_new, own->fd, unfinished) < 0 ? -errno : 0;
    return unlinkat(own->fd, unfinished_new, 0) < 0 && errno != ENOENT ? -errno : 0;
}

/* Takes the first free number after that of the folder that proposal.json names: until proposal.json is
 * written again, the folder that it names stays unchanged, even if this process is killed, and concurrent
 * proposals take higher numbers. */
static int make_own(const char *folder, unsigned long number, struct proposal_folder *own,
                    char err[static TRIAL_ERROR_MAX])
{
    char name[32];
    int r;
    do {
        snprintf(name, sizeof name, "proposals/%lu", ++number);
        if ((r = study_join_path(own->path, folder, name, err)) < 0)
            return r;
        r = mkdir(own->path, 0777) < 0 ? -errno : 0;
    } while (r == -EEXIST);
    if (r == 0 && (r = mark(own)) < 0)
        study_proposal_folder_finish(own, false);
    return r < 0 ? study_error(err, r, "cannot make the folder: %.300s: %s", own->path, strerror(-r)) : 0;
}

int study_proposal_folder_make(const char *folder, struct proposal_folder *ret,
                               char err[static TRIAL_ERROR_MAX])
{
    struct proposal_folder own = {.fd = -1, .mark = -1};
    char path[PATH_MAX];
    unsigned long published = 0;
    int r = study_join_path(path, folder, "proposal.json", err);
    if (r == 0)
        r = study_join_path(own.path, folder, "proposals", err);
    if (r == 0)
        r = study_make_folder(own.path, err);
    if (r < 0)
        return r;
    int lock = study_folder_lock(folder);
    if (find_published(path, &published) && lock >= 0)
        r = sweep(own.path, published, err);
    if (r == 0)
        r = make_own(folder, published, &own, err);
    study_folder_unlock(lock);
    if (r == 0)
        *ret = own;
    return r;
}

void study_proposal_folder_finish(struct proposal_folder *own, bool published)
{
    if (published && own->fd >= 0)
        (void)unlinkat(own->fd, unfinished, 0);
    else if (!published)
        folder_remove(own->path);
    if (own->fd >= 0)
        close(own->fd);
    if (own->mark >= 0)
        close(own->mark);
    own->fd = own->mark = -1;
}

/* ---- What proposal.json names. ---- */

/* Finishes the folder that proposal.json names, if its process was killed before it could. */
static void settle(const char *folder)
{
    char path[PATH_MAX];
    unsigned long published;
    if (snprintf(path, sizeof path, "%s/proposal.json", folder) >= (int)sizeof path ||
        !find_published(path, &published) || published == 0)
        return;
    if (snprintf(path, sizeof path, "%s/proposals/%lu/%s", folder, published, unfinished) < (int)sizeof path)
        (void)unlink(path);
}

int study_proposal_file_write(const json_t *object, const char *folder, char err[static TRIAL_ERROR_MAX])
{
    settle(folder);
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    if (!text)
        return study_error(err, -ENOMEM, "out of memory: proposal.json");
    int r = study_write_file(folder, "proposal.json", text, strlen(text), err);
    free(text);
    return r;
}

bool study_proposal_file_names(const json_t *object, const char *folder)
{
    char path[PATH_MAX];
    if (!object || snprintf(path, sizeof path, "%s/proposal.json", folder) >= (int)sizeof path)
        return false;
    json_t *kept = json_load_file(path, 0, NULL);
    bool same = kept && json_equal(json_object_get(kept, "policy"), json_object_get(object, "policy"));
    json_decref(kept);
    return same;
}

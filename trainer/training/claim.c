#include "trainer/training/claim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/fail.h"
#include "exchange/lock_file.h"
#include "exchange/whole_file.h"
#include "strategy/policy/safetensors.h"

/* An owner that ended meanwhile may have removed the locked file. */
static int is_there(int fd, const char *path)
{
    struct stat locked, named;
    if (fstat(fd, &locked) < 0)
        return -errno;
    return stat(path, &named) == 0 && locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
}

static int lock(const char *path, int *ret)
{
    for (;;) {
        int fd = lock_file_take(AT_FDCWD, path);
        if (fd < 0)
            return fd;
        int r = is_there(fd, path);
        if (r > 0) {
            *ret = fd;
            return 0;
        }
        close(fd);
        if (r < 0)
            return r;
    }
}

static void sweep(const char *output, const char *name)
{
    char policy[PATH_MAX];
    size_t n = (size_t)snprintf(policy, sizeof policy, "%s.safetensors", name);
    DIR *folder = opendir(output);
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strncmp(entry->d_name, policy, n) == 0 &&
            whole_file_is_rest(entry->d_name + n, SAFETENSORS_TEMPORARY))
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
}

int training_claim_take(const char *output, const char *name, struct claim *ret,
                        char err[static CLAIM_ERROR_MAX])
{
    struct claim claim = {0};
    int n = snprintf(claim.path, sizeof claim.path, "%s/%s.lock", output, name);
    int r = n < (int)sizeof claim.path ? lock(claim.path, &claim.fd) : -ENAMETOOLONG;
    if (r == -EBUSY)
        snprintf(err, CLAIM_ERROR_MAX,
                 "%.200s in %.500s " FAIL_LOCKED("a training that runs", "name or output"), name, output);
    else if (r < 0)
        snprintf(err, CLAIM_ERROR_MAX,
                 "cannot lock the output folder: %.500s: %s: one that can be written to", claim.path,
                 strerror(-r));
    if (r < 0)
        return r;
    sweep(output, name);
    claim.held = true;
    *ret = claim;
    return 0;
}

void training_claim_drop(struct claim *claim)
{
    if (!claim->held)
        return;
    unlink(claim->path);
    close(claim->fd);
    *claim = (struct claim){0};
}

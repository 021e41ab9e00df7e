#include "exchange/net/secret.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exchange/fail.h"

enum { HEAD = 64 }; /* before what is given: the mapping's size, and room for any alignment */

static atomic_bool refused;

void *net_secret_alloc(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size > SIZE_MAX - HEAD - page)
        return NULL;
    size_t whole = (size + HEAD + page - 1) / page * page;
    unsigned char *at = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    bool locked = mlock(at, whole) == 0;
    if (madvise(at, whole, MADV_DONTDUMP) < 0 || !locked)
        atomic_store(&refused, true);
    memcpy(at, &whole, sizeof whole);
    return at + HEAD;
}

void net_secret_free(void *memory)
{
    size_t whole;
    if (!memory)
        return;
    unsigned char *at = (unsigned char *)memory - HEAD;
    memcpy(&whole, at, sizeof whole);
    explicit_bzero(at, whole);
    munmap(at, whole);
}

bool net_secret_locked(void)
{
    return !atomic_load(&refused);
}

int net_secret_check_file(const struct stat *file, const char *what, const char *path, char *err,
                          size_t err_size)
{
    if (file->st_uid != geteuid() && file->st_uid != 0)
        return fail_with(
            -EPERM, err, err_size,
            "%s: %.300s: belongs to uid %u: a file of root or of uid %u, which runs this, is needed", what,
            path, (unsigned)file->st_uid, (unsigned)geteuid());
    if ((file->st_mode & 077) != 0)
        return fail_with(-EACCES, err, err_size,
                         "%s: %.300s: others may read it (mode %04o): mode 0600 is needed", what, path,
                         (unsigned)(file->st_mode & 07777));
    return 0;
}

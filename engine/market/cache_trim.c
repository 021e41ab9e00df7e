#include "engine/market/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DISK_BLOCK = 512, /* st_blocks' */
    NAME_MAX_KEPT = 2 * MARKET_HASH_SIZE + 1 + BLOB_KIND_MAX + 8,
};

static const int64_t abandoned_ns = 3600ll * 1000000000;

struct entry {
    char name[NAME_MAX_KEPT];
    uint64_t bytes;
    int64_t used_ns;
};

/* Hexadecimal digits, then a suffix. */
static bool is_ours(const char *name)
{
    size_t digits = strspn(name, "0123456789abcdef");
    return (digits == 2 * MARKET_HASH_SIZE && name[digits] == '.') ||
           (digits == MARKET_HASH_SIZE && strcmp(name + digits, CACHE_KNOWN) == 0);
}

static int by_use(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->used_ns > y->used_ns) - (x->used_ns < y->used_ns);
}

void market_store_cache_trim(const struct cache *cache, uint64_t more, const char *keep)
{
    DIR *dir = opendir(cache->folder);
    struct entry *entries = NULL;
    size_t n = 0, cap = 0;
    uint64_t total = more;
    const char *kept = strrchr(keep, '/') + 1;
    if (!dir)
        return;
    for (struct dirent *d; (d = readdir(dir));) {
        struct stat st;
        bool temporary = strncmp(d->d_name, CACHE_TEMPORARY, strlen(CACHE_TEMPORARY)) == 0;
        if ((!temporary && !is_ours(d->d_name)) || strlen(d->d_name) >= NAME_MAX_KEPT ||
            strcmp(d->d_name, kept) == 0 || fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISREG(st.st_mode))
            continue;
        int64_t used_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
        if (temporary) {
            if (cache->now_ns - used_ns > abandoned_ns)
                unlinkat(dirfd(dir), d->d_name, 0);
            continue;
        }
        if (n == cap) {
            struct entry *grown = reallocarray(entries, cap = cap ? cap * 2 : 64, sizeof(*entries));
            if (!grown)
                break;
            entries = grown;
        }
        struct entry *entry = &entries[n++];
        strcpy(entry->name, d->d_name);
        entry->bytes = (uint64_t)st.st_blocks * DISK_BLOCK;
        entry->used_ns = used_ns;
        total += entry->bytes;
    }
    if (total > cache->limit)
        qsort(entries, n, sizeof(*entries), by_use);
    for (size_t i = 0; i < n && total > cache->limit; i++)
        if (unlinkat(dirfd(dir), entries[i].name, 0) == 0)
            total -= entries[i].bytes;
    closedir(dir);
    free(entries);
}

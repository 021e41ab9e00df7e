#include "engine/market/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "exchange/clock.h"
#include "exchange/folder.h"
#include "exchange/whole_file.h"

enum { NAME_SIZE = 2 * MARKET_HASH_SIZE + 1 + BLOB_KIND_MAX };

__attribute__((format(printf, 2, 3))) static void note(struct cache *cache, const char *text, ...)
{
    va_list args;
    if (cache->note[0])
        return;
    va_start(args, text);
    vsnprintf(cache->note, sizeof(cache->note), text, args);
    va_end(args);
}

/* The folders that were not there are the user's alone. */
static int make_folder(const char *path)
{
    char failed[PATH_MAX];
    int r = folder_make(path, 0700, failed);
    return r == 0 && access(path, R_OK | X_OK) < 0 ? -errno : r;
}

void market_store_cache_begin(struct cache *cache, const struct market_options *options)
{
    *cache = (struct cache){
        .limit = options->cache_bytes ? options->cache_bytes : MARKET_CACHE_BYTES,
        .now_ns = options->now_ns,
        .threads = options->threads,
    };
    if (cache->now_ns == 0)
        cache->now_ns = clock_wall_ns();
    if (options->no_cache)
        return;
    char folder[PATH_MAX];
    if (!folder_cache("market", options->cache, folder) || strlen(folder) >= PATH_MAX - NAME_SIZE - 1) {
        note(cache, "no cache: %s: a folder, as $XDG_CACHE_HOME or $HOME/.cache",
             options->cache ? "its path is empty or too long" : "neither $XDG_CACHE_HOME nor $HOME is set");
        return;
    }
    int r = make_folder(folder);
    if (r < 0)
        note(cache, "no cache: %.600s: a folder that can be written (%s)", folder, strerror(-r));
    else
        memcpy(cache->folder, folder, sizeof(folder));
}

static void hex(const uint8_t *bytes, size_t n, char *ret)
{
    for (size_t i = 0; i < n; i++)
        snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

static void blob_path(const struct cache *cache, const char *kind, const uint8_t key[static MARKET_HASH_SIZE],
                      char ret[static PATH_MAX])
{
    char name[2 * MARKET_HASH_SIZE + 1];
    hex(key, MARKET_HASH_SIZE, name);
    snprintf(ret, PATH_MAX, "%.*s/%s.%.7s", PATH_MAX - NAME_SIZE - 2, cache->folder, name, kind);
}

int market_store_cache_get(struct cache *cache, const char *kind, const uint8_t key[static MARKET_HASH_SIZE],
                           struct blob *ret)
{
    char path[PATH_MAX], why[BLOB_WHY_MAX];
    if (!cache->folder[0])
        return -ENOENT;
    blob_path(cache, kind, key, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int r = fd < 0 ? -errno : market_store_blob_map(fd, kind, key, cache->threads, ret, why);
    if (r == 0)
        futimens(fd, NULL); /* used; where that is not allowed it just counts as older */
    else if (r == -EBADMSG)
        market_store_cache_drop(cache, kind, key, why);
    else if (r != -ENOENT)
        note(cache, "cache not used: %.600s: a file that can be read (%s)", path, strerror(-r));
    if (fd >= 0)
        close(fd);
    return r;
}

bool market_store_cache_has(const struct cache *cache, const char *kind,
                            const uint8_t key[static MARKET_HASH_SIZE])
{
    char path[PATH_MAX];
    if (!cache->folder[0])
        return false;
    blob_path(cache, kind, key, path);
    if (access(path, R_OK) < 0)
        return false;
    utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
    return true;
}

void market_store_cache_drop(struct cache *cache, const char *kind,
                             const uint8_t key[static MARKET_HASH_SIZE], const char *why)
{
    char path[PATH_MAX];
    blob_path(cache, kind, key, path);
    unlink(path);
    note(cache, "cache thrown away: %.600s: %s; it is made again", path, why);
}

/* Writes a file whole or not at all. */
static int put(const struct cache *cache, const char *path, const void *bytes, size_t size, bool sync)
{
    char temporary[PATH_MAX];
    snprintf(temporary, sizeof(temporary), "%.*s/" CACHE_TEMPORARY "XXXXXX", PATH_MAX - NAME_SIZE - 2,
             cache->folder);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = whole_file_write(fd, bytes, size);
    if (r == 0 && sync && fsync(fd) < 0)
        r = -errno;
    if (close(fd) < 0 && r == 0)
        r = -errno;
    if (r == 0 && rename(temporary, path) < 0)
        r = -errno;
    if (r < 0)
        unlink(temporary);
    return r;
}

void market_store_cache_put(struct cache *cache, const struct blob *blob)
{
    const struct blob_header *header = blob_header(blob);
    char path[PATH_MAX];
    if (!cache->folder[0])
        return;
    if (blob->size > cache->limit) {
        note(cache, "cache not written: %zu bytes are more than its limit: %" PRIu64, blob->size,
             cache->limit);
        return;
    }
    blob_path(cache, header->kind, header->key, path);
    market_store_cache_trim(cache, blob->size, path);
    int r = put(cache, path, blob->bytes, blob->size, true);
    if (r < 0)
        note(cache, "cache not written: %.600s: %s", path, strerror(-r));
}

/* One file of the disk: its identity and the hash of its content. */
struct known_file {
    char magic[8];
    uint64_t device, inode, size;
    int64_t changed_ns[2]; /* modification and change of status */
    int64_t hashed_ns;
    uint8_t hash[MARKET_HASH_SIZE];
    uint64_t sum;
};

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct known_file look(const struct stat *st)
{
    return (struct known_file){.magic = {'P', 'T', 'H', 'A', 'S', 'H', '1', '\n'},
                               .device = st->st_dev,
                               .inode = st->st_ino,
                               .size = (uint64_t)st->st_size,
                               .changed_ns = {ns_of(st->st_mtim), ns_of(st->st_ctim)}};
}

bool market_store_cache_same(const struct stat *a, const struct stat *b)
{
    struct known_file x = look(a), y = look(b);
    return memcmp(&x, &y, sizeof(x)) == 0;
}

static void known_path(const struct cache *cache, const struct known_file *known, char ret[static PATH_MAX])
{
    XXH128_canonical_t name;
    char text[2 * sizeof(name) + 1];
    XXH128_canonicalFromHash(&name, XXH3_128bits(known, offsetof(struct known_file, hashed_ns)));
    hex(name.digest, sizeof(name), text);
    snprintf(ret, PATH_MAX, "%.*s/%s" CACHE_KNOWN, PATH_MAX - NAME_SIZE - 2, cache->folder, text);
}

static bool racy(const struct known_file *known)
{
    return known->hashed_ns - known->changed_ns[0] < CACHE_RACY_NS ||
           known->hashed_ns - known->changed_ns[1] < CACHE_RACY_NS;
}

/* The whole entry of a file with this stat, which counts as used then. */
static bool read_known(const struct cache *cache, const struct stat *st, struct known_file *ret)
{
    struct known_file looks = look(st), known;
    char path[PATH_MAX];
    if (!cache->folder[0])
        return false;
    known_path(cache, &looks, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool good = read(fd, &known, sizeof(known)) == sizeof(known) &&
                memcmp(&known, &looks, offsetof(struct known_file, hashed_ns)) == 0 &&
                known.sum == XXH3_64bits(&known, offsetof(struct known_file, sum));
    if (good) {
        *ret = known;
        futimens(fd, NULL);
    }
    close(fd);
    return good;
}

enum cache_hash market_store_cache_hash(const struct cache *cache, const struct stat *st,
                                        uint8_t ret[static MARKET_HASH_SIZE])
{
    struct known_file known;
    if (!read_known(cache, st, &known))
        return CACHE_HASH_UNKNOWN;
    if (racy(&known))
        return CACHE_HASH_HASHED;
    memcpy(ret, known.hash, sizeof(known.hash));
    return CACHE_HASH_KNOWN;
}

void market_store_cache_learn(struct cache *cache, const struct stat *st,
                              const uint8_t hash[static MARKET_HASH_SIZE])
{
    struct known_file known = look(st);
    char path[PATH_MAX];
    known.hashed_ns = cache->now_ns;
    if (!cache->folder[0])
        return;
    memcpy(known.hash, hash, sizeof(known.hash));
    known.sum = XXH3_64bits(&known, offsetof(struct known_file, sum));
    known_path(cache, &known, path);
    int r =
        put(cache, path, &known, sizeof(known), false); /* an entry that a crash leaves empty is ignored */
    if (r < 0)
        note(cache, "cache not written: %.600s: %s", path, strerror(-r));
}

/* The cache's folder: blobs by kind and key, and the hashes of files on the disk, by device, inode, size
 * and times. All of it can be removed at any time; what is damaged, foreign or newer is removed and
 * reported in the note.
 *
 *   KEY.KIND    a blob; its modification time is that of its last use
 *   LOOKS.hash  the SHA-256 of a file with this device, inode, size and times
 *   tmp-…       being written; older than an hour: left behind by a process that ended */
#ifndef ENGINE_MARKET_CACHE_H
#define ENGINE_MARKET_CACHE_H

#include <limits.h>
#include <sys/stat.h>

#include "engine/market/blob.h"

struct cache {
    char folder[PATH_MAX]; /* "": there is none */
    uint64_t limit;        /* bytes on the disk */
    int64_t now_ns;
    int threads;
    char note[MARKET_ERROR_MAX]; /* the first message to report; "": none */
};

/* Finds the folder and makes it. A note where it cannot be used; none where options say no_cache. */
void market_store_cache_begin(struct cache *cache, const struct market_options *options);

/* Maps a blob, checked. 0; -ENOENT; -EBADMSG for one that was deleted (noted); another -errno (noted). */
int market_store_cache_get(struct cache *cache, const char *kind, const uint8_t key[static MARKET_HASH_SIZE],
                           struct blob *ret);

/* Is there a file of this kind and key? It counts as used then. */
bool market_store_cache_has(const struct cache *cache, const char *kind,
                            const uint8_t key[static MARKET_HASH_SIZE]);

/* Deletes what is there under a kind and key, and notes why. */
void market_store_cache_drop(struct cache *cache, const char *kind,
                             const uint8_t key[static MARKET_HASH_SIZE], const char *why);

/* Writes a sealed blob under its kind and key, whole or not at all, and keeps the folder below its limit. A
 * failure is noted. */
void market_store_cache_put(struct cache *cache, const struct blob *blob);

/* The hash of a file with this stat, once it is KNOWN. HASHED: the file had changed less than CACHE_RACY_NS
 * before it was hashed, so that it may have changed again with the same times. */
enum cache_hash { CACHE_HASH_UNKNOWN, CACHE_HASH_HASHED, CACHE_HASH_KNOWN };
enum cache_hash market_store_cache_hash(const struct cache *cache, const struct stat *st,
                                        uint8_t ret[static MARKET_HASH_SIZE]);
void market_store_cache_learn(struct cache *cache, const struct stat *st,
                              const uint8_t hash[static MARKET_HASH_SIZE]);

/* Do two stats of a path show the same file, unchanged? */
bool market_store_cache_same(const struct stat *a, const struct stat *b);

#define CACHE_RACY_NS 2000000000ll

/* Keeps the cache's folder below its limit. */

#define CACHE_TEMPORARY "tmp-"
#define CACHE_KNOWN     ".hash"

/* Removes what processes that ended left half written, then the files that were used longest ago, until
 * `more` bytes fit into the limit. Other files in the folder stay, and so does `keep`. */
void market_store_cache_trim(const struct cache *cache, uint64_t more, const char *keep);

#endif

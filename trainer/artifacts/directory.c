/* A directory that machines share, as NFS gives it: a file is written beside its name, synced, and renamed.
 * No lock is taken: two writers of one object write the same bytes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/folder.h"
#include "exchange/whole_file.h"
#include "trainer/artifacts/internal.h"

enum { PART = 256 << 10, FILE_MODE = 0644 };

static int path_of(const struct artifact_store *store, const char *key, char ret[static PATH_MAX], char *err)
{
    return snprintf(ret, PATH_MAX, "%s/%s", store->url.folder, key) < PATH_MAX
               ? 0
               : artifact_fail(err, -ENAMETOOLONG, "%.100s…: a shorter path is right", store->url.folder);
}

static int open_directory(struct artifact_store *store, char *err)
{
    struct stat st;
    int r = mkdir(store->url.folder, ARTIFACT_FOLDER_MODE) < 0 && errno != EEXIST ? -errno : 0;
    if (r == -ENOENT)
        return artifact_fail(
            err, r,
            "%.300s: neither it nor the folder above it is there: a folder that all machines "
            "mount, or a new one in it, is right: is it mounted?",
            store->url.folder);
    if (r < 0 && stat(store->url.folder, &st) < 0)
        return artifact_fail(err, r, "cannot make the folder: %.300s: %s", store->url.folder, strerror(-r));
    if (stat(store->url.folder, &st) < 0 || !S_ISDIR(st.st_mode))
        return artifact_fail(err, -ENOTDIR, "%.300s: a folder is right", store->url.folder);
    return 0;
}

static void close_directory(struct artifact_store *store)
{
    (void)store;
}

/* ---- Copying. ---- */

static int copy_bytes(struct artifact_store *store, int from, const struct whole_file *to,
                      struct artifact_hash *hash)
{
    char *bytes = malloc(PART);
    int r = bytes ? 0 : -ENOMEM;
    while (r == 0) {
        ssize_t n = read(from, bytes, PART);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            r = n < 0 ? -errno : 0;
            break;
        }
        if (artifact_stopped(store))
            r = -ECANCELED;
        else if (hash->size + n > ARTIFACT_BYTES_MAX)
            r = -EFBIG;
        else if (!artifact_hash_add(hash, bytes, (size_t)n))
            r = -ENOMEM;
        else
            r = whole_file_put(to, bytes, (size_t)n);
    }
    free(bytes);
    return r;
}

/* Copies `from` to `to` if it has this digest. -ESTALE: it has another, which is in *ret_found. */
static int copy(struct artifact_store *store, int from, const char *to, const struct artifact_digest *digest,
                struct artifact_digest *ret_found)
{
    struct artifact_hash hash;
    struct whole_file file;
    if (!artifact_hash_begin(&hash))
        return -ENOMEM;
    int r = whole_file_open(to, ARTIFACT_TEMPORARY, FILE_MODE, &file);
    if (r < 0) {
        artifact_hash_end(&hash, NULL);
        return r;
    }
    r = copy_bytes(store, from, &file, &hash);
    artifact_hash_end(&hash, ret_found);
    if (r == 0 && !artifact_digest_equal(ret_found, digest))
        r = -ESTALE;
    return whole_file_close(&file, r);
}

static int say(int r, const char *path, char *err)
{
    if (r == -ECANCELED)
        return artifact_fail(err, r, "stopped");
    return artifact_fail(err, r, "%.400s: %s", path, strerror(-r));
}

/* ---- The calls. ---- */

static bool has(const char *path, const struct artifact_digest *digest)
{
    struct artifact_digest there;
    struct stat st;
    char unused[ARTIFACT_ERROR_MAX];
    return stat(path, &st) == 0 && st.st_size == digest->size &&
           artifact_digest_file(path, &there, unused) == 0 && artifact_digest_equal(&there, digest);
}

static int put(struct artifact_store *store, const char *key, const char *path,
               const struct artifact_digest *digest, char *err)
{
    char to[PATH_MAX];
    struct artifact_digest found;
    int r = path_of(store, key, to, err);
    if (r < 0 || has(to, digest))
        return r;
    /* A mount may be gone since the store was opened: the key's folders alone are made. */
    if ((r = open_directory(store, err)) < 0)
        return r;
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (from < 0)
        return say(-errno, path, err);
    r = folder_make_above(to, ARTIFACT_FOLDER_MODE);
    if (r == 0)
        r = copy(store, from, to, digest, &found);
    close(from);
    if (r == -ESTALE)
        return artifact_fail(err, r, "%.400s: it has changed", path);
    return r < 0 ? say(r, to, err) : 0;
}

static int get(struct artifact_store *store, const char *key, const char *path,
               const struct artifact_digest *digest, char *err)
{
    char at[PATH_MAX];
    struct artifact_digest found;
    int r = path_of(store, key, at, err);
    if (r < 0)
        return r;
    int from = open(at, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (from < 0)
        return say(errno == ENOTDIR ? -ENOENT : -errno, at, err);
    r = copy(store, from, path, digest, &found);
    close(from);
    if (r == -ESTALE)
        return artifact_differs(at, digest, &found, err);
    return r < 0 ? say(r, r == -EISDIR ? at : path, err) : 0;
}

/* Its folders stay: another process may be about to write there. */
static int remove_one(struct artifact_store *store, const char *key, char *err)
{
    char at[PATH_MAX];
    int r = path_of(store, key, at, err);
    if (r == 0 && unlink(at) < 0 && errno != ENOENT && errno != ENOTDIR)
        r = say(-errno, at, err);
    return r;
}

/* ---- The list. ---- */

struct directory_list {
    struct artifact_store *store;
    const char *prefix;
    int (*found)(void *ctx, const char *key, int64_t size);
    void *ctx;
    char *err;
};

static bool is_temporary(const char *name)
{
    size_t n = strlen(name), rest = strlen(ARTIFACT_TEMPORARY) + 9;
    return n > rest && whole_file_is_rest(name + n - rest, ARTIFACT_TEMPORARY);
}

/* May keys below `key`, a folder with a slash at its end, have the prefix? */
static bool may_have(const char *key, const char *prefix)
{
    size_t n = strlen(key), m = strlen(prefix);
    return strncmp(key, prefix, n < m ? n : m) == 0;
}

/* In the order of keys: of "a-b" and "a/c" the former is first, although "a" sorts before "a-b". */
static int by_key(const struct dirent **a, const struct dirent **b)
{
    char x[NAME_MAX + 2], y[NAME_MAX + 2];
    snprintf(x, sizeof x, "%s%s", (*a)->d_name, (*a)->d_type == DT_DIR ? "/" : "");
    snprintf(y, sizeof y, "%s%s", (*b)->d_name, (*b)->d_type == DT_DIR ? "/" : "");
    return strcmp(x, y);
}

static int list_below(const struct directory_list *list, const char *folder);

static int list_one(const struct directory_list *list, const char *folder, const char *name)
{
    char key[PATH_MAX], path[PATH_MAX];
    struct stat st;
    if (name[0] == '.' || is_temporary(name) ||
        snprintf(key, sizeof key, "%s%s", folder, name) >= (int)sizeof key - 1 ||
        snprintf(path, sizeof path, "%s/%s", list->store->url.folder, key) >= (int)sizeof path ||
        stat(path, &st) < 0)
        return 0; /* not an object, or gone meanwhile */
    if (artifact_stopped(list->store))
        return artifact_fail(list->err, -ECANCELED, "stopped");
    if (S_ISDIR(st.st_mode)) {
        strcat(key, "/");
        return may_have(key, list->prefix) ? list_below(list, key) : 0;
    }
    return S_ISREG(st.st_mode) && strncmp(key, list->prefix, strlen(list->prefix)) == 0
               ? list->found(list->ctx, key, st.st_size)
               : 0;
}

/* `folder`: "" or with a slash at its end. */
static int list_below(const struct directory_list *list, const char *folder)
{
    char path[PATH_MAX];
    struct dirent **all = NULL;
    if (snprintf(path, sizeof path, "%s/%s", list->store->url.folder, folder) >= (int)sizeof path)
        return 0;
    int n = scandir(path, &all, NULL, by_key), r = 0;
    if (n < 0 && errno != ENOENT)
        r = say(-errno, path, list->err);
    for (int i = 0; i < n; i++) {
        if (r == 0)
            r = list_one(list, folder, all[i]->d_name);
        free(all[i]);
    }
    free(all);
    return r;
}

static int list(struct artifact_store *store, const char *prefix,
                int (*found)(void *ctx, const char *key, int64_t size), void *ctx, char *err)
{
    const struct directory_list own = {store, prefix, found, ctx, err};
    return list_below(&own, "");
}

const struct artifact_ops artifact_directory_ops = {
    .open = open_directory,
    .close = close_directory,
    .put = put,
    .get = get,
    .list = list,
    .remove = remove_one,
};

#include "strategy/policy/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/whole_file.h"
#include "strategy/policy/ensemble_internal.h"
#include "strategy/policy/recorded_internal.h"
#include "strategy/policy/runtime.h"

enum { FILE_PARAMS, FILE_ACTIONS, FILE_NETWORK, FILE_ENSEMBLE, POLICY_FILES };

static const char *const file_names[POLICY_FILES] = {"params.json", "actions.csv", "policy.safetensors",
                                                     "policy.ensemble.json"};

static bool is_trained(const struct policy *policy)
{
    return strcmp(policy->kind, "trained") == 0;
}

static bool is_ensemble(const struct policy *policy)
{
    return strcmp(policy->kind, "ensemble") == 0;
}

static int load_trained(const char *path, struct policy **ret, char err[static POLICY_ERROR_MAX])
{
    struct trained_policy *trained;
    char why[POLICY_ERROR_MAX];
    int r = policy_trained_load(path, &trained, err);
    if (r < 0)
        return r;
    r = policy_trained_runtime_prepare(trained, why);
    if (r < 0) {
        policy_trained_destroy(trained);
        snprintf(err, POLICY_ERROR_MAX, "%.200s: %.300s", path, why);
        return r;
    }
    *ret = &trained->policy;
    return 0;
}

int policy_load(const char *path, const char *actions, struct policy **ret, char err[static POLICY_ERROR_MAX])
{
    struct ensemble_policy *ensemble;
    if (actions && actions[0])
        return policy_recorded_load(path, actions, ret, err);
    if (!policy_names_ensemble(path))
        return load_trained(path, ret, err);
    int r = ensemble_load(path, &ensemble, err);
    if (r == 0)
        *ret = &ensemble->policy;
    return r;
}

void policy_destroy(struct policy *policy)
{
    if (policy && is_trained(policy))
        policy_trained_destroy((struct trained_policy *)policy);
    else if (policy && is_ensemble(policy))
        ensemble_destroy((struct ensemble_policy *)policy);
    else
        policy_recorded_destroy(policy);
}

/* ---- kept files ---- */

static int close_whole(int fd, int r)
{
    if (r == 0 && fsync(fd) < 0)
        r = -errno;
    if (close(fd) < 0 && r == 0)
        r = -errno;
    return r;
}

static int create_file(int folder, const char *name)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
    return fd < 0 ? -errno : fd;
}

static int write_text(int folder, int name, const char *bytes, size_t n)
{
    int fd = create_file(folder, file_names[name]);
    return fd < 0 ? fd : close_whole(fd, whole_file_write(fd, bytes, n));
}

/* Copies the file, and checks that it is still the one that was read. */
static int copy_bytes(int from, int to, const struct policy *policy)
{
    static const size_t block = 1 << 20;
    uint8_t id[EVP_MAX_MD_SIZE], *bytes = malloc(block);
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    int r = bytes && hash && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1 ? 0 : -ENOMEM;
    for (ssize_t n = 1; r == 0 && n > 0;) {
        n = read(from, bytes, block);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n < 0)
            r = -errno;
        else if (EVP_DigestUpdate(hash, bytes, (size_t)n) != 1)
            r = -ENOMEM;
        else
            r = whole_file_write(to, bytes, (size_t)n);
    }
    if (r == 0 && EVP_DigestFinal_ex(hash, id, NULL) != 1)
        r = -ENOMEM;
    if (r == 0 && memcmp(id, policy->id, POLICY_ID_SIZE) != 0)
        r = -ESTALE;
    EVP_MD_CTX_free(hash);
    free(bytes);
    return r;
}

static int copy_network(int folder, const char *name, const struct policy *policy, const char *path)
{
    int from = open(path, O_RDONLY | O_CLOEXEC), to = from < 0 ? -errno : create_file(folder, name);
    int r = to < 0 ? to : close_whole(to, copy_bytes(from, to, policy));
    if (from >= 0)
        close(from);
    return r;
}

static int copy_ensemble(int folder, const struct ensemble_policy *ensemble)
{
    size_t n;
    const char *bytes = ensemble_bytes(ensemble, &n);
    int r = write_text(folder, FILE_ENSEMBLE, bytes, n);
    for (int i = 0; i < ensemble->n && r == 0; i++) {
        char name[ENSEMBLE_MEMBER_NAME_MAX];
        ensemble_member_name(i, name);
        r = copy_network(folder, name, &ensemble->members[i]->policy, ensemble->files[i]);
    }
    return r;
}

static int fill_folder(int folder, const struct policy *policy, const char *path)
{
    const struct policy_recorded *recorded = (const struct policy_recorded *)policy;
    if (is_trained(policy))
        return copy_network(folder, file_names[FILE_NETWORK], policy, path);
    if (is_ensemble(policy))
        return copy_ensemble(folder, (const struct ensemble_policy *)policy);
    int r = write_text(folder, FILE_PARAMS, recorded->texts[0].bytes, recorded->texts[0].len);
    return r < 0 ? r : write_text(folder, FILE_ACTIONS, recorded->texts[1].bytes, recorded->texts[1].len);
}

/* Writes temporary files and renames them, so that a file with the name is whole. */
static int keep_files(int dir, const char *id, const struct policy *policy, const char *path)
{
    char beside[POLICY_ID_TEXT + 8];
    struct stat info;
    if (fstatat(dir, id, &info, 0) == 0)
        return 0;
    snprintf(beside, sizeof beside, "%s.new", id);
    if (mkdirat(dir, beside, 0750) < 0 && errno != EEXIST)
        return -errno;
    int folder = openat(dir, beside, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = folder < 0 ? -errno : 0;
    if (r == 0)
        r = fill_folder(folder, policy, path);
    if (folder >= 0)
        close(folder);
    if (r == 0 && renameat(dir, beside, dir, id) < 0)
        r = -errno;
    if (r == 0 && fsync(dir) < 0)
        r = -errno;
    return r;
}

int policy_keep(const struct policy *policy, const char *path, const char *dir,
                char err[static POLICY_ERROR_MAX])
{
    char id[POLICY_ID_TEXT];
    int fd = mkdir(dir, 0750) < 0 && errno != EEXIST ? -1 : open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = fd < 0 ? -errno : 0;
    policy_id_text(policy->id, id);
    if (r == 0)
        r = keep_files(fd, id, policy, path);
    if (fd >= 0)
        close(fd);
    if (r < 0)
        snprintf(err, POLICY_ERROR_MAX, "%.200s: policy %.12s cannot be kept there: %s", dir, id,
                 r == -ESTALE ? "its file is another than the one that was read" : strerror(-r));
    return r;
}

/* ---- the cache ---- */

enum { CACHE_DIRS = 2 };

struct policy_cache {
    char *dirs[CACHE_DIRS]; /* NULL: none */
    struct policy **policies;
    size_t n;
};

struct policy_cache *policy_cache_open(const char *dir)
{
    struct policy_cache *cache = calloc(1, sizeof *cache);
    if (cache && !(cache->dirs[0] = strdup(dir))) {
        free(cache);
        return NULL;
    }
    return cache;
}

/* A path and what follows it, for the caller to free; NULL without memory. */
static char *joined(const char *path, int len, const char *end)
{
    size_t size = (size_t)len + strlen(end) + 1;
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "%.*s%s", len, path, end);
    return text;
}

struct policy_cache *policy_cache_of_log(const char *path)
{
    struct policy_cache *cache = calloc(1, sizeof *cache);
    const char *slash = strrchr(path, '/');
    struct stat info;
    if (!cache)
        return NULL;
    if (stat(path, &info) < 0 || !S_ISDIR(info.st_mode)) { /* a segment: take its folder */
        path = slash ? path : ".";
        slash = slash ? slash : path + 1;
    } else {
        slash = path + strlen(path);
    }
    cache->dirs[0] = joined(path, (int)(slash - path), "/../policies");
    cache->dirs[1] = joined(path, (int)(slash - path), "/policies");
    if (cache->dirs[0] && cache->dirs[1])
        return cache;
    policy_cache_close(cache);
    return NULL;
}

void policy_cache_close(struct policy_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < cache->n; i++)
        policy_destroy(cache->policies[i]);
    free(cache->policies);
    for (int i = 0; i < CACHE_DIRS; i++)
        free(cache->dirs[i]);
    free(cache);
}

/* Loads files of either kind. */
static int load_kept(char paths[static POLICY_FILES][PATH_MAX], struct policy **ret)
{
    char err[POLICY_ERROR_MAX];
    struct ensemble_policy *ensemble;
    if (access(paths[FILE_NETWORK], F_OK) == 0)
        return policy_load(paths[FILE_NETWORK], NULL, ret, err);
    if (access(paths[FILE_ENSEMBLE], F_OK) < 0)
        return policy_load(paths[FILE_PARAMS], paths[FILE_ACTIONS], ret, err);
    int r = ensemble_load_kept(paths[FILE_ENSEMBLE], &ensemble, err);
    if (r == 0)
        *ret = &ensemble->policy;
    return r;
}

static struct policy *read_kept(const char *dir, const uint8_t id[static POLICY_ID_SIZE])
{
    char name[POLICY_ID_TEXT], paths[POLICY_FILES][PATH_MAX];
    struct policy *policy = NULL;
    policy_id_text(id, name);
    for (int i = 0; i < POLICY_FILES; i++)
        if (snprintf(paths[i], sizeof paths[i], "%s/%s/%s", dir, name, file_names[i]) >= (int)sizeof paths[i])
            return NULL;
    if (load_kept(paths, &policy) < 0)
        return NULL;
    if (memcmp(policy->id, id, POLICY_ID_SIZE) == 0)
        return policy;
    policy_destroy(policy);
    return NULL;
}

static const struct policy *find(void *ctx, const uint8_t id[static POLICY_ID_SIZE])
{
    struct policy_cache *cache = ctx;
    struct policy *policy = NULL;
    for (size_t i = 0; i < cache->n; i++)
        if (memcmp(cache->policies[i]->id, id, POLICY_ID_SIZE) == 0)
            return cache->policies[i];
    for (int i = 0; i < CACHE_DIRS && !policy; i++)
        policy = cache->dirs[i] ? read_kept(cache->dirs[i], id) : NULL;
    if (!policy)
        return NULL;
    struct policy **moved = reallocarray(cache->policies, cache->n + 1, sizeof *moved);
    if (!moved) {
        policy_destroy(policy);
        return NULL;
    }
    cache->policies = moved;
    cache->policies[cache->n++] = policy;
    return policy;
}

struct policies policy_cache_find(struct policy_cache *cache)
{
    return (struct policies){.ctx = cache, .find = find, .where = cache->dirs[0]};
}

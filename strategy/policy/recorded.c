#include "strategy/policy/recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "strategy/policy/recorded_internal.h"

enum { TEXT_MOST = 256 << 20 };

static const char *const file_names[2] = {"params.json", "actions.csv"};

int recorded_refuse(char err[static POLICY_ERROR_MAX], const char *path, const char *format, ...)
{
    va_list args;
    int len = snprintf(err, POLICY_ERROR_MAX, "%.200s: ", path);
    va_start(args, format);
    vsnprintf(err + len, (size_t)(POLICY_ERROR_MAX - len), format, args);
    va_end(args);
    return -EINVAL;
}

static int read_file(const char *path, struct recorded_text *ret, char err[static POLICY_ERROR_MAX])
{
    FILE *file = fopen(path, "rbe");
    struct stat info;
    int r = 0;
    if (!file || fstat(fileno(file), &info) < 0)
        r = -errno;
    else if (!S_ISREG(info.st_mode))
        r = -EINVAL;
    else if (info.st_size > TEXT_MOST)
        r = -EFBIG;
    if (r == 0) {
        ret->bytes = malloc((size_t)info.st_size + 1);
        r = ret->bytes ? 0 : -ENOMEM;
    }
    if (r == 0) {
        ret->len = fread(ret->bytes, 1, (size_t)info.st_size, file);
        ret->bytes[ret->len] = '\0';
        if (ferror(file))
            r = -EIO;
    }
    if (file)
        fclose(file);
    if (r < 0)
        recorded_refuse(err, path, "%s", r == -EINVAL ? "a file is needed" : strerror(-r));
    return r;
}

/* SHA-256 of the hashes of what was read. */
static int find_id(struct recorded *recorded)
{
    uint8_t hashes[2 * POLICY_ID_SIZE], id[EVP_MAX_MD_SIZE];
    bool done = true;
    for (int i = 0; i < 2; i++) {
        const struct recorded_text *text = &recorded->texts[i];
        done &= EVP_Digest(text->bytes, text->len, id, NULL, EVP_sha256(), NULL) == 1;
        memcpy(hashes + i * POLICY_ID_SIZE, id, POLICY_ID_SIZE);
    }
    done &= EVP_Digest(hashes, sizeof hashes, id, NULL, EVP_sha256(), NULL) == 1;
    memcpy(recorded->policy.id, id, POLICY_ID_SIZE);
    return done ? 0 : -ENOMEM;
}

static bool act(const struct policy *policy, int64_t open_ns, float *ret_actions)
{
    const struct recorded *recorded = (const struct recorded *)policy;
    int64_t bar = open_ns >= policy->first_ns ? (open_ns - policy->first_ns) / policy->interval_ns : -1;
    int64_t row = bar + 1 - policy->lookback; /* t is decided at the bar before it */
    if (bar < 0 || row < 0 || row >= (int64_t)recorded->n_rows)
        return false;
    memcpy(ret_actions, recorded->actions + (size_t)row * (size_t)policy->n_assets,
           (size_t)policy->n_assets * sizeof *ret_actions);
    return true;
}

int policy_recorded_load(const char *params, const char *actions, struct policy **ret,
                         char err[static POLICY_ERROR_MAX])
{
    struct recorded *recorded = calloc(1, sizeof *recorded);
    if (!recorded) {
        recorded_refuse(err, params, "out of memory");
        return -ENOMEM;
    }
    recorded->policy.kind = "recorded";
    recorded->policy.act = act;
    int r = read_file(params, &recorded->texts[0], err);
    if (r == 0)
        r = read_file(actions, &recorded->texts[1], err);
    if (r == 0)
        r = recorded_read_params(params, recorded, err);
    if (r == 0)
        r = recorded_read_actions(actions, recorded, err);
    if (r == 0 && (r = find_id(recorded)) < 0)
        recorded_refuse(err, params, "out of memory");
    if (r < 0) {
        policy_recorded_destroy(&recorded->policy);
        return r;
    }
    *ret = &recorded->policy;
    return 0;
}

void policy_recorded_destroy(struct policy *policy)
{
    struct recorded *recorded = (struct recorded *)policy;
    if (!recorded)
        return;
    free(recorded->assets);
    free(recorded->first_closes);
    free(recorded->actions);
    free(recorded->texts[0].bytes);
    free(recorded->texts[1].bytes);
    free(recorded);
}

/* ---- kept files ---- */

static int write_file(int folder, const char *name, const struct recorded_text *text)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640), r = 0;
    if (fd < 0)
        return -errno;
    for (size_t at = 0; at < text->len && r == 0;) {
        ssize_t n = write(fd, text->bytes + at, text->len - at);
        if (n < 0 && errno != EINTR)
            r = -errno;
        else if (n > 0)
            at += (size_t)n;
    }
    if (r == 0 && fsync(fd) < 0)
        r = -errno;
    if (close(fd) < 0 && r == 0)
        r = -errno;
    return r;
}

/* Written beside its name and then put there, so that what has the name is whole. */
static int keep_files(int dir, const char *id, const struct recorded *recorded)
{
    char beside[POLICY_ID_TEXT + 8];
    struct stat info;
    if (fstatat(dir, id, &info, 0) == 0)
        return 0;
    snprintf(beside, sizeof beside, "%s.new", id);
    if (mkdirat(dir, beside, 0750) < 0 && errno != EEXIST)
        return -errno;
    int folder = openat(dir, beside, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = folder < 0 ? -errno : 0;
    for (int i = 0; i < 2 && r == 0; i++)
        r = write_file(folder, file_names[i], &recorded->texts[i]);
    if (folder >= 0)
        close(folder);
    if (r == 0 && renameat(dir, beside, dir, id) < 0)
        r = -errno;
    if (r == 0 && fsync(dir) < 0)
        r = -errno;
    return r;
}

int policy_recorded_keep(const struct policy *policy, const char *dir, char err[static POLICY_ERROR_MAX])
{
    char id[POLICY_ID_TEXT];
    int fd = mkdir(dir, 0750) < 0 && errno != EEXIST ? -1 : open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = fd < 0 ? -errno : 0;
    policy_id_text(policy->id, id);
    if (r == 0)
        r = keep_files(fd, id, (const struct recorded *)policy);
    if (fd >= 0)
        close(fd);
    if (r < 0)
        recorded_refuse(err, dir, "policy %.12s cannot be kept there: %s", id, strerror(-r));
    return r;
}

/* ---- the shelf ---- */

enum { SHELF_DIRS = 2 };

struct policy_shelf {
    char *dirs[SHELF_DIRS]; /* NULL: none */
    struct policy **policies;
    size_t n;
};

struct policy_shelf *policy_shelf_open(const char *dir)
{
    struct policy_shelf *shelf = calloc(1, sizeof *shelf);
    if (shelf && !(shelf->dirs[0] = strdup(dir))) {
        free(shelf);
        return NULL;
    }
    return shelf;
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

struct policy_shelf *policy_shelf_of_log(const char *path)
{
    struct policy_shelf *shelf = calloc(1, sizeof *shelf);
    const char *slash = strrchr(path, '/');
    struct stat info;
    if (!shelf)
        return NULL;
    if (stat(path, &info) < 0 || !S_ISDIR(info.st_mode)) { /* a segment: the folder that it lies in */
        path = slash ? path : ".";
        slash = slash ? slash : path + 1;
    } else {
        slash = path + strlen(path);
    }
    shelf->dirs[0] = joined(path, (int)(slash - path), "/../policies");
    shelf->dirs[1] = joined(path, (int)(slash - path), "/policies");
    if (shelf->dirs[0] && shelf->dirs[1])
        return shelf;
    policy_shelf_close(shelf);
    return NULL;
}

void policy_shelf_close(struct policy_shelf *shelf)
{
    if (!shelf)
        return;
    for (size_t i = 0; i < shelf->n; i++)
        policy_recorded_destroy(shelf->policies[i]);
    free(shelf->policies);
    for (int i = 0; i < SHELF_DIRS; i++)
        free(shelf->dirs[i]);
    free(shelf);
}

static struct policy *read_kept(const char *dir, const uint8_t id[static POLICY_ID_SIZE])
{
    char name[POLICY_ID_TEXT], paths[2][PATH_MAX], err[POLICY_ERROR_MAX];
    struct policy *policy = NULL;
    policy_id_text(id, name);
    for (int i = 0; i < 2; i++)
        if (snprintf(paths[i], sizeof paths[i], "%s/%s/%s", dir, name, file_names[i]) >= (int)sizeof paths[i])
            return NULL;
    if (policy_recorded_load(paths[0], paths[1], &policy, err) < 0)
        return NULL;
    if (memcmp(policy->id, id, POLICY_ID_SIZE) == 0)
        return policy;
    policy_recorded_destroy(policy);
    return NULL;
}

static const struct policy *find(void *ctx, const uint8_t id[static POLICY_ID_SIZE])
{
    struct policy_shelf *shelf = ctx;
    struct policy *policy = NULL;
    for (size_t i = 0; i < shelf->n; i++)
        if (memcmp(shelf->policies[i]->id, id, POLICY_ID_SIZE) == 0)
            return shelf->policies[i];
    for (int i = 0; i < SHELF_DIRS && !policy; i++)
        policy = shelf->dirs[i] ? read_kept(shelf->dirs[i], id) : NULL;
    if (!policy)
        return NULL;
    struct policy **moved = reallocarray(shelf->policies, shelf->n + 1, sizeof *moved);
    if (!moved) {
        policy_recorded_destroy(policy);
        return NULL;
    }
    shelf->policies = moved;
    shelf->policies[shelf->n++] = policy;
    return policy;
}

struct policies policy_shelf_find(struct policy_shelf *shelf)
{
    return (struct policies){.ctx = shelf, .find = find, .where = shelf->dirs[0]};
}

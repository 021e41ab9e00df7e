#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/artifacts/internal.h"

enum { PART = 64 << 10 };

bool artifact_hash_begin(struct artifact_hash *hash)
{
    *hash = (struct artifact_hash){.md = EVP_MD_CTX_new()};
    if (hash->md && EVP_DigestInit_ex(hash->md, EVP_sha256(), NULL) == 1)
        return true;
    EVP_MD_CTX_free(hash->md);
    hash->md = NULL;
    return false;
}

bool artifact_hash_add(struct artifact_hash *hash, const void *bytes, size_t n)
{
    hash->size += (int64_t)n;
    return EVP_DigestUpdate(hash->md, bytes, n) == 1;
}

void artifact_hash_end(struct artifact_hash *hash, struct artifact_digest *ret)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    if (ret && EVP_DigestFinal_ex(hash->md, sum, &n) == 1) {
        ret->size = hash->size;
        for (unsigned i = 0; i < 32 && i < n; i++)
            snprintf(ret->sha256 + 2 * i, 3, "%02x", sum[i]);
    } else if (ret) {
        *ret = (struct artifact_digest){.size = -1};
    }
    EVP_MD_CTX_free(hash->md);
    hash->md = NULL;
}

static int add_all(int fd, struct artifact_hash *hash)
{
    char bytes[PART];
    for (;;) {
        ssize_t n = read(fd, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        if (hash->size + n > ARTIFACT_BYTES_MAX)
            return -EFBIG;
        if (!artifact_hash_add(hash, bytes, (size_t)n))
            return -ENOMEM;
    }
}

int artifact_digest_file(const char *path, struct artifact_digest *ret, char err[static ARTIFACT_ERROR_MAX])
{
    struct artifact_hash hash;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return artifact_fail(err, -errno, "%.300s: %s", path, strerror(errno));
    int r = fstat(fd, &st) < 0                ? -errno
            : !S_ISREG(st.st_mode)            ? -EINVAL
            : st.st_size > ARTIFACT_BYTES_MAX ? -EFBIG
                                              : 0;
    if (r == 0)
        r = artifact_hash_begin(&hash) ? 0 : -ENOMEM;
    if (r == 0) {
        r = add_all(fd, &hash);
        artifact_hash_end(&hash, r == 0 ? ret : NULL);
    }
    close(fd);
    if (r == -EFBIG)
        return artifact_fail(err, r, "%.300s: an artifact has at most %lld bytes", path,
                             (long long)ARTIFACT_BYTES_MAX);
    return r < 0 ? artifact_fail(err, r, "%.300s: %s", path, strerror(-r)) : 0;
}

bool artifact_digest_equal(const struct artifact_digest *a, const struct artifact_digest *b)
{
    return a->size == b->size && strcmp(a->sha256, b->sha256) == 0;
}

int artifact_differs(const char *what, const struct artifact_digest *wanted,
                     const struct artifact_digest *found, char *err)
{
    return artifact_fail(err, -EBADMSG,
                         "%.300s: another, damaged or cut off: %lld bytes with SHA-256 %.12s…, where the "
                         "study has %lld and %.12s…",
                         what, (long long)found->size, found->sha256, (long long)wanted->size,
                         wanted->sha256);
}

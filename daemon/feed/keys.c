#include "daemon/feed/keys.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/fail.h"
#include "exchange/net/secret.h"

enum { TEXT_MAX = 2 * FEED_KEY_MAX + 8 };

void feed_keys_forget(struct feed_keys *keys)
{
    explicit_bzero(keys, sizeof *keys);
}

static int find(const char *name, char *path, size_t size, char *err, size_t err_size)
{
    const char *directory = getenv("CREDENTIALS_DIRECTORY");
    if (strchr(name, '/')) {
        snprintf(path, size, "%s", name);
        return 0;
    }
    if (!directory || !directory[0]) {
        snprintf(
            err, err_size,
            "keys = %.60s: there is no credential: LoadCredential=%.60s:FILE of the unit is needed, or the "
            "path of a file of mode 0600",
            name, name);
        return -ENOENT;
    }
    int n = snprintf(path, size, "%s/%s", directory, name);
    if (n < 0 || (size_t)n >= size)
        return fail_with(-ENAMETOOLONG, err, err_size, "keys = %.60s: its path is too long", name);
    return 0;
}

/* A credential is protected by its directory; a user's own file by its owner and mode. */
static int check_mode(int fd, bool own, const char *path, char *err, size_t err_size)
{
    struct stat file;
    if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode))
        return fail_with(-EINVAL, err, err_size,
                         "keys: %.300s: is %s: a file of two lines, id and secret, is needed", path,
                         S_ISFIFO(file.st_mode) ? "a FIFO" : "no file");
    if (own && file.st_uid != geteuid() && file.st_uid != 0)
        return fail_with(
            -EPERM, err, err_size,
            "keys: %.300s: belongs to uid %u: a file of root or of uid %u, which runs this, is needed", path,
            (unsigned)file.st_uid, (unsigned)geteuid());
    if (own && (file.st_mode & 077) != 0)
        return fail_with(-EACCES, err, err_size,
                         "keys: %.300s: others may read it (mode %04o): mode 0600 is needed", path,
                         (unsigned)(file.st_mode & 07777));
    return 0;
}

static bool take_line(const char **text, char ret[static FEED_KEY_MAX])
{
    size_t n = strcspn(*text, "\r\n");
    if (n == 0 || n >= FEED_KEY_MAX)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isgraph((unsigned char)(*text)[i]))
            return false;
    memcpy(ret, *text, n);
    ret[n] = '\0';
    *text += n;
    *text += strspn(*text, "\r\n");
    return true;
}

int feed_keys_read(const char *name, struct feed_keys *ret, char *err, size_t err_size)
{
    char path[4096];
    int r = find(name, path, sizeof path, err, err_size);
    if (r < 0)
        return r;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        r = -errno;
        snprintf(err, err_size, "keys: %.300s: %s: two lines, id and secret, are needed", path, strerror(-r));
        return r;
    }
    r = check_mode(fd, strchr(name, '/') != NULL, path, err, err_size);
    char *text = r == 0 ? net_secret_alloc(TEXT_MAX) : NULL;
    ssize_t n = text ? read(fd, text, TEXT_MAX - 1) : -1;
    close(fd);
    if (r < 0)
        return r;
    *ret = (struct feed_keys){0};
    const char *at = text;
    bool good = n >= 0 && take_line(&at, ret->id) && take_line(&at, ret->secret) && at == text + n;
    net_secret_free(text);
    if (good)
        return 0;
    feed_keys_forget(ret);
    return fail_with(-EINVAL, err, err_size,
                     "keys: %.300s: two lines, id and secret, of at most %d characters are needed", path,
                     FEED_KEY_MAX - 1);
}

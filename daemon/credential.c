#include "daemon/credential.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/fail.h"
#include "exchange/net/secret.h"

static const char *directory(void)
{
    const char *found = getenv("CREDENTIALS_DIRECTORY");
    return found && found[0] ? found : NULL;
}

bool daemon_credential_unseen(const char *name)
{
    return name[0] && !strchr(name, '/') && !directory();
}

static int find(const struct credential_kind *kind, const char *name, char path[static CREDENTIAL_PATH_MAX],
                char *err, size_t err_size)
{
    if (strchr(name, '/')) {
        snprintf(path, CREDENTIAL_PATH_MAX, "%s", name);
        return 0;
    }
    if (!directory()) {
        snprintf(
            err, err_size,
            "%s = %.60s: there is no credential: LoadCredential=%.60s:FILE of the unit is needed, or the "
            "path of a file of mode 0600",
            kind->key, name, name);
        return -ENOENT;
    }
    int n = snprintf(path, CREDENTIAL_PATH_MAX, "%s/%s", directory(), name);
    if (n < 0 || n >= CREDENTIAL_PATH_MAX)
        return fail_with(-ENAMETOOLONG, err, err_size, "%s = %.60s: its path is too long", kind->key, name);
    return 0;
}

/* A credential is protected by its directory; a user's own file by its owner and mode. */
static int check_mode(const struct credential_kind *kind, int fd, bool own, const char *path, char *err,
                      size_t err_size)
{
    struct stat file;
    if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode))
        return fail_with(-EINVAL, err, err_size, "%s: %.300s: is %s: %s needed", kind->key, path,
                         S_ISFIFO(file.st_mode) ? "a FIFO" : "no file", kind->file);
    return own ? net_secret_check_file(&file, kind->key, path, err, err_size) : 0;
}

ssize_t daemon_credential_read(const struct credential_kind *kind, const char *name, char *text, size_t size,
                               char path[static CREDENTIAL_PATH_MAX], char *err, size_t err_size)
{
    int r = find(kind, name, path, err, err_size);
    if (r < 0)
        return r;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        r = -errno;
        snprintf(err, err_size, "%s: %.300s: %s: %s needed", kind->key, path, strerror(-r), kind->lines);
        return r;
    }
    r = check_mode(kind, fd, strchr(name, '/') != NULL, path, err, err_size);
    ssize_t n = r == 0 ? read(fd, text, size - 1) : r;
    if (r == 0 && n < 0) {
        n = -errno;
        snprintf(err, err_size, "%s: %.300s: %s: %s needed", kind->key, path, strerror((int)-n), kind->lines);
    }
    close(fd);
    if (n >= 0)
        text[n] = '\0';
    return n;
}

const char *daemon_credential_take_line(const char *text, char *ret, size_t size)
{
    size_t n = strcspn(text, "\r\n");
    if (n == 0 || n >= size)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (!isgraph((unsigned char)text[i]))
            return NULL;
    memcpy(ret, text, n);
    ret[n] = '\0';
    return text + n + strspn(text + n, "\r\n");
}

int daemon_credential_line(const char *key, const char *name, char *ret, size_t size, char *err,
                           size_t err_size)
{
    const struct credential_kind kind = {key, "one line is", "a file of one line is"};
    char path[CREDENTIAL_PATH_MAX];
    ssize_t n = daemon_credential_read(&kind, name, ret, size, path, err, err_size);
    if (n < 0)
        return (int)n;
    size_t len = strcspn(ret, "\r\n");
    bool good = len > 0 && ret[len + strspn(ret + len, "\r\n")] == '\0' && (size_t)n == strlen(ret);
    for (size_t i = 0; i < len; i++)
        good &= isgraph((unsigned char)ret[i]) || ret[i] == ' ';
    if (good && (size_t)n < size - 1) {
        ret[len] = '\0';
        return 0;
    }
    explicit_bzero(ret, size);
    return fail_with(-EINVAL, err, err_size, "%s: %.300s: one line of at most %zu characters is needed", key,
                     path, size - 3);
}

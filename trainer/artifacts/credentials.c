#include "trainer/artifacts/credentials.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/net/secret.h"
#include "trainer/artifacts/internal.h"

enum { FILE_MAX = 64 << 10 };

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Printable and without blanks: what goes into a header. */
static bool take(char *ret, size_t cap, const char *value)
{
    size_t n = strlen(value);
    for (const char *at = value; *at; at++)
        if (!isgraph((unsigned char)*at))
            return false;
    if (n == 0 || n >= cap)
        return false;
    memcpy(ret, value, n + 1);
    return true;
}

/* ---- The environment. ---- */

/* 1: it has none. */
static int from_environment(struct artifact_credentials *ret, char *err)
{
    const char *id = variable("AWS_ACCESS_KEY_ID"), *secret = variable("AWS_SECRET_ACCESS_KEY"),
               *token = variable("AWS_SESSION_TOKEN");
    if (!id && !secret)
        return 1;
    if (!id || !secret)
        return artifact_fail(err, -EINVAL,
                             "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: one of them is missing");
    if (!take(ret->key_id, sizeof ret->key_id, id) || !take(ret->secret, sizeof ret->secret, secret) ||
        (token && !take(ret->token, sizeof ret->token, token)))
        return artifact_fail(
            err, -EINVAL,
            "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN: characters without "
            "blanks are right");
    return 0;
}

/* ---- A file. ---- */

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r", text[n - 1]))
        text[--n] = '\0';
    return text;
}

static bool take_line(char *line, struct artifact_credentials *ret)
{
    char *value = strchr(line, '=');
    if (!value)
        return true;
    *value++ = '\0';
    const char *key = trim(line);
    value = trim(value);
    if (strcmp(key, "aws_access_key_id") == 0)
        return take(ret->key_id, sizeof ret->key_id, value);
    if (strcmp(key, "aws_secret_access_key") == 0)
        return take(ret->secret, sizeof ret->secret, value);
    if (strcmp(key, "aws_session_token") == 0)
        return take(ret->token, sizeof ret->token, value);
    return true;
}

int artifact_credentials_parse(char *text, const char *profile, struct artifact_credentials *ret)
{
    bool within = false, found = false;
    for (char *next, *line = text; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        line = trim(line);
        size_t n = strlen(line);
        if (n == 0 || *line == '#' || *line == ';')
            continue;
        if (*line == '[' && line[n - 1] == ']') {
            line[n - 1] = '\0';
            within = strcmp(trim(line + 1), profile) == 0;
            found = found || within;
        } else if (within && !take_line(line, ret)) {
            return -EINVAL;
        }
    }
    return !found ? -ENOENT : ret->key_id[0] && ret->secret[0] ? 0 : -EINVAL;
}

static int check_file(int fd, bool own, const char *path, char *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return artifact_fail(err, -EINVAL, "credentials: %.300s: a file is right", path);
    return own ? net_secret_check_file(&st, "credentials", path, err, ARTIFACT_ERROR_MAX) : 0;
}

static int read_text(int fd, const char *path, char *text, char *err)
{
    size_t n = 0;
    while (n < FILE_MAX - 1) {
        ssize_t done = read(fd, text + n, FILE_MAX - 1 - n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return artifact_fail(err, -errno, "credentials: %.300s: %s", path, strerror(errno));
        if (done == 0)
            break;
        n += (size_t)done;
    }
    text[n] = '\0';
    return 0;
}

/* 1: there is no such file. `own`: a user's; a systemd credential is protected by its folder. */
static int from_file(const char *path, bool own, struct artifact_credentials *ret, char *err)
{
    const char *profile = variable("AWS_PROFILE") ? variable("AWS_PROFILE") : "default";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 1;
    if (fd < 0)
        return artifact_fail(err, -errno, "credentials: %.300s: %s", path, strerror(errno));
    char *text = net_secret_alloc(FILE_MAX);
    int r = text ? check_file(fd, own, path, err) : artifact_fail(err, -ENOMEM, "out of memory: credentials");
    if (r == 0)
        r = read_text(fd, path, text, err);
    close(fd);
    if (r == 0 && (r = artifact_credentials_parse(text, profile, ret)) == -ENOENT)
        artifact_fail(err, r, "credentials: %.300s: no section [%.60s]", path, profile);
    else if (r == -EINVAL && text && !err[0])
        artifact_fail(err, r,
                      "credentials: %.300s: [%.60s]: lines aws_access_key_id = … and aws_secret_access_key = "
                      "… are right",
                      path, profile);
    net_secret_free(text);
    return r;
}

static int find(struct artifact_credentials *ret, char *err)
{
    char path[PATH_MAX];
    const char *given = variable("AWS_SHARED_CREDENTIALS_FILE"), *folder = variable("CREDENTIALS_DIRECTORY"),
               *home = variable("HOME");
    int r = from_environment(ret, err);
    if (r > 0 && given && (r = from_file(given, true, ret, err)) > 0)
        return artifact_fail(err, -ENOENT, "AWS_SHARED_CREDENTIALS_FILE: %.300s: no such file", given);
    if (r > 0 && folder && snprintf(path, sizeof path, "%s/aws-credentials", folder) < (int)sizeof path)
        r = from_file(path, false, ret, err);
    if (r > 0 && home && snprintf(path, sizeof path, "%s/.aws/credentials", home) < (int)sizeof path)
        r = from_file(path, true, ret, err);
    return r <= 0 ? r
                  : artifact_fail(err, -ENOENT,
                                  "no credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the file "
                                  "AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials (mode 0600), or "
                                  "LoadCredential=aws-credentials:FILE of the unit are right");
}

int artifact_credentials_find(struct artifact_credentials **ret, char err[static ARTIFACT_ERROR_MAX])
{
    struct artifact_credentials *found = net_secret_alloc(sizeof *found);
    if (!found)
        return artifact_fail(err, -ENOMEM, "out of memory: credentials");
    err[0] = '\0';
    int r = find(found, err);
    if (r < 0)
        net_secret_free(found);
    else
        *ret = found;
    return r;
}

#include "trainer/artifacts/url.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trainer/artifacts/internal.h"

#define FORMS "file:///DIR, a directory or s3://BUCKET/PREFIX is right"

/* ---- Percent-encoding. ---- */

bool artifact_url_encode(const char *text, bool slashes, char *ret, size_t cap)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t n = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        const bool plain = (*at < 128 && isalnum(*at)) || strchr("-._~", *at) || (slashes && *at == '/');
        if (n + 4 > cap)
            return false;
        if (plain) {
            ret[n++] = (char)*at;
        } else {
            ret[n++] = '%';
            ret[n++] = digits[*at >> 4];
            ret[n++] = digits[*at & 15];
        }
    }
    if (n >= cap)
        return false;
    ret[n] = '\0';
    return true;
}

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool artifact_url_decode(char *text, bool plus)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        if (*at == '%') {
            int high = digit(at[1]), low = high < 0 ? -1 : digit(at[2]);
            if (low < 0 || high * 16 + low == 0)
                return false;
            *to++ = (char)(high * 16 + low);
            at += 2;
        } else {
            *to++ = plus && *at == '+' ? ' ' : *at;
        }
    }
    *to = '\0';
    return true;
}

/* ---- A directory. ---- */

static int take_folder(const char *path, struct artifact_url *url, char *err)
{
    char here[PATH_MAX] = "";
    if (path[0] != '/' && !getcwd(here, sizeof here))
        return artifact_fail(err, -errno, "no working directory: %s: an absolute path would be right",
                             strerror(errno));
    int n = snprintf(url->folder, sizeof url->folder, "%s%s%s", here, here[0] ? "/" : "", path);
    if (n >= (int)sizeof url->folder - ARTIFACT_KEY_MAX)
        return artifact_fail(err, -ENAMETOOLONG, "%.100s…: a shorter path is right", path);
    while (n > 1 && url->folder[n - 1] == '/')
        url->folder[--n] = '\0';
    char encoded[sizeof url->text];
    if (!artifact_url_encode(url->folder, true, encoded, sizeof encoded - 8))
        return artifact_fail(err, -ENAMETOOLONG, "%.100s…: a shorter path is right", path);
    snprintf(url->text, sizeof url->text, "file://%.*s", (int)sizeof url->text - 8, encoded);
    return 0;
}

static int take_file(const char *text, struct artifact_url *url, char *err)
{
    char path[PATH_MAX];
    if (strlen(text) >= sizeof path)
        return artifact_fail(err, -ENAMETOOLONG, "%.100s…: a shorter path is right", text);
    strcpy(path, text + strlen("file://"));
    if (path[0] != '/' || strpbrk(path, "?#") || !artifact_url_decode(path, false))
        return artifact_fail(err, -EINVAL, "\"%.200s\": " FORMS, text);
    return take_folder(path, url, err);
}

/* ---- S3. ---- */

static bool is_bucket(const char *name)
{
    size_t n = strlen(name);
    for (const char *at = name; *at; at++)
        if (!islower((unsigned char)*at) && !isdigit((unsigned char)*at) && *at != '-' && *at != '.')
            return false;
    return n >= 3 && n < ARTIFACT_BUCKET_MAX && name[0] != '-' && name[0] != '.' && name[n - 1] != '-' &&
           name[n - 1] != '.';
}

static bool is_region(const char *name)
{
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '-' && *at != '_')
            return false;
    return *name && strlen(name) < ARTIFACT_REGION_MAX;
}

/* http:// or https://, a host, a port: neither a user nor a path. */
static bool is_endpoint(const char *text)
{
    const char *host = strncmp(text, "https://", 8) == 0  ? text + 8
                       : strncmp(text, "http://", 7) == 0 ? text + 7
                                                          : NULL;
    if (!host || !*host || *host == ':')
        return false;
    for (const char *at = host; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("-._:[]", *at))
            return false;
    return true;
}

static int take_endpoint(struct artifact_url *url, const char *text, const char *from, char *err)
{
    size_t n = strlen(text);
    n -= n > 0 && text[n - 1] == '/';
    if (n >= sizeof url->endpoint - ARTIFACT_BUCKET_MAX || strchr(text, '@'))
        return artifact_fail(err, -EINVAL, "%s: a URL without a user or password is right", from);
    snprintf(url->endpoint, sizeof url->endpoint, "%.*s", (int)n, text);
    if (!is_endpoint(url->endpoint))
        return artifact_fail(err, -EINVAL, "%s: \"%.100s\": https://HOST or https://HOST:PORT is right", from,
                             text);
    return 0;
}

static int take_option(struct artifact_url *url, const char *key, const char *value, int *path_style,
                       char *err)
{
    if (strcmp(key, "endpoint") == 0)
        return take_endpoint(url, value, "endpoint", err);
    if (strcmp(key, "region") == 0) {
        if (!is_region(value))
            return artifact_fail(err, -EINVAL, "region: \"%.80s\": a name as eu-central-1 is right", value);
        memcpy(url->region, value, strlen(value) + 1);
        return 0;
    }
    if (strcmp(key, "path-style") != 0)
        return artifact_fail(err, -EINVAL, "\"%.40s\": endpoint, region or path-style is right", key);
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
        return artifact_fail(err, -EINVAL, "path-style: \"%.40s\": true or false is right", value);
    *path_style = strcmp(value, "true") == 0;
    return 0;
}

static int take_options(struct artifact_url *url, char *query, int *path_style, char *err)
{
    int r = 0;
    for (char *next, *at = query; at && *at && r == 0; at = next) {
        next = strchr(at, '&');
        if (next)
            *next++ = '\0';
        char *value = strchr(at, '=');
        if (value)
            *value++ = '\0';
        if (!value || !artifact_url_decode(value, true))
            return artifact_fail(err, -EINVAL, "\"%.40s\": KEY=VALUE is right", at);
        r = take_option(url, at, value, path_style, err);
    }
    return r;
}

static const char *environment(const char *first, const char *second)
{
    const char *value = getenv(first);
    if (!value || !*value)
        value = getenv(second);
    return value && *value ? value : NULL;
}

static int take_defaults(struct artifact_url *url, int path_style, char *err)
{
    const char *region = environment("AWS_REGION", "AWS_DEFAULT_REGION");
    const char *endpoint = environment("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
    int r = 0;
    if (!url->region[0] && region && !is_region(region))
        return artifact_fail(err, -EINVAL, "AWS_REGION: \"%.80s\": a name as eu-central-1 is right", region);
    if (!url->region[0])
        snprintf(url->region, sizeof url->region, "%s", region ? region : "us-east-1");
    if (!url->endpoint[0] && endpoint)
        r = take_endpoint(url, endpoint, "AWS_ENDPOINT_URL", err);
    url->path_style = path_style < 0 ? url->endpoint[0] || strchr(url->bucket, '.') : path_style > 0;
    if (!url->endpoint[0])
        snprintf(url->endpoint, sizeof url->endpoint, "https://s3.%s.amazonaws.com", url->region);
    return r;
}

static int take_place(struct artifact_url *url, char *place, char *err)
{
    char *slash = strchr(place, '/'), *prefix = slash ? slash + 1 : place + strlen(place);
    if (slash)
        *slash = '\0';
    if (strchr(place, '@') || strchr(place, ':'))
        return artifact_fail(err, -EINVAL,
                             "a user, password or port in the URL: credentials come from the environment or "
                             "a file: s3://BUCKET/PREFIX?endpoint=URL is right");
    if (!is_bucket(place))
        return artifact_fail(err, -EINVAL,
                             "s3: bucket \"%.80s\": 3 to 63 of a-z, 0-9, - and . are right: "
                             "s3://BUCKET/PREFIX",
                             place);
    memcpy(url->bucket, place, strlen(place) + 1);
    size_t n = artifact_url_decode(prefix, false) ? strlen(prefix) : 0;
    if (n > 0 && prefix[n - 1] == '/')
        prefix[--n] = '\0';
    if ((n == 0 && *prefix) || (n > 0 && !artifact_key_is_good(prefix)) || n + 2 > sizeof url->prefix / 2)
        return artifact_fail(err, -EINVAL, "s3: prefix \"%.80s\": a path as a/b is right", prefix);
    snprintf(url->prefix, sizeof url->prefix, "%s%s", prefix, n > 0 ? "/" : "");
    return 0;
}

static int take_s3(const char *text, struct artifact_url *url, char *err)
{
    char own[ARTIFACT_URL_MAX];
    int path_style = -1;
    if (strlen(text) >= sizeof own)
        return artifact_fail(err, -ENAMETOOLONG, "%d characters at most are right", ARTIFACT_URL_MAX - 1);
    strcpy(own, text + strlen("s3://"));
    char *query = strchr(own, '?');
    if (query)
        *query++ = '\0';
    int r = take_place(url, own, err);
    if (r == 0)
        r = take_options(url, query, &path_style, err);
    if (r == 0)
        r = take_defaults(url, path_style, err);
    snprintf(url->text, sizeof url->text, "%s", text);
    return r;
}

int artifact_url_parse(const char *text, struct artifact_url *ret, char err[static ARTIFACT_ERROR_MAX])
{
    struct artifact_url url = {.text = ""};
    int r;
    if (!*text)
        return artifact_fail(err, -EINVAL, "an empty URL: " FORMS);
    if (strncmp(text, "s3://", 5) == 0)
        r = take_s3(text, &url, err);
    else if (strncmp(text, "file:", 5) == 0)
        r = strncmp(text, "file://", 7) == 0 ? take_file(text, &url, err)
                                             : artifact_fail(err, -EINVAL, "\"%.200s\": " FORMS, text);
    else if (strstr(text, "://"))
        r = artifact_fail(err, -EPROTONOSUPPORT, "\"%.*s\": another kind of store: " FORMS,
                          (int)(strstr(text, "://") - text), text);
    else
        r = take_folder(text, &url, err);
    if (r == 0)
        *ret = url;
    return r;
}

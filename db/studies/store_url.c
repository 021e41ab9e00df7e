/* Parses a URL, as SQLAlchemy writes it, into a database and its location. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/store_ops.h"
#include "exchange/fail.h"

enum { BUSY_DEFAULT_MS = 60000, TIMEOUT_MOST_S = 86400 };

static const struct study_store_ops *const databases[] = {&study_store_sqlite};

/* A URL in its parts. */
struct parts {
    const struct study_store_ops *ops;
    char *location; /* owned */
    int busy_ms;    /* 0: not given */
};

static int refuse(int r, const char *url, const char *words, char err[static STUDY_ERROR_MAX])
{
    snprintf(err, STUDY_ERROR_MAX, "%.200s: %s", url, words);
    return r;
}

/* Parses the part after "?": KEY=VALUE&... */
static int read_query(const char *url, const char *query, int *ret_busy_ms, char err[static STUDY_ERROR_MAX])
{
    static const char key[] = "timeout=";
    while (*query) {
        size_t n = strcspn(query, "&");
        char *end;
        if (strncmp(query, key, sizeof key - 1) != 0)
            return refuse(-EINVAL, url, "only timeout=SECONDS is known after \"?\"", err);
        double seconds = strtod(query + sizeof key - 1, &end);
        if (end != query + n || end == query + sizeof key - 1 || !(seconds > 0 && seconds <= TIMEOUT_MOST_S))
            return refuse(-EINVAL, url, "timeout: seconds above 0, of a day at most, would be right", err);
        *ret_busy_ms = (int)ceil(seconds * 1e3);
        query += n + (query[n] == '&');
    }
    return 0;
}

static int read_scheme(const char *url, const char *end, const struct study_store_ops **ret,
                       char err[static STUDY_ERROR_MAX])
{
    size_t n = (size_t)(end - url);
    for (size_t i = 0; i < sizeof databases / sizeof *databases; i++)
        if (strlen(databases[i]->scheme) == n && strncmp(url, databases[i]->scheme, n) == 0) {
            *ret = databases[i];
            return 0;
        }
    const char *host = strrchr(url, '@'); /* errors must not show user and password */
    host = host && host > end ? host : end + strlen("://");
    return fail_with(-EPROTONOSUPPORT, err, STUDY_ERROR_MAX,
                     "%.*s://%s%.200s: studies are kept in sqlite:///FILE", (int)n, url,
                     *host == '@' ? "…" : "", host);
}

static int read_url(const char *url, struct parts *ret, char err[static STUDY_ERROR_MAX])
{
    struct parts parts = {.ops = databases[0]};
    const char *location = url, *end = strstr(url, "://");
    size_t n = strlen(url);
    if (end) {
        int r = read_scheme(url, end, &parts.ops, err);
        if (r < 0)
            return r;
        location = end + strlen("://");
        if (*location++ != '/')
            return refuse(-EINVAL, url, "three slashes, sqlite:///FILE, would be right", err);
        n = strcspn(location, "?");
        r = location[n] ? read_query(url, location + n + 1, &parts.busy_ms, err) : 0;
        if (r < 0)
            return r;
    }
    if (!*location || n == 0)
        return fail_with(-EINVAL, err, STUDY_ERROR_MAX,
                         "studies: \"%.200s\": names no file: sqlite:///FILE would be right", url);
    parts.location = strndup(location, n);
    if (!parts.location)
        return refuse(-ENOMEM, url, "no memory", err);
    if (strcmp(parts.location, ":memory:") == 0) {
        free(parts.location);
        return refuse(-EINVAL, url, "would be gone with its process: a file, sqlite:///FILE, is needed", err);
    }
    *ret = parts;
    return 0;
}

char *study_store_file(const char *url)
{
    struct parts parts;
    char err[STUDY_ERROR_MAX];
    return read_url(url, &parts, err) == 0 ? parts.location : NULL;
}

int study_store_open(const char *url, enum study_store_mode mode, int busy_ms, struct study_store **ret,
                     char err[static STUDY_ERROR_MAX])
{
    struct parts parts;
    int r = read_url(url, &parts, err);
    if (r < 0)
        return r;
    if (busy_ms <= 0)
        busy_ms = parts.busy_ms > 0 ? parts.busy_ms : BUSY_DEFAULT_MS;
    r = parts.ops->open(parts.location, mode, busy_ms, ret, err);
    free(parts.location);
    return r;
}

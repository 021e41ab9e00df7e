/* Parses a URL, as SQLAlchemy writes it, into a database and its location. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/studies/store_ops.h"
#include "exchange/fail.h"
#include "exchange/text_password.h"

enum { BUSY_DEFAULT_MS = 60000, TIMEOUT_MOST_S = 86400, SHOWN_MAX = 200 };

static const struct study_store_ops *const databases[] = {&study_store_sqlite, &study_store_postgresql};

static bool is_file(const struct study_store_ops *ops)
{
    return !ops->name;
}

/* A URL in its parts. */
struct parts {
    const struct study_store_ops *ops;
    char *location; /* owned */
    int busy_ms;    /* 0: not given */
};

const char *study_store_shown(const char *url, int *ret_n)
{
    const char *end = strstr(url, "://"), *at = end ? strrchr(end, '@') : NULL, *part = at ? at : url;
    bool file = !end || strncmp(url, study_store_sqlite.scheme, strlen(study_store_sqlite.scheme)) == 0;
    size_t n = file ? strlen(part) : strcspn(part, "?");
    if (at && memmem(end, (size_t)(at - end), "password=", strlen("password=")))
        n = 0;
    *ret_n = n < SHOWN_MAX ? (int)n : SHOWN_MAX;
    return part;
}

static int refuse(int r, const char *url, const char *words, char err[static STUDY_ERROR_MAX])
{
    int n;
    const char *part = study_store_shown(url, &n);
    const char *end = strstr(url, "://");
    return fail_with(r, err, STUDY_ERROR_MAX, "%.*s%s%.*s: %s", part == url ? 0 : (int)(end - url), url,
                     part == url ? "" : "://…", n, part, words);
}

static int read_timeout(const char *url, const char *text, size_t n, int *ret_busy_ms,
                        char err[static STUDY_ERROR_MAX])
{
    char *end;
    double seconds = strtod(text, &end);
    if (end != text + n || end == text || !(seconds > 0 && seconds <= TIMEOUT_MOST_S))
        return refuse(-EINVAL, url, "timeout: seconds above 0, of a day at most, would be right", err);
    *ret_busy_ms = (int)ceil(seconds * 1e3);
    return 0;
}

/* Parses the part after "?", KEY=VALUE&...: our key, which is taken out, and those of a server, which stay.
 */
static int read_query(const char *url, char *query, bool others, int *ret_busy_ms,
                      char err[static STUDY_ERROR_MAX])
{
    static const char key[] = "timeout=";
    char *to = query;
    while (*query) {
        size_t n = strcspn(query, "&");
        if (strncmp(query, key, sizeof key - 1) == 0) {
            int r = read_timeout(url, query + sizeof key - 1, n - (sizeof key - 1), ret_busy_ms, err);
            if (r < 0)
                return r;
            n += query[n] == '&';
        } else if (!others) {
            return refuse(-EINVAL, url, "only timeout=SECONDS is known after \"?\"", err);
        } else {
            n += query[n] == '&';
            memmove(to, query, n);
            to += n;
        }
        query += n;
    }
    *to = '\0';
    return 0;
}

/* SQLAlchemy's schemes may name a driver, as postgresql+psycopg2. */
static int read_scheme(const char *url, const char *end, const struct study_store_ops **ret,
                       char err[static STUDY_ERROR_MAX])
{
    const char *plus = memchr(url, '+', (size_t)(end - url));
    size_t n = (size_t)((plus ? plus : end) - url);
    for (size_t i = 0; i < sizeof databases / sizeof *databases; i++)
        if (strlen(databases[i]->scheme) == n && strncmp(url, databases[i]->scheme, n) == 0) {
            *ret = databases[i];
            return 0;
        }
    return refuse(-EPROTONOSUPPORT, url,
                  "studies are kept in sqlite:///FILE or postgresql://USER@HOST/DATABASE", err);
}

/* ---- Text that is neither a URL nor a file. ---- */

/* One of these words, and behind it one of these characters, or "//". */
static bool begins_with_any(const char *text, const char *const *words, const char *after)
{
    for (; *words; words++) {
        const char *rest = text + strlen(*words);
        if (strncmp(text, *words, strlen(*words)) == 0 && *rest &&
            (strchr(after, *rest) || strncmp(rest, "//", 2) == 0))
            return true;
    }
    return false;
}

/* A mistyped URL, or libpq's other form, and no path of a file that is, or is wanted? */
static bool is_mistyped(const char *text)
{
    static const char *const schemes[] = {"postgresql", "postgres", "mysql", "mariadb", "sqlite", NULL};
    static const char *const keys[] = {"host", "hostaddr", "dbname", "user", "service", "password", NULL};
    if (text[0] == '/' || strncmp(text, "./", 2) == 0 || strncmp(text, "../", 3) == 0 ||
        access(text, F_OK) == 0)
        return false;
    return strstr(text, ":/") || strchr(text, '@') || (strchr(text, '=') && strchr(text, ' ')) ||
           begins_with_any(text, schemes, ":+") || begins_with_any(text, keys, "=");
}

static int refuse_mistyped(const char *text, char err[static STUDY_ERROR_MAX])
{
    char *shown = strdup(text);
    if (shown)
        text_hide_passwords(shown);
    const char *at = shown ? strrchr(shown, '@') : NULL, *part = at ? at : shown ? shown : "";
    int n = (int)strcspn(part, "?");
    fail_line(-EINVAL, err, STUDY_ERROR_MAX, NULL,
              "\"%s%.*s\": neither a URL nor a file that is there: postgresql://USER@HOST/DATABASE or "
              "sqlite:///FILE would be right",
              at ? "…" : "", n < SHOWN_MAX ? n : SHOWN_MAX, part);
    free(shown);
    return -EINVAL;
}

int study_store_of_state(const char *folder, char **ret, char err[static STUDY_ERROR_MAX])
{
    const bool plain = folder[0] == '/' || !strpbrk(folder, ":@= ");
    return asprintf(ret, "%s%s/studies.db", plain ? "" : "./", folder) < 0
               ? fail_with(-ENOMEM, err, STUDY_ERROR_MAX, "out of memory")
               : 0;
}

static int check_file(const char *url, const char *location, char err[static STUDY_ERROR_MAX])
{
    if (!*location)
        return fail_with(-EINVAL, err, STUDY_ERROR_MAX,
                         "studies: \"%.200s\": names no file: sqlite:///FILE would be right", url);
    if (strcmp(location, ":memory:") == 0)
        return refuse(-EINVAL, url, "would be gone with its process: a file, sqlite:///FILE, is needed", err);
    return 0;
}

/* A server's location is its whole URL, without the driver. */
static int read_location(const char *url, const char *end, struct parts *parts,
                         char err[static STUDY_ERROR_MAX])
{
    const char *rest = end ? end + strlen("://") : url;
    bool server = !is_file(parts->ops);
    if (end && !server && *rest++ != '/')
        return refuse(-EINVAL, url, "three slashes, sqlite:///FILE, would be right", err);
    if ((server ? asprintf(&parts->location, "%s://%s", parts->ops->scheme, rest)
                : asprintf(&parts->location, "%s", rest)) < 0)
        return refuse(-ENOMEM, url, "no memory", err);
    char *query = end ? strchr(parts->location, '?') : NULL;
    int r = query ? read_query(url, query + 1, server, &parts->busy_ms, err) : 0;
    if (query && (!server || !query[1]))
        *query = '\0';
    if (r == 0 && !server)
        r = check_file(url, parts->location, err);
    if (r < 0)
        free(parts->location);
    return r;
}

static int read_url(const char *url, struct parts *ret, char err[static STUDY_ERROR_MAX])
{
    struct parts parts = {.ops = databases[0]};
    const char *end = strstr(url, "://");
    int r = end ? read_scheme(url, end, &parts.ops, err) : is_mistyped(url) ? refuse_mistyped(url, err) : 0;
    if (r == 0)
        r = read_location(url, end, &parts, err);
    if (r == 0)
        *ret = parts;
    return r;
}

char *study_store_file(const char *url)
{
    struct parts parts;
    char err[STUDY_ERROR_MAX];
    if (read_url(url, &parts, err) < 0)
        return NULL;
    if (is_file(parts.ops))
        return parts.location;
    free(parts.location);
    return NULL;
}

int study_store_name(const char *url, char **ret, char err[static STUDY_ERROR_MAX])
{
    struct parts parts;
    int r = read_url(url, &parts, err);
    if (r < 0)
        return r;
    if (is_file(parts.ops)) {
        *ret = parts.location;
        return 0;
    }
    r = parts.ops->name(parts.location, ret, err);
    free(parts.location);
    return r;
}

int study_store_open_waiting(const char *url, enum study_store_mode mode, int busy_ms,
                             const struct study_store_waits *waits, struct study_store **ret,
                             char err[static STUDY_ERROR_MAX])
{
    static const struct study_store_waits none;
    struct parts parts;
    int r = read_url(url, &parts, err);
    if (r < 0)
        return r;
    if (busy_ms <= 0)
        busy_ms = parts.busy_ms > 0 ? parts.busy_ms : BUSY_DEFAULT_MS;
    r = parts.ops->open(parts.location, mode, busy_ms, waits ? waits : &none, ret, err);
    free(parts.location);
    return r;
}

int study_store_open_stopped_by(const char *url, enum study_store_mode mode, int busy_ms,
                                const atomic_bool *stop, struct study_store **ret,
                                char err[static STUDY_ERROR_MAX])
{
    const struct study_store_waits waits = {.stop = stop};
    return study_store_open_waiting(url, mode, busy_ms, &waits, ret, err);
}

int study_store_open(const char *url, enum study_store_mode mode, int busy_ms, struct study_store **ret,
                     char err[static STUDY_ERROR_MAX])
{
    return study_store_open_waiting(url, mode, busy_ms, NULL, ret, err);
}

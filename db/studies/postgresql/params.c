/* What a URL asks for, and what this program adds to it where the URL says nothing. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/studies/postgresql/postgresql_store.h"
#include "exchange/fail.h"
#include "exchange/text_password.h"

enum { CONNECT_S = 10 };    /* connect_timeout, which is ours to keep: PQconnectPoll() does not */
#define CREDENTIAL "pgpass" /* in $CREDENTIALS_DIRECTORY */

/* A machine that has vanished is noticed within half a minute: the connection's locks are others' then. */
static const char *const defaults[][2] = {
    {"client_encoding", "UTF8"}, {"fallback_application_name", "papertape"},
    {"keepalives_idle", "15"},   {"keepalives_interval", "5"},
    {"keepalives_count", "3"},   {"tcp_user_timeout", "30000"}};

/* May libpq's words be shown? They may have what it could not read, which may be a password or its end; but
 * not where it names a key that no password is before. */
static bool may_show(const char *url, const char *said)
{
    static const char of_key[] = "invalid URI query parameter: ";
    const char *query = strchr(url, '?');
    const bool of_query = query && strncmp(said, of_key, sizeof of_key - 1) == 0;
    char *copy = strdup(of_query ? query : url);
    bool shown =
        copy && (!text_hide_passwords(copy) || (of_query && strcasestr(said + sizeof of_key - 1, "pass")));
    free(copy);
    return shown;
}

static int refuse(const char *url, char *said, char err[static STUDY_ERROR_MAX])
{
    int n, r = said ? -EINVAL : -ENOMEM;
    const char *part = study_store_shown(url, &n);
    const char *words = !said ? "no memory" : may_show(url, said) ? said : "is no URL as libpq has it";
    fail_line(r, err, STUDY_ERROR_MAX, NULL,
              "%s%.*s: %.*s: postgresql://USER@HOST:PORT/DATABASE would be right",
              part == url ? "" : "postgresql://…", n, part, (int)strcspn(words, "\n"), words);
    if (said)
        PQfreemem(said);
    return r;
}

/* A "@", "/" or "?" of a password that is not quoted would make the rest of it a host, port or database,
 * which errors show. */
static int parse(const char *url, PQconninfoOption **ret, char err[static STUDY_ERROR_MAX])
{
    const char *authority = strstr(url, "://") + 3, *at = strchr(authority, '@');
    char *said = NULL;
    if (at && ((authority + strcspn(authority, "/?#") < at) || strcspn(at + 1, "@") < strcspn(at + 1, "?"))) {
        int n;
        const char *part = study_store_shown(url, &n);
        return fail_with(-EINVAL, err, STUDY_ERROR_MAX,
                         "postgresql://…%.*s: has \"@\" in its parts: a password's @, / and ? are %%40, "
                         "%%2F and %%3F",
                         n, part);
    }
    *ret = PQconninfoParse(url, &said);
    return *ret ? 0 : refuse(url, said, err);
}

static const char *value_of(const PQconninfoOption *options, const char *key)
{
    for (; options->keyword; options++)
        if (strcmp(options->keyword, key) == 0)
            return options->val && *options->val ? options->val : NULL;
    return NULL;
}

/* "postgresql://USER@HOST:PORT/DATABASE", as far as the URL has them. */
static char *name_of(const PQconninfoOption *options)
{
    const char *user = value_of(options, "user"), *host = value_of(options, "host"),
               *port = value_of(options, "port"), *database = value_of(options, "dbname"),
               *service = value_of(options, "service");
    char *name;
    if (!host)
        host = value_of(options, "hostaddr");
    int n = asprintf(&name, "postgresql://%s%s%s%s%s/%s%s%s", user ? user : "", user ? "@" : "",
                     host ? host : "", port ? ":" : "", port ? port : "", database ? database : "",
                     service ? "?service=" : "", service ? service : "");
    return n < 0 ? NULL : name;
}

/* With "%XX" for what a URL's value cannot have. */
static void put_quoted(FILE *out, const char *text)
{
    for (; *text; text++)
        if (isalnum((unsigned char)*text) || strchr("-._~/", *text))
            putc(*text, out);
        else
            fprintf(out, "%%%02X", (unsigned char)*text);
}

int study_postgresql_url(const char *url, char **ret, char err[static STUDY_ERROR_MAX])
{
    static const char *const others[] = {"user",    "host",     "port",       "dbname",
                                         "service", "password", "sslpassword"};
    char *text = NULL;
    size_t size;
    PQconninfoOption *options;
    int r = parse(url, &options, err);
    if (r < 0)
        return r;
    char *name = name_of(options);
    FILE *out = name ? open_memstream(&text, &size) : NULL;
    char separator = name && strchr(name, '?') ? '&' : '?';
    if (out)
        fputs(name, out);
    for (const PQconninfoOption *option = options; out && option->keyword; option++) {
        bool other = !option->val;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            other = other || strcmp(option->keyword, others[i]) == 0;
        if (other)
            continue;
        fprintf(out, "%c%s=", separator, option->keyword);
        put_quoted(out, option->val);
        separator = '&';
    }
    free(name);
    PQconninfoFree(options);
    if (!out || fclose(out) != 0) {
        free(text);
        return fail_with(-ENOMEM, err, STUDY_ERROR_MAX, "postgresql://…: no memory");
    }
    *ret = text;
    return 0;
}

static void add(struct study_postgresql_params *params, int *n, const char *key, const char *value)
{
    if (*n < STUDY_POSTGRESQL_PARAMS) {
        params->keys[*n] = key;
        params->values[(*n)++] = value;
    }
}

/* ---- The file of passwords. ---- */

/* libpq reads no file that its group may read. A file of systemd's credentials has such bits (they are the
 * mask of its ACL), and so has a Secret of Kubernetes with fsGroup: no user but this one and root reads it.
 */
static bool is_private(const char *path, const struct stat *st)
{
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    const size_t n = folder ? strlen(folder) : 0;
    const bool given = n > 0 && strncmp(path, folder, n) == 0 && path[n] == '/';
    return S_ISREG(st->st_mode) && !(st->st_mode & (S_IWGRP | S_IXGRP | S_IRWXO)) &&
           (given || (st->st_uid == 0 && geteuid() != 0));
}

/* A copy in memory that libpq takes, in /proc/self/fd: the descriptor, or -1. */
static int copy_private(const char *path)
{
    struct stat st;
    int from = open(path, O_RDONLY | O_CLOEXEC), to = -1;
    if (from >= 0 && fstat(from, &st) == 0 && (st.st_mode & S_IRGRP) && is_private(path, &st))
        to = memfd_create("pgpass", MFD_CLOEXEC);
    bool copied = to >= 0 && fchmod(to, 0600) == 0;
    for (off_t left = copied ? st.st_size : 0; left > 0 && copied;) {
        ssize_t n = sendfile(to, from, NULL, (size_t)left);
        copied = n > 0;
        left -= n;
    }
    if (from >= 0)
        close(from);
    if (to >= 0 && !copied)
        close(to);
    return copied ? to : -1;
}

/* That of the URL or the environment, else the one that systemd gives to a service; for free(). NULL: none,
 * or without memory. */
static char *passfile_of(const PQconninfoOption *options)
{
    const char *given = value_of(options, "passfile"), *folder = getenv("CREDENTIALS_DIRECTORY");
    char *path = NULL;
    if (!given)
        given = getenv("PGPASSFILE");
    if (given)
        return strdup(given);
    if (!folder || asprintf(&path, "%s/" CREDENTIAL, folder) < 0)
        return NULL;
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

static void take_passfile(struct study_postgresql_params *params)
{
    char *path = passfile_of(params->options), *copy;
    int fd = path ? copy_private(path) : -1;
    if (fd >= 0 && asprintf(&copy, "/proc/self/fd/%d", fd) >= 0) {
        free(path);
        path = copy;
        params->passfile_fd = fd;
    } else if (fd >= 0) {
        close(fd);
    }
    params->passfile = path;
}

int study_postgresql_params(const char *url, struct study_postgresql_params *ret, char **ret_name,
                            char err[static STUDY_ERROR_MAX])
{
    struct study_postgresql_params params = {.connect_s = CONNECT_S};
    int n = 0, r = parse(url, &params.options, err);
    if (r < 0)
        return r;
    for (const PQconninfoOption *option = params.options; option->keyword; option++)
        if (option->val && strcmp(option->keyword, "passfile") != 0)
            add(&params, &n, option->keyword, option->val);
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (!value_of(params.options, defaults[i][0]))
            add(&params, &n, defaults[i][0], defaults[i][1]);
    take_passfile(&params);
    if (params.passfile)
        add(&params, &n, "passfile", params.passfile);
    const char *seconds = value_of(params.options, "connect_timeout");
    if (seconds && atoi(seconds) > 0)
        params.connect_s = atoi(seconds);
    char *name = name_of(params.options);
    if (!name) {
        study_postgresql_params_finish(&params);
        return fail_with(-ENOMEM, err, STUDY_ERROR_MAX, "postgresql://…: no memory");
    }
    *ret = params;
    *ret_name = name;
    return 0;
}

void study_postgresql_params_finish(struct study_postgresql_params *params)
{
    if (params->options)
        PQconninfoFree(params->options);
    free(params->passfile);
    if (params->passfile_fd > 0)
        close(params->passfile_fd);
    *params = (struct study_postgresql_params){0};
}

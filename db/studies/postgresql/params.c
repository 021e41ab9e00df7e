/* What a URL asks for, and what this program adds to it where the URL says nothing. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/studies/postgresql/postgresql_store.h"
#include "exchange/fail.h"

enum { CONNECT_S = 10 };    /* connect_timeout, which is ours to keep: PQconnectPoll() does not */
#define CREDENTIAL "pgpass" /* in $CREDENTIALS_DIRECTORY */

/* A machine that has vanished is noticed within half a minute: the connection's locks are others' then. */
static const char *const defaults[][2] = {
    {"client_encoding", "UTF8"}, {"fallback_application_name", "papertape"},
    {"keepalives_idle", "15"},   {"keepalives_interval", "5"},
    {"keepalives_count", "3"},   {"tcp_user_timeout", "30000"}};

/* Do the words of an error possibly have a password? */
static bool has_password(const char *url)
{
    const char *authority = strstr(url, "://") + 3;
    const char *at = strchr(authority, '@'), *colon = strchr(authority, ':');
    return (at && colon && colon < at) || strstr(url, "password");
}

static int refuse(const char *url, char *said, char err[static STUDY_ERROR_MAX])
{
    static const char right[] = "postgresql://USER@HOST:PORT/DATABASE would be right";
    int r = said ? -EINVAL : -ENOMEM;
    if (has_password(url))
        fail_with(r, err, STUDY_ERROR_MAX, "postgresql://…: is no URL as libpq has it: %s", right);
    else
        fail_line(r, err, STUDY_ERROR_MAX, url, "%.*s: %s", said ? (int)strcspn(said, "\n") : 9,
                  said ? said : "no memory", right);
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

/* The file of passwords that systemd gives to a service, where neither URL nor environment has another. */
static char *credential(const PQconninfoOption *options)
{
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    char *path;
    if (!folder || getenv("PGPASSFILE") || value_of(options, "passfile") ||
        asprintf(&path, "%s/" CREDENTIAL, folder) < 0)
        return NULL;
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

int study_postgresql_params(const char *url, struct study_postgresql_params *ret, char **ret_name,
                            char err[static STUDY_ERROR_MAX])
{
    struct study_postgresql_params params = {.connect_s = CONNECT_S};
    int n = 0, r = parse(url, &params.options, err);
    if (r < 0)
        return r;
    for (const PQconninfoOption *option = params.options; option->keyword; option++)
        if (option->val)
            add(&params, &n, option->keyword, option->val);
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (!value_of(params.options, defaults[i][0]))
            add(&params, &n, defaults[i][0], defaults[i][1]);
    params.passfile = credential(params.options);
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
    *params = (struct study_postgresql_params){0};
}

#include "exchange/text_password.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { PORT_DIGITS = 5 };

static bool blank_out(char *from, const char *end)
{
    for (char *at = from; at < end; at++)
        *at = '*';
    return from < end;
}

/* ---- USER:PASSWORD@ ---- */

/* The end of "SCHEME:", "SCHEME://", "SCHEME//" of a database at a word's beginning, or of another "…://";
 * else NULL. */
static char *after_scheme(char *word, bool *ret_database)
{
    static const char *const schemes[] = {"postgresql", "postgres", "mysql", "mariadb", "sqlite"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t n = strlen(schemes[i]);
        if (strncasecmp(word, schemes[i], n) != 0)
            continue;
        char *at = word + n;
        if (*at == '+')
            at += 1 + strspn(at + 1, "abcdefghijklmnopqrstuvwxyz0123456789_");
        *ret_database = true;
        return *at == ':' || *at == '/' ? at + strspn(at, ":/") : NULL;
    }
    *ret_database = false;
    char *any = strstr(word, "://");
    return any && any < word + strcspn(word, " ") ? any + strlen("://") : NULL;
}

/* Is it a port, and not a password that was cut off before its "@"? */
static bool is_port(const char *text)
{
    size_t n = strspn(text, "0123456789");
    return n > 0 && n <= PORT_DIGITS && (!text[n] || strchr("/?,: \"]", text[n]));
}

/* Behind a scheme the password ends at the last "@": it may have blanks and slashes that are not quoted. A
 * database's may be cut off before the "@"; in "https://HOST:PORT" there is none. */
static bool hide_of_url(char *authority, bool database)
{
    char *colon = strchr(authority, ':'), *at = strrchr(authority, '@');
    if (!colon || colon >= authority + strcspn(authority, " "))
        return false;
    if (at > colon)
        return blank_out(colon + 1, at);
    return database && authority[0] != '[' && colon < authority + strcspn(authority, "/?@") &&
           !is_port(colon + 1) && blank_out(colon + 1, colon + 1 + strcspn(colon + 1, " \"?"));
}

/* A word without a scheme. */
static bool hide_of_word(char *word, const char *end)
{
    char *colon = memchr(word, ':', (size_t)(end - word)), *at = memrchr(word, '@', (size_t)(end - word));
    return colon && at > colon && blank_out(colon + 1, at);
}

static bool hide_of_users(char *text)
{
    bool found = false;
    for (char *word = text + strspn(text, " \""); *word; word += strspn(word, " \"")) {
        bool database;
        char *end = word + strcspn(word, " \""), *authority = after_scheme(word, &database);
        if (authority && hide_of_url(authority, database))
            return true; /* the line's rest was looked at */
        found = (!authority && hide_of_word(word, end)) || found;
        word = end;
    }
    return found;
}

/* ---- KEY=VALUE ---- */

static bool is_secret(const char *key, size_t n)
{
    static const char *const parts[] = {"pass", "pwd"};
    if (n == strlen("passfile") && strncasecmp(key, "passfile", n) == 0)
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t at = 0, len = strlen(parts[i]); at + len <= n; at++)
            if (strncasecmp(key + at, parts[i], len) == 0)
                return true;
    return false;
}

/* Of a URL up to "&"; of libpq's words '…' with \' within, or up to a blank. */
static char *end_of_value(char *value, bool url)
{
    if (url)
        return value + strcspn(value, "&");
    if (*value != '\'')
        return value + strcspn(value, " ");
    for (value++; *value && *value != '\''; value++)
        value += value[0] == '\\' && value[1];
    return value;
}

static bool hide_of_keys(char *text)
{
    bool found = false;
    const char *query = strchr(text, '?');
    for (char *equals = text; (equals = strchr(equals, '=')) != NULL;) {
        const char *end = equals;
        while (end > text && end[-1] == ' ')
            end--;
        const char *key = end;
        while (key > text && (isalnum((unsigned char)key[-1]) || key[-1] == '_'))
            key--;
        char *value = equals + 1 + strspn(equals + 1, " ");
        bool secret = is_secret(key, (size_t)(end - key));
        char *stop = secret ? end_of_value(value, query && query < equals) : equals + 1;
        found = (secret && blank_out(value, stop)) || found;
        equals = stop;
    }
    return found;
}

bool text_hide_passwords(char *text)
{
    bool keys = hide_of_keys(text);
    return hide_of_users(text) || keys;
}

#include <string.h>

#include "db/studies/store.h"

struct span {
    size_t at, n; /* n 0: none */
};

/* The password of "SCHEME://USER:PASSWORD@HOST/…". */
static struct span of_user(const char *argument, const char *authority)
{
    const char *at = strrchr(authority, '@'), *colon = strchr(authority, ':');
    if (!at || !colon || colon > at)
        return (struct span){0};
    return (struct span){(size_t)(colon + 1 - argument), (size_t)(at - colon - 1)};
}

/* Of "…?password=PASSWORD&…". */
static struct span of_key(const char *argument, const char *authority, const char *key)
{
    const char *found = strstr(authority, key);
    if (!found)
        return (struct span){0};
    found += strlen(key);
    return (struct span){(size_t)(found - argument), strcspn(found, "&")};
}

/* Blanks the argument; a copy as it was, or NULL: it had no password, or without memory. */
static char *hide(char *argument)
{
    const char *authority = strstr(argument, "://");
    if (!authority)
        return NULL;
    authority += strlen("://");
    const struct span spans[] = {
        of_user(argument, authority),
        of_key(argument, authority, "?password="),
        of_key(argument, authority, "&password="),
        of_key(argument, authority, "?sslpassword="),
        of_key(argument, authority, "&sslpassword="),
    };
    char *copy = NULL;
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        if (spans[i].n > 0 && (copy || (copy = strdup(argument))))
            memset(argument + spans[i].at, '*', spans[i].n);
    return copy;
}

void study_store_hide_passwords(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *copy = hide(argv[i]);
        if (copy)
            argv[i] = copy;
    }
}

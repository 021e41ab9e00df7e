#include "cli/books/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_books_name *find(const struct cli_books_names *names, const char *from)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->names[i].from, from) == 0)
            return &names->names[i];
    return NULL;
}

static bool taken(const struct cli_books_names *names, const char *to)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->names[i].to, to) == 0)
            return true;
    return false;
}

static const struct cli_books_name *add(struct cli_books_names *names, const char *from)
{
    if (names->n == names->cap) {
        const size_t cap = names->cap ? 2 * names->cap : 16;
        struct cli_books_name *more = realloc(names->names, cap * sizeof *more);
        if (!more) {
            names->no_memory = true;
            return NULL;
        }
        names->names = more;
        names->cap = cap;
    }
    struct cli_books_name name;
    char form[CLI_BOOKS_NAME_MAX];
    snprintf(name.from, sizeof name.from, "%s", from);
    names->form(from, form);
    snprintf(name.to, sizeof name.to, "%s", form);
    for (int number = 2; taken(names, name.to); number++)
        snprintf(name.to, sizeof name.to, "%.40s%s%d", form, names->between, number);
    names->names[names->n] = name;
    return &names->names[names->n++];
}

const char *cli_books_name(struct cli_books_names *names, const char *from)
{
    const struct cli_books_name *name = find(names, from);
    if (!name)
        name = add(names, from);
    return name ? name->to : "";
}

bool cli_books_name_new(struct cli_books_names *names, const char *from)
{
    return !find(names, from) && add(names, from);
}

void cli_books_names_finish(struct cli_books_names *names)
{
    free(names->names);
    names->names = NULL;
    names->n = names->cap = 0;
}

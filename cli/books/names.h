/* Names as a format's grammar has them: each name gets one, no two the same. */
#ifndef CLI_BOOKS_NAMES_H
#define CLI_BOOKS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum { CLI_BOOKS_NAME_MAX = 160 };

struct cli_books_name {
    char from[CLI_BOOKS_NAME_MAX], to[CLI_BOOKS_NAME_MAX];
};

/* {.form = …} is empty. */
struct cli_books_names {
    void (*form)(const char *from, char to[static CLI_BOOKS_NAME_MAX]); /* as the grammar has it */
    const char *between; /* before the number of one that has the form of another name */
    struct cli_books_name *names;
    size_t n, cap;
    bool no_memory;
};

/* The name's own, always the same; it lives until the next new one. */
const char *cli_books_name(struct cli_books_names *names, const char *from);

/* Was it not asked for before? It is then known. */
bool cli_books_name_new(struct cli_books_names *names, const char *from);

void cli_books_names_finish(struct cli_books_names *names);

#endif

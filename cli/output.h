/* A file that is there whole or not at all: written beside its name, and put there at the end. A link stays,
 * and what it names is replaced. What is no regular file (a pipe, a device) and what stdout goes to anyway
 * are written straight. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <limits.h>
#include <stdio.h>

struct output {
    const char *path;
    FILE *file;               /* NULL: not open */
    char target[PATH_MAX];    /* its name, links followed */
    char temporary[PATH_MAX]; /* empty: written straight */
};

/* EXIT_OK, or EXIT_ERROR with `papertape: VERB: PATH: why` on stderr. */
int cli_output_open(const char *verb, const char *path, struct output *ret);

/* Looks whether all of it was written and puts it in its place. The same statuses; not open is fine. */
int cli_output_commit(const char *verb, struct output *output);

/* Forgets it; fine when it is not open. */
void cli_output_drop(struct output *output);

#endif

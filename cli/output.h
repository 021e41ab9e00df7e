/* Writes a file completely or not at all: beside its name, where the file system can without a name of its
 * own, so that a kill leaves nothing, and renamed at the end. A link stays, and what it names is replaced;
 * one that another user than root made is refused, since it may name any file of this one's. Pipes, devices
 * and what stdout goes to anyway are written directly. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct output {
    const char *path;
    FILE *file;               /* NULL: not open */
    char target[PATH_MAX];    /* its name, links followed */
    char temporary[PATH_MAX]; /* empty: written straight */
    bool nameless;            /* the temporary one has no name yet */
};

/* EXIT_OK, or EXIT_ERROR with `papertape: VERB: PATH: why` on stderr. */
int cli_output_open(const char *verb, const char *path, struct output *ret);

/* Is what was opened as [one] another file than those before it? EXIT_OK, or EXIT_USAGE with a line that
 * names the two `options`. */
int cli_output_apart(const char *verb, const char *const options[], const struct output outputs[], int one);

/* Checks whether all of it was written and renames it. The same statuses; not open is fine. */
int cli_output_commit(const char *verb, struct output *output);

/* Discards it; fine when it is not open. */
void cli_output_drop(struct output *output);

#endif

/* The verbs of `papertape VERB …`. */
#ifndef TUI_VERBS_H
#define TUI_VERBS_H

#include <stdio.h>

struct verb {
    const char *name, *words;
    int (*run)(int argc, char **argv); /* argv[0] is the verb; returns an exit status */
};

/* The verb of that name, or NULL. */
const struct verb *verbs_find(const char *name);

/* The verb that was probably meant, or NULL when none is near. */
const struct verb *verbs_nearest(const char *name);

/* A line for each. */
void verbs_list(FILE *out);

#endif

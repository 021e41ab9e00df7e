#include <stdlib.h>
#include <string.h>

#include "db/studies/store.h"
#include "exchange/text_password.h"

/* Blanks the argument; a copy as it was, or NULL: it had no password, or without memory. */
static char *hide(char *argument)
{
    char *copy = strdup(argument);
    if (copy && text_hide_passwords(argument))
        return copy;
    free(copy);
    return NULL;
}

void study_store_hide_passwords(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *copy = hide(argv[i]);
        if (copy)
            argv[i] = copy;
    }
}

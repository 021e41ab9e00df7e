/* Where this user's programs keep what can be made again. */
#ifndef EXCHANGE_CACHE_FOLDER_H
#define EXCHANGE_CACHE_FOLDER_H

#include <limits.h>
#include <stdbool.h>

/* `wanted`, where it is not NULL; else NAME in $XDG_CACHE_HOME/papertape, else in ~/.cache/papertape. Nothing
 * is made. False: there is no place, or its path is empty or too long. */
bool cache_folder(const char *name, const char *wanted, char ret[static PATH_MAX]);

#endif

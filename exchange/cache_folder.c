#include "exchange/cache_folder.h"

#include <stdio.h>
#include <stdlib.h>

bool cache_folder(const char *name, const char *wanted, char ret[static PATH_MAX])
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = 0;
    if (wanted)
        n = snprintf(ret, PATH_MAX, "%s", wanted);
    else if (xdg && xdg[0] == '/')
        n = snprintf(ret, PATH_MAX, "%s/papertape/%s", xdg, name);
    else if (home && home[0] == '/')
        n = snprintf(ret, PATH_MAX, "%s/.cache/papertape/%s", home, name);
    return n > 0 && n < PATH_MAX;
}

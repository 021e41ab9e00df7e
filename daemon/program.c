#include "daemon/program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *daemon_program_find(const char *name, const char *folder, char path[static PATH_MAX])
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = n > 0 ? memrchr(self, '/', (size_t)n) : NULL;
    if (!slash)
        return name;
    *slash = '\0';
    int len = snprintf(path, PATH_MAX, "%s/%s", self, name);
    if (len < PATH_MAX && access(path, X_OK) == 0)
        return path;
    len = snprintf(path, PATH_MAX, "%s/../%s/%s", self, folder, name);
    return len < PATH_MAX && access(path, X_OK) == 0 ? path : name;
}

#include "cli/doctor/place.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void cli_doctor_place(const char *path, char ret[static STATE_PATH_MAX])
{
    snprintf(ret, STATE_PATH_MAX, "%s", path);
    while (access(ret, F_OK) < 0) {
        char *slash = strrchr(ret, '/');
        if (!slash) {
            snprintf(ret, STATE_PATH_MAX, ".");
            return;
        }
        slash[slash == ret] = '\0'; /* "/" stays */
    }
}

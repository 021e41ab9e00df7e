#include "exchange/child_environment.h"

#include <stddef.h>
#include <string.h>

extern char **environ;

void child_environment_list(bool credentials, char *ret[static CHILD_ENVIRONMENT_MAX])
{
    static const char *const others[] = {"CREDENTIALS_DIRECTORY=", /* the first one */
                                         "NOTIFY_SOCKET=",         "WATCHDOG_",
                                         "SYSTEMD_EXEC_PID=",      "LISTEN_",
                                         "INVOCATION_ID=",         "JOURNAL_STREAM="};
    size_t n = 0;
    for (char **at = environ; *at && n < CHILD_ENVIRONMENT_MAX - 1; at++) {
        bool other = false;
        for (size_t i = credentials; i < sizeof others / sizeof *others; i++)
            other |= strncmp(*at, others[i], strlen(others[i])) == 0;
        if (!other)
            ret[n++] = *at;
    }
    ret[n] = NULL;
}

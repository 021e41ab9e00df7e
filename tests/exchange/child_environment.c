/* What a program that this one starts gets of its environment. */
#include "exchange/child_environment.h"

#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

static bool has(char *const list[], const char *name)
{
    size_t n = strlen(name);
    for (; *list; list++)
        if (strncmp(*list, name, n) == 0 && (*list)[n] == '=')
            return true;
    return false;
}

int main(void)
{
    static const char *const own[] = {"NOTIFY_SOCKET",    "WATCHDOG_USEC", "WATCHDOG_PID",  "LISTEN_FDS",
                                      "SYSTEMD_EXEC_PID", "INVOCATION_ID", "JOURNAL_STREAM"};
    char *list[CHILD_ENVIRONMENT_MAX];
    clearenv();
    setenv("NOTIFY", "1", 1);
    setenv("CREDENTIALS_DIRECTORY", "/run/credentials", 1);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        setenv(own[i], "1", 1);
    for (int credentials = 0; credentials < 2; credentials++) {
        child_environment_list(credentials, list);
        CHECK(has(list, "NOTIFY") && has(list, "CREDENTIALS_DIRECTORY") == credentials);
        CHECK(!list[1 + credentials]);
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            CHECK(!has(list, own[i]));
    }
    char name[16];
    for (int i = 0; i < 2 * CHILD_ENVIRONMENT_MAX; i++) {
        snprintf(name, sizeof name, "V%d", i);
        setenv(name, "1", 1);
    }
    child_environment_list(true, list);
    CHECK(list[CHILD_ENVIRONMENT_MAX - 2] && !list[CHILD_ENVIRONMENT_MAX - 1]);
    return check_done("exchange/child_environment");
}

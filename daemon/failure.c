/* Failures that end the daemon: prints a line on stderr and ends the loop by main.c's callback. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "daemon/daemon.h"
#include "daemon/log.h"

static void (*end_loop)(int status);
static const char *config_file;

void daemon_config_is(const char *file)
{
    config_file = file;
}

void daemon_say(const char *words)
{
    char placed[CONFIG_ERRORS_MAX];
    daemon_config_place(config_file, words, placed, sizeof placed);
    for (const char *line = placed; *line;) {
        int n = (int)strcspn(line, "\n");
        if (daemon_log_is_native())
            daemon_log_event(LOG_FAILED, NULL, "%.*s", n, line);
        else
            fprintf(stderr, "papertaped: %.*s\n", n, line);
        line += n + (line[n] == '\n');
    }
}

void daemon_on_fail(void (*end)(int status))
{
    end_loop = end;
}

void daemon_end(int status, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    daemon_say(text);
    if (end_loop)
        end_loop(status);
}

#include "exchange/net/notify.h"

#ifdef HAVE_SYSTEMD

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

enum { STATUS_MAX = 512 };

/* sd_notify(3) waits for a manager that does not read, and the market would wait with it: what does not go at
 * once is not sent. A manager that is gone is no reason to fail. */
static void send_now(const char *text)
{
    const char *path = getenv("NOTIFY_SOCKET");
    size_t len = path ? strlen(path) : 0;
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (len < 2 || len >= sizeof to.sun_path || (*path != '/' && *path != '@'))
        return;
    memcpy(to.sun_path, path, len);
    if (*path == '@') /* an abstract one */
        to.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&to,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
    close(fd);
}

static void put_status(char ret[static STATUS_MAX], const char *prefix, const char *status)
{
    size_t n = (size_t)snprintf(ret, STATUS_MAX, "%sSTATUS=", prefix);
    for (; *status && n < STATUS_MAX - 1; status++)
        ret[n++] = *status == '\n' ? ' ' : *status;
    ret[n] = '\0';
}

/* The one that may not be lost. Nothing is traded yet. */
void net_notify_ready(const char *status)
{
    char text[STATUS_MAX];
    put_status(text, "READY=1\n", status);
    (void)sd_notify(0, text);
}

void net_notify_status(const char *status)
{
    char text[STATUS_MAX];
    put_status(text, "", status);
    send_now(text);
}

void net_notify_extend(uint64_t seconds)
{
    char text[STATUS_MAX];
    snprintf(text, sizeof text, "EXTEND_TIMEOUT_USEC=%llu", (unsigned long long)seconds * 1000000);
    send_now(text);
}

void net_notify_stopping(void)
{
    send_now("STOPPING=1");
}

void net_notify_watchdog(void)
{
    send_now("WATCHDOG=1");
}

uint64_t net_notify_watchdog_ms(void)
{
    uint64_t usec;
    if (sd_watchdog_enabled(0, &usec) <= 0)
        return 0;
    uint64_t ms = usec / 2000;
    return ms ? ms : 1;
}

#else

void net_notify_ready(const char *status)
{
    (void)status;
}

void net_notify_status(const char *status)
{
    (void)status;
}

void net_notify_extend(uint64_t seconds)
{
    (void)seconds;
}

void net_notify_stopping(void)
{
}

void net_notify_watchdog(void)
{
}

uint64_t net_notify_watchdog_ms(void)
{
    return 0;
}

#endif

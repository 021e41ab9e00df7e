#include "exchange/net/notify.h"

#ifdef HAVE_SYSTEMD

#include <stdio.h>
#include <systemd/sd-daemon.h>

enum { STATUS_MAX = 512 };

/* A manager that is gone is no reason to fail: sd_notify's result is ignored throughout. */
static void notify(const char *prefix, const char *status)
{
    char text[STATUS_MAX];
    snprintf(text, sizeof text, "%sSTATUS=", prefix);
    size_t n = 0, room = sizeof text - 1;
    while (text[n])
        n++;
    for (; *status && n < room; status++)
        text[n++] = *status == '\n' ? ' ' : *status;
    text[n] = '\0';
    (void)sd_notify(0, text);
}

void net_notify_ready(const char *status)
{
    notify("READY=1\n", status);
}

void net_notify_status(const char *status)
{
    notify("", status);
}

void net_notify_extend(uint64_t seconds)
{
    (void)sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%llu", (unsigned long long)seconds * 1000000);
}

void net_notify_stopping(void)
{
    (void)sd_notify(0, "STOPPING=1");
}

void net_notify_watchdog(void)
{
    (void)sd_notify(0, "WATCHDOG=1");
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

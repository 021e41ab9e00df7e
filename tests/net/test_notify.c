/* A service manager made of a datagram socket. */
#include "exchange/net/notify.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/check.h"

#ifdef HAVE_SYSTEMD

static int manager;

static const char *reported(void)
{
    static char text[1024];
    ssize_t n = recv(manager, text, sizeof text - 1, MSG_DONTWAIT);
    text[n < 0 ? 0 : n] = '\0';
    return text;
}

int main(void)
{
    char dir[] = "/tmp/papertape-notify-XXXXXX", pid[32];
    if (!mkdtemp(dir))
        return 2;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", dir);
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (manager < 0 || bind(manager, (struct sockaddr *)&address, sizeof address) != 0)
        return 2;

    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    net_notify_ready("no listener");
    CHECK_STR(reported(), "");
    CHECK_INT(net_notify_watchdog_ms(), 0);

    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    net_notify_ready("feed ok");
    CHECK_STR(reported(), "READY=1\nSTATUS=feed ok");
    net_notify_status("two\nREADY=0");
    CHECK_STR(reported(), "STATUS=two READY=0");
    char long_status[2000];
    memset(long_status, 'x', sizeof long_status - 1);
    long_status[sizeof long_status - 1] = '\0';
    net_notify_status(long_status);
    CHECK_INT(strlen(reported()), 511);
    net_notify_watchdog();
    CHECK_STR(reported(), "WATCHDOG=1");
    net_notify_stopping();
    CHECK_STR(reported(), "STOPPING=1");

    setenv("WATCHDOG_USEC", "30000000", 1);
    unsetenv("WATCHDOG_PID");
    CHECK_INT(net_notify_watchdog_ms(), 15000);
    snprintf(pid, sizeof pid, "%d", getpid());
    setenv("WATCHDOG_PID", pid, 1);
    CHECK_INT(net_notify_watchdog_ms(), 15000);
    setenv("WATCHDOG_PID", "1", 1); /* another process is watched */
    CHECK_INT(net_notify_watchdog_ms(), 0);
    setenv("WATCHDOG_PID", pid, 1);
    setenv("WATCHDOG_USEC", "1000", 1);
    CHECK_INT(net_notify_watchdog_ms(), 1);

    /* One that reads nothing: its queue is full, and no call waits for it. */
    alarm(60);
    for (int i = 0; i < 2000; i++) {
        net_notify_watchdog();
        net_notify_status("feed ok");
    }
    net_notify_extend(5);
    net_notify_stopping();
    alarm(0);
    int queued = 0;
    while (*reported())
        queued++;
    CHECK(queued > 0 && queued < 4000);
    net_notify_extend(5);
    CHECK_STR(reported(), "EXTEND_TIMEOUT_USEC=5000000");

    /* The abstract one. */
    struct sockaddr_un abstract = {.sun_family = AF_UNIX};
    char name[sizeof abstract.sun_path];
    int len = snprintf(name, sizeof name, "@%s", dir);
    memcpy(abstract.sun_path + 1, dir, (size_t)len - 1);
    close(manager);
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(manager, (struct sockaddr *)&abstract,
                   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)len)),
              0);
    setenv("NOTIFY_SOCKET", name, 1);
    net_notify_watchdog();
    CHECK_STR(reported(), "WATCHDOG=1");

    close(manager);
    unlink(address.sun_path);
    rmdir(dir);
    net_notify_status("the manager is gone");
    return check_done("net/notify");
}

#else

int main(void)
{
    puts("built without libsystemd");
    return CHECK_SKIP;
}

#endif

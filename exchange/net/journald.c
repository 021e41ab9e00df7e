#include "exchange/net/journald.h"

#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { VALUE_MAX = 256, SEND_BUFFER = 1 << 20 };

/* NAME=VALUE and a newline; or NAME, a newline, the value's length in 8 bytes, least first, the value, and a
 * newline. */
bool net_journald_field(struct net_journald_entry *entry, const char *name, const char *value)
{
    if (!value)
        return true;
    size_t n_name = strlen(name), n = strlen(value);
    bool lines = memchr(value, '\n', n) != NULL;
    size_t needed = n_name + 1 + (lines ? sizeof(uint64_t) : 0) + n + 1;
    if (needed > entry->size - entry->len)
        return false;
    char *at = entry->bytes + entry->len;
    memcpy(at, name, n_name);
    at += n_name;
    *at++ = lines ? '\n' : '=';
    if (lines) {
        uint64_t length = htole64(n);
        memcpy(at, &length, sizeof length);
        at += sizeof length;
    }
    memcpy(at, value, n);
    at[n] = '\n';
    entry->len += needed;
    return true;
}

bool net_journald_fieldf(struct net_journald_entry *entry, const char *name, const char *format, ...)
{
    char value[VALUE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    return net_journald_field(entry, name, value);
}

int net_journald_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t n = strlen(path);
    int size = SEND_BUFFER;
    if (n >= sizeof address.sun_path)
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, n + 1);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size); /* less holds fewer entries, no other */
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    int r = -errno;
    close(fd);
    return r;
}

int net_journald_send(int fd, const char *bytes, size_t len)
{
    ssize_t n;
    do
        n = send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n >= 0)
        return 0;
    return errno == ENOBUFS || errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

bool net_journald_is_stderr(void)
{
    const char *text = getenv("JOURNAL_STREAM");
    unsigned long long device, inode;
    struct stat st;
    return text && sscanf(text, "%llu:%llu", &device, &inode) == 2 && fstat(STDERR_FILENO, &st) == 0 &&
           st.st_dev == device && st.st_ino == inode;
}

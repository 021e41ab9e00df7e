#include "daemon/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { BACKLOG = 16, HOST_MAX = 64 };

/* ---- the loopback ---- */

/* "9480", 0 to 65535; -1. */
static int port_of(const char *text)
{
    char *end;
    if (strspn(text, "0123456789") != strlen(text) || !*text || strlen(text) > 5)
        return -1;
    long port = strtol(text, &end, 10);
    return port <= UINT16_MAX ? (int)port : -1;
}

/* The address before the port's colon, without brackets. */
static const char *host_of(const char *text, const char *colon, char host[static HOST_MAX])
{
    size_t n = (size_t)(colon - text);
    bool brackets = n > 2 && text[0] == '[' && text[n - 1] == ']';
    if (n >= HOST_MAX)
        return "";
    snprintf(host, HOST_MAX, "%.*s", (int)(brackets ? n - 2 : n), text + brackets);
    return host;
}

static bool is_loopback4(struct in_addr address)
{
    return ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET;
}

int daemon_http_address(const char *text, struct sockaddr_storage *ret, socklen_t *ret_size)
{
    char host[HOST_MAX];
    const char *colon = strrchr(text, ':');
    int port = colon ? port_of(colon + 1) : -1;
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    if (port < 0)
        return -EINVAL;
    const char *address = host_of(text, colon, host);
    memset(ret, 0, sizeof *ret);
    if (*text != '[' && inet_pton(AF_INET, address, &four.sin_addr) == 1 && is_loopback4(four.sin_addr)) {
        memcpy(ret, &four, *ret_size = sizeof four);
        return 0;
    }
    if (*text == '[' && inet_pton(AF_INET6, address, &six.sin6_addr) == 1 &&
        IN6_IS_ADDR_LOOPBACK(&six.sin6_addr)) {
        memcpy(ret, &six, *ret_size = sizeof six);
        return 0;
    }
    return -EINVAL;
}

int daemon_http_listen_address(const char *text)
{
    struct sockaddr_storage address;
    socklen_t size;
    const int on = 1;
    int r = daemon_http_address(text, &address, &size);
    int fd = r < 0 ? r : socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return r < 0 ? r : -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on); /* connections of a former run that linger */
    if (bind(fd, (const struct sockaddr *)&address, size) < 0 || listen(fd, BACKLOG) < 0) {
        r = -errno;
        close(fd);
        return r;
    }
    return fd;
}

int daemon_http_port(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    if (fd < 0 || getsockname(fd, (struct sockaddr *)&address, &size) < 0)
        return 0;
    return address.ss_family == AF_INET
               ? ntohs(((const struct sockaddr_in *)(const void *)&address)->sin_port)
               : ntohs(((const struct sockaddr_in6 *)(const void *)&address)->sin6_port);
}

bool daemon_http_host_is_local(const char *host)
{
    char name[HOST_MAX];
    struct sockaddr_storage address;
    socklen_t size;
    if (!host || strlen(host) >= sizeof name - sizeof ":0")
        return false;
    const char *colon = strrchr(host, ':'), *bracket = strrchr(host, ']');
    bool ported = colon && (!bracket || colon > bracket);
    if (ported && port_of(colon + 1) < 0)
        return false;
    int n = ported ? (int)(colon - host) : (int)strlen(host);
    snprintf(name, sizeof name, "%.*s:0", n, host);
    return daemon_http_address(name, &address, &size) == 0 ||
           (n == (int)strlen("localhost") && strncasecmp(host, "localhost", (size_t)n) == 0);
}

/* ---- a path ---- */

static int address_of(const char *path, struct sockaddr_un *ret)
{
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof ret->sun_path)
        return -ENAMETOOLONG;
    strcpy(ret->sun_path, path);
    return 0;
}

/* Removes a socket that no process listens on. 0; -EADDRINUSE; -EEXIST; -errno. */
static int make_room(const char *path, const struct sockaddr_un *address)
{
    struct stat st;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISSOCK(st.st_mode))
        return -EEXIST;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int r = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 || errno == EAGAIN
                ? -EADDRINUSE
                : -errno;
    close(fd);
    return r != -ECONNREFUSED ? r : unlink(path) < 0 ? -errno : 0;
}

int daemon_http_listen_path(const char *path, mode_t mode, struct stat *ret)
{
    struct sockaddr_un address;
    int r = address_of(path, &address);
    if (r == 0)
        r = make_room(path, &address);
    int fd = r < 0 ? r : socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return r < 0 ? r : -errno;
    /* At most mode 0660 from the start: the mask is the process', of all threads, and stays. */
    r = fchmod(fd, 0660) < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
    if (r == 0)
        removexattr(path, "system.posix_acl_access"); /* the folder's default for new files */
    if (r < 0 || chmod(path, mode) < 0 || listen(fd, BACKLOG) < 0 || lstat(path, ret) < 0) {
        r = r < 0 ? r : -errno;
        close(fd);
        return r;
    }
    return fd;
}

/* The number of a socket that was removed may be another file's by now. */
bool daemon_http_listens_at(const char *path, const struct stat *file)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_dev == file->st_dev &&
           st.st_ino == file->st_ino;
}

void daemon_http_unlink(const char *path, const struct stat *file)
{
    if (daemon_http_listens_at(path, file))
        unlink(path);
}

void daemon_http_path(const char *control_socket, const struct daemon_config *config,
                      char path[static STATE_PATH_MAX + CONFIG_SOCKET_MAX])
{
    const char *given = config->metrics_socket, *slash = strrchr(control_socket, '/');
    snprintf(path, STATE_PATH_MAX + CONFIG_SOCKET_MAX, "%.*s%s",
             *given && *given != '/' && slash ? (int)(slash - control_socket) + 1 : 0, control_socket, given);
}

/* ---- either ---- */

int daemon_http_can_listen(const char *where, bool is_path)
{
    struct stat file;
    int fd = is_path ? daemon_http_listen_path(where, S_IRUSR | S_IWUSR, &file)
                     : daemon_http_listen_address(where);
    if (fd < 0)
        return fd;
    if (is_path)
        daemon_http_unlink(where, &file);
    close(fd);
    return 0;
}

const char *daemon_http_why_not(int r)
{
    return r == -EADDRINUSE ? "another program listens there"
           : r == -EEXIST   ? "another file is in its place"
                            : strerror(-r);
}

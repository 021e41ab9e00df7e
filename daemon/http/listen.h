/* Where the daemon's HTTP server listens: a UNIX socket, and an address of the loopback. */
#ifndef DAEMON_HTTP_LISTEN_H
#define DAEMON_HTTP_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "daemon/config.h"
#include "db/state.h"

/* An address with a port, as "127.0.0.1:9480" or "[::1]:9480", port 0 being any; only of the loopback, since
 * every user who reaches it may read. -EINVAL: it is none. */
int daemon_http_address(const char *text, struct sockaddr_storage *ret, socklen_t *ret_size);

/* Listens there. A descriptor; -errno. */
int daemon_http_listen_address(const char *text);
/* The port that it listens on, 0 for none. */
int daemon_http_port(int fd);

/* Listens at a path, with that mode. A socket where no process listens is replaced. A descriptor;
 * -EADDRINUSE: one listens there; -EEXIST: it is no socket; -ENAMETOOLONG; -errno. `ret` is its file. */
int daemon_http_listen_path(const char *path, mode_t mode, struct stat *ret);
/* Removes the file, if it is still that one. */
void daemon_http_unlink(const char *path, const struct stat *file);
/* Is it still there? */
bool daemon_http_listens_at(const char *path, const struct stat *file);

/* Where [metrics] socket is: a name is in the folder of the control socket, the runtime directory or the
 * state. */
void daemon_http_path(const char *control_socket, const struct daemon_config *config,
                      char path[static STATE_PATH_MAX + CONFIG_SOCKET_MAX]);

/* Can it listen at a path, or at an address, now? It listens nowhere afterwards. 0; -errno. */
int daemon_http_can_listen(const char *where, bool is_path);
/* Why it cannot, in words. */
const char *daemon_http_why_not(int r);

/* Does a request's Host name this machine's loopback? Else a page of another site, whose name resolves to
 * 127.0.0.1, would be allowed to read what it gets (DNS rebinding). NULL is no. */
bool daemon_http_host_is_local(const char *host);

#endif

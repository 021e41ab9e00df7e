/* A read-only HTTP server with a thread of its own: /metrics, /status, /positions, /equity, for GET and HEAD,
 * on a UNIX socket and on the loopback (docs/prometheus.md).
 *
 * What it answers with comes from elsewhere: a status is asked of `want`, and given by
 * daemon_http_server_give(); lists are read from the database by a second thread (lists.h). It waits for
 * neither. No client costs others more than a connection: at most HTTP_CLIENTS_MAX, one request each, of at
 * most 8 KiB, answered and read in time (daemon_http_times), or cut; when all are taken the
 * one that has been without a whole request for the longest gives way. */
#ifndef DAEMON_HTTP_SERVER_H
#define DAEMON_HTTP_SERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/net/control.h"

enum {
    HTTP_CLIENTS_MAX = 32,
    HTTP_LISTS_MAX = 4,  /* of them */
    HTTP_PATH_MAX = 640, /* longer than the system takes: that is an error by name */
    HTTP_ADDRESS_MAX = 64,
    HTTP_WORDS_MAX = 256,
};

struct daemon_http_server;

/* Of a connection, in ms since it was made. */
struct daemon_http_times {
    int request; /* until its request must be whole; and what answers it has half as long again */
    int answer;  /* until its answer must be read; ... */
    int list;    /* ... one of a list */
};
extern const struct daemon_http_times daemon_http_times_default; /* 5 s, 10 s, 20 s */

struct daemon_http_options {
    const char *database;
    const struct daemon_http_times *times; /* NULL: the usual ones */
    void *ctx;
    void (*want)(void *ctx);    /* on its thread: a status is wanted */
    void (*changed)(void *ctx); /* on its thread: the view's listeners have changed */
};

int daemon_http_server_load(char *err, size_t err_size); /* libmicrohttpd, as lazy_library_load() */

/* Starts the thread. 0; -errno. */
int daemon_http_server_create(const struct daemon_http_options *options, struct daemon_http_server **ret);

/* Where it listens from now on; "": not there. At the path the own user, root and members of the groups are
 * answered; NULL: the own group's. What cannot be listened on is tried again each second. Each
 * connection stays as it is. */
void daemon_http_server_listen(struct daemon_http_server *server, const char *path,
                               const struct control_groups *groups, const char *address);

/* How many requests for a status there were: to be called before one is made, ... */
uint64_t daemon_http_server_asked(struct daemon_http_server *server);
/* ... which answers them. It is taken; NULL: there is none, which is answered by 503. */
void daemon_http_server_give(struct daemon_http_server *server, json_t *status, uint64_t asked);

struct daemon_http_view {
    char path[HTTP_PATH_MAX], address[HTTP_ADDRESS_MAX]; /* where it listens, with its port; "" */
    char error[2][HTTP_WORDS_MAX];                       /* why not there: the path, the address; "" */
    int64_t clients, requests, refused, cut;             /* requests: answered by 200 */
};
void daemon_http_server_view(struct daemon_http_server *server, struct daemon_http_view *ret);

/* Cuts its clients, ends and frees it; a few milliseconds. NULL is fine. */
void daemon_http_server_destroy(struct daemon_http_server *server);

#endif

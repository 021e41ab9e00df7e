/* The server's state, of its thread. Internal to server.c and requests.c. */
#ifndef DAEMON_HTTP_SERVER_INTERNAL_H
#define DAEMON_HTTP_SERVER_INTERNAL_H

#include <microhttpd.h>
#include <pthread.h>

#include "daemon/http/listen.h"
#include "daemon/http/lists.h"
#include "daemon/http/server.h"

enum { HTTP_LISTENERS = 2, HTTP_ROUTES = 4 };

enum http_client_state {
    CLIENT_NEW,      /* its request is not whole */
    CLIENT_WAITS,    /* for a status, or for the first bytes of a list */
    CLIENT_ANSWERED, /* its answer is being sent */
};

/* A connection, which has one request. */
struct http_client {
    struct http_client *next;
    struct MHD_Connection *connection;
    int fd;
    bool local;     /* by the UNIX socket */
    bool cut;       /* shut down, until MHD notices */
    bool suspended; /* MHD leaves it alone */
    enum http_client_state state;
    int64_t since_ms;
    const struct http_route *route;
    uint64_t asked; /* the number of its request for a status */
    struct daemon_http_list *list;
    struct MHD_Response *response; /* its own, with its code; NULL: the route's */
    unsigned code;
};

struct http_listener {
    bool is_path;
    char where[HTTP_PATH_MAX];
    int fd; /* -1: none */
    struct stat file;
    struct control_groups groups; /* of a path */
    char error[HTTP_WORDS_MAX];
};

struct daemon_http_server {
    struct daemon_http_options options;
    struct daemon_http_times times;
    pthread_t thread;
    int wake_fd, mhd_fd;
    struct MHD_Daemon *mhd;
    struct daemon_http_lists *lists;
    struct http_client *clients; /* the newest first */
    int n_clients;
    bool resumed;                                   /* one was, of which MHD's timeout does not know */
    int64_t accept_ms;                              /* nothing is accepted before */
    struct MHD_Response *texts[HTTP_ROUTES];        /* of the last status, for those that waited for it */
    struct http_listener listeners[HTTP_LISTENERS]; /* the path, the address */

    pthread_mutex_t lock;
    char wanted[HTTP_LISTENERS][HTTP_PATH_MAX];
    struct control_groups wanted_groups;
    json_t *status;               /* given, and not taken yet */
    uint64_t asked, status_asked; /* requests for a status; of them those before it was made */
    bool given, listen_given, ends;
    struct daemon_http_view view;
};

/* MHD's handler. */
enum MHD_Result daemon_http_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                    const char *method, const char *version, const char *data, size_t *size,
                                    void **request);

/* Answers those that asked for a status before it was made, the first `asked`; borrowed; NULL: there is none.
 */
void daemon_http_clients_take(struct daemon_http_server *server, const json_t *status, uint64_t asked);
void daemon_http_texts_drop(struct daemon_http_server *server);
/* Continues those whose list has more. */
void daemon_http_clients_look(struct daemon_http_server *server);
/* What it waits for does not come: 503. */
void daemon_http_client_give_up(struct daemon_http_server *server, struct http_client *client);
void daemon_http_client_resume(struct daemon_http_server *server, struct http_client *client);
void daemon_http_client_finish(struct http_client *client);

#endif

/* The server's thread, its listeners and its clients' connections; requests.c has what they ask for. */
#include "daemon/http/server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/http/server_internal.h"
#include "exchange/clock.h"

enum {
    LOOK_MS = 1000,        /* a listener that is gone, or cannot be, is looked at so often */
    MEMORY_MAX = 8 * 1024, /* of a connection: its request's line and headers, and its answer's headers */
    ACCEPTS_MAX = 8,       /* of a listener in a turn */
};

const struct daemon_http_times daemon_http_times_default = {.request = 5000, .answer = 10000, .list = 20000};

static int64_t now_ms(void)
{
    return clock_now_ns() / 1000000;
}

static void wake(void *ctx)
{
    const struct daemon_http_server *server = ctx;
    const uint64_t one = 1;
    ssize_t n = write(server->wake_fd, &one, sizeof one);
    (void)n; /* it is full: it is awake */
}

/* ---- connections ---- */

static void on_connection(void *ctx, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct daemon_http_server *server = ctx;
    struct http_client *client = *context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        client = calloc(1, sizeof *client);
        if (!client)
            return; /* its request is refused */
        const union MHD_ConnectionInfo *fd =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        const union MHD_ConnectionInfo *address =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        client->connection = connection;
        client->fd = fd ? fd->connect_fd : -1;
        client->local = address && address->client_addr->sa_family == AF_UNIX;
        client->since_ms = now_ms();
        client->next = server->clients;
        server->clients = client;
        server->n_clients++;
        *context = client;
    } else if (client) {
        struct http_client **link = &server->clients;
        while (*link != client)
            link = &(*link)->next;
        *link = client->next;
        server->n_clients--;
        daemon_http_client_finish(client);
        free(client);
        *context = NULL;
    }
}

/* Its descriptor stays MHD's, which finds it closed. */
static void cut(struct daemon_http_server *server, struct http_client *client)
{
    if (client->cut)
        return;
    client->cut = true;
    shutdown(client->fd, SHUT_RDWR);
    pthread_mutex_lock(&server->lock);
    server->view.cut++;
    pthread_mutex_unlock(&server->lock);
}

/* Of those without a whole request the oldest. */
static struct http_client *displaced(const struct daemon_http_server *server)
{
    struct http_client *oldest = NULL;
    for (struct http_client *client = server->clients; client; client = client->next)
        if (client->state == CLIENT_NEW && !client->cut) /* the list begins with the newest */
            oldest = client;
    return oldest;
}

/* Else the listeners are left alone, whose sockets would wake the thread again and again. */
static bool can_accept(const struct daemon_http_server *server)
{
    return now_ms() >= server->accept_ms && (server->n_clients < HTTP_CLIENTS_MAX || displaced(server));
}

/* Of a path: its socket may be open to all users. */
static void turn_away(struct daemon_http_server *server, int fd)
{
    static const char text[] = "only the daemon's own user, root and members of its groups are answered\n";
    char answer[256];
    int n = snprintf(answer, sizeof answer,
                     "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                     "Connection: close\r\n\r\n%s",
                     sizeof text - 1, text);
    send(fd, answer, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
    pthread_mutex_lock(&server->lock);
    server->view.refused++;
    pthread_mutex_unlock(&server->lock);
}

static void accept_from(struct daemon_http_server *server, const struct http_listener *listener)
{
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        struct sockaddr_storage address = {0};
        socklen_t size = sizeof address;
        if (server->n_clients >= HTTP_CLIENTS_MAX) {
            struct http_client *client = displaced(server);
            if (client)
                cut(server, client);
            break; /* there is room in the next turn, or once an answer is read */
        }
        int fd = accept4(listener->fd, (struct sockaddr *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                server->accept_ms = now_ms() + LOOK_MS; /* no descriptor is left */
            break;
        }
        if (listener->is_path && !control_admits(fd, &listener->groups, NULL)) {
            turn_away(server, fd);
            continue;
        }
        if (address.ss_family == AF_UNIX)
            size = sizeof(sa_family_t);
        MHD_add_connection(server->mhd, fd, (struct sockaddr *)&address, size); /* closes it where it fails */
    }
}

/* Cuts the slow, and answers those that have waited long enough. */
static void look_at_clients(struct daemon_http_server *server)
{
    const int64_t now = now_ms();
    for (struct http_client *client = server->clients, *next; client; client = next) {
        next = client->next;
        const struct daemon_http_times *times = &server->times;
        int64_t age = now - client->since_ms;
        if (client->suspended && client->state == CLIENT_WAITS && age > times->request + times->request / 2)
            daemon_http_client_give_up(server, client);
        else if (age > (client->list ? times->list : times->answer) ||
                 (client->state == CLIENT_NEW && age > times->request))
            cut(server, client);
        if (client->cut && client->suspended)
            daemon_http_client_resume(server, client);
    }
}

/* ---- listeners ---- */

static void close_listener(struct http_listener *listener)
{
    if (listener->fd >= 0) {
        if (listener->is_path)
            daemon_http_unlink(listener->where, &listener->file);
        close(listener->fd);
    }
    listener->fd = -1;
}

static void open_listener(struct http_listener *listener)
{
    listener->error[0] = '\0';
    if (!listener->where[0])
        return;
    int r = listener->is_path
                ? daemon_http_listen_path(listener->where, control_mode(&listener->groups), &listener->file)
                : daemon_http_listen_address(listener->where);
    listener->fd = r < 0 ? -1 : r;
    if (r < 0)
        snprintf(listener->error, sizeof listener->error, "%s: %s", listener->where, daemon_http_why_not(r));
}

static void publish(struct daemon_http_server *server)
{
    struct daemon_http_view *view = &server->view;
    const struct http_listener *path = &server->listeners[0], *address = &server->listeners[1];
    pthread_mutex_lock(&server->lock);
    snprintf(view->path, sizeof view->path, "%s", path->fd >= 0 ? path->where : "");
    view->address[0] = '\0';
    if (address->fd >= 0)
        snprintf(view->address, sizeof view->address, "%.*s:%d",
                 (int)(strrchr(address->where, ':') - address->where), address->where,
                 daemon_http_port(address->fd));
    for (int i = 0; i < HTTP_LISTENERS; i++)
        memcpy(view->error[i], server->listeners[i].error, sizeof view->error[i]);
    pthread_mutex_unlock(&server->lock);
    server->options.changed(server->options.ctx);
}

/* Another place, or one that is to be tried again. */
static void look_at_listeners(struct daemon_http_server *server, bool given)
{
    bool changed = given;
    for (int i = 0; i < HTTP_LISTENERS; i++) {
        struct http_listener *listener = &server->listeners[i];
        char before[HTTP_WORDS_MAX];
        int fd = listener->fd;
        memcpy(before, listener->error, sizeof before);
        pthread_mutex_lock(&server->lock);
        bool moved = strcmp(listener->where, server->wanted[i]) != 0 ||
                     (listener->is_path &&
                      memcmp(&listener->groups, &server->wanted_groups, sizeof listener->groups) != 0);
        if (moved)
            close_listener(listener);
        memcpy(listener->where, server->wanted[i], sizeof listener->where);
        listener->groups = server->wanted_groups;
        pthread_mutex_unlock(&server->lock);
        if (listener->fd >= 0 && listener->is_path &&
            !daemon_http_listens_at(listener->where, &listener->file))
            close_listener(listener); /* it was removed */
        if (listener->fd < 0)
            open_listener(listener);
        changed |= moved || fd != listener->fd || strcmp(before, listener->error) != 0;
    }
    if (changed)
        publish(server);
}

/* ---- the thread ---- */

static bool take_given(struct daemon_http_server *server, json_t **ret_status, uint64_t *ret_asked,
                       bool *ret_listen)
{
    pthread_mutex_lock(&server->lock);
    bool given = server->given;
    *ret_status = server->status;
    *ret_asked = server->status_asked;
    *ret_listen = server->listen_given;
    server->status = NULL;
    server->given = server->listen_given = false;
    pthread_mutex_unlock(&server->lock);
    return given;
}

static void take_news(struct daemon_http_server *server)
{
    json_t *status;
    uint64_t asked;
    bool listens;
    if (take_given(server, &status, &asked, &listens))
        daemon_http_clients_take(server, status, asked);
    json_decref(status);
    if (listens)
        look_at_listeners(server, true);
    daemon_http_clients_look(server);
}

static bool ends(struct daemon_http_server *server)
{
    pthread_mutex_lock(&server->lock);
    bool end = server->ends;
    server->view.clients = server->n_clients;
    pthread_mutex_unlock(&server->lock);
    return end;
}

/* Its eventfd wakes it for everything else. */
static int timeout_of(struct daemon_http_server *server)
{
    MHD_UNSIGNED_LONG_LONG ms;
    int most = LOOK_MS;
    if (server->resumed)
        return 0;
    if (server->n_clients > 0)
        most = LOOK_MS / 10;
    else if (!server->listeners[0].where[0] && !server->listeners[1].where[0])
        most = -1;
    bool sooner = MHD_get_timeout(server->mhd, &ms) == MHD_YES && (most < 0 || ms < (unsigned)most);
    return sooner ? (int)ms : most;
}

static void *run(void *arg)
{
    struct daemon_http_server *server = arg;
    int64_t looked_ms = 0;
    while (!ends(server)) {
        const bool accepts = can_accept(server);
        struct pollfd fds[2 + HTTP_LISTENERS] = {{.fd = server->wake_fd, .events = POLLIN},
                                                 {.fd = server->mhd_fd, .events = POLLIN}};
        for (int i = 0; i < HTTP_LISTENERS; i++) /* those below 0 are ignored */
            fds[2 + i] = (struct pollfd){.fd = accepts ? server->listeners[i].fd : -1, .events = POLLIN};
        poll(fds, sizeof fds / sizeof *fds, timeout_of(server));
        for (int i = 0; i < HTTP_LISTENERS; i++)
            if (fds[2 + i].revents)
                accept_from(server, &server->listeners[i]);
        server->resumed = false;
        MHD_run(server->mhd);
        if (fds[0].revents) {
            uint64_t count;
            ssize_t n = read(server->wake_fd, &count, sizeof count);
            (void)n;
            take_news(server);
        }
        look_at_clients(server);
        if (server->n_clients == 0)
            daemon_http_texts_drop(server);
        if (now_ms() - looked_ms >= LOOK_MS) {
            look_at_listeners(server, false);
            looked_ms = now_ms();
        }
    }
    return NULL;
}

/* ---- for the loop ---- */

static void destroy(struct daemon_http_server *server)
{
    if (server->mhd) {
        for (struct http_client *client = server->clients; client; client = client->next) {
            cut(server, client);
            if (client->suspended)
                daemon_http_client_resume(server, client);
        }
        MHD_run(server->mhd); /* one that is suspended may not be there at the end */
        MHD_stop_daemon(server->mhd);
    }
    daemon_http_texts_drop(server);
    daemon_http_lists_destroy(server->lists);
    for (int i = 0; i < HTTP_LISTENERS; i++)
        close_listener(&server->listeners[i]);
    json_decref(server->status);
    if (server->wake_fd >= 0)
        close(server->wake_fd);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

/* What is no request of HTTP libmicrohttpd answers itself, and says so in its log alone (the words are those
 * of 0.9.75). */
static void on_log(void *ctx, const char *format, va_list args)
{
    struct daemon_http_server *server = ctx;
    (void)args;
    if (!strstr(format, "HTTP response code is"))
        return;
    pthread_mutex_lock(&server->lock);
    server->view.refused++;
    pthread_mutex_unlock(&server->lock);
}

static struct MHD_Daemon *start_mhd(struct daemon_http_server *server)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL,
        NULL, daemon_http_request, server, MHD_OPTION_EXTERNAL_LOGGER, on_log, server,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)HTTP_CLIENTS_MAX + 1, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_MAX,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
}

int daemon_http_server_create(const struct daemon_http_options *options, struct daemon_http_server **ret)
{
    struct daemon_http_server *server = calloc(1, sizeof *server);
    if (!server)
        return -ENOMEM;
    server->options = *options;
    server->times = options->times ? *options->times : daemon_http_times_default;
    pthread_mutex_init(&server->lock, NULL);
    for (int i = 0; i < HTTP_LISTENERS; i++)
        server->listeners[i] = (struct http_listener){.fd = -1, .is_path = i == 0};
    server->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    server->mhd = server->wake_fd >= 0 ? start_mhd(server) : NULL;
    const union MHD_DaemonInfo *info =
        server->mhd ? MHD_get_daemon_info(server->mhd, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    server->mhd_fd = info ? info->epoll_fd : -1;
    server->lists = info ? daemon_http_lists_create(options->database, wake, server) : NULL;
    int r = server->lists ? -pthread_create(&server->thread, NULL, run, server) : -ENOMEM;
    if (r < 0)
        destroy(server);
    else
        *ret = server;
    return r;
}

void daemon_http_server_listen(struct daemon_http_server *server, const char *path,
                               const struct control_groups *groups, const char *address)
{
    pthread_mutex_lock(&server->lock);
    snprintf(server->wanted[0], sizeof server->wanted[0], "%s", path);
    snprintf(server->wanted[1], sizeof server->wanted[1], "%s", address);
    server->wanted_groups = groups ? *groups : (struct control_groups){{getegid()}, 1};
    server->listen_given = true;
    pthread_mutex_unlock(&server->lock);
    wake(server);
}

uint64_t daemon_http_server_asked(struct daemon_http_server *server)
{
    pthread_mutex_lock(&server->lock);
    uint64_t asked = server->asked;
    pthread_mutex_unlock(&server->lock);
    return asked;
}

void daemon_http_server_give(struct daemon_http_server *server, json_t *status, uint64_t asked)
{
    pthread_mutex_lock(&server->lock);
    json_t *former = server->status;
    server->status = status;
    server->status_asked = asked;
    server->given = true;
    pthread_mutex_unlock(&server->lock);
    json_decref(former);
    wake(server);
}

void daemon_http_server_view(struct daemon_http_server *server, struct daemon_http_view *ret)
{
    pthread_mutex_lock(&server->lock);
    *ret = server->view;
    pthread_mutex_unlock(&server->lock);
}

void daemon_http_server_destroy(struct daemon_http_server *server)
{
    if (!server)
        return;
    pthread_mutex_lock(&server->lock);
    server->ends = true;
    pthread_mutex_unlock(&server->lock);
    wake(server);
    pthread_join(server->thread, NULL);
    destroy(server);
}

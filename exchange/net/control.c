/* Accepts clients, and decides whose turn it is. */
#include "exchange/net/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "exchange/net/control_internal.h"

enum { BACKLOG = 512, NS_PER_MS = 1000000, RECHECK_MS = 50 };

int64_t control_now_ns(void)
{
    return (int64_t)uv_hrtime();
}

void control_look(const struct control *control, struct control_view *ret)
{
    *ret = control->seen;
    ret->clients = control->n_connections;
    for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++)
        ret->reserves += control->places.place[i].kind == CONTROL_RESERVE;
}

size_t control_clients(const struct control *control)
{
    return control->n_connections;
}

/* ---- newcomers ---- */

static bool is_admitted_group(const struct control_groups *groups, gid_t gid)
{
    for (unsigned i = 0; i < groups->n; i++)
        if (groups->gid[i] == gid)
            return true;
    return false;
}

bool control_admits(int fd, const struct control_groups *admitted, struct control_peer *ret)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return false;
    if (ret)
        *ret = (struct control_peer){peer.uid, peer.pid};
    if (peer.uid == geteuid() || peer.uid == 0 || is_admitted_group(admitted, peer.gid))
        return true;
    gid_t groups[256];
    size = sizeof groups;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
        return false;
    for (size_t i = 0; i < size / sizeof *groups; i++)
        if (is_admitted_group(admitted, groups[i]))
            return true;
    return false;
}

static void turn_away(int fd)
{
    struct control_text *text =
        control_refusal("EACCES", "only its own user, root and members of its groups are answered");
    if (text)
        send(fd, text->bytes, text->len, MSG_NOSIGNAL | MSG_DONTWAIT);
    control_text_unref(text);
    close(fd);
}

static uint64_t busy(const struct control *control)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++)
        if (control->connections[i] && control_connection_busy(control->connections[i]))
            mask |= UINT64_C(1) << i;
    return mask;
}

static void displace(struct control *control, int place, int64_t now_ns)
{
    const struct control_place *held = &control->places.place[place];
    struct control_connection *connection = control->connections[place];
    bool waits = connection->n_calls > 0;
    char why[200];
    snprintf(why, sizeof why,
             "closed: all connections are taken, and of uid %u's this one was idle the longest, %.1f s%s",
             (unsigned)held->uid, (double)(now_ns - held->active_ns) / 1e9,
             waits ? "; what it asked is carried out, but not answered" : "");
    control->seen.displaced++;
    control_connection_refuse(connection, waits ? "ECONNABORTED" : "EBUSY", why);
}

bool control_make_ordinary(struct control_connection *connection)
{
    struct control *control = connection->control;
    int place = control_places_silent(&control->places, connection->peer.uid, busy(control));
    if (place < 0)
        return false;
    displace(control, place, control_now_ns());
    control->places.place[connection->place].kind = CONTROL_ORDINARY;
    return true;
}

static void await_deadline(struct control *control, int64_t now_ns);

static void take(struct control *control, int fd, const struct control_peer *peer)
{
    struct control_admission admission;
    int64_t now_ns = control_now_ns();
    bool full = control->n_connections >= control->places.limits.clients - control->places.limits.reserves;
    control_places_admit(&control->places, peer->uid, full ? busy(control) : 0, now_ns, &admission);
    if (admission.displaces)
        displace(control, admission.place, now_ns);
    struct control_connection *connection = control_connection_create(control, admission.place, fd, peer);
    if (!connection)
        return;
    control_places_take(&control->places, &admission, peer->uid, now_ns);
    control->connections[admission.place] = connection;
    control->n_connections++;
    control->seen.connects++;
    control_wake(connection);
    await_deadline(control, now_ns);
}

static void have_knock(uv_poll_t *poll, int status, int events);

static void accept_newcomers(struct control *control)
{
    uint64_t now_ms = uv_now(control->loop);
    for (int i = 0; i < CONTROL_ACCEPTS && now_ms >= control->accept_from_ms; i++) {
        struct control_peer peer;
        int fd = accept4(control->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0 && control_admits(fd, &control->groups, &peer)) {
            take(control, fd, &peer);
        } else if (fd >= 0) {
            turn_away(fd);
            control->seen.refused++;
        } else if (errno == EAGAIN) {
            control->knock = false;
            uv_poll_start(&control->listener, UV_READABLE, have_knock);
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) { /* no more descriptors, or memory */
            control->accept_from_ms = now_ms + CONTROL_ACCEPT_FAILED_PAUSE_MS;
        }
    }
    if (now_ms >= control->accept_from_ms && control->n_connections >= control->places.limits.clients)
        control->accept_from_ms = now_ms + CONTROL_ACCEPTS_PAUSE_MS;
}

/* ---- turns ---- */

static void run_turn(uv_timer_t *timer);

static void turn_in(struct control *control, int64_t ms)
{
    uint64_t in_ms = ms > 0 ? (uint64_t)ms : 0;
    if (!uv_is_active((uv_handle_t *)&control->turn) || uv_timer_get_due_in(&control->turn) > in_ms)
        uv_timer_start(&control->turn, run_turn, in_ms, 0);
}

static int64_t ms_from(int64_t now_ns, int64_t until_ns)
{
    return until_ns > now_ns ? (until_ns - now_ns + NS_PER_MS / 2) / NS_PER_MS : 0;
}

void control_wake(struct control_connection *connection)
{
    struct control *control = connection->control;
    control->ready |= UINT64_C(1) << connection->place;
    if (!control->in_turn)
        turn_in(control, ms_from(control_now_ns(), control->turn_from_ns));
}

static void have_knock(uv_poll_t *poll, int status, int events)
{
    struct control *control = poll->data;
    (void)status, (void)events;
    uv_poll_stop(poll);
    control->knock = true;
    turn_in(control, ms_from(control_now_ns(), control->turn_from_ns));
}

static int64_t now_hook(void *ctx)
{
    (void)ctx;
    return control_now_ns();
}

static enum control_step step_hook(void *ctx, unsigned place)
{
    struct control_connection *connection = ((struct control *)ctx)->connections[place];
    return connection ? control_connection_step(connection) : CONTROL_STEP_NONE;
}

static void leave_hook(void *ctx, unsigned place)
{
    struct control_connection *connection = ((struct control *)ctx)->connections[place];
    if (connection)
        control_connection_leave(connection);
}

static const struct control_turn_hooks hooks = {now_hook, step_hook, leave_hook};

/* Many clients get a quarter of the loop's time: a process that uses little CPU time is scheduled soon when
 * a frame comes. */
static void pause_after(struct control *control, int64_t began_ns)
{
    int64_t now_ns = control_now_ns(), pause_ns = now_ns - began_ns;
    if (pause_ns > control->seen.turn_max_ns)
        control->seen.turn_max_ns = pause_ns;
    pause_ns *= CONTROL_PAUSE_TURNS;
    if (pause_ns > CONTROL_PAUSE_MAX_MS * NS_PER_MS)
        pause_ns = CONTROL_PAUSE_MAX_MS * NS_PER_MS;
    control->turn_from_ns = now_ns + pause_ns;
    uv_update_time(control->loop);
    int64_t ms = ms_from(now_ns, control->turn_from_ns);
    int64_t accept_ms = (int64_t)control->accept_from_ms - (int64_t)uv_now(control->loop);
    if (control->ready)
        turn_in(control, ms);
    if (!control->closing && control_shared_awaited(control)) {
        int64_t shared_ms = ms_from(now_ns, control->shared_from_ns) + 1;
        turn_in(control, shared_ms > ms ? shared_ms : ms);
    }
    if (control->knock)
        turn_in(control, accept_ms > ms ? accept_ms : ms);
}

/* Urgent requests come first: one of each client. */
static void serve_urgent(struct control *control, int64_t end_ns)
{
    uint64_t ready = control->ready;
    while (ready && control_now_ns() < end_ns) {
        unsigned place = control_turn_next(ready, control->urgent_last);
        ready &= ~(UINT64_C(1) << place);
        control->urgent_last = place;
        struct control_connection *connection = control->connections[place];
        if (connection && control_connection_urgent(connection) && connection->control)
            control_connection_leave(connection);
    }
}

static void run_turn(uv_timer_t *timer)
{
    struct control *control = timer->data;
    int64_t began_ns = control_now_ns();
    control->in_turn = true;
    control->seen.turns++;
    while (control_places_promote(&control->places))
        ;
    if (control->knock && !control->closing)
        accept_newcomers(control);
    serve_urgent(control, began_ns + CONTROL_TURN_NS);
    control_shared_run(control);
    uint64_t ready = control->ready;
    control->ready = 0;
    uint64_t left = control_turn_run(&hooks, control, ready, &control->served_last);
    control->ready |= left;
    for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++)
        if (!control->connections[i])
            control->ready &= ~(UINT64_C(1) << i);
    control->in_turn = false;
    if (!uv_is_closing((uv_handle_t *)&control->turn))
        pause_after(control, began_ns);
}

/* ---- clients that are closed ---- */

static void close_overdue(struct control *control, int place, enum control_overdue overdue)
{
    const struct control_limits *limits = &control->places.limits;
    bool reserve = control->places.place[place].kind == CONTROL_RESERVE;
    char why[160];
    if (overdue == CONTROL_NO_FIRST_LINE)
        snprintf(why, sizeof why, "closed: a reserve's first request must come within %lld ms",
                 (long long)(limits->first_line_ns / NS_PER_MS));
    else
        snprintf(why, sizeof why, "closed: no request for %.3g s",
                 (double)(reserve ? limits->reserve_idle_ns : limits->idle_ns) / 1e9);
    control_connection_refuse(control->connections[place],
                              overdue == CONTROL_NO_FIRST_LINE ? "EBUSY" : "ETIMEDOUT", why);
}

static void have_deadline(uv_timer_t *timer)
{
    struct control *control = timer->data;
    int64_t now_ns = control_now_ns();
    for (int i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        struct control_connection *connection = control->connections[i];
        if (connection && control->closing) {
            control_connection_close(connection);
        } else if (connection) {
            const struct control_place *place = &control->places.place[i];
            bool is_busy = place->kind == CONTROL_RESERVE && !place->spoke
                               ? control_connection_has_line(connection)
                               : control_connection_busy(connection);
            if (!control->connections[i])
                continue;
            enum control_overdue overdue = control_place_overdue(&control->places, i, is_busy, now_ns);
            if (overdue != CONTROL_IN_TIME)
                close_overdue(control, i, overdue);
        }
    }
    if (!control->closing)
        await_deadline(control, now_ns);
}

static void await_deadline(struct control *control, int64_t now_ns)
{
    int64_t next_ns = control_places_next_ns(&control->places);
    if (next_ns == INT64_MAX) {
        uv_timer_stop(&control->deadline);
        return;
    }
    int64_t ms = (next_ns - now_ns) / NS_PER_MS + 1;
    if (ms < 1) /* one that is busy */
        ms = RECHECK_MS;
    if (!uv_is_active((uv_handle_t *)&control->deadline) ||
        uv_timer_get_due_in(&control->deadline) > (uint64_t)ms)
        uv_timer_start(&control->deadline, have_deadline, (uint64_t)ms, 0);
}

/* ---- start and stop ---- */

mode_t control_mode(const struct control_groups *groups)
{
    return groups->n == 1 && groups->gid[0] == getegid() ? 0660 : 0666;
}

static int listen_at(const char *path, const struct control_groups *groups)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    memcpy(address.sun_path, path, strlen(path) + 1);
    unlink(path); /* the state directory's lock is ours: no process listens there any more */
    mode_t mask = umask(0117);
    int r = bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
    umask(mask);
    if (r == 0) {
        removexattr(path, "system.posix_acl_access"); /* the folder's default for new files */
        r = chmod(path, control_mode(groups)) < 0 ? -errno : 0;
    }
    if (r == 0 && listen(fd, BACKLOG) < 0)
        r = -errno;
    if (r < 0)
        close(fd);
    return r < 0 ? r : fd;
}

static bool has_file(const struct control *control, const struct stat *st)
{
    return st->st_dev == control->dev && st->st_ino == control->ino;
}

static void know_file(struct control *control)
{
    struct stat st;
    if (lstat(control->path, &st) == 0) {
        control->dev = st.st_dev;
        control->ino = st.st_ino;
    }
}

/* Uses the same descriptor, which the loop's handle has. */
static int listen_again(struct control *control)
{
    int fd = listen_at(control->path, &control->groups);
    if (fd < 0)
        return fd;
    uv_poll_stop(&control->listener);
    int r = dup3(fd, control->fd, O_CLOEXEC) < 0 ? -errno : 0;
    close(fd);
    uv_poll_start(&control->listener, UV_READABLE, have_knock);
    return r;
}

int control_keep(struct control *control)
{
    struct stat st;
    if (control->closing)
        return 0;
    if (lstat(control->path, &st) == 0)
        return has_file(control, &st) ? 0 : -EEXIST;
    if (errno != ENOENT)
        return -errno;
    accept_newcomers(control);
    int r = listen_again(control);
    if (r < 0)
        return r;
    know_file(control);
    return 1;
}

static void start(struct control *control)
{
    control->turn.data = control->deadline.data = control->listener.data = control;
    uv_timer_init(control->loop, &control->turn);
    uv_timer_init(control->loop, &control->deadline);
    control->open_handles = 3;
    uv_poll_start(&control->listener, UV_READABLE, have_knock);
}

int control_open(uv_loop_t *loop, const struct control_options *options, struct control **ret, char *err,
                 size_t err_size)
{
    struct control *control = calloc(1, sizeof *control);
    int r = control ? 0 : -ENOMEM;
    if (r == 0 && strlen(options->path) >= sizeof control->path) {
        snprintf(err, err_size, "%s: longer than a socket's path may be (%zu bytes)", options->path,
                 sizeof control->path - 1);
        free(control);
        return -ENAMETOOLONG;
    }
    if (r == 0) {
        control->groups = options->groups ? *options->groups : (struct control_groups){{getegid()}, 1};
        r = control->fd = listen_at(options->path, &control->groups);
    }
    if (r >= 0 && (r = uv_poll_init(loop, &control->listener, control->fd)) < 0)
        close(control->fd);
    if (r < 0) {
        snprintf(err, err_size, "%s: %s", options->path, strerror(-r));
        free(control);
        return r;
    }
    strcpy(control->path, options->path);
    know_file(control);
    control->loop = loop;
    control->options = *options;
    control->options.path = control->path;
    control->places.limits = options->limits ? *options->limits : control_limits_default;
    control->served_last = control->urgent_last = CONTROL_CLIENTS_MAX - 1;
    start(control);
    *ret = control;
    return 0;
}

void control_admit(struct control *control, const struct control_groups *groups)
{
    struct stat st;
    control->groups = *groups;
    if (lstat(control->path, &st) == 0 && has_file(control, &st))
        (void)chmod(control->path, control_mode(groups)); /* it is ours */
}

static void handle_closed(uv_handle_t *handle)
{
    struct control *control = handle->data;
    if (--control->open_handles == 0)
        free(control);
}

void control_end_if_closed(struct control *control)
{
    if (!control->closing || control->n_connections > 0 || uv_is_closing((uv_handle_t *)&control->turn))
        return;
    uv_close((uv_handle_t *)&control->turn, handle_closed);
    uv_close((uv_handle_t *)&control->deadline, handle_closed);
}

void control_close(struct control *control)
{
    if (!control || control->closing)
        return;
    struct stat st;
    control->closing = true;
    if (lstat(control->path, &st) == 0 && has_file(control, &st))
        unlink(control->path);
    uv_close((uv_handle_t *)&control->listener, handle_closed);
    close(control->fd);
    uv_timer_start(&control->deadline, have_deadline, CONTROL_CLOSE_MS, 0);
    for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++)
        if (control->connections[i])
            control_connection_leave(control->connections[i]);
    control_end_if_closed(control);
}

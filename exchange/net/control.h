/* The server's side of a control socket: requests come in as lines of JSON, answers go out the same way, in
 * any order. The daemon has one (docs/control.md) and so has the co-process (docs/serve.md). It handles
 * lines, peers and answers; daemon/command/ and trainer/serve/ handle the requests.
 *
 * No client can stall the loop: all together have a few ms a turn (control_turn.h), and the loop three
 * times as long (at most 100 ms) for everything else before the next; what reserves answer comes first. No
 * client can occupy the socket: control_places.h. No client can make memory grow: one whose answers are
 * unread is not read from. */
#ifndef EXCHANGE_NET_CONTROL_H
#define EXCHANGE_NET_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <uv.h>

#include "exchange/net/control_places.h"

enum {
    CONTROL_LINE_MAX = 64 * 1024, /* a longer one is answered by an error, and skipped to its end */
    CONTROL_CALLS_MAX = 256,      /* unanswered, of one client: the next ones wait in its socket */
};

struct control;
struct control_call; /* one request, until it is answered */
struct control_text; /* an answer's text, shared by the clients that requested the same */

struct control_peer {
    uid_t uid;
    pid_t pid;
};

/* Called for each request. `args` is an object, borrowed for the call. The call must be answered exactly
 * once, now or later; the client may be gone by then, which is no error. */
typedef void control_handler(void *ctx, struct control_call *call, const char *cmd, json_t *args,
                             const struct control_peer *peer);

enum { CONTROL_GROUPS_MAX = 2 };

/* Members of these are admitted, beside the own user and root. */
struct control_groups {
    gid_t gid[CONTROL_GROUPS_MAX];
    unsigned n;
};

/* Is the peer of a connection at a UNIX socket the own user, root, or a member of the groups? `ret` may be
 * NULL. */
bool control_admits(int fd, const struct control_groups *groups, struct control_peer *ret);

/* Of a socket's file: 0660 where the own group alone is admitted, else 0666: the peers' groups decide, and
 * the folder, since the file's owner may not be changed. */
mode_t control_mode(const struct control_groups *groups);

struct control_options {
    const char *path; /* replaces a socket that a former run left there; of control_mode() */
    const struct control_groups *groups; /* whose members are admitted; NULL: the own group's */
    control_handler *handler;
    void *ctx;
    const char *const *reserve_commands; /* that reserves answer, up to NULL; static */
    const char *shared_command; /* the one of them that control_share() answers, not urgent; NULL: none */
    struct control_text *(*shared)(void *ctx); /* builds that answer; NULL without memory */
    const struct control_limits *limits;       /* NULL: the usual ones */
};

/* Listens. 0 or -errno with a sentence. */
int control_open(uv_loop_t *loop, const struct control_options *options, struct control **ret, char *err,
                 size_t err_size);

/* From now on these are admitted; who is connected stays. */
void control_admit(struct control *control, const struct control_groups *groups);

/* Answers. `result` is stolen; NULL is an empty object. The call is gone afterwards. */
void control_ok(struct control_call *call, json_t *result);
void control_error(struct control_call *call, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with a member beside code and message; `value` is stolen. */
void control_error_with(struct control_call *call, const char *code, const char *member, json_t *value,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));

/* One result for many calls, serialized once. `result` is stolen; NULL without memory, or of NULL. */
struct control_text *control_text_create(json_t *result);
void control_text_unref(struct control_text *text);

/* Answers with options.shared()'s text, built after this call and once for all clients that wait: at most
 * every 20 ms, or ten times as long as building it took. A client that has not read an earlier one waits
 * until it has. */
void control_share(struct control_call *call);

size_t control_clients(const struct control *control); /* connected now */

struct control_view {
    size_t clients, reserves; /* connected now, the reserves that are taken among them */
    uint64_t connects, displaced,
        refused; /* refused: other users, and what a reserve connection does not answer */
    uint64_t requests, turns;
    int64_t turn_max_ns; /* the longest turn so far */
};
void control_look(const struct control *control, struct control_view *ret);

/* Called now and then: checks whether the socket's file is there. 0; 1: it was removed, and is made again;
 * -EEXIST: another file has its place, which is left alone; -errno: it cannot be made now. Clients that
 * waited to be accepted at the removed one are accepted; connected ones stay. */
int control_keep(struct control *control);

/* Stops listening, sends what is queued for at most CONTROL_CLOSE_MS, closes the clients; frees itself on the
 * loop's next turns. */
void control_close(struct control *control);

#endif

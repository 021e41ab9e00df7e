/* The server's side of a control socket: requests come in as lines of JSON, answers go out the same way, in
 * any order. The daemon has one (docs/control.md) and so has the co-process (docs/serve.md). This file knows
 * lines, peers and answers; daemon/command/ and trainer/serve/ know what is asked. */
#ifndef EXCHANGE_NET_CONTROL_H
#define EXCHANGE_NET_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <uv.h>

enum {
    CONTROL_LINE_MAX = 64 * 1024,
    CONTROL_CLIENTS_MAX = 64,
    CONTROL_CALLS_MAX = 256, /* unanswered, of one client */
};

struct control;
struct control_call; /* one request, until it is answered */

struct control_peer {
    uid_t uid;
    pid_t pid;
};

/* Called for each request. `args` is an object, borrowed for the call. The call must be answered exactly
 * once, now or later; the client may be gone by then, which is no error. */
typedef void control_handler(void *ctx, struct control_call *call, const char *cmd, json_t *args,
                             const struct control_peer *peer);

/* Listens at `path`, replacing a socket that a former run left there; mode 0660. 0 or -errno with a sentence.
 */
int control_open(uv_loop_t *loop, const char *path, control_handler *handler, void *ctx, struct control **ret,
                 char *err, size_t err_size);

/* Answers. `result` is stolen; NULL is an empty object. The call is gone afterwards. */
void control_ok(struct control_call *call, json_t *result);
void control_error(struct control_call *call, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with a member beside code and message; `value` is stolen. */
void control_error_with(struct control_call *call, const char *code, const char *member, json_t *value,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));

size_t control_clients(const struct control *control); /* connected now */

/* Stops listening, sends what is queued, closes the clients; frees itself on the loop's next turns. */
void control_close(struct control *control);

#endif

/* The client's side of the control socket (docs/control.md): one JSON object a line each way.
 *
 * A verb asks once and waits, with a deadline: cli_control_call(). The dashboard keeps a connection in its
 * poll loop: cli_control_open(), then cli_control_events() → poll() → cli_control_io() → cli_control_next().
 */
#ifndef CLI_CONTROL_CLIENT_H
#define CLI_CONTROL_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLI_NO_DAEMON "no daemon is listening"

enum {
    CONTROL_LINE_MAX = 64 << 20, /* longest answer that is read: a status of 4096 symbols has some 10 MiB */
    CONTROL_WORDS_MAX = 320,
    CONTROL_TIMEOUT_MS = 10000, /* that a verb waits for a daemon that is silent */
    CONTROL_BUSY_MS = 300000,   /* and for one that answers `ping` meanwhile: a command is answered after a
                                   commit,   which a busy disk delays */
};

struct control_buffer {
    char *data;
    size_t len, size;
    size_t searched; /* of the input: so far there is no end of a line */
};

struct control_client {
    int fd; /* -1 when there is no connection */
    int64_t next_id;
    struct control_buffer in, out;
};

/* Why a call gave no result, in words fit for a terminal's line. */
struct control_error {
    char code[32]; /* the daemon's: "EINVAL", "LOT_SIZE"; empty when the daemon said nothing */
    char message[CONTROL_WORDS_MAX];
};

void cli_control_init(struct control_client *client);
void cli_control_finish(struct control_client *client);

/* Connects, without waiting. 0; -ENOENT or -ECONNREFUSED when no daemon listens there; else -errno. */
int cli_control_open(struct control_client *client, const char *path);
void cli_control_close(struct control_client *client);

/* Queues a request. Takes `args`, which may be NULL. Returns the request's id (> 0), -ENOTCONN or -ENOMEM. */
int64_t cli_control_send(struct control_client *client, const char *cmd, json_t *args);

/* The events to poll the fd for. */
short cli_control_events(const struct control_client *client);

/* Writes and reads what is possible now. 0, or -errno, after which the connection is closed: -ECONNRESET
 * when the daemon closed it, -EMSGSIZE for an endless line. */
int cli_control_io(struct control_client *client);

/* Takes the next answer that has arrived: a JSON object, the caller's to free. False when there is none. A
 * line that is not a JSON object is skipped. */
bool cli_control_next(struct control_client *client, json_t **ret_reply);

/* Reads an answer. True: it is ok, and *ret_result is its "result" (borrowed, may be NULL); false: why not.
 */
bool cli_control_reply(const json_t *reply, const json_t **ret_result, struct control_error *ret_error);

/* Sends a request and waits: timeout_ms for a daemon that is silent, CONTROL_BUSY_MS for one that is not. 0
 * and the result (the caller's, never NULL); -ENOENT or -ECONNREFUSED when no daemon is there; -ETIMEDOUT;
 * -EREMOTEIO when the daemon refused; other -errno. *ret_error is written on every failure. Takes `args`. */
int cli_control_call(const char *path, const char *cmd, json_t *args, int timeout_ms, json_t **ret_result,
                     struct control_error *ret_error);

/* Is it the answer of a socket that does not admit this user? */
bool cli_control_turned_away(const json_t *reply);

/* The same, and the answer itself, an object, the caller's: also one that refuses. */
int cli_control_ask(const char *path, const char *cmd, json_t *args, int timeout_ms, json_t **ret_reply,
                    struct control_error *ret_error);

#endif

/* A client of the co-process's socket (docs/serve.md): asks in lines of JSON and brings each answer to who
 * asked. One connection, on the loop's thread; nothing waits. */
#ifndef DAEMON_TRAINING_CLIENT_H
#define DAEMON_TRAINING_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

enum {
    CLIENT_LINE_MAX = 16 << 20, /* of an answer; beyond it is a lie */
    CLIENT_REQUEST_MAX = 64 << 10,
    CLIENT_WAITING_MAX = 1024,
};

struct training_client;

/* What came of a request: {"result":{…}} or {"error":{"code":…,"message":…}}, borrowed; NULL without memory.
 * Control characters of its texts but tabs and line feeds are question marks. Codes of the client's own:
 * ETIMEDOUT, ECONNRESET (it left, or lied), EBADMSG (an answer, but none of docs/serve.md), EMSGSIZE, EBUSY,
 * ENOMEM. */
typedef void training_answer(void *ctx, const json_t *answer);

/* {"error":…}, a new reference; NULL without memory. And hands that to `answer`. */
json_t *daemon_training_failure(const char *code, const char *words);
void daemon_training_fail(training_answer *answer, void *ctx, const char *code, const char *words);

struct training_client_hooks {
    void *ctx;
    /* Somebody listens, and this is whose process it is. */
    void (*connected)(void *ctx, pid_t pid);
    /* An answer is none of docs/serve.md: who asked gets that answer, and the connection stays. `why` one
     * line. */
    void (*bad)(void *ctx, const char *why);
    /* It is over: `error` < 0 (-ENOENT and -ECONNREFUSED: no process listens; -EAGAIN: the listener accepts
     * no client; -EPERM: another user's; -EPROTO: not what docs/serve.md has), `why` one line. Every request
     * was answered before. The client is to be destroyed. */
    void (*closed)(void *ctx, int error, const char *why);
};

/* Connects to `path`; a hook reports what comes of it, never from within. NULL without memory. */
struct training_client *daemon_training_client_create(uv_loop_t *loop, const char *path,
                                                      const struct training_client_hooks *hooks);

/* Asks, once connected. `args` is stolen; NULL: none. `answer` is called once, possibly from within when
 * nothing could be sent. */
void daemon_training_client_ask(struct training_client *client, const char *cmd, json_t *args,
                                uint64_t timeout_ms, training_answer *answer, void *ctx);

/* How long the oldest unanswered request has waited, a line that never ended or one that was given up
 * included; 0: none does. */
uint64_t daemon_training_client_silent_ms(const struct training_client *client);

/* Since it was last heard, or has connected. */
uint64_t daemon_training_client_heard_ms(const struct training_client *client);

/* Answers what waits with ECONNRESET and closes; no hook is called. Frees itself on the loop's next turns.
 * NULL is fine. */
void daemon_training_client_destroy(struct training_client *client);

#endif

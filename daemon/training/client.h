/* A client of the co-process's socket (docs/serve.md): sends requests as lines of JSON and passes each
 * answer to its caller. One connection, on the loop's thread; no call waits. */
#ifndef DAEMON_TRAINING_CLIENT_H
#define DAEMON_TRAINING_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

enum {
    CLIENT_LINE_MAX = 16 << 20, /* of an answer; a longer one is malformed */
    CLIENT_REQUEST_MAX = 64 << 10,
    CLIENT_WAITING_MAX = 1024,
};

struct training_client;

/* The answer to a request: {"result":{…}} or {"error":{"code":…,"message":…}}, borrowed; NULL without
 * memory. Control characters of its texts except tabs and line feeds are question marks. Codes of the
 * client's own: ETIMEDOUT, ECONNRESET (it closed the connection, or broke the protocol), EBADMSG (an answer
 * that is not as docs/serve.md has it), EMSGSIZE, EBUSY, ENOMEM. */
typedef void training_answer(void *ctx, const json_t *answer);

/* {"error":…}, a new reference; NULL without memory. The second function passes that to `answer`. */
json_t *daemon_training_failure(const char *code, const char *words);
void daemon_training_fail(training_answer *answer, void *ctx, const char *code, const char *words);

struct training_client_hooks {
    void *ctx;
    /* A process listens: its pid. */
    void (*connected)(void *ctx, pid_t pid);
    /* An answer is not as docs/serve.md has it: the caller gets EBADMSG, and the connection stays. `why`
     * one line. */
    void (*bad)(void *ctx, const char *why);
    /* It is over: `error` < 0 (-ENOENT and -ECONNREFUSED: no process listens; -EAGAIN: the listener accepts
     * no client; -EPERM: another user's; -EPROTO: not what docs/serve.md has), `why` one line. Every request
     * was answered before. The client is to be destroyed. */
    void (*closed)(void *ctx, int error, const char *why);
};

/* Connects to `path`; a hook reports the result, never from within. NULL without memory. */
struct training_client *daemon_training_client_create(uv_loop_t *loop, const char *path,
                                                      const struct training_client_hooks *hooks);

/* Sends a request, once connected. `args` is stolen; NULL: none. `answer` is called once, possibly from
 * within when nothing could be sent. */
void daemon_training_client_ask(struct training_client *client, const char *cmd, json_t *args,
                                uint64_t timeout_ms, training_answer *answer, void *ctx);

/* How long the oldest unanswered request has waited, including an incomplete line and a request that was
 * given up; 0: no request is unanswered. */
uint64_t daemon_training_client_silent_ms(const struct training_client *client);

/* Since the last answer, or since it connected. */
uint64_t daemon_training_client_age_ms(const struct training_client *client);

/* Answers what waits with ECONNRESET and closes; no hook is called. Frees itself on the loop's next turns.
 * NULL is fine. */
void daemon_training_client_destroy(struct training_client *client);

#endif

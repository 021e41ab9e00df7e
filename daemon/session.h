/* A session of trading: the engine, the clock that stamps its events, and the writer that stores what comes
 * out.
 *
 * It exists in two stages: open (the database is there; what a former run left can be read) and begun (the
 * venue has said what it lists, the engine runs). Everything that the engine puts out for one event is stored
 * in one transaction. All on the loop's thread. */
#ifndef DAEMON_SESSION_H
#define DAEMON_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/config.h"
#include "db/state.h"
#include "db/writer.h"
#include "engine/engine.h"

enum { SESSION_ERROR_MAX = 768 };

struct session;

/* What a session asks of the rest of the daemon. */
struct session_hooks {
    void *ctx;
    void (*need_snapshot)(void *ctx, int symbol);
    void (*need_bars)(void *ctx, int symbol, int64_t from_open_ns, int64_t to_open_ns);
    void (*command_done)(void *ctx, const struct event_command *command, enum order_reason reason,
                         uint64_t order_id);
    void (*committed)(void *ctx,
                      uint64_t ticket); /* on the loop: everything up to the ticket is on the disk */
};

/* Opens the database in `state` and starts the writer. 0 or -errno with one line. */
int session_open(uv_loop_t *loop, const struct config *config, const struct state_dir *state,
                 const struct session_hooks *hooks, struct session **ret, char *err, size_t err_size);

/* Makes the engine for these symbols, puts back what a former run left, and starts it. `now_ns` is the first
 * moment of the session's clock. 0 or -errno with one line. */
int session_begin(struct session *session, const struct symbol *symbols, int n_symbols, int64_t now_ns,
                  char *err, size_t err_size);

/* The symbols of the configuration as a former run stored them, in an array for the caller to free. 0;
 * -ENOENT when one is not known; -errno. */
int session_stored_symbols(struct session *session, struct symbol **ret);

/* The venue answered after the session had begun with stored symbols. 0, or -EINVAL with one line. */
int session_update_symbols(struct session *session, const struct symbol *symbols, char *err, size_t err_size);

/* Has it begun? */
bool session_begun(const struct session *session);

/* Stamps the event (sequence number, receive time) and gives it to the engine. */
void session_event(struct session *session, struct event *event);

/* Time of the session's clock: the wall's, or the last event's. */
int64_t session_now(const struct session *session);

const struct engine *session_engine(const struct session *session); /* NULL before it began */
struct db_writer *session_writer(struct session *session);

/* Raises an alert, or counts it when the same code and text is open already. */
void session_alert(struct session *session, enum db_severity severity, const char *code, const char *text);

/* Is there an open alert of that id? */
bool session_alert_open(const struct session *session, uint64_t alert_id);

/* Acknowledges an open alert. 0 or -ENOENT. */
int session_ack(struct session *session, uint64_t alert_id);

size_t session_alerts_open(const struct session *session);

/* A number for a new command's row. */
uint64_t session_command_id(struct session *session);

/* Is the database failing, and what did it say? */
bool session_storage_ok(const struct session *session, const char **ret_detail);

/* Stores everything that is queued, waiting at most timeout_ms, and closes. 0, or -errno with one line. */
int session_close(struct session *session, int64_t timeout_ms, char *err, size_t err_size);

#endif

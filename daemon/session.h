/* A session of trading: the engine, the clock that stamps its events, and the writer that stores its
 * output.
 *
 * It has two stages: open (the database is there; what a former run left can be read) and started (the
 * venue has said what it lists, the engine runs). All output of the engine for one event is stored in one
 * transaction. Runs on the loop's thread only. */
#ifndef DAEMON_SESSION_H
#define DAEMON_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/config.h"
#include "db/state.h"
#include "db/writer.h"
#include "engine/engine.h"

struct db_symbol_row;
struct price_alert;
struct price_alerts;

enum { SESSION_ERROR_MAX = 768 };

struct session;
struct recorder;
struct policy_set;
struct trade_tape;

/* What a session calls in the rest of the daemon. */
struct alert;

struct session_hooks {
    void *ctx;
    /* The storing parts have no threads of their own, and the loop's owner steps them
     * (daemon_session_recorder(), daemon_session_writer()); NULL: they have threads. */
    const struct clock_stepped *stepped;
    const struct journal_files *files; /* of the event log; NULL: the system's */
    const atomic_bool
        *stop; /* set: daemon_session_open() builds no database again, -ECANCELED; NULL: never */
    /* The wall clock has jumped forward: before an event is dated by it, what depends on how far it is from
     * the venues' clocks is to be put right, by events. May be NULL. */
    void (*clock_jumped)(void *ctx);
    void (*need_snapshot)(void *ctx, int symbol);
    /* An order is to be placed at its venue, or cancelled there, once the rows put so far are on the disk;
     * not while the log is played again. */
    void (*venue)(void *ctx, enum engine_venue_request request, const struct order *order);
    void (*need_bars)(void *ctx, int symbol, int64_t from_open_ns, int64_t to_open_ns);
    void (*command_done)(void *ctx, const struct event_command *command, enum order_reason reason,
                         uint64_t order_id);
    /* The same of a command that a former run started: its row is to be put again. */
    void (*command_redone)(void *ctx, int64_t ts_ns, const struct event_command *command,
                           enum order_reason reason, uint64_t order_id);
    /* The event played last was no command's: what was put for the one before it is whole. */
    void (*commands_redone)(void *ctx);
    /* A former run's command with a key, from its row. */
    void (*command_known)(void *ctx, const char *cmd, const char *args, const char *answer);
    void (*storage_failing)(void *ctx); /* on the loop: what was accepted is not stored for now */
    void (*log_replaced)(void *ctx);    /* the former log was set aside, or is no longer trusted */
    void (*committed)(void *ctx,
                      uint64_t ticket); /* on the loop: everything up to the ticket is on the disk */
    /* The session has started and takes events; called at the end of daemon_session_begin(). May be NULL. */
    void (*started)(void *ctx);
    /* A closed bar of the venue, after it was put to the writer; not while the log is played again. May be
     * NULL. */
    void (*bar)(void *ctx, int symbol, const struct bar *bar);
    /* The order book's measures during the next bar; likewise. */
    void (*book_bar)(void *ctx, const struct engine_book_bar *bar);
    /* A split took effect, likewise. May be NULL. */
    void (*split)(void *ctx, int symbol);
    /* An alert was raised or has become more severe (closed_ns 0), or is over. May be NULL. */
    void (*alert)(void *ctx, const struct alert *alert, int64_t closed_ns);
    /* The name of the policy that trades an account; NULL: none that is known. May be NULL. */
    const char *(*policy_of)(void *ctx, const char *account);
    uint64_t last_alert; /* alerts' numbers are above it, whatever the database has */
};

/* How a session was restored. */
struct session_recovery {
    const char *from;       /* "nothing", "log", "database" */
    bool log_replaced;      /* the former log was set aside, or only the database was trusted */
    uint64_t log_seq;       /* the log's last event when it was opened */
    int64_t log_ns;         /* and its time */
    uint64_t played, again; /* events played; of those, whose rows the database lacked */
    int64_t elapsed_ns;     /* that took */
    int64_t away_ns;        /* from the last event before to the first moment now; 0: not known */
    uint64_t missed_bars;   /* fetched, that closed meanwhile */
    uint64_t crossed;       /* orders that they crossed */
};

/* Opens the database and the event log in `state` and starts the threads that write them. 0 or -errno with
 * one line. */
int daemon_session_open(uv_loop_t *loop, const struct daemon_config *config, const struct state_dir *state,
                        const struct session_hooks *hooks, struct session **ret, char *err, size_t err_size);

/* One number of decimals for each asset that symbols of several venues are quoted in, so that an account in
 * it trades all of them: sets quote_scale, which is ours to choose between what its price times its quantity
 * can have. What the database has of an account or a symbol stays; else the most of them. */
void daemon_session_choose_units(const struct session *session, struct symbol *symbols, int n);
/* The same of one that is added to those that the engine has. */
int daemon_session_unit_of(const struct session *session, const struct symbol *symbol);

/* Makes the engine for these symbols, puts back what a former run left, from the event log or, where that is
 * missing or contradicts the database, from the database alone, and gives it its first event: no connection.
 * `now_ns` is the first moment of the session's clock. 0 or -errno with one line. */
int daemon_session_begin(struct session *session, const struct symbol *symbols, int n_symbols, int64_t now_ns,
                         char *err, size_t err_size);

/* A venue's symbols, by their names, as a former run stored them. 0; -ENOENT when one is not known, -errno:
 * then nothing is written. */
int daemon_session_stored_symbols(struct session *session, const char *venue, struct symbol *symbols, int n);

/* A stock has another name from now on (symbol_renamed()): an event, and the database's row. 0 or -EINVAL. */
int daemon_session_rename_symbol(struct session *session, int index, const struct symbol *symbol);

/* The venue lists a symbol with other values than the engine has: an event, and its row. 0, or -EINVAL with
 * one line for other units. */
int daemon_session_update_symbol(struct session *session, int index, const struct symbol *symbol, char *err,
                                 size_t err_size);

/* For each symbol of the database that a run streamed or traded: the end of its first bar of trades, or its
 * first order, whichever is earlier. 0 or -errno. */
int daemon_session_first_moments(struct session *session,
                                 void (*row)(void *ctx, const struct db_symbol_row *symbol, int64_t first_ns),
                                 void *ctx);

/* When the newest bar of a symbol opened that the database holds; 0: it holds none, or cannot say. */
int64_t daemon_session_stored_bar(const struct session *session, const char *symbol, int64_t interval_ns);

/* Adds a symbol, streamed from now on; `command`: by a command, so that the next runs stream it too. Its
 * index, -ENOSPC beyond SYMBOLS_MAX, -EINVAL when the engine refuses it. */
int daemon_session_add_symbol(struct session *session, const struct symbol *symbol, bool command);

bool daemon_session_started(const struct session *session);

/* Fills since this start; 0 before it began. */
uint64_t daemon_session_fills(const struct session *session);

/* The missed bars are there: reports once how long the session was away and what happened in that time. */
void daemon_session_caught_up(struct session *session);

/* What a recording keeps in addition: a frame before it is parsed, a reply before its event, of a venue of
 * the configuration by its number there. */
void daemon_session_record_frame(struct session *session, int venue, const char *data, size_t len);
void daemon_session_record_reply(struct session *session, int venue, const char *path, const char *body,
                                 size_t len);

/* Stamps the event (sequence number, receive time), records it, and gives it to the engine. */
void daemon_session_event(struct session *session, struct event *event);

/* Of the event that it handles, or plays again. */
uint64_t daemon_session_event_seq(const struct session *session);

/* On the feed's clock time has reached at_ns, though no message says so: something takes effect then. On
 * the wall clock nothing happens. */
void daemon_session_pass(struct session *session, int64_t at_ns);

/* Time of the session's clock: the wall's, or the last event's. */
int64_t daemon_session_now(const struct session *session);

/* Is a symbol quoted in that currency? *ret: "USDT, BTC", all the currencies that one is quoted in. */
bool daemon_session_quoted(const struct engine *engine, const char *currency, char *ret, size_t size);
const struct engine *daemon_session_engine(const struct session *session); /* NULL before it began */
/* The newest trades that came since the start (daemon/tape.h); never NULL. */
const struct trade_tape *daemon_session_tape(const struct session *session);
/* As engine_dry_run(); -EAGAIN while a former run's events are played. */
int daemon_session_dry_run(struct session *session, enum order_grouping grouping, const struct order *legs,
                           int n_legs, struct engine_dry_run *ret);
/* NULL: daemon_session_begin() could not open the database again, and the program stops. */
struct db_writer *daemon_session_writer(struct session *session);

/* When the database was last built again, and from what; NULL: never. */
struct db_rebuilt;
const struct db_rebuilt *daemon_session_last_rebuild(const struct session *session);
const struct session_recovery *daemon_session_recovery(const struct session *session);
struct recorder *daemon_session_recorder(const struct session *session,
                                         bool recording); /* NULL: there is none */

/* Raises an alert of an event, or counts it when the same code and text is open already: daemon/alerts.h. */
void daemon_session_alert(struct session *session, enum db_severity severity, const char *code,
                          const char *text);

/* The same of a condition, found by this code and a text that begins with `about`;
 * daemon_session_alert_over() ends it. */
void daemon_session_alert_lasting(struct session *session, enum db_severity severity, const char *code,
                                  const char *about, const char *text);

/* A condition that lasts has another text: stored, and nothing more. Nothing where there is none. */
void daemon_session_alert_reword(struct session *session, const char *code, const char *about,
                                 const char *text);

/* The condition is over: closes the alerts of that code whose text begins with `about`. Does nothing
 * without one, so that a rule may call it each time that it finds no fault. */
void daemon_session_alert_over(struct session *session, const char *code, const char *about);
/* The same, with this text from now on; "": the one that it has. */
void daemon_session_alert_over_by(struct session *session, const char *code, const char *about,
                                  const char *text);

/* Are those of former runs known, and the time? Until then what is raised is kept, and nothing is over. */
bool daemon_session_can_report(const struct session *session);

/* Gives each alert of a condition that lasts, a former run's too; see() may not call these functions. */
struct alert;
void daemon_session_alerts_lasting(const struct session *session,
                                   void (*see)(void *ctx, const struct alert *alert), void *ctx);

/* All that are kept, acknowledged conditions among them: *ret_n of them, valid until the next call. */
const struct alert *daemon_session_alerts(const struct session *session, size_t *ret_n);

/* The prices that are waited for; daemon/price_alerts.h. */
const struct price_alerts *daemon_session_price_alerts(const struct session *session);
/* As daemon_price_alerts_add(), which gives its id, and daemon_price_alerts_remove(); stored in the caller's
 * group. created_ns is set. -EBADMSG: what a former run stored cannot be read, and is left as it is; -ENOMEM:
 * nothing is changed. */
int daemon_session_price_alert_add(struct session *session, struct price_alert *alert);
int daemon_session_price_alert_remove(struct session *session, uint64_t id, struct price_alert *ret);

/* The policies that its accounts trade by, or may. */
struct policy_set *daemon_session_policies(struct session *session);

/* enum alert_standing (alerts.h) */
int daemon_session_alert_standing(const struct session *session, uint64_t alert_id);

/* Acknowledges an open alert. 0 or -ENOENT. */
int daemon_session_ack(struct session *session, uint64_t alert_id);

size_t daemon_session_alerts_open(const struct session *session);

/* The newest alert before `than` (NULL: of all) that the database does not have so yet; NULL: none. */
const struct alert *daemon_session_alert_unstored(const struct session *session, const struct alert *than);

/* A number for a new command's row. */
uint64_t daemon_session_command_id(struct session *session);

/* Call now and then: notes that it is alive, at most every DB_RUN_ALIVE_NS. */
void daemon_session_run_alive(struct session *session);

/* Call now and then: once a day what upgrades of the schema kept too long is removed, on a thread
 * (db/former.h). */
void daemon_session_prune_former(struct session *session);
/* Puts a command's row, and keeps it for the states of the event log when it bears a key and has ended. */
void daemon_session_put_command(struct session *session, const struct db_command *row);

/* Can the database and the event log store, and if not, why? */
bool daemon_session_storage_ok(const struct session *session, const char **ret_detail);
enum storing daemon_session_storing(const struct session *session);

/* The feeds are stopped and no command comes any more: EVENT_STOP. Nothing before the session began. */
void daemon_session_stopped(struct session *session);

/* Before the end: waits until everything that is queued is stored. 0; -EIO: the disk refuses, and did for
 * SESSION_FAILING_MS (it is full), so that nothing more is waited for; -ETIMEDOUT; -EBADMSG as
 * db_writer_flush(). */
enum { SESSION_FAILING_MS = 5000 };
int daemon_session_drain(struct session *session, int64_t timeout_ms);

/* Records a last state, stores everything that is queued, waiting at most timeout_ms for the database and,
 * beside that, for the log as long or 3 s, and closes. 0, or -errno with one line that says what is not
 * stored. */
int daemon_session_close(struct session *session, int64_t timeout_ms, char *err, size_t err_size);

#endif

/* A session's internals, shared by its own files: session.c opens, stamps and closes, session_begin.c makes
 * the engine, session_recover.c replays the event log, session_sink.c stores what the engine emits,
 * session_storage.c reports whether it can, session_alert.c keeps the alerts, session_price.c those of
 * prices, session_log.c the event log and the recording, session_run.c when it ran, session_strategies.c asks
 * outside strategies, session_symbols.c symbols that change. */
#ifndef DAEMON_SESSION_INTERNAL_H
#define DAEMON_SESSION_INTERNAL_H

#include <stdatomic.h>

#include "daemon/alerts.h"
#include "daemon/kept.h"
#include "daemon/policies.h"
#include "daemon/price_alerts.h"
#include "daemon/recorder.h"
#include "daemon/session.h"
#include "daemon/steady.h"
#include "daemon/tape.h"
#include "db/recover.h"
#include "engine/record.h"

/* How the alert of a clock that is behind begins. */
#define SESSION_CLOCK_BEHIND "the clock is "

/* A note of each segment that retention removes is in the database before it does: under the session's lock.
 */
struct log_removals {
    struct journal_removal asked; /* waits for its note, where `wanted` */
    bool wanted;
    uint64_t putting_seq, ticket; /* of the note that is being stored; 0: none */
    uint64_t noted_seq;           /* events up to here may go */
};

/* A reply that came before there was an engine whose state a recording could begin with. */
struct early_reply {
    struct early_reply *next;
    int venue;
    char *path, *body;
    size_t len;
};

/* An alert that was raised before alerts can be stored. */
enum early_kind { EARLY_EVENT, EARLY_CONDITION, EARLY_MOMENT };
struct early_alert {
    struct early_alert *next;
    enum early_kind kind;
    enum db_severity severity;
    char code[ALERT_CODE_MAX], about[DB_ALERT_TEXT_MAX], text[DB_ALERT_TEXT_MAX];
};

/* A part that stores: the database, or the event log before it. */
struct storage {
    bool changed, news; /* from the thread, under the session's lock */
    enum storing new_storing;
    char words[DB_ERROR_MAX];
    bool ok; /* on the loop */
    enum storing storing;
    char detail[DB_ERROR_MAX];
    char reported[DB_ERROR_MAX]; /* of that, what log and alerts have; "" */
    uint64_t reported_ms;        /* since when, of the loop's time */
};

struct playing;
struct replay;

struct session {
    uv_loop_t *loop;
    const struct daemon_config *config;
    const struct state_dir *state;
    struct session_hooks hooks;
    struct db_writer *writer;
    struct recorder *log, *recording;        /* recording: NULL without --record, or once it failed */
    struct recorder *raw[CONFIG_VENUES_MAX]; /* frames and replies of the venues after the first */
    bool raw_started;                        /* they have the state that they begin with */
    struct codec codec;                      /* of states */
    struct kept kept;                        /* what states hold apart from the engine */
    const char *default_venue;               /* of symbols that name none; NULL: the configuration's first */
    struct early_reply *early, **early_end;
    struct policy_set *policies; /* of the configuration, and those kept in the state directory */
    struct engine *engine;
    struct account_host *hosts;         /* [ACCOUNTS_MAX]: session_strategies.c; NULL before it began */
    struct strategy_decision *decision; /* the one that the engine is given */
    struct trade_tape *tape;            /* what came since the start */
    struct price_alerts price_alerts;
    int price_alerts_unread; /* -errno: the row of a former run is not overwritten */
    struct symbol *symbols;
    int n_symbols;
    struct db_session *sessions; /* of the database alone, until the engine has them */
    size_t n_sessions;
    uint64_t fills_before; /* of former runs, as the engine counts them */
    bool caught_up;        /* the engine has been given how long it was away */
    uint64_t holes_reported, lost_reported, restarts_reported; /* of the log, in alerts */
    uint64_t seq, run, last_command;
    uint64_t last_order;                /* the newest that came out of the engine */
    uint64_t event_seq;                 /* of the event that it handles, or plays again */
    int64_t now_ns;                     /* of the last event */
    int64_t run_began_ns, run_alive_ns; /* of its row of `runs`; 0: it has none yet */
    struct steady steady;
    bool jumped; /* its time, since the last event */
    struct alerts alerts;
    bool alerts_known; /* a former run's are read */
    struct early_alert *early_alerts;
    int n_early_alerts;
    struct playing *playing; /* the log is replayed: the engine's output answers no client */
    bool stored;             /* and the database holds these rows already */
    bool redoing;            /* the event that is played is a command's whose rows are put again */
    char trouble[768];       /* a fault of the event log, reported once there is an engine; "" */
    char log_aside[CONFIG_PATH_MAX + 64]; /* where the damaged log is that was put aside at this start; "" */
    char lost_events[96];                 /* in words, those of its end that cannot be read; "" */
    uint64_t former_due_ms; /* when it is looked for what upgrades kept too long; of the loop's time */
    bool rebuilt;           /* the database was built again at this start; in words: */
    char rebuilt_words[DB_ALERT_TEXT_MAX];
    bool lost_money;                 /* by either: the alert is an error */
    struct db_rebuilt *rebuilt_list; /* the newest, and its sources; NULL: it never was */
    struct session_recovery recovery;

    uv_async_t wake; /* a thread has news */
    uv_mutex_t lock;
    struct storage database, events;
    bool log_failed;  /* under the lock: the disk failed it, and the database must be checked too */
    bool built_again; /* the same: the database, while this runs; in words: */
    bool built_lost;
    char built_words[DB_ALERT_TEXT_MAX];
    atomic_bool gives_up;  /* it is closed, and what is not stored is left: no database is built again */
    bool recording_failed; /* under the lock */
    struct log_removals removals;
    char recording_words[RECORDER_ERROR_MAX];
    bool storage_ok;                        /* both */
    enum storing storing;                   /* the worse of the two */
    char storage_detail[DB_ERROR_MAX + 16]; /* why not; "" */
};

/* session_units.c: has every symbol that is quoted in an account's currency its decimals? -EINVAL with why
 * not: what is stored of one has others. */
int daemon_session_check_units(const struct session *session, const char *account, const char *currency,
                               int scale, char *err, size_t err_size);

/* session_removals.c: on the recorder's thread, as journal_writer_config has it; and on the loop. */
bool daemon_session_may_remove(void *session, const struct journal_removal *segment);
void daemon_session_note_removal(struct session *session);

/* session_sink.c */
struct engine_sink daemon_session_sink(struct session *session);
/* Does the session's database have that row of `meta`? */
bool daemon_session_has_meta(const struct session *session, const char *key);
/* Stores it with the venue that the symbol names, or else the first. */
void daemon_session_put_symbol(struct session *session, int index, const struct symbol *symbol);
void daemon_session_put_symbols(struct session *session, const struct engine *engine);
/* As a run starts with it, after that event. */
void daemon_session_put_account(struct session *session, const struct engine *engine, int account,
                                uint64_t event);
/* A line in the log where its strategy also sells short, and the account may not. */
void daemon_session_note_account(const struct engine *engine, int account);
/* Beside a point of equity, where the account's rules say more than its cash does. */
void daemon_session_put_margin(struct session *session, const struct engine *engine, int account,
                               int64_t ts_ns);

/* session.c */
int64_t daemon_session_stamp(struct session *session); /* the receive time of what comes now */
/* Time continues from a former run's last event; reported_ns: how far ahead of the wall clock has been
 * reported already. */
void daemon_session_continue_from(struct session *session, int64_t last_ns, int64_t reported_ns);

/* session_former.c */
/* Before anything of the state is altered: keeps it where opening its database will migrate it (db/former.h).
 * 0, or -errno with one line: the session cannot start. */
int daemon_session_keep_former(struct session *session, char *err, size_t err_size);

/* session_strategies.c */
/* The session's engine is made: hosts of outside strategies, and what they are shown again. 0 or -ENOMEM. */
int daemon_session_strategies_begin(struct session *session);
/* Accounts, or what trades for them, may be others now: closes and opens hosts. */
void daemon_session_strategies_follow(struct session *session);
/* After an event: asks what its bar waits for, and what is history as long as that does not take long. */
void daemon_session_strategies_ask(struct session *session);
void daemon_session_strategies_end(struct session *session);

/* session_run.c */
struct replay_run;
void daemon_session_run_begin(struct session *session); /* its first state is in the log */
void daemon_session_run_end(struct session *session);   /* and the last one */
/* A run of the log that is played: of struct replay_options; the context is the session. */
void daemon_session_run_played(void *ctx, const struct replay_run *run);

/* session_log.c */
int daemon_session_log_open(struct session *session, char *err, size_t err_size);
/* Sets the log aside under another name, and starts a new one; `why` is reported later. What was put into
 * the database waits for the log's thread: it is stored first. 0 or -errno with one line. */
int daemon_session_log_set_aside(struct session *session, const char *why, char *err, size_t err_size);
/* The engine's state, into the log and the recording. 0 or -ENOMEM. */
int daemon_session_log_state(struct session *session, enum state_why why);
void daemon_session_log_event(struct session *session, const struct event *event);
void daemon_session_log_wants(struct session *session); /* gives states that are wanted after an event */
/* 0; -errno: the event log is not whole. */
int daemon_session_log_close(struct session *session, int64_t timeout_ms);

/* session_storage.c */
/* Takes what the threads that store have reported; the session's lock is held. */
void daemon_session_storage_take(struct session *session);
/* Whether both store now: reported as an event, in the log, and as an alert. */
void daemon_session_storage_judge(struct session *session);
/* On the writer's thread, as struct db_writer_config has them. */
int daemon_session_storage_check(void *ctx, char *err, size_t err_size);
int daemon_session_storage_rebuild(void *ctx, const char *why, uint64_t *ret_event, char *text,
                                   size_t text_size);
void daemon_session_storage_hole(struct session *session); /* an alert where the event log has a new hole */

/* session_sound.c */
/* Reads the list of the newest rebuild for `status`, where there is one. */
void daemon_session_read_rebuilt(struct session *session);
/* Checks the database before it is opened, and rebuilds it where it is damaged, missing beside a log, or
 * ends before events from which the log cannot be continued. 0; -errno with one line: the session cannot
 * start. */
int daemon_session_sound(struct session *session, char *err, size_t err_size);
/* Rebuilds it; it is not open. `sound`: it is merely older than the log. 0 or -errno with one line;
 * -EILSEQ: it is sound, and the log contradicts it. */
int daemon_session_rebuild(struct session *session, const char *why, bool sound, char *err, size_t err_size);
/* session.c: opens the database and its writer. 0 or -errno with one line. */
int daemon_session_open_database(struct session *session, char *err, size_t err_size);

/* session_alert.c */
/* Reads what a former run left, once: from here on alerts are stored. 0 or -errno; db_reader_error(). */
int daemon_session_take_alerts(struct session *session, struct db_reader *reader);
/* Raises an alert of a moment, which nothing is left to be done about: its notice is sent, and it is closed.
 */
void daemon_session_alert_moment(struct session *session, enum db_severity severity, const char *code,
                                 const char *text);
/* The conditions of that code that a former run left are over, unless this one has found them too. */
void daemon_session_alert_over_former(struct session *session, const char *code);
/* The session takes events: raises what was kept until then. */
void daemon_session_alerts_begin(struct session *session);
void daemon_session_alerts_finish(struct session *session);

/* session_price.c */
/* Reads what a former run left, before the log is played. */
void daemon_session_take_price_alerts(struct session *session, struct db_reader *reader);
/* In the event's group, once the engine has it: a trade that makes a price raises those that it reaches. */
void daemon_session_price_trade(struct session *session, const struct market_event *event);
/* The same of a closed bar, in that engine: all of it of the alerts that were there when it opened, its close
 * of those that were there when it closed. */
void daemon_session_price_bar(struct session *session, const struct engine *engine, int symbol,
                              const struct bar *bar);
/* The session takes events: raises what the last price reaches, which a former run had no time to store. */
void daemon_session_price_begin(struct session *session);
/* In the event's group: prices follow a split, and alerts their symbol's new name. */
void daemon_session_price_split(struct session *session, const char *symbol,
                                const struct corporate_action *split);
void daemon_session_price_rename(struct session *session, const char *from, const char *to);

/* session.c */
/* For names and dates: the wall's, or of the clock that all is stepped by. */
int64_t daemon_session_wall_ns(const struct session *session);

/* session_recover.c */
/* When the row that is put now happened: the moment of the event that is handled, or replayed. */
int64_t daemon_session_row_ns(const struct session *session);
/* Replays to the end into the session's writer, as into a database that has none of it. `known`: the writer
 * knows the symbols and accounts of the state that it starts from. 0; -ECANCELED once *stop is set; errors
 * of engine_replay_step(), up to which all was put. */
int daemon_session_play(struct session *session, struct replay *replay, bool known, const atomic_bool *stop);
/* While it plays: the engine that plays, whose symbols and accounts the writer knows. */
const struct engine *daemon_session_replayed(struct session *session);
const struct engine *
daemon_session_playing_engine(const struct session *session); /* the same, puts nothing */
/* Replays the log from what the database holds. 1 with session->engine, seq and run set; 0: the database
 * alone is to be restored, session->trouble says why; -errno: the session cannot start. */
int daemon_session_play_log(struct session *session, const struct db_recovered *recovered, char *err,
                            size_t err_size);

#endif

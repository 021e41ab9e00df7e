/* The commands of the control socket: what each asks of the session, and when it is answered. A command
 * that changes something leaves a row in `commands` and is answered only after the commit that holds it. */
#ifndef DAEMON_COMMAND_COMMAND_H
#define DAEMON_COMMAND_COMMAND_H

#include "daemon/daemon.h"
#include "db/reader.h"

struct commands;

struct commands *daemon_commands_create(struct daemon *daemon); /* NULL without memory */
void daemon_commands_destroy(struct commands *commands);        /* drops what is unanswered */

/* The commands that a reserve connection serves: those that stop trading, and those that look at it. For
 * control_open(). */
extern const char *const daemon_commands_reserve[];

/* The handler for control_open(); ctx is the struct commands. */
void daemon_commands_handle(void *ctx, struct control_call *call, const char *cmd, json_t *args,
                            const struct control_peer *peer);

/* The same for control-read.sock: what changes something is refused. And what its reserves answer. */
void daemon_commands_handle_reading(void *ctx, struct control_call *call, const char *cmd, json_t *args,
                                    const struct control_peer *peer);
extern const char *const daemon_commands_reading[];

/* The status, one text for all clients that asked for it; ctx is the struct commands. For control_open(). */
struct control_text *daemon_commands_status(void *ctx);

/* A command's outcome, as it is stored and answered: {"result":…} (with the order's id added to `result`,
 * which is stolen), or {"error":{"code":…,"message":…}}. A new reference, NULL without memory. */
json_t *daemon_commands_outcome(enum order_reason reason, uint64_t order_id, json_t *result);

/* A command of a former run, from its stored row: the same answer is given should it come again. */
void daemon_commands_remember(struct commands *commands, const char *cmd, const char *args,
                              const char *answer);

/* Commands that a former run passed to the co-process without learning their outcome: once the co-process
 * is there it is asked again, and their rows are settled. */
void daemon_commands_recover(struct commands *commands, struct db_reader *reader);
bool daemon_commands_left(const struct commands *commands); /* some are not asked again yet */
void daemon_commands_ask_left(struct commands *commands);   /* the co-process is there */

/* A command of a former run that the log's replay brought: its row is put, in one group with its events'
 * rows. A repeat waits for that group's ticket. */
void daemon_commands_redone(struct commands *commands, int64_t ts_ns, const struct event_command *command,
                            enum order_reason reason, uint64_t order_id);
/* The event played last was not the command's: its group ends. */
void daemon_commands_redone_end(struct commands *commands);

/* The engine carried a command out (session_hooks.command_done). */
void daemon_commands_done(struct commands *commands, uint64_t command_id, enum order_reason reason,
                          uint64_t order_id);

/* Nothing can be stored for now: answers what waits for it that it is accepted, or refused, but not stored.
 * What comes in the meantime gets that answer at once. */
void daemon_commands_not_stored(struct commands *commands);

/* SIGHUP: as the command `reload`, without a client; once the session has started, and once a reload that is
 * under way has ended. */
void daemon_commands_reload(struct commands *commands);
/* What waits for a restart, since the last reload: {section, key, was, now, line} each, as its answer has
 * them. A new reference; `commands` may be NULL. */
json_t *daemon_command_restart(const struct commands *commands);
/* Symbols that the configuration leaves out while an account holds them or has an order in them: {symbol,
 * account, why, streamed} each. A new reference. */
json_t *daemon_command_left_out(const struct daemon *daemon);
/* Is the symbol streamed, or has an account something of it? Of one that was removed nothing is current. */
bool daemon_command_symbol_used(const struct daemon *daemon, const struct engine *engine, int symbol);
void daemon_commands_started(struct commands *commands); /* the session has */

/* ---- what the daemon itself asks for, of policies: by commands without a call (propose.c) ---- */

/* In a group: a study (a training, with when it was made) reports its best policy, papertape.proposal/1.
 * Its row is stored, pending; one that came before is ignored. */
void daemon_commands_propose(struct commands *commands, const char *training, int64_t created_ns,
                             const json_t *proposal);
/* Judges the oldest proposal whose row is on the disk: it becomes a challenger, or is refused. */
void daemon_commands_propose_go(struct commands *commands);
/* Is no promotion or retirement waiting or under way? */
bool daemon_commands_policies_idle(const struct commands *commands);
void daemon_commands_crown(struct commands *commands, const char *name, const char *reason);
void daemon_commands_retire(struct commands *commands, const char *name, const char *reason);

/* Everything up to this ticket is on the disk: answers what waited for it. */
void daemon_commands_committed(struct commands *commands, uint64_t ticket);

#endif

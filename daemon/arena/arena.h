/* The arena: policies that trade live, each on a paper account of its own, the best of them on the account
 * `champion` as well. docs/policies.md has the rules.
 *
 * The event log is the source of its table: each event of a promotion or a retirement carries the rows that
 * it makes. They are stored in the event's group, and again when the log is replayed. After a restart,
 * events of their own bring the engine in line with the table: an interrupted change continues, and a
 * policy that the configuration no longer supports is refused until it does. judge.c decides after each UTC
 * day who becomes champion. Runs on the loop's thread only. */
#ifndef DAEMON_ARENA_ARENA_H
#define DAEMON_ARENA_ARENA_H

#include <jansson.h>

#include "daemon/arena/step.h"
#include "daemon/daemon.h"
#include "db/reader.h"

struct arena;
struct arena_file;

struct arena *arena_create(struct daemon *daemon); /* NULL without memory */
void arena_destroy(struct arena *arena);           /* what it still waits for ends by itself; NULL is fine */

/* Loads the table as a former run left it. */
void arena_remember(struct arena *arena, struct db_reader *reader);
/* Applies an event of a command that a former run carried out and whose rows the database lacks. */
void arena_redone(struct arena *arena, const struct event_command *command, enum order_reason reason);
/* The session has started: each account trades by what its row says, or an alert says why it does not. */
void arena_started(struct arena *arena);

/* NULL: there is none. What is found holds until a row is put. */
const struct arena_row *arena_find(const struct arena *arena, const char *name);
const struct arena_row *arena_champion(const struct arena *arena);
/* Why it does not trade, though its role says so; NULL: it does. */
const char *arena_refused(const struct arena *arena, const char *name);
/* Is the account one of the arena's? One of the configuration's? */
bool arena_has_account(const struct arena *arena, const char *account);
bool arena_configured(const struct arena *arena, const char *account);

/* A study's policy that passed its gates: under which name it comes in, or why it cannot, in one sentence. */
int arena_slot(const struct arena *arena, const char *study, char ret_name[static ACCOUNT_NAME_MAX],
               char *why, size_t size);

/* In a group, after its events: the row is stored, and holds from now on. */
void arena_put(struct arena *arena, const struct arena_row *row);

/* Takes over a policy that was read and copied, to trade by. NULL without memory. */
const struct policy *arena_take(struct arena *arena, struct arena_file *file);
const struct policy *arena_policy(const struct arena *arena, const uint8_t id[static POLICY_ID_SIZE]);
/* Frees policies that no account trades by any more. */
void arena_tidy(struct arena *arena);

/* ---- records.c ---- */

/* An account's days as they were last read, newer ones being read now and then; NULL: not known. */
struct arena_days;
const struct arena_days *arena_account_days(struct arena *arena, const char *account);

/* The policy that trades on an account of the arena; NULL: none. */
const char *arena_policy_of_account(const struct arena *arena, const char *account);

/* ---- account.c ---- */

/* Why the policy cannot trade on the account, in one sentence in err [ARENA_ERROR_MAX], with *ret_code; NULL:
 * it can. One that is not there yet is made in that currency, as *ret_made, one of `more` that are. */
const char *arena_account_refusal(const struct arena *arena, const char *name, const char *currency,
                                  const struct policy *policy, int more, struct account_spec *ret_made,
                                  const char **ret_code, char *err);

/* ---- view.c ---- */

/* The status' "policies" and "champion" (docs/control.md); new references. The champion comes first, then
 * those of the configuration, challengers, and what has retired; at most `max`, and what an answer's line can
 * hold.
 */
json_t *arena_list(struct arena *arena, size_t max);
size_t arena_total(const struct arena *arena);
json_t *arena_champion_object(const struct arena *arena);
/* One of the list by its name, an account of the configuration among them; NULL: there is none. */
json_t *arena_object(struct arena *arena, const char *name);

#endif

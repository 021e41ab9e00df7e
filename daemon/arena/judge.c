/* What follows from the time and from the accounts' days: policies that expire, that were locked or
 * liquidated, that have no room any more, and which challenger is crowned. Each decision is a command with
 * its reason, as a user's would be: docs/policies.md. The table shows what was decided, so an interruption
 * only means that it is decided again. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daemon/arena/file.h"
#include "daemon/arena/internal.h"
#include "daemon/command/command.h"
#include "daemon/log.h"

enum { AGAIN_MS = 1000 };

static bool challenges(const struct arena_row *row)
{
    return row->role == DB_POLICY_CHALLENGER;
}

static bool came_by_proposal(const struct arena_row *row)
{
    return row->proposal[0] != '\0';
}

/* ---- the test ---- */

struct arena_evidence arena_evidence(const struct arena *arena, const struct arena_row *row,
                                     const struct arena_row **ret_against)
{
    static const struct arena_days none;
    const struct arena_row *champion = arena_champion(arena);
    const struct arena_row *against = champion && challenges(row) ? champion : NULL;
    const struct arena_days *days = arena_days(arena, row->account);
    const struct arena_days *others = against ? arena_days(arena, against->account) : NULL;
    int64_t from_ns = against && against->judged_ns > row->judged_ns ? against->judged_ns : row->judged_ns;
    *ret_against = against;
    if (!days)
        return (struct arena_evidence){0};
    return arena_evidence_of(days, against && !others ? &none : others, from_ns / ARENA_DAY_NS, arena->until);
}

static double evidence_value(const struct arena *arena, const struct arena_row *row)
{
    const struct arena_row *against;
    const struct arena_evidence evidence = arena_evidence(arena, row, &against);
    return arena_evidence_value(&evidence);
}

/* Its days are known, and so are those of the policy that it is compared with. */
static bool can_be_compared(const struct arena *arena, const struct arena_row *row,
                            const struct arena_row *against)
{
    return !arena_unread(arena, row->account) && !(against && arena_unread(arena, against->account));
}

/* It trades, and did better on enough days. */
static bool deserves_crown(const struct arena *arena, const struct arena_slot *slot,
                           const struct arena_row *against, const struct arena_evidence *evidence)
{
    const struct engine *engine = daemon_session_engine(arena->daemon->session);
    const struct daemon_config *config = &arena->daemon->config;
    int account = engine_find_account(engine, slot->row.account);
    return !slot->refused && account >= 0 && engine_account(engine, account)->killed_ns == 0 &&
           can_be_compared(arena, &slot->row, against) && evidence->days >= config->arena_champion_days &&
           arena_evidence_value(evidence) >= 1 / config->arena_alpha;
}

void arena_not_passed_over(struct arena *arena, struct arena_slot *slot)
{
    char about[96];
    slot->passed_over = false;
    snprintf(about, sizeof about, "%s would be champion", slot->row.name);
    daemon_session_alert_over(arena->daemon->session, "POLICY_REFUSED", about);
}

/* The account `champion` may be of another currency, or have no room. A challenger that cannot have it
 * leaves it to the next best. */
static bool can_be_crowned(struct arena *arena, struct arena_slot *slot, double value)
{
    const struct engine *engine = daemon_session_engine(arena->daemon->session);
    const struct account *account = engine_account(engine, engine_find_account(engine, slot->row.account));
    const struct policy *policy = arena_policy(arena, slot->row.id);
    struct account_spec made;
    char why[ARENA_ERROR_MAX] = "its copy is not there", text[ARENA_ERROR_MAX + 160], about[96];
    const char *code;
    if (policy &&
        !arena_account_refusal(arena, ARENA_CHAMPION, account->currency, policy, 1, &made, &code, why)) {
        arena_not_passed_over(arena, slot);
        return true;
    }
    if (!slot->passed_over) {
        snprintf(about, sizeof about, "%s would be champion", slot->row.name);
        snprintf(text, sizeof text, "%s would be champion, with an e-value of %.4g, and cannot: %s",
                 slot->row.name, value, why);
        daemon_log_event(
            LOG_POLICY_REFUSED,
            LOG_OF(.policy = slot->row.name, .account = slot->row.account, .alert = "POLICY_REFUSED"), "%s",
            text);
        daemon_session_alert_lasting(arena->daemon->session, DB_WARNING, "POLICY_REFUSED", about, text);
    }
    slot->passed_over = true;
    return false;
}

void arena_judge_again(struct arena *arena)
{
    arena->due = true;
    arena->due_ms = uv_now(arena->daemon->loop) + AGAIN_MS;
}

void arena_judge(struct arena *arena)
{
    struct daemon *daemon = arena->daemon;
    const struct arena_slot *best = NULL;
    const struct arena_row *against = NULL;
    struct arena_evidence found = {0};
    char reason[ARENA_REASON_MAX];
    for (size_t i = 0; i < arena->n && daemon->config.arena_alpha > 0; i++) {
        struct arena_slot *slot = &arena->slots[i];
        if (!challenges(&slot->row))
            continue;
        struct arena_evidence evidence = arena_evidence(arena, &slot->row, &against);
        double value = arena_evidence_value(&evidence);
        if (deserves_crown(arena, slot, against, &evidence) && can_be_crowned(arena, slot, value) &&
            (!best || value > arena_evidence_value(&found))) {
            best = slot;
            found = evidence;
        }
    }
    if (!best || daemon->stopping)
        return;
    const char *detail;
    if (!daemon_commands_policies_idle(daemon->commands) ||
        !daemon_session_storage_ok(daemon->session, &detail)) {
        arena_judge_again(arena);
        return;
    }
    snprintf(reason, sizeof reason, "better than %.31s on %d days: e-value %.4g, %.4g is needed",
             against ? against->name : "cash", found.days, arena_evidence_value(&found),
             1 / daemon->config.arena_alpha);
    daemon_commands_crown(daemon->commands, best->row.name, reason);
}

/* ---- room ---- */

static int challengers(const struct arena *arena)
{
    int n = 0;
    for (size_t i = 0; i < arena->n; i++)
        n += challenges(&arena->slots[i].row);
    return n;
}

/* The one with the lowest e-value of those that came by a proposal and can be compared, of several the
 * newest. NULL: there is none. */
static const struct arena_row *worst(const struct arena *arena)
{
    const struct arena_row *found = NULL;
    double lowest = INFINITY;
    for (size_t i = 0; i < arena->n; i++) {
        const struct arena_row *row = &arena->slots[i].row;
        if (!challenges(row) || !came_by_proposal(row) || !can_be_compared(arena, row, arena_champion(arena)))
            continue;
        double value = evidence_value(arena, row);
        if (!found || value < lowest || (value == lowest && row->since_ns > found->since_ns)) {
            found = row;
            lowest = value;
        }
    }
    return found;
}

/* A new one has an e-value of 1. */
static bool has_room(const struct arena *arena, char *why, size_t size)
{
    int most = arena->daemon->config.arena_challengers_max;
    const struct arena_row *last = challengers(arena) >= most && most > 0 ? worst(arena) : NULL;
    if (challengers(arena) < most || (last && evidence_value(arena, last) < 1))
        return true;
    snprintf(why, size, "there is no room: [arena] challengers_max is %d, a person's counted, and %s", most,
             most == 0 ? "no proposal is admitted" : "no challenger of a proposal does badly");
    return false;
}

int arena_slot(const struct arena *arena, const char *study, char ret_name[static ACCOUNT_NAME_MAX],
               char *why, size_t size)
{
    char second[ACCOUNT_NAME_MAX];
    arena_second_name(study, second);
    const char *name = arena_slot_for(study, arena_find(arena, study), second, arena_find(arena, second));
    const struct arena_row *row = name ? arena_find(arena, name) : NULL;
    const char *refused = arena_name_refusal(study);
    int account = name ? engine_find_account(daemon_session_engine(arena->daemon->session), name) : -1;
    bool takes_over =
        row && row->role == DB_POLICY_CHALLENGER && arena->daemon->config.arena_challengers_max > 0;
    if (refused)
        snprintf(why, size, "%.31s: %s", study, refused);
    else if (!name)
        snprintf(
            why, size,
            "%.31s and %s are the champion's, or a person's, or another study's, which no proposal takes "
            "over: the study needs another name",
            study, second);
    else if (arena_configured(arena, name) || (!row && account >= 0))
        snprintf(why, size, "there is an account %s, which is not the arena's: the study needs another name",
                 name);
    else if (takes_over || has_room(arena, why, size)) {
        snprintf(ret_name, ACCOUNT_NAME_MAX, "%s", name);
        return 0;
    }
    return -EBUSY;
}

/* ---- the time ---- */

/* Why it is to be retired; false: it is not. */
static bool has_ended(const struct arena *arena, const struct arena_row *row, int64_t now_ns, char *reason,
                      size_t size)
{
    const struct engine *engine = daemon_session_engine(arena->daemon->session);
    int account = engine_find_account(engine, row->account);
    if (row->role == DB_POLICY_RETIRED)
        return false;
    if (row->expires_ns > 0 && now_ns >= row->expires_ns) {
        snprintf(reason, size, "expired");
        return true;
    }
    if (!came_by_proposal(row) || account < 0 || engine_account(engine, account)->killed_ns == 0)
        return false;
    snprintf(reason, size, "its account was closed by its limit of drawdown");
    return true;
}

static void retire_one(struct arena *arena)
{
    struct daemon *daemon = arena->daemon;
    int64_t now_ns = daemon_session_now(daemon->session);
    char reason[ARENA_REASON_MAX];
    for (size_t i = 0; i < arena->n; i++)
        if (has_ended(arena, &arena->slots[i].row, now_ns, reason, sizeof reason)) {
            daemon_commands_retire(daemon->commands, arena->slots[i].row.name, reason);
            return;
        }
    int most = daemon->config.arena_challengers_max;
    const struct arena_row *last = arena->until > 0 && challengers(arena) > most ? worst(arena) : NULL;
    if (!last)
        return;
    snprintf(reason, sizeof reason,
             "the last of %d challengers: e-value %.4g, and [arena] challengers_max is %d",
             challengers(arena), evidence_value(arena, last), most);
    daemon_commands_retire(daemon->commands, last->name, reason);
}

void arena_tick(uv_timer_t *timer)
{
    struct arena *arena = timer->data;
    struct daemon *daemon = arena->daemon;
    struct db_writer *writer = daemon_session_writer(daemon->session);
    const char *detail;
    if (daemon->stopping || !daemon_session_started(daemon->session) ||
        !daemon_session_storage_ok(daemon->session, &detail))
        return;
    int64_t day = daemon_session_now(daemon->session) / ARENA_DAY_NS;
    if (day != arena->day && !arena->due) { /* one after the other: days may be short */
        arena->day = day;
        arena->due = true;
        arena->ticket = db_writer_last(writer);
    }
    if (arena->due && uv_now(daemon->loop) >= arena->due_ms && db_writer_committed(writer) >= arena->ticket &&
        arena_read_records(arena, true))
        arena->due = false;
    if (!daemon_commands_policies_idle(daemon->commands))
        return;
    retire_one(arena);
    if (arena->until > 0)
        daemon_commands_propose_go(daemon->commands);
}

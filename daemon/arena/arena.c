#include "daemon/arena/arena.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/arena/file.h"
#include "daemon/arena/internal.h"
#include "daemon/arena/row.h"
#include "daemon/config_keys.h"
#include "daemon/log.h"
#include "daemon/policies.h"
#include "engine/event.h"

enum { TICK_MS = 250 };

struct arena *arena_create(struct daemon *daemon)
{
    struct arena *arena = calloc(1, sizeof *arena);
    if (!arena)
        return NULL;
    arena->daemon = daemon;
    uv_timer_init(daemon->loop, &arena->tick);
    arena->tick.data = arena;
    uv_timer_start(&arena->tick, arena_tick, TICK_MS, TICK_MS);
    return arena;
}

static void freed(uv_handle_t *handle)
{
    free(handle->data);
}

void arena_destroy(struct arena *arena)
{
    if (!arena)
        return;
    arena_records_finish(arena);
    for (size_t i = 0; i < arena->n; i++)
        free(arena->slots[i].refused);
    free(arena->slots);
    uv_close((uv_handle_t *)&arena->tick, freed);
}

enum { REFUSAL_MAX = 160 };

/* ---- the table ---- */

static struct arena_slot *slot_of(const struct arena *arena, const char *name)
{
    for (size_t i = 0; i < arena->n; i++)
        if (strcmp(arena->slots[i].row.name, name) == 0)
            return &arena->slots[i];
    return NULL;
}

static void let_trade(struct arena_slot *slot)
{
    free(slot->refused);
    slot->refused = NULL;
}

/* Adds its row to the table; false without memory. */
static bool hold(struct arena *arena, const struct arena_row *row)
{
    struct arena_slot *slot = slot_of(arena, row->name);
    if (slot) {
        slot->row = *row;
        arena_not_passed_over(arena, slot);
        if (slot->refused) {
            char about[REFUSAL_MAX];
            snprintf(about, sizeof about, "policy %s does not trade", row->name);
            daemon_session_alert_over(arena->daemon->session, "POLICY_REFUSED", about);
        }
        let_trade(slot);
        return true;
    }
    struct arena_slot *more = reallocarray(arena->slots, arena->n + 1, sizeof *more);
    if (!more)
        return false;
    arena->slots = more;
    size_t at = arena->n++;
    while (at > 0 && strcmp(more[at - 1].row.name, row->name) > 0) {
        more[at] = more[at - 1];
        at--;
    }
    more[at] = (struct arena_slot){.row = *row};
    return true;
}

static void take_row(void *ctx, const struct db_policy *stored)
{
    struct arena *arena = ctx;
    struct arena_row row;
    if (arena_row_of(stored, &row) < 0 || !hold(arena, &row))
        daemon_log_error("policies: the row of %.31s cannot be taken", stored->name);
}

void arena_remember(struct arena *arena, struct db_reader *reader)
{
    if (db_reader_policies(reader, take_row, arena) < 0)
        daemon_log_error("policies: %s", db_reader_error(reader));
}

void arena_put(struct arena *arena, const struct arena_row *row)
{
    struct db_policy stored;
    arena_row_stored(row, &stored);
    db_writer_put_policy(daemon_session_writer(arena->daemon->session), &stored);
    if (!hold(arena, row))
        daemon_log_error("policies: %s: out of memory: it is known again after a restart", row->name);
}

void arena_redone(struct arena *arena, const struct event_command *command, enum order_reason reason)
{
    json_t *args = command->args ? json_loads(command->args, 0, NULL) : NULL;
    const json_t *rows = json_object_get(args, ARENA_ROWS);
    struct arena_row row;
    for (size_t i = 0; reason == ORDER_OK && i < json_array_size(rows); i++)
        if (arena_row_parse(json_array_get(rows, i), &row) == 0)
            arena_put(arena, &row);
    json_decref(args);
}

const struct arena_row *arena_find(const struct arena *arena, const char *name)
{
    const struct arena_slot *slot = slot_of(arena, name);
    return slot ? &slot->row : NULL;
}

const struct arena_row *arena_champion(const struct arena *arena)
{
    for (size_t i = 0; i < arena->n; i++)
        if (arena->slots[i].row.role == DB_POLICY_CHAMPION)
            return &arena->slots[i].row;
    return NULL;
}

const char *arena_refused(const struct arena *arena, const char *name)
{
    const struct arena_slot *slot = slot_of(arena, name);
    return slot ? slot->refused : NULL;
}

bool arena_has_account(const struct arena *arena, const char *account)
{
    if (strcmp(account, ARENA_CHAMPION) == 0)
        return true;
    for (size_t i = 0; i < arena->n; i++)
        if (strcmp(arena->slots[i].row.account, account) == 0)
            return true;
    return false;
}

/* ---- policies ---- */

const struct policy *arena_policy(const struct arena *arena, const uint8_t id[static POLICY_ID_SIZE])
{
    struct policies kept = daemon_policy_set_find(daemon_session_policies(arena->daemon->session));
    return kept.find(kept.ctx, id);
}

const struct policy *arena_take(struct arena *arena, struct arena_file *file)
{
    struct policy *policy = file->policy;
    file->policy = NULL;
    return daemon_policy_set_add(daemon_session_policies(arena->daemon->session), policy);
}

static bool trades(void *ctx, const struct policy *policy)
{
    const struct engine *engine = ctx;
    for (int a = 0; a < engine_accounts(engine); a++)
        if (engine_account_spec(engine, a)->policy == policy)
            return true;
    return false;
}

void arena_tidy(struct arena *arena)
{
    const struct engine *engine = daemon_session_engine(arena->daemon->session);
    if (engine)
        daemon_policy_set_drop(daemon_session_policies(arena->daemon->session), trades, (void *)engine);
}

/* ---- accounts ---- */

bool arena_configured(const struct arena *arena, const char *account)
{
    const struct daemon_config *config = &arena->daemon->config;
    for (int i = 0; i < config->n_accounts; i++)
        if (strcmp(config->accounts[i].name, account) == 0)
            return true;
    return false;
}

/* ---- after a restart ---- */

static const struct arena_row *row_of_account(const struct arena *arena, const char *account)
{
    if (strcmp(account, ARENA_CHAMPION) == 0)
        return arena_champion(arena);
    for (size_t i = 0; i < arena->n; i++)
        if (strcmp(arena->slots[i].row.account, account) == 0)
            return &arena->slots[i].row;
    return NULL;
}

const char *arena_policy_of_account(const struct arena *arena, const char *account)
{
    const struct arena_row *row = row_of_account(arena, account);
    return row ? row->name : NULL;
}

/* What the alert begins with. */
static void refusal_of(const struct arena_row *row, const char *account, char ret[static REFUSAL_MAX])
{
    snprintf(ret, REFUSAL_MAX, "policy %s does not trade on account %s", row->name, account);
}

static void refuse(struct arena *arena, const struct arena_row *row, const char *account, const char *why)
{
    char text[ARENA_ERROR_MAX + REFUSAL_MAX], about[REFUSAL_MAX];
    struct arena_slot *slot = slot_of(arena, row->name);
    refusal_of(row, account, about);
    snprintf(text, sizeof text, "%s: %s", about, why);
    daemon_log_event_at(LOG_LEVEL_ERROR, LOG_POLICY_REFUSED,
                        LOG_OF(.policy = row->name, .account = account, .alert = "POLICY_REFUSED"), "%s",
                        text);
    daemon_session_alert_lasting(arena->daemon->session, DB_ERROR, "POLICY_REFUSED", about, text);
    let_trade(slot);
    slot->refused = strdup(why);
}

/* The policy that should trade on the account: NULL for none, or because it is refused. */
static const struct policy *wanted(struct arena *arena, const struct arena_row *row,
                                   const struct account *account)
{
    const struct engine *engine = daemon_session_engine(arena->daemon->session);
    char why[ARENA_ERROR_MAX], id[POLICY_ID_TEXT];
    if (!row || row->role == DB_POLICY_RETIRED)
        return NULL;
    const struct policy *policy = arena_policy(arena, row->id);
    if (!policy) {
        policy_id_text(row->id, id);
        snprintf(why, sizeof why, "%.400s/%s is not there, or not whole: promote it again with args.path",
                 arena->daemon->state.policies, id);
        refuse(arena, row, account->name, why);
        return NULL;
    }
    struct symbol *symbols = arena_symbols(engine);
    const char *refused = !symbols ? "out of memory"
                                   : arena_refusal(policy, account->currency, symbols, engine_symbols(engine),
                                                   arena->daemon->config.interval_ns,
                                                   daemon_config_extended(&arena->daemon->config), why);
    free(symbols);
    if (refused) {
        refuse(arena, row, account->name, refused);
    } else {
        char about[REFUSAL_MAX];
        refusal_of(row, account->name, about);
        daemon_session_alert_over(arena->daemon->session, "POLICY_REFUSED", about);
    }
    return refused ? NULL : policy;
}

static void bring_in_line(struct arena *arena, int index)
{
    struct session *session = arena->daemon->session;
    const struct engine *engine = daemon_session_engine(session);
    const struct account *account = engine_account(engine, index);
    const struct arena_row *row = row_of_account(arena, account->name);
    const struct policy *now = engine_account_spec(engine, index)->policy;
    const struct policy *then = wanted(arena, row, account);
    if (now == then || (now && then && memcmp(now->id, then->id, POLICY_ID_SIZE) == 0))
        return;
    bool retired = !row || row->role == DB_POLICY_RETIRED;
    struct event event = {.kind = EVENT_COMMAND, .command.kind = COMMAND_ACCOUNT_POLICY};
    event.command.policy.account = index;
    event.command.policy.policy = then;
    event.command.policy.close = retired;
    daemon_log_event(LOG_POLICY, LOG_OF(.policy = row ? row->name : NULL, .account = account->name),
                     "account %s: %s", account->name,
                     then ? "its policy trades again" : "no policy trades on it");
    daemon_session_event(session, &event);
}

void arena_started(struct arena *arena)
{
    const struct engine *engine = daemon_session_engine(arena->daemon->session);
    for (int a = 0; a < engine_accounts(engine); a++) {
        const char *name = engine_account(engine, a)->name;
        const struct arena_row *row = row_of_account(arena, name);
        if (!arena_has_account(arena, name))
            continue;
        if (!arena_configured(arena, name))
            bring_in_line(arena, a);
        else if (row && row->role != DB_POLICY_RETIRED)
            refuse(arena, row, name, "the configuration has an account of that name");
    }
}

/* Policies as the status reports them. */
#include <math.h>
#include <string.h>

#include "daemon/arena/internal.h"
#include "daemon/list.h"
#include "daemon/policies.h"
#include "daemon/status.h"
#include "daemon/status_internal.h"
#include "exchange/bar.h"
#include "record/json.h"
#include "record/status.h"
#include "strategy/policy/device.h"
#include "strategy/policy/limit_keys.h"
#include "strategy/policy/limit_rules.h"

/* A policy as it is shown: from a row of the table, or from an account of the configuration. */
struct shown {
    const char *name, *role, *account, *training, *path, *reason, *refused;
    const uint8_t *id;
    const struct policy *policy; /* NULL: it is not in memory */
    const struct arena_row *row; /* NULL: of the configuration */
    int64_t since_ns;            /* 0: not known */
    bool retired;
};

static int64_t trades_of(const struct engine *engine, int account)
{
    int64_t n = 0;
    for (int s = 0; s < engine_symbols(engine); s++) {
        const struct strategy_record *record = engine_record(engine, account, s);
        n += record->wins + record->losses;
    }
    return n;
}

static const char *state_of(const struct engine *engine, int account, const struct shown *shown,
                            const struct engine_policy_view *view)
{
    if (shown->retired)
        return "retired";
    if (shown->refused)
        return "refused";
    if (account >= 0 && engine_account(engine, account)->killed_ns != 0)
        return "killed";
    return account >= 0 && view->acting ? "trading" : "warming";
}

static const char *detail_of(const struct shown *shown, const struct engine_policy_view *view)
{
    static const char holds[] = "holds a position: stops, limits and the exit before the close are kept";
    return shown->refused ? shown->refused : view->holds_warming && !shown->retired ? holds : NULL;
}

static json_t *actions_object(const struct engine *engine, const struct engine_policy_view *view)
{
    json_t *actions = json_object();
    for (int i = 0; i < view->n; i++)
        json_object_set_new(actions, engine_symbol(engine, view->symbols[i])->name,
                            record_json_real((double)view->actions[i]));
    return actions;
}

RECORD_VIEW_OBJECT(policy_object, policy_view, RECORD_SHOWN_POLICY);
RECORD_VIEW_OBJECT(policy_now_object, policy_now_view, RECORD_SHOWN_POLICY_NOW);
RECORD_VIEW_OBJECT(evidence_view_object, evidence_view, RECORD_SHOWN_EVIDENCE);

/* Adds what it does now to the object. */
static void add_account(struct arena *arena, const struct shown *shown, json_t *object)
{
    const struct engine *engine = daemon_session_engine(arena->daemon->session);
    int account = engine ? engine_find_account(engine, shown->account) : -1;
    struct engine_policy_view view = {0};
    json_t *of = account >= 0 ? daemon_status_account(engine, account) : NULL;
    const json_t *equity = json_object_get(of, "equity"), *returned = json_object_get(of, "return_pct");
    if (account >= 0)
        engine_policy_view(engine, account, &view);
    const struct policy_now_view now = {
        .backend = shown->policy ? policy_backend(shown->policy) : "",
        .interval = shown->policy ? bar_interval_name(shown->policy->interval_ns) : "",
        .state = engine ? state_of(engine, account, shown, &view) : "",
        .detail = detail_of(shown, &view),
        .verdict = shown->policy ? shown->policy->verdict : NULL,
        .verdict_text = shown->policy ? shown->policy->verdict_text : NULL,
        .equity = decimal_json_value(equity),
        .return_pct = json_is_real(returned) ? json_real_value(returned) : NAN,
        .trades = account >= 0 ? trades_of(engine, account) : -1,
        .sharpe = arena_sharpe(arena, shown->account),
        .decided_ns = view.decided_ns > 0 ? view.decided_ns : 0,
    };
    json_t *members = policy_now_object(&now);
    json_object_update(object, members);
    json_object_set_new(object, "actions", actions_object(engine, &view));
    json_decref(members);
    json_decref(of);
}

/* The evidence of its days for a crown; null where it cannot be crowned. */
static json_t *evidence_object(const struct arena *arena, const struct arena_row *row)
{
    const struct daemon_config *config = &arena->daemon->config;
    const struct arena_row *against;
    if (!row || row->role != DB_POLICY_CHALLENGER || !daemon_session_engine(arena->daemon->session))
        return json_null();
    struct arena_evidence evidence = arena_evidence(arena, row, &against);
    const struct evidence_view view = {
        .against = against ? against->name : "cash",
        .days = evidence.days,
        .days_needed = config->arena_champion_days,
        .value = arena_evidence_value(&evidence),
        .value_needed = config->arena_alpha > 0 ? 1 / config->arena_alpha : NAN,
    };
    return evidence_view_object(&view);
}

static json_t *shown_object(struct arena *arena, const struct shown *shown)
{
    char id[POLICY_ID_TEXT], limits[POLICY_LIMITS_TEXT_MAX] = "";
    policy_id_text(shown->id, id);
    if (shown->policy && policy_has_limits(&shown->policy->rules.limits))
        policy_limits_text(&shown->policy->rules.limits, limits);
    const struct policy_view view = {
        .policy = shown->name,
        .role = shown->role,
        .account = shown->account,
        .id = id,
        .training = shown->training,
        .path = shown->path,
        .since_ns = shown->since_ns,
        .reason = shown->reason,
        .proposal = shown->row ? shown->row->proposal : "",
        .expires_ns = shown->row && shown->row->expires_ns > 0 ? shown->row->expires_ns : 0,
        .limits = limits,
    };
    json_t *object = policy_object(&view);
    json_object_set_new(object, "evidence", evidence_object(arena, shown->row));
    add_account(arena, shown, object);
    return object;
}

/* The policy that an account trades by; it is in memory then. */
static const struct policy *trading_on(const struct arena *arena, const char *account)
{
    const struct engine *engine = daemon_session_engine(arena->daemon->session);
    int a = engine ? engine_find_account(engine, account) : -1;
    return a >= 0 ? engine_account_spec(engine, a)->policy : NULL;
}

static json_t *row_object(struct arena *arena, const struct arena_slot *slot)
{
    const struct arena_row *row = &slot->row;
    const struct shown shown = {.name = row->name,
                                .role = db_policy_role_name(row->role),
                                .account = row->account,
                                .training = row->training,
                                .path = row->path,
                                .reason = row->reason,
                                .refused = slot->refused,
                                .id = row->id,
                                .policy = trading_on(arena, row->account),
                                .since_ns = row->since_ns,
                                .row = row,
                                .retired = row->role == DB_POLICY_RETIRED};
    return shown_object(arena, &shown);
}

static json_t *configured_object(struct arena *arena, const struct account_config *account)
{
    const struct policy *policy =
        daemon_policy_set_of(daemon_session_policies(arena->daemon->session), account->name);
    const struct shown shown = {.name = account->name,
                                .role = "configured",
                                .account = account->name,
                                .path = account->policy,
                                .reason = "",
                                .id = policy->id,
                                .policy = policy};
    return shown_object(arena, &shown);
}

json_t *arena_object(struct arena *arena, const char *name)
{
    const struct daemon_config *config = &arena->daemon->config;
    for (int i = 0; i < config->n_accounts; i++)
        if (config->accounts[i].policy[0] && strcmp(config->accounts[i].name, name) == 0)
            return configured_object(arena, &config->accounts[i]);
    for (size_t i = 0; i < arena->n; i++)
        if (strcmp(arena->slots[i].row.name, name) == 0)
            return row_object(arena, &arena->slots[i]);
    return NULL;
}

/* Steals the object, while there is room. */
static bool put(json_t *list, json_t *object, size_t max, size_t *bytes)
{
    if (json_array_size(list) < max && list_fits(object, bytes))
        return json_array_append_new(list, object) == 0;
    json_decref(object);
    return false;
}

static bool put_role(struct arena *arena, enum db_policy_role role, json_t *list, size_t max, size_t *bytes)
{
    for (size_t i = 0; i < arena->n; i++)
        if (arena->slots[i].row.role == role && !put(list, row_object(arena, &arena->slots[i]), max, bytes))
            return false;
    return true;
}

json_t *arena_list(struct arena *arena, size_t max)
{
    const struct daemon_config *config = &arena->daemon->config;
    json_t *list = json_array();
    size_t bytes = 0;
    bool room = put_role(arena, DB_POLICY_CHAMPION, list, max, &bytes);
    for (int i = 0; i < config->n_accounts && room; i++)
        if (config->accounts[i].policy[0])
            room = put(list, configured_object(arena, &config->accounts[i]), max, &bytes);
    if (room && put_role(arena, DB_POLICY_CHALLENGER, list, max, &bytes))
        put_role(arena, DB_POLICY_RETIRED, list, max, &bytes);
    return list;
}

size_t arena_total(const struct arena *arena)
{
    const struct daemon_config *config = &arena->daemon->config;
    size_t n = arena->n;
    for (int i = 0; i < config->n_accounts; i++)
        n += config->accounts[i].policy[0] != 0;
    return n;
}

RECORD_VIEW_OBJECT(champion_object, champion_view, RECORD_SHOWN_CHAMPION);

json_t *arena_champion_object(const struct arena *arena)
{
    const struct arena_row *row = arena_champion(arena);
    return row ? champion_object(&(struct champion_view){ARENA_CHAMPION, row->name, row->since_ns})
               : json_null();
}

#include "db/row.h"
#include "strategy/strategy.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const command_states[] = {
    [DB_COMMAND_PENDING] = "pending", [DB_COMMAND_DONE] = "done", [DB_COMMAND_REFUSED] = "refused"};
static const char *const severities[] = {[DB_INFO] = "info", [DB_WARNING] = "warning", [DB_ERROR] = "error"};
static const char *const feed_states[] = {
    [DB_FEED_OK] = "ok",       [DB_FEED_CONNECTING] = "connecting", [DB_FEED_RETRY] = "retry",
    [DB_FEED_STALE] = "stale", [DB_FEED_FAILED] = "failed",         [DB_FEED_CLOSED] = "closed"};
static const char *const revision_kinds[] = {
    [REVISION_CORRECTION] = "correction", [REVISION_CANCEL] = "cancel", [REVISION_BAR] = "bar"};

static const char *const policy_roles[] = {[DB_POLICY_CHALLENGER] = "challenger",
                                           [DB_POLICY_CHAMPION] = "champion",
                                           [DB_POLICY_RETIRED] = "retired"};
const struct record_words db_words_policy_role = {.n = 3, .names = policy_roles};

static int find(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -EINVAL;
}

const char *db_command_state_name(enum db_command_state state)
{
    return command_states[state];
}

const char *db_severity_name(enum db_severity severity)
{
    return severities[severity];
}

const char *db_feed_state_name(enum db_feed_state state)
{
    return feed_states[state];
}

int db_command_state_parse(const char *name)
{
    return find(command_states, sizeof command_states / sizeof *command_states, name);
}

int db_severity_parse(const char *name)
{
    return find(severities, sizeof severities / sizeof *severities, name);
}

int db_feed_state_parse(const char *name)
{
    return find(feed_states, sizeof feed_states / sizeof *feed_states, name);
}

const char *db_revision_name(enum revision_kind kind)
{
    return revision_kinds[kind];
}

int db_revision_parse(const char *name)
{
    return find(revision_kinds, sizeof revision_kinds / sizeof *revision_kinds, name);
}

void db_revision_of(const struct engine_revision *revision, uint64_t input_seq, struct db_revision *ret)
{
    *ret = (struct db_revision){
        .kind = revision->kind,
        .source = revision->source,
        .symbol = revision->symbol,
        .applied = revision->applied,
        .has_old = revision->old != NULL,
        .has_now = revision->now != NULL,
        .ts_ns = revision->ts_ns,
        .at_ns = revision->at_ns,
        .correction = {.id = -1, .new_id = -1},
        .input_seq = input_seq,
    };
    if (revision->correction)
        ret->correction = *revision->correction;
    if (revision->old)
        ret->old = *revision->old;
    if (revision->now)
        ret->now = *revision->now;
}

const char *db_policy_role_name(enum db_policy_role role)
{
    return policy_roles[role];
}

bool db_policy_trades_for(const struct db_policy *policy, const char *account)
{
    if (policy->role == DB_POLICY_RETIRED)
        return false;
    return strcmp(policy->account, account) == 0 ||
           (policy->role == DB_POLICY_CHAMPION && strcmp(account, DB_CHAMPION_ACCOUNT) == 0);
}

int db_policy_role_parse(const char *name)
{
    return find(policy_roles, sizeof policy_roles / sizeof *policy_roles, name);
}

void db_account_of(int number, const struct account_spec *spec, int64_t created_ns, struct db_account *ret)
{
    *ret = (struct db_account){
        .number = number,
        .currency_scale = spec->currency_scale,
        .created_ns = created_ns,
        .cash = spec->cash,
        .rules = spec->rules,
    };
    memcpy(ret->name, spec->name, sizeof ret->name);
    memcpy(ret->currency, spec->currency, sizeof ret->currency);
    if (!spec->strategy)
        return;
    snprintf(ret->strategy, sizeof ret->strategy, "%s", spec->strategy->name);
    memcpy(ret->params, spec->params, spec->strategy->n_params * sizeof *ret->params);
}

int db_account_spec(const struct db_account *account, struct account_spec *ret)
{
    const struct strategy *strategy = strategy_find(account->strategy);
    if (account->strategy[0] && !strategy)
        return -ENOENT;
    *ret = (struct account_spec){
        .currency_scale = account->currency_scale,
        .cash = account->cash,
        .rules = account->rules,
        .strategy = strategy,
    };
    memcpy(ret->name, account->name, sizeof ret->name);
    memcpy(ret->currency, account->currency, sizeof ret->currency);
    memcpy(ret->params, account->params, sizeof ret->params);
    return 0;
}

bool db_training_name_good(const char *name)
{
    return account_name_good(name) && name[0] != '.';
}

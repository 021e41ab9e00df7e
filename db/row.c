#include "db/row.h"
#include "strategy/strategy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const command_states[] = {
    [DB_COMMAND_PENDING] = "pending", [DB_COMMAND_DONE] = "done", [DB_COMMAND_REFUSED] = "refused"};
static const char *const severities[] = {[DB_INFO] = "info", [DB_WARNING] = "warning", [DB_ERROR] = "error"};
static const char *const feed_states[] = {
    [DB_FEED_OK] = "ok",       [DB_FEED_CONNECTING] = "connecting", [DB_FEED_RETRY] = "retry",
    [DB_FEED_STALE] = "stale", [DB_FEED_FAILED] = "failed",         [DB_FEED_CLOSED] = "closed"};
static const char *const terms_whys[DB_TERMS_WHYS] = {
    [DB_TERMS_CONFIGURED] = "configured", [DB_TERMS_KNOWN] = "known",   [DB_TERMS_OPENED] = "opened",
    [DB_TERMS_COMMAND] = "command",       [DB_TERMS_POLICY] = "policy", [DB_TERMS_VOLUME] = "volume",
    [DB_TERMS_RESET] = "reset",           [DB_TERMS_VENUE] = "venue",   [DB_TERMS_CLOSED] = "closed",
};
static const char *const run_states[] = {
    [DB_RUN_RUNNING] = "running", [DB_RUN_STOPPED] = "stopped", [DB_RUN_KILLED] = "killed"};
static const char *const log_notes[] = {
    [DB_LOG_BEGAN] = "began", [DB_LOG_REMOVED] = "removed", [DB_LOG_MISSING] = "missing"};
static const char *const revision_kinds[] = {
    [REVISION_CORRECTION] = "correction", [REVISION_CANCEL] = "cancel", [REVISION_BAR] = "bar"};

static const char *const policy_roles[] = {[DB_POLICY_CHALLENGER] = "challenger",
                                           [DB_POLICY_CHAMPION] = "champion",
                                           [DB_POLICY_RETIRED] = "retired"};
static const char *const bar_sources[] = {[BAR_VENUE] = "venue", [BAR_TRADES] = "trades"};
static const char *const action_kinds[] = {[ACTION_SPLIT] = "split", [ACTION_DIVIDEND] = "dividend"};

static const char *const statistics[] = {
    [DB_SAMPLE] = "sample", [DB_MIN] = "min", [DB_MEAN] = "mean", [DB_MAX] = "max"};

static const char *phase_name(int phase)
{
    return market_phase_name((enum market_phase)phase);
}

#define WORDS(table) \
    { \
        .n = sizeof table / sizeof *table, .names = table \
    }
const struct record_words db_words_asset_class = {.n = ASSET_CLASSES, .names = symbol_asset_names},
                          db_words_symbol_says = {.n = SYMBOL_SAYINGS, .names = symbol_says_names};
const struct record_words db_words_policy_role = WORDS(policy_roles), db_words_severity = WORDS(severities),
                          db_words_command_state = WORDS(command_states),
                          db_words_feed_state = WORDS(feed_states),
                          db_words_revision_kind = WORDS(revision_kinds),
                          db_words_bar_source = WORDS(bar_sources),
                          db_words_bar_session = {.n = BAR_SESSIONS, .names = bar_session_names},
                          db_words_action_kind = WORDS(action_kinds), db_words_statistic = WORDS(statistics),
                          db_words_market_phase = {.n = MARKET_PHASES, .name = phase_name},
                          db_words_run_state = WORDS(run_states), db_words_log_note = WORDS(log_notes),
                          db_words_terms_why = WORDS(terms_whys);

#define NAME(of, what, names) \
    const char *db_##of##_name(enum what value) \
    { \
        return names[value]; \
    }
NAME(command_state, db_command_state, command_states)
NAME(severity, db_severity, severities)
NAME(policy_role, db_policy_role, policy_roles)
NAME(revision, revision_kind, revision_kinds)

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

bool db_policy_trades_for(const struct db_policy *policy, const char *account)
{
    if (policy->role == DB_POLICY_RETIRED)
        return false;
    return strcmp(policy->account, account) == 0 ||
           (policy->role == DB_POLICY_CHAMPION && strcmp(account, DB_CHAMPION_ACCOUNT) == 0);
}

void db_account_of(int number, const struct account_spec *spec, int64_t created_ns, struct db_account *ret)
{
    *ret = (struct db_account){
        .number = number,
        .currency_scale = spec->currency_scale,
        .created_ns = created_ns,
        .cash = spec->cash,
        .rules = spec->rules,
        .session = spec->session,
    };
    memcpy(ret->name, spec->name, sizeof ret->name);
    memcpy(ret->currency, spec->currency, sizeof ret->currency);
    ret->change.uid = -1;
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
        .session = account->session,
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

void db_device_of(const struct device_sample *sample, int64_t ts_ns, struct db_device *ret,
                  struct db_device_sample *ret_sample)
{
    *ret = (struct db_device){.device = sample->device,
                              .name = sample->name,
                              .driver = sample->driver,
                              .profile = sample->profile,
                              .reason = "",
                              .processes_known = sample->processes_known,
                              .first_ns = ts_ns,
                              .last_ns = ts_ns};
    *ret_sample = (struct db_device_sample){
        .device = sample->device, .ts_ns = ts_ns, .n = 1, .statistic = DB_SAMPLE, .figures = sample->figures};
}

void db_process_of(const struct process_sample *sample, int64_t ts_ns, struct db_process *ret,
                   struct db_process_sample *ret_sample)
{
#define FIGURE(name) .figures.name = sample->name,
    *ret = (struct db_process){sample->role, sample->pid, ts_ns, ts_ns};
    *ret_sample = (struct db_process_sample){
        .role = sample->role, .ts_ns = ts_ns, .n = 1, .statistic = DB_SAMPLE, RECORD_PROCESS_FIGURES(FIGURE)};
}

double db_throttled_most(const struct device_figures *figures)
{
    return fmax(fmax(figures->throttle_power, figures->throttle_thermal), figures->throttle_hardware);
}

/* How a session starts: from the event log or the database, the venue's symbols and this run's
 * configuration. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "daemon/log.h"
#include "daemon/session_internal.h"
#include "engine/state.h"
#include "exchange/fail.h"
#include "exchange/fill_rules.h"
#include "strategy/external.h"

enum { REPUT_TIMEOUT_MS = 60000 };

/* The configuration does not know the currency's decimals, and with them the largest balance. */
static int take_cash(const struct account_config *wanted, struct account_spec *ret, char *err,
                     size_t err_size)
{
    char most[DECIMAL_TEXT_MAX];
    int r = decimal_parse_str(wanted->cash, ret->currency_scale, &ret->cash);
    if (r == 0 && ret->cash <= FILL_MONEY_MAX)
        return 0;
    decimal_format_short(FILL_MONEY_MAX, ret->currency_scale, most);
    if (r == 0 || r == -ERANGE)
        return fail_with(-ERANGE, err, err_size,
                         "account %s: cash %s: the largest balance in %s, which has %d decimals, is %s",
                         wanted->name, wanted->cash, wanted->currency, ret->currency_scale, most);
    return fail_with(r, err, err_size, "account %s: cash %s: %s has %d decimals", wanted->name, wanted->cash,
                     wanted->currency, ret->currency_scale);
}

/* Rounds by the venue's own filters, which are known by now. */
static int take_policy(const struct session *session, const struct account_config *wanted,
                       const struct policy *policy, struct account_spec *account, char *err, size_t err_size)
{
    char why[POLICY_ERROR_MAX];
    int r = wanted->own_cash ? take_cash(wanted, account, err, err_size) : 0;
    if (r < 0)
        return r;
    r = daemon_policy_set_account(policy, wanted, account);
    if (r < 0)
        return fail_with(r, err, err_size, "account %s: cash: %s has %d decimals", wanted->name,
                         wanted->currency, account->currency_scale);
    if (!daemon_policy_refusal(policy, wanted->currency, session->symbols, session->n_symbols,
                               session->config->interval_ns, daemon_config_extended(session->config), why))
        return 0;
    return fail_with(-EINVAL, err, err_size, "account %s: policy: %.200s: %.400s", wanted->name,
                     wanted->policy, why);
}

/* An account of the configuration, in the units of the symbols. */
static int take_account(const struct session *session, const struct account_config *wanted, int scale,
                        struct account_spec *ret, char *err, size_t err_size)
{
    *ret = (struct account_spec){.currency_scale = scale,
                                 .rules = daemon_config_rules(session->config, wanted),
                                 .session = wanted->session,
                                 .strategy = wanted->strategy};
    memcpy(ret->name, wanted->name, sizeof ret->name);
    memcpy(ret->currency, wanted->currency, sizeof ret->currency);
    memcpy(ret->params, wanted->params, sizeof ret->params);
    const struct policy *policy = daemon_policy_set_of(session->policies, wanted->name);
    if (policy)
        return take_policy(session, wanted, policy, ret, err, err_size);
    return take_cash(wanted, ret, err, err_size);
}

/* A closed account stays as it is: what the configuration says of it has no effect. */
static bool is_closed(const struct session *session, const struct db_recovered *recovery, int account)
{
    int64_t closed_ns = session->engine                  ? account < engine_accounts(session->engine)
                                                               ? engine_account(session->engine, account)->closed_ns
                                                               : 0
                        : account < recovery->n_accounts ? recovery->accounts[account].account.closed_ns
                                                         : 0;
    return closed_ns != 0;
}

/* The accounts that there are to be: those that there were, by their numbers, then new ones of the
 * configuration. What the configuration says of an account wins over what was kept of it. */
static int plan_accounts(const struct session *session, const struct db_recovered *recovery,
                         struct account_spec *accounts, int n, char *err, size_t err_size)
{
    for (int c = 0; c < session->config->n_accounts; c++) {
        const struct account_config *wanted = &session->config->accounts[c];
        int at = 0, scale = 8;
        while (at < n && strcmp(accounts[at].name, wanted->name) != 0)
            at++;
        if (at < n && is_closed(session, recovery, at)) {
            daemon_log_warning("account %s is closed: [account %s] has no effect, and may be left out",
                               wanted->name, wanted->name);
            continue;
        }
        if (at < n && strcmp(accounts[at].currency, wanted->currency) != 0)
            return fail_with(
                -EINVAL, err, err_size,
                "account %s: its ledger is in %s, the configuration says %s: give it another name",
                wanted->name, accounts[at].currency, wanted->currency);
        if (at < n && !daemon_config_execution_kept(wanted, accounts[at].rules.execution, err, err_size))
            return -EINVAL;
        if (at == ACCOUNTS_MAX)
            return fail_with(-ENOSPC, err, err_size,
                             "account %s: there are %d accounts already, the most there can be", wanted->name,
                             ACCOUNTS_MAX);
        for (int s = 0; s < session->n_symbols; s++)
            if (strcmp(session->symbols[s].quote, wanted->currency) == 0)
                scale = session->symbols[s].quote_scale;
        if (at < n)
            scale = accounts[at].currency_scale;
        int r = daemon_session_check_units(session, wanted->name, wanted->currency, scale, err, err_size);
        if (r == 0)
            r = take_account(session, wanted, scale, &accounts[at], err, err_size);
        if (r < 0)
            return r;
        n += at == n;
    }
    return n;
}

static struct engine_config engine_config(const struct session *session, const struct account_spec *accounts,
                                          int n)
{
    return (struct engine_config){
        .symbols = session->symbols,
        .n_symbols = session->n_symbols,
        .accounts = accounts,
        .n_accounts = n,
        .interval_ns = session->config->interval_ns,
        .latency_ns = session->config->latency_ns,
        .policy_wait_ns = session->config->policy_wait_ns,
        .equity_interval_ns = session->config->equity_interval_ns,
        .missed_stops = session->config->missed_stops,
        .fill_model = session->config->fill_model,
        .slippage_e6 = session->config->slippage_e6,
        .beyond = session->config->beyond,
    };
}

/* ---- from the log: its engine, with this run's configuration ---- */

/* An account that is not configured continues without a policy that this configuration does not support. */
static void leave_policies(struct session *session, struct account_spec *accounts, int n)
{
    char why[POLICY_ERROR_MAX], id[POLICY_ID_TEXT], text[DB_ALERT_TEXT_MAX];
    for (int a = 0; a < n; a++) {
        const struct policy *policy = accounts[a].policy;
        if (!policy || policy == daemon_policy_set_of(session->policies, accounts[a].name) ||
            !daemon_policy_refusal(policy, accounts[a].currency, session->symbols, session->n_symbols,
                                   session->config->interval_ns, daemon_config_extended(session->config),
                                   why))
            continue;
        policy_id_text(policy->id, id);
        snprintf(text, sizeof text, "account %s no longer trades by the policy %.12s: %.300s",
                 accounts[a].name, id, why);
        daemon_log_event(
            LOG_POLICY_REFUSED,
            LOG_OF(.account = accounts[a].name, .policy = accounts[a].name, .alert = "POLICY_REFUSED"), "%s",
            text);
        daemon_session_alert(session, DB_ERROR, "POLICY_REFUSED", text);
        accounts[a].policy = NULL;
    }
}

/* What the log describes decides nothing: an account that a command made continues with the file, or the
 * command, as it is now. Without it the account is asked in vain, which an alert says. */
static void open_strategies(struct account_spec *accounts, int n)
{
    char why[SESSION_ERROR_MAX];
    for (int a = 0; a < n; a++) {
        const struct strategy *now;
        if (accounts[a].strategy && accounts[a].strategy->external &&
            strategy_open(accounts[a].strategy->name, &now, why, sizeof why) == 0 &&
            now->n_params == accounts[a].strategy->n_params && !strategy_misfit(now, accounts[a].params) &&
            !strategy_check(now, accounts[a].params))
            accounts[a].strategy = now;
    }
}

static bool is_planned(const struct session *session, const char *name)
{
    int s = 0;
    while (s < session->n_symbols && strcmp(session->symbols[s].name, name) != 0)
        s++;
    return s < session->n_symbols;
}

/* The log is ahead of the database, from which the plan is: a stock may have its new name there already. */
static void follow_names(struct session *session)
{
    for (int old = 0; old < engine_symbols(session->engine); old++) {
        const struct symbol *kept = engine_symbol(session->engine, old);
        for (int s = 0; kept->calendar[0] && s < session->n_symbols; s++)
            if (symbol_renamed(kept, &session->symbols[s]) && !is_planned(session, kept->name)) {
                daemon_session_price_rename(session, session->symbols[s].name, kept->name);
                memcpy(session->symbols[s].name, kept->name, sizeof kept->name);
            }
    }
}

/* Does the configuration have a symbol that the run before had not? */
static bool adds_symbol(const struct session *session)
{
    int s = 0;
    while (s < session->n_symbols && engine_find_symbol(session->engine, session->symbols[s].name) >= 0)
        s++;
    return s < session->n_symbols;
}

/* What runs before the last one realized with a symbol that comes back: it has no position, and its sums
 * continue. */
static int restore_sums(struct session *session, const struct db_recovered *recovery, const bool *known)
{
    int r = 0;
    for (size_t i = 0; i < recovery->n_positions && r == 0; i++) {
        const struct db_recovered_position *position = &recovery->positions[i];
        if (!known[position->symbol])
            r = engine_restore_position(session->engine, position->account, position->symbol,
                                        &position->position);
    }
    for (size_t i = 0; i < recovery->n_actions && r == 0; i++) {
        const struct db_recovered_action *action = &recovery->actions[i];
        if (!known[action->symbol])
            r = engine_restore_action(session->engine, action->symbol, action->id, action->ex_ns);
    }
    return r;
}

static int configure(struct session *session, const struct db_recovered *recovery,
                     struct account_spec *accounts, char *err, size_t err_size)
{
    char reason[ENGINE_ERROR_MAX];
    bool known[SYMBOLS_MAX] = {false};
    int n = engine_accounts(session->engine);
    for (int a = 0; a < n; a++)
        accounts[a] = *engine_account_spec(session->engine, a);
    open_strategies(accounts, n);
    n = plan_accounts(session, recovery, accounts, n, err, err_size);
    if (n < 0)
        return n;
    leave_policies(session, accounts, n);
    struct engine_config config = engine_config(session, accounts, n);
    for (int s = 0; s < session->n_symbols; s++)
        known[s] = engine_find_symbol(session->engine, session->symbols[s].name) >= 0;
    int r = engine_configure(session->engine, &config, reason);
    if (r < 0) {
        snprintf(err, err_size, "%s", reason);
        return r;
    }
    r = restore_sums(session, recovery, known);
    if (r < 0)
        snprintf(err, err_size, "%s: its positions cannot be kept: %s", session->state->database,
                 strerror(-r));
    return r;
}

/* ---- from the database alone ---- */

static int restore_charges(struct engine *engine, const struct db_recovered *recovery)
{
    int r = 0;
    for (size_t i = 0; i < recovery->n_receivables && r == 0; i++)
        r = engine_restore_receivable(engine, recovery->receivables[i].account, &recovery->receivables[i].of);
    for (size_t i = 0; i < recovery->n_volumes; i++)
        engine_restore_volume(engine, recovery->volumes[i].account, recovery->volumes[i].day,
                              recovery->volumes[i].notional);
    for (int a = 0; a < recovery->n_accounts; a++)
        if (recovery->fee_rates[a].id != 0)
            engine_restore_tier(engine, a, &recovery->fee_rates[a].rates);
    engine_restore_charge_ids(engine, recovery->last_receivable, recovery->last_fee_rate);
    return r;
}

static int restore(struct session *session, const struct db_recovered *recovery)
{
    struct engine *engine = session->engine;
    int r = 0;
    for (size_t i = 0; i < recovery->n_balances && r == 0; i++) {
        const struct db_recovered_balance *balance = &recovery->balances[i];
        r = engine_restore_balance(engine, balance->account, balance->asset, balance->scale, balance->total);
        if (r == 0)
            r = engine_restore_borrowed(engine, balance->account, balance->asset, balance->scale,
                                        balance->borrowed);
    }
    for (size_t i = 0; i < recovery->n_positions && r == 0; i++) {
        const struct db_recovered_position *position = &recovery->positions[i];
        r = engine_restore_position(engine, position->account, position->symbol, &position->position);
        if (r == 0)
            r = engine_restore_lots(engine, position->account, position->symbol, &position->lots);
    }
    for (int a = 0; a < recovery->n_accounts; a++)
        engine_restore_at_venue(engine, a, recovery->accounts[a].at_venue);
    for (size_t i = 0; i < recovery->n_orders && r == 0; i++)
        r = engine_restore_order(engine, &recovery->orders[i]);
    for (size_t i = 0; i < recovery->n_actions && r == 0; i++) {
        const struct db_recovered_action *action = &recovery->actions[i];
        r = engine_restore_action(engine, action->symbol, action->id, action->ex_ns);
    }
    for (int a = 0; a < recovery->n_accounts; a++) {
        const struct db_recovered_account *account = &recovery->accounts[a];
        engine_restore_equity(engine, a, account->deposits, account->peak, account->day, account->day_equity);
        engine_restore_day(engine, a, account->point, account->day_base);
        engine_restore_killed(engine, a, account->killed_ns);
        engine_restore_closed(engine, a, account->account.closed_ns);
        engine_restore_interest(engine, a, account->interest_ns);
    }
    engine_restore_ids(engine, recovery->last_order, recovery->last_fill, recovery->last_ledger,
                       recovery->ledger_hash);
    engine_restore_paused(engine, recovery->paused);
    return r == 0 ? restore_charges(engine, recovery) : r;
}

/* The database has it only of an account that is attached. */
static enum execution execution_of(const struct session *session, const struct db_recovered_account *account)
{
    int c = 0;
    if (account->at_venue[0])
        return EXECUTION_VENUE_PAPER;
    while (c < session->config->n_accounts &&
           strcmp(session->config->accounts[c].name, account->spec.name) != 0)
        c++;
    return c < session->config->n_accounts ? session->config->accounts[c].execution : EXECUTION_MODEL;
}

static int make_engine(struct session *session, const struct db_recovered *recovery,
                       struct account_spec *accounts, char *err, size_t err_size)
{
    int n = recovery->n_accounts;
    for (int a = 0; a < n; a++) {
        accounts[a] = recovery->accounts[a].spec;
        accounts[a].rules.execution = execution_of(session, &recovery->accounts[a]);
    }
    n = plan_accounts(session, recovery, accounts, n, err, err_size);
    if (n < 0)
        return n;
    struct engine_config config = engine_config(session, accounts, n);
    struct engine_sink sink = daemon_session_sink(session);
    int r = engine_create(&config, &sink, &session->engine);
    if (r < 0) {
        snprintf(err, err_size, "the engine could not start: %s", strerror(-r));
        return r;
    }
    session->last_order = recovery->last_order;
    r = restore(session, recovery);
    if (r < 0)
        snprintf(err, err_size, "%s: what it holds does not fit this configuration: %s",
                 session->state->database, strerror(-r));
    if (recovery->last_ledger > 0)
        session->recovery.from = "database";
    return r;
}

/* ---- both ---- */

static int read_database(struct session *session, struct db_recovered **ret, char *err, size_t err_size)
{
    char reason[DB_ERROR_MAX] = "";
    struct db_reader *reader = NULL;
    struct db_recovered *recovery = NULL;
    int r = db_reader_open(session->state->database, &reader, reason, sizeof reason);
    if (r == 0)
        r = db_recover(reader, session->symbols, session->n_symbols, &recovery, reason, sizeof reason);
    if (r == 0) {
        r = daemon_session_take_alerts(session, reader);
        if (r < 0)
            snprintf(reason, sizeof reason, "%s", db_reader_error(reader));
    }
    db_reader_close(reader);
    if (r < 0) {
        db_recovered_destroy(recovery);
        snprintf(err, err_size, "%s: %s", session->state->database, reason);
        return r;
    }
    if (recovery->last_command > session->last_command)
        session->last_command = recovery->last_command;
    if (recovery->last_alert > session->alerts.last_id)
        session->alerts.last_id = recovery->last_alert;
    *ret = recovery;
    return 0;
}

static int by_command(const void *a, const void *b)
{
    const struct db_recovered_key *x = a, *y = b;
    return (x->command > y->command) - (x->command < y->command);
}

/* Commands of former runs, before the replay adds newer ones. */
static void keep_commands(struct session *session, const struct db_recovered *recovery)
{
    if (recovery->n_keys > 0)
        qsort(recovery->keys, recovery->n_keys, sizeof *recovery->keys, by_command);
    for (size_t i = 0; i < recovery->n_keys; i++) {
        const struct db_recovered_key *key = &recovery->keys[i];
        struct db_command row = {.id = key->command,
                                 .ts_ns = key->ts_ns,
                                 .peer_uid = key->peer_uid,
                                 .peer_pid = key->peer_pid,
                                 .cmd = key->cmd,
                                 .args = key->args,
                                 .state = key->state,
                                 .result = key->result,
                                 .key = key->key,
                                 .order_id = key->order_id,
                                 .event = key->event};
        daemon_kept_add(&session->kept, &row);
    }
}

/* A database that reads well but contradicts itself is rebuilt as well: once. */
static int read_or_rebuild(struct session *session, struct db_recovered **ret, char *err, size_t err_size)
{
    char why[SESSION_ERROR_MAX], ignored[DB_ERROR_MAX];
    int r = read_database(session, ret, err, err_size);
    if (r != -EBADMSG || session->rebuilt)
        return r;
    snprintf(why, sizeof why, "%s", err);
    db_writer_close(session->writer, 0, ignored, sizeof ignored);
    session->writer = NULL;
    r = daemon_session_rebuild(session, why, false, err, err_size);
    if (r < 0)
        snprintf(err, err_size, "%s", why);
    int opened =
        daemon_session_open_database(session, r < 0 ? ignored : err, r < 0 ? sizeof ignored : err_size);
    r = r < 0 ? r : opened;
    return r == 0 ? read_database(session, ret, err, err_size) : r;
}

static int take_over(struct session *session, struct account_spec *accounts, char *err, size_t err_size)
{
    struct db_recovered *recovery = NULL;
    int r = read_or_rebuild(session, &recovery, err, err_size);
    if (r < 0)
        return r;
    keep_commands(session, recovery);
    int played = r = daemon_session_play_log(session, recovery, err, err_size);
    if (r > 0)
        follow_names(session);
    bool needed = r == 0 || (r > 0 && adds_symbol(session));
    if (needed && session->recovery.again > 0) { /* it holds more by now */
        db_recovered_destroy(recovery);
        recovery = NULL;
        if (db_writer_flush(session->writer, REPUT_TIMEOUT_MS) == -ETIMEDOUT)
            return fail_with(-ETIMEDOUT, err, err_size,
                             "%s: what the event log has beyond it cannot be stored now",
                             session->state->database);
        r = read_database(session, &recovery, err, err_size);
    }
    if (r >= 0 && played > 0) {
        session->recovery.from = "log";
        r = configure(session, recovery, accounts, err, err_size);
    } else if (r == 0) {
        r = make_engine(session, recovery, accounts, err, err_size);
        session->sessions = recovery->sessions;
        session->n_sessions = recovery->n_sessions;
        recovery->sessions = NULL;
    }
    for (size_t i = 0; r >= 0 && i < recovery->n_keys; i++) /* the engine knows their accounts by now */
        session->hooks.command_known(session->hooks.ctx, recovery->keys[i].cmd, recovery->keys[i].args,
                                     recovery->keys[i].result);
    db_recovered_destroy(recovery);
    return r;
}

/* The first moment is not before the last one of the former run. */
static void continue_time(struct session *session, int64_t now_ns)
{
    int64_t last_ns = engine_received(session->engine);
    if (session->recovery.log_ns > last_ns)
        last_ns = session->recovery.log_ns;
    daemon_session_continue_from(session, now_ns > last_ns ? now_ns : last_ns,
                                 now_ns < last_ns ? last_ns - now_ns : 0);
    if (last_ns == 0)
        return;
    session->recovery.away_ns = now_ns > last_ns ? now_ns - last_ns : 0;
    if (now_ns >= last_ns)
        return;
    char text[160];
    snprintf(
        text, sizeof text,
        SESSION_CLOCK_BEHIND "%.3f s behind the last event of the run before: time %s until it has caught up",
        (double)(last_ns - now_ns) / 1e9,
        session->config->clock == CLOCK_WALL ? "continues from there, a little slower," : "stands still");
    daemon_log_event(LOG_CLOCK, LOG_OF(.alert = "clock"), "%s", text);
    daemon_session_alert_lasting(session, DB_WARNING, "clock", SESSION_CLOCK_BEHIND, text);
}

bool daemon_session_quoted(const struct engine *engine, const char *currency, char *ret, size_t size)
{
    bool found = false;
    ret[0] = '\0';
    for (int s = 0; s < engine_symbols(engine); s++) {
        const char *quote = engine_symbol(engine, s)->quote;
        size_t len = strlen(ret);
        int first = 0;
        while (strcmp(engine_symbol(engine, first)->quote, quote) != 0)
            first++;
        if (first == s)
            snprintf(ret + len, size - len, "%s%s", len ? ", " : "", quote);
        found |= strcmp(quote, currency) == 0;
    }
    return found;
}

/* Reports accounts that cannot trade anything. */
static void report_idle_accounts(struct session *session)
{
    char quoted[120], text[DB_ALERT_TEXT_MAX], about[ACCOUNT_NAME_MAX + 24];
    for (int a = 0; a < engine_accounts(session->engine); a++) {
        const struct account *account = engine_account(session->engine, a);
        snprintf(about, sizeof about, "account %s cannot trade: ", account->name);
        if (daemon_session_quoted(session->engine, account->currency, quoted, sizeof quoted)) {
            daemon_session_alert_over(session, "account-currency", about);
            continue;
        }
        snprintf(text, sizeof text, "%sno streamed symbol is quoted in its currency %s; quoted: %s", about,
                 account->currency, quoted);
        daemon_log_event(LOG_ALERT, LOG_OF(.account = account->name, .alert = "account-currency"), "%s",
                         text);
        daemon_session_alert_lasting(session, DB_WARNING, "account-currency", about, text);
    }
}

/* Ends the conditions of the former run; this run raises them again where they still are. Those of the alert
 * rules continue (alert_watch.h). */
static void end_former_conditions(struct session *session)
{
    static const char *const codes[] = {"stale",
                                        "bad-frames",
                                        "book-resync",
                                        "symbol",
                                        "symbol-units",
                                        "gpu",
                                        "indicators-behind",
                                        "indicators",
                                        "POLICY_DEVICE",
                                        "storage",
                                        "venue-refused",
                                        "bars-missing",
                                        "TRAINER_SILENT",
                                        "TRAINER_ABSENT",
                                        "TRAINER_VERSION",
                                        "symbol-limit",
                                        "reload-refused",
                                        "STRATEGY_LATE",
                                        "STRATEGY_INVALID",
                                        "STRATEGY_ENDED",
                                        "STRATEGY_HALTED"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        daemon_session_alert_over_former(session, codes[i]);
    daemon_session_alert_over(session, "NO_LIQUIDITY", ""); /* also of the former run's last events */
    if (session->steady.reported_ns == 0)
        daemon_session_alert_over(session, "clock", SESSION_CLOCK_BEHIND);
}

/* Reports once what was wrong with the log; events that it named and that cannot be read are lost: an
 * error. */
static void report_log(struct session *session)
{
    bool played = strcmp(session->recovery.from, "log") == 0, lost = session->lost_events[0] != '\0';
    char text[sizeof session->trouble + sizeof session->lost_events + 80];
    if (!session->trouble[0])
        return;
    snprintf(text, sizeof text, "%s%s%s", session->trouble, session->lost_events,
             strcmp(session->recovery.from, "database") == 0
                 ? ": the database alone is the truth, and strategies start again"
                 : "");
    daemon_log_event_at(lost ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING, LOG_ALERT, LOG_OF(.alert = "event-log"),
                        "%s", text);
    daemon_session_alert(session, lost ? DB_ERROR : played ? DB_INFO : DB_WARNING, "event-log", text);
}

static void report_recovery(struct session *session)
{
    const struct session_recovery *recovery = &session->recovery;
    if (strcmp(recovery->from, "log") == 0)
        daemon_log_info("event log: %llu events played in %.3f s, %llu of them new to the database",
                        (unsigned long long)recovery->played, (double)recovery->elapsed_ns / 1e9,
                        (unsigned long long)recovery->again);
    if (recovery->log_replaced)
        session->hooks.log_replaced(session->hooks.ctx);
    daemon_session_read_rebuilt(session);
    if (session->rebuilt)
        daemon_session_alert(session, session->lost_money ? DB_ERROR : DB_WARNING, "database-rebuilt",
                             session->rebuilt_words);
    report_log(session);
}

/* The policies of the configuration, for lists while no daemon answers: cli/policy_list.c. */
static void put_configured(struct session *session)
{
    const struct daemon_config *config = session->config;
    json_t *list = json_array();
    for (int a = 0; a < config->n_accounts; a++) {
        const struct account_config *account = &config->accounts[a];
        const struct policy *policy = daemon_policy_set_of(session->policies, account->name);
        char id[POLICY_ID_TEXT];
        if (!policy)
            continue;
        policy_id_text(policy->id, id);
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name", account->name, "account",
                                              account->name, "id", id, "path", account->policy));
    }
    char *text = json_dumps(list, JSON_COMPACT);
    if (text)
        db_writer_put_meta(session->writer, "configured_policies", text);
    free(text);
    json_decref(list);
}

/* Stores the run's settings that a backtest of an account needs. */
static void put_settings(struct session *session)
{
    const struct daemon_config *config = session->config;
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, config->latency_ns);
    db_writer_put_meta(session->writer, "latency_ns", text);
    snprintf(text, sizeof text, "%" PRId32, config->slippage_e6);
    db_writer_put_meta(session->writer, "slippage_e6", text);
    db_writer_put_meta(session->writer, "extended_hours", daemon_config_extended(config) ? "1" : "0");
    put_configured(session);
}

/* Each market's state when the database was written, where it still holds: until its calendar is read. */
static void emit_sessions(struct session *session)
{
    for (size_t i = 0; i < session->n_sessions; i++) {
        struct event event = {.kind = EVENT_SESSION, .session = session->sessions[i].session};
        if (event.session.next_ns > session->now_ns)
            daemon_session_event(session, &event);
    }
    free(session->sessions);
    session->sessions = NULL;
    session->n_sessions = 0;
}

/* The engine may not know it: storing failed before there was an engine to notify, or a former run's log ends
 * before it works again. */
static void continue_storage(struct session *session)
{
    struct event event = {.kind = EVENT_STORAGE, .storage_ok = session->storage_ok};
    if (engine_storage_failing(session->engine) != session->storage_ok)
        return;
    if (session->storage_ok)
        daemon_log_event(LOG_STORAGE_BACK, LOG_OF(.alert = "storage"),
                         "database: a former run ended while storing failed: it works now");
    daemon_session_event(session, &event);
}

int daemon_session_begin(struct session *session, const struct symbol *symbols, int n_symbols, int64_t now_ns,
                         char *err, size_t err_size)
{
    struct account_spec *accounts = calloc(ACCOUNTS_MAX, sizeof *accounts);
    session->now_ns = now_ns;
    session->symbols = malloc((size_t)n_symbols * sizeof *symbols);
    if (!session->symbols || !accounts) {
        free(accounts);
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    }
    memcpy(session->symbols, symbols, (size_t)n_symbols * sizeof *symbols);
    session->n_symbols = n_symbols;
    int r = take_over(session, accounts, err, err_size);
    free(accounts);
    if (r < 0) {
        engine_destroy(session->engine);
        session->engine = NULL;
        return r;
    }
    continue_time(session, now_ns);
    r = daemon_session_strategies_begin(session);
    if (r == 0)
        r = daemon_session_log_state(session, STATE_NEW_RUN);
    if (r < 0) {
        snprintf(err, err_size, "out of memory");
        return r;
    }
    /* The rows of this run's start belong to its first event, so that the log comes first. */
    db_writer_group_begin(session->writer);
    daemon_session_put_symbols(session, session->engine);
    for (int a = 0; a < engine_accounts(session->engine); a++) {
        daemon_session_put_account(session, session->engine, a, session->seq);
        daemon_session_note_account(session->engine, a);
    }
    put_settings(session);
    daemon_session_run_begin(session);
    daemon_session_strategies_ask(session); /* first what the last bar waits for, as of that bar */
    struct event down = {.kind = EVENT_CONNECTION, .connection.up = false};
    daemon_session_event(session, &down);
    db_writer_group_end(session->writer);
    emit_sessions(session);
    daemon_session_alerts_begin(session); /* first: what it finds again continues */
    end_former_conditions(session);
    report_recovery(session);
    report_idle_accounts(session);
    continue_storage(session);
    daemon_session_price_begin(session);
    session->fills_before = engine_counters(session->engine)->fills;
    if (session->hooks.started)
        session->hooks.started(session->hooks.ctx);
    return 0;
}

void daemon_session_caught_up(struct session *session)
{
    const struct session_recovery *recovery = &session->recovery;
    if (session->caught_up || recovery->away_ns == 0)
        return;
    session->caught_up = true;
    char text[200];
    snprintf(text, sizeof text,
             "away for %.0f s: %llu bars fetched that closed meanwhile, %llu orders crossed",
             (double)recovery->away_ns / 1e9, (unsigned long long)recovery->missed_bars,
             (unsigned long long)recovery->crossed);
    daemon_log_info("%s", text);
    if (recovery->crossed > 0 || recovery->missed_bars > 0) /* else there is nothing to report */
        daemon_session_alert_moment(session, recovery->crossed > 0 ? DB_WARNING : DB_INFO, "away", text);
}

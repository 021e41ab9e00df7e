#include "daemon/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/log.h"
#include "db/recover.h"

enum {
    ALERTS_OPEN_MAX = 256,
    ALERT_CODE_MAX = 32,
    ALERT_TEXT_MAX = 256,
};

struct open_alert {
    uint64_t id;
    int64_t ts_ns, count;
    enum db_severity severity;
    char code[ALERT_CODE_MAX], text[ALERT_TEXT_MAX];
};

struct session {
    const struct config *config;
    const struct state_dir *state;
    struct session_hooks hooks;
    struct db_writer *writer;
    struct engine *engine;
    struct symbol *symbols;
    uint64_t seq, last_command, last_alert;
    int64_t now_ns;
    struct open_alert alerts[ALERTS_OPEN_MAX];
    size_t n_alerts;

    uv_async_t wake; /* the writer's thread has news */
    uv_mutex_t lock;
    bool storage_changed, storage_news; /* under the lock */
    char storage_words[DB_ERROR_MAX];
    bool storage_ok;
    char storage_detail[DB_ERROR_MAX];
};

static int64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* On the writer's thread. */
static void on_committed(void *ctx, uint64_t ticket)
{
    struct session *session = ctx;
    (void)ticket;
    uv_async_send(&session->wake);
}

static void on_storage(void *ctx, bool ok, const char *detail)
{
    struct session *session = ctx;
    uv_mutex_lock(&session->lock);
    session->storage_changed = true;
    session->storage_news = ok;
    snprintf(session->storage_words, sizeof session->storage_words, "%s", detail ? detail : "");
    uv_mutex_unlock(&session->lock);
    uv_async_send(&session->wake);
}

static void on_wake(uv_async_t *async)
{
    struct session *session = async->data;
    uv_mutex_lock(&session->lock);
    bool changed = session->storage_changed;
    session->storage_changed = false;
    if (changed) {
        session->storage_ok = session->storage_news;
        memcpy(session->storage_detail, session->storage_words, sizeof session->storage_detail);
    }
    uv_mutex_unlock(&session->lock);
    if (changed) {
        if (session->storage_ok)
            log_warning("database: storing works again");
        else
            log_error("database: %s: no new positions until it can store again", session->storage_detail);
        struct event event = {.kind = EVENT_STORAGE, .storage_ok = session->storage_ok};
        session_event(session, &event);
        session_alert(session, session->storage_ok ? DB_INFO : DB_ERROR, "storage",
                      session->storage_ok ? "the database can store again" : session->storage_detail);
    }
    if (session->hooks.committed)
        session->hooks.committed(session->hooks.ctx, db_writer_committed(session->writer));
}

int session_open(uv_loop_t *loop, const struct config *config, const struct state_dir *state,
                 const struct session_hooks *hooks, struct session **ret, char *err, size_t err_size)
{
    struct session *session = calloc(1, sizeof *session);
    if (!session)
        return -ENOMEM;
    session->config = config;
    session->state = state;
    session->hooks = *hooks;
    session->storage_ok = true;
    int r = uv_mutex_init(&session->lock);
    if (r < 0) {
        free(session);
        return r;
    }
    r = uv_async_init(loop, &session->wake, on_wake);
    session->wake.data = session;
    if (r == 0) {
        struct db_writer_config writer = {
            .ctx = session,
            .committed = on_committed,
            .state = on_storage,
            .max_delay_ms = config->commit_delay_ms,
        };
        char reason[DB_ERROR_MAX];
        r = db_writer_open(state->database, &writer, &session->writer, reason, sizeof reason);
        if (r < 0) {
            snprintf(err, err_size, "%s: %s", state->database, reason);
            uv_close((uv_handle_t *)&session->wake, NULL);
            uv_run(loop, UV_RUN_NOWAIT);
        }
    }
    if (r < 0) {
        uv_mutex_destroy(&session->lock);
        free(session);
        return r;
    }
    *ret = session;
    return 0;
}

/* What leaves the engine goes to the writer, as it is. */
static void put_bar(void *ctx, int symbol, enum bar_source source, const struct bar *bar)
{
    struct session *session = ctx;
    db_writer_put_bar(session->writer, symbol, session->config->interval_ns, source, bar);
}

static void put_order(void *ctx, const struct order *order)
{
    struct session *session = ctx;
    db_writer_put_order(session->writer, order);
    if (order->state == ORDER_REJECTED)
        log_info("order %llu refused: %s", (unsigned long long)order->id, order_reason_name(order->reason));
}

static void put_fill(void *ctx, const struct fill *fill)
{
    struct session *session = ctx;
    const struct symbol *symbol = engine_symbol(session->engine, fill->symbol);
    char price[DECIMAL_TEXT_MAX], qty[DECIMAL_TEXT_MAX];
    db_writer_put_fill(session->writer, fill);
    decimal_format_short(fill->price, symbol->price_scale, price);
    decimal_format_short(fill->qty, symbol->qty_scale, qty);
    log_info("fill %llu: %s %s %s @ %s, order %llu", (unsigned long long)fill->id,
             order_side_name(fill->side), symbol->name, qty, price, (unsigned long long)fill->order_id);
}

static void put_ledger(void *ctx, const struct ledger_row *row)
{
    struct session *session = ctx;
    db_writer_put_ledger(session->writer, row);
}

static void put_position(void *ctx, int account, int symbol, const struct position *position, int64_t ts_ns)
{
    struct session *session = ctx;
    (void)ts_ns;
    db_writer_put_position(session->writer, account, symbol, position);
}

static void put_equity(void *ctx, const struct equity_point *point)
{
    struct session *session = ctx;
    const struct account *account = engine_account(session->engine, point->account);
    db_writer_put_equity(session->writer, point->account, point->ts_ns, point->equity, point->cash,
                         account->equity_peak, account->day, account->day_equity);
}

static void put_alert(void *ctx, int64_t ts_ns, const char *code, const char *text)
{
    (void)ts_ns;
    session_alert(ctx, DB_WARNING, code, text);
}

static void need_snapshot(void *ctx, int symbol)
{
    struct session *session = ctx;
    session->hooks.need_snapshot(session->hooks.ctx, symbol);
}

static void need_bars(void *ctx, int symbol, int64_t from_open_ns, int64_t to_open_ns)
{
    struct session *session = ctx;
    session->hooks.need_bars(session->hooks.ctx, symbol, from_open_ns, to_open_ns);
}

static void command_done(void *ctx, const struct event_command *command, enum order_reason reason,
                         uint64_t order_id)
{
    struct session *session = ctx;
    session->hooks.command_done(session->hooks.ctx, command, reason, order_id);
}

/* The engine's accounts: those of the database first, by their numbers, then new ones of the configuration.
 */
static int plan_accounts(const struct session *session, const struct db_recovered *recovery,
                         const struct symbol *symbols, int n_symbols, struct account_spec *accounts,
                         char *err, size_t err_size)
{
    int n = 0;
    for (; n < recovery->n_accounts; n++) {
        accounts[n] = (struct account_spec){.currency_scale = recovery->accounts[n].account.currency_scale};
        snprintf(accounts[n].name, sizeof accounts[n].name, "%s", recovery->accounts[n].account.name);
        snprintf(accounts[n].currency, sizeof accounts[n].currency, "%s",
                 recovery->accounts[n].account.currency);
    }
    for (int c = 0; c < session->config->n_accounts; c++) {
        const struct account_config *wanted = &session->config->accounts[c];
        int at = 0;
        while (at < n && strcmp(accounts[at].name, wanted->name) != 0)
            at++;
        if (at < n && strcmp(accounts[at].currency, wanted->currency) != 0) {
            snprintf(err, err_size,
                     "account %s: its ledger is in %s, the configuration says %s: give it another name",
                     wanted->name, accounts[at].currency, wanted->currency);
            return -EINVAL;
        }
        if (at == ACCOUNTS_MAX) {
            snprintf(err, err_size,
                     "account %s: the database holds %d accounts already, the most there can be",
                     wanted->name, ACCOUNTS_MAX);
            return -ENOSPC;
        }
        if (at == n) {
            accounts[n] = (struct account_spec){.currency_scale = 8};
            for (int s = 0; s < n_symbols; s++)
                if (strcmp(symbols[s].quote, wanted->currency) == 0)
                    accounts[n].currency_scale = symbols[s].quote_scale;
            n++;
        }
        struct account_spec *account = &accounts[at];
        snprintf(account->name, sizeof account->name, "%s", wanted->name);
        snprintf(account->currency, sizeof account->currency, "%s", wanted->currency);
        account->rules = config_rules(session->config, wanted);
        account->strategy = wanted->strategy;
        memcpy(account->params, wanted->params, sizeof account->params);
        int r = decimal_parse_str(wanted->cash, account->currency_scale, &account->cash);
        if (r < 0) {
            snprintf(err, err_size, "account %s: cash %s: %s has %d decimals", wanted->name, wanted->cash,
                     wanted->currency, account->currency_scale);
            return r;
        }
    }
    return n;
}

static int restore(struct session *session, const struct db_recovered *recovery)
{
    struct engine *engine = session->engine;
    int r = 0;
    for (size_t i = 0; i < recovery->n_balances && r == 0; i++) {
        const struct db_recovered_balance *balance = &recovery->balances[i];
        r = engine_restore_balance(engine, balance->account, balance->asset, balance->scale, balance->total);
    }
    for (size_t i = 0; i < recovery->n_positions && r == 0; i++) {
        const struct db_recovered_position *position = &recovery->positions[i];
        r = engine_restore_position(engine, position->account, position->symbol, &position->position);
    }
    for (size_t i = 0; i < recovery->n_orders && r == 0; i++)
        r = engine_restore_order(engine, &recovery->orders[i]);
    for (int a = 0; a < recovery->n_accounts; a++) {
        const struct db_recovered_account *account = &recovery->accounts[a];
        engine_restore_equity(engine, a, account->deposits, account->peak, account->day, account->day_equity);
    }
    engine_restore_ids(engine, recovery->last_order, recovery->last_fill, recovery->last_ledger,
                       recovery->ledger_hash);
    engine_restore_paused(engine, recovery->paused);
    session->last_command = recovery->last_command;
    session->last_alert = recovery->last_alert;
    return r;
}

static int make_engine(struct session *session, const struct db_recovered *recovery, int n_symbols, char *err,
                       size_t err_size)
{
    struct account_spec *accounts = calloc(ACCOUNTS_MAX, sizeof *accounts);
    if (!accounts)
        return -ENOMEM;
    int n = plan_accounts(session, recovery, session->symbols, n_symbols, accounts, err, err_size);
    if (n < 0) {
        free(accounts);
        return n;
    }
    struct engine_config config = {
        .symbols = session->symbols,
        .n_symbols = n_symbols,
        .accounts = accounts,
        .n_accounts = n,
        .interval_ns = session->config->interval_ns,
        .latency_ns = session->config->latency_ns,
        .equity_interval_ns = session->config->equity_interval_ns,
    };
    struct engine_sink sink = {
        .ctx = session,
        .bar = put_bar,
        .order = put_order,
        .fill = put_fill,
        .ledger = put_ledger,
        .position = put_position,
        .equity = put_equity,
        .alert = put_alert,
        .need_snapshot = need_snapshot,
        .need_bars = need_bars,
        .command_done = command_done,
    };
    int r = engine_create(&config, &sink, &session->engine);
    if (r < 0)
        snprintf(err, err_size, "the engine could not start: %s", strerror(-r));
    for (int a = 0; a < n && r == 0; a++) {
        struct db_account row = {
            .number = a, .currency_scale = accounts[a].currency_scale, .created_ns = session->now_ns};
        memcpy(row.name, accounts[a].name, sizeof row.name);
        memcpy(row.currency, accounts[a].currency, sizeof row.currency);
        db_writer_put_account(session->writer, &row);
    }
    free(accounts);
    return r;
}

/* Alerts that a former run left open; they come newest first. */
static void take_alert(void *ctx, const struct db_alert *row)
{
    struct session *session = ctx;
    if (session->n_alerts == ALERTS_OPEN_MAX)
        return;
    memmove(session->alerts + 1, session->alerts, session->n_alerts++ * sizeof *session->alerts);
    struct open_alert *alert = &session->alerts[0];
    *alert = (struct open_alert){
        .id = row->id, .ts_ns = row->ts_ns, .count = row->count, .severity = row->severity};
    snprintf(alert->code, sizeof alert->code, "%s", row->code);
    snprintf(alert->text, sizeof alert->text, "%s", row->text);
}

int session_begin(struct session *session, const struct symbol *symbols, int n_symbols, int64_t now_ns,
                  char *err, size_t err_size)
{
    char reason[DB_ERROR_MAX] = "";
    session->now_ns = now_ns;
    session->symbols = malloc((size_t)n_symbols * sizeof *symbols);
    if (!session->symbols) {
        snprintf(err, err_size, "out of memory");
        return -ENOMEM;
    }
    memcpy(session->symbols, symbols, (size_t)n_symbols * sizeof *symbols);

    struct db_reader *reader = NULL;
    struct db_recovered *recovery = NULL;
    int r = db_reader_open(session->state->database, &reader, reason, sizeof reason);
    if (r == 0)
        r = db_recover(reader, symbols, n_symbols, &recovery, reason, sizeof reason);
    if (r == 0) {
        r = db_reader_alerts(reader, true, ALERTS_OPEN_MAX, take_alert, session);
        if (r < 0)
            snprintf(reason, sizeof reason, "%s", db_reader_error(reader));
    }
    db_reader_close(reader);
    if (r < 0) {
        db_recovered_destroy(recovery);
        snprintf(err, err_size, "%s: %s", session->state->database, reason);
        return r;
    }
    db_writer_group_begin(session->writer);
    for (int s = 0; s < n_symbols; s++)
        db_writer_put_symbol(session->writer, s, session->config->venue, &symbols[s], now_ns);
    r = make_engine(session, recovery, n_symbols, err, err_size);
    if (r == 0) {
        r = restore(session, recovery);
        if (r == 0)
            r = engine_start(session->engine, now_ns);
        if (r < 0)
            snprintf(err, err_size, "%s: what it holds does not fit this configuration: %s",
                     session->state->database, strerror(-r));
    }
    db_writer_group_end(session->writer);
    db_recovered_destroy(recovery);
    if (r == 0 && !session->storage_ok) { /* it failed before there was an engine to be told */
        struct event event = {.kind = EVENT_STORAGE, .storage_ok = false};
        session_event(session, &event);
    }
    return r;
}

int session_stored_symbols(struct session *session, struct symbol **ret)
{
    char reason[DB_ERROR_MAX];
    const struct config *config = session->config;
    struct db_reader *reader;
    struct symbol *symbols = calloc((size_t)config->n_symbols, sizeof *symbols);
    int r = symbols ? db_reader_open(session->state->database, &reader, reason, sizeof reason) : -ENOMEM;
    if (r < 0) {
        free(symbols);
        return r;
    }
    for (int s = 0; s < config->n_symbols && r == 0; s++) {
        struct db_symbol_row row;
        r = db_reader_symbol(reader, config->symbols[s], &row);
        if (r == 0 && strcmp(row.venue, config->venue) != 0)
            r = -ENOENT;
        if (r == 0)
            symbols[s] = row.symbol;
    }
    db_reader_close(reader);
    if (r < 0)
        free(symbols);
    else
        *ret = symbols;
    return r;
}

int session_update_symbols(struct session *session, const struct symbol *symbols, char *err, size_t err_size)
{
    db_writer_group_begin(session->writer);
    int r = 0;
    for (int s = 0; s < engine_symbols(session->engine) && r == 0; s++) {
        if (!symbol_same_units(engine_symbol(session->engine, s), &symbols[s]))
            r = -EINVAL;
        struct event event = {.kind = EVENT_SYMBOL, .symbol = {s, symbols[s]}};
        if (r == 0)
            session_event(session, &event);
        if (r == 0)
            db_writer_put_symbol(session->writer, s, session->config->venue, &symbols[s],
                                 session_now(session));
        else
            snprintf(err, err_size, "%s: the venue lists it with other assets or decimals than %s holds",
                     symbols[s].name, session->state->database);
    }
    db_writer_group_end(session->writer);
    return r;
}

bool session_begun(const struct session *session)
{
    return session->engine != NULL;
}

/* The wall's time, never backward; or, on the feed's clock, the latest event time seen. */
static int64_t stamp(struct session *session, const struct event *event)
{
    int64_t now = session->config->clock == CLOCK_WALL   ? wall_ns()
                  : event && event->kind == EVENT_MARKET ? event->market.event_ns
                                                         : 0;
    if (now > session->now_ns)
        session->now_ns = now;
    return session->now_ns;
}

void session_event(struct session *session, struct event *event)
{
    if (!session->engine)
        return;
    event->recv_ns = stamp(session, event);
    event->seq = ++session->seq;
    db_writer_group_begin(session->writer);
    int r = engine_handle(session->engine, event);
    db_writer_group_end(session->writer);
    if (r < 0)
        log_error("event %llu: %s", (unsigned long long)event->seq, strerror(-r));
}

int64_t session_now(const struct session *session)
{
    return session->config->clock == CLOCK_WALL ? wall_ns() : session->now_ns;
}

const struct engine *session_engine(const struct session *session)
{
    return session->engine;
}

struct db_writer *session_writer(struct session *session)
{
    return session->writer;
}

static void store_alert(struct session *session, const struct open_alert *alert, int64_t acked_ns)
{
    struct db_alert row = {
        .id = alert->id,
        .ts_ns = alert->ts_ns,
        .last_ns = session_now(session),
        .count = alert->count,
        .severity = alert->severity,
        .acked_ns = acked_ns,
        .code = alert->code,
        .text = alert->text,
    };
    db_writer_put_alert(session->writer, &row);
}

void session_alert(struct session *session, enum db_severity severity, const char *code, const char *text)
{
    if (!session->engine)
        return; /* their numbers are not known yet; the status and the log say what is wrong */
    for (size_t i = 0; i < session->n_alerts; i++) {
        struct open_alert *alert = &session->alerts[i];
        if (strcmp(alert->code, code) == 0 && strcmp(alert->text, text) == 0) {
            alert->count++;
            store_alert(session, alert, 0);
            return;
        }
    }
    if (session->n_alerts == ALERTS_OPEN_MAX) {
        /* The oldest stays open in the database; only its repetitions are no longer counted together. */
        memmove(session->alerts, session->alerts + 1, (ALERTS_OPEN_MAX - 1) * sizeof *session->alerts);
        session->n_alerts--;
    }
    struct open_alert *alert = &session->alerts[session->n_alerts++];
    *alert = (struct open_alert){
        .id = ++session->last_alert, .ts_ns = session_now(session), .count = 1, .severity = severity};
    snprintf(alert->code, sizeof alert->code, "%s", code);
    snprintf(alert->text, sizeof alert->text, "%s", text);
    store_alert(session, alert, 0);
}

bool session_alert_open(const struct session *session, uint64_t alert_id)
{
    for (size_t i = 0; i < session->n_alerts; i++)
        if (session->alerts[i].id == alert_id)
            return true;
    return false;
}

int session_ack(struct session *session, uint64_t alert_id)
{
    for (size_t i = 0; i < session->n_alerts; i++) {
        if (session->alerts[i].id != alert_id)
            continue;
        store_alert(session, &session->alerts[i], session_now(session));
        session->n_alerts--;
        memmove(&session->alerts[i], &session->alerts[i + 1],
                (session->n_alerts - i) * sizeof *session->alerts);
        return 0;
    }
    return -ENOENT;
}

size_t session_alerts_open(const struct session *session)
{
    return session->n_alerts;
}

uint64_t session_command_id(struct session *session)
{
    return ++session->last_command;
}

bool session_storage_ok(const struct session *session, const char **ret_detail)
{
    *ret_detail = session->storage_detail;
    return session->storage_ok;
}

static void freed(uv_handle_t *handle)
{
    struct session *session = handle->data;
    uv_mutex_destroy(&session->lock);
    free(session->symbols);
    free(session);
}

int session_close(struct session *session, int64_t timeout_ms, char *err, size_t err_size)
{
    char reason[DB_ERROR_MAX] = "";
    int r = db_writer_close(session->writer, timeout_ms, reason, sizeof reason);
    if (r < 0)
        snprintf(err, err_size, "%s: %s", session->state->database, reason);
    engine_destroy(session->engine);
    session->engine = NULL;
    uv_close((uv_handle_t *)&session->wake, freed);
    return r;
}

/* Passes the engine's output to the writer unchanged; during a replay only what the database does not have
 * yet. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/session_internal.h"
#include "db/market_source.h"
#include "engine/refusal.h"
#include "exchange/order_reason.h"
#include "strategy/direction.h"
#include "strategy/policy/device.h"
#include "strategy/strategy.h"

#define NO_LIQUIDITY "NO_LIQUIDITY"

static bool held(const struct session *session)
{
    return session->playing && session->stored;
}

static const struct engine *engine_of(struct session *session)
{
    return session->playing ? daemon_session_replayed(session) : session->engine;
}

/* Of a symbol's first bar in the engine: older ones that are fetched beside it no strategy has seen. */
static void put_first(struct session *session, int symbol, const struct bar *bar)
{
    const struct engine *engine = engine_of(session);
    struct engine_symbol_view view;
    char key[DB_FIRST_BAR_KEY_MAX], text[24];
    engine_symbol_view(engine, symbol, &view);
    db_market_first_bar_key(engine_symbol(engine, symbol)->name, engine_interval(engine), key);
    if (view.bars != 1 || daemon_session_has_meta(session, key))
        return;
    snprintf(text, sizeof text, "%" PRId64, bar->open_ns);
    db_writer_put_meta(session->writer, key, text);
}

static void put_bar(void *ctx, int symbol, enum bar_source source, const struct bar *bar)
{
    struct session *session = ctx;
    if (!held(session) && engine_of(session) && source == BAR_VENUE)
        put_first(session, symbol, bar);
    if (!held(session) && engine_of(session))
        db_writer_put_bar(session->writer, symbol, engine_interval(engine_of(session)), source, bar);
    if (!held(session) && engine_of(session) && source == BAR_VENUE)
        daemon_session_price_bar(session, engine_of(session), symbol, bar);
    if (!session->playing && session->engine && source == BAR_VENUE && session->hooks.bar)
        session->hooks.bar(session->hooks.ctx, symbol, bar);
}

/* Stores whose a policy's order is, when it is first reported. Stops and market orders are its own; an
 * order that closes an account is not. */
static void put_origin(struct session *session, const struct order *order)
{
    const struct engine *engine = engine_of(session);
    const struct policy *policy =
        order->account >= 0 ? engine_account_spec(engine, order->account)->policy : NULL;
    if (!policy || order->by_hand || !engine_policy_gave(order->tag))
        return;
    struct db_order_policy origin = {.order_id = order->id, .backend = policy_backend(policy)};
    memcpy(origin.id, policy->id, sizeof origin.id);
    db_writer_put_order_policy(session->writer, &origin);
}

static void log_refusal(const struct session *session, const struct order *order)
{
    const struct engine *engine = session->engine;
    bool traded = engine && order->symbol >= 0;
    char qty[DECIMAL_TEXT_MAX] = "";
    if (traded)
        decimal_format_short(order->qty, engine_symbol(engine, order->symbol)->qty_scale, qty);
    const char *account = engine && order->account >= 0 ? engine_account(engine, order->account)->name : NULL;
    const char *symbol = traded ? engine_symbol(engine, order->symbol)->name : NULL;
    char words[ORDER_WORDS_MAX];
    const char *why = traded && account ? engine_refusal_words(engine, order->reason, order, 1, words) : NULL;
    daemon_log_event(LOG_ORDER_REFUSED, LOG_OF(.symbol = symbol, .account = account, .order = order->id),
                     "order %llu refused: %s: account %s, %s %s%s%s: %s", (unsigned long long)order->id,
                     order_reason_name(order->reason), account ? account : "not known",
                     order_side_name(order->side), symbol ? symbol : "an unknown symbol", traded ? " " : "",
                     qty, why ? why : order_reason_words(order->reason));
}

static void put_order(void *ctx, const struct order *order)
{
    struct session *session = ctx;
    bool is_new = order->id > session->last_order;
    if (is_new)
        session->last_order = order->id;
    if (held(session) || !engine_of(session))
        return;
    db_writer_put_order(session->writer, order);
    if (is_new)
        put_origin(session, order);
    if (order->state == ORDER_REJECTED && !session->playing)
        log_refusal(session, order);
}

static void put_fill(void *ctx, const struct fill *fill)
{
    struct session *session = ctx;
    if (held(session) || !engine_of(session))
        return;
    db_writer_put_fill(session->writer, fill);
    const struct symbol *symbol = engine_symbol(engine_of(session), fill->symbol);
    daemon_session_alert_over(session, NO_LIQUIDITY, symbol->name); /* there is some */
    if (session->playing)
        return;
    char price[DECIMAL_TEXT_MAX], qty[DECIMAL_TEXT_MAX];
    decimal_format_short(fill->price, symbol->price_scale, price);
    decimal_format_short(fill->qty, symbol->qty_scale, qty);
    daemon_log_event(
        LOG_FILL,
        LOG_OF(.symbol = symbol->name, .account = engine_account(session->engine, fill->account)->name,
               .venue = symbol->venue, .order = fill->order_id),
        "fill %llu: %s %s %s @ %s, order %llu", (unsigned long long)fill->id, order_side_name(fill->side),
        symbol->name, qty, price, (unsigned long long)fill->order_id);
}

static void put_ledger(void *ctx, const struct ledger_row *row)
{
    struct session *session = ctx;
    if (!held(session) && engine_of(session))
        db_writer_put_ledger(session->writer, row);
}

static void put_cause(void *ctx, const struct ledger_cause *cause)
{
    struct session *session = ctx;
    if (!held(session) && engine_of(session))
        db_writer_put_cause(session->writer, cause);
}

static void put_accrual(void *ctx, const struct ledger_accrual *accrual)
{
    struct session *session = ctx;
    if (!held(session) && engine_of(session))
        db_writer_put_accrual(session->writer, accrual);
}

static void put_position(void *ctx, int account, int symbol, const struct position *position, int64_t ts_ns)
{
    struct session *session = ctx;
    (void)ts_ns;
    if (!held(session) && engine_of(session))
        db_writer_put_position(session->writer, account, symbol, position);
}

void daemon_session_put_margin(struct session *session, const struct engine *engine, int account,
                               int64_t ts_ns)
{
    const struct account_rules *rules = &engine_account(engine, account)->rules;
    struct db_margin row = {.account = account, .ts_ns = ts_ns};
    if (rules->margin == MARGIN_OFF && rules->settlement == SETTLEMENT_OFF)
        return;
    engine_margin_figures(engine, account, &row.figures);
    db_writer_put_margin(session->writer, &row);
}

static void put_equity(void *ctx, const struct equity_point *point)
{
    struct session *session = ctx;
    if (held(session))
        return;
    const struct account *account = engine_account(engine_of(session), point->account);
    db_writer_put_equity(session->writer,
                         &(struct db_equity){point->account, DB_EQUITY_LIVE, point->ts_ns, point->equity,
                                             point->cash, account->equity_peak, account->day,
                                             account->day_equity, account->killed_ns});
    daemon_session_put_margin(session, engine_of(session), point->account, point->ts_ns);
}

static void put_mark(void *ctx, const struct engine_mark *mark)
{
    struct session *session = ctx;
    if (!held(session))
        db_writer_put_mark(session->writer, &(struct db_mark){.account = mark->account,
                                                              .symbol = mark->symbol,
                                                              .ts_ns = mark->ts_ns,
                                                              .qty = mark->qty,
                                                              .mark = mark->mark,
                                                              .mark_ns = mark->mark_ns});
}

/* The engine's alerts of conditions, which it ends by alert_over. */
static bool lasts(const char *code)
{
    static const char *const codes[] = {"KILLED",         "MARGIN_CALL",    "HALTED",
                                        "SYMBOL_GONE",    "POLICY_WARMING", "VENUE_UNKNOWN",
                                        "VENUE_HALTED",   "STRATEGY_LATE",  "STRATEGY_INVALID",
                                        "STRATEGY_ENDED", "STRATEGY_HALTED"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(codes[i], code) == 0)
            return true;
    return false;
}

static enum log_kind kind_of(const char *code)
{
    return strcmp(code, "KILLED") == 0                                       ? LOG_ACCOUNT_HALTED
           : strcmp(code, "MARGIN_CALL") == 0                                ? LOG_MARGIN_CALL
           : strcmp(code, "HALTED") == 0 || strcmp(code, "SYMBOL_GONE") == 0 ? LOG_SYMBOL_HALTED
                                                                             : LOG_ALERT;
}

/* With the fields of what it is about. */
static void log_alert(const struct session *session, enum db_severity severity, const char *code,
                      const struct engine_subject *of, const char *text)
{
    const struct engine *engine = session->engine;
    const struct symbol *symbol = of->symbol >= 0 ? engine_symbol(engine, of->symbol) : NULL;
    const char *account = of->account >= 0 ? engine_account(engine, of->account)->name : NULL;
    bool policy = account && engine_account_spec(engine, of->account)->policy && session->hooks.policy_of;
    const struct log_fields fields = {
        .symbol = symbol ? symbol->name : NULL,
        .account = account,
        .policy = policy ? session->hooks.policy_of(session->hooks.ctx, account) : NULL,
        .venue = symbol && symbol->venue[0] ? symbol->venue : NULL,
        .alert = code,
        .order = of->order,
    };
    daemon_log_event_at(severity == DB_ERROR     ? LOG_LEVEL_ERROR
                        : severity == DB_WARNING ? LOG_LEVEL_WARNING
                                                 : LOG_LEVEL_INFO,
                        kind_of(code), &fields, "%s", text);
}

static void put_alert(void *ctx, int64_t ts_ns, const char *code, const struct engine_subject *of,
                      const char *text)
{
    struct session *session = ctx;
    (void)ts_ns;
    if (held(session))
        return;
    bool missed = strcmp(code, "STOP_MISSED") == 0 || strcmp(code, "LIMIT_MISSED") == 0;
    if (missed && !session->playing) /* of this run, not of one that is played again */
        session->recovery.crossed++;
    bool reported = strcmp(code, "SPLIT") == 0 || strcmp(code, "DIVIDEND") == 0;
    bool wrong = strcmp(code, "KILLED") == 0 || strcmp(code, "ACTION_REFUSED") == 0 ||
                 strcmp(code, "VENUE_HALTED") == 0 || strcmp(code, "STRATEGY_HALTED") == 0;
    enum db_severity severity = reported ? DB_INFO : wrong ? DB_ERROR : DB_WARNING;
    if (!session->playing && session->engine)
        log_alert(session, severity, code, of, text);
    if (missed)
        daemon_session_alert_moment(session, severity, code, text);
    else if (strcmp(code, NO_LIQUIDITY) == 0)
        daemon_session_alert_lasting(session, severity, code,
                                     engine_symbol(engine_of(session), of->symbol)->name, text);
    else if (lasts(code))
        daemon_session_alert_lasting(session, severity, code, text, text);
    else
        daemon_session_alert(session, severity, code, text);
}

static void end_alert(void *ctx, const char *code, const char *about)
{
    struct session *session = ctx;
    if (!held(session))
        daemon_session_alert_over(session, code, about);
}

static void need_snapshot(void *ctx, int symbol)
{
    struct session *session = ctx;
    if (!session->playing)
        session->hooks.need_snapshot(session->hooks.ctx, symbol);
}

static void ask_venue(void *ctx, enum engine_venue_request request, const struct order *order)
{
    struct session *session = ctx;
    if (!session->playing && session->hooks.venue)
        session->hooks.venue(session->hooks.ctx, request, order);
}

static void need_bars(void *ctx, int symbol, int64_t from_open_ns, int64_t to_open_ns)
{
    struct session *session = ctx;
    if (!session->playing)
        session->hooks.need_bars(session->hooks.ctx, symbol, from_open_ns, to_open_ns);
}

static void command_done(void *ctx, const struct event_command *command, enum order_reason reason,
                         uint64_t order_id)
{
    struct session *session = ctx;
    if (command->command_id > session->last_command)
        session->last_command = command->command_id;
    if (session->playing && !session->stored) {
        session->redoing = true;
        session->hooks.command_redone(session->hooks.ctx, daemon_session_row_ns(session), command, reason,
                                      order_id);
    } else if (!session->playing)
        session->hooks.command_done(session->hooks.ctx, command, reason, order_id);
}

static void put_revision(void *ctx, const struct engine_revision *revision)
{
    struct session *session = ctx;
    struct db_revision row;
    if (held(session) || !engine_of(session))
        return;
    int64_t interval_ns = engine_interval(engine_of(session));
    db_revision_of(revision, session->event_seq, &row);
    db_writer_put_revision(session->writer, &row);
    if (revision->applied && revision->now && revision->kind == REVISION_BAR)
        db_writer_put_bar(session->writer, revision->symbol, interval_ns, revision->source, revision->now);
    else if (revision->applied && revision->now) /* which may still form */
        db_writer_correct_bar(session->writer, revision->symbol, interval_ns, revision->source,
                              revision->now);
    else if (revision->applied && revision->old) /* its only trade was cancelled */
        db_writer_drop_bar(session->writer, revision->symbol, interval_ns, revision->source,
                           revision->old->open_ns);
}

static void put_action(void *ctx, int symbol, const struct corporate_action *action, int64_t ts_ns)
{
    struct session *session = ctx;
    const struct engine *engine = engine_of(session);
    if (held(session) || !engine)
        return;
    struct db_action row = {
        .symbol = symbol, .action = *action, .ts_ns = ts_ns, .input_seq = session->event_seq};
    db_writer_put_action(session->writer, &row);
    if (action->kind == ACTION_SPLIT) {
        daemon_session_price_split(session, engine_symbol(engine, symbol)->name, action);
        if (session->hooks.split && !session->playing && session->engine)
            session->hooks.split(session->hooks.ctx, symbol);
    }
    if (!session->playing)
        daemon_log_info("%s: %s %s takes effect", engine_symbol(engine, symbol)->name,
                        corporate_action_name(action->kind), action->id);
}

static void put_receivable(void *ctx, const struct receivable_row *row)
{
    struct session *session = ctx;
    if (!held(session))
        db_writer_put_receivable(session->writer, row);
}

static void put_fee_rate(void *ctx, const struct fee_rate_change *change)
{
    struct session *session = ctx;
    if (held(session) || !engine_of(session))
        return;
    db_writer_put_fee_rate(session->writer, change);
    if (!session->playing)
        daemon_log_info(
            "account %s: its rates are %g %% (maker) and %g %% (taker) from now on, by its volume",
            engine_account(engine_of(session), change->account)->name, change->rates.maker_e6 / 1e4,
            change->rates.taker_e6 / 1e4);
}

static void put_session(void *ctx, const struct market_session *reported, int64_t ts_ns)
{
    struct session *session = ctx;
    struct db_session row = {.session = *reported, .since_ns = ts_ns};
    if (!held(session))
        db_writer_put_session(session->writer, &row);
}

static void put_book_bar(void *ctx, const struct engine_book_bar *bar)
{
    struct session *session = ctx;
    if (!held(session) && engine_of(session))
        db_writer_put_book_bar(session->writer, engine_interval(engine_of(session)), bar);
    if (!session->playing && session->engine && session->hooks.book_bar)
        session->hooks.book_bar(session->hooks.ctx, bar);
}

/* Of an account that the engine reports as changed. */
static enum db_terms_why why_changed(const struct engine *engine, int account)
{
    const struct event_command *command = engine_command(engine);
    if (!command)
        return engine_account(engine, account)->rules.execution == EXECUTION_VENUE_PAPER ? DB_TERMS_VENUE
                                                                                         : DB_TERMS_VOLUME;
    return command->kind == COMMAND_ACCOUNT_CREATE   ? DB_TERMS_OPENED
           : command->kind == COMMAND_ACCOUNT_POLICY ? DB_TERMS_POLICY
           : command->kind == COMMAND_ACCOUNT_RESET  ? DB_TERMS_RESET
           : command->kind == COMMAND_ACCOUNT_CLOSE  ? DB_TERMS_CLOSED
                                                     : DB_TERMS_COMMAND;
}

static void put_account_as(struct session *session, const struct engine *engine, int account,
                           enum db_terms_why why, uint64_t event)
{
    const struct event_command *command = why == DB_TERMS_CONFIGURED ? NULL : engine_command(engine);
    struct db_account row;
    db_account_of(account, engine_account_spec(engine, account), daemon_session_row_ns(session), &row);
    row.closed_ns = engine_account(engine, account)->closed_ns;
    if (row.rules.fee_tiers[0]) /* those of the day */
        row.rules.fees = engine_account(engine, account)->rules.fees;
    row.change.why = why;
    row.change.event = event;
    row.change.since_ns = row.created_ns;
    if (command) {
        row.change.command = command->command_id;
        row.change.uid = command->peer_uid;
        memcpy(row.change.key, command->key, sizeof row.change.key);
    }
    db_writer_put_account(session->writer, &row);
    if (row.rules.execution != EXECUTION_VENUE_PAPER)
        return;
    char key[DB_AT_VENUE_KEY_MAX];
    db_at_venue_key(row.name, key);
    db_writer_put_meta(session->writer, key, engine_venue_prefix(engine, account));
}

void daemon_session_put_account(struct session *session, const struct engine *engine, int account,
                                uint64_t event)
{
    put_account_as(session, engine, account, DB_TERMS_CONFIGURED, event);
}

void daemon_session_note_account(const struct engine *engine, int account)
{
    const struct account_spec *spec = engine_account_spec(engine, account);
    const char *what = spec->strategy ? strategy_without_shorts(spec->strategy, spec->params) : NULL;
    if (!what || engine_may_short(engine, account))
        return;
    daemon_log_info("account %s: %s %s: %s", spec->name, spec->strategy->name, what,
                    spec->rules.shorts ? "none of its symbols is lent" : "shorts = off");
}

static void put_account(void *ctx, int account)
{
    struct session *session = ctx;
    if (!held(session))
        put_account_as(session, engine_of(session), account, why_changed(engine_of(session), account),
                       session->event_seq);
    if (!session->playing)
        daemon_session_note_account(engine_of(session), account);
}

void daemon_session_put_symbol(struct session *session, int index, const struct symbol *symbol)
{
    const char *venue = symbol->venue; /* "" in a log of before there were several */
    if (!venue[0])
        venue =
            session->default_venue ? session->default_venue : session->config->venues[0].venue->format->name;
    db_writer_put_symbol(session->writer, index, venue, symbol, daemon_session_row_ns(session));
}

void daemon_session_put_symbols(struct session *session, const struct engine *engine)
{
    for (int s = 0; s < engine_symbols(engine); s++)
        daemon_session_put_symbol(session, s, engine_symbol(engine, s));
}

struct engine_sink daemon_session_sink(struct session *session)
{
    return (struct engine_sink){
        .ctx = session,
        .bar = put_bar,
        .order = put_order,
        .fill = put_fill,
        .ledger = put_ledger,
        .cause = put_cause,
        .accrual = put_accrual,
        .position = put_position,
        .equity = put_equity,
        .mark = put_mark,
        .alert = put_alert,
        .alert_over = end_alert,
        .need_snapshot = need_snapshot,
        .need_bars = need_bars,
        .venue = ask_venue,
        .account = put_account,
        .command_done = command_done,
        .revision = put_revision,
        .action = put_action,
        .receivable = put_receivable,
        .fee_rate = put_fee_rate,
        .session = put_session,
        .book_bar = put_book_bar,
    };
}

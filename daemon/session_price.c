/* Price alerts of a session: daemon/price_alerts.h with its trades and bars, its alerts and its writer. They
 * are no part of the engine's state and make no event: a row of `meta` has them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/session_internal.h"
#include "db/reader.h"
#include "exchange/clock.h"

#define PRICE_ALERTS_KEY "price_alerts"

void daemon_session_take_price_alerts(struct session *session, struct db_reader *reader)
{
    char *text = malloc(PRICE_ALERTS_BYTES_MAX);
    int r = text ? db_reader_meta(reader, PRICE_ALERTS_KEY, text, PRICE_ALERTS_BYTES_MAX) : -ENOMEM;
    if (r == 0)
        r = daemon_price_alerts_read(&session->price_alerts, text);
    session->price_alerts_unread = r == -ENOENT ? 0 : r;
    if (session->price_alerts_unread < 0)
        daemon_log_error("price alerts: what a former run left cannot be read, and stays as it is: %s",
                         strerror(-r));
    free(text);
}

/* In the caller's group: with the alert that it raises, or with the command's row. 0 or -ENOMEM. */
static int store(struct session *session)
{
    json_t *all = daemon_price_alerts_json(&session->price_alerts);
    char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
    if (text)
        db_writer_put_meta(session->writer, PRICE_ALERTS_KEY, text);
    int r = text ? 0 : -ENOMEM;
    free(text);
    json_decref(all);
    return r;
}

/* Of a change that has happened. */
static void put(struct session *session)
{
    if (store(session) < 0)
        daemon_log_error("price alerts: out of memory: a change of them is not stored");
}

/* Of a change that is asked for: undone where it cannot be stored. */
static int store_or_undo(struct session *session, const struct price_alerts *before)
{
    int r = store(session);
    if (r < 0)
        daemon_price_alerts_undo(&session->price_alerts, before);
    return r;
}

/* ---- reached ---- */

static void raise_alert(struct session *session, const struct price_alert *alert, const struct symbol *symbol,
                        int64_t price, const char *when, int64_t at_ns)
{
    char wanted[DECIMAL_TEXT_MAX], traded[DECIMAL_TEXT_MAX], at[CLOCK_TEXT_MAX], text[DB_ALERT_TEXT_MAX];
    decimal_format(alert->price, alert->scale, wanted);
    decimal_format_from(price, symbol->price_scale, alert->scale, traded);
    snprintf(text, sizeof text, "%s: %s or %s was traded: %s %s %s", symbol->name, wanted,
             daemon_price_alert_side(alert->above), traded, when, clock_utc_text(at_ns, at));
    daemon_log_event_at(LOG_LEVEL_INFO, LOG_ALERT, LOG_OF(.symbol = symbol->name, .alert = "PRICE"), "%s",
                        text);
    daemon_session_alert(session, DB_INFO, "PRICE", text);
}

/* Each that these prices reach is raised, and is there no more, in one group. Until alerts can be stored
 * they wait. */
static void look(struct session *session, const struct engine *engine, int index, int64_t low, int64_t high,
                 int64_t until_ns, const char *when, int64_t at_ns)
{
    struct price_alerts *alerts = &session->price_alerts;
    const struct symbol *symbol = engine_symbol(engine, index);
    struct price_alert alert;
    if (!daemon_price_alerts_reached(alerts, index, symbol, low, high) || !daemon_session_can_report(session))
        return;
    db_writer_group_begin(session->writer);
    bool any = false;
    while (daemon_price_alerts_take(alerts, symbol, low, high, until_ns, &alert)) {
        raise_alert(session, &alert, symbol, alert.above ? high : low, when, at_ns);
        any = true;
    }
    if (any)
        put(session);
    db_writer_group_end(session->writer);
}

/* Of the bar model the engine's last price is that of bars, and its trades are judged by themselves. */
static bool makes_price(const struct session *session, const struct market_event *event)
{
    struct engine_symbol_view view;
    engine_symbol_view(session->engine, event->symbol, &view);
    return !event->trade.odd && (session->config->fill_model == FILL_BAR || view.last == event->trade.price);
}

void daemon_session_price_trade(struct session *session, const struct market_event *event)
{
    struct price_alerts *alerts = &session->price_alerts;
    int64_t price = event->trade.price;
    if (alerts->n == 0 || (event->kind != MARKET_TRADE && event->kind != MARKET_AGG_TRADE) ||
        event->symbol < 0 || event->symbol >= engine_symbols(session->engine) ||
        !daemon_price_alerts_reached(alerts, event->symbol, engine_symbol(session->engine, event->symbol),
                                     price, price))
        return;
    if (makes_price(session, event))
        look(session, session->engine, event->symbol, price, price, INT64_MAX, "at", event->trade.ts_ns);
}

void daemon_session_price_bar(struct session *session, const struct engine *engine, int symbol,
                              const struct bar *bar)
{
    if (session->price_alerts.n == 0 || bar->high <= 0)
        return;
    int64_t open_ns = bar->open_ns - engine_symbol_ahead_ns(engine, symbol);
    look(session, engine, symbol, bar->low, bar->high, open_ns, "in the bar of", bar->open_ns);
    look(session, engine, symbol, bar->close, bar->close, open_ns + engine_interval(engine), "in the bar of",
         bar->open_ns);
}

void daemon_session_price_begin(struct session *session)
{
    struct engine_symbol_view view;
    for (int s = 0; session->price_alerts.n > 0 && s < engine_symbols(session->engine); s++) {
        engine_symbol_view(session->engine, s, &view);
        if (view.last > 0)
            look(session, session->engine, s, view.last, view.last, INT64_MAX, "at", view.last_ns);
    }
}

void daemon_session_price_split(struct session *session, const char *symbol,
                                const struct corporate_action *split)
{
    if (daemon_price_alerts_split(&session->price_alerts, symbol, split->shares, split->per)) {
        daemon_log_info("%s: its price alerts follow the split %s", symbol, split->id);
        put(session);
    }
}

void daemon_session_price_rename(struct session *session, const char *from, const char *to)
{
    if (daemon_price_alerts_rename(&session->price_alerts, from, to))
        put(session);
}

/* ---- by command ---- */

const struct price_alerts *daemon_session_price_alerts(const struct session *session)
{
    return &session->price_alerts;
}

int daemon_session_price_alert_add(struct session *session, struct price_alert *alert)
{
    const struct price_alerts before = session->price_alerts;
    if (session->price_alerts_unread < 0)
        return -EBADMSG;
    alert->created_ns = daemon_session_now(session);
    int r = daemon_price_alerts_add(&session->price_alerts, alert, &alert->id);
    return r < 0 ? r : store_or_undo(session, &before);
}

int daemon_session_price_alert_remove(struct session *session, uint64_t id, struct price_alert *ret)
{
    const struct price_alerts before = session->price_alerts;
    int r = daemon_price_alerts_remove(&session->price_alerts, id, ret);
    return r < 0 ? r : store_or_undo(session, &before);
}

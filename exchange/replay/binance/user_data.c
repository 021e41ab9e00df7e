/* What an account's own connections hear of its orders. */
#include <stdlib.h>
#include <string.h>

#include "exchange/replay/binance/order_list_text.h"
#include "exchange/replay/binance/protocol.h"
#include "exchange/replay/binance/session.h"
#include "exchange/replay/keyed.h"

enum { OK = 200, BAD_REQUEST = 400, NO_MEMORY = 500 };

static void write_report(struct text *out, const struct order_clock *clock, const struct broker_order *order,
                         const struct symbol *listed, const struct broker_fill *fill, int64_t execution)
{
    const struct broker_terms *terms = &order->terms;
    const bool ended = order->state == BROKER_CANCELED;
    text_format(out, "{\"e\":\"executionReport\",\"E\":%lld,\"s\":\"%s\"",
                (long long)order_clock_time(clock, order->updated_ns), listed->name);
    keyed_str(out, "c", ended ? order->cancel_id : terms->client_id);
    keyed_str(out, "S", terms->side == ORDER_BUY ? "BUY" : "SELL");
    keyed_str(out, "o", replay_orders_type(terms));
    keyed_str(out, "f", order_tif_name(terms->tif));
    keyed_e8(out, "q", terms->qty);
    keyed_e8(out, "p", terms->price);
    keyed_e8(out, "P", terms->stop);
    keyed_e8(out, "F", terms->iceberg);
    keyed_int(out, "g", terms->list ? terms->list : -1);
    keyed_str(out, "C", ended ? terms->client_id : "");
    keyed_str(out, "x",
              fill                         ? "TRADE"
              : order->amended             ? "REPLACED"
              : order->state == BROKER_NEW ? "NEW" /* of one that is held, too */
                                           : replay_orders_state(order));
    keyed_str(out, "X", replay_orders_state(order));
    keyed_str(out, "r", "NONE");
    keyed_int(out, "i", order->id);
    keyed_e8(out, "l", fill ? fill->qty : 0);
    keyed_e8(out, "z", order->filled);
    keyed_e8(out, "L", fill ? fill->price : 0);
    keyed_e8(out, "n", fill ? fill->commission : 0);
    if (fill)
        keyed_str(out, "N", terms->side == ORDER_BUY ? listed->base : listed->quote);
    else
        text_lit(out, ",\"N\":null");
    keyed_int(out, "T", order_clock_time(clock, order->updated_ns));
    keyed_int(out, "t", fill ? fill->id : -1);
    keyed_int(out, "I", execution);
    keyed_bool(out, "w", broker_is_open(order) && !order->waits && !order->terms.held);
    text_str(out, fill && fill->maker ? ",\"m\":true,\"M\":true" : ",\"m\":false,\"M\":false");
    keyed_int(out, "O", order_clock_time(clock, order->time_ns));
    keyed_e16(out, "Z", order->quote);
    keyed_e16(out, "Y", fill ? (int128_t)fill->price * fill->qty : 0);
    keyed_e8(out, "Q", terms->quote);
    if (order->working_ns)
        keyed_int(out, "W", order_clock_time(clock, order->working_ns));
    keyed_str(out, "V", "EXPIRE_MAKER");
    if (broker_trails(&terms->trail)) {
        keyed_int(out, "d", terms->trail.share_e6 / 100);
        keyed_int(out, "D", order->trail_ns ? order_clock_time(clock, order->trail_ns) : -1);
    }
    text_lit(out, "}");
}

/* The two assets of the order's symbol. */
static void write_position(struct text *out, const struct order_clock *clock,
                           const struct broker_account *account, const struct symbol *listed)
{
    bool first = true;
    text_format(out, "{\"e\":\"outboundAccountPosition\",\"E\":%lld,\"u\":%lld,\"B\":[",
                (long long)order_clock_time(clock, account->updated_ns),
                (long long)order_clock_time(clock, account->updated_ns));
    for (size_t i = 0; i < account->n_balances; i++) {
        const struct broker_balance *balance = &account->balances[i];
        if (strcmp(balance->asset, listed->base) != 0 && strcmp(balance->asset, listed->quote) != 0)
            continue;
        text_str(out, first ? "" : ",");
        replay_orders_balance(out, balance, "a", "f", "l");
        first = false;
    }
    text_lit(out, "]}");
}

static void say(void *user, const char *text)
{
    struct binance_session *s = user;
    replay_client_say(s->client, text, strlen(text));
}

static void send_event(struct binance_session *s, struct session_subscription *to, struct text *event)
{
    struct text out = {0};
    text_format(&out, "{\"subscriptionId\":%d,\"event\":", to->id);
    text_bytes(&out, event->data ? event->data : "", event->len);
    text_lit(&out, "}");
    out.failed |= event->failed;
    replay_broker_event(&to->events, s->orders->faults, text_take(&out), say, s);
    text_finish(event);
}

static void report(struct binance_session *s, struct session_subscription *to,
                   const struct broker_order *order, const struct symbol *listed,
                   const struct broker_fill *fill)
{
    struct text event = {0};
    write_position(&event, &s->caller.clock, replay_broker_account_of(s->orders->broker, to->account),
                   listed);
    send_event(s, to, &event);
    event = (struct text){0};
    write_report(&event, &s->caller.clock, order, listed, fill, s->orders->executions);
    send_event(s, to, &event);
}

void replay_user_data_changed(struct binance_orders *orders, const struct broker_order *order,
                              const struct broker_fill *fill)
{
    struct symbol listed;
    orders->executions++;
    if (!orders->sessions || !replay_orders_symbol(orders, order->terms.symbol, &listed))
        return;
    for (struct binance_session *s = orders->sessions; s; s = s->next)
        for (size_t i = 0; i < s->n_subscriptions; i++)
            if (s->subscriptions[i].account == order->terms.account)
                report(s, &s->subscriptions[i], order, &listed, fill);
}

void replay_user_data_list_changed(struct binance_orders *orders, const struct broker_list *list,
                                   enum broker_list_event event)
{
    struct symbol listed;
    if (!orders->sessions || !replay_orders_symbol(orders, list->symbol, &listed))
        return;
    for (struct binance_session *s = orders->sessions; s; s = s->next)
        for (size_t i = 0; i < s->n_subscriptions; i++) {
            if (s->subscriptions[i].account != list->account)
                continue;
            struct text text = {0};
            replay_list_text_event(&text, &s->caller.clock, orders->broker, list, listed.name, event);
            send_event(s, &s->subscriptions[i], &text);
        }
}

/* ---- Subscriptions. ---- */

static int refuse(struct text *body, int status, int code, const char *msg)
{
    replay_rest_error(body, code, msg);
    return status;
}

int replay_user_data_begin(struct binance_session *s, int account, bool by_logon, struct text *body)
{
    for (size_t i = 0; i < s->n_subscriptions; i++)
        if (s->subscriptions[i].account == account)
            return refuse(body, BAD_REQUEST, -2035, "User Data Stream subscription already active.");
    if (s->n_subscriptions == SESSION_SUBSCRIPTIONS_MAX)
        return refuse(body, BAD_REQUEST, -1191,
                      "Too many subscriptions. Connection may create up to '1000' subscriptions at a time.");
    if (s->subscribed == SESSION_SUBSCRIPTIONS_EVER)
        return refuse(body, BAD_REQUEST, -2042, "Maximum subscription ID reached for this connection.");
    struct session_subscription *grown =
        reallocarray(s->subscriptions, s->n_subscriptions + 1, sizeof(*grown));
    if (!grown)
        return refuse(body, NO_MEMORY, -1000, "out of memory");
    s->subscriptions = grown;
    grown[s->n_subscriptions++] =
        (struct session_subscription){.id = s->subscribed, .account = account, .by_logon = by_logon};
    text_format(body, "{\"subscriptionId\":%d}", s->subscribed++);
    return OK;
}

int replay_user_data_end(struct binance_session *s, int id, struct text *after)
{
    const int64_t now = order_clock_time(&s->caller.clock, s->orders->source->tape->now_ns);
    size_t kept = 0;
    const size_t before = s->n_subscriptions;
    for (size_t i = 0; i < before; i++) {
        struct session_subscription *of = &s->subscriptions[i];
        if (id != SESSION_ALL && (id == SESSION_LOGON ? !of->by_logon : of->id != id)) {
            s->subscriptions[kept++] = *of;
            continue;
        }
        if (after)
            text_format(after,
                        "{\"subscriptionId\":%d,\"event\":{\"e\":\"eventStreamTerminated\",\"E\":%lld}}\n",
                        of->id, (long long)now);
        free(of->events.late);
    }
    s->n_subscriptions = kept;
    return (int)(before - kept);
}

void replay_user_data_list(const struct binance_session *s, struct text *body)
{
    text_lit(body, "[");
    for (size_t i = 0; i < s->n_subscriptions; i++)
        text_format(body, "%s{\"subscriptionId\":%d}", i > 0 ? "," : "", s->subscriptions[i].id);
    text_lit(body, "]");
}

/* What an account's own connections hear of its orders. */
#include <string.h>

#include "exchange/replay/binance/session.h"
#include "exchange/replay/keyed.h"

#define NS_PER_MS 1000000LL

static void write_report(struct text *out, const struct broker_order *order, const struct symbol *listed,
                         const struct broker_fill *fill, int64_t execution)
{
    const struct broker_terms *terms = &order->terms;
    const bool ended = order->state == BROKER_CANCELED;
    text_format(out, "{\"e\":\"executionReport\",\"E\":%lld,\"s\":\"%s\"",
                (long long)(order->updated_ns / NS_PER_MS), listed->name);
    keyed_str(out, "c", ended ? order->cancel_id : terms->client_id);
    keyed_str(out, "S", terms->side == ORDER_BUY ? "BUY" : "SELL");
    keyed_str(out, "o", replay_orders_type(terms));
    keyed_str(out, "f", order_tif_name(terms->tif));
    keyed_e8(out, "q", terms->qty);
    keyed_e8(out, "p", terms->price);
    keyed_e8(out, "P", terms->stop);
    keyed_e8(out, "F", 0);
    keyed_int(out, "g", -1);
    keyed_str(out, "C", ended ? terms->client_id : "");
    keyed_str(out, "x", fill ? "TRADE" : order->amended ? "REPLACED" : replay_orders_state(order));
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
    keyed_int(out, "T", order->updated_ns / NS_PER_MS);
    keyed_int(out, "t", fill ? fill->id : -1);
    keyed_int(out, "I", execution);
    keyed_bool(out, "w", broker_is_open(order) && !order->waits);
    text_str(out, fill && fill->maker ? ",\"m\":true,\"M\":true" : ",\"m\":false,\"M\":false");
    keyed_int(out, "O", order->time_ns / NS_PER_MS);
    keyed_e16(out, "Z", order->quote);
    keyed_e16(out, "Y", fill ? (int128_t)fill->price * fill->qty : 0);
    keyed_e8(out, "Q", terms->quote);
    keyed_int(out, "W", order->time_ns / NS_PER_MS);
    keyed_str(out, "V", "EXPIRE_MAKER");
    text_lit(out, "}");
}

/* The two assets of the order's symbol. */
static void write_position(struct text *out, const struct broker_account *account,
                           const struct symbol *listed)
{
    bool first = true;
    text_format(out, "{\"e\":\"outboundAccountPosition\",\"E\":%lld,\"u\":%lld,\"B\":[",
                (long long)(account->updated_ns / NS_PER_MS), (long long)(account->updated_ns / NS_PER_MS));
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
    replay_client_say(((struct binance_session *)user)->client, text, strlen(text));
}

static void send_event(struct binance_session *s, const struct text *event)
{
    struct text out = {0};
    text_format(&out, "{\"subscriptionId\":%d,\"event\":", s->subscription);
    text_bytes(&out, event->data, event->len);
    text_lit(&out, "}");
    replay_broker_event(&s->events, s->orders->faults, text_take(&out), say, s);
}

void replay_user_data_changed(struct binance_orders *orders, const struct broker_order *order,
                              const struct broker_fill *fill)
{
    const struct broker_account *account = replay_broker_account_of(orders->broker, order->terms.account);
    struct symbol listed;
    struct text report = {0}, position = {0};
    orders->executions++;
    if (!orders->sessions || !replay_orders_symbol(orders, order->terms.symbol, &listed))
        return;
    write_report(&report, order, &listed, fill, orders->executions);
    write_position(&position, account, &listed);
    for (struct binance_session *s = orders->sessions; s && text_ok(&report) && text_ok(&position);
         s = s->next) {
        if (s->subscription < 0 || s->account != order->terms.account)
            continue;
        send_event(s, &position);
        send_event(s, &report);
    }
    text_finish(&report);
    text_finish(&position);
}

#include "exchange/replay/binance/order_list_text.h"

#include "exchange/replay/keyed.h"

static const char *const kinds[] = {[BROKER_OCO] = "OCO", [BROKER_OTO] = "OTO"};

static const char *state_of(const struct broker_list *list)
{
    return list->done ? "ALL_DONE" : "EXECUTING";
}

/* The orders, by the names of an answer's or of an event's members. */
static void write_orders(struct text *out, const struct broker *broker, const struct broker_list *list,
                         const char *symbol, const char *symbol_name, const char *id_name,
                         const char *client_name)
{
    size_t n;
    const struct broker_order *all = replay_broker_orders(broker, &n);
    text_lit(out, "[");
    for (int i = 0; i < list->n; i++) {
        const struct broker_order *order = &all[list->orders[i]];
        text_format(out, "%s{\"%s\":\"%s\"", i > 0 ? "," : "", symbol_name, symbol);
        keyed_int(out, id_name, order->id);
        keyed_str(out, client_name, order->terms.client_id);
        text_lit(out, "}");
    }
    text_lit(out, "]");
}

void replay_list_text(struct text *out, const struct order_clock *clock, const struct broker *broker,
                      const struct broker_list *list, const char *symbol, bool open)
{
    text_format(out, "{\"orderListId\":%lld", (long long)list->id);
    keyed_str(out, "contingencyType", kinds[list->kind]);
    keyed_str(out, "listStatusType", list->done ? "ALL_DONE" : "EXEC_STARTED");
    keyed_str(out, "listOrderStatus", state_of(list));
    keyed_str(out, "listClientOrderId", list->client_id);
    keyed_int(out, "transactionTime", order_clock_time(clock, list->updated_ns));
    keyed_str(out, "symbol", symbol);
    text_lit(out, ",\"orders\":");
    write_orders(out, broker, list, symbol, "symbol", "orderId", "clientOrderId");
    text_str(out, open ? "" : "}");
}

void replay_list_text_status(struct text *out, const struct broker *broker, const struct broker_list *list,
                             const char *symbol)
{
    text_format(out, "{\"orderListId\":%lld", (long long)list->id);
    keyed_str(out, "contingencyType", kinds[list->kind]);
    keyed_str(out, "listOrderStatus", state_of(list));
    keyed_str(out, "listClientOrderId", list->client_id);
    keyed_str(out, "symbol", symbol);
    text_lit(out, ",\"orders\":");
    write_orders(out, broker, list, symbol, "symbol", "orderId", "clientOrderId");
    text_lit(out, "}");
}

void replay_list_text_event(struct text *out, const struct order_clock *clock, const struct broker *broker,
                            const struct broker_list *list, const char *symbol, enum broker_list_event event)
{
    static const char *const events[] = {[BROKER_LIST_STARTED] = "EXEC_STARTED",
                                         [BROKER_LIST_UPDATED] = "UPDATED",
                                         [BROKER_LIST_DONE] = "ALL_DONE"};
    text_format(out, "{\"e\":\"listStatus\",\"E\":%lld,\"s\":\"%s\"",
                (long long)order_clock_time(clock, list->updated_ns), symbol);
    keyed_int(out, "g", list->id);
    keyed_str(out, "c", kinds[list->kind]);
    keyed_str(out, "l", events[event]);
    keyed_str(out, "L", state_of(list));
    keyed_str(out, "r", "NONE");
    keyed_str(out, "C", list->client_id);
    keyed_int(out, "T", order_clock_time(clock, list->updated_ns));
    text_lit(out, ",\"O\":");
    write_orders(out, broker, list, symbol, "s", "i", "c");
    text_lit(out, "}");
}

/* Binance's answers and events about order lists. */
#ifndef EXCHANGE_REPLAY_BINANCE_ORDER_LIST_TEXT_H
#define EXCHANGE_REPLAY_BINANCE_ORDER_LIST_TEXT_H

#include "exchange/replay/binance/orders.h"
#include "exchange/replay/broker/order_lists.h"
#include "exchange/text.h"

/* A list and its orders. `open`: the object is left open, for more members. */
void replay_list_text(struct text *out, const struct order_clock *clock, const struct broker *broker,
                      const struct broker_list *list, const char *symbol, bool open);

/* What an amendment says of the list of its order: "listStatus". */
void replay_list_text_status(struct text *out, const struct broker *broker, const struct broker_list *list,
                             const char *symbol);

/* The listStatus event of user data. */
void replay_list_text_event(struct text *out, const struct order_clock *clock, const struct broker *broker,
                            const struct broker_list *list, const char *symbol, enum broker_list_event event);

#endif

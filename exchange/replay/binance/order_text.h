/* Binance's answers about orders and accounts. */
#ifndef EXCHANGE_REPLAY_BINANCE_ORDER_TEXT_H
#define EXCHANGE_REPLAY_BINANCE_ORDER_TEXT_H

#include "exchange/replay/binance/orders.h"
#include "exchange/text.h"

/* A new order; `how` is the first letter of ACK, RESULT or FULL. */
void replay_order_text_placed(struct text *out, const struct order_clock *clock,
                              const struct broker_order *order, const struct symbol *listed, char how,
                              const struct broker_fill *fills, size_t n);
void replay_order_text_queried(struct text *out, const struct order_clock *clock,
                               const struct broker_order *order, const struct symbol *listed);
void replay_order_text_cancelled(struct text *out, const struct order_clock *clock,
                                 const struct broker_order *order, const struct symbol *listed);
/* After its change; `client_id`: before it. */
void replay_order_text_amended(struct text *out, const struct order_clock *clock,
                               const struct broker_order *order, const struct symbol *listed,
                               const char *client_id);
void replay_order_text_trade(struct text *out, const struct order_clock *clock,
                             const struct broker_fill *fill, const struct broker_order *order,
                             const struct symbol *listed);
void replay_order_text_account(struct text *out, const struct order_clock *clock,
                               const struct broker_account *account, int uid, bool omit_zeros);
/* Of an order that is only tested. */
void replay_order_text_rates(struct text *out);
void replay_order_text_commission(struct text *out, const char *symbol);

#endif

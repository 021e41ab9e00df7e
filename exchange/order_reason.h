/* Why an order was refused, in words for people. */
#ifndef EXCHANGE_ORDER_REASON_H
#define EXCHANGE_ORDER_REASON_H

#include "exchange/order.h"

/* "the price is too far from the market"; "refused" where there is no more to say. */
const char *order_reason_words(enum order_reason reason);

#endif

/* What of Alpaca's replies is not used, written down for the one who asked. */
#ifndef EXCHANGE_ALPACA_LEFT_OUT_H
#define EXCHANGE_ALPACA_LEFT_OUT_H

#include "exchange/json.h"
#include "exchange/venue.h"

/* One more: whose (data NULL: not said), and one line, in which bytes that are no printing ASCII become '?'.
 */
void alpaca_left_out_add(struct venue_left_out *left_out, struct json_text symbol, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

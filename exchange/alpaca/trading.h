/* Alpaca's orders: the trading stream (/stream), which says what happens to them, and the object that an
 * order is there and in REST. The stream's frames hold JSON, in binary frames on the paper API; numbers are
 * strings, null where nothing is said. */
#ifndef EXCHANGE_ALPACA_TRADING_H
#define EXCHANGE_ALPACA_TRADING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/alpaca/reader.h"

enum { ALPACA_ORDER_SCALE = 9 }; /* of its amounts and prices */

enum alpaca_trading_kind {
    TRADING_AUTHORIZED,
    TRADING_REFUSED, /* the keys */
    TRADING_LISTENING,
    TRADING_UPDATE,
};

enum alpaca_order_event {
    ORDER_EVENT_OTHER, /* an unknown word: see `event` */
    ORDER_EVENT_NEW,
    ORDER_EVENT_FILL,
    ORDER_EVENT_PARTIAL_FILL,
    ORDER_EVENT_CANCELED,
    ORDER_EVENT_EXPIRED,
    ORDER_EVENT_DONE_FOR_DAY,
    ORDER_EVENT_REPLACED,
    ORDER_EVENT_REJECTED,
    ORDER_EVENT_PENDING_NEW,
    ORDER_EVENT_PENDING_CANCEL,
    ORDER_EVENT_PENDING_REPLACE,
    ORDER_EVENT_STOPPED,
    ORDER_EVENT_SUSPENDED,
    ORDER_EVENT_CALCULATED,
    ORDER_EVENT_CANCEL_REJECTED,
    ORDER_EVENT_REPLACE_REJECTED,
    ORDER_EVENTS,
};

/* Texts lie within the frame; empty where nothing is said. Amounts are units of 10^-9, -1 where nothing is
 * said; the average price is cut there. Times are 0 where nothing is said. */
struct alpaca_order {
    struct json_text id, client_id, symbol, side, type, time_in_force, status;
    int64_t qty, filled_qty, filled_avg_price, limit_price, stop_price;
    int64_t submitted_ns, updated_ns;
};

/* The object that comes next. False: malformed, or one without an id. An order of several legs has neither
 * symbol nor side. */
bool alpaca_read_order(struct reader *reader, struct alpaca_order *ret);

struct alpaca_trading {
    enum alpaca_trading_kind kind;
    struct json_text said; /* REFUSED: why */
    bool updates;          /* LISTENING: to orders */
    /* UPDATE */
    enum alpaca_order_event event_kind;
    struct json_text event, event_id, execution_id;
    int64_t ts_ns;
    int64_t price, qty;   /* of a fill */
    int64_t position_qty; /* after a fill; below 0 when short, INT64_MIN where nothing is said */
    struct alpaca_order order;
};

/* 0; 1 for another stream's message; -EBADMSG, also for an update without event, time, or its order's id, and
 * for a fill of a symbol without price and quantity. */
int alpaca_parse_trading(const char *frame, size_t len, struct alpaca_trading *ret);

#endif

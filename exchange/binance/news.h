/* What a connection says about itself, between the frames of its streams. */
#ifndef EXCHANGE_BINANCE_NEWS_H
#define EXCHANGE_BINANCE_NEWS_H

#include "exchange/json.h"

struct binance_news {
    bool shutdown; /* serverShutdown: it will be closed soon */
    bool answered; /* an answer to the request `id` */
    bool refused;  /* it, or the connection, was refused: code and msg */
    int64_t id;
    struct json list; /* at the array of names, if the answer is one */
    bool listed;
};

/* Frames of streams begin so; only others are worth binance_news_read(). */
bool binance_is_market_data(const char *frame, size_t len);

/* False for a text that is no news. */
bool binance_news_read(const char *frame, size_t len, struct binance_news *ret);

#endif

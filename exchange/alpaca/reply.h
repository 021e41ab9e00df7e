/* A reply of Alpaca's market data REST: trades, quotes, bars or order books by symbol, lists or the latest
 * one, and snapshots, into the events that the streams tell. */
#ifndef EXCHANGE_ALPACA_REPLY_H
#define EXCHANGE_ALPACA_REPLY_H

#include "exchange/alpaca/message.h"

struct alpaca_reply {
    struct json_text next_page; /* token, within the text; empty: the last page */
    size_t messages;
    size_t odd; /* those that the streams' rules refuse, or books of too many levels: left out */
};

struct alpaca_reply_handler {
    /* Whose the messages that follow are; NULL leaves them out. */
    const struct symbol *(*symbol)(void *user, struct json_text name);
    /* One message; ret->symbol is not written, KLINE says one minute whatever was asked for. 0 goes on; any
     * other value ends the reading and is returned. */
    int (*message)(void *user, const struct symbol *symbol, const struct market_event *event);
    void *user;
};

/* 0; -EBADMSG for another text. */
int alpaca_parse_reply(const char *text, size_t len, struct alpaca_levels *levels,
                       const struct alpaca_reply_handler *handler, struct alpaca_reply *ret);

#endif

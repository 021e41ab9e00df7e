/* What of a list of orders, trades or order lists is asked for: from an id or a time on the first ones, else
 * the last ones, up to a time. */
#ifndef EXCHANGE_REPLAY_BINANCE_ORDER_PAGE_H
#define EXCHANGE_REPLAY_BINANCE_ORDER_PAGE_H

#include "exchange/replay/binance/order_call.h"

struct order_page {
    int64_t from_id, from_ns, to_ns; /* -1: not sent */
    int64_t limit;                   /* the usual one where it was not sent */
    bool last;
    size_t first, end; /* indices of what it has */
};

/* 0, or the status of the refusal, whose body is written. */
int replay_page_read(struct order_call *c, const char *id_name, struct order_page *ret);
int replay_page_bad(struct order_call *c); /* parameters that do not go together */

bool replay_page_has(const struct order_page *page, int64_t id, int64_t ns);

/* Of `n` in order of time: where the page begins and ends. */
void replay_page_find(const struct order_call *c, struct order_page *page, size_t n,
                      bool (*in_page)(const struct order_call *c, const struct order_page *page, size_t at));

#endif

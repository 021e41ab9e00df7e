/* A venue's filters in words, with its own numbers: what a refusal says beyond its reason, and what a form
 * shows before there is one. */
#ifndef EXCHANGE_FILTER_WORDS_H
#define EXCHANGE_FILTER_WORDS_H

#include "exchange/filter.h"

enum { ORDER_WORDS_MAX = 320 }; /* of why an order was refused */

/* "the price is too far from the market: 12000 to 300000, 0.2 to 5 times 60000", in `words`, of the filter
 * that such a request is refused by, a notional with the product; NULL: the reason is no filter's, or it has
 * no bound. */
const char *filter_words(const struct symbol *symbol, const struct filter_request *request,
                         enum order_reason reason, char words[static ORDER_WORDS_MAX]);

/* One bound's name in the field, and its value: "tick 0.01, 0.01 to 1000000"; "": the venue has none.
 * `reference` as in struct filter_request. */
enum filter_rule {
    FILTER_RULE_PRICE,
    FILTER_RULE_QTY,
    FILTER_RULE_MARKET_QTY,
    FILTER_RULE_NOTIONAL,
    FILTER_RULE_BAND,
    FILTER_RULE_ORDERS,
    FILTER_RULES,
};
void filter_rule_words(const struct symbol *symbol, enum filter_rule rule, enum order_side side,
                       int64_t reference, char words[static ORDER_WORDS_MAX]);

#endif

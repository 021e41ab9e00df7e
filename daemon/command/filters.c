/* A refusal of a venue's filter in words: with the bounds that the order's numbers are outside of. */
#include "daemon/command/internal.h"

const char *daemon_command_filter_words(const struct engine *engine, enum order_reason reason,
                                        const struct order *legs, int n_legs,
                                        char words[static ORDER_WORDS_MAX])
{
    const struct symbol *symbol = engine_symbol(engine, legs[0].symbol);
    struct filter_request request;
    int i = 0;
    do
        request = engine_filter_request(engine, &legs[i], i);
    while (filter_check(symbol, &request) != reason && ++i < n_legs);
    return filter_words(symbol, &request, reason, words);
}

const char *daemon_command_amend_words(const struct engine *engine, enum order_reason reason,
                                       const struct order_amend *amend, char words[static ORDER_WORDS_MAX])
{
    const struct order *found = engine_find_order(engine, amend->order_id);
    if (!found)
        return NULL;
    struct order order = *found;
    if (amend->set & AMEND_QTY)
        order.qty = amend->qty;
    if (amend->set & AMEND_PRICE)
        order.price = amend->price;
    if (amend->set & AMEND_STOP)
        order.stop_price = amend->stop_price;
    return daemon_command_filter_words(engine, reason, &order, 1, words);
}

/* A refusal of a venue's filter in words: with the bounds that the order's numbers are outside of. */
#include "daemon/command/internal.h"
#include "exchange/filter_words.h"

const char *daemon_command_filter_words(const struct engine *engine, enum order_reason reason,
                                        const struct order *legs, int n_legs,
                                        char words[static LACK_WORDS_MAX])
{
    const struct symbol *symbol = engine_symbol(engine, legs[0].symbol);
    struct filter_request request = engine_filter_request(engine, &legs[0], 0);
    for (int i = 1; i < n_legs && filter_check(symbol, &request) != reason; i++) {
        const struct filter_request other = engine_filter_request(engine, &legs[i], i);
        if (filter_check(symbol, &other) == reason)
            request = other;
    }
    return filter_words(symbol, &request, reason, words);
}

const char *daemon_command_amend_words(const struct engine *engine, enum order_reason reason,
                                       const struct order_amend *amend, char words[static LACK_WORDS_MAX])
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

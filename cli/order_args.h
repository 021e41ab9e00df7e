/* What a command line asks of the paper exchange, as the control socket's arguments (docs/control.md). */
#ifndef CLI_ORDER_ARGS_H
#define CLI_ORDER_ARGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The options as they were given; NULL or false where they were not. */
struct order_wish {
    const char *state, *account, *symbol, *client_id, *key;
    const char *type, *tif, *expire;
    const char *qty, *limit, *stop, *stop_limit, *take_profit, *take_profit_stop, *trail;
    const char *bracket_take_profit, *bracket_take_profit_stop;
    const char *bracket_stop, *bracket_stop_limit, *bracket_trail;
    bool post_only, reduce_only, all;
};

/* One order or a bracket: buy or sell, SYMBOL, QTY. One of the functions' result is the caller's; NULL when
 * the line contradicts itself: *ret_words says what would be right. */
json_t *order_args_single(const char *side, const char *symbol, const char *qty,
                          const struct order_wish *wish, const char **ret_words);

/* `oco sell SYMBOL QTY`: a take-profit (a limit order, or one that a price triggers) and a stop, of which one
 * trades. */
json_t *order_args_oco(const char *side, const char *symbol, const char *qty, const struct order_wish *wish,
                       const char **ret_words);

/* New numbers for the order that `name` names, its number or its client id; NULL where wish->client_id does.
 */
json_t *order_args_amend(const char *name, const struct order_wish *wish, const char **ret_words);

/* One order as above, or with wish->all every one. */
json_t *order_args_cancel(const char *name, const struct order_wish *wish, const char **ret_words);

/* Does the word look as an order's name can, 1 to 36 of A-Z a-z 0-9 . _ : / -? */
bool order_args_is_id(const char *word);

#endif

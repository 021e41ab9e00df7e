/* The venue's limit of orders of an account that nothing was filled of, in windows of its clock. Each order
 * that is accepted counts, and counts no longer from its first fill on. */
#ifndef EXCHANGE_REPLAY_BINANCE_ORDER_COUNTS_H
#define EXCHANGE_REPLAY_BINANCE_ORDER_COUNTS_H

#include <stdint.h>

#include "exchange/text.h"

struct binance_orders;

enum { ORDER_WINDOWS = 2 };

/* As exchangeInfo has them. */
struct order_window {
    const char *interval;
    int num, limit;
    int64_t length_ns;
    const char *header;
};
extern const struct order_window replay_order_windows[ORDER_WINDOWS];

/* How many in the window of that index. */
struct order_count {
    int64_t index;
    int used;
};

int replay_order_unfilled(struct binance_orders *orders, int account, int window);
void replay_order_count(struct binance_orders *orders, int account, int by); /* not below 0 */

/* The limits as JSON objects with commas between; with the account's counts where `orders` is not NULL. */
void replay_order_limits_write(struct text *out, struct binance_orders *orders, int account);

#endif

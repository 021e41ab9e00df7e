/* At most N connection attempts in any window: a venue bans the address that passes its limit (one: 300
 * per 5 minutes). Shared by everything that connects to one venue. Pure: time is passed in. */
#ifndef EXCHANGE_NET_BUDGET_H
#define EXCHANGE_NET_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum {
    BUDGET_ATTEMPTS_MAX = 300,
    BUDGET_ATTEMPTS_DEFAULT = 60, /* a fifth of the strictest limit: other programs may share the address */
    BUDGET_WINDOW_MS_DEFAULT = 5 * 60 * 1000,
};

struct budget {
    int64_t window_ms;
    uint32_t limit;
    uint32_t n, next; /* attempts remembered; where the next one goes */
    int64_t attempts_ms[BUDGET_ATTEMPTS_MAX];
};

/* limit in 1..BUDGET_ATTEMPTS_MAX (clamped); window_ms > 0. */
void net_budget_init(struct budget *budget, uint32_t limit, int64_t window_ms);

/* When the next attempt is allowed: now_ms or later. Time must not run backward. */
int64_t net_budget_next_ms(const struct budget *budget, int64_t now_ms);

/* Attempts in the window that ends now. */
uint32_t net_budget_used(const struct budget *budget, int64_t now_ms);

/* Takes one attempt. False, and nothing taken, when the window has no attempt left. */
bool net_budget_take(struct budget *budget, int64_t now_ms);

#endif

#include "exchange/net/budget.h"

void net_budget_init(struct budget *budget, uint32_t limit, int64_t window_ms)
{
    if (limit < 1)
        limit = 1;
    if (limit > BUDGET_ATTEMPTS_MAX)
        limit = BUDGET_ATTEMPTS_MAX;
    *budget = (struct budget){.window_ms = window_ms, .limit = limit};
}

/* The i-th newest attempt, i < n. */
static int64_t attempt_ms(const struct budget *budget, uint32_t i)
{
    return budget->attempts_ms[(budget->next + budget->limit - 1 - i) % budget->limit];
}

int64_t net_budget_next_ms(const struct budget *budget, int64_t now_ms)
{
    if (budget->n < budget->limit)
        return now_ms;
    int64_t free_ms = attempt_ms(budget, budget->limit - 1) + budget->window_ms;
    return free_ms > now_ms ? free_ms : now_ms;
}

uint32_t net_budget_used(const struct budget *budget, int64_t now_ms)
{
    uint32_t used = 0;
    while (used < budget->n && attempt_ms(budget, used) + budget->window_ms > now_ms)
        used++;
    return used;
}

bool net_budget_take(struct budget *budget, int64_t now_ms)
{
    if (net_budget_next_ms(budget, now_ms) > now_ms)
        return false;
    budget->attempts_ms[budget->next] = now_ms;
    budget->next = (budget->next + 1) % budget->limit;
    if (budget->n < budget->limit)
        budget->n++;
    return true;
}

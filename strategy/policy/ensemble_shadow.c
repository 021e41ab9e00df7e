/* A member's own account on paper, as ensemble.h defines it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "indicators_gpu/indicators.h"
#include "strategy/policy/ensemble_internal.h"

struct shadow {
    const struct policy *policy;
    struct policy_rules rules;
    double slippage;
    double cash;
    double *qty;                  /* [n_assets] units */
    struct policy_memory *memory; /* [n_assets]; a quantum is a unit */
    double equity;                /* at the last row's close */
    bool started;                 /* there was one */
    double *returns;              /* [window], a ring: return k is at k % window */
    uint64_t n, window;           /* returns so far */
};

int policy_shadow_create(const struct policy *policy, int window_bars, struct shadow **ret)
{
    size_t n = (size_t)policy->n_assets;
    struct shadow *shadow = calloc(1, sizeof *shadow);
    if (!shadow)
        return -ENOMEM;
    shadow->policy = policy;
    shadow->rules = policy->rules;
    shadow->rules.spend = policy_spend(shadow->rules.fee_e6);
    shadow->slippage = policy->slippage_e6 / 1e6;
    shadow->cash = policy->rules.capital;
    shadow->window = (uint64_t)window_bars;
    shadow->qty = calloc(n, sizeof *shadow->qty);
    shadow->memory = calloc(n, sizeof *shadow->memory);
    shadow->returns = calloc((size_t)window_bars, sizeof *shadow->returns);
    if (!shadow->qty || !shadow->memory || !shadow->returns) {
        policy_shadow_destroy(shadow);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        shadow->memory[i].least = policy->assets[i].least;
    *ret = shadow;
    return 0;
}

void policy_shadow_destroy(struct shadow *shadow)
{
    if (!shadow)
        return;
    free(shadow->qty);
    free(shadow->memory);
    free(shadow->returns);
    free(shadow);
}

void policy_shadow_mark(struct shadow *shadow, const double *closes)
{
    double equity = shadow->cash;
    for (int i = 0; i < shadow->policy->n_assets; i++)
        equity += shadow->qty[i] * closes[i];
    if (shadow->started)
        shadow->returns[shadow->n++ % shadow->window] = shadow->equity > 0 ? equity / shadow->equity - 1 : 0;
    shadow->equity = equity;
    shadow->started = true;
}

double policy_shadow_holds(const struct shadow *shadow, const double **ret_qty)
{
    *ret_qty = shadow->qty;
    return shadow->cash;
}

static void buy(struct shadow *shadow, int asset, double qty, double close)
{
    double price = close * (1 + shadow->slippage) * (1 + shadow->rules.fee_e6 / 1e6);
    qty = policy_min(qty, policy_max(shadow->cash, 0) / price);
    if (shadow->qty[asset] <= 0)
        shadow->memory[asset].peak = close; /* a new position has a new peak */
    shadow->qty[asset] += qty;
    shadow->cash -= qty * price;
}

static void sell(struct shadow *shadow, int asset, double qty, double close)
{
    double price = close * (1 - shadow->slippage) * (1 - shadow->rules.fee_e6 / 1e6);
    qty = policy_min(qty, shadow->qty[asset]);
    shadow->qty[asset] -= qty;
    shadow->cash += qty * price;
}

void policy_shadow_trade(struct shadow *shadow, int asset, float action, double unit, double close)
{
    const struct policy_rules *rules = &shadow->rules;
    struct policy_memory *memory = &shadow->memory[asset];
    double qty = shadow->qty[asset];
    memory->scale = unit;
    policy_watch(rules, memory, qty, close);
    bool leaves = rules->trailing_stop > 0 && qty > 0 && close <= memory->peak * (1 - rules->trailing_stop);
    double delta =
        leaves ? -qty : policy_intent(rules, memory, action, close, 1 / close, shadow->equity, shadow->cash);
    if (delta > 0)
        buy(shadow, asset, delta, close);
    else if (delta < 0)
        sell(shadow, asset, -delta, close);
}

double policy_shadow_sharpe(const struct shadow *shadow)
{
    double sum = 0, squares = 0, n = (double)shadow->window;
    if (shadow->n < shadow->window)
        return NAN;
    for (uint64_t k = shadow->n - shadow->window; k < shadow->n; k++)
        sum += shadow->returns[k % shadow->window];
    double mean = sum / n;
    for (uint64_t k = shadow->n - shadow->window; k < shadow->n; k++) {
        double off = shadow->returns[k % shadow->window] - mean;
        squares += off * off;
    }
    double sharpe = mean / sqrt(squares / (n - 1));
    return isfinite(sharpe) ? sharpe : NAN;
}

void policy_shadow_visit(struct shadow *shadow, const struct indicator_stream_fields *fields)
{
    uint64_t started = shadow->started;
    fields->number(fields->ctx, &shadow->cash);
    for (int i = 0; i < shadow->policy->n_assets; i++) {
        struct policy_memory *memory = &shadow->memory[i];
        fields->number(fields->ctx, &shadow->qty[i]);
        fields->number(fields->ctx, &memory->qty);
        fields->number(fields->ctx, &memory->held);
        fields->number(fields->ctx, &memory->cool);
        fields->number(fields->ctx, &memory->peak);
    }
    fields->number(fields->ctx, &shadow->equity);
    fields->count(fields->ctx, &started, 1);
    fields->count(fields->ctx, &shadow->n, INT64_MAX / 2);
    shadow->started = started != 0;
    uint64_t kept = shadow->n < shadow->window ? shadow->n : shadow->window;
    for (uint64_t k = shadow->n - kept; k < shadow->n; k++)
        fields->number(fields->ctx, &shadow->returns[k % shadow->window]);
}

/* Replaces what trades for an account by another policy, or by none: what continues, and what starts again.
 *
 * The account continues unchanged: its cash, positions, stops, and orders on their way. What is remembered
 * of a symbol that both trade continues; scales, rows and what a runtime remembers are the new policy's
 * own, from the recent bars. It first decides on bars that open after those that are there. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/driver.h"

/* Limits continue where there were any; else they begin with the equity of the first decision. */
static void inherit_limits(struct policy_driver *to, const struct policy_driver *from)
{
    if (to->policy && from->policy && policy_has_limits(&to->policy->rules.limits))
        to->all = from->all;
}

void engine_driver_inherit(struct policy_driver *to, const struct policy_driver *from, const int *now)
{
    inherit_limits(to, from);
    for (int k = 0; to->policy && from->policy && k < from->policy->n_assets; k++) {
        const struct policy_slot *had = &from->slots[k];
        int symbol = now ? now[had->symbol] : had->symbol;
        for (int i = 0; i < to->policy->n_assets; i++) {
            struct policy_slot *slot = &to->slots[i];
            if (symbol < 0 || slot->symbol != symbol)
                continue;
            double factor = (double)had->quantum / (double)slot->quantum;
            slot->memory.qty = had->memory.qty * factor;
            slot->memory.held = had->memory.held;
            slot->memory.cool = had->memory.cool;
            slot->memory.peak = had->memory.peak;
            slot->memory.taken = policy_has_limits(&to->policy->rules.limits) ? had->memory.taken : 0;
        }
    }
}

static double moved_along(double value, int64_t before, int64_t after)
{
    return before > 0 && after > 0 ? value * ((double)after / (double)before) : 0;
}

void engine_driver_flow(struct engine *engine, int account, int64_t before, int64_t after)
{
    struct policy_portfolio *all = &engine->runners[account].driver.all;
    all->peak = moved_along(all->peak, before, after);
    all->opening = moved_along(all->opening, before, after);
}

void engine_driver_begin(struct engine *engine, int account)
{
    struct policy_driver *driver = &engine->runners[account].driver;
    if (driver->runtime)
        engine_driver_warm(engine, account);
    for (int i = 0; i < driver->policy->n_assets && !driver->runtime; i++) {
        const struct market_state *market = &engine->markets[driver->slots[i].symbol];
        const int64_t last_ns = market->bars > 0 ? market->last_bar.open_ns : 0;
        const bool comes =
            last_ns == engine_request_until(engine, account, driver->slots[i].symbol, INT64_MAX);
        if (last_ns > driver->round_ns)
            driver->round_ns = last_ns - comes; /* it comes to this account yet */
    }
    engine_driver_scales(engine, account);
}

void engine_driver_split(struct engine *engine, int account, int symbol, int64_t before, int64_t shares,
                         int64_t per)
{
    const struct policy_driver *driver = &engine->runners[account].driver;
    int64_t after = engine->accounts[account].positions[symbol].qty;
    double ratio = (double)shares / (double)per;
    for (int i = 0; driver->policy && i < driver->policy->n_assets; i++) {
        struct policy_slot *slot = &driver->slots[i];
        if (slot->symbol != symbol)
            continue;
        /* The position that it saw last counts as held in new shares, so that the split is neither a sale
         * nor a purchase. */
        bool seen = slot->memory.qty == (before > 0 ? (double)(before / slot->quantum) : 0);
        slot->memory.qty =
            seen ? (after > 0 ? (double)(after / slot->quantum) : 0) : floor(slot->memory.qty * ratio);
        slot->memory.scale *= ratio;
        slot->memory.peak = rint(slot->memory.peak / ratio);
    }
}

static bool trades(const struct policy_driver *driver, int symbol)
{
    for (int i = 0; driver->policy && i < driver->policy->n_assets; i++)
        if (driver->slots[i].symbol == symbol)
            return true;
    return false;
}

void engine_driver_again(struct engine *engine, int account, int symbol)
{
    struct policy_driver *driver = &engine->runners[account].driver;
    struct policy_runtime *runtime = NULL;
    if (!driver->runtime || !trades(driver, symbol))
        return;
    if (driver->policy->runtime->create(driver->policy, &runtime) < 0) {
        engine->out_of_memory = true;
        return;
    }
    driver->policy->runtime->destroy(driver->runtime);
    driver->runtime = runtime;
    driver->round_ns = 0;
    engine_driver_warm(engine, account);
    engine_driver_find_waiting(engine);
}

static void report_left(struct engine *engine, int account)
{
    const struct account *holder = &engine->accounts[account];
    const struct policy_driver *driver = &engine->runners[account].driver;
    char names[160] = "";
    size_t len = 0;
    int n = 0;
    for (int s = 0; s < engine->n_symbols; s++) {
        if (holder->positions[s].qty == 0 || trades(driver, s))
            continue;
        const char *name = engine->markets[s].symbol.name;
        if (len + strlen(name) + sizeof ", " < sizeof names)
            len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", n ? ", " : "", name);
        n++;
    }
    if (n > 0)
        engine_alert(engine, "POLICY_LEFT", ENGINE_OF(account, -1, 0),
                     "account %s keeps its positions, with their stops, that %s: %d, of %s", holder->name,
                     driver->policy ? "its new policy does not trade" : "nothing trades for it any more", n,
                     names);
}

/* Puts the new policy, or none, into the driver: 0, or an error with everything unchanged. */
static int replace(struct engine *engine, int account, const struct policy *policy)
{
    struct policy_driver *driver = &engine->runners[account].driver, former = *driver;
    *driver = (struct policy_driver){0};
    int r = policy ? engine_driver_open(engine, account, policy) : 0;
    if (r == 0 && policy && !engine_driver_is_in_quanta(engine, account))
        r = -EINVAL;
    struct policy_driver made = *driver;
    if (r == 0 && policy && former.policy && policy_same_rules(policy, former.policy))
        engine_driver_move(&made, &former);
    else if (r == 0)
        engine_driver_inherit(&made, &former, NULL);
    *driver = r == 0 ? former : made;
    engine_driver_close(engine, account);
    *driver = r == 0 ? made : former;
    return r;
}

enum order_reason engine_driver_swap(struct engine *engine, int account, const struct policy *policy,
                                     bool close)
{
    struct strategy_runner *runner = &engine->runners[account];
    struct account_spec *spec = &engine->specs[account];
    const struct policy *before = spec->policy;
    bool same = policy && before && memcmp(policy->id, before->id, sizeof before->id) == 0;
    if (!same) {
        bool same_rules = policy && before && policy_same_rules(policy, before);
        int r = replace(engine, account, policy);
        if (r == -ENOMEM)
            engine->out_of_memory = true;
        if (r < 0)
            return ORDER_BAD_ACCOUNT;
        engine_request_forget(engine, account);
        engine_runner_leave(engine, account);
        engine_kept_drop(engine, account);
        spec->policy = policy;
        if (policy && policy->calendar)
            spec->session = policy->session;
        spec->strategy = NULL;
        memset(spec->params, 0, sizeof spec->params);
        if (policy && !same_rules)
            engine_driver_begin(engine, account);
        engine_driver_find_waiting(engine);
        if (engine->sink.account)
            engine->sink.account(engine->sink.ctx, account);
    }
    runner->closing = close && !policy;
    engine->closes |= runner->closing;
    if (close)
        engine_runner_quit(engine, account);
    else if (!same)
        report_left(engine, account);
    return ORDER_OK;
}

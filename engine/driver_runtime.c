/* What a policy's runtime is shown, and with what it is asked: strategy/policy/policy.h. */
#include "engine/driver.h"
#include "exchange/decimal.h"
#include "strategy/policy/rows.h"

int64_t engine_driver_first(const struct policy_driver *driver)
{
    return driver->runtime ? driver->policy->runtime->first(driver->runtime) : driver->policy->first_ns;
}

static struct policy_rows rows_of(const struct engine *engine, const struct policy_driver *driver)
{
    return policy_rows_of(driver->policy, engine_calendar(engine, driver->slots[0].symbol));
}

/* The runtime, by the calendar that is known now; a driver without one has none. */
static struct policy_runtime *runtime_of(const struct engine *engine, const struct policy_driver *driver)
{
    if (driver->policy->runtime->use)
        driver->policy->runtime->use(driver->runtime, engine_calendar(engine, driver->slots[0].symbol));
    return driver->runtime;
}

bool engine_driver_ready(const struct engine *engine, int account)
{
    const struct policy_driver *driver = &engine->runners[account].driver;
    const struct policy_rows rows = rows_of(engine, driver);
    int64_t first_ns = engine_driver_first(driver);
    if (driver->runtime)
        return driver->policy->runtime->ready(runtime_of(engine, driver), driver->round_ns);
    return first_ns > 0 && driver->round_ns >= first_ns &&
           policy_rows_between(&rows, first_ns, driver->round_ns) >= driver->policy->lookback - 1;
}

bool engine_driver_leaves(const struct engine *engine, int account)
{
    const struct policy_driver *driver = &engine->runners[account].driver;
    const struct policy_rows rows = rows_of(engine, driver);
    return policy_rows_leaves(&rows, driver->policy, driver->round_ns);
}

void engine_driver_pass_to(struct engine *engine, int account, int64_t open_ns)
{
    const struct policy_driver *driver = &engine->runners[account].driver;
    const struct policy_rows rows = rows_of(engine, driver);
    int64_t n = policy_rows_between(&rows, driver->round_ns, open_ns);
    if (n > 1)
        engine_driver_act(engine, account, policy_rows_after(&rows, driver->round_ns, n - 1), false, NULL);
}

/* Seconds as engine/market/features.c computes them. */
static double seconds_of(int64_t open_ns)
{
    return (double)open_ns / 1e9;
}

void engine_driver_see(struct engine *engine, int account, int asset, const struct bar *bar)
{
    struct policy_driver *driver = &engine->runners[account].driver;
    const struct symbol *symbol = &engine->markets[driver->slots[asset].symbol].symbol;
    const struct indicator_bar seen = {.open = decimal_to_double(bar->open, symbol->price_scale),
                                       .high = decimal_to_double(bar->high, symbol->price_scale),
                                       .low = decimal_to_double(bar->low, symbol->price_scale),
                                       .close = decimal_to_double(bar->close, symbol->price_scale),
                                       .volume = decimal_to_double(bar->volume, symbol->qty_scale),
                                       .time = seconds_of(bar->open_ns)};
    driver->policy->runtime->see(runtime_of(engine, driver), asset, bar->open_ns, &seen);
}

/* The factor from the account's capital to the one that the policy was made for; 1 where they are the same.
 */
static double share_of(const struct account *account, const struct policy *policy)
{
    double units = (double)decimal_pow10(account->currency_scale);
    double made_for = (double)(int64_t)(policy->rules.capital * units + 0.5);
    return made_for > 0 && account->opening_cash > 0 ? made_for / (double)account->opening_cash : 1;
}

bool engine_driver_act(struct engine *engine, int account, int64_t open_ns, bool wanted, float *ret_actions)
{
    const struct policy_driver *driver = &engine->runners[account].driver;
    const struct policy *policy = driver->policy;
    const struct account *holder = &engine->accounts[account];
    double qty[SYMBOLS_MAX], share = share_of(holder, policy);
    if (!driver->runtime)
        return policy->act(policy, open_ns, ret_actions);
    for (int i = 0; i < policy->n_assets; i++) {
        const struct policy_slot *slot = &driver->slots[i];
        int64_t held = holder->positions[slot->symbol].qty;
        qty[i] = held > 0 && slot->units.quantum > 0
                     ? (double)(held / slot->quantum) / slot->units.qty_units * share
                     : 0;
    }
    const struct balance *currency = &holder->assets[holder->currency_at];
    int64_t total = holder->started ? currency->total : holder->opening_cash;
    double cash = decimal_to_double(total, currency->scale) * share;
    return policy->runtime->act(runtime_of(engine, driver), open_ns, cash, qty, wanted ? ret_actions : NULL);
}

void engine_driver_leave(struct engine *engine)
{
    for (int a = 0; a < engine->n_accounts; a++) {
        struct policy_driver *driver = &engine->runners[a].driver;
        if (driver->runtime)
            driver->policy->runtime->destroy(driver->runtime);
        driver->runtime = NULL;
    }
}

uint32_t engine_driver_recent(const struct engine *engine, int account, int symbol)
{
    const struct recent_bars *recent = &engine->markets[symbol].recent;
    const int64_t until_ns = engine_request_until(engine, account, symbol, INT64_MAX);
    uint32_t n = recent->n;
    while (n > 0 && engine_recent_bar(recent, n - 1)->open_ns >= until_ns)
        n--;
    return n;
}

/* Which of its symbols has the oldest next recent bar of its session; of bars of one time the first in its
 * order; -1: all were shown. */
static int next_asset(const struct engine *engine, int account, uint32_t *shown)
{
    const struct policy_driver *driver = &engine->runners[account].driver;
    int next = -1;
    int64_t oldest = INT64_MAX;
    for (int i = 0; i < driver->policy->n_assets; i++) {
        const struct recent_bars *recent = &engine->markets[driver->slots[i].symbol].recent;
        const uint32_t n = engine_driver_recent(engine, account, driver->slots[i].symbol);
        while (shown[i] < n && !engine_kept_takes(engine, account, engine_recent_bar(recent, shown[i])))
            shown[i]++;
        if (shown[i] == n || engine_recent_bar(recent, shown[i])->open_ns >= oldest)
            continue;
        oldest = engine_recent_bar(recent, shown[i])->open_ns;
        next = i;
    }
    return next;
}

void engine_driver_warm(struct engine *engine, int account)
{
    struct policy_driver *driver = &engine->runners[account].driver;
    uint32_t shown[SYMBOLS_MAX] = {0};
    for (int i; (i = next_asset(engine, account, shown)) >= 0;) {
        const struct bar *bar =
            engine_recent_bar(&engine->markets[driver->slots[i].symbol].recent, shown[i]++);
        if (bar->open_ns > driver->round_ns && driver->round_ns > 0) {
            engine_driver_act(engine, account, driver->round_ns, false, NULL);
            engine_driver_pass_to(engine, account, bar->open_ns);
        }
        engine_driver_see(engine, account, i, bar);
        driver->round_ns = bar->open_ns;
    }
    if (driver->round_ns > 0)
        engine_driver_pass(engine, account);
    const struct waiting_event *waiting = &engine->waiting;
    if (waiting->there &&
        (waiting->stage == WAITING_DUE || (waiting->stage == WAITING_BAR && waiting->account < account)))
        engine_driver_due_of(engine, account, waiting->symbol, &waiting->bar);
    engine_driver_scales(engine, account);
}

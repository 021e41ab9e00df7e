/* The policy driver of an account: rounds of bars, and orders from the policy's actions. The rules by which
 * actions become orders are in strategy/policy/rules.h; docs/policies.md describes them.
 *
 * A round is the bars of one open time. The policy decides when the last of its symbols' bars has closed;
 * where bars are missing, once it has waited long enough for them, at the first event that shows it, or as
 * soon as a later bar of any of its symbols comes: before that event or bar takes effect, with FILL_BAR
 * dated by the round's end. Missing bars are not decided on; a bar that comes late is only observed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/driver.h"
#include "engine/together.h"
#include "exchange/clock.h"
#include "exchange/decimal.h"
#include "strategy/policy/limit_rules.h"
#include "strategy/policy/symbol.h"

static const char why_stop[] = "stop";

/* Tags of market orders. */
static const char *const whys[] = {[POLICY_ACTED] = "policy",
                                   [POLICY_STOPPED] = why_stop,
                                   [POLICY_TO_CASH] = "portfolio_stop",
                                   [POLICY_EXPOSED] = "exposure",
                                   [POLICY_PROFITED] = "take_profit"};

static int find_symbol(const struct engine *engine, const struct policy_asset *asset, const char *currency)
{
    int found = -1;
    for (int s = 0; s < engine->n_symbols; s++) {
        const struct symbol *symbol = &engine->markets[s].symbol;
        if (policy_find_symbol(asset, currency, symbol, 1) < 0)
            continue;
        if (strcmp(symbol->name, asset->name) == 0)
            return s;
        if (found < 0)
            found = s;
    }
    return found;
}

void engine_driver_count_quanta(struct policy_slot *slot)
{
    if (slot->units.quantum == 0 || slot->quantum == slot->units.quantum)
        return;
    double factor = (double)slot->quantum / (double)slot->units.quantum;
    slot->memory.scale *= factor;
    slot->memory.least *= factor;
    slot->memory.qty *= factor;
    slot->quantum = slot->units.quantum;
}

int engine_driver_open(struct engine *engine, int index, const struct policy *policy)
{
    struct policy_driver *driver = &engine->runners[index].driver;
    const struct account *account = &engine->accounts[index];
    *driver = (struct policy_driver){.policy = policy, .decided = true};
    if (policy->interval_ns != engine->interval_ns)
        return -EINVAL;
    driver->slots = calloc((size_t)policy->n_assets, sizeof *driver->slots);
    if (!driver->slots)
        return -ENOMEM;
    for (int i = 0; i < policy->n_assets; i++) {
        struct policy_slot *slot = &driver->slots[i];
        slot->symbol = find_symbol(engine, &policy->assets[i], account->currency);
        for (int k = 0; k < i && slot->symbol >= 0; k++)
            if (driver->slots[k].symbol == slot->symbol)
                return -EINVAL;
        const struct symbol *symbol = slot->symbol < 0 ? NULL : &engine->markets[slot->symbol].symbol;
        if (!symbol || strcmp(symbol->quote, account->currency) != 0)
            return -EINVAL;
        slot->quantum = 1;
        slot->memory.least = policy->assets[i].least * (double)decimal_pow10(symbol->qty_scale);
        if (policy_symbol_init(symbol, &slot->units) < 0)
            continue;
        slot->quantum = slot->units.quantum;
        slot->memory.least = policy->assets[i].least * slot->units.qty_units;
    }
    return policy->runtime ? policy->runtime->create(policy, &driver->runtime) : 0;
}

void engine_driver_close(struct engine *engine, int account)
{
    struct policy_driver *driver = &engine->runners[account].driver;
    if (driver->runtime)
        driver->policy->runtime->destroy(driver->runtime);
    free(driver->slots);
    *driver = (struct policy_driver){0};
}

bool engine_driver_is_in_quanta(const struct engine *engine, int account)
{
    const struct policy_driver *driver = &engine->runners[account].driver;
    for (int i = 0; driver->policy && i < driver->policy->n_assets; i++)
        if (driver->slots[i].units.quantum == 0)
            return false;
    return true;
}

void engine_driver_move(struct policy_driver *to, struct policy_driver *from)
{
    struct policy_runtime *runtime = to->runtime;
    to->runtime = from->runtime;
    from->runtime = runtime;
    to->round_ns = from->round_ns;
    to->decided = from->decided;
    to->decided_ns = from->decided_ns;
    to->since_ns = from->since_ns;
    to->all = from->all;
    to->warming = from->warming;
    to->reported = from->reported && memcmp(to->policy->id, from->policy->id, POLICY_ID_SIZE) == 0;
    for (int i = 0; i < to->policy->n_assets; i++) {
        struct policy_slot *slot = &to->slots[i];
        slot->memory = from->slots[i].memory;
        slot->action = from->slots[i].action;
        slot->quantum = from->slots[i].quantum;
        slot->there = from->slots[i].there;
        slot->fresh = from->slots[i].fresh;
        engine_driver_count_quanta(slot);
        if (to->policy->first_closes && memcmp(to->policy->id, from->policy->id, POLICY_ID_SIZE) != 0)
            slot->memory.scale = 0; /* the new policy may have another */
    }
}

void engine_driver_symbol(struct engine *engine, int symbol)
{
    for (int a = 0; a < engine->n_accounts; a++) {
        const struct policy_driver *driver = &engine->runners[a].driver;
        for (int i = 0; driver->policy && i < driver->policy->n_assets; i++) {
            struct policy_slot *slot = &driver->slots[i];
            if (slot->symbol != symbol)
                continue;
            if (policy_symbol_init(&engine->markets[symbol].symbol, &slot->units) < 0) {
                slot->units = (struct policy_symbol){0};
                engine_alert(
                    engine, "POLICY_FILTERS", ENGINE_OF(a, symbol, 0),
                    "%s is not traded by the policy of account %s any more: its lots share no quantum",
                    engine->markets[symbol].symbol.name, engine->accounts[a].name);
            }
            engine_driver_count_quanta(slot);
        }
    }
}

/* ---- decisions as orders ---- */

static struct policy_slot *find_slot(const struct policy_driver *driver, int symbol)
{
    for (int i = 0; driver->policy && i < driver->policy->n_assets; i++)
        if (driver->slots[i].symbol == symbol)
            return &driver->slots[i];
    return NULL;
}

/* Its protective stop, or NULL. */
static const struct order *stop_of(const struct engine *engine, int account, int symbol)
{
    for (size_t i = 0; engine->markets[symbol].live_orders > 0 && i < engine->n_orders; i++) {
        const struct live_order *live = &engine->orders[i];
        const struct order *order = &live->order;
        if (order->account == account && order->symbol == symbol && order->type == ORDER_STOP &&
            order->side == ORDER_SELL && order->reduce_only && order->parent == 0 && !order->by_hand &&
            !order->triggered && !live->cancel_queued)
            return order;
    }
    return NULL;
}

static void put_stop(struct engine *engine, int account, int symbol, int64_t price, int64_t qty)
{
    const struct order *stop = stop_of(engine, account, symbol);
    enum order_reason reason;
    if (!stop) {
        struct order request = engine_intent_order(account, symbol, ORDER_SELL, ORDER_STOP, qty, why_stop);
        request.reduce_only = true;
        request.stop_price = price;
        engine_match_submit(engine, &request, &reason);
        return;
    }
    struct order_amend amend = {.order_id = stop->id, .stop_price = price, .qty = qty + stop->filled};
    amend.set = (stop->stop_price != price ? AMEND_STOP : 0) | (stop->qty != amend.qty ? AMEND_QTY : 0);
    if (amend.set != 0)
        engine_match_amend(engine, &amend);
}

static void carry_out(struct engine *engine, int account, const struct policy_slot *slot,
                      const struct policy_order *order)
{
    int64_t quantum = slot->units.quantum;
    if (order->stop > 0)
        put_stop(engine, account, slot->symbol, (int64_t)order->stop, (int64_t)order->stop_qty * quantum);
    if (order->qty == 0)
        return;
    bool buys = order->qty > 0;
    int64_t size = (int64_t)(buys ? order->qty : -order->qty) * quantum;
    struct order request = engine_intent_order(account, slot->symbol, buys ? ORDER_BUY : ORDER_SELL,
                                               ORDER_MARKET, size, whys[order->cause]);
    request.reduce_only = !buys;
    enum order_reason reason;
    engine_match_submit(engine, &request, &reason);
}

static void trace_decision(const struct engine *engine, int account, const struct policy_slot *slot,
                           const struct bar *bar, struct engine_policy_decision *reported)
{
    const struct policy_driver *driver = &engine->runners[account].driver;
    struct policy_vote votes[POLICY_MEMBERS_MAX];
    if (driver->runtime && driver->policy->runtime->votes)
        driver->policy->runtime->votes(driver->runtime, (int)(slot - driver->slots), votes);
    reported->votes = votes;
    const struct engine_decision decision = {
        .account = account, .symbol = slot->symbol, .bar = bar, .acted = true, .policy = reported};
    engine->sink.trace->decision(engine->sink.trace->ctx, &decision);
}

/* The highest rate of what the policy trades. */
static int32_t fee_of(const struct engine *engine, int index)
{
    const struct policy_driver *driver = &engine->runners[index].driver;
    const struct account_rules *rules = &engine->accounts[index].rules;
    int32_t most = 0;
    for (int i = 0; i < driver->policy->n_assets; i++) {
        int32_t higher =
            fee_rates_most_e6(account_fees(rules, &engine->markets[driver->slots[i].symbol].symbol));
        most = higher > most ? higher : most;
    }
    return most;
}

static struct policy_rules rules_of(const struct engine *engine, int index, const struct policy *policy)
{
    const struct account *account = &engine->accounts[index];
    struct policy_rules rules = policy->rules;
    rules.capital = (double)account->opening_cash;
    rules.fee_e6 = fee_of(engine, index);
    rules.spend = policy_spend(rules.fee_e6);
    return rules;
}

static double held(const struct engine *engine, int account, const struct policy_slot *slot)
{
    int64_t qty = engine->accounts[account].positions[slot->symbol].qty;
    return qty > 0 ? (double)(qty / slot->quantum) : 0;
}

/* One round of an account's policy. */
struct driver_round {
    const struct policy *policy;
    struct policy_rules rules;
    struct policy_day_action day; /* task day-trade */
    bool limited;
    struct policy_round within;
    int64_t equity;
    double kept; /* what purchases of it that are ordered at the next opening will have in reserve */
};

/* What positions are worth, and what purchases have in reserve. */
static double exposed_of(const struct engine *engine, int account, int64_t equity)
{
    const struct account *holder = &engine->accounts[account];
    const struct balance *currency = &holder->assets[holder->currency_at];
    return (double)equity - (double)(currency->total - currency->borrowed - currency->reserved);
}

static struct driver_round round_of(struct engine *engine, int account, const struct policy_rules *rules,
                                    const float *actions)
{
    struct policy_driver *driver = &engine->runners[account].driver;
    struct driver_round round = {.policy = driver->policy,
                                 .rules = *rules,
                                 .limited = policy_has_limits(&rules->limits),
                                 .equity = engine->accounts[account].equity};
    if (round.limited)
        round.within = policy_watch_all(&rules->limits, &driver->all, driver->round_ns, engine->interval_ns,
                                        (double)round.equity, exposed_of(engine, account, round.equity));
    if (driver->policy->day_trade)
        round.day = (struct policy_day_action){actions[0], actions[1], engine_driver_leaves(engine, account)};
    return round;
}

static struct policy_order order_of(struct engine *engine, int account, const struct driver_round *round,
                                    struct policy_slot *slot, float action, double close, int64_t available)
{
    double cost = (double)engine->accounts[account].positions[slot->symbol].cost;
    if (round->policy->day_trade)
        return policy_decide_day(&round->rules, &slot->units, &slot->memory, &round->day,
                                 (float)round->policy->threshold, close, (double)round->equity,
                                 (double)available);
    if (!round->limited)
        return policy_decide(&round->rules, &slot->units, &slot->memory, action, close, (double)round->equity,
                             (double)available);
    return policy_decide_within(&round->rules, &round->within, &slot->units, &slot->memory, cost, action,
                                close, (double)round->equity,
                                exposed_of(engine, account, round->equity) + round->kept, (double)available);
}

bool engine_policy_gave(const char *tag)
{
    for (size_t i = 0; i < sizeof whys / sizeof *whys; i++)
        if (strcmp(whys[i], tag) == 0)
            return true;
    return false;
}

/* Decides one asset whose bar of the round is there. */
static void decide_asset(struct engine *engine, int account, struct driver_round *round,
                         struct policy_slot *slot, float action)
{
    const struct market_state *market = &engine->markets[slot->symbol];
    double close = (double)market->last_bar.close;
    if (slot->units.quantum == 0)
        return;
    policy_watch(&round->rules, &slot->memory, held(engine, account, slot), close);
    if (!slot->fresh || engine_intent_working(engine, account, slot->symbol))
        return;
    struct engine_policy_decision reported = {
        .policy = engine->runners[account].driver.policy,
        .units = &slot->units,
        .action = action,
        .day = round->day,
        .memory = slot->memory,
        .equity = round->equity,
        .available = engine_intent_free_cash(engine, account, slot->symbol) - (int64_t)round->kept};
    reported.order = order_of(engine, account, round, slot, action, close, reported.available);
    reported.leaves = reported.order.qty < 0 && reported.order.cause == POLICY_STOPPED;
    reported.why = whys[reported.order.cause];
    if (engine->sink.trace && engine->sink.trace->decision)
        trace_decision(engine, account, slot, &market->last_bar, &reported);
    struct kept_decision kept = {
        .symbol = slot->symbol, .bar = market->last_bar, .of_policy = true, .decided = reported};
    int64_t end_ns = engine_calendars_end(engine, slot->symbol, kept.bar.open_ns);
    if (!engine_kept_waits(engine, account, slot->symbol, end_ns, &kept.since_ns))
        carry_out(engine, account, slot, &reported.order);
    else {
        engine_kept_put(engine, account, &kept);
        round->kept += reported.order.reserve;
    }
}

void engine_driver_order(struct engine *engine, int account, const struct kept_decision *kept)
{
    struct policy_slot *slot = find_slot(&engine->runners[account].driver, kept->symbol);
    struct engine_policy_decision reported = kept->decided;
    if (!slot || slot->units.quantum == 0)
        return;
    if (reported.order.qty < 0 && held(engine, account, slot) == 0)
        reported.order.qty = 0;
    if (reported.order.qty == 0 && reported.order.stop == 0)
        return;
    reported.policy = engine->runners[account].driver.policy;
    reported.units = &slot->units;
    reported.why = whys[reported.order.cause];
    if (engine->sink.trace && engine->sink.trace->decision)
        trace_decision(engine, account, slot, &kept->bar, &reported);
    carry_out(engine, account, slot, &reported.order);
}

/* The first bar of its session that opens at a time or after it; NULL: there is none, or bars are not known
 * from then on. */
static const struct bar *first_bar(const struct engine *engine, int account, int symbol, int64_t open_ns)
{
    const struct recent_bars *recent = &engine->markets[symbol].recent;
    uint32_t i = recent->n;
    if (i == 0 || engine_recent_bar(recent, 0)->open_ns > open_ns)
        return NULL;
    while (i > 0 && engine_recent_bar(recent, i - 1)->open_ns >= open_ns)
        i--;
    while (i < recent->n && !engine_kept_takes(engine, account, engine_recent_bar(recent, i)))
        i++;
    return i < recent->n ? engine_recent_bar(recent, i) : NULL;
}

enum start { START_KNOWN, START_MISSING, START_OTHER };

/* An action of 1 is worth the same money in each asset at the close of its first bar. A slot without a bar
 * so far has no scale yet, and no bar to decide on; one whose bars start later says which start is missing.
 */
static enum start find_scale(const struct engine *engine, int account, const struct policy_rules *rules,
                             int64_t first_ns, int asset, struct policy_slot *slot)
{
    const struct policy *policy = engine->runners[account].driver.policy;
    const struct market_state *market = &engine->markets[slot->symbol];
    if (slot->memory.scale > 0 || slot->units.quantum == 0)
        return START_KNOWN;
    const struct bar *bar = first_bar(engine, account, slot->symbol, first_ns);
    int64_t close = bar ? bar->close : 0;
    if (policy->first_closes) {
        int64_t given;
        if (decimal_from_double(policy->first_closes[asset], market->symbol.price_scale, &given) < 0 ||
            given <= 0 || (bar && bar->open_ns == first_ns && given != close))
            return START_OTHER;
        close = given;
    } else if (!bar && market->recent.n > 0 && engine_recent_bar(&market->recent, 0)->open_ns > first_ns) {
        return START_MISSING;
    }
    if (close > 0)
        slot->memory.scale = policy_scale(rules, &slot->units, (double)close);
    return START_KNOWN;
}

/* The first asset whose start is not known, or differs from the policy's; -1: none. */
static int find_scales(struct engine *engine, int account, const struct policy_rules *rules,
                       enum start *ret_why)
{
    struct policy_driver *driver = &engine->runners[account].driver;
    int64_t first_ns = engine_driver_first(driver);
    int found = -1;
    for (int i = 0; i < driver->policy->n_assets; i++) {
        enum start start = find_scale(engine, account, rules, first_ns, i, &driver->slots[i]);
        if (start != START_KNOWN && found < 0) {
            found = i;
            *ret_why = start;
        }
    }
    return found;
}

void engine_driver_scales(struct engine *engine, int account)
{
    struct policy_driver *driver = &engine->runners[account].driver;
    const struct policy_rules rules = rules_of(engine, account, driver->policy);
    enum start why;
    if (engine_driver_first(driver) > 0)
        find_scales(engine, account, &rules, &why);
}

static void report_start(struct engine *engine, int account, int asset, enum start why)
{
    struct policy_driver *driver = &engine->runners[account].driver;
    char time[CLOCK_TEXT_MAX];
    const char *name = engine->accounts[account].name;
    const char *symbol = engine->markets[driver->slots[asset].symbol].symbol.name;
    if (driver->reported)
        return;
    driver->reported = true;
    clock_utc_text(engine_driver_first(driver), time);
    if (why == START_OTHER)
        engine_alert(engine, "POLICY_START", ENGINE_OF(account, driver->slots[asset].symbol, 0),
                     "the policy of account %s orders nothing: first_close of %s is not the close of its bar "
                     "of %s",
                     name, symbol, time);
    else
        engine_alert(engine, "POLICY_START", ENGINE_OF(account, driver->slots[asset].symbol, 0),
                     "the policy of account %s orders nothing: the bar of %s of %s is not known; more "
                     "[market] history may reach it%s",
                     name, symbol, time,
                     driver->runtime ? ""
                                     : ", or put the closes at first_bar into PARAMS.json as first_close");
}

/* A policy that holds a position and cannot decide on it: what is kept of the position's rules is said once,
 * until it decides, or holds nothing. */
static void report_warming(struct engine *engine, int account, bool holds)
{
    struct policy_driver *driver = &engine->runners[account].driver;
    const char *name = engine->accounts[account].name;
    if (holds && driver->warming != WARMING_HOLDS)
        engine_alert(
            engine, "POLICY_WARMING", ENGINE_OF(account, -1, 0),
            "account %s: its policy holds a position and has not seen the bars that it needs: stops, "
            "limits and the exit before the close are kept, and nothing else is ordered; more "
            "[market] history may reach them",
            name);
    else if (!holds && driver->warming != WARMING_OVER)
        engine_alert_over(engine, "POLICY_WARMING", "account %s: ", name);
    driver->warming = holds ? WARMING_HOLDS : WARMING_OVER;
}

static bool holds_any(const struct engine *engine, int account)
{
    const struct policy_driver *driver = &engine->runners[account].driver;
    int i = 0;
    while (i < driver->policy->n_assets && held(engine, account, &driver->slots[i]) == 0)
        i++;
    return i < driver->policy->n_assets;
}

static bool any_fresh(const struct policy_driver *driver)
{
    int i = 0;
    while (i < driver->policy->n_assets && !driver->slots[i].fresh)
        i++;
    return i < driver->policy->n_assets;
}

/* Keeps what a screen shows of it. */
static void note(struct policy_driver *driver, const float *actions, int64_t now_ns)
{
    driver->decided_ns = now_ns;
    for (int i = 0; i < driver->policy->n_assets; i++)
        driver->slots[i].action = actions[i];
}

static bool all_there(const struct policy_driver *driver)
{
    int i = 0;
    while (i < driver->policy->n_assets && driver->slots[i].there)
        i++;
    return i == driver->policy->n_assets;
}

/* Ends the round and updates what a runtime remembers. */
static void end_pass(struct engine *engine, int account)
{
    struct policy_driver *driver = &engine->runners[account].driver;
    driver->decided = true;
    driver->since_ns = 0;
    engine_driver_act(engine, account, driver->round_ns, false, NULL);
}

void engine_driver_pass(struct engine *engine, int account)
{
    struct policy_driver *driver = &engine->runners[account].driver;
    driver->decided = false;
    driver->since_ns = ROUND_PASSES;
    for (int i = 0; i < driver->policy->n_assets; i++) {
        struct policy_slot *slot = &driver->slots[i];
        const struct recent_bars *recent = &engine->markets[slot->symbol].recent;
        uint32_t n = engine_driver_recent(engine, account, slot->symbol);
        while (n > 0 && !engine_kept_takes(engine, account, engine_recent_bar(recent, n - 1)))
            n--;
        slot->there = n > 0 && engine_recent_bar(recent, n - 1)->open_ns == driver->round_ns;
        slot->fresh = false;
    }
    if (all_there(driver))
        end_pass(engine, account);
}

/* Asks the policy, unless its first row is not there yet. False: it orders nothing. */
static bool ask(struct engine *engine, int account, const struct policy_rules *rules, float *ret_actions)
{
    struct policy_driver *driver = &engine->runners[account].driver;
    int64_t first_ns = engine_driver_first(driver);
    if (first_ns == 0 || driver->round_ns < first_ns)
        return false;
    enum start why = START_KNOWN;
    int unknown = find_scales(engine, account, rules, &why);
    if (!engine_driver_act(engine, account, driver->round_ns, any_fresh(driver), ret_actions))
        return false;
    if (unknown >= 0)
        report_start(engine, account, unknown, why);
    return unknown < 0;
}

/* Does a policy with a runtime have a position that it gave no action for? Its rules hold on by an action of
 * 0: stops, limits, forced exits, and of task day-trade the exit before the close. */
static bool guards(struct engine *engine, int account, bool asked)
{
    const struct policy_driver *driver = &engine->runners[account].driver;
    if (!driver->runtime || !any_fresh(driver))
        return false;
    bool holds = !asked && holds_any(engine, account);
    report_warming(engine, account, holds);
    return holds;
}

static void decide(struct engine *engine, int account)
{
    struct policy_driver *driver = &engine->runners[account].driver;
    const struct policy *policy = driver->policy;
    const struct policy_rules rules = rules_of(engine, account, policy);
    float actions[SYMBOLS_MAX + 1] = {0};
    driver->decided = true;
    driver->since_ns = 0;
    bool asked = ask(engine, account, &rules, actions);
    if (!guards(engine, account, asked) && !asked)
        return;
    if (!asked)
        memset(actions, 0, sizeof actions);
    if (engine->fill_model == FILL_BAR)
        engine->now_ns = engine_calendars_end(engine, driver->slots[0].symbol, driver->round_ns);
    account_mark(engine, account);
    engine->counters.decisions += asked;
    struct driver_round round = round_of(engine, account, &rules, actions);
    if (asked && any_fresh(driver))
        note(driver, actions, engine->now_ns);
    for (int i = 0; i < policy->n_assets; i++)
        if (driver->slots[i].there && (asked || held(engine, account, &driver->slots[i]) > 0))
            decide_asset(engine, account, &round, &driver->slots[i], actions[i]);
}

void engine_driver_due_of(struct engine *engine, int account, int symbol, const struct bar *bar)
{
    const struct policy_driver *driver = &engine->runners[account].driver;
    if (!driver->policy || bar->open_ns <= driver->round_ns || !find_slot(driver, symbol) ||
        !engine_kept_takes(engine, account, bar))
        return;
    if (!driver->decided && driver->since_ns == ROUND_PASSES)
        end_pass(engine, account);
    else if (!driver->decided)
        decide(engine, account);
    if (driver->runtime && driver->round_ns > 0)
        engine_driver_pass_to(engine, account, bar->open_ns);
}

void engine_driver_due(struct engine *engine, int symbol, const struct bar *bar)
{
    for (int a = 0; a < engine->n_accounts; a++)
        engine_driver_due_of(engine, a, symbol, bar);
}

static bool waits(const struct engine *engine, const struct policy_driver *driver)
{
    return engine->policy_wait_ns > 0 && driver->policy && !driver->decided && driver->since_ns > 0;
}

static int64_t wait_end(const struct engine *engine, const struct policy_driver *driver)
{
    int64_t end_ns;
    return __builtin_add_overflow(driver->since_ns, engine->policy_wait_ns, &end_ns) ? INT64_MAX : end_ns;
}

void engine_driver_find_waiting(struct engine *engine)
{
    engine->wait_until_ns = INT64_MAX;
    for (int a = 0; a < engine->n_accounts; a++) {
        const struct policy_driver *driver = &engine->runners[a].driver;
        if (waits(engine, driver) && wait_end(engine, driver) < engine->wait_until_ns)
            engine->wait_until_ns = wait_end(engine, driver);
    }
    engine_together_find_waiting(engine);
}

/* Nothing came for so long after the wait that its bars are history by now: no order follows from them. In
 * the bar model, bars that are fetched for the time in between still fill orders, so there it continues as
 * if no time had passed. */
static void give_up(const struct engine *engine, struct policy_driver *driver)
{
    int64_t late_ns = engine->recv_ns - wait_end(engine, driver);
    if (engine->fill_model == FILL_BAR || late_ns < engine->interval_ns || late_ns < DELAY_ALLOWED_NS)
        return;
    for (int i = 0; i < driver->policy->n_assets; i++)
        driver->slots[i].fresh = false;
}

void engine_driver_wait(struct engine *engine)
{
    if (engine->recv_ns < engine->wait_until_ns)
        return;
    int64_t now_ns = engine->now_ns;
    for (int a = 0; a < engine->n_accounts; a++) {
        struct policy_driver *driver = &engine->runners[a].driver;
        if (!waits(engine, driver) || engine->recv_ns < wait_end(engine, driver))
            continue;
        give_up(engine, driver);
        decide(engine, a);
    }
    engine_together_wait(engine);
    if (engine->now_ns < now_ns)
        engine->now_ns = now_ns; /* the date was that of the round only */
    engine_driver_find_waiting(engine);
}

/* A bar whose time is over: only updates what is remembered. */
static void watch_late(struct engine *engine, int account, struct policy_slot *slot, const struct bar *bar)
{
    struct policy_driver *driver = &engine->runners[account].driver;
    const struct policy_rules rules = rules_of(engine, account, driver->policy);
    int64_t first_ns = engine_driver_first(driver);
    if (driver->runtime)
        engine_driver_scales(engine, account);
    if (first_ns > 0 && bar->open_ns >= first_ns)
        policy_watch(&rules, &slot->memory, held(engine, account, slot), (double)bar->close);
}

void engine_driver_bar(struct engine *engine, int account, int symbol, const struct bar *bar, bool fresh)
{
    struct policy_driver *driver = &engine->runners[account].driver;
    struct policy_slot *slot = find_slot(driver, symbol);
    if (!slot || !engine_kept_takes(engine, account, bar))
        return;
    if (driver->runtime)
        engine_driver_see(engine, account, (int)(slot - driver->slots), bar);
    if (bar->open_ns < driver->round_ns || (bar->open_ns == driver->round_ns && driver->decided)) {
        watch_late(engine, account, slot, bar);
        return;
    }
    if (bar->open_ns == driver->round_ns && driver->since_ns == ROUND_PASSES) {
        watch_late(engine, account, slot, bar);
        slot->there = true;
        if (all_there(driver))
            end_pass(engine, account);
        return;
    }
    if (bar->open_ns > driver->round_ns) {
        driver->round_ns = bar->open_ns;
        driver->decided = false;
        driver->since_ns = 0;
        for (int i = 0; i < driver->policy->n_assets; i++)
            driver->slots[i].there = driver->slots[i].fresh = false;
    }
    slot->there = true;
    slot->fresh = fresh;
    if (fresh && driver->since_ns == 0) {
        driver->since_ns = engine->recv_ns;
        if (waits(engine, driver) && wait_end(engine, driver) < engine->wait_until_ns)
            engine->wait_until_ns = wait_end(engine, driver);
    }
    if (all_there(driver))
        decide(engine, account);
}

/* A new run's configuration for an engine that was loaded: symbols and accounts are matched by name, and
 * what is in both continues.
 *
 * All that can fail happens in a second engine, made by the new configuration; then what continues is moved
 * into its arrays, and the two engines swap their arrays. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/driver.h"
#include "engine/state.h"
#include "engine/visit.h"
#include "exchange/fail.h"
#include "exchange/filter.h"

struct change {
    struct engine *engine, *made;
    const struct engine_config *config;
    char *err;
    int from[SYMBOLS_MAX]; /* [new symbols] its index before; -1: it is new */
    int to[SYMBOLS_MAX];   /* [old symbols] its index now; -1: it is removed */
    bool *keeps_memory;    /* [new accounts] its strategy keeps its memory */
    bool interval;         /* bars of another length: what was computed from bars starts again */
    bool other_symbols;
};

#define refuse(change, code, ...) fail_with(code, (change)->err, ENGINE_ERROR_MAX, __VA_ARGS__)

/* Does the engine have a position or order in the symbol? Names the account. */
static const char *user_of(const struct engine *engine, int symbol)
{
    for (int a = 0; a < engine->n_accounts; a++)
        if (engine->accounts[a].positions[symbol].qty != 0)
            return engine->accounts[a].name;
    for (size_t i = 0; i < engine->n_orders; i++)
        if (engine->orders[i].order.symbol == symbol)
            return engine->accounts[engine->orders[i].order.account].name;
    return NULL;
}

static int match_symbols(struct change *change)
{
    const struct engine *engine = change->engine;
    const struct engine_config *config = change->config;
    for (int s = 0; s < engine->n_symbols; s++)
        change->to[s] = -1;
    for (int s = 0; s < config->n_symbols; s++) {
        const struct symbol *symbol = &config->symbols[s];
        int unit_scale = symbol->price_scale + symbol->qty_scale - symbol->quote_scale;
        if (unit_scale < 0 || unit_scale > DECIMAL_SCALE_MAX)
            return refuse(change, -EINVAL, "%s: no market has such scales", symbol->name);
        for (int other = 0; other < s; other++)
            if (strcmp(config->symbols[other].name, symbol->name) == 0)
                return refuse(change, -EINVAL, "%s is configured twice", symbol->name);
        int old = engine_find_symbol(engine, symbol->name);
        change->from[s] = old < 0 ? -1 : old;
        if (old < 0)
            continue;
        if (!symbol_same_units(&engine->markets[old].symbol, symbol))
            return refuse(change, -EINVAL, "%s is another pair, or in other units, than what is kept of it",
                          symbol->name);
        change->to[old] = s;
    }
    for (int s = 0; s < engine->n_symbols; s++) {
        const char *user = change->to[s] < 0 ? user_of(engine, s) : NULL;
        if (user)
            return refuse(change, -ENOENT, "%s is not configured, but account %s holds or orders it",
                          engine->markets[s].symbol.name, user);
    }
    return 0;
}

static const struct account_spec *spec_of(const struct engine_config *config, const char *name)
{
    for (int a = 0; a < config->n_accounts; a++)
        if (strcmp(config->accounts[a].name, name) == 0)
            return &config->accounts[a];
    return NULL;
}

/* The accounts that there will be: those of the engine, in their order, and then the new ones. Returns how
 * many, or an error. */
static int list_accounts(const struct change *change, struct account_spec *specs)
{
    const struct engine *engine = change->engine;
    int n = engine->n_accounts;
    for (int a = 0; a < n; a++) {
        const struct account *account = &engine->accounts[a];
        const struct account_spec *spec = spec_of(change->config, account->name);
        specs[a] = spec ? *spec : engine->specs[a];
        if (specs[a].rules.execution != account->rules.execution)
            return refuse(change, -EINVAL,
                          "account %s has execution = %s: it cannot change; another account can have another",
                          account->name, account_execution_name(account->rules.execution));
        if (strcmp(specs[a].currency, account->currency) != 0 ||
            specs[a].currency_scale != account->currency_scale)
            return refuse(change, -EINVAL, "account %s is kept in %s: its currency cannot change",
                          account->name, account->currency);
    }
    for (int a = 0; a < change->config->n_accounts; a++) {
        const struct account_spec *spec = &change->config->accounts[a];
        if (spec_of(change->config, spec->name) != spec)
            return refuse(change, -EINVAL, "account %s is configured twice", spec->name);
        if (engine_find_account(engine, spec->name) < 0)
            specs[n++] = *spec;
    }
    return n;
}

/* Copies an account's balances to its successor. */
static int copy_balances(const struct change *change, int account)
{
    const struct account *from = &change->engine->accounts[account];
    for (int i = 0; i < from->n_assets; i++) {
        const struct balance *balance = &from->assets[i];
        int at = account_place(change->made, account, balance->asset, balance->scale);
        if (at < 0)
            return refuse(change, at, "account %s: %s cannot be kept in other units", from->name,
                          balance->asset);
        change->made->accounts[account].assets[at] = *balance;
    }
    return 0;
}

/* Borrowed currency needs a margin: an account without one has no rule by which it is paid back. */
static int check_debt(const struct change *change, int a)
{
    const struct account *from = &change->engine->accounts[a], *to = &change->made->accounts[a];
    int64_t debt = from->assets[from->currency_at].borrowed;
    char text[DECIMAL_TEXT_MAX];
    if (debt == 0 || from->rules.margin == MARGIN_OFF || to->rules.margin != MARGIN_OFF)
        return 0;
    decimal_format_short(debt, from->currency_scale, text);
    return refuse(change, -EINVAL,
                  "account %s: margin: off, while %s %s are borrowed: sell or deposit so much first, with "
                  "margin = %s",
                  from->name, text, from->currency, margin_kind_names[from->rules.margin]);
}

static int make(struct change *change)
{
    const struct engine_config *config = change->config;
    struct engine_config wanted = *config;
    int n_before = change->engine->n_accounts;
    size_t most = (size_t)(n_before + config->n_accounts);
    struct account_spec *specs = calloc(most, sizeof *specs);
    change->keeps_memory = calloc(most, sizeof *change->keeps_memory);
    int r = specs && change->keeps_memory ? list_accounts(change, specs)
                                          : refuse(change, -ENOMEM, "no memory for the configuration");
    wanted.accounts = specs;
    wanted.n_accounts = r;
    if (r > ACCOUNTS_MAX)
        r = refuse(change, -EINVAL, "there can be %d accounts, not %d", ACCOUNTS_MAX, r);
    if (r > 0) {
        r = engine_create(&wanted, &change->engine->sink, &change->made);
        if (r < 0)
            refuse(change, r, "the configuration contradicts itself: %s", strerror(-r));
    }
    free(specs);
    for (int a = 0; a < n_before && r == 0; a++) {
        r = check_debt(change, a);
        if (r == 0)
            r = copy_balances(change, a);
    }
    return r;
}

static void forget_bars(struct market_state *market, int64_t interval_ns)
{
    bar_builder_init(&market->builder, interval_ns);
    market->bars = 0;
    market->last_bar = market->forming = (struct bar){0};
    market->builder.loose = market->symbol.loose_ids;
    market->n_held = 0;
    engine_revise_interrupted(&market->trades);
    engine_recent_finish(&market->recent);
    free(market->measured);
    market->measured = NULL;
}

static void move_markets(const struct change *change)
{
    for (int s = 0; s < change->made->n_symbols; s++) {
        if (change->from[s] < 0)
            continue;
        struct market_state *to = &change->made->markets[s],
                            *from = &change->engine->markets[change->from[s]];
        struct market_state fresh = *to;
        *to = *from;
        *from = fresh;
        bool other_calendar = strcmp(to->symbol.calendar, fresh.symbol.calendar) != 0;
        to->symbol = fresh.symbol;
        to->builder.loose = fresh.symbol.loose_ids;
        if (other_calendar)
            to->phase = MARKET_PHASE_UNKNOWN; /* its phase follows from the others' of its calendar:
                                                 begin_sessions() */
        if (change->interval)
            forget_bars(to, change->made->interval_ns);
    }
}

/* New symbols, and those with another calendar, get the session from symbols that continue. */
static void begin_sessions(const struct change *change)
{
    struct engine *made = change->made;
    for (int s = 0; s < made->n_symbols; s++) {
        struct market_state *market = &made->markets[s];
        if (change->from[s] < 0 || market->phase == MARKET_PHASE_UNKNOWN)
            engine_hours_begin(made, s);
        if (market->symbol.gone != (market->trading == MARKET_ENDED))
            market->trading = market->symbol.gone ? MARKET_ENDED : MARKET_TRADES;
    }
}

/* Does it see the bars of the same session, and interval? */
static bool same_bars(const struct change *change, int account)
{
    return !change->interval &&
           change->made->specs[account].session == change->engine->specs[account].session;
}

/* Does the same trade for the account, by the same bars? */
static bool same_trader(const struct change *change, int account)
{
    const struct strategy_runner *to = &change->made->runners[account];
    const struct strategy_runner *from = &change->engine->runners[account];
    const struct policy *policy = to->driver.policy, *before = from->driver.policy;
    if (!same_bars(change, account) || !strategy_same(to->strategy, from->strategy))
        return false;
    if (to->strategy)
        return memcmp(to->params, from->params, to->strategy->n_params * sizeof *to->params) == 0;
    return policy && before && memcmp(policy->id, before->id, sizeof policy->id) == 0;
}

/* Are the symbols the same, in the same order? Else a strategy that knows them by their places starts again.
 */
static bool same_symbols(const struct change *change)
{
    bool same = change->made->n_symbols == change->engine->n_symbols;
    for (int s = 0; s < change->made->n_symbols; s++)
        same &= change->from[s] == s;
    return same;
}

/* Strategies that are another, or have other parameters, start without memory, and so do policies of other
 * rules: false. */
static bool move_slots(const struct change *change, int account)
{
    struct strategy_runner *to = &change->made->runners[account], *from = &change->engine->runners[account];
    const struct policy *policy = to->driver.policy, *before = from->driver.policy;
    if (policy && before && same_bars(change, account) && policy_same_rules(policy, before)) {
        engine_driver_move(&to->driver, &from->driver);
        return true;
    }
    if (!change->interval)
        engine_driver_inherit(&to->driver, &from->driver, change->to);
    if (!to->strategy || !same_trader(change, account) ||
        (strategy_sees_peers(to->strategy) && !same_symbols(change)))
        return false;
    to->round.open_ns = from->round.open_ns;
    to->round.since_ns = from->round.since_ns;
    to->round.decided = from->round.decided;
    for (int s = 0; s < change->made->n_symbols; s++)
        if (change->from[s] >= 0) {
            struct strategy_slot fresh = to->slots[s];
            to->slots[s] = from->slots[change->from[s]];
            from->slots[change->from[s]] = fresh;
        }
    return true;
}

static void move_kept(const struct change *change, int account)
{
    const struct strategy_runner *from = &change->engine->runners[account];
    if (!same_trader(change, account))
        return;
    for (uint32_t i = 0; i < from->n_kept; i++) {
        struct kept_decision kept = from->kept[i];
        kept.symbol = change->to[kept.symbol];
        if (kept.symbol >= 0)
            engine_kept_put(change->made, account, &kept);
    }
}

/* The account itself continues, in arrays of the new symbols. Does its strategy? */
static bool move_account(const struct change *change, int a)
{
    struct account *to = &change->made->accounts[a], *from = &change->engine->accounts[a];
    for (int s = 0; s < change->made->n_symbols; s++)
        if (change->from[s] >= 0) {
            to->positions[s] = from->positions[change->from[s]];
            to->lots[s] = from->lots[change->from[s]];
            from->lots[change->from[s]] = (struct lots){0};
            to->records[s] = from->records[change->from[s]];
            to->days[s] = from->days[change->from[s]];
        }
    struct account fresh = *to;
    *to = *from;
    to->rules = fresh.rules;
    to->assets = fresh.assets;
    to->n_assets = fresh.n_assets;
    to->cap_assets = fresh.cap_assets;
    to->currency_at = fresh.currency_at;
    to->positions = fresh.positions;
    to->lots = fresh.lots;
    to->records = fresh.records;
    to->pairs = fresh.pairs;
    to->days = fresh.days;
    from->receivables = NULL;
    if (strcmp(to->rules.fee_tiers, from->rules.fee_tiers) != 0)
        engine_fee_tiers_again(change->made, a);
    else if (to->rules.fee_tiers[0])
        to->rules.fees = from->rules.fees; /* the same schedule: the day's rates stay */
    change->made->rates[a] = change->engine->rates[a];
    struct strategy_runner *runner = &change->made->runners[a];
    const struct strategy_runner *before = &change->engine->runners[a];
    memcpy(runner->refused, before->refused, sizeof runner->refused);
    memcpy(runner->alerted_ns, before->alerted_ns, sizeof runner->alerted_ns);
    if (same_trader(change, a))
        runner->answers = before->answers;
    else
        engine_request_forget(change->engine, a);
    move_kept(change, a);
    runner->closing = before->closing && !runner->strategy && !runner->driver.policy;
    return move_slots(change, a);
}

#define EXCHANGE(a, b) \
    do { \
        __typeof__(a) exchanged_ = (a); \
        (a) = (b); \
        (b) = exchanged_; \
    } while (0)

static void take_over(const struct change *change)
{
    struct engine *engine = change->engine, *made = change->made;
    EXCHANGE(engine->markets, made->markets);
    EXCHANGE(engine->n_symbols, made->n_symbols);
    EXCHANGE(engine->accounts, made->accounts);
    EXCHANGE(engine->runners, made->runners);
    EXCHANGE(engine->rates, made->rates);
    EXCHANGE(engine->specs, made->specs);
    EXCHANGE(engine->n_accounts, made->n_accounts);
    EXCHANGE(engine->cap_accounts, made->cap_accounts);
    engine->interval_ns = made->interval_ns;
    engine->latency_ns = made->latency_ns;
    engine->equity_interval_ns = made->equity_interval_ns;
    engine->missed_stops = made->missed_stops;
    engine->fill_model = made->fill_model;
    engine->slippage_e6 = made->slippage_e6;
    engine->beyond = made->beyond;
    engine->before_8 = made->before_8;
    engine->policy_wait_ns = made->policy_wait_ns;
    engine_match_model(engine);
    engine_auction_find_due(engine);
    for (int s = 0; s < engine->n_symbols; s++)
        engine_calendars_date_again(engine, s);
    engine->to_begin |= made->to_begin;
    engine->fees_due_ns = 0;
    engine->out_of_memory |= made->out_of_memory;
    engine->watches = made->watches;
    engine->venues = made->venues;
    engine->margins = made->margins;
    engine->measures = made->measures;
    engine->closes = engine->ends = true; /* checked at the next event */
    for (size_t i = 0; i < engine->n_orders; i++)
        engine->orders[i].order.symbol = change->to[engine->orders[i].order.symbol];
}

int engine_configure(struct engine *engine, const struct engine_config *config,
                     char err[static ENGINE_ERROR_MAX])
{
    struct change change = {.engine = engine,
                            .config = config,
                            .err = err,
                            .interval = config->interval_ns != engine->interval_ns};
    if (config->n_symbols < 1 || config->n_symbols > SYMBOLS_MAX || config->n_accounts < 1 ||
        config->n_accounts > ACCOUNTS_MAX || config->interval_ns <= 0 || config->latency_ns < 0)
        return refuse(&change, -EINVAL, "the configuration has no symbols, no accounts, or too many");
    int n_before = engine->n_accounts, r = match_symbols(&change);
    if (r == 0)
        r = make(&change);
    if (r == 0) {
        for (int a = 0; a < n_before; a++)
            change.keeps_memory[a] = move_account(&change, a);
        move_markets(&change);
        begin_sessions(&change);
        change.other_symbols = !same_symbols(&change);
        take_over(&change);
        engine_request_move(engine, change.to, change.keeps_memory);
        engine_column_move(engine, change.to);
        if (change.interval)
            engine->waiting.there = false;
        for (int a = 0; a < engine->n_accounts; a++)
            if (!change.keeps_memory[a] && a < n_before && engine->runners[a].driver.policy)
                engine_driver_begin(engine, a);
            else if (!change.keeps_memory[a])
                engine_runner_warm(engine, a);
            else if (change.other_symbols)
                engine_request_symbols(engine, a);
        engine_driver_find_waiting(engine);
        engine_request_continue(engine);
    }
    engine_destroy(change.made);
    free(change.keeps_memory);
    return r;
}

struct engine_config engine_config_of(const struct engine *engine)
{
    return (struct engine_config){.n_symbols = engine->n_symbols,
                                  .accounts = engine->specs,
                                  .n_accounts = engine->n_accounts,
                                  .interval_ns = engine->interval_ns,
                                  .latency_ns = engine->latency_ns,
                                  .equity_interval_ns = engine->equity_interval_ns,
                                  .missed_stops = engine->missed_stops,
                                  .fill_model = engine->fill_model,
                                  .slippage_e6 = engine->slippage_e6,
                                  .beyond = engine->beyond,
                                  .before_8 = engine->before_8,
                                  .policy_wait_ns = engine->policy_wait_ns,
                                  .direct = engine->direct};
}

/* Its own symbols, and one more (NULL: none); its own accounts, or these. */
static int configure_with(struct engine *engine, const struct symbol *symbol,
                          const struct account_spec *accounts, int n_accounts)
{
    char err[ENGINE_ERROR_MAX];
    struct symbol *symbols = calloc((size_t)engine->n_symbols + 1, sizeof *symbols);
    if (!symbols)
        return -ENOMEM;
    for (int s = 0; s < engine->n_symbols; s++)
        symbols[s] = engine->markets[s].symbol;
    if (symbol)
        symbols[engine->n_symbols] = *symbol;
    struct engine_config config = engine_config_of(engine);
    config.symbols = symbols;
    config.n_symbols = engine->n_symbols + (symbol != NULL);
    if (accounts) {
        config.accounts = accounts;
        config.n_accounts = n_accounts;
    }
    int r = engine_configure(engine, &config, err);
    free(symbols);
    return r;
}

int engine_configure_add(struct engine *engine, const struct symbol *symbol)
{
    return configure_with(engine, symbol, NULL, 0);
}

int engine_configure_accounts(struct engine *engine, const struct account_spec *accounts, int n)
{
    return n > 0 ? configure_with(engine, NULL, accounts, n) : 0;
}

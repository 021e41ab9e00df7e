/* The user's commands for accounts: a new one, money in and out and between them, and a reset. */
#include <errno.h>
#include <string.h>

#include "engine/core.h"
#include "engine/driver.h"
#include "strategy/external.h"

static bool known(const struct engine *engine, int account)
{
    return account >= 0 && account < engine->n_accounts;
}

/* ---- create ---- */

static bool traded_currency(const struct engine *engine, const struct account_spec *spec)
{
    if (memchr(spec->currency, 0, sizeof spec->currency) == NULL)
        return false;
    for (int s = 0; s < engine->n_symbols; s++) {
        const struct symbol *symbol = &engine->markets[s].symbol;
        if (strcmp(symbol->quote, spec->currency) == 0)
            return symbol->quote_scale == spec->currency_scale;
    }
    return false;
}

static bool proper_params(const struct engine *engine, const struct account_spec *spec)
{
    const struct strategy *strategy = spec->strategy;
    if (strategy && spec->policy)
        return false;
    if (!strategy)
        return true;
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    char why[SPECS_ERROR_MAX];
    size_t n;
    return !strategy_misfit(strategy, spec->params) && !strategy_check(strategy, spec->params) &&
           engine_runner_specs(strategy, spec->params, engine->interval_ns, specs, &n, why) == 0;
}

static enum order_reason create(struct engine *engine, const struct account_spec *spec)
{
    if (!account_name_good(spec->name) || engine_find_account(engine, spec->name) >= 0 ||
        !traded_currency(engine, spec) || spec->cash < 0 || spec->cash > MONEY_MAX ||
        account_rules_check(&spec->rules) || !proper_params(engine, spec) ||
        engine->n_accounts == ACCOUNTS_MAX)
        return ORDER_BAD_ACCOUNT;
    int index = account_add(engine, spec);
    if (index < 0) { /* -EINVAL: of a policy that is not for these symbols */
        engine->out_of_memory |= index == -ENOMEM;
        return ORDER_BAD_ACCOUNT;
    }
    engine_runner_warm(engine, index);
    engine->accounts[index].interest_ns = engine_loan_hour(engine->now_ns);
    if (engine->sink.account)
        engine->sink.account(engine->sink.ctx, index);
    account_begin(engine, index);
    engine->accounts[index].moved = engine->account_moved = true;
    return ORDER_OK;
}

/* ---- the configuration, read again ---- */

static bool may_become(const struct engine *engine, const struct account_spec *spec)
{
    int index = engine_find_account(engine, spec->name);
    const struct account *account = index < 0 ? NULL : &engine->accounts[index];
    return account && account->closed_ns == 0 && strcmp(account->currency, spec->currency) == 0 &&
           account->currency_scale == spec->currency_scale &&
           account->rules.execution == spec->rules.execution && !account_rules_check(&spec->rules) &&
           proper_params(engine, spec);
}

static enum order_reason configure(struct engine *engine, const struct account_spec *accounts, int n)
{
    for (int i = 0; i < n; i++)
        if (!may_become(engine, &accounts[i]))
            return engine_find_account(engine, accounts[i].name) < 0 ? ORDER_UNKNOWN_ACCOUNT
                                                                     : ORDER_BAD_ACCOUNT;
    int r = engine_configure_accounts(engine, accounts, n);
    engine->out_of_memory |= r == -ENOMEM;
    if (r < 0)
        return ORDER_BAD_ACCOUNT;
    for (int i = 0; i < n; i++)
        engine_request_resume(engine, engine_find_account(engine, accounts[i].name));
    for (int i = 0; i < n && engine->sink.account; i++)
        engine->sink.account(engine->sink.ctx, engine_find_account(engine, accounts[i].name));
    return ORDER_OK;
}

/* ---- money ---- */

/* Can an account take so much, or give it when it is negative? */
static enum order_reason bears(struct engine *engine, int account, int64_t amount)
{
    int64_t sum;
    if (amount == 0 || amount > MONEY_MAX || amount < -MONEY_MAX ||
        account_currency(engine, account)->total > MONEY_MAX - amount ||
        __builtin_add_overflow(engine->accounts[account].deposits, amount, &sum))
        return ORDER_BAD_ACCOUNT;
    if (-amount > engine_loan_unreserved(engine, account))
        return ORDER_INSUFFICIENT_BALANCE;
    int64_t settled = account_currency(engine, account)->total - engine_settle_unsettled(engine, account);
    bool pays = -amount <= settled && -amount <= engine_loan_spendable(engine, account);
    return amount > 0 || pays ? ORDER_OK : ORDER_UNSETTLED_CASH;
}

static enum order_reason deposit(struct engine *engine, int account, int64_t amount)
{
    enum order_reason reason = bears(engine, account, amount);
    if (reason == ORDER_OK) {
        engine_cause(engine, amount < 0 ? CAUSE_WITHDRAWAL : CAUSE_DEPOSIT);
        account_flow(engine, account, LEDGER_DEPOSIT, amount);
    }
    return reason;
}

static enum order_reason transfer(struct engine *engine, int from, int to, int64_t amount)
{
    if (!known(engine, to))
        return ORDER_UNKNOWN_ACCOUNT;
    if (engine->accounts[to].closed_ns != 0)
        return ORDER_ACCOUNT_CLOSED;
    if (from == to || amount <= 0 || amount > MONEY_MAX ||
        strcmp(engine->accounts[from].currency, engine->accounts[to].currency) != 0)
        return ORDER_BAD_ACCOUNT;
    enum order_reason reason = bears(engine, from, -amount);
    if (reason == ORDER_OK)
        reason = bears(engine, to, amount);
    if (reason != ORDER_OK)
        return reason;
    engine_cause(engine, CAUSE_TRANSFER)->counterparty = to;
    account_flow(engine, from, LEDGER_TRANSFER, -amount);
    engine_cause(engine, CAUSE_TRANSFER)->counterparty = from;
    account_flow(engine, to, LEDGER_TRANSFER, amount);
    return ORDER_OK;
}

/* ---- reset ---- */

static enum order_reason reset(struct engine *engine, int index, int64_t cash)
{
    struct account *account = &engine->accounts[index];
    if (cash < 0 || cash > MONEY_MAX)
        return ORDER_BAD_ACCOUNT;
    const int64_t point = account->point, base = engine_day_base(engine, index);
    engine_match_withdraw(engine, index);
    account_clear(engine, index);
    account->opening_cash = cash;
    account->started = false;
    account->equity_peak = account->killed_ns = 0;
    account->killing = false;
    engine_halt_over(engine, index);
    engine_venue_forget(engine, index);
    account->day = -1; /* starts with the next mark */
    account->interest_ns = engine_loan_hour(engine->now_ns);
    account_begin(engine, index);
    account_mark(engine, index);
    account->day_base = base + account->equity - point; /* what was gained before stays so */
    account->moved = engine->account_moved = true;
    engine->rates[index] = (struct risk_rate){0};
    engine->specs[index].cash = cash;
    engine_request_forget(engine, index);
    engine_runner_close(engine, index);
    if (engine_runner_open(engine, index, &engine->specs[index]) < 0)
        engine->out_of_memory = true;
    else
        engine_runner_warm(engine, index);
    if (engine->sink.account)
        engine->sink.account(engine->sink.ctx, index);
    return ORDER_OK;
}

/* ---- close ---- */

static bool has_orders(const struct engine *engine, int account);

bool engine_account_ends(const struct engine *engine, int index)
{
    const struct account *account = &engine->accounts[index];
    bool ends = !has_orders(engine, index) && !engine->specs[index].policy && account->unpaid_interest == 0;
    for (int s = 0; s < engine->n_symbols && ends; s++)
        ends = account->positions[s].qty == 0;
    for (int i = 0; i < account->n_assets && ends; i++)
        ends =
            account->assets[i].borrowed == 0 && (i == account->currency_at || account->assets[i].total == 0);
    return ends;
}

/* What is left is withdrawn; its strategy ends. */
static enum order_reason close_for_ever(struct engine *engine, int index)
{
    struct account *account = &engine->accounts[index];
    const int64_t left = account_currency(engine, index)->total;
    if (!engine_account_ends(engine, index))
        return ORDER_ACCOUNT_IN_USE;
    enum order_reason reason = left > 0 ? deposit(engine, index, -left) : ORDER_OK;
    if (reason != ORDER_OK)
        return reason;
    if (account->started)
        account_equity_point(engine, index);
    account->moved = false;
    account->closed_ns = engine->now_ns;
    engine_halt_over(engine, index);
    engine_request_forget(engine, index);
    engine_runner_close(engine, index);
    engine->specs[index].strategy = NULL;
    memset(engine->specs[index].params, 0, sizeof engine->specs[index].params);
    if (engine_runner_open(engine, index, &engine->specs[index]) < 0)
        engine->out_of_memory = true;
    if (engine->sink.account)
        engine->sink.account(engine->sink.ctx, index);
    return ORDER_OK;
}

static bool has_orders(const struct engine *engine, int account)
{
    for (size_t i = 0; i < engine->n_orders; i++)
        if (engine->orders[i].order.account == account)
            return true;
    return false;
}

/* Money of an account at its venue moves there alone. Its books start again where nothing of it is open
 * there. */
static bool moves_elsewhere(const struct engine *engine, const struct event_command *command)
{
    const struct account *account = &engine->accounts[command->money.account];
    const struct account *to = command->kind == COMMAND_ACCOUNT_TRANSFER && known(engine, command->money.to)
                                   ? &engine->accounts[command->money.to]
                                   : account;
    if (command->kind == COMMAND_ACCOUNT_RESUME)
        return false;
    if (command->kind == COMMAND_ACCOUNT_RESET && !has_orders(engine, command->money.account))
        return false;
    return account->rules.execution == EXECUTION_VENUE_PAPER || to->rules.execution == EXECUTION_VENUE_PAPER;
}

enum order_reason account_command(struct engine *engine, const struct event_command *command)
{
    if (command->kind == COMMAND_ACCOUNT_CREATE)
        return create(engine, &command->account);
    if (command->kind == COMMAND_ACCOUNT_POLICY && known(engine, command->policy.account) &&
        engine->accounts[command->policy.account].closed_ns != 0)
        return ORDER_ACCOUNT_CLOSED;
    if (command->kind == COMMAND_ACCOUNT_POLICY)
        return known(engine, command->policy.account)
                   ? engine_driver_swap(engine, command->policy.account, command->policy.policy,
                                        command->policy.close)
                   : ORDER_UNKNOWN_ACCOUNT;
    if (command->kind == COMMAND_CONFIGURE)
        return configure(engine, command->configure.accounts, command->configure.n);
    int account = command->money.account;
    if (!known(engine, account))
        return ORDER_UNKNOWN_ACCOUNT;
    if (engine->accounts[account].closed_ns != 0)
        return ORDER_ACCOUNT_CLOSED;
    if (moves_elsewhere(engine, command))
        return ORDER_VENUE_TERMS;
    if (command->kind == COMMAND_ACCOUNT_DEPOSIT)
        return deposit(engine, account, command->money.amount);
    if (command->kind == COMMAND_ACCOUNT_CLOSE)
        return close_for_ever(engine, account);
    if (command->kind == COMMAND_ACCOUNT_RESET)
        return reset(engine, account, command->money.amount);
    if (command->kind == COMMAND_ACCOUNT_TRANSFER)
        return transfer(engine, account, command->money.to, command->money.amount);
    if (command->kind == COMMAND_ACCOUNT_RESUME) {
        engine_halt_lift(engine, account);
        engine_request_resume(engine, account);
        return ORDER_OK;
    }
    return ORDER_BAD_ACCOUNT;
}

/* Cash dividends: booked when they take effect, and paid then, or at their pay date. docs/accounts.md,
 * "Dividends", has the rules; what a dividend has no pay date is paid at once, as every one in logs of before
 * layout 13. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core.h"
#include "engine/event.h"
#include "engine/split.h"

/* ---- what is open ---- */

void engine_dividends_sum(struct engine *engine, int index)
{
    struct account *account = &engine->accounts[index];
    account->receivable = account->payable = 0;
    for (uint32_t i = 0; i < account->n_receivables; i++) {
        const struct receivable *receivable = &account->receivables[i];
        if (strcmp(receivable->asset, account->currency) != 0)
            continue;
        int64_t *sum = receivable->amount > 0 ? &account->receivable : &account->payable;
        int64_t size = receivable->amount > 0 ? receivable->amount : -receivable->amount;
        *sum = size > MONEY_MAX - *sum ? MONEY_MAX : *sum + size;
    }
    for (uint32_t i = 0; i < account->n_receivables; i++)
        if (account->receivables[i].pay_ns < engine->pay_due_ns)
            engine->pay_due_ns = account->receivables[i].pay_ns;
}

/* In the order in which they are paid: of one time as they were booked. */
int engine_dividends_put(struct engine *engine, int index, const struct receivable *receivable)
{
    struct account *account = &engine->accounts[index];
    if (account->n_receivables == account->cap_receivables) {
        uint32_t cap = account->cap_receivables ? 2 * account->cap_receivables : 8;
        struct receivable *moved = realloc(account->receivables, cap * sizeof *moved);
        if (!moved)
            return -ENOMEM;
        account->receivables = moved;
        account->cap_receivables = cap;
    }
    uint32_t at = account->n_receivables++;
    for (; at > 0 && account->receivables[at - 1].pay_ns > receivable->pay_ns; at--)
        account->receivables[at] = account->receivables[at - 1];
    account->receivables[at] = *receivable;
    return 0;
}

static void emit(struct engine *engine, int index, enum receivable_kind kind, const struct receivable *of,
                 int64_t paid, uint64_t ledger_id)
{
    const struct receivable_row row = {.id = ++engine->last_receivable,
                                       .ts_ns = engine->now_ns,
                                       .account = index,
                                       .kind = kind,
                                       .of = *of,
                                       .paid = paid,
                                       .ledger_id = ledger_id,
                                       .input_seq = engine->input_seq};
    if (engine->sink.receivable)
        engine->sink.receivable(engine->sink.ctx, &row);
}

/* ---- cash ---- */

/* What the asset does not suffice for is a liability, like interest; how much is paid of `due`. */
static int64_t collect(struct engine *engine, int index, const struct balance *balance, int64_t due)
{
    struct account *account = &engine->accounts[index];
    int64_t available = account_available(balance);
    int64_t paid = due < available ? due : available;
    if (balance == account_currency(engine, index) && due - paid <= MONEY_MAX - account->unpaid_interest)
        account->unpaid_interest += due - paid;
    return paid;
}

/* The symbol that it is of, which may have got another name since; -1: it is not known any more. */
static int symbol_of(const struct engine *engine, const struct receivable *of)
{
    for (int s = 0; s < engine->n_symbols; s++)
        if (strcmp(engine->markets[s].symbol.name, of->symbol) == 0)
            return s;
    for (int s = 0; s < engine->n_symbols; s++)
        if (engine_action_is_known(&engine->markets[s], of->action))
            return s;
    return -1;
}

/* Moves the cash; false where the balance cannot hold it. */
static bool pay(struct engine *engine, int index, struct balance *balance, int symbol,
                const struct receivable *of, int64_t *ret_paid)
{
    int64_t amount = of->amount;
    if (amount > MONEY_MAX - balance->total)
        return false;
    struct ledger_cause *cause = engine_cause(engine, CAUSE_DIVIDEND);
    cause->symbol = symbol;
    cause->qty = of->qty;
    cause->due = amount;
    memcpy(cause->action, of->action, sizeof cause->action);
    if (amount < 0)
        amount = -collect(engine, index, balance, -amount);
    if (amount == 0 && of->amount < 0)
        engine_cause_accrued(engine, index);
    account_post(engine, index, balance, LEDGER_DIVIDEND, amount, 0, 0);
    *ret_paid = amount;
    return true;
}

static void settled(struct engine *engine, int index)
{
    engine_loan_repay(engine, index, NULL);
    engine->accounts[index].moved = engine->account_moved = true;
}

/* ---- a dividend takes effect ---- */

static void refuse(struct engine *engine, int index, int symbol, const char *action)
{
    engine_alert(engine, "ACTION_REFUSED", ENGINE_OF(index, symbol, 0),
                 "%s: dividend %s is more than account %s can hold", engine->markets[symbol].symbol.name,
                 action, engine->accounts[index].name);
}

/* ceil(gross · rate), of a long position. */
static int64_t withheld_of(const struct account *account, int64_t gross)
{
    return gross > 0 ? fill_fee(gross, account->rules.withholding_e6) : 0;
}

static struct receivable receivable_of(const struct engine *engine, int index, int symbol,
                                       const struct corporate_action *action, int64_t qty, int64_t gross)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    struct receivable of = {.scale = listed->quote_scale,
                            .qty_scale = listed->qty_scale,
                            .ex_ns = action->ex_ns,
                            .pay_ns = action->pay_ns,
                            .qty = qty,
                            .gross = gross,
                            .withheld = withheld_of(&engine->accounts[index], gross)};
    memcpy(of.symbol, listed->name, strnlen(listed->name, sizeof of.symbol - 1));
    memcpy(of.action, action->id, strnlen(action->id, sizeof of.action - 1));
    memcpy(of.asset, listed->quote, strnlen(listed->quote, sizeof of.asset - 1));
    of.amount = of.gross - of.withheld;
    return of;
}

/* At once. A row of it only where something is withheld: else the ledger has all of it. */
static bool pay_now(struct engine *engine, int index, int symbol, const struct receivable *of)
{
    int64_t paid;
    if (!pay(engine, index, account_quote(engine, index, symbol), symbol, of, &paid))
        return false;
    if (of->withheld > 0)
        emit(engine, index, RECEIVABLE_PAID, of, paid, paid != 0 ? engine->last_ledger : 0);
    settled(engine, index);
    return true;
}

/* In equity from now on, and not in cash. */
static bool book(struct engine *engine, int index, struct receivable *of)
{
    struct account *account = &engine->accounts[index];
    if (of->amount > MONEY_MAX - account->receivable || -of->amount > MONEY_MAX - account->payable)
        return false;
    of->booked = engine->last_receivable + 1;
    if (engine_dividends_put(engine, index, of) < 0)
        engine->out_of_memory = true;
    engine_dividends_sum(engine, index);
    struct receivable first = *of;
    first.booked = 0; /* it is that row */
    emit(engine, index, RECEIVABLE_BOOKED, &first, 0, engine->last_ledger);
    account->moved = engine->account_moved = true;
    return true;
}

void engine_dividends_take(struct engine *engine, int symbol, const struct corporate_action *action)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    bool later = action->pay_ns > engine->now_ns;
    int paid = 0;
    for (int a = 0; a < engine->n_accounts; a++) {
        struct account *account = &engine->accounts[a];
        int64_t qty = position_before(&account->positions[symbol], &account->lots[symbol], action->ex_ns);
        int64_t gross = 0;
        if (qty == 0)
            continue;
        if (!engine_dividend_amount(action, listed, qty, &gross)) {
            refuse(engine, a, symbol, action->id);
            continue;
        }
        struct receivable of = receivable_of(engine, a, symbol, action, qty, gross);
        if (later && gross == 0)
            continue;
        if (later ? !book(engine, a, &of) : !pay_now(engine, a, symbol, &of)) {
            refuse(engine, a, symbol, action->id);
            continue;
        }
        paid++;
    }
    if (paid > 0) {
        char cash[DECIMAL_TEXT_MAX];
        decimal_format_short(action->cash, ACTION_CASH_SCALE, cash);
        engine_alert(engine, "DIVIDEND", ENGINE_OF(-1, symbol, 0),
                     "%s pays %s %s a share: booked to %d account%s", listed->name, cash, listed->quote, paid,
                     paid == 1 ? "" : "s");
    }
}

/* ---- its day ---- */

/* The first of an account's is paid; where its balance cannot hold it, it is written off. */
static void pay_first(struct engine *engine, int index)
{
    struct account *account = &engine->accounts[index];
    const struct receivable of = account->receivables[0];
    int64_t paid = 0;
    account->n_receivables--;
    memmove(account->receivables, account->receivables + 1,
            account->n_receivables * sizeof *account->receivables);
    engine_dividends_sum(engine, index);
    int at = account_place(engine, index, of.asset, of.scale);
    uint64_t before = engine->last_ledger;
    if (at < 0) {
        engine->out_of_memory = true;
    } else if (pay(engine, index, &account->assets[at], symbol_of(engine, &of), &of, &paid)) {
        emit(engine, index, RECEIVABLE_PAID, &of, paid,
             engine->last_ledger > before ? engine->last_ledger : 0);
    } else {
        engine_alert(engine, "ACTION_REFUSED", ENGINE_OF(index, -1, 0),
                     "%s: dividend %s is more than account %s can hold", of.symbol, of.action, account->name);
        emit(engine, index, RECEIVABLE_WRITTEN_OFF, &of, 0, 0);
    }
    settled(engine, index);
}

void engine_dividends_due(struct engine *engine)
{
    if (engine->now_ns < engine->pay_due_ns)
        return;
    engine->pay_due_ns = INT64_MAX;
    for (int a = 0; a < engine->n_accounts; a++) {
        struct account *account = &engine->accounts[a];
        bool pays = !engine->outside || engine_hours_concerns(engine, a);
        while (pays && account->n_receivables > 0 && account->receivables[0].pay_ns <= engine->now_ns)
            pay_first(engine, a);
        engine_dividends_sum(engine, a);
    }
}

void engine_dividends_write_off(struct engine *engine, int index)
{
    struct account *account = &engine->accounts[index];
    for (uint32_t i = 0; i < account->n_receivables; i++)
        emit(engine, index, RECEIVABLE_WRITTEN_OFF, &account->receivables[i], 0, 0);
    account->n_receivables = 0;
    engine_dividends_sum(engine, index);
}

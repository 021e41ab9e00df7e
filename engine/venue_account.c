/* What an account with EXECUTION_VENUE_PAPER holds at its venue. What it holds when it is attached is booked
 * as deposited: its currency trades; what it holds of other assets is in the ledger, and is no position, so
 * that nothing here sells what it did not buy. Later differences, by deposits, orders from elsewhere, or fees
 * that the venue does not say, are deposits and withdrawals, with an alert unless they are too small. */
#include <errno.h>
#include <string.h>

#include "engine/event.h"
#include "engine/match.h"

static int64_t total_of(const struct event_venue_account *event, const struct balance *balance)
{
    int64_t total;
    for (int i = 0; i < event->n; i++)
        if (strcmp(event->totals[i].asset, balance->asset) == 0 &&
            decimal_rescale(event->totals[i].total, event->totals[i].scale, balance->scale, &total) == 0)
            return total;
    return 0;
}

/* Positions are of fills alone: what was sold elsewhere of one stays in it, and nothing can sell it. */
static bool positions_exceed(const struct engine *engine, int index, int asset)
{
    const struct account *account = &engine->accounts[index];
    int128_t held = 0;
    for (int s = 0; s < engine->n_symbols; s++)
        if (account->pairs[s].base == asset && account->positions[s].qty > 0)
            held += account->positions[s].qty;
    return held > account->assets[asset].total;
}

/* What rounding makes of fees that the venue does not say: less than a cent of the account's currency, and
 * less than a millionth of its equity, as the currency may be a coin. Of an asset without a price nothing is.
 */
static bool is_rounding(const struct engine *engine, int index, int asset, int64_t more)
{
    const struct account *account = &engine->accounts[index];
    const int64_t equity = engine_equity(engine, index);
    const int64_t cent = account->currency_scale > 2 ? decimal_pow10(account->currency_scale - 2) : 0;
    const int64_t limit = equity / 1000000 < cent ? equity / 1000000 : cent;
    const int128_t amount = more < 0 ? -(int128_t)more : more;
    if (asset == account->currency_at)
        return amount < limit;
    for (int s = 0; s < engine->n_symbols; s++) {
        const int64_t price = engine_price(engine, index, s);
        if (account->pairs[s].base == asset && account->pairs[s].quote == account->currency_at && price > 0)
            return amount * price < (int128_t)limit * engine->markets[s].notional_unit;
    }
    return false;
}

static void report_difference(struct engine *engine, int index, int asset, int64_t more)
{
    const struct balance *balance = &engine->accounts[index].assets[asset];
    char text[DECIMAL_TEXT_MAX];
    decimal_format_short(more < 0 ? -more : more, balance->scale, text);
    engine_alert(engine, "VENUE_BALANCE", ENGINE_OF(index, -1, 0),
                 "account %s: its venue has %s %s %s than its fills add up to: booked as %s%s",
                 engine->accounts[index].name, text, balance->asset, more < 0 ? "less" : "more",
                 more < 0 ? "withdrawn" : "deposited",
                 more < 0 && positions_exceed(engine, index, asset)
                     ? ": less than its position, which account reset ends"
                     : "");
}

static void compare(struct engine *engine, int index, const struct event_venue_account *event)
{
    struct account *account = &engine->accounts[index];
    for (int i = 0; i < account->n_assets; i++) {
        struct balance *balance = &account->assets[i];
        int64_t more = total_of(event, balance) - balance->total;
        if (more == 0)
            continue;
        const bool rounding = is_rounding(engine, index, i, more);
        engine_cause(engine, CAUSE_VENUE);
        if (i == account->currency_at)
            account_flow(engine, index, LEDGER_DEPOSIT, more);
        else
            account_post(engine, index, balance, LEDGER_DEPOSIT, more, 0, 0);
        if (!rounding || (more < 0 && positions_exceed(engine, index, i)))
            report_difference(engine, index, i, more);
    }
}

static void attach(struct engine *engine, int index, const struct event_venue_account *event)
{
    struct account *account = &engine->accounts[index];
    account->at_venue.attached = true;
    memcpy(account->at_venue.prefix, event->prefix, sizeof account->at_venue.prefix);
    if (account->started) { /* its books have a past, of which it is not known that it was attached */
        compare(engine, index, event);
    } else {
        account->opening_cash = engine->specs[index].cash = total_of(event, account_currency(engine, index));
        account_begin(engine, index);
        engine_cause(engine, CAUSE_VENUE);
        for (int i = 0; i < account->n_assets; i++)
            if (i != account->currency_at)
                account_post(engine, index, &account->assets[i], LEDGER_DEPOSIT,
                             total_of(event, &account->assets[i]), 0, 0);
    }
    account->moved = engine->account_moved = true;
    if (engine->sink.account)
        engine->sink.account(engine->sink.ctx, index);
}

static void lose(struct engine *engine, int index, const char *text)
{
    struct account *account = &engine->accounts[index];
    account->at_venue.halted = true;
    account->at_venue.attached = false;
    for (size_t i = 0; i < engine->n_orders;) {
        const struct order *order = &engine->orders[i].order;
        uint64_t id = order->id;
        if (order->account == index) {
            if (order->state == ORDER_UNKNOWN)
                engine_alert_over(engine, "VENUE_UNKNOWN", "order %llu ", (unsigned long long)id);
            engine->venue_ended = id;
            engine_live_end(engine, id, ORDER_IS_CANCELED, ORDER_VENUE_LOST);
        }
        i = engine_live_from(engine, id + 1);
    }
    engine->venue_ended = 0;
    engine_alert(engine, "VENUE_HALTED", ENGINE_OF(index, -1, 0),
                 "account %s is halted: %s; account reset attaches it again", account->name, text);
    if (engine->sink.account)
        engine->sink.account(engine->sink.ctx, index);
}

int engine_venue_account_event(struct engine *engine, const struct event_venue_account *event)
{
    if (event->account < 0 || event->account >= engine->n_accounts || event->n < 0 ||
        engine->accounts[event->account].rules.execution != EXECUTION_VENUE_PAPER)
        return -EINVAL;
    const struct account_at_venue *at = &engine->accounts[event->account].at_venue;
    switch (event->update) {
    case VENUE_ACCOUNT_ATTACHED:
        if (!at->attached && !at->halted)
            attach(engine, event->account, event);
        return 0;
    case VENUE_ACCOUNT_BALANCES:
        if (at->attached)
            compare(engine, event->account, event);
        return 0;
    case VENUE_ACCOUNT_RESET:
        if (!at->halted)
            lose(engine, event->account, event->text);
        return 0;
    case VENUE_ACCOUNT_UPDATES:
        break;
    }
    return -EINVAL;
}

void engine_venue_forget(struct engine *engine, int account)
{
    if (engine->accounts[account].at_venue.halted)
        engine_alert_over(engine, "VENUE_HALTED", "account %s ", engine->accounts[account].name);
    engine->accounts[account].at_venue = (struct account_at_venue){0};
}

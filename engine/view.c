/* What screens and status messages show. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "engine/core.h"
#include "engine/driver.h"

int64_t engine_now(const struct engine *engine)
{
    return engine->now_ns;
}

int64_t engine_received(const struct engine *engine)
{
    return engine->recv_ns;
}

bool engine_paused(const struct engine *engine)
{
    return engine->paused;
}

bool engine_storage_failing(const struct engine *engine)
{
    return engine->storage_failing;
}

int64_t engine_interval(const struct engine *engine)
{
    return engine->interval_ns;
}

int engine_symbols(const struct engine *engine)
{
    return engine->n_symbols;
}

int engine_accounts(const struct engine *engine)
{
    return engine->n_accounts;
}

const struct symbol *engine_symbol(const struct engine *engine, int symbol)
{
    return &engine->markets[symbol].symbol;
}

int64_t engine_symbol_ahead_ns(const struct engine *engine, int symbol)
{
    return engine_ahead_ns(engine, symbol);
}

void engine_symbol_view(const struct engine *engine, int symbol, struct engine_symbol_view *ret)
{
    const struct market_state *market = &engine->markets[symbol];
    *ret = (struct engine_symbol_view){
        .last = market->last,
        .bid = market->quote.bid,
        .bid_qty = market->quote.bid_qty,
        .ask = market->quote.ask,
        .ask_qty = market->quote.ask_qty,
        .mark = market->last,
        .mark_ns = market->priced_ns,
        .last_ns = market->last_ns,
        .change_open = market->change_open,
        .ahead_ns = market->ahead_ns,
        .book = market->book.state,
        .book_gaps = market->book.gaps,
        .book_crossed = market->book.crossed,
        .bars = market->bars,
        .last_bar = market->last_bar,
        .forming = market->forming,
        .stale = market->stale,
        .out = market->out,
        .phase = market->phase,
        .extended = market->extended,
        .trading = market->trading,
        .bands = market->bands,
    };
    const struct book_level *bid = book_bid(&market->book, 0), *ask = book_ask(&market->book, 0);
    if (ret->bid == 0 && ret->ask == 0 && market->book.state == BOOK_SYNCED) { /* no bookTicker is streamed */
        ret->bid = bid ? bid->price : 0;
        ret->bid_qty = bid ? bid->qty : 0;
        ret->ask = ask ? ask->price : 0;
        ret->ask_qty = ask ? ask->qty : 0;
    }
}

const struct account *engine_account(const struct engine *engine, int account)
{
    return &engine->accounts[account];
}

const struct book *engine_book(const struct engine *engine, int symbol)
{
    return &engine->markets[symbol].book;
}

int engine_find_symbol(const struct engine *engine, const char *name)
{
    for (int s = 0; s < engine->n_symbols; s++)
        if (strcmp(engine->markets[s].symbol.name, name) == 0)
            return s;
    return -ENOENT;
}

int engine_find_symbol_written(const struct engine *engine, const char *name)
{
    for (int s = 0; s < engine->n_symbols; s++)
        if (strcasecmp(engine->markets[s].symbol.name, name) == 0)
            return s;
    return -ENOENT;
}

int engine_find_account(const struct engine *engine, const char *name)
{
    for (int a = 0; a < engine->n_accounts; a++)
        if (strcmp(engine->accounts[a].name, name) == 0)
            return a;
    return -ENOENT;
}

size_t engine_orders(const struct engine *engine)
{
    return engine->n_orders;
}

const struct order *engine_order(const struct engine *engine, size_t i)
{
    return &engine->orders[i].order;
}

size_t engine_indicators(const struct engine *engine, int account, int symbol, const char *names[],
                         double values[], size_t cap)
{
    const struct strategy_runner *runner = &engine->runners[account];
    if (!runner->strategy)
        return 0;
    const struct strategy_slot *slot = &runner->slots[symbol];
    size_t n = slot->n_values < cap ? slot->n_values : cap;
    for (size_t i = 0; i < n; i++) {
        names[i] = slot->names[i];
        values[i] = slot->values[i];
    }
    return n;
}

bool engine_may_short(const struct engine *engine, int account)
{
    bool may = false;
    for (int s = 0; s < engine->n_symbols; s++)
        may |= engine_loan_allowed(engine, account, s);
    return may;
}

const uint64_t *engine_intents_refused(const struct engine *engine, int account)
{
    return engine->runners[account].refused;
}

const struct strategy_record *engine_record(const struct engine *engine, int account, int symbol)
{
    return &engine->accounts[account].records[symbol].record;
}

void engine_ids(const struct engine *engine, struct engine_ids *ret)
{
    ret->last_order = engine->last_order;
    ret->last_fill = engine->last_fill;
    ret->last_ledger = engine->last_ledger;
    memcpy(ret->hash, engine->hash, sizeof ret->hash);
}

const struct engine_counters *engine_counters(const struct engine *engine)
{
    return &engine->counters;
}

const struct account_spec *engine_account_spec(const struct engine *engine, int account)
{
    return &engine->specs[account];
}

const struct order *engine_find_order(const struct engine *engine, uint64_t id)
{
    size_t at = engine_match_find(engine, id);
    return at < engine->n_orders ? &engine->orders[at].order : NULL;
}

const struct order *engine_find_client_order(const struct engine *engine, int account, const char *client_id)
{
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct order *order = &engine->orders[i].order;
        if (order->account == account && strcmp(order->client_id, client_id) == 0)
            return order;
    }
    return NULL;
}

bool engine_policy_view(const struct engine *engine, int account, struct engine_policy_view *ret)
{
    const struct policy_driver *driver = &engine->runners[account].driver;
    const struct policy *policy = driver->policy;
    *ret = (struct engine_policy_view){0};
    if (!policy)
        return false;
    ret->decided_ns = driver->decided_ns;
    ret->acting = driver->decided_ns > 0 || engine_driver_ready(engine, account);
    ret->holds_warming = driver->warming == WARMING_HOLDS;
    for (int i = 0; driver->decided_ns > 0 && i < policy->n_assets; i++, ret->n++) {
        ret->symbols[i] = driver->slots[i].symbol;
        ret->actions[i] = driver->slots[i].action;
    }
    return true;
}

/* What is learned of a venue's account, as events of the engine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/execution/venue_execution_internal.h"

/* At another scale, what is less than its unit rounded up or cut off. */
static int64_t rescale(int64_t units, int from, int to, bool up)
{
    int64_t ret;
    if (decimal_rescale(units, from, to, &ret) == 0)
        return ret;
    int64_t unit = from > to ? decimal_pow10(from - to) : 1;
    return units / unit + (up && units % unit > 0);
}

/* ---- orders ---- */

static int scale_of(const struct account *account, const struct symbol *symbol, const char *asset)
{
    if (strcmp(asset, symbol->base) == 0)
        return symbol->qty_scale;
    if (strcmp(asset, symbol->quote) == 0)
        return symbol->quote_scale;
    for (int i = 0; i < account->n_assets; i++)
        if (strcmp(asset, account->assets[i].asset) == 0)
            return account->assets[i].scale;
    return VENUE_BALANCE_SCALE;
}

static void take_fill(const struct venue_execution *execution, const struct venue_fill *fill,
                      struct event_venue_order *ret)
{
    const struct engine *engine = execution->host.engine(execution->host.ctx);
    const struct account *account = engine_account(engine, ret->account);
    const char *asset = fill->fee_asset[0] ? fill->fee_asset : fill->symbol->quote;
    ret->fill.price = fill->price;
    ret->fill.qty = fill->qty;
    ret->fill.cumulative = fill->cumulative;
    ret->fill.notional = fill->notional;
    ret->fill.maker = fill->maker;
    ret->fill.ts_ns = fill->ts_ns;
    snprintf(ret->fill.trade_id, sizeof ret->fill.trade_id, "%s", fill->trade_id);
    if (!fill->fee_said)
        return;
    snprintf(ret->fill.fee_asset, sizeof ret->fill.fee_asset, "%s", asset);
    ret->fill.fee = rescale(fill->fee, fill->fee_scale, scale_of(account, fill->symbol, asset), true);
}

void venue_execution_on_update(void *ctx, uint64_t order_id, enum venue_update update, const char *venue_id,
                               const char *text, const struct venue_fill *fill)
{
    struct venue_execution *execution = ctx;
    struct event event = {.kind = EVENT_VENUE_ORDER,
                          .venue_order = {.account = venue_execution_account(execution),
                                          .order_id = order_id,
                                          .update = update}};
    snprintf(event.venue_order.venue_id, sizeof event.venue_order.venue_id, "%s", venue_id);
    snprintf(event.venue_order.text, sizeof event.venue_order.text, "%s", text);
    if (fill)
        take_fill(execution, fill, &event.venue_order);
    execution->host.event(execution->host.ctx, &event);
}

uint64_t venue_execution_on_duplicate(void *ctx, const struct venue_order *order)
{
    struct venue_execution *execution = ctx;
    const struct engine *engine = execution->host.engine(execution->host.ctx);
    const int account = venue_execution_account(execution);
    const uint64_t client = engine_venue_order_of(engine, account, order->client_id);
    struct event event = {.kind = EVENT_VENUE_ORDER,
                          .venue_order = {.account = account,
                                          .order_id = client,
                                          .update = VENUE_UPDATE_DUPLICATE,
                                          .duplicate = {.symbol = (int)(order->symbol - execution->symbols),
                                                        .side = order->side,
                                                        .type = order->type,
                                                        .tif = order->tif,
                                                        .qty = order->qty,
                                                        .price = order->price,
                                                        .stop_price = order->stop_price}}};
    snprintf(event.venue_order.venue_id, sizeof event.venue_order.venue_id, "%s", order->id);
    execution->host.event(execution->host.ctx, &event);
    engine = execution->host.engine(execution->host.ctx);
    return engine_venue_booked(engine, account, client, order->id);
}

/* ---- the account ---- */

static int64_t total_of(const struct balance *balance, const struct venue_balance *balances, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(balances[i].asset, balance->asset) == 0)
            return rescale(balances[i].free + balances[i].locked, balances[i].scale, balance->scale, false);
    return 0;
}

bool venue_execution_differs(void *ctx, const struct venue_balance *balances, size_t n, int symbol)
{
    struct venue_execution *execution = ctx;
    const struct engine *engine = execution->host.engine(execution->host.ctx);
    const struct account *account = engine_account(engine, venue_execution_account(execution));
    const char *base = symbol >= 0 ? execution->symbols[symbol].base : NULL;
    for (int i = 0; i < account->n_assets; i++)
        if ((!base || strcmp(account->assets[i].asset, base) == 0) &&
            total_of(&account->assets[i], balances, n) != account->assets[i].total)
            return true;
    return false;
}

/* What it has of the assets that the engine's account has. */
void venue_execution_on_balances(void *ctx, const struct venue_balance *balances, size_t n)
{
    struct venue_execution *execution = ctx;
    const struct engine *engine = execution->host.engine(execution->host.ctx);
    int index = venue_execution_account(execution);
    const struct account *account = engine_account(engine, index);
    bool attached = engine_venue_attached(engine, index);
    if (engine_venue_halted(engine, index) || (attached && !venue_execution_differs(ctx, balances, n, -1)))
        return;
    struct venue_total *totals = calloc((size_t)account->n_assets + 1, sizeof *totals);
    if (!totals)
        return; /* at the next time */
    struct event event = {
        .kind = EVENT_VENUE_ACCOUNT,
        .venue_account = {.account = index,
                          .update = attached ? VENUE_ACCOUNT_BALANCES : VENUE_ACCOUNT_ATTACHED,
                          .totals = totals,
                          .n = account->n_assets}};
    for (int i = 0; i < account->n_assets; i++) {
        const struct balance *balance = &account->assets[i];
        totals[i] = (struct venue_total){.scale = balance->scale, .total = total_of(balance, balances, n)};
        memcpy(totals[i].asset, balance->asset, sizeof totals[i].asset);
    }
    if (!attached)
        execution->host.prefix(execution->host.ctx, event.venue_account.prefix);
    execution->host.event(execution->host.ctx, &event);
    free(totals);
}

void venue_execution_on_reset(void *ctx, const char *text)
{
    struct venue_execution *execution = ctx;
    int index = venue_execution_account(execution);
    struct event event = {.kind = EVENT_VENUE_ACCOUNT,
                          .venue_account = {.account = index, .update = VENUE_ACCOUNT_RESET}};
    char words[VENUE_DETAIL_MAX + 80];
    execution->over = true;
    snprintf(execution->detail, sizeof execution->detail, "%s", text);
    if (engine_venue_attached(execution->host.engine(execution->host.ctx), index)) {
        snprintf(event.venue_account.text, sizeof event.venue_account.text, "%s", text);
        execution->host.event(execution->host.ctx, &event);
        return;
    }
    execution->denied = true;
    snprintf(words, sizeof words, "is not attached: %s: a reload, and the next start, try it again", text);
    venue_execution_alert(execution, EXECUTION_ALERT_LINK, words);
}

void venue_execution_on_rights(void *ctx, const char *text)
{
    struct venue_execution *execution = ctx;
    char words[VENUE_UPDATE_TEXT_MAX + 80];
    snprintf(words, sizeof words, "has keys that may read, and not trade: %s", text ? text : "");
    venue_execution_alert(execution, EXECUTION_ALERT_RIGHTS, text ? words : NULL);
}

void venue_execution_on_doubt(void *ctx, const char *client_id)
{
    struct venue_execution *execution = ctx;
    char words[ORDER_CLIENT_ID_MAX + VENUE_NAME_MAX + 120];
    snprintf(
        words, sizeof words,
        "holds its orders back: that of client id %s, which it had, is not known at %s: was it reset there?",
        client_id ? client_id : "", execution->venue);
    venue_execution_alert(execution, EXECUTION_ALERT_DOUBT, client_id ? words : NULL);
}

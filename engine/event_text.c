#include "engine/event_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "exchange/clock.h"
#include "exchange/decimal.h"
#include "strategy/external.h"
#include "strategy/intent.h"

const char *event_kind_name(enum event_kind kind)
{
    static const char *const names[EVENT_KINDS] = {
        [EVENT_MARKET] = "MARKET",
        [EVENT_SNAPSHOT] = "SNAPSHOT",
        [EVENT_BARS] = "BARS",
        [EVENT_SYMBOL] = "SYMBOL",
        [EVENT_CONNECTION] = "CONNECTION",
        [EVENT_STALE] = "STALE",
        [EVENT_STORAGE] = "STORAGE",
        [EVENT_TIMER] = "TIMER",
        [EVENT_COMMAND] = "COMMAND",
        [EVENT_SESSION] = "SESSION",
        [EVENT_ACTION] = "ACTION",
        [EVENT_SYMBOL_CONNECTION] = "SYMBOL_CONNECTION",
        [EVENT_CALENDAR] = "CALENDAR",
        [EVENT_VENUE_CLOCK] = "VENUE_CLOCK",
        [EVENT_VENUE_ORDER] = "VENUE_ORDER",
        [EVENT_VENUE_ACCOUNT] = "VENUE_ACCOUNT",
        [EVENT_DECISION] = "DECISION",
        [EVENT_COLUMN] = "COLUMN",
        [EVENT_UNIVERSE] = "UNIVERSE",
        [EVENT_STOP] = "STOP",
    };
    return names[kind];
}

const char *engine_command_kind_name(enum command_kind kind)
{
    static const char *const names[COMMAND_KINDS] = {
        [COMMAND_PAUSE] = "pause",
        [COMMAND_RESUME] = "resume",
        [COMMAND_FLATTEN] = "flatten",
        [COMMAND_ORDER] = "order",
        [COMMAND_CANCEL] = "cancel",
        [COMMAND_AMEND] = "amend",
        [COMMAND_ACCOUNT_CREATE] = "account create",
        [COMMAND_ACCOUNT_DEPOSIT] = "account deposit",
        [COMMAND_ACCOUNT_RESET] = "account reset",
        [COMMAND_ACCOUNT_TRANSFER] = "account transfer",
        [COMMAND_ACCOUNT_RESUME] = "account resume",
        [COMMAND_ACCOUNT_POLICY] = "account policy",
        [COMMAND_CONFIGURE] = "configure",
        [COMMAND_ACCOUNT_CLOSE] = "account close",
    };
    return names[kind];
}

const char *engine_order_grouping_name(enum order_grouping kind)
{
    static const char *const names[ORDER_GROUPINGS] = {
        [ORDERS_SINGLE] = "single", [ORDERS_OCO] = "oco", [ORDERS_BRACKET] = "bracket"};
    return names[kind];
}

struct units {
    char name[SYMBOL_NAME_MAX];
    int price_scale, qty_scale;
};

static struct units units_of(const struct engine *engine, int index)
{
    struct units units = {0};
    if (engine && index >= 0 && index < engine_symbols(engine)) {
        const struct symbol *symbol = engine_symbol(engine, index);
        units.price_scale = symbol->price_scale;
        units.qty_scale = symbol->qty_scale;
        snprintf(units.name, sizeof units.name, "%s", symbol->name);
    } else {
        snprintf(units.name, sizeof units.name, "symbol %d", index);
    }
    return units;
}

struct number {
    char text[DECIMAL_TEXT_MAX];
};

static struct number decimal(int128_t units, int scale)
{
    struct number number;
    decimal_format_short(units, scale, number.text);
    return number;
}

/* Events that come along with what is subscribed. */
static void rare_text(const struct market_event *market, const struct units *u,
                      char buf[static EVENT_TEXT_MAX])
{
    static const char *const tradings[MARKET_TRADINGS] = {
        [MARKET_TRADES] = "trades", [MARKET_HALTED] = "is halted", [MARKET_ENDED] = "has ended"};
    const struct market_correction *correction = &market->correction;
    switch (market->kind) {
    case MARKET_BOOK:
        snprintf(buf, EVENT_TEXT_MAX, "MARKET %s book %" PRIu64 ", whole: %u bids, %u asks", u->name,
                 market->depth.last_id, market->depth.n_bids, market->depth.n_asks);
        break;
    case MARKET_CORRECTION:
        snprintf(
            buf, EVENT_TEXT_MAX, "MARKET %s trade %" PRId64 " corrected: %s x %s is %s x %s, id %" PRId64,
            u->name, correction->id, decimal(correction->old_price, u->price_scale).text,
            decimal(correction->old_qty, u->qty_scale).text, decimal(correction->price, u->price_scale).text,
            decimal(correction->qty, u->qty_scale).text, correction->new_id);
        break;
    case MARKET_CANCEL:
        snprintf(buf, EVENT_TEXT_MAX, "MARKET %s trade %" PRId64 " never was: %s x %s%s%s", u->name,
                 correction->id, decimal(correction->price, u->price_scale).text,
                 decimal(correction->qty, u->qty_scale).text, correction->code[0] ? ", " : "",
                 correction->code);
        break;
    case MARKET_STATUS:
        snprintf(buf, EVENT_TEXT_MAX, "MARKET %s %s%s%s%s%s", u->name, tradings[market->status.trading],
                 market->status.code[0] ? ", " : "", market->status.code,
                 market->status.reason[0] ? ": " : "", market->status.reason);
        break;
    case MARKET_BANDS:
        snprintf(buf, EVENT_TEXT_MAX, "MARKET %s trades from %s to %s", u->name,
                 decimal(market->bands.down, u->price_scale).text,
                 decimal(market->bands.up, u->price_scale).text);
        break;
    case MARKET_IMBALANCE:
        snprintf(buf, EVENT_TEXT_MAX, "MARKET %s imbalance of the auction at %s", u->name,
                 decimal(market->imbalance_price, u->price_scale).text);
        break;
    default:
        snprintf(buf, EVENT_TEXT_MAX, "MARKET %s", u->name);
    }
}

static const char *const auctions[MARKET_AUCTIONS] = {"", ", the official opening price",
                                                      ", the official closing price"};

static void market_text(const struct market_event *market, const struct units *u,
                        char buf[static EVENT_TEXT_MAX])
{
    char open[CLOCK_TEXT_MAX];
    switch (market->kind) {
    case MARKET_TRADE:
    case MARKET_AGG_TRADE:
        snprintf(buf, EVENT_TEXT_MAX, "MARKET %s %s %s x %s, id %" PRId64 ", the taker %s%s%s", u->name,
                 market->kind == MARKET_TRADE ? "trade" : "aggregated trade",
                 decimal(market->trade.price, u->price_scale).text,
                 decimal(market->trade.qty, u->qty_scale).text, market->trade.id,
                 market->trade.buyer_maker ? "sold" : "bought", market->trade.odd ? ", makes no price" : "",
                 auctions[market->trade.auction]);
        break;
    case MARKET_KLINE:
    case MARKET_REVISION:
        snprintf(buf, EVENT_TEXT_MAX, "MARKET %s %s bar of %s: open %s, high %s, low %s, close %s, volume %s",
                 u->name,
                 market->kind == MARKET_REVISION ? "revised"
                 : market->kline.closed          ? "closed"
                                                 : "forming",
                 clock_utc_text(market->kline.bar.open_ns, open),
                 decimal(market->kline.bar.open, u->price_scale).text,
                 decimal(market->kline.bar.high, u->price_scale).text,
                 decimal(market->kline.bar.low, u->price_scale).text,
                 decimal(market->kline.bar.close, u->price_scale).text,
                 decimal(market->kline.bar.volume, u->qty_scale).text);
        break;
    case MARKET_QUOTE:
        snprintf(buf, EVENT_TEXT_MAX, "MARKET %s best bid %s x %s, ask %s x %s, id %" PRIu64, u->name,
                 decimal(market->quote.bid, u->price_scale).text,
                 decimal(market->quote.bid_qty, u->qty_scale).text,
                 decimal(market->quote.ask, u->price_scale).text,
                 decimal(market->quote.ask_qty, u->qty_scale).text, market->quote.update_id);
        break;
    case MARKET_DEPTH:
        snprintf(buf, EVENT_TEXT_MAX, "MARKET %s book difference %" PRIu64 "..%" PRIu64 ", %u bids, %u asks",
                 u->name, market->depth.first_id, market->depth.last_id, market->depth.n_bids,
                 market->depth.n_asks);
        break;
    case MARKET_TICKER:
        snprintf(buf, EVENT_TEXT_MAX, "MARKET %s ticker: %s, 24 h before %s", u->name,
                 decimal(market->ticker.close, u->price_scale).text,
                 decimal(market->ticker.open, u->price_scale).text);
        break;
    default:
        rare_text(market, u, buf);
    }
}

static void action_text(const struct corporate_action *action, const struct units *u,
                        char buf[static EVENT_TEXT_MAX])
{
    char ex[CLOCK_TEXT_MAX], pay[CLOCK_TEXT_MAX];
    clock_utc_text(action->ex_ns, ex);
    if (action->kind == ACTION_SPLIT)
        snprintf(buf, EVENT_TEXT_MAX, "ACTION %s split: %" PRId64 " for %" PRId64 ", ex %s, id %s", u->name,
                 action->shares, action->per, ex, action->id);
    else
        snprintf(buf, EVENT_TEXT_MAX, "ACTION %s dividend: %s a share, ex %s%s%s, id %s", u->name,
                 decimal(action->cash, ACTION_CASH_SCALE).text, ex, action->pay_ns > 0 ? ", paid " : "",
                 action->pay_ns > 0 ? clock_utc_text(action->pay_ns, pay) : "", action->id);
}

static void calendar_text(const struct event_calendar *event, char buf[static EVENT_TEXT_MAX])
{
    const struct trading_calendar *calendar = &event->calendar;
    char from[CLOCK_TEXT_MAX], to[CLOCK_TEXT_MAX], hash[2 * CALENDAR_HASH_SIZE + 1];
    for (size_t i = 0; i < CALENDAR_HASH_SIZE; i++)
        snprintf(hash + 2 * i, 3, "%02x", event->hash[i]);
    snprintf(buf, EVENT_TEXT_MAX, "CALENDAR %s: %zu days from %s to %s, hash %s", calendar->name, calendar->n,
             clock_utc_text(calendar->from_ns, from), clock_utc_text(calendar->to_ns, to), hash);
}

static const char *account_name(const struct engine *engine, int account)
{
    return engine && account >= 0 && account < engine_accounts(engine) ? engine_account(engine, account)->name
                                                                       : "";
}

static void venue_order_text(const struct event_venue_order *event, const struct engine *engine,
                             char buf[static EVENT_TEXT_MAX])
{
    static const char *const names[VENUE_UPDATES] = {
        [VENUE_UPDATE_OPEN] = "is there",
        [VENUE_UPDATE_UNKNOWN] = "may be there or not",
        [VENUE_UPDATE_FILL] = "filled",
        [VENUE_UPDATE_CANCELED] = "canceled",
        [VENUE_UPDATE_EXPIRED] = "expired",
        [VENUE_UPDATE_REJECTED] = "refused",
        [VENUE_UPDATE_AGAIN] = "is sent again",
        [VENUE_UPDATE_ABSENT] = "was never there",
        [VENUE_UPDATE_DUPLICATE] = "is there twice",
    };
    const struct order *order = engine ? engine_find_order(engine, event->order_id) : NULL;
    int n = snprintf(buf, EVENT_TEXT_MAX, "VENUE_ORDER %s order %" PRIu64 " %s",
                     account_name(engine, event->account), event->order_id, names[event->update]);
    if (event->update == VENUE_UPDATE_FILL && order) {
        struct units u = units_of(engine, order->symbol);
        n += snprintf(buf + n, EVENT_TEXT_MAX - (size_t)n, " %s x %s, trade %.40s",
                      decimal(event->fill.price, u.price_scale).text,
                      decimal(event->fill.qty, u.qty_scale).text, event->fill.trade_id);
    }
    if (event->text[0] && n < EVENT_TEXT_MAX)
        snprintf(buf + n, EVENT_TEXT_MAX - (size_t)n, ": %s", event->text);
}

static void venue_account_text(const struct event_venue_account *event, const struct engine *engine,
                               char buf[static EVENT_TEXT_MAX])
{
    static const char *const names[VENUE_ACCOUNT_UPDATES] = {[VENUE_ACCOUNT_ATTACHED] = "is attached",
                                                             [VENUE_ACCOUNT_BALANCES] = "balances",
                                                             [VENUE_ACCOUNT_RESET] = "was reset"};
    snprintf(buf, EVENT_TEXT_MAX, "VENUE_ACCOUNT %s %s, %d assets%s%s", account_name(engine, event->account),
             names[event->update], event->n, event->text[0] ? ": " : "", event->text);
}

/* "DECISION a BTCUSDT bar 2026-01-02T03:04:00Z: enter, stop", "… late: no answer within 250 ms" */
static void decision_text(const struct event_decision *event, const struct engine *engine,
                          char buf[static EVENT_TEXT_MAX])
{
    const struct strategy_decision *decision = event->decision;
    struct units u = units_of(engine, event->symbol);
    char time[CLOCK_TEXT_MAX];
    size_t n =
        (size_t)snprintf(buf, EVENT_TEXT_MAX, "DECISION %s %s bar %s:", account_name(engine, event->account),
                         u.name, clock_utc_text(event->open_ns, time));
    if (decision->outcome != STRATEGY_DECIDED) {
        snprintf(buf + n, EVENT_TEXT_MAX - n, " %s: %s", strategy_outcome_name(decision->outcome),
                 decision->fault);
        return;
    }
    if (decision->n == 0)
        snprintf(buf + n, EVENT_TEXT_MAX - n, " nothing");
    for (uint32_t i = 0; i < decision->n && i < STRATEGY_DECISION_MAX && n < EVENT_TEXT_MAX; i++)
        n += (size_t)snprintf(buf + n, EVENT_TEXT_MAX - n, "%s %s%s%s", i > 0 ? "," : "",
                              intent_kind_name(decision->intents[i].kind), decision->whys[i][0] ? ": " : "",
                              decision->whys[i]);
}

static void column_text(const struct event_column *event, const struct engine *engine, char *buf)
{
    char published[CLOCK_TEXT_MAX], of[CLOCK_TEXT_MAX];
    bool known = engine && event->symbol >= 0 && event->symbol < engine_symbols(engine);
    snprintf(buf, EVENT_TEXT_MAX, "COLUMN %.23s of %s: %.17g, at %s, published %s", event->name,
             event->symbol < 0 ? "every symbol"
             : known           ? engine_symbol(engine, event->symbol)->name
                               : "a symbol",
             event->value.value, clock_utc_text(event->value.timestamp_ns, of),
             clock_utc_text(event->value.published_ns, published));
}

char *event_text(const struct event *event, const struct engine *engine, char buf[static EVENT_TEXT_MAX])
{
    struct units u;
    char time[CLOCK_TEXT_MAX];
    switch (event->kind) {
    case EVENT_MARKET:
        u = units_of(engine, event->market.symbol);
        market_text(&event->market, &u, buf);
        break;
    case EVENT_SNAPSHOT:
        u = units_of(engine, event->snapshot.symbol);
        snprintf(buf, EVENT_TEXT_MAX, "SNAPSHOT %s book %" PRIu64 ", %u bids, %u asks", u.name,
                 event->snapshot.last_id, event->snapshot.n_bids, event->snapshot.n_asks);
        break;
    case EVENT_BARS:
        u = units_of(engine, event->bars.symbol);
        snprintf(buf, EVENT_TEXT_MAX, "BARS %s %u fetched", u.name, event->bars.n);
        break;
    case EVENT_SYMBOL:
        u = units_of(engine, event->symbol.index);
        if (engine && event->symbol.index < engine_symbols(engine) &&
            symbol_renamed(engine_symbol(engine, event->symbol.index), &event->symbol.listed)) {
            snprintf(buf, EVENT_TEXT_MAX, "SYMBOL %s: its name is %s from now on", u.name,
                     event->symbol.listed.name);
            break;
        }
        snprintf(buf, EVENT_TEXT_MAX, "SYMBOL %s: the venue's filters%s", event->symbol.listed.name,
                 event->symbol.listed.gone ? ", listed no longer" : "");
        break;
    case EVENT_CONNECTION:
        snprintf(buf, EVENT_TEXT_MAX, "CONNECTION %s%s%s", event->connection.venue,
                 event->connection.venue[0] ? " " : "", event->connection.up ? "up" : "down");
        break;
    case EVENT_SYMBOL_CONNECTION:
        u = units_of(engine, event->symbol_connection.symbol);
        snprintf(buf, EVENT_TEXT_MAX, "SYMBOL_CONNECTION %s: %s", u.name,
                 event->symbol_connection.up ? "up" : "down");
        break;
    case EVENT_STALE:
        u = units_of(engine, event->stale.symbol);
        snprintf(buf, EVENT_TEXT_MAX, "STALE %s: %s", u.name, event->stale.stale ? "too old" : "fresh again");
        break;
    case EVENT_UNIVERSE:
        u = units_of(engine, event->universe.symbol);
        snprintf(buf, EVENT_TEXT_MAX, "UNIVERSE %s: %s", u.name,
                 event->universe.in ? "in" : "out: nothing new is opened of it");
        break;
    case EVENT_STORAGE:
        snprintf(buf, EVENT_TEXT_MAX, "STORAGE %s", event->storage_ok ? "works" : "fails");
        break;
    case EVENT_STOP:
        snprintf(buf, EVENT_TEXT_MAX, "STOP: the run ends");
        break;
    case EVENT_TIMER:
        snprintf(buf, EVENT_TEXT_MAX, "TIMER");
        break;
    case EVENT_COMMAND:
        engine_command_text(&event->command, engine, buf);
        break;
    case EVENT_SESSION:
        snprintf(buf, EVENT_TEXT_MAX, "SESSION %s: %s%s%s%s", event->session.calendar,
                 market_phase_name(event->session.phase), event->session.next_ns ? ", till " : "",
                 event->session.next_ns ? clock_utc_text(event->session.next_ns, time) : "",
                 event->session.extended ? ", extended hours are traded in" : "");
        break;
    case EVENT_ACTION:
        u = units_of(engine, event->action.symbol);
        action_text(&event->action.action, &u, buf);
        break;
    case EVENT_CALENDAR:
        calendar_text(&event->calendar, buf);
        break;
    case EVENT_VENUE_CLOCK:
        snprintf(buf, EVENT_TEXT_MAX, "VENUE_CLOCK %s%s%.3f s %s ours", event->venue_clock.venue,
                 event->venue_clock.venue[0] ? ": " : "", fabs((double)event->venue_clock.ahead_ns) / 1e9,
                 event->venue_clock.ahead_ns < 0 ? "behind" : "ahead of");
        break;
    case EVENT_VENUE_ORDER:
        venue_order_text(&event->venue_order, engine, buf);
        break;
    case EVENT_VENUE_ACCOUNT:
        venue_account_text(&event->venue_account, engine, buf);
        break;
    case EVENT_DECISION:
        decision_text(&event->decision, engine, buf);
        break;
    case EVENT_COLUMN:
        column_text(&event->column, engine, buf);
        break;
    default:
        snprintf(buf, EVENT_TEXT_MAX, "event of kind %d", (int)event->kind);
    }
    return buf;
}

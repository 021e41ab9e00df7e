/* The opening and the closing auction ("Placing Orders" at docs.alpaca.markets: time in force). Their orders
 * are accepted until two minutes before the open, or ten before the close, and from 19:00 in New York for the
 * next session; until the auction they are held. What the auction's price fills is filled whole at it, the
 * rest is cancelled. The price is that of the session's first trade at the open, of its last one at the
 * close, or the official close where a bars file has it; a stock without a trade in half an hour has no
 * auction.
 *
 * Other orders that are given while the market is closed are held until it opens, and meet its quotes then.
 */
#include "exchange/replay/alpaca/eastern.h"
#include "exchange/replay/alpaca/sessions.h"
#include "exchange/replay/alpaca/trading_call.h"

enum { EVENING_S = 19 * 3600, SEARCH_MINUTES = 30 };

#define OPEN_CUT_NS  (2 * MADE_MINUTE)
#define CLOSE_CUT_NS (10 * MADE_MINUTE)

bool replay_alpaca_auction_time(int64_t now_ns, bool closing, int64_t *ret_ns)
{
    struct trading_day day;
    int64_t date = replay_eastern_date(now_ns);
    if (replay_sessions_on(date, &day) != SESSIONS_CLOSED) {
        const int64_t at_ns = closing ? day.close_ns : day.open_ns;
        if (now_ns < at_ns - (closing ? CLOSE_CUT_NS : OPEN_CUT_NS)) {
            *ret_ns = at_ns;
            return true;
        }
        if (now_ns < replay_eastern_utc_s(date, EVENING_S) * MADE_SECOND)
            return false;
        date++;
    }
    replay_sessions_on(replay_sessions_next(date, 1), &day);
    *ret_ns = closing ? day.close_ns : day.open_ns;
    return true;
}

static bool is_regular(const struct made_tick *tick)
{
    return tick->traded && !tick->trade.odd && !tick->trade.extended;
}

/* The first one from the open on, or the last one before the close. 0: not known. */
static int64_t find_price(struct alpaca_orders *o, int symbol, int64_t auction_ns, bool closing)
{
    struct made *made = &o->alpaca->made[0];
    struct made_tick ticks[MADE_TICKS_MAX];
    int64_t price = 0, first = auction_ns / MADE_MINUTE - closing;
    if (closing && replay_made_closing(made, symbol, auction_ns, &price))
        return price;
    for (int64_t i = 0; i < SEARCH_MINUTES && !price; i++) {
        const size_t n = replay_made_minute(made, symbol, closing ? first - i : first + i, ticks);
        for (size_t k = 0; k < n && !price; k++) {
            const struct made_tick *tick = &ticks[closing ? n - 1 - k : k];
            const int64_t ts_ns = tick->trade.ts_ns;
            if (is_regular(tick) && (closing ? ts_ns < auction_ns : ts_ns >= auction_ns) &&
                ts_ns <= o->alpaca->now_ns)
                price = tick->trade.price;
        }
    }
    return price;
}

static void run_auction(struct alpaca_orders *o, const struct broker_order *order)
{
    const int64_t at_ns = o->own[order->id - 1].auction_ns;
    struct trading_day day;
    replay_sessions_on(replay_eastern_date(at_ns), &day);
    const int64_t price = find_price(o, order->terms.symbol, at_ns, at_ns == day.close_ns);
    if (price) {
        o->auction = (struct alpaca_auction){order->terms.symbol, price, at_ns};
        replay_broker_release(o->broker, order->terms.account, order->id, true);
        o->auction.price = 0;
    } else if (o->alpaca->now_ns >= at_ns + SEARCH_MINUTES * MADE_MINUTE) {
        replay_broker_expire(o->broker, order->terms.account, order->id);
    }
}

static void open_order(struct alpaca_orders *o, const struct broker_order *order)
{
    const struct broker_terms *terms = &order->terms;
    if (replay_trading_open(o, terms->symbol, o->own[order->id - 1].extended) &&
        replay_alpaca_touch(o, terms->symbol, terms->side) > 0)
        replay_broker_release(o->broker, terms->account, order->id, true);
}

void replay_alpaca_auctions(struct alpaca_orders *o)
{
    size_t n;
    const struct broker_order *all = replay_broker_orders(o->broker, &n);
    bool any = false;
    for (size_t i = 0; o->any_waiting && i < n; i++) {
        const struct alpaca_paper_order *own = &o->own[all[i].id - 1];
        if (!broker_is_open(&all[i]) || !all[i].terms.held || (!own->auction_ns && !own->opens_ns))
            continue;
        if (own->auction_ns && o->alpaca->now_ns >= own->auction_ns)
            run_auction(o, &all[i]);
        else if (own->opens_ns && o->alpaca->now_ns >= own->opens_ns)
            open_order(o, &all[i]);
        any |= all[i].terms.held && broker_is_open(&all[i]);
    }
    o->any_waiting = any;
}

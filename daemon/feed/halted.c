/* The end of a halt that the venue sent while it was not connected to. It says what is halted only when that
 * changes: after a connection it is not known until then, or until the symbol trades. */
#include <stdio.h>

#include "daemon/feed/internal.h"
#include "daemon/log.h"
#include "engine/event.h"

void feed_halted_unknown(struct feed *feed, int symbol)
{
    feed->symbols[symbol].halt_unknown_ns = daemon_session_now(feed->daemon->session);
}

/* A trade reported late, an average or a closing price can come during a halt. */
static bool shows_trading(const struct feed_symbol *symbol, const struct market_event *event)
{
    const struct market_trade *trade = &event->trade;
    return event->kind == MARKET_TRADE && trade->ts_ns > symbol->halt_unknown_ns && !trade->odd &&
           trade->auction != MARKET_CLOSING;
}

void feed_halted_before(struct feed *feed, int symbol, const struct market_event *event)
{
    struct feed_symbol *s = &feed->symbols[symbol];
    struct engine_symbol_view view;
    if (s->halt_unknown_ns == INT64_MAX || (event->kind != MARKET_STATUS && !shows_trading(s, event)))
        return;
    s->halt_unknown_ns = INT64_MAX;
    engine_symbol_view(daemon_session_engine(feed->daemon->session), s->index, &view);
    if (event->kind == MARKET_STATUS || view.trading != MARKET_HALTED)
        return;
    struct event resumed = {.kind = EVENT_MARKET,
                            .market = {.kind = MARKET_STATUS,
                                       .symbol = s->index,
                                       .event_ns = event->event_ns,
                                       .status = {.trading = MARKET_TRADES}}};
    snprintf(resumed.market.status.reason, sizeof resumed.market.status.reason,
             "traded after an interruption");
    daemon_session_event(feed->daemon->session, &resumed);
    daemon_log_info("%s: %s trades again: its halt ended while the feed was interrupted",
                    feed->venue->format->name, feed->listed[symbol].name);
}

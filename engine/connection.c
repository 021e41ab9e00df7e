/* A venue's streams are interrupted, or up again, and how far its clock is ahead. */
#include <errno.h>

#include "engine/core.h"
#include "engine/event.h"

/* After an interruption partial data may be incomplete. */
void engine_connection_symbol(struct engine *engine, int symbol, bool up)
{
    struct market_state *market = &engine->markets[symbol];
    engine_match_interrupted(engine, symbol);
    bar_builder_interrupt(&market->builder);
    engine_revise_interrupted(&market->trades);
    market->torn = true;
    book_reset(&market->book);
    market->quote = (struct market_quote){0};
    market->stale = !up;
    engine_measure_update(engine, symbol, 0);
}

void engine_connection_event(struct engine *engine, const struct event_connection *event)
{
    for (int s = 0; s < engine->n_symbols; s++)
        if (engine_hours_of_venue(&engine->markets[s], event->venue))
            engine_connection_symbol(engine, s, event->up);
}

int engine_connection_clock(struct engine *engine, const struct event_venue_clock *event)
{
    if (event->ahead_ns < -ENGINE_VENUE_AHEAD_MAX || event->ahead_ns > ENGINE_VENUE_AHEAD_MAX)
        return -EINVAL;
    for (int s = 0; s < engine->n_symbols; s++)
        if (engine_hours_of_venue(&engine->markets[s], event->venue))
            engine_hours_clock(engine, s, event->ahead_ns);
    engine_auction_find_due(engine);
    return 0;
}

/* A symbol's listing changes, or a symbol is added. */
#include <errno.h>
#include <string.h>

#include "engine/core.h"
#include "engine/driver.h"
#include "engine/event.h"

/* The name is no other symbol's. */
static bool may_rename(const struct engine *engine, const struct event_symbol *event)
{
    return symbol_renamed(&engine->markets[event->index].symbol, &event->listed) &&
           engine_find_symbol(engine, event->listed.name) < 0;
}

/* The venue's filters changed, or a stock's name, or a symbol is added. Assets and scales cannot change: the
 * ledger uses them. */
int engine_listing_event(struct engine *engine, const struct event_symbol *event)
{
    if (event->index == engine->n_symbols && event->index < SYMBOLS_MAX)
        return engine_configure_add(engine, &event->listed);
    if (event->index < 0 || event->index >= engine->n_symbols ||
        (!symbol_same_units(&engine->markets[event->index].symbol, &event->listed) &&
         !may_rename(engine, event)))
        return -EINVAL;
    struct market_state *market = &engine->markets[event->index];
    bool other_calendar = strcmp(market->symbol.calendar, event->listed.calendar) != 0;
    bool other_name = strcmp(market->symbol.name, event->listed.name) != 0;
    market->symbol = event->listed;
    market->builder.loose = event->listed.loose_ids;
    if (other_calendar) {
        engine_hours_begin(engine, event->index);
        engine_calendars_date_again(engine, event->index);
    }
    engine_driver_symbol(engine, event->index);
    for (int a = 0; a < engine->n_accounts && other_name; a++)
        engine_request_symbols(engine, a);
    if (market->symbol.gone)
        engine_hours_trading(engine, event->index, MARKET_ENDED, NULL);
    else if (market->trading == MARKET_ENDED)
        engine_hours_trading(engine, event->index, MARKET_TRADES, NULL);
    return 0;
}

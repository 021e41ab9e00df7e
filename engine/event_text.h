/* An event in a line of words: "MARKET BTCUSDT trade 61837.63 x 0.5, id 3719512". */
#ifndef ENGINE_EVENT_TEXT_H
#define ENGINE_EVENT_TEXT_H

#include "engine/engine.h"
#include "engine/event.h"

enum { EVENT_TEXT_MAX = 480 };

const char *event_kind_name(enum event_kind kind);                /* "MARKET", "SNAPSHOT" … */
const char *engine_command_kind_name(enum command_kind kind);     /* "pause", "order" … */
const char *engine_order_grouping_name(enum order_grouping kind); /* "single", "oco", "bracket" */

/* The engine gives names and scales; one that an event names and the engine lacks is shown by its number.
 * Returns buf. */
char *event_text(const struct event *event, const struct engine *engine, char buf[static EVENT_TEXT_MAX]);

/* The same of a command, into buf: "COMMAND 3 order BUY LIMIT BTCUSDT 0.01 at 61000, account main". */
void engine_command_text(const struct event_command *command, const struct engine *engine,
                         char buf[static EVENT_TEXT_MAX]);

#endif

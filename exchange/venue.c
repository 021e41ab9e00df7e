#include "exchange/venue.h"

const char *venue_link_name(enum venue_link link)
{
    static const char *const names[] = {
        [VENUE_DOWN] = "down", [VENUE_RESOLVING] = "resolving", [VENUE_CONNECTING] = "connecting",
        [VENUE_UP] = "up",     [VENUE_WAITING] = "waiting",     [VENUE_FAILED] = "failed",
    };
    return names[link];
}

/* The list of venues, as far as programs without a network need it; exchange/venues.c has the same ones. */
#include <string.h>

#include "exchange/alpaca/format.h"
#include "exchange/binance/format.h"
#include "exchange/nearest.h"
#include "exchange/venue_format.h"

static const struct venue_format *const list[] = {&alpaca_format, &binance_format, &binance_us_format};

enum { FORMATS = sizeof list / sizeof *list };

const struct venue_format *venue_format(size_t i)
{
    return i < FORMATS ? list[i] : NULL;
}

struct venue_symbol *venue_symbol_offer(struct venue_symbol *wanted, size_t n, const char *name)
{
    struct venue_symbol *meant = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!wanted[i].found && strcmp(wanted[i].name, name) == 0)
            meant = meant ? meant : &wanted[i];
        else if (!wanted[i].found)
            nearest_keep(wanted[i].name, name, wanted[i].nearest, sizeof(wanted[i].nearest));
    }
    return meant;
}

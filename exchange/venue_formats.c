/* The list of venues, as far as programs without a network need it; exchange/venues.c has the same ones. */
#include "exchange/alpaca/format.h"
#include "exchange/binance/format.h"
#include "exchange/venue_format.h"

static const struct venue_format *const list[] = {&alpaca_format, &binance_format, &binance_us_format};

enum { FORMATS = sizeof list / sizeof *list };

const struct venue_format *venue_format(size_t i)
{
    return i < FORMATS ? list[i] : NULL;
}

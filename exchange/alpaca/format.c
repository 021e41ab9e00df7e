#include "exchange/alpaca/format.h"

#include "exchange/alpaca/assets.h"

static int list_parse(const char *text, size_t len, struct venue_symbol *wanted, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        wanted[i].found = false;
        wanted[i].nearest[0] = '\0';
    }
    return alpaca_parse_assets(text, len, wanted, n);
}

const struct venue_format alpaca_format = {
    .name = "alpaca",
    .fees = &alpaca_fees,
    .orders = &alpaca_orders,
    .list_parse = list_parse,
    .parser_create = alpaca_parser_create,
    .parser_grow = alpaca_parser_grow,
    .parser_calendar = alpaca_parser_calendar,
    .parse = alpaca_parse,
    .parser_destroy = alpaca_parser_destroy,
};

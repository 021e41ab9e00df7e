#include "exchange/binance/format.h"

#include "exchange/binance/rest_parse.h"

static int list_parse(const char *text, size_t len, struct venue_symbol *wanted, size_t n)
{
    struct binance_info info;
    return binance_parse_wanted(text, len, "binance", wanted, n, &info);
}

static int list_parse_us(const char *text, size_t len, struct venue_symbol *wanted, size_t n)
{
    struct binance_info info;
    return binance_parse_wanted(text, len, "binance-us", wanted, n, &info);
}

static int parse(struct venue_parser *parser, const char *frame, size_t len, size_t *pos,
                 struct market_event *ret)
{
    *pos = len; /* a frame is one message */
    return binance_parse(parser, frame, len, ret);
}

const struct venue_format binance_format = {
    .name = "binance",
    .fees = &binance_fees,
    .list_parse = list_parse,
    .parser_create = binance_parser_create,
    .parser_grow = binance_parser_grow,
    .parse = parse,
    .parser_destroy = binance_parser_destroy,
};

const struct venue_format binance_us_format = {
    .name = "binance-us",
    .fees = &binance_us_fees,
    .list_parse = list_parse_us,
    .parser_create = binance_parser_create,
    .parser_grow = binance_parser_grow,
    .parse = parse,
    .parser_destroy = binance_parser_destroy,
};

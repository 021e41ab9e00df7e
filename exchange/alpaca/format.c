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

static int parser_create(const struct symbol *symbols, size_t n, struct venue_parser **ret)
{
    return alpaca_parser_create(symbols, n, (struct alpaca_parser **)ret);
}

static int parser_grow(struct venue_parser *parser, size_t n)
{
    return alpaca_parser_grow((struct alpaca_parser *)parser, n);
}

static int parse(struct venue_parser *parser, const char *frame, size_t len, size_t *pos,
                 struct market_event *ret)
{
    return alpaca_parse((struct alpaca_parser *)parser, frame, len, pos, ret);
}

static void parser_destroy(struct venue_parser *parser)
{
    alpaca_parser_destroy((struct alpaca_parser *)parser);
}

const struct venue_format alpaca_format = {
    .name = "alpaca",
    .fees = &alpaca_fees,
    .list_parse = list_parse,
    .parser_create = parser_create,
    .parser_grow = parser_grow,
    .parse = parse,
    .parser_destroy = parser_destroy,
};

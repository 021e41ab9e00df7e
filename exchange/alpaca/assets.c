#include "exchange/alpaca/assets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exchange/alpaca/calendar.h"
#include "exchange/alpaca/message.h"
#include "exchange/alpaca/number.h"

#define CENT   10000000LL /* at ALPACA_PRICE_SCALE */
#define SHARE  1000000000LL
#define DOLLAR 100000000LL /* at ALPACA_QUOTE_SCALE */

bool alpaca_is_crypto(const char *name)
{
    return strchr(name, '/') != NULL;
}

static bool copy_name(const char *data, size_t len, char *ret, size_t size)
{
    if (len == 0 || len >= size || memchr(data, '\\', len))
        return false;
    memcpy(ret, data, len);
    ret[len] = '\0';
    return true;
}

struct asset {
    struct json_text name, class, status, exchange;
    bool tradable, divisible;
    enum symbol_says shortable, easy_to_borrow;
    int64_t size_min, step, tick;
    bool odd; /* one of them does not read */
};

/* Left as it is where it is null. */
static bool maybe_says(struct reader *reader, enum symbol_says *ret)
{
    bool yes = false, null = alpaca_reader_peek(reader) == 'n';
    if (!alpaca_reader_maybe_bool(reader, &yes))
        return false;
    if (!null)
        *ret = yes ? SYMBOL_SAYS_YES : SYMBOL_SAYS_NO;
    return true;
}

/* False: it is not an asset, or has no name. */
static bool read_asset(struct reader *reader, struct asset *asset)
{
    struct json_text key;
    *asset = (struct asset){.class = {"", 0}, .status = {"", 0}, .exchange = {"", 0}};
    if (!alpaca_reader_enter_map(reader))
        return false;
    while (alpaca_reader_member(reader, &key)) {
        const struct reader before = *reader;
        bool ok = json_is(key, "symbol")           ? alpaca_reader_text(reader, &asset->name)
                  : json_is(key, "class")          ? alpaca_reader_maybe_text(reader, &asset->class)
                  : json_is(key, "status")         ? alpaca_reader_maybe_text(reader, &asset->status)
                  : json_is(key, "exchange")       ? alpaca_reader_maybe_text(reader, &asset->exchange)
                  : json_is(key, "tradable")       ? alpaca_reader_maybe_bool(reader, &asset->tradable)
                  : json_is(key, "fractionable")   ? alpaca_reader_maybe_bool(reader, &asset->divisible)
                  : json_is(key, "shortable")      ? maybe_says(reader, &asset->shortable)
                  : json_is(key, "easy_to_borrow") ? maybe_says(reader, &asset->easy_to_borrow)
                  : json_is(key, "min_order_size")
                      ? alpaca_reader_maybe_amount(reader, ALPACA_QTY_SCALE, &asset->size_min)
                  : json_is(key, "min_trade_increment")
                      ? alpaca_reader_maybe_amount(reader, ALPACA_QTY_SCALE, &asset->step)
                  : json_is(key, "price_increment")
                      ? alpaca_reader_maybe_amount(reader, ALPACA_PRICE_SCALE, &asset->tick)
                      : alpaca_reader_skip(reader);
        if (!ok) {
            asset->odd = true;
            *reader = before;
            if (!alpaca_reader_skip(reader))
                return false;
        }
    }
    return !reader_failed(reader) && asset->name.data != NULL;
}

/* The letter that an exchange's trades have, by the name in the list of assets; '\0' for others. */
static char letter_of(struct json_text exchange)
{
    static const struct {
        const char *name;
        char letter;
    } exchanges[] = {{"NYSE", 'N'}, {"NASDAQ", 'Q'}, {"ARCA", 'P'}, {"NYSEARCA", 'P'},
                     {"AMEX", 'A'}, {"BATS", 'Z'},   {"IEX", 'V'}};
    for (size_t i = 0; i < sizeof(exchanges) / sizeof(exchanges[0]); i++)
        if (json_text_is(exchange, exchanges[i].name))
            return exchanges[i].letter;
    return '\0';
}

static bool stock_symbol(struct symbol *symbol)
{
    if (!copy_name(symbol->name, strlen(symbol->name), symbol->base, sizeof(symbol->base)))
        return false;
    snprintf(symbol->quote, sizeof(symbol->quote), "USD");
    return true;
}

/* False: a name that is too long. */
static bool to_symbol(const struct asset *asset, struct symbol *ret)
{
    struct symbol symbol = {
        .price_scale = ALPACA_PRICE_SCALE,
        .qty_scale = ALPACA_QTY_SCALE,
        .quote_scale = ALPACA_QUOTE_SCALE,
        .gone = json_is(asset->status, "inactive"),
        .loose_ids = true,
        .venue = "alpaca",
    };
    struct symbol_filters *filters = &symbol.filters;
    symbol.trading = asset->tradable && !symbol.gone;
    if (!copy_name(asset->name.data, asset->name.len, symbol.name, sizeof(symbol.name)))
        return false;
    const char *slash = strchr(symbol.name, '/');
    if (slash) {
        symbol.asset = ASSET_CRYPTO;
        if (!copy_name(symbol.name, (size_t)(slash - symbol.name), symbol.base, sizeof(symbol.base)) ||
            !copy_name(slash + 1, strlen(slash + 1), symbol.quote, sizeof(symbol.quote)))
            return false;
        filters->tick = asset->tick;
        filters->step = asset->step;
        filters->qty_min = asset->size_min;
    } else {
        if (!stock_symbol(&symbol))
            return false;
        snprintf(symbol.calendar, sizeof(symbol.calendar), "%s", ALPACA_CALENDAR);
        symbol.asset = ASSET_US_EQUITY;
        symbol.shortable = asset->shortable;
        symbol.easy_to_borrow = asset->easy_to_borrow;
        symbol.primary = letter_of(asset->exchange);
        filters->tick = asset->tick > 0 ? asset->tick : CENT;
        filters->step = filters->qty_min = asset->divisible ? 1 : SHARE;
        if (asset->divisible) {
            filters->notional_min = DOLLAR;
            filters->notional_min_market = true;
        }
    }
    *ret = symbol;
    return true;
}

static void offer(const struct asset *asset, struct venue_symbol *wanted, size_t n)
{
    char name[SYMBOL_NAME_MAX];
    if (!copy_name(asset->name.data, asset->name.len, name, sizeof(name)))
        return;
    struct venue_symbol *want = venue_symbol_offer(wanted, n, name);
    if (want) {
        want->found = !asset->odd && to_symbol(asset, &want->symbol);
        want->unusable = !want->found;
    }
}

int alpaca_parse_assets(const char *text, size_t len, struct venue_symbol *wanted, size_t n)
{
    struct reader reader;
    struct asset asset;
    alpaca_reader_init(&reader, false, text, len);
    if (alpaca_reader_peek(&reader) == '{') {
        if (!read_asset(&reader, &asset))
            return -EBADMSG;
        offer(&asset, wanted, n);
        return json_done(&reader.json) ? 0 : -EBADMSG;
    }
    alpaca_reader_enter_array(&reader);
    while (alpaca_reader_element(&reader)) {
        const struct reader before = reader;
        if (read_asset(&reader, &asset)) {
            offer(&asset, wanted, n);
            continue;
        }
        reader = before;
        if (!alpaca_reader_skip(&reader))
            return -EBADMSG;
    }
    return json_done(&reader.json) ? 0 : -EBADMSG;
}

void alpaca_add_test_symbol(struct venue_symbol *wanted, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct venue_symbol *want = &wanted[i];
        if (strcmp(want->name, ALPACA_TEST_SYMBOL) != 0)
            continue;
        const struct asset asset = {
            .name = {ALPACA_TEST_SYMBOL, sizeof(ALPACA_TEST_SYMBOL) - 1},
            .status = {"active", 6},
            .tradable = true,
        };
        if (!want->found)
            want->found = to_symbol(&asset, &want->symbol);
        want->symbol.calendar[0] = '\0';
        want->symbol.asset = ASSET_UNKNOWN;
    }
}

bool alpaca_parse_refusal(const char *text, size_t len, struct json_text *ret)
{
    struct json json;
    struct json_text key, message = {0};
    json_init(&json, text, len);
    json_enter_object(&json);
    while (json_member(&json, &key))
        if (json_is(key, "message") ? !json_read_string(&json, &message) : !json_skip(&json))
            return false;
    if (!json_done(&json) || !message.data)
        return false;
    *ret = message;
    return true;
}

int alpaca_parse_clock(const char *text, size_t len, int64_t *ret_ns)
{
    struct reader reader;
    struct json_text key;
    int64_t ns = -1;
    alpaca_reader_init(&reader, false, text, len);
    alpaca_reader_enter_map(&reader);
    while (alpaca_reader_member(&reader, &key))
        if (json_is(key, "timestamp") ? !alpaca_reader_time(&reader, &ns) : !alpaca_reader_skip(&reader))
            return -EBADMSG;
    if (!json_done(&reader.json) || ns < 0)
        return -EBADMSG;
    *ret_ns = ns;
    return 0;
}

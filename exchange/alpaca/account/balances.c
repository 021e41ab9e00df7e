#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/alpaca/account/order_parse.h"
#include "exchange/alpaca/number.h"

/* A text or a number of either sign; digits beyond the scale are cut off. null: *ret stays. */
static bool signed_amount(struct reader *reader, int scale, int64_t *ret)
{
    struct json_text text;
    int128_t value;
    if (alpaca_reader_peek(reader) != '"')
        return alpaca_reader_maybe_rough(reader, scale, ret);
    if (!alpaca_reader_text(reader, &text) || alpaca_decimal_cut(text.data, text.len, scale, &value) < 0 ||
        value > INT64_MAX || value < -INT64_MAX)
        return false;
    *ret = (int64_t)value;
    return true;
}

static int scale_of(const struct venue_symbols *symbols, const char *asset)
{
    int scale = venue_asset_scale(symbols, asset);
    return scale >= 0 ? scale : VENUE_BALANCE_SCALE;
}

static int add_balance(struct venue_lists *lists, const char *asset, int scale, int64_t free, int64_t locked)
{
    if (free == 0 && locked == 0)
        return 0;
    struct venue_balance *balance = venue_lists_balance(lists);
    if (!balance)
        return -ENOMEM;
    lists->n_balances++;
    *balance = (struct venue_balance){.scale = scale, .free = free, .locked = locked};
    snprintf(balance->asset, sizeof(balance->asset), "%s", asset);
    return 0;
}

int alpaca_parse_cash(const struct venue_symbols *symbols, const char *text, size_t len,
                      struct venue_lists *lists)
{
    static const char dollars[] = "USD";
    int scale = scale_of(symbols, dollars);
    int64_t cash = INT64_MIN, spendable = INT64_MIN;
    struct reader reader;
    struct json_text key;
    alpaca_reader_init(&reader, false, text, len);
    alpaca_reader_enter_map(&reader);
    while (alpaca_reader_member(&reader, &key)) {
        bool ok = json_is(key, "cash")                          ? signed_amount(&reader, scale, &cash)
                  : json_is(key, "non_marginable_buying_power") ? signed_amount(&reader, scale, &spendable)
                                                                : alpaca_reader_skip(&reader);
        if (!ok)
            return -EBADMSG;
    }
    if (!json_done(&reader.json) || cash == INT64_MIN)
        return -EBADMSG;
    int64_t free = spendable == INT64_MIN || spendable > cash ? cash : spendable < 0 ? 0 : spendable;
    if (cash < 0)
        free = cash;
    return add_balance(lists, dollars, scale, free, cash - free);
}

struct paper_position {
    struct json_text symbol, side, class;
    int64_t qty, available;
};

static bool read_position(struct reader *reader, int scale, struct paper_position *p)
{
    struct json_text key;
    const struct json_text none = {"", 0};
    *p = (struct paper_position){none, none, none, INT64_MIN, INT64_MIN};
    if (!alpaca_reader_enter_map(reader))
        return false;
    while (alpaca_reader_member(reader, &key)) {
        bool ok = json_is(key, "symbol")          ? alpaca_reader_text(reader, &p->symbol)
                  : json_is(key, "side")          ? alpaca_reader_maybe_text(reader, &p->side)
                  : json_is(key, "asset_class")   ? alpaca_reader_maybe_text(reader, &p->class)
                  : json_is(key, "qty")           ? signed_amount(reader, scale, &p->qty)
                  : json_is(key, "qty_available") ? signed_amount(reader, scale, &p->available)
                                                  : alpaca_reader_skip(reader);
        if (!ok)
            return false;
    }
    return !reader_failed(reader) && p->symbol.len > 0 && p->qty != INT64_MIN;
}

/* A coin of no symbol here: "BTCUSD" and "BTC/USD" without the currency. */
static void coin_of(struct json_text name, char asset[static ASSET_NAME_MAX])
{
    char pair[SYMBOL_NAME_MAX];
    json_text_cut(name, pair, sizeof(pair));
    const char *slash = strchr(pair, '/'), *quote = symbol_quote(pair);
    size_t len = slash ? (size_t)(slash - pair) : quote ? (size_t)(quote - pair) : strlen(pair);
    json_text_cut((struct json_text){pair, len}, asset, ASSET_NAME_MAX);
}

static void asset_of(const struct venue_symbols *symbols, const struct paper_position *p,
                     char asset[static ASSET_NAME_MAX])
{
    const struct symbol *symbol = alpaca_account_symbol(symbols, p->symbol);
    if (symbol)
        memcpy(asset, symbol->base, ASSET_NAME_MAX);
    else if (json_is(p->class, "crypto"))
        coin_of(p->symbol, asset);
    else
        json_text_cut(p->symbol, asset, ASSET_NAME_MAX);
}

int alpaca_parse_positions(const struct venue_symbols *symbols, const char *text, size_t len,
                           struct venue_lists *lists)
{
    struct reader reader;
    struct paper_position p;
    alpaca_reader_init(&reader, false, text, len);
    alpaca_reader_enter_array(&reader);
    while (alpaca_reader_element(&reader)) {
        const struct reader before = reader;
        if (!read_position(&reader, ALPACA_ORDER_SCALE, &p))
            return -EBADMSG;
        char asset[ASSET_NAME_MAX];
        asset_of(symbols, &p, asset);
        int scale = scale_of(symbols, asset);
        reader = before;
        if (!read_position(&reader, scale, &p))
            return -EBADMSG;
        if (json_is(p.side, "short") && p.qty > 0) {
            p.qty = -p.qty;
            p.available = p.available == INT64_MIN ? INT64_MIN : -p.available;
        }
        bool partly = p.available != INT64_MIN && p.qty > 0 && p.available >= 0 && p.available < p.qty;
        int64_t free = partly ? p.available : p.qty;
        int r = add_balance(lists, asset, scale, free, p.qty - free);
        if (r < 0)
            return r;
    }
    return json_done(&reader.json) ? 0 : -EBADMSG;
}

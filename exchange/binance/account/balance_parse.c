/* Balances, and the scales of assets. */
#include "exchange/binance/account/order_parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool binance_text_of_asset(const struct venue_symbols *symbols, const char *asset, struct json_text text,
                           int *ret_scale, int64_t *ret)
{
    *ret_scale = venue_asset_scale(symbols, asset);
    if (*ret_scale >= 0 && binance_text_amount(text, *ret_scale, ret))
        return true;
    *ret_scale = VENUE_BALANCE_SCALE; /* finer than its listing */
    return binance_text_amount(text, *ret_scale, ret);
}

static bool is_amount(struct json_text text)
{
    int128_t units;
    int r = decimal_parse128(text.data, text.len, DECIMAL_SCALE_MAX, &units);
    return r == -ERANGE ? text.data[0] != '-' : r == 0 && units >= 0;
}

static bool take_amounts(struct venue_balance *balance, int scale, struct json_text free_text,
                         struct json_text locked_text)
{
    balance->scale = scale;
    return binance_text_amount(free_text, scale, &balance->free) &&
           binance_text_amount(locked_text, scale, &balance->locked);
}

static int parse_balance(struct json *json, const struct venue_symbols *symbols, struct venue_lists *ret)
{
    struct json_text key, other, asset = {"", 0}, free_text = {"", 0}, locked_text = {"", 0};
    struct venue_balance *balance = venue_lists_balance(ret);
    if (!balance)
        return -ENOMEM;
    json_enter_object(json);
    while (json_member(json, &key)) {
        struct json_text *at = json_text_is(key, "asset") || json_text_is(key, "a")    ? &asset
                               : json_text_is(key, "free") || json_text_is(key, "f")   ? &free_text
                               : json_text_is(key, "locked") || json_text_is(key, "l") ? &locked_text
                                                                                       : &other;
        if (!binance_read_text(json, at))
            return -EBADMSG;
    }
    if (json->failed || asset.len == 0 || !is_amount(free_text) || !is_amount(locked_text))
        return -EBADMSG;
    if (!json_text_copy(asset, balance->asset, sizeof(balance->asset)))
        return 0; /* an asset that no symbol of ours can have */
    const int scale = venue_asset_scale(symbols, balance->asset);
    bool good = (scale >= 0 && take_amounts(balance, scale, free_text, locked_text)) ||
                take_amounts(balance, VENUE_BALANCE_SCALE, free_text, locked_text);
    ret->n_balances += good;
    return good || scale < 0 ? 0 : -EBADMSG; /* one that is beyond us, of no symbol of ours, is left out */
}

int binance_parse_balance_list(struct json json, const struct venue_symbols *symbols, struct venue_lists *ret)
{
    json_enter_array(&json);
    while (json_element(&json)) {
        int r = parse_balance(&json, symbols, ret);
        if (r < 0)
            return r;
    }
    return json.failed ? -EBADMSG : 0;
}

int binance_parse_balances(struct json json, const struct venue_symbols *symbols, struct venue_lists *ret)
{
    struct json_text key;
    struct json list = {.failed = true};
    size_t kept = 0;
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        if (json_text_is(key, "balances"))
            list = json;
        if (!json_skip(&json))
            return -EBADMSG;
    }
    if (json.failed || list.failed)
        return -EBADMSG;
    int r = binance_parse_balance_list(list, symbols, ret);
    for (size_t i = 0; r == 0 && i < ret->n_balances; i++)
        if (ret->balances[i].free != 0 || ret->balances[i].locked != 0)
            ret->balances[kept++] = ret->balances[i];
    if (r == 0)
        ret->n_balances = kept;
    return r;
}

#include "cli/order_args.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bars_file.h"
#include "exchange/decimal.h"
#include "exchange/order.h"

static const char qty_words[] = "the quantity must be a decimal number above 0, as 0.01";
static const char price_words[] = "a price must be a decimal number above 0, as 61000.5";
static const char trail_words[] = "--trail: a distance as 150.5, or in percent as 1.5%, must be above 0";
static const char id_words[] = "--client-id, --key: 1 to 36 of the characters A-Z a-z 0-9 . _ : / -";

enum { GIVES_LIMIT = 1, GIVES_STOP = 2, GIVES_TRAIL = 4 };

/* The types' names, and which numbers each has. */
static const struct {
    const char *name;
    unsigned gives;
    const char *words;
} types[ORDER_TYPES] = {
    [ORDER_MARKET] = {"market", 0, "a market order has neither --limit, --stop nor --trail"},
    [ORDER_LIMIT] = {"limit", GIVES_LIMIT, "a limit order needs --limit, and nothing else"},
    [ORDER_STOP] = {"stop", GIVES_STOP, "a stop order needs --stop, and nothing else"},
    [ORDER_STOP_LIMIT] = {"stop-limit", GIVES_STOP | GIVES_LIMIT,
                          "a stop-limit order needs --stop and --limit"},
    [ORDER_TAKE_PROFIT] = {"take-profit", GIVES_STOP, "a take-profit order needs --take-profit"},
    [ORDER_TAKE_PROFIT_LIMIT] = {"take-profit-limit", GIVES_STOP | GIVES_LIMIT,
                                 "a take-profit-limit order needs --take-profit and --limit"},
    [ORDER_TRAILING_STOP] = {"trailing-stop", GIVES_TRAIL,
                             "a trailing-stop order needs --trail, and nothing else"},
};

static bool is_above_zero(const char *text, size_t len)
{
    int128_t units;

    return decimal_parse128(text, len, DECIMAL_SCALE_MAX, &units) == 0 && units > 0;
}

static bool is_decimal(const char *text)
{
    return is_above_zero(text, strlen(text));
}

bool order_args_is_id(const char *word)
{
    size_t len = strlen(word);

    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)word[i]) && !strchr("._:/-", word[i]))
            return false;
    return len > 0 && len < ORDER_CLIENT_ID_MAX;
}

static int set_text(json_t *args, const char *key, const char *text)
{
    return text ? json_object_set_new(args, key, json_string(text)) : 0;
}

/* Puts "1.5%" as trail_percent, "150" as trail. False: it is neither. */
static bool set_trail(json_t *args, const char *text)
{
    size_t len = strlen(text);
    bool percent = len > 0 && text[len - 1] == '%';

    len -= percent;
    return is_above_zero(text, len) &&
           json_object_set_new(args, percent ? "trail_percent" : "trail", json_stringn(text, len)) == 0;
}

/* The type that is named, or the one that the numbers make. -EINVAL. */
static int type_of(const struct order_wish *wish, const char **ret_words)
{
    unsigned given = (wish->limit ? GIVES_LIMIT : 0) | (wish->stop || wish->take_profit ? GIVES_STOP : 0) |
                     (wish->trail ? GIVES_TRAIL : 0);

    *ret_words = "--stop, --take-profit: one of them; an order that has both is an oco";
    if (wish->stop && wish->take_profit)
        return -EINVAL;
    if (wish->type) {
        for (int i = 0; i < ORDER_TYPES; i++) {
            if (strcmp(types[i].name, wish->type) != 0)
                continue;
            bool takes_profit = i == ORDER_TAKE_PROFIT || i == ORDER_TAKE_PROFIT_LIMIT;
            *ret_words = types[i].words;
            return types[i].gives == given && (takes_profit || !wish->take_profit) ? i : -EINVAL;
        }
        *ret_words =
            "--type: one of market limit stop stop-limit take-profit take-profit-limit trailing-stop";
        return -EINVAL;
    }
    for (int i = 0; i < ORDER_TYPES; i++)
        if (types[i].gives == given &&
            (i == ORDER_TAKE_PROFIT || i == ORDER_TAKE_PROFIT_LIMIT) == (wish->take_profit != NULL))
            return i;
    *ret_words = "--trail: a trailing stop has neither --limit, --stop nor --take-profit";
    return -EINVAL;
}

/* --tif and --expire. */
static const char *set_time(json_t *args, const struct order_wish *wish)
{
    static const char *const names[ORDER_TIFS] = {"gtc", "ioc", "fok", "day", "gtd"};
    int64_t expire_ns = 0;
    int tif = -1;

    for (int i = 0; wish->tif && i < ORDER_TIFS; i++)
        tif = strcmp(names[i], wish->tif) == 0 ? i : tif;
    if (wish->tif && tif < 0)
        return "--tif: one of gtc ioc fok day gtd";
    if (tif == ORDER_GTD && !wish->expire)
        return "--tif gtd needs --expire T, as 2024-08-08T14:02:00Z";
    if (wish->expire && tif >= 0 && tif != ORDER_GTD)
        return "--expire: only an order with --tif gtd has it";
    if (wish->expire &&
        (bars_time_parse(wish->expire, strlen(wish->expire), &expire_ns) < 0 || expire_ns <= 0))
        return "--expire: a time as 2024-08-08, 2024-08-08T14:02:00Z or 1723125720 is needed";
    set_text(args, "tif", wish->expire ? names[ORDER_GTD] : wish->tif);
    if (wish->expire)
        json_object_set_new(args, "expire_ns", json_integer((json_int_t)expire_ns));
    return NULL;
}

/* What every order has. NULL, or what is wrong. */
static const char *set_common(json_t *args, const char *side, const char *symbol, const char *qty,
                              const struct order_wish *wish)
{
    if (!is_decimal(qty))
        return qty_words;
    if ((wish->client_id && !order_args_is_id(wish->client_id)) || wish->key)
        return wish->key ? "--key: an order's is --client-id" : id_words;
    if (wish->all || wish->qty || wish->symbol)
        return "--all, --symbol, --qty: not options of buy, sell and oco";
    if (set_text(args, "side", side) < 0 || set_text(args, "symbol", symbol) < 0 ||
        set_text(args, "account", wish->account) < 0)
        return "the symbol and the account must be UTF-8";
    set_text(args, "qty", qty);
    set_text(args, "client_id", wish->client_id);
    if (wish->reduce_only)
        json_object_set_new(args, "reduce_only", json_true());
    return set_time(args, wish);
}

/* The legs that end a position, as they were given; NULL where they were not. */
struct exits {
    const char *profit, *profit_stop; /* in its favour: a limit, what triggers it, or both */
    const char *stop, *stop_limit, *trail;
};

/* Puts them; NULL, or what is wrong. */
static const char *set_exits(json_t *args, const struct exits *exits)
{
    const char *const prices[] = {exits->profit, exits->profit_stop, exits->stop, exits->stop_limit};
    json_t *profit = json_object(), *loss = json_object();
    const char *words = NULL;

    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++)
        if (prices[i] && !is_decimal(prices[i]))
            words = price_words;
    if (!words && exits->trail && !set_trail(loss, exits->trail))
        words = trail_words;
    set_text(profit, "stop", exits->profit_stop);
    set_text(profit, "limit", exits->profit);
    set_text(loss, "stop", exits->stop);
    set_text(loss, "limit", exits->stop_limit);
    if (json_object_size(profit) > 0)
        json_object_set(args, "take_profit", profit);
    if (json_object_size(loss) > 0)
        json_object_set(args, "stop_loss", loss);
    json_decref(profit);
    json_decref(loss);
    return words;
}

static const char *fill_single(json_t *args, const char *side, const char *symbol, const char *qty,
                               const struct order_wish *wish)
{
    const char *const prices[] = {wish->limit, wish->stop, wish->take_profit}, *words;
    bool bracket = wish->bracket_take_profit || wish->bracket_take_profit_stop || wish->bracket_stop ||
                   wish->bracket_trail;
    int type = type_of(wish, &words);

    if ((words = type < 0 ? words : set_common(args, side, symbol, qty, wish)))
        return words;
    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++)
        if (prices[i] && !is_decimal(prices[i]))
            return price_words;
    if (wish->trail && !set_trail(args, wish->trail))
        return trail_words;
    if (wish->post_only && type != ORDER_LIMIT)
        return "--post-only: only a limit order can be";
    if (wish->stop_limit)
        return "--stop-limit: of an oco; else --stop with --limit, or --bracket-stop-limit";
    if (wish->take_profit_stop)
        return "--take-profit-stop: of an oco; else --take-profit, or --bracket-take-profit-stop";
    if (wish->bracket_stop_limit && !wish->bracket_stop)
        return "--bracket-stop-limit needs --bracket-stop";
    if (wish->bracket_stop && wish->bracket_trail)
        return "--bracket-stop, --bracket-trail: one of them";
    set_text(args, "type", types[type].name);
    set_text(args, "limit", wish->limit);
    set_text(args, "stop", wish->stop ? wish->stop : wish->take_profit);
    if (wish->post_only)
        json_object_set_new(args, "post_only", json_true());
    if (!bracket)
        return NULL;
    set_text(args, "group", "bracket");
    return set_exits(args,
                     &(struct exits){wish->bracket_take_profit, wish->bracket_take_profit_stop,
                                     wish->bracket_stop, wish->bracket_stop_limit, wish->bracket_trail});
}

static const char *fill_oco(json_t *args, const char *side, const char *symbol, const char *qty,
                            const struct order_wish *wish)
{
    const char *words = set_common(args, side, symbol, qty, wish);

    if (words)
        return words;
    if (wish->limit || wish->type || wish->post_only)
        return "an oco has --take-profit P, and --stop P or --trail D; its types follow from them";
    if (wish->bracket_take_profit || wish->bracket_take_profit_stop || wish->bracket_stop ||
        wish->bracket_stop_limit || wish->bracket_trail)
        return "--bracket-…: not options of an oco";
    if ((!wish->take_profit && !wish->take_profit_stop) || !wish->stop == !wish->trail)
        return "an oco needs --take-profit P or --take-profit-stop P, and --stop P or --trail D";
    if (wish->stop_limit && !wish->stop)
        return "--stop-limit needs --stop";
    set_text(args, "group", "oco");
    return set_exits(args, &(struct exits){wish->take_profit, wish->take_profit_stop, wish->stop,
                                           wish->stop_limit, wish->trail});
}

/* Which order is meant: a number is the daemon's, another word the giver's. */
static const char *set_name(json_t *args, const char *name, const struct order_wish *wish)
{
    char *end;

    if (!name == !wish->client_id)
        return "one order's number or client id is needed, as: order cancel 7";
    errno = 0;
    long long id = name ? strtoll(name, &end, 10) : 0;
    if (name && *end == '\0' && !errno && id > 0 && isdigit((unsigned char)*name))
        json_object_set_new(args, "order", json_integer(id));
    else if (!order_args_is_id(name ? name : wish->client_id))
        return "an order's number, as 7, or the client id that it was given is needed";
    else
        set_text(args, "client_id", name ? name : wish->client_id);
    return set_text(args, "account", wish->account) < 0 ? "the account must be UTF-8" : NULL;
}

static const char *set_key(json_t *args, const struct order_wish *wish)
{
    if (wish->key && !order_args_is_id(wish->key))
        return id_words;
    set_text(args, "key", wish->key);
    return NULL;
}

/* What only a new order has. */
static bool is_for_new(const struct order_wish *wish)
{
    return wish->type || wish->tif || wish->expire || wish->take_profit || wish->take_profit_stop ||
           wish->stop_limit || wish->post_only || wish->reduce_only || wish->bracket_take_profit ||
           wish->bracket_take_profit_stop || wish->bracket_stop || wish->bracket_stop_limit ||
           wish->bracket_trail;
}

static const char *fill_amend(json_t *args, const char *name, const struct order_wish *wish)
{
    const char *words = set_name(args, name, wish);

    if (words || (words = set_key(args, wish)))
        return words;
    if (is_for_new(wish) || wish->all || wish->symbol)
        return "amend takes --qty, --limit, --stop and --trail; for anything else cancel and order anew";
    if (!wish->qty && !wish->limit && !wish->stop && !wish->trail)
        return "amend needs --qty, --limit, --stop or --trail, as: order amend 7 --limit 61000.5";
    if (wish->qty && !is_decimal(wish->qty))
        return qty_words;
    if ((wish->limit && !is_decimal(wish->limit)) || (wish->stop && !is_decimal(wish->stop)))
        return price_words;
    if (wish->trail && !set_trail(args, wish->trail))
        return trail_words;
    set_text(args, "qty", wish->qty);
    set_text(args, "limit", wish->limit);
    set_text(args, "stop", wish->stop);
    return NULL;
}

static const char *fill_cancel(json_t *args, const char *name, const struct order_wish *wish)
{
    if (is_for_new(wish) || wish->qty || wish->limit || wish->stop || wish->trail)
        return "cancel takes an order, or --all with --symbol and --account";
    if (!wish->all) {
        const char *words = wish->symbol ? "--symbol needs --all" : set_name(args, name, wish);
        return words ? words : set_key(args, wish);
    }
    if (name || wish->client_id)
        return "cancel takes an order, or --all, not both";
    json_object_set_new(args, "all", json_true());
    if (set_text(args, "symbol", wish->symbol) < 0 || set_text(args, "account", wish->account) < 0)
        return "the symbol and the account must be UTF-8";
    return set_key(args, wish);
}

static json_t *given(json_t *args, const char *words, const char **ret_words)
{
    if (!words && args)
        return args;
    json_decref(args);
    *ret_words = words ? words : "out of memory";
    return NULL;
}

json_t *order_args_single(const char *side, const char *symbol, const char *qty,
                          const struct order_wish *wish, const char **ret_words)
{
    json_t *args = json_object();

    return given(args, fill_single(args, side, symbol, qty, wish), ret_words);
}

json_t *order_args_oco(const char *side, const char *symbol, const char *qty, const struct order_wish *wish,
                       const char **ret_words)
{
    json_t *args = json_object();

    return given(args, fill_oco(args, side, symbol, qty, wish), ret_words);
}

json_t *order_args_amend(const char *name, const struct order_wish *wish, const char **ret_words)
{
    json_t *args = json_object();

    return given(args, fill_amend(args, name, wish), ret_words);
}

json_t *order_args_cancel(const char *name, const struct order_wish *wish, const char **ret_words)
{
    json_t *args = json_object();

    return given(args, fill_cancel(args, name, wish), ret_words);
}

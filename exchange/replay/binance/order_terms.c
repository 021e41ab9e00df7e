/* The parameters of an order, and what the venue refuses of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/replay/binance/filters.h"
#include "exchange/replay/binance/order_call.h"
#include "exchange/replay/binance/protocol.h"

int replay_order_refuse(struct text *body, int status, int code, const char *msg)
{
    replay_rest_error(body, code, msg);
    return status;
}

int replay_order_missing(struct text *body, const char *name)
{
    char msg[128];
    snprintf(msg, sizeof(msg), "Mandatory parameter '%s' was not sent, was empty/null, or malformed.", name);
    return replay_order_refuse(body, ORDER_CALL_BAD, -1102, msg);
}

int replay_order_missing_both(struct text *body, const char *one, const char *other)
{
    char msg[128];
    snprintf(msg, sizeof(msg), "Param '%s' or '%s' must be sent, but both were empty/null!", one, other);
    return replay_order_refuse(body, ORDER_CALL_BAD, -1102, msg);
}

const char *replay_order_param(const struct order_call *c, const char *name)
{
    const char *value = name ? replay_params_get(c->params, name) : NULL;
    return value && *value ? value : NULL;
}

int replay_order_symbol(struct order_call *c)
{
    const char *name = replay_order_param(c, "symbol");
    if (!name)
        return replay_order_missing(c->body, "symbol");
    c->symbol = replay_tape_symbol_find(c->o->source->tape, name, strlen(name));
    if (c->symbol < 0 || strcmp(c->o->source->tape->symbols[c->symbol].name, name) != 0 ||
        !replay_orders_symbol(c->o, c->symbol, &c->listed))
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -1121, "Invalid symbol.");
    return 0;
}

int replay_order_decimal(struct order_call *c, const char *name, int64_t *ret)
{
    char msg[128];
    const char *text = replay_order_param(c, name);
    *ret = 0;
    if (!text)
        return 0;
    int r = decimal_parse_str(text, 8, ret);
    if (r == -EDOM)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -1111,
                                   "Precision is over the maximum defined for this asset.");
    const bool illegal = r < 0 || strspn(text, "0123456789.") != strlen(text);
    if (illegal || *ret <= 0) {
        snprintf(msg, sizeof(msg),
                 illegal ? "Illegal characters found in parameter '%s'; legal range is "
                           "'^([0-9]{1,20})(\\\\.[0-9]{1,20})?$'."
                         : "Invalid %s.",
                 name);
        return replay_order_refuse(c->body, ORDER_CALL_BAD, illegal ? -1100 : -1013, msg);
    }
    return 0;
}

int replay_order_number(struct order_call *c, const char *name, int64_t usual, int64_t *ret)
{
    const char *text = replay_order_param(c, name);
    *ret = usual;
    if (!text)
        return 0;
    if (strlen(text) > 18 || strspn(text, "0123456789") != strlen(text)) {
        char msg[128];
        snprintf(msg, sizeof(msg),
                 "Illegal characters found in parameter '%s'; legal range is '^[0-9]{1,20}$'.", name);
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -1100, msg);
    }
    *ret = strtoll(text, NULL, 10);
    return 0;
}

static const struct {
    const char *name;
    enum order_type type;
    bool post_only, price, stop, tif;
} types[] = {
    {"LIMIT", ORDER_LIMIT, false, true, false, true},
    {"LIMIT_MAKER", ORDER_LIMIT, true, true, false, false},
    {"MARKET", ORDER_MARKET, false, false, false, false},
    {"STOP_LOSS", ORDER_STOP, false, false, true, false},
    {"STOP_LOSS_LIMIT", ORDER_STOP_LIMIT, false, true, true, true},
    {"TAKE_PROFIT", ORDER_TAKE_PROFIT, false, false, true, false},
    {"TAKE_PROFIT_LIMIT", ORDER_TAKE_PROFIT_LIMIT, false, true, true, true},
};
enum { TYPES = sizeof(types) / sizeof(*types) };

const char *replay_orders_type(const struct broker_terms *terms)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].type == terms->type && types[i].post_only == terms->post_only)
            return types[i].name;
    return "";
}

static const struct order_names plain = {.type = "type",
                                         .side = "side",
                                         .tif = "timeInForce",
                                         .quantity = "quantity",
                                         .quote = "quoteOrderQty",
                                         .price = "price",
                                         .stop = "stopPrice",
                                         .trail = "trailingDelta",
                                         .iceberg = "icebergQty",
                                         .client_id = "newClientOrderId",
                                         .peg = "pegPriceType"};

static const struct order_names *names_of(const struct order_call *c)
{
    return c->names ? c->names : &plain;
}

static int not_required(struct order_call *c, const char *name)
{
    char msg[96];
    snprintf(msg, sizeof(msg), "Parameter '%s' sent when not required.", name);
    return replay_order_refuse(c->body, ORDER_CALL_BAD, -1106, msg);
}

static int read_type(struct order_call *c, struct broker_terms *terms, int *ret_row)
{
    static const char *const tifs[] = {"GTC", "IOC", "FOK"};
    static const enum order_tif meant[] = {ORDER_GTC, ORDER_IOC, ORDER_FOK};
    const struct order_names *names = names_of(c);
    const char *type = names->limit_kind && replay_order_param(c, names->price) ? names->limit_kind
                       : names->kind                                            ? names->kind
                                     : replay_order_param(c, names->type),
               *side = replay_order_param(c, names->side), *tif = replay_order_param(c, names->tif);
    if (!side)
        return replay_order_missing(c->body, names->side);
    if (strcmp(side, "BUY") != 0 && strcmp(side, "SELL") != 0)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -1117, "Invalid side.");
    terms->side = side[0] == 'B' ? ORDER_BUY : ORDER_SELL;
    if (!type)
        return replay_order_missing(c->body, names->type);
    for (*ret_row = 0; *ret_row < TYPES && strcmp(types[*ret_row].name, type) != 0; ++*ret_row)
        ;
    if (*ret_row == TYPES)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -1116, "Invalid orderType.");
    terms->type = types[*ret_row].type;
    terms->post_only = types[*ret_row].post_only;
    terms->tif = ORDER_GTC;
    if (types[*ret_row].tif && !tif)
        return replay_order_missing(c->body, names->tif);
    if (!types[*ret_row].tif && tif)
        return not_required(c, names->tif);
    if (tif) {
        int i = 0;
        while (i < 3 && strcmp(tifs[i], tif) != 0)
            i++;
        if (i == 3)
            return replay_order_refuse(c->body, ORDER_CALL_BAD, -1115, "Invalid timeInForce.");
        terms->tif = meant[i];
    }
    return 0;
}

/* Sent, and neither empty nor zero, which some clients send for none. */
static bool is_sent(const struct order_call *c, const char *name)
{
    const char *value = replay_order_param(c, name);
    return value && strspn(value, "0.") != strlen(value);
}

/* A stop's price, what it trails by, or both. */
static int read_stop(struct order_call *c, struct broker_terms *terms, int row)
{
    const struct order_names *names = names_of(c);
    int64_t delta = 0;
    int status = replay_order_decimal(c, names->stop, &terms->stop);
    if (status == 0 && is_sent(c, names->trail))
        status = replay_order_number(c, names->trail, 0, &delta);
    if (status != 0)
        return status;
    if (!types[row].stop && terms->stop)
        return not_required(c, names->stop);
    if (!types[row].stop && delta)
        return not_required(c, names->trail);
    if (types[row].stop && !terms->stop && !delta)
        return replay_order_missing_both(c->body, names->stop, names->trail);
    terms->trail.share_e6 = (int32_t)(delta < 10000 ? delta * 100 : 1000000); /* the filter's is less */
    return 0;
}

/* How much of it shows. */
static int read_iceberg(struct order_call *c, struct broker_terms *terms, int row)
{
    const struct order_names *names = names_of(c);
    if (!is_sent(c, names->iceberg))
        return 0;
    int status = replay_order_decimal(c, names->iceberg, &terms->iceberg);
    if (status != 0)
        return status;
    if (!types[row].price)
        return not_required(c, names->iceberg);
    if (terms->tif != ORDER_GTC)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -2010, "Unsupported order combination");
    if (terms->iceberg > terms->qty)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -2010, "IcebergQty exceeds QTY.");
    return 0;
}

/* Which numbers the type takes. */
static int read_numbers(struct order_call *c, struct broker_terms *terms, int row)
{
    const struct order_names *names = names_of(c);
    int status;
    if ((status = replay_order_decimal(c, names->quantity, &terms->qty)) != 0 ||
        (status = replay_order_decimal(c, names->price, &terms->price)) != 0 ||
        (status = replay_order_decimal(c, names->quote, &terms->quote)) != 0)
        return status;
    if (terms->quote && terms->type != ORDER_MARKET)
        return not_required(c, names->quote);
    if (terms->quote && terms->qty)
        return not_required(c, names->quantity);
    if (!terms->qty && !terms->quote)
        return replay_order_missing(c->body, names->quantity);
    if (types[row].price && !terms->price)
        return replay_order_missing(c->body, names->price);
    if (!types[row].price && terms->price)
        return not_required(c, names->price);
    status = read_stop(c, terms, row);
    return status == 0 ? read_iceberg(c, terms, row) : status;
}

int replay_order_client_id(struct order_call *c, const char *name, const char **ret)
{
    static const char legal[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:/";
    char msg[160];
    *ret = replay_order_param(c, name);
    if (!*ret || (strlen(*ret) < ORDER_CLIENT_ID_MAX && strspn(*ret, legal) == strlen(*ret)))
        return 0;
    snprintf(msg, sizeof(msg),
             "Illegal characters found in parameter '%s'; legal range is '^[a-zA-Z0-9-_]{1,36}$'.", name);
    return replay_order_refuse(c->body, ORDER_CALL_BAD, -1100, msg);
}

int replay_order_id_or_new(struct order_call *c, const char *name, char ret[static ORDER_CLIENT_ID_MAX])
{
    const char *id;
    const int status = replay_order_client_id(c, name, &id);
    if (status == 0 && id)
        strcpy(ret, id);
    else if (status == 0)
        snprintf(ret, ORDER_CLIENT_ID_MAX, "replay-%llu", (unsigned long long)++c->o->ids);
    return status;
}

/* What exchangeInfo denies; pegged orders, in any case. */
static int refuse_unserved(struct order_call *c)
{
    const struct tape_symbol *symbol = &c->o->source->tape->symbols[c->symbol];
    const struct {
        const char *param, *kind;
        bool allowed;
    } all[] = {
        {names_of(c)->iceberg, "Iceberg", replay_filter_allows(symbol, "icebergAllowed")},
        {names_of(c)->trail, "Trailing stop", replay_filter_allows(symbol, "allowTrailingStop")},
        {names_of(c)->peg, "Pegged", false},
    };
    char msg[96];
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (all[i].allowed || !is_sent(c, all[i].param))
            continue;
        snprintf(msg, sizeof(msg), "%s orders are not supported for this symbol.", all[i].kind);
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -2010, msg);
    }
    return 0;
}

static int check_answer_type(struct order_call *c)
{
    const char *type = replay_order_param(c, "newOrderRespType");
    if (!type || strcmp(type, "ACK") == 0 || strcmp(type, "RESULT") == 0 || strcmp(type, "FULL") == 0)
        return 0;
    return replay_order_refuse(c->body, ORDER_CALL_BAD, -1132, "Invalid newOrderRespType.");
}

int replay_order_terms(struct order_call *c, struct broker_terms *terms)
{
    int status, row = 0;
    *terms = (struct broker_terms){.account = c->caller->account};
    if ((status = replay_order_symbol(c)) != 0 || (status = read_type(c, terms, &row)) != 0 ||
        (status = refuse_unserved(c)) != 0 || (status = read_numbers(c, terms, row)) != 0 ||
        (status = check_answer_type(c)) != 0 ||
        (status = replay_order_id_or_new(c, names_of(c)->client_id, terms->client_id)) != 0)
        return status;
    terms->symbol = c->symbol;
    if (strcmp(c->o->source->tape->symbols[c->symbol].status, "TRADING") != 0)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -1013, "Market is closed.");
    return replay_order_filters(c, terms, NULL);
}

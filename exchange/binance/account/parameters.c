#include "exchange/binance/account/parameters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/order_rules.h"

static struct binance_parameter *add(struct binance_parameters *params, const char *name)
{
    if (params->n == BINANCE_PARAMETERS_MAX) {
        params->failed = true;
        return NULL;
    }
    struct binance_parameter *parameter = &params->list[params->n++];
    parameter->name = name;
    parameter->number = false;
    return parameter;
}

void binance_parameter_add(struct binance_parameters *params, const char *name, const char *value)
{
    struct binance_parameter *parameter = add(params, name);
    size_t len = strlen(value);
    if (!parameter)
        return;
    if (len == 0 || len >= sizeof(parameter->value)) {
        params->failed = true;
        len = 0;
    }
    memcpy(parameter->value, value, len);
    parameter->value[len] = '\0';
}

void binance_parameter_add_int(struct binance_parameters *params, const char *name, int64_t value)
{
    struct binance_parameter *parameter = add(params, name);
    if (!parameter)
        return;
    parameter->number = true;
    snprintf(parameter->value, sizeof(parameter->value), "%" PRId64, value);
}

static void add_decimal(struct binance_parameters *params, const char *name, int64_t units, int scale)
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format_short(units, scale, text);
    binance_parameter_add(params, name, text);
}

void binance_parameters_date(struct binance_parameters *params, int64_t timestamp_ms)
{
    binance_parameter_add_int(params, "recvWindow", BINANCE_RECV_WINDOW_MS);
    binance_parameter_add_int(params, "timestamp", timestamp_ms);
}

/* The venue's names, and what of an order they take; price and stop price by the type. */
static const struct {
    const char *name;
    bool tif;
} types[ORDER_TYPES] = {
    [ORDER_MARKET] = {"MARKET", false},           [ORDER_LIMIT] = {"LIMIT", true},
    [ORDER_STOP] = {"STOP_LOSS", false},          [ORDER_STOP_LIMIT] = {"STOP_LOSS_LIMIT", true},
    [ORDER_TAKE_PROFIT] = {"TAKE_PROFIT", false}, [ORDER_TAKE_PROFIT_LIMIT] = {"TAKE_PROFIT_LIMIT", true},
};

/* A market order is filled by what there is, and its rest expires: GTC's, where nothing of it may rest, and
 * IOC's; a stop waits till it is cancelled. */
static const char *unfit(const struct order *order, enum order_tif tif)
{
    if (!types[order->type].name)
        return "the venue has no trailing stops of this kind";
    if (tif != ORDER_GTC && tif != ORDER_IOC && tif != ORDER_FOK)
        return "the venue has no such time in force";
    if (order->type == ORDER_MARKET && tif == ORDER_FOK)
        return "the venue has no market order that fills whole or not at all";
    if (order_is_stop(order->type) && tif != ORDER_GTC)
        return "the venue's orders with a stop price wait till they are cancelled: GTC";
    if (order->post_only && (order->type != ORDER_LIMIT || tif != ORDER_GTC))
        return "the venue's post-only orders are limit orders, GTC";
    if (order->qty <= 0 || (order_has_limit(order->type) && order->price <= 0) ||
        (order_is_stop(order->type) && order->stop_price <= 0))
        return "a quantity or a price of the order is not above 0";
    return NULL;
}

const char *binance_parameters_of_order(struct binance_parameters *params, const struct symbol *symbol,
                                        const struct order *order, const char *client_id)
{
    enum order_tif tif = order_rules_sent(symbol, order);
    const char *why = unfit(order, tif);
    if (why)
        return why;
    binance_parameter_add(params, "symbol", symbol->name);
    binance_parameter_add(params, "side", order_side_name(order->side));
    binance_parameter_add(params, "type", order->post_only ? "LIMIT_MAKER" : types[order->type].name);
    if (types[order->type].tif && !order->post_only)
        binance_parameter_add(params, "timeInForce", order_tif_name(tif));
    add_decimal(params, "quantity", order->qty, symbol->qty_scale);
    if (order_has_limit(order->type))
        add_decimal(params, "price", order->price, symbol->price_scale);
    if (order_is_stop(order->type))
        add_decimal(params, "stopPrice", order->stop_price, symbol->price_scale);
    binance_parameter_add(params, "newClientOrderId", client_id);
    binance_parameter_add(params, "newOrderRespType", "FULL"); /* stops' too */
    return params->failed ? "the order's client id is empty, or too long" : NULL;
}

bool binance_parameters_query(const struct binance_parameters *params, const struct binance_signer *signer,
                              struct text *out)
{
    char signature[BINANCE_SIGNATURE_MAX];
    size_t start = out->len;
    for (int i = 0; i < params->n; i++) {
        text_str(out, i > 0 ? "&" : "");
        text_str(out, params->list[i].name);
        text_lit(out, "=");
        text_url(out, params->list[i].value);
    }
    if (params->failed || !text_ok(out) ||
        !binance_sign(signer, out->len > start ? out->data + start : "", out->len - start, signature))
        return false;
    text_lit(out, "&signature=");
    text_url(out, signature);
    return text_ok(out);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct binance_parameter *)a)->name, ((const struct binance_parameter *)b)->name);
}

void binance_parameters_payload(struct binance_parameters *params, struct text *out)
{
    qsort(params->list, (size_t)params->n, sizeof(*params->list), by_name);
    for (int i = 0; i < params->n; i++) {
        text_str(out, i > 0 ? "&" : "");
        text_str(out, params->list[i].name);
        text_lit(out, "=");
        text_str(out, params->list[i].value);
    }
}

static bool add_signature(struct binance_parameters *params, const struct binance_signer *signer)
{
    char signature[BINANCE_SIGNATURE_MAX];
    struct text payload = {0};
    binance_parameter_add(params, "apiKey", binance_signer_id(signer));
    binance_parameters_payload(params, &payload);
    bool good =
        !params->failed && text_ok(&payload) && binance_sign(signer, payload.data, payload.len, signature);
    text_finish(&payload);
    if (good)
        binance_parameter_add(params, "signature", signature);
    return good;
}

/* No value has a character that JSON escapes: names of symbols, numbers, ids that binance_parameters_of_order
 * or the caller made. */
static bool plain(const char *value)
{
    for (; *value; value++)
        if ((unsigned char)*value < ' ' || *value == '"' || *value == '\\')
            return false;
    return true;
}

bool binance_parameters_message(struct binance_parameters *params, const struct binance_signer *signer,
                                int64_t id, const char *method, struct text *out)
{
    if (signer && !add_signature(params, signer))
        return false;
    text_format(out, "{\"id\":%" PRId64 ",\"method\":\"%s\"", id, method);
    for (int i = 0; i < params->n; i++) {
        const struct binance_parameter *parameter = &params->list[i];
        const char *quote = parameter->number ? "" : "\"";
        if (!plain(parameter->value))
            return false;
        text_format(out, "%s\"%s\":%s%s%s", i > 0 ? "," : ",\"params\":{", parameter->name, quote,
                    parameter->value, quote);
    }
    text_str(out, params->n > 0 ? "}}" : "}");
    return !params->failed && text_ok(out);
}

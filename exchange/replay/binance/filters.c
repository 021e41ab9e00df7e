#include "exchange/replay/binance/filters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"
#include "exchange/replay/keyed.h"
#include "exchange/replay/tape.h"

/* As the venue's documents show them; those of 0 it lists of few symbols or accounts. */
static const struct {
    const char *name, *field;
    int64_t usual;
} rows[FILTERS] = {
    [FILTER_ICEBERG_PARTS] = {"ICEBERG_PARTS", "limit", 10},
    [FILTER_MAX_NUM_ORDERS] = {"MAX_NUM_ORDERS", "maxNumOrders", 200},
    [FILTER_MAX_NUM_ALGO_ORDERS] = {"MAX_NUM_ALGO_ORDERS", "maxNumAlgoOrders", 5},
    [FILTER_MAX_NUM_ICEBERG_ORDERS] = {"MAX_NUM_ICEBERG_ORDERS", "maxNumIcebergOrders", 5},
    [FILTER_MAX_NUM_ORDER_LISTS] = {"MAX_NUM_ORDER_LISTS", "maxNumOrderLists", 20},
    [FILTER_MAX_NUM_ORDER_AMENDS] = {"MAX_NUM_ORDER_AMENDS", "maxNumOrderAmends", 10},
    [FILTER_MAX_POSITION] = {"MAX_POSITION", "maxPosition", 0},
    [FILTER_EXCHANGE_MAX_NUM_ORDERS] = {"EXCHANGE_MAX_NUM_ORDERS", "maxNumOrders", 0},
    [FILTER_EXCHANGE_MAX_NUM_ALGO_ORDERS] = {"EXCHANGE_MAX_NUM_ALGO_ORDERS", "maxNumAlgoOrders", 0},
    [FILTER_EXCHANGE_MAX_NUM_ICEBERG_ORDERS] = {"EXCHANGE_MAX_NUM_ICEBERG_ORDERS", "maxNumIcebergOrders", 0},
    [FILTER_EXCHANGE_MAX_NUM_ORDER_LISTS] = {"EXCHANGE_MAX_NUM_ORDER_LISTS", "maxNumOrderLists", 0},
};

/* The deltas of symbols that are not recorded. */
static const struct replay_delta_range usual_delta = {10, 2000};

const char *replay_filter_name(enum replay_filter filter)
{
    return rows[filter].name;
}

static int scale_of(enum replay_filter filter)
{
    return filter == FILTER_MAX_POSITION ? 8 : 0;
}

static bool set_asset(struct replay_filters *f, const char *asset, size_t len, int64_t limit)
{
    size_t at = 0;
    if (len == 0 || len >= ASSET_NAME_MAX)
        return false;
    while (at < f->n_assets && (strncmp(f->assets[at].asset, asset, len) != 0 || f->assets[at].asset[len]))
        at++;
    if (at == FILTERS_ASSETS_MAX)
        return false;
    f->n_assets += at == f->n_assets;
    memcpy(f->assets[at].asset, asset, len);
    f->assets[at].limit = limit;
    return true;
}

bool replay_filters_set(struct replay_filters *f, const char *spec)
{
    static const char asset[] = "MAX_ASSET:";
    const char *equals = strchr(spec, '=');
    int64_t value;
    if (!equals)
        return false;
    const size_t len = (size_t)(equals - spec);
    if (strncmp(spec, asset, sizeof(asset) - 1) == 0)
        return decimal_parse_str(equals + 1, 8, &value) == 0 && value >= 0 &&
               set_asset(f, spec + sizeof(asset) - 1, len - (sizeof(asset) - 1), value);
    for (enum replay_filter i = 0; i < FILTERS; i++) {
        if (strlen(rows[i].name) != len || memcmp(rows[i].name, spec, len) != 0)
            continue;
        if (decimal_parse_str(equals + 1, scale_of(i), &value) != 0 || value < 0)
            return false;
        f->is_set[i] = true;
        f->values[i] = value;
        return true;
    }
    return false;
}

/* What is recorded of the symbol's listing; NULL: it is synthetic, or its filters have changed. */
static const char *recorded(const struct tape_symbol *symbol)
{
    return symbol->other_filters ? NULL : symbol->info;
}

/* A field of a filter in a recorded listing, with or without quotes; 0: it has no such one. */
static int64_t read_field(const char *info, const char *filter, const char *field, int scale)
{
    char key[64];
    int64_t value;
    snprintf(key, sizeof(key), "\"%s\"", filter);
    const char *at = strstr(info, key), *end = at ? strchr(at, '}') : NULL;
    snprintf(key, sizeof(key), "\"%s\":", field);
    at = at ? strstr(at, key) : NULL;
    if (!at || !end || at > end)
        return 0;
    at += strlen(key);
    at += strspn(at, " \"");
    char number[40];
    snprintf(number, sizeof(number), "%.*s", (int)strspn(at, "0123456789."), at);
    return decimal_parse_str(number, scale, &value) == 0 ? value : 0;
}

static int64_t value_of(const struct replay_filters *f, enum replay_filter filter)
{
    return f->is_set[filter] ? f->values[filter] : rows[filter].usual;
}

int64_t replay_filter_of(const struct replay_filters *f, const struct tape_symbol *symbol,
                         enum replay_filter filter)
{
    const char *info = filter < FILTER_OF_EXCHANGE ? recorded(symbol) : NULL;
    return info ? read_field(info, rows[filter].name, rows[filter].field, scale_of(filter))
                : value_of(f, filter);
}

int64_t replay_filter_asset(const struct replay_filters *f, const char *asset)
{
    for (size_t i = 0; i < f->n_assets; i++)
        if (strcmp(f->assets[i].asset, asset) == 0)
            return f->assets[i].limit;
    return 0;
}

struct replay_delta_range replay_filter_delta(const struct tape_symbol *symbol, bool above)
{
    static const char name[] = "TRAILING_DELTA";
    const char *info = recorded(symbol);
    if (!info)
        return usual_delta;
    return (struct replay_delta_range){
        read_field(info, name, above ? "minTrailingAboveDelta" : "minTrailingBelowDelta", 0),
        read_field(info, name, above ? "maxTrailingAboveDelta" : "maxTrailingBelowDelta", 0)};
}

void replay_filter_write_delta(struct text *out)
{
    text_lit(out, ",{\"filterType\":\"TRAILING_DELTA\"");
    keyed_int(out, "minTrailingAboveDelta", usual_delta.min);
    keyed_int(out, "maxTrailingAboveDelta", usual_delta.max);
    keyed_int(out, "minTrailingBelowDelta", usual_delta.min);
    keyed_int(out, "maxTrailingBelowDelta", usual_delta.max);
    text_lit(out, "}");
}

bool replay_filter_allows(const struct tape_symbol *symbol, const char *name)
{
    char key[64];
    const char *info = recorded(symbol);
    if (!info)
        return true;
    snprintf(key, sizeof(key), "\"%s\":", name);
    const char *at = strstr(info, key);
    if (!at)
        return false;
    at += strlen(key);
    at += strspn(at, " ");
    return strncmp(at, "true", 4) == 0;
}

void replay_filter_write(struct text *out, const struct replay_filters *f, enum replay_filter filter,
                         bool comma)
{
    const int64_t value = value_of(f, filter);
    if (value == 0)
        return;
    text_format(out, "%s{\"filterType\":\"%s\"", comma ? "," : "", rows[filter].name);
    if (scale_of(filter) == 8)
        keyed_e8(out, rows[filter].field, value);
    else
        keyed_int(out, rows[filter].field, value);
    text_lit(out, "}");
}

void replay_filters_write_exchange(struct text *out, const struct replay_filters *f)
{
    bool first = true;
    for (enum replay_filter i = FILTER_OF_EXCHANGE; i < FILTERS; i++) {
        replay_filter_write(out, f, i, !first);
        first &= value_of(f, i) == 0;
    }
}

void replay_filters_write_assets(struct text *out, const struct replay_filters *f,
                                 const struct symbol *listed)
{
    bool first = true;
    for (size_t i = 0; i < f->n_assets; i++) {
        const struct replay_asset_filter *of = &f->assets[i];
        if (of->limit == 0 || (strcmp(of->asset, listed->base) != 0 && strcmp(of->asset, listed->quote) != 0))
            continue;
        text_format(out, "%s{\"filterType\":\"MAX_ASSET\",\"asset\":\"%s\"", first ? "" : ",", of->asset);
        keyed_e8(out, "limit", of->limit);
        text_lit(out, "}");
        first = false;
    }
}

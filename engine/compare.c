#include "engine/compare.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "exchange/decimal.h"

enum field_kind {
    FIELD_U64,
    FIELD_I64,
    FIELD_INT, /* int, int32_t, uint32_t */
    FIELD_BOOL,
    FIELD_TEXT,
    FIELD_PRICE, /* int64_t of the symbol's scales */
    FIELD_QTY,
    FIELD_QUOTE,
    FIELD_SIDE, /* enumerations */
    FIELD_TYPE,
    FIELD_TIF,
    FIELD_STATE,
    FIELD_REASON,
    FIELD_LEDGER_KIND,
    FIELD_HASH,
};

struct field {
    const char *name;
    enum field_kind kind;
    size_t offset, size;
};

#define FIELD(row, member, name, kind) \
    { \
        name, kind, offsetof(struct row, member), sizeof((struct row *)0)->member \
    }

static const struct field order_fields[] = {
    FIELD(order, id, "id", FIELD_U64),
    FIELD(order, account, "account", FIELD_INT),
    FIELD(order, side, "side", FIELD_SIDE),
    FIELD(order, type, "type", FIELD_TYPE),
    FIELD(order, tif, "tif", FIELD_TIF),
    FIELD(order, state, "state", FIELD_STATE),
    FIELD(order, reason, "reason", FIELD_REASON),
    FIELD(order, qty, "qty", FIELD_QTY),
    FIELD(order, filled, "filled", FIELD_QTY),
    FIELD(order, price, "price", FIELD_PRICE),
    FIELD(order, stop_price, "stop_price", FIELD_PRICE),
    FIELD(order, trail, "trail", FIELD_PRICE),
    FIELD(order, trail_e6, "trail_e6", FIELD_INT),
    FIELD(order, peak, "peak", FIELD_PRICE),
    FIELD(order, triggered, "triggered", FIELD_BOOL),
    FIELD(order, post_only, "post_only", FIELD_BOOL),
    FIELD(order, reduce_only, "reduce_only", FIELD_BOOL),
    FIELD(order, group, "group", FIELD_U64),
    FIELD(order, parent, "parent", FIELD_U64),
    FIELD(order, cost, "cost", FIELD_QUOTE),
    FIELD(order, created_ns, "created_ns", FIELD_I64),
    FIELD(order, effective_ns, "effective_ns", FIELD_I64),
    FIELD(order, updated_ns, "updated_ns", FIELD_I64),
    FIELD(order, expires_ns, "expires_ns", FIELD_I64),
    FIELD(order, input_seq, "input_seq", FIELD_U64),
    FIELD(order, amends, "amends", FIELD_INT),
    FIELD(order, by_hand, "by_hand", FIELD_BOOL),
    FIELD(order, client_id, "client_id", FIELD_TEXT),
    FIELD(order, tag, "tag", FIELD_TEXT),
};

static const struct field fill_fields[] = {
    FIELD(fill, id, "id", FIELD_U64),           FIELD(fill, order_id, "order_id", FIELD_U64),
    FIELD(fill, account, "account", FIELD_INT), FIELD(fill, side, "side", FIELD_SIDE),
    FIELD(fill, ts_ns, "ts_ns", FIELD_I64),     FIELD(fill, price, "price", FIELD_PRICE),
    FIELD(fill, qty, "qty", FIELD_QTY),         FIELD(fill, notional, "notional", FIELD_QUOTE),
    FIELD(fill, fee, "fee", FIELD_QUOTE),       FIELD(fill, fee_e6, "fee_e6", FIELD_INT),
    FIELD(fill, maker, "maker", FIELD_BOOL),    FIELD(fill, input_seq, "input_seq", FIELD_U64),
};

/* The amounts are shown with the row's own scale: a symbol is made up for it. */
static const struct field ledger_fields[] = {
    FIELD(ledger_row, id, "id", FIELD_U64),
    FIELD(ledger_row, ts_ns, "ts_ns", FIELD_I64),
    FIELD(ledger_row, account, "account", FIELD_INT),
    FIELD(ledger_row, asset, "asset", FIELD_TEXT),
    FIELD(ledger_row, scale, "scale", FIELD_INT),
    FIELD(ledger_row, kind, "kind", FIELD_LEDGER_KIND),
    FIELD(ledger_row, amount, "amount", FIELD_QUOTE),
    FIELD(ledger_row, balance, "balance", FIELD_QUOTE),
    FIELD(ledger_row, order_id, "order_id", FIELD_U64),
    FIELD(ledger_row, fill_id, "fill_id", FIELD_U64),
    FIELD(ledger_row, hash, "hash", FIELD_HASH),
};

enum {
    ORDER_FIELDS = sizeof order_fields / sizeof *order_fields,
    FILL_FIELDS = sizeof fill_fields / sizeof *fill_fields,
    LEDGER_FIELDS = sizeof ledger_fields / sizeof *ledger_fields,
};

static void show_decimal(int64_t units, int scale, char to[static DIFFERENCE_TEXT_MAX])
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format_short(units, scale, text);
    snprintf(to, DIFFERENCE_TEXT_MAX, "%s", text);
}

static int64_t number_at(const char *row, const struct field *field)
{
    int32_t small;
    int64_t large;
    bool truth;
    if (field->size == sizeof truth) {
        memcpy(&truth, row + field->offset, sizeof truth);
        return truth;
    }
    if (field->size == sizeof small) {
        memcpy(&small, row + field->offset, sizeof small);
        return small;
    }
    memcpy(&large, row + field->offset, sizeof large);
    return large;
}

static const char *name_of(enum field_kind kind, int value)
{
    switch (kind) {
    case FIELD_SIDE:
        return order_side_name((enum order_side)value);
    case FIELD_TYPE:
        return order_type_name((enum order_type)value);
    case FIELD_TIF:
        return order_tif_name((enum order_tif)value);
    case FIELD_STATE:
        return order_state_name((enum order_state)value);
    case FIELD_REASON:
        return order_reason_name((enum order_reason)value);
    default:
        return ledger_kind_name((enum ledger_kind)value);
    }
}

static void show(const char *row, const struct field *field, const struct symbol *symbol,
                 char to[static DIFFERENCE_TEXT_MAX])
{
    int64_t number = field->kind == FIELD_TEXT || field->kind == FIELD_HASH ? 0 : number_at(row, field);
    switch (field->kind) {
    case FIELD_U64:
        snprintf(to, DIFFERENCE_TEXT_MAX, "%" PRIu64, (uint64_t)number);
        break;
    case FIELD_I64:
    case FIELD_INT:
        snprintf(to, DIFFERENCE_TEXT_MAX, "%" PRId64, number);
        break;
    case FIELD_BOOL:
        snprintf(to, DIFFERENCE_TEXT_MAX, "%s", number ? "true" : "false");
        break;
    case FIELD_TEXT:
        snprintf(to, DIFFERENCE_TEXT_MAX, "\"%.*s\"", (int)field->size, row + field->offset);
        break;
    case FIELD_PRICE:
        show_decimal(number, symbol ? symbol->price_scale : 0, to);
        break;
    case FIELD_QTY:
        show_decimal(number, symbol ? symbol->qty_scale : 0, to);
        break;
    case FIELD_QUOTE:
        show_decimal(number, symbol ? symbol->quote_scale : 0, to);
        break;
    case FIELD_HASH:
        for (size_t i = 0; i < field->size; i++)
            snprintf(to + 2 * i, DIFFERENCE_TEXT_MAX - 2 * i, "%02x", (unsigned char)row[field->offset + i]);
        break;
    default:
        snprintf(to, DIFFERENCE_TEXT_MAX, "%s", name_of(field->kind, (int)number));
    }
}

static bool same(const char *a, const char *b, const struct field *field)
{
    return field->kind == FIELD_TEXT ? strncmp(a + field->offset, b + field->offset, field->size) == 0
                                     : memcmp(a + field->offset, b + field->offset, field->size) == 0;
}

static bool compare(const char *table, uint64_t id, const struct field *fields, int n, const void *replayed,
                    const void *recorded, const struct symbol *symbol, struct difference *ret)
{
    for (int i = 0; i < n; i++) {
        if (same(replayed, recorded, &fields[i]))
            continue;
        *ret = (struct difference){.table = table, .id = id, .field = fields[i].name};
        show(replayed, &fields[i], symbol, ret->replayed);
        show(recorded, &fields[i], symbol, ret->recorded);
        return false;
    }
    return true;
}

static bool same_symbol(const char *table, uint64_t id, const struct symbol *symbol, const char *recorded,
                        struct difference *ret)
{
    const char *name = symbol ? symbol->name : "";
    if (strcmp(name, recorded) == 0)
        return true;
    *ret = (struct difference){.table = table, .id = id, .field = "symbol"};
    snprintf(ret->replayed, sizeof ret->replayed, "\"%s\"", name);
    snprintf(ret->recorded, sizeof ret->recorded, "\"%s\"", recorded);
    return false;
}

bool compare_orders(const struct order *replayed, const struct symbol *symbol,
                    const struct recorded_order *recorded, struct difference *ret)
{
    return same_symbol("orders", replayed->id, symbol, recorded->symbol, ret) &&
           compare("orders", replayed->id, order_fields, ORDER_FIELDS, replayed, &recorded->order, symbol,
                   ret);
}

bool compare_fills(const struct fill *replayed, const struct symbol *symbol,
                   const struct recorded_fill *recorded, struct difference *ret)
{
    return same_symbol("fills", replayed->id, symbol, recorded->symbol, ret) &&
           compare("fills", replayed->id, fill_fields, FILL_FIELDS, replayed, &recorded->fill, symbol, ret);
}

bool compare_ledger_rows(const struct ledger_row *replayed, const struct ledger_row *recorded,
                         struct difference *ret)
{
    struct symbol scales = {.quote_scale = replayed->scale};
    return compare("ledger", replayed->id, ledger_fields, LEDGER_FIELDS, replayed, recorded, &scales, ret);
}

void compare_missing(const char *table, uint64_t id, bool in_replay, struct difference *ret)
{
    *ret = (struct difference){.table = table, .id = id, .field = "row"};
    snprintf(ret->replayed, sizeof ret->replayed, "%s", in_replay ? "there" : "none");
    snprintf(ret->recorded, sizeof ret->recorded, "%s", in_replay ? "none" : "there");
}

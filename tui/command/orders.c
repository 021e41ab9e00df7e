#include "tui/command/orders.h"

#include <stdio.h>

#include "tui/command/stored.h"
#include "tui/dashboard.h"

static const char help[] =
    "Usage: papertape orders [--csv|--json] [--state DIR]\n"
    "\n"
    "Every order ever, oldest first: live, filled, cancelled and rejected ones, with the reason.\n"
    "\n"
    "  --csv        exact decimals, times in ns\n"
    "  --json       papertape.orders/1\n"
    "  --state DIR  the daemon's state directory\n";

static const struct stored_column columns[] = {
    {"order", 6},      {"created_ns", -24}, {"updated_ns", 0},  {"account", -10},     {"symbol", -10},
    {"side", -4},      {"type", -17},       {"state", -8},      {"reason", -20},      {"qty", 14},
    {"filled", 14},    {"price", 14},       {"stop", 14},       {"cost", 16},         {"by_hand", 0},
    {"tag", -12},      {"tif", -3},         {"trail", 0},       {"trail_percent", 0}, {"peak", 0},
    {"triggered", 0},  {"post_only", 0},    {"reduce_only", 0}, {"group", 5},         {"parent", 6},
    {"expires_ns", 0}, {"amends", 0},       {"client_id", -12},
};

enum { PERCENT_SCALE = 4 }; /* a trail_e6 in percent */

/* An order of an unknown symbol has no scales; what it asked for is unknown too. */
static json_t *number(bool known, int64_t units, int scale, bool none_is_null)
{
    if (!known)
        return json_null();
    return none_is_null ? stored_number_or_null(units, scale) : stored_number(units, scale);
}

/* 0 stands for none. */
static json_t *integer_or_null(uint64_t value)
{
    return value ? json_integer((json_int_t)value) : json_null();
}

static const char *integer_or_none(char *buf, uint64_t value)
{
    *buf = '\0';
    return value ? stored_integer(buf, (long long)value) : buf;
}

static json_t *object(const struct order *o, const struct symbol *symbol, const char *account)
{
    static const struct symbol unknown;
    const struct symbol *s = symbol ? symbol : &unknown;
    json_t *object = json_pack(
        "{s:I, s:I, s:I, s:I, s:s?, s:s?, s:s, s:s, s:s, s:s?, s:o, s:o, s:o, s:o, s:o, s:b, s:s, s:I}",
        "order", (json_int_t)o->id, "created_ns", (json_int_t)o->created_ns, "effective_ns",
        (json_int_t)o->effective_ns, "updated_ns", (json_int_t)o->updated_ns, "account", account, "symbol",
        symbol ? s->name : NULL, "side", order_side_name(o->side), "type", order_type_name(o->type), "state",
        order_state_name(o->state), "reason", o->reason == ORDER_OK ? NULL : order_reason_name(o->reason),
        "qty", number(symbol, o->qty, s->qty_scale, false), "filled",
        number(symbol, o->filled, s->qty_scale, false), "price",
        number(symbol, o->price, s->price_scale, true), "stop",
        number(symbol, o->stop_price, s->price_scale, true), "cost",
        number(symbol, o->cost, s->quote_scale, false), "by_hand", o->by_hand, "tag", o->tag, "input_seq",
        (json_int_t)o->input_seq);
    json_t *more =
        json_pack("{s:s, s:o, s:o, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:I, s:s}", "tif",
                  order_tif_name(o->tif), "trail", number(symbol, o->trail, s->price_scale, true),
                  "trail_percent", stored_number_or_null(o->trail_e6, PERCENT_SCALE), "peak",
                  number(symbol, o->peak, s->price_scale, true), "triggered", o->triggered, "post_only",
                  o->post_only, "reduce_only", o->reduce_only, "group", integer_or_null(o->group), "parent",
                  integer_or_null(o->parent), "expires_ns", integer_or_null((uint64_t)o->expires_ns),
                  "amends", (json_int_t)o->amends, "client_id", o->client_id);
    if (!object || !more || json_object_update(object, more) < 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(more);
    return object;
}

struct stored_list orders_list(enum stored_form form, FILE *out)
{
    struct stored_list list = {.name = "orders",
                               .form = form,
                               .columns = columns,
                               .n_columns = sizeof columns / sizeof *columns,
                               .out = out};
    return list;
}

void orders_row(struct stored_list *list, const struct order *o, const struct symbol *symbol,
                const char *account)
{
    static const struct symbol unknown;
    const struct symbol *s = symbol ? symbol : &unknown;
    char id[STORED_CELL], created[STORED_CELL], updated[STORED_CELL], qty[STORED_CELL], filled[STORED_CELL],
        price[STORED_CELL], stop[STORED_CELL], cost[STORED_CELL], trail[STORED_CELL], percent[STORED_CELL],
        peak[STORED_CELL], group[STORED_CELL], parent[STORED_CELL], expires[STORED_CELL], amends[STORED_CELL];
    if (list->form == STORED_JSON) {
        stored_object(list, object(o, symbol, account));
        return;
    }
    const char *const cells[] = {
        stored_integer(id, (long long)o->id),
        stored_time(list->form, created, o->created_ns),
        stored_time(list->form, updated, o->updated_ns),
        account ? account : "",
        s->name,
        order_side_name(o->side),
        order_type_name(o->type),
        order_state_name(o->state),
        order_reason_name(o->reason),
        symbol ? stored_decimal(list->form, qty, o->qty, s->qty_scale) : "",
        symbol ? stored_decimal(list->form, filled, o->filled, s->qty_scale) : "",
        symbol ? stored_decimal_or_none(list->form, price, o->price, s->price_scale) : "",
        symbol ? stored_decimal_or_none(list->form, stop, o->stop_price, s->price_scale) : "",
        symbol ? stored_decimal(list->form, cost, o->cost, s->quote_scale) : "",
        o->by_hand ? "1" : "0",
        o->tag,
        order_tif_name(o->tif),
        symbol ? stored_decimal_or_none(list->form, trail, o->trail, s->price_scale) : "",
        stored_decimal_or_none(list->form, percent, o->trail_e6, PERCENT_SCALE),
        symbol ? stored_decimal_or_none(list->form, peak, o->peak, s->price_scale) : "",
        o->triggered ? "1" : "0",
        o->post_only ? "1" : "0",
        o->reduce_only ? "1" : "0",
        integer_or_none(group, o->group),
        integer_or_none(parent, o->parent),
        o->expires_ns ? stored_time(list->form, expires, o->expires_ns) : "",
        stored_integer(amends, (long long)o->amends),
        o->client_id,
    };
    stored_row(list, cells);
}

static void print_order(void *ctx, const struct db_order_row *row)
{
    orders_row(ctx, &row->order, row->symbol ? &row->symbol->symbol : NULL,
               row->account ? row->account->name : NULL);
}

int command_orders(int argc, char **argv)
{
    struct stored_options options;
    struct db_reader *reader;
    int r = stored_options(argc, argv, "csv json", help, &options);
    if (r != EXIT_OK || options.done)
        return r;
    if (options.first < argc)
        return stored_fail(EXIT_USAGE, "orders", argv[options.first], "no argument is expected");
    r = stored_open("orders", options.state, &reader);
    if (r != EXIT_OK)
        return r;
    struct stored_list list = orders_list(options.form, NULL);
    stored_begin(&list);
    r = db_reader_orders(reader, false, 0, print_order, &list);
    stored_end(&list);
    return stored_close("orders", reader, r < 0 ? r : list.r);
}

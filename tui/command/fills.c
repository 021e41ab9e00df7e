#include "tui/command/fills.h"

#include <stdio.h>

#include "tui/command/stored.h"
#include "tui/dashboard.h"

static const char help[] = "Usage: papertape fills [--csv|--json] [--state DIR]\n"
                           "\n"
                           "Every execution ever, oldest first. A fee is in the symbol's quote asset.\n"
                           "\n"
                           "  --csv        exact decimals, times in ns\n"
                           "  --json       papertape.fills/1\n"
                           "  --state DIR  the daemon's state directory\n";

static const struct stored_column columns[] = {
    {"fill", 6},   {"order", 6}, {"ts_ns", -24},   {"account", -10}, {"symbol", -10},   {"side", -4},
    {"price", 14}, {"qty", 14},  {"notional", 16}, {"fee", 12},      {"fee_asset", -6}, {"maker", -5},
};

static json_t *object(const struct fill *f, const struct symbol *s, const char *account)
{
    return json_pack("{s:I, s:I, s:I, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:b, s:I}", "fill",
                     (json_int_t)f->id, "order", (json_int_t)f->order_id, "ts_ns", (json_int_t)f->ts_ns,
                     "account", account, "symbol", s->name, "side", order_side_name(f->side), "price",
                     stored_number(f->price, s->price_scale), "qty", stored_number(f->qty, s->qty_scale),
                     "notional", stored_number(f->notional, s->quote_scale), "fee",
                     stored_number(f->fee, s->quote_scale), "fee_asset", s->quote, "maker", f->maker,
                     "input_seq", (json_int_t)f->input_seq);
}

struct stored_list fills_list(enum stored_form form, FILE *out)
{
    struct stored_list list = {.name = "fills",
                               .form = form,
                               .columns = columns,
                               .n_columns = sizeof columns / sizeof *columns,
                               .out = out};
    return list;
}

void fills_row(struct stored_list *list, const struct fill *f, const struct symbol *s, const char *account)
{
    char id[STORED_CELL], order[STORED_CELL], time[STORED_CELL], price[STORED_CELL], qty[STORED_CELL],
        notional[STORED_CELL], fee[STORED_CELL];
    if (list->form == STORED_JSON) {
        stored_object(list, object(f, s, account));
        return;
    }
    const char *const cells[] = {
        stored_integer(id, (long long)f->id),
        stored_integer(order, (long long)f->order_id),
        stored_time(list->form, time, f->ts_ns),
        account,
        s->name,
        order_side_name(f->side),
        stored_decimal(list->form, price, f->price, s->price_scale),
        stored_decimal(list->form, qty, f->qty, s->qty_scale),
        stored_decimal(list->form, notional, f->notional, s->quote_scale),
        stored_decimal(list->form, fee, f->fee, s->quote_scale),
        s->quote,
        f->maker ? "1" : "0",
    };
    stored_row(list, cells);
}

static void print_fill(void *ctx, const struct db_fill_row *row)
{
    fills_row(ctx, &row->fill, &row->symbol->symbol, row->account->name);
}

int command_fills(int argc, char **argv)
{
    struct stored_options options;
    struct db_reader *reader;
    int r = stored_options(argc, argv, "csv json", help, &options);
    if (r != EXIT_OK || options.done)
        return r;
    if (options.first < argc)
        return stored_fail(EXIT_USAGE, "fills", argv[options.first], "no argument is expected");
    r = stored_open("fills", options.state, &reader);
    if (r != EXIT_OK)
        return r;
    struct stored_list list = fills_list(options.form, NULL);
    stored_begin(&list);
    r = db_reader_fills(reader, 0, print_fill, &list);
    stored_end(&list);
    return stored_close("fills", reader, r < 0 ? r : list.r);
}

#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

#include "cli/stored.h"
#include "exchange/exit_status.h"

static const struct stored_column columns[] = {
    {"account", -10},  {"symbol", -10},    {"side", -4},     {"qty", 14},
    {"entry", 14},     {"mark", 14},       {"cost", 16},     {"value", 16},
    {"upnl", 14},      {"realized", 14},   {"fees", 12},     {"opened_ns", -24},
    {"updated_ns", 0}, {"fifo_entry", 14}, {"fifo_cost", 0}, {"fifo_realized", 0},
};

struct printing {
    struct stored_list list;
    bool all;
    struct {
        char symbol[SYMBOL_NAME_MAX];
        int64_t mark;
    } marks[SYMBOLS_MAX];
    int n_marks;
};

static void take_mark(void *ctx, const struct db_price_row *row)
{
    struct printing *p = ctx;
    if (p->n_marks == SYMBOLS_MAX)
        return;
    strcpy(p->marks[p->n_marks].symbol, row->symbol->symbol.name);
    p->marks[p->n_marks++].mark = row->price.mark;
}

static int64_t mark_of(const struct printing *p, const char *symbol)
{
    for (int i = 0; i < p->n_marks; i++)
        if (strcmp(p->marks[i].symbol, symbol) == 0)
            return p->marks[i].mark;
    return 0;
}

/* What follows from a row: units of the symbol's scales. */
struct worth {
    int64_t entry, mark; /* price; 0: none */
    int64_t fifo_entry;  /* of the lots still held, first in first out */
    int64_t value, upnl; /* quote; only where there is a mark */
};

static struct worth worth_of(const struct printing *p, const struct db_position_row *row)
{
    const struct symbol *s = &row->symbol->symbol;
    const struct position *held = &row->position;
    int shift = s->price_scale + s->qty_scale - s->quote_scale;
    struct worth worth = {.mark = mark_of(p, s->name)};
    if (held->qty != 0 && shift >= 0 && shift <= DECIMAL_SCALE_MAX) {
        int128_t unit = decimal_pow10(shift), qty = held->qty < 0 ? -held->qty : held->qty;
        worth.entry = (int64_t)((held->cost * unit + qty / 2) / qty);
        worth.fifo_entry = (int64_t)((held->fifo_cost * unit + qty / 2) / qty);
        worth.value = (int64_t)((int128_t)worth.mark * held->qty / unit);
        worth.upnl = worth.value - (held->qty < 0 ? -held->cost : held->cost);
    }
    return worth;
}

static const char *side_of(const struct position *held)
{
    return held->qty < 0 ? "S" : held->qty > 0 ? "L" : "";
}

static json_t *object(const struct db_position_row *row, const struct worth *worth)
{
    const struct symbol *s = &row->symbol->symbol;
    const struct position *held = &row->position;
    bool valued = worth->mark != 0 && held->qty != 0;
    return json_pack(
        "{s:s, s:s, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:I, s:o, s:o, s:o}", "account",
        row->account->name, "symbol", s->name, "side", held->qty == 0 ? NULL : side_of(held), "qty",
        stored_number(held->qty, s->qty_scale), "entry", stored_number_or_null(worth->entry, s->price_scale),
        "mark", stored_number_or_null(worth->mark, s->price_scale), "cost",
        stored_number(held->cost, s->quote_scale), "value",
        valued ? stored_number(worth->value, s->quote_scale) : json_null(), "upnl",
        valued ? stored_number(worth->upnl, s->quote_scale) : json_null(), "realized",
        stored_number(held->realized, s->quote_scale), "fees", stored_number(held->fees, s->quote_scale),
        "quote", s->quote, "opened_ns", held->opened_ns ? json_integer(held->opened_ns) : json_null(),
        "updated_ns", (json_int_t)held->updated_ns, "fifo_entry",
        stored_number_or_null(worth->fifo_entry, s->price_scale), "fifo_cost",
        stored_number(held->fifo_cost, s->quote_scale), "fifo_realized",
        stored_number(held->fifo_realized, s->quote_scale));
}

static void print_position(void *ctx, const struct db_position_row *row)
{
    struct printing *p = ctx;
    const struct symbol *s = &row->symbol->symbol;
    const struct position *held = &row->position;
    enum stored_form form = p->list.form;
    char qty[STORED_CELL], entry[STORED_CELL], mark[STORED_CELL], cost[STORED_CELL], value[STORED_CELL],
        upnl[STORED_CELL], realized[STORED_CELL], fees[STORED_CELL], opened[STORED_CELL],
        updated[STORED_CELL], fifo_entry[STORED_CELL], fifo_cost[STORED_CELL], fifo_realized[STORED_CELL];
    if (held->qty == 0 && !p->all)
        return;
    struct worth worth = worth_of(p, row);
    if (form == STORED_JSON) {
        stored_object(&p->list, object(row, &worth));
        return;
    }
    bool valued = worth.mark != 0 && held->qty != 0;
    const char *const cells[] = {
        row->account->name,
        s->name,
        side_of(held),
        stored_decimal(form, qty, held->qty, s->qty_scale),
        stored_decimal_or_none(form, entry, worth.entry, s->price_scale),
        stored_decimal_or_none(form, mark, worth.mark, s->price_scale),
        stored_decimal(form, cost, held->cost, s->quote_scale),
        valued ? stored_decimal(form, value, worth.value, s->quote_scale) : "",
        valued ? stored_decimal(form, upnl, worth.upnl, s->quote_scale) : "",
        stored_decimal(form, realized, held->realized, s->quote_scale),
        stored_decimal(form, fees, held->fees, s->quote_scale),
        held->opened_ns ? stored_time(form, opened, held->opened_ns) : "",
        stored_time(form, updated, held->updated_ns),
        stored_decimal_or_none(form, fifo_entry, worth.fifo_entry, s->price_scale),
        stored_decimal(form, fifo_cost, held->fifo_cost, s->quote_scale),
        stored_decimal(form, fifo_realized, held->fifo_realized, s->quote_scale),
    };
    stored_row(&p->list, cells);
}

static int run(struct option_call *call)
{
    struct db_reader *reader;
    int r = stored_open("positions", call->state, &reader);
    if (r != EXIT_OK)
        return r;
    struct printing printing = {
        .list = {.name = "positions",
                 .form = stored_form(call),
                 .columns = columns,
                 .n_columns = sizeof columns / sizeof *columns},
        .all = *(const bool *)call->into,
    };
    r = db_reader_begin(reader);
    if (r == 0)
        r = db_reader_prices(reader, take_mark, &printing);
    stored_begin(&printing.list);
    if (r == 0)
        r = db_reader_positions(reader, print_position, &printing);
    db_reader_end(reader);
    stored_end(&printing.list);
    return stored_close("positions", reader, r < 0 ? r : printing.list.r);
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = run}};
static const struct option_row options[] = {{"all", NULL, "closed ones too, for what they realized"}};

const struct option_verb cli_positions = {
    .name = "positions",
    .words = "what is held now",
    .about =
        "What is held now, short positions below zero, at average cost, and what it is worth at the last "
        "stored mark. Money is in the symbol's quote asset; cost, realized and upnl are without fees.",
    .page = "trading",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(bool),
};

#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

#include "cli/stored.h"
#include "record/account.h"
#include "record/print.h"

static const struct stored_column columns[] = {
    {"account", -10},     {"symbol", -10},   {"side", -4},       {"qty", 14},
    {"entry", 14},        {"mark", 14},      {"cost", 16},       {"value", 16},
    {"upnl", 14},         {"realized", 14},  {"fees", 12},       {"quote", STORED_JSON_ONLY},
    {"opened_ns", -24},   {"updated_ns", 0}, {"fifo_entry", 14}, {"fifo_cost", 0},
    {"fifo_realized", 0},
};

struct printing {
    struct stored_list *list;
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

/* A position, and what follows from it: units of the symbol's scales. */
struct shown {
    int account, symbol;
    const char *side, *quote;
    int64_t entry, mark; /* price; 0: none */
    int64_t fifo_entry;  /* of the lots still held, first in first out */
    int64_t value, upnl; /* quote; INT64_MIN: there is no mark */
    struct position held;
};

#define HELD(member, ...) RECORD_FIELD_(held.member, __VA_ARGS__)
#define ROW               struct shown
static const struct record_field fields[] = {PRINT_AS(ACCOUNT, REQUIRED, account, "account"),
                                             PRINT_AS(SYMBOL, REQUIRED, symbol, "symbol"),
                                             PRINT_AS(STRING, OPTIONAL, side, "side"),
                                             PRINT_PRICE_OR_NONE(entry, "entry"),
                                             PRINT_PRICE_OR_NONE(mark, "mark"),
                                             PRINT_AS(QUOTE, ABSENT, value, "value"),
                                             PRINT_AS(QUOTE, ABSENT, upnl, "upnl"),
                                             PRINT_AS(STRING, REQUIRED, quote, "quote"),
                                             PRINT_PRICE_OR_NONE(fifo_entry, "fifo_entry"),
                                             RECORD_HOLDING(HELD, HELD)};
static const struct record record = RECORD_OF("positions", fields);
#undef ROW

static struct shown shown_of(const struct printing *p, const struct db_position_row *row)
{
    const struct symbol *s = &row->symbol->symbol;
    const struct position *held = &row->position;
    int shift = s->price_scale + s->qty_scale - s->quote_scale;
    struct shown shown = {.side = held->qty < 0   ? "S"
                                  : held->qty > 0 ? "L"
                                                  : "",
                          .quote = s->quote,
                          .mark = mark_of(p, s->name),
                          .value = INT64_MIN,
                          .upnl = INT64_MIN,
                          .held = *held};
    if (held->qty == 0 || shift < 0 || shift > DECIMAL_SCALE_MAX)
        return shown;
    int128_t unit = decimal_pow10(shift), qty = held->qty < 0 ? -held->qty : held->qty;
    shown.entry = (int64_t)((held->cost * unit + qty / 2) / qty);
    shown.fifo_entry = (int64_t)((held->fifo_cost * unit + qty / 2) / qty);
    if (shown.mark != 0) {
        shown.value = (int64_t)((int128_t)shown.mark * held->qty / unit);
        shown.upnl = shown.value - (held->qty < 0 ? -held->cost : held->cost);
    }
    return shown;
}

static void print_position(void *ctx, const struct db_position_row *row)
{
    struct printing *p = ctx;
    if (row->position.qty == 0 && !p->all)
        return;
    struct shown shown = shown_of(p, row);
    cli_stored_record_row(p->list, &shown,
                          &(struct record_context){&row->symbol->symbol, row->account->name});
}

static int read(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    struct printing printing = {.list = list, .all = *(const bool *)call->into};
    int r = db_reader_prices(reader, take_mark, &printing);

    return r == 0 ? db_reader_positions(reader, print_position, &printing) : r;
}

static int run(struct option_call *call)
{
    struct stored_list list =
        cli_stored_list_of(&record, columns, sizeof columns / sizeof *columns, cli_stored_form(call), NULL);
    return cli_stored_print_list(call, "positions", &list, read);
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = run}};
static const struct option_row options[] = {{"all", NULL, "closed ones too, for what they realized"}};

CLI_VERB(cli_positions) = {
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

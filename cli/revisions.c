#include "cli/verbs.h"

#include <stdio.h>

#include "cli/selected.h"
#include "db/records.h"

static const struct stored_column revision_columns[] = {
    {"revision", 8},       {"ts_ns", -24},        {"symbol", -10},       {"kind", -10},
    {"source", -6},        {"at_ns", -24},        {"trade", 12},         {"new_trade", 0},
    {"old_price", 12},     {"old_qty", 12},       {"price", 12},         {"qty", 12},
    {"bar_ns", 0},         {"bar_old_open", 0},   {"bar_old_high", 0},   {"bar_old_low", 0},
    {"bar_old_close", 12}, {"bar_old_volume", 0}, {"bar_old_trades", 0}, {"bar_new_open", 0},
    {"bar_new_high", 0},   {"bar_new_low", 0},    {"bar_new_close", 12}, {"bar_new_volume", 0},
    {"bar_new_trades", 0}, {"applied", 7},        {"code", -8},
};

enum { BAR_CELLS = 6 };

/* The cells of a bar; empty ones for none. */
static void bar_cells(enum stored_form form, bool known, const struct bar *bar, const struct symbol *s,
                      char cell[BAR_CELLS][STORED_CELL])
{
    const int64_t prices[] = {bar->open, bar->high, bar->low, bar->close};

    for (int i = 0; i < BAR_CELLS; i++)
        cell[i][0] = '\0';
    if (!known)
        return;
    for (int i = 0; i < 4; i++)
        cli_stored_decimal(form, cell[i], prices[i], s->price_scale);
    cli_stored_decimal(form, cell[4], bar->volume, s->qty_scale);
    cli_stored_integer(cell[5], bar->trades);
}

static json_t *bar_object(bool known, const struct bar *bar, const struct symbol *s)
{
    if (!known)
        return json_null();
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:I}", "open_ns", (json_int_t)bar->open_ns, "open",
                     decimal_json(bar->open, s->price_scale), "high", decimal_json(bar->high, s->price_scale),
                     "low", decimal_json(bar->low, s->price_scale), "close",
                     decimal_json(bar->close, s->price_scale), "volume",
                     decimal_json(bar->volume, s->qty_scale), "trades", (json_int_t)bar->trades);
}

static json_t *revision_object(const struct db_revision_row *row)
{
    const struct db_revision *r = &row->revision;
    const struct market_correction *trade = &r->correction;
    const struct symbol *s = &row->symbol->symbol;
    bool of_trade = r->kind != REVISION_BAR, corrects = r->kind == REVISION_CORRECTION;

    return json_pack("{s:I, s:I, s:s, s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:s?}",
                     "revision", (json_int_t)row->revision.id, "ts_ns", (json_int_t)r->ts_ns, "venue",
                     row->symbol->venue, "symbol", s->name, "kind", db_revision_name(r->kind), "source",
                     r->source == BAR_VENUE ? "venue" : "trades", "at_ns", (json_int_t)r->at_ns, "trade",
                     of_trade ? json_integer(trade->id) : json_null(), "new_trade",
                     corrects ? json_integer(trade->new_id) : json_null(), "old_price",
                     cli_stored_number_or_null(trade->old_price, s->price_scale), "old_qty",
                     cli_stored_number_or_null(trade->old_qty, s->qty_scale), "price",
                     cli_stored_number_or_null(corrects ? trade->price : 0, s->price_scale), "qty",
                     cli_stored_number_or_null(corrects ? trade->qty : 0, s->qty_scale), "bar_old",
                     bar_object(r->has_old, &r->old, s), "bar_new", bar_object(r->has_now, &r->now, s),
                     "applied", r->applied, "code", *trade->code ? trade->code : NULL);
}

static void print_revision(void *ctx, const struct db_revision_row *row)
{
    enum { ID, TIME, AT, TRADE, NEW, OLD_PRICE, OLD_QTY, PRICE, QTY, BAR, CELLS };
    struct stored_list *list = ctx;
    const struct db_revision *r = &row->revision;
    const struct market_correction *trade = &r->correction;
    const struct symbol *s = &row->symbol->symbol;
    bool of_trade = r->kind != REVISION_BAR, corrects = r->kind == REVISION_CORRECTION,
         has_bar = r->has_old || r->has_now;
    enum stored_form form = list->form;
    char cell[CELLS][STORED_CELL], old[BAR_CELLS][STORED_CELL], now[BAR_CELLS][STORED_CELL];

    if (form == STORED_JSON) {
        cli_stored_object(list, revision_object(row));
        return;
    }
    bar_cells(form, r->has_old, &r->old, s, old);
    bar_cells(form, r->has_now, &r->now, s, now);
    const char *const cells[] = {
        cli_stored_integer(cell[ID], (long long)row->revision.id),
        cli_stored_time(form, cell[TIME], r->ts_ns),
        s->name,
        db_revision_name(r->kind),
        r->source == BAR_VENUE ? "venue" : "trades",
        cli_stored_time(form, cell[AT], r->at_ns),
        of_trade ? cli_stored_integer(cell[TRADE], trade->id) : "",
        corrects ? cli_stored_integer(cell[NEW], trade->new_id) : "",
        cli_stored_decimal_or_none(form, cell[OLD_PRICE], trade->old_price, s->price_scale),
        cli_stored_decimal_or_none(form, cell[OLD_QTY], trade->old_qty, s->qty_scale),
        cli_stored_decimal_or_none(form, cell[PRICE], corrects ? trade->price : 0, s->price_scale),
        cli_stored_decimal_or_none(form, cell[QTY], corrects ? trade->qty : 0, s->qty_scale),
        has_bar ? cli_stored_time(form, cell[BAR], r->has_old ? r->old.open_ns : r->now.open_ns) : "",
        old[0],
        old[1],
        old[2],
        old[3],
        old[4],
        old[5],
        now[0],
        now[1],
        now[2],
        now[3],
        now[4],
        now[5],
        r->applied ? "1" : "0",
        trade->code,
    };
    _Static_assert(sizeof cells / sizeof *cells == sizeof revision_columns / sizeof *revision_columns,
                   "a cell a column");
    cli_stored_row(list, cells);
}

static const char *venue_of(const void *row, const struct record_context *context)
{
    (void)row;
    return context->symbol->venue;
}

static const struct stored_column action_columns[] = {
    {"action", 6},
    {"ts_ns", -24},
    {"venue", STORED_JSON_ONLY, .derived = venue_of},
    {"symbol", -10},
    {"kind", -8},
    {"ex_ns", -24},
    {"shares", 8},
    {"per", 8},
    {"cash", 12},
    {"id", -1},
    {"input_seq", STORED_JSON_ONLY},
    {"record_ns", 0},
    {"pay_ns", 0},
};

static void print_action(void *ctx, const struct db_action_row *row)
{
    cli_stored_record_row(ctx, &row->action, &(struct record_context){.symbol = &row->symbol->symbol});
}

/* ---- both ---- */

/* The symbol that is named; NULL for all. */
static const char *symbol_of(const struct option_call *call, char name[static SYMBOL_NAME_MAX])
{
    return call->n > 0 ? cli_stored_symbol(call->arguments[0], name) : NULL;
}

static int read_revisions(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    char name[SYMBOL_NAME_MAX];

    return db_reader_revisions(reader, symbol_of(call, name), INT64_MIN, INT64_MAX, print_revision, list);
}

static int revisions(struct option_call *call)
{
    struct stored_list list = {.name = "revisions",
                               .form = cli_stored_form(call),
                               .columns = revision_columns,
                               .n_columns = sizeof revision_columns / sizeof *revision_columns};

    static const struct db_selected selected = {"revisions", NULL, "ts_ns"};
    return cli_selected_print_list(call, "revisions", &list, call->into, &selected, read_revisions);
}

static int read_actions(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    char name[SYMBOL_NAME_MAX];

    return db_reader_actions(reader, symbol_of(call, name), print_action, list);
}

static int actions(struct option_call *call)
{
    struct stored_list list =
        cli_stored_list_of(&db_record_actions, action_columns, sizeof action_columns / sizeof *action_columns,
                           cli_stored_form(call), NULL);

    list.name = "actions";
    static const struct db_selected selected = {"corporate_actions", NULL, "ts_ns"};
    return cli_selected_print_list(call, "actions", &list, call->into, &selected, read_actions);
}

static const struct option_action revisions_rows[] =
    {{.arguments = "[SYMBOL]", .need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = revisions}},
                                  actions_rows[] = {{.arguments = "[SYMBOL]",
                                                     .need = OPTION_NEEDS_STATE,
                                                     OPTION_LISTS,
                                                     .run = actions}};
static const struct option_row options[] = {
    SELECTED_PERIOD("reported"),
    SELECTED_MOMENT(),
};
static const struct option_row action_options[] = {
    SELECTED_PERIOD("taken effect"),
    SELECTED_MOMENT(),
};
static const struct option_refusal refused[] = {
    SELECTED_REFUSED_ACCOUNT("what a venue reports is of a symbol, not of an account")};

CLI_VERB(cli_revisions) = {
    .name = "revisions",
    .words = "corrected and cancelled trades, and late bars",
    .about =
        "What venues changed after they had reported it, oldest first: corrected and cancelled trades, and "
        "bars that came late or again, with the bar that each belongs to before and after. papertape bars "
        "has the new numbers; what was decided stays decided. applied 0: that bar is not kept any more, and "
        "stays as it was.",
    .page = "market",
    OPTION_ACTIONS(revisions_rows),
    OPTION_OPTIONS(options),
    OPTION_REFUSED(refused),
    .size = sizeof(struct db_selection),
    .init = cli_selected_init,
};

CLI_VERB(cli_actions) = {
    .name = "actions",
    .words = "splits and dividends that took effect",
    .about =
        "Splits and dividends that took effect here, oldest first. A split gives `shares` new shares for "
        "`per` old ones; a dividend `cash` a share, in the quote.",
    .page = "market",
    OPTION_ACTIONS(actions_rows),
    OPTION_OPTIONS(action_options),
    OPTION_REFUSED(refused),
    .size = sizeof(struct db_selection),
    .init = cli_selected_init,
};

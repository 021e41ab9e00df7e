#include "cli/verbs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/stored.h"
#include "exchange/bars_file.h"
#include "exchange/exit_status.h"

static const char revisions_help[] =
    "Usage: papertape revisions [SYMBOL] [--from T] [--to T] [--csv|--json] [--state DIR]\n"
    "\n"
    "What venues changed after they had told it: corrected and cancelled trades, and bars that came late or\n"
    "again, oldest first. papertape bars has the new numbers; what was decided stays decided.\n"
    "\n"
    "  --from T, --to T  when it was told, both included: ISO 8601 (UTC without a zone), or epoch s, ms, us, "
    "ns\n"
    "  --csv             exact decimals, times in ns\n"
    "  --json            papertape.revisions/1; what is not known is null\n"
    "  --state DIR       the daemon's state directory\n"
    "\n"
    "bar_*: the bar that it belongs to, before and after; applied 0: that bar is not kept any more, and "
    "stays\n"
    "as it was.\n";

static const char actions_help[] = "Usage: papertape actions [SYMBOL] [--csv|--json] [--state DIR]\n"
                                   "\n"
                                   "Splits and dividends that took effect here, oldest first. A split gives "
                                   "`shares` new shares for `per` old\n"
                                   "ones; a dividend `cash` a share, in the quote.\n"
                                   "\n"
                                   "  --csv        exact decimals, times in ns\n"
                                   "  --json       papertape.actions/1; what does not apply is null\n"
                                   "  --state DIR  the daemon's state directory\n";

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
        stored_decimal(form, cell[i], prices[i], s->price_scale);
    stored_decimal(form, cell[4], bar->volume, s->qty_scale);
    stored_integer(cell[5], bar->trades);
}

static json_t *bar_object(bool known, const struct bar *bar, const struct symbol *s)
{
    if (!known)
        return json_null();
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:I}", "open_ns", (json_int_t)bar->open_ns, "open",
                     stored_number(bar->open, s->price_scale), "high",
                     stored_number(bar->high, s->price_scale), "low", stored_number(bar->low, s->price_scale),
                     "close", stored_number(bar->close, s->price_scale), "volume",
                     json_real((double)bar->volume / (double)decimal_pow10(s->qty_scale)), "trades",
                     (json_int_t)bar->trades);
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
                     stored_number_or_null(trade->old_price, s->price_scale), "old_qty",
                     stored_number_or_null(trade->old_qty, s->qty_scale), "price",
                     stored_number_or_null(corrects ? trade->price : 0, s->price_scale), "qty",
                     stored_number_or_null(corrects ? trade->qty : 0, s->qty_scale), "bar_old",
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
        stored_object(list, revision_object(row));
        return;
    }
    bar_cells(form, r->has_old, &r->old, s, old);
    bar_cells(form, r->has_now, &r->now, s, now);
    const char *const cells[] = {
        stored_integer(cell[ID], (long long)row->revision.id),
        stored_time(form, cell[TIME], r->ts_ns),
        s->name,
        db_revision_name(r->kind),
        r->source == BAR_VENUE ? "venue" : "trades",
        stored_time(form, cell[AT], r->at_ns),
        of_trade ? stored_integer(cell[TRADE], trade->id) : "",
        corrects ? stored_integer(cell[NEW], trade->new_id) : "",
        stored_decimal_or_none(form, cell[OLD_PRICE], trade->old_price, s->price_scale),
        stored_decimal_or_none(form, cell[OLD_QTY], trade->old_qty, s->qty_scale),
        stored_decimal_or_none(form, cell[PRICE], corrects ? trade->price : 0, s->price_scale),
        stored_decimal_or_none(form, cell[QTY], corrects ? trade->qty : 0, s->qty_scale),
        has_bar ? stored_time(form, cell[BAR], r->has_old ? r->old.open_ns : r->now.open_ns) : "",
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
    stored_row(list, cells);
}

static const struct stored_column action_columns[] = {
    {"action", 6}, {"ts_ns", -24}, {"symbol", -10}, {"kind", -8}, {"ex_ns", -24},
    {"shares", 8}, {"per", 8},     {"cash", 12},    {"id", -1},
};

static void print_action(void *ctx, const struct db_action_row *row)
{
    enum { ID, TIME, EX, SHARES, PER, CASH, CELLS };
    struct stored_list *list = ctx;
    const struct corporate_action *a = &row->action.action;
    const struct symbol *s = &row->symbol->symbol;
    bool split = a->kind == ACTION_SPLIT;
    char cell[CELLS][STORED_CELL];

    if (list->form == STORED_JSON) {
        stored_object(list, json_pack("{s:I, s:I, s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:s, s:I}", "action",
                                      (json_int_t)row->action.id, "ts_ns", (json_int_t)row->action.ts_ns,
                                      "venue", row->symbol->venue, "symbol", s->name, "kind",
                                      corporate_action_name(a->kind), "ex_ns", (json_int_t)a->ex_ns, "shares",
                                      split ? json_integer(a->shares) : json_null(), "per",
                                      split ? json_integer(a->per) : json_null(), "cash",
                                      split ? json_null() : stored_number(a->cash, ACTION_CASH_SCALE), "id",
                                      a->id, "input_seq", (json_int_t)row->action.input_seq));
        return;
    }
    const char *const cells[] = {
        stored_integer(cell[ID], (long long)row->action.id),
        stored_time(list->form, cell[TIME], row->action.ts_ns),
        s->name,
        corporate_action_name(a->kind),
        stored_time(list->form, cell[EX], a->ex_ns),
        split ? stored_integer(cell[SHARES], a->shares) : "",
        split ? stored_integer(cell[PER], a->per) : "",
        split ? "" : stored_decimal(list->form, cell[CASH], a->cash, ACTION_CASH_SCALE),
        a->id,
    };
    stored_row(list, cells);
}

/* ---- both ---- */

static bool parse_time(const char *option, const char *text, int64_t *ret_ns)
{
    if (!text || bars_time_parse(text, strlen(text), ret_ns) == 0)
        return true;
    char what[96];
    snprintf(what, sizeof what, "%s: \"%.64s\"", option, text);
    stored_fail(EXIT_USAGE, "revisions", what,
                "a time as 2024-08-08, 2024-08-08T14:02:00Z or 1723125720 is needed");
    return false;
}

/* The symbol's name, if one is given; NULL for all. */
static const char *named(int argc, char **argv, int first, char name[static SYMBOL_NAME_MAX])
{
    if (first == argc)
        return NULL;
    size_t n = 0;
    for (; argv[first][n] && n < SYMBOL_NAME_MAX - 1; n++)
        name[n] = (char)toupper((unsigned char)argv[first][n]);
    name[n] = '\0';
    return name;
}

static int run_revisions(int argc, char **argv)
{
    struct stored_options options;
    struct db_reader *reader;
    char name[SYMBOL_NAME_MAX];
    int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;

    int r = stored_options(argc, argv, "csv json from to", revisions_help, &options);
    if (r != EXIT_OK || options.done)
        return r;
    if (argc - options.first > 1)
        return stored_fail(EXIT_USAGE, "revisions", argv[options.first + 1],
                           "one symbol, or none, is expected");
    if (!parse_time("--from", options.from, &from_ns) || !parse_time("--to", options.to, &to_ns))
        return EXIT_USAGE;
    r = stored_open("revisions", options.state, &reader);
    if (r != EXIT_OK)
        return r;
    const char *symbol = named(argc, argv, options.first, name);
    struct db_symbol_row ignored;
    r = symbol ? db_reader_symbol(reader, symbol, &ignored) : 0;
    if (r < 0)
        return stored_close("revisions", reader, r);
    struct stored_list list = {.name = "revisions",
                               .form = options.form,
                               .columns = revision_columns,
                               .n_columns = sizeof revision_columns / sizeof *revision_columns};
    stored_begin(&list);
    r = db_reader_revisions(reader, symbol, from_ns, to_ns, print_revision, &list);
    stored_end(&list);
    return stored_close("revisions", reader, r < 0 ? r : list.r);
}

static int run_actions(int argc, char **argv)
{
    struct stored_options options;
    struct db_reader *reader;
    char name[SYMBOL_NAME_MAX];

    int r = stored_options(argc, argv, "csv json", actions_help, &options);
    if (r != EXIT_OK || options.done)
        return r;
    if (argc - options.first > 1)
        return stored_fail(EXIT_USAGE, "actions", argv[options.first + 1],
                           "one symbol, or none, is expected");
    r = stored_open("actions", options.state, &reader);
    if (r != EXIT_OK)
        return r;
    const char *symbol = named(argc, argv, options.first, name);
    struct db_symbol_row ignored;
    r = symbol ? db_reader_symbol(reader, symbol, &ignored) : 0;
    if (r < 0)
        return stored_close("actions", reader, r);
    struct stored_list list = {.name = "actions",
                               .form = options.form,
                               .columns = action_columns,
                               .n_columns = sizeof action_columns / sizeof *action_columns};
    stored_begin(&list);
    r = db_reader_actions(reader, symbol, print_action, &list);
    stored_end(&list);
    return stored_close("actions", reader, r < 0 ? r : list.r);
}

const struct option_verb cli_revisions = {
    .name = "revisions", .words = "corrected and cancelled trades, and late bars", .run = run_revisions};

const struct option_verb cli_actions = {
    .name = "actions", .words = "splits and dividends that took effect", .run = run_actions};

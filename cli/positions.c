#include "cli/verbs.h"

#include "cli/selected.h"
#include "db/position_list.h"

static const struct stored_column columns[] = {
    {"account", -10},     {"symbol", -10},     {"side", -4},       {"qty", 14},
    {"entry", 14},        {"mark", 14},        {"cost", 16},       {"value", 16},
    {"upnl", 14},         {"realized", 14},    {"fees", 12},       {"quote", STORED_JSON_ONLY},
    {"opened_ns", -24},   {"updated_ns", 0},   {"fifo_entry", 14}, {"fifo_cost", 0},
    {"fifo_realized", 0}, {"mark_ts_ns", -24},
};

struct asked {
    struct db_selection selection;
    bool all;
};

static const struct db_selected selected = {NULL};

static void print_position(void *ctx, const struct db_position_shown *row,
                           const struct record_context *context)
{
    cli_stored_record_row(ctx, row, context);
}

static int read(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    const struct asked *asked = call->into;
    return db_position_list_read(reader, asked->selection.account, asked->all, print_position, list);
}

static int run(struct option_call *call)
{
    struct stored_list list = cli_stored_list_of(
        &db_positions_shown, columns, sizeof columns / sizeof *columns, cli_stored_form(call), NULL);
    return cli_selected_print_list(call, "positions", &list, call->into, &selected, read);
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = run}};
static const struct option_row options[] = {
    {"all", NULL, "closed ones too, for what they realized", offsetof(struct asked, all)},
    SELECTED_ACCOUNT(),
    SELECTED_MOMENT(),
};
static const struct option_refusal refused[] = {
    SELECTED_REFUSED_PERIOD("positions are what is held at one moment: --at T")};

CLI_VERB(cli_positions) = {
    .name = "positions",
    .words = "what is held now",
    .about =
        "What is held now, or was at --at, short positions below zero, at average cost, and what it is worth at the last "
        "stored mark, which was made at mark_ts. Money is in the symbol's quote asset; cost, realized and upnl are without fees.",
    .page = "trading",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_REFUSED(refused),
    .size = sizeof(struct asked),
    .init = cli_selected_init,
};

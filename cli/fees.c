#include "cli/verbs.h"

#include "cli/selected.h"
#include "cli/stored.h"
#include "exchange/exit_status.h"
#include "exchange/fees.h"
#include "record/print.h"

struct row {
    const char *venue, *tier, *who;
    struct fee_rates rates;
};

#define ROW struct row
static const struct record record = PRINT_RECORD(
    PRINT_AS(STRING, REQUIRED, venue, "venue"), PRINT_AS(STRING, REQUIRED, tier, "tier"),
    PRINT_AS(SHARE_E6, REQUIRED, rates.maker_e6, "maker"),
    PRINT_AS(SHARE_E6, REQUIRED, rates.taker_e6, "taker"), PRINT_AS(STRING, REQUIRED, who, "who"));
#undef ROW

static const struct stored_column columns[] = {
    {"venue", -8}, {"tier", -8}, {"maker", 8}, {"taker", 8}, {"who", -40},
};

static int run(struct option_call *call)
{
    const struct fee_schedule *schedule;
    struct stored_list list =
        cli_stored_list_of(&record, columns, sizeof columns / sizeof *columns, cli_stored_form(call), NULL);

    list.name = "fees";
    for (size_t i = 0; (schedule = fee_schedule(i)); i++)
        for (const struct fee_tier *tier = schedule->tiers; tier < schedule->tiers + schedule->n; tier++)
            cli_stored_record_row(&list, &(struct row){schedule->venue, tier->name, tier->who, tier->rates},
                                  &(struct record_context){0});
    cli_stored_end(&list);
    return list.r < 0 ? option_fail(call, EXIT_ERROR, "it cannot be written") : EXIT_OK;
}

static const struct option_action actions[] = {{OPTION_LISTS, .run = run}};

static const struct option_refusal refused[] = {
    SELECTED_REFUSED_ALL("what venues charge is of this program, not of a state: fills have what was paid")};

CLI_VERB(cli_fees) = {
    .name = "fees",
    .words = "what venues charge, by tier",
    .about =
        "The tiers of fees that this program knows, by venue: shares of a fill's notional. An account is "
        "charged by one with `fees = TIER` in its section, `account create --fees TIER` and `backtest --fees "
        "TIER`.",
    .page = "accounts",
    OPTION_ACTIONS(actions),
    OPTION_REFUSED(refused),
};

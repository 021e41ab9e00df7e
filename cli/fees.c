#include "cli/verbs.h"

#include "cli/stored.h"
#include "exchange/decimal.h"
#include "exchange/exit_status.h"
#include "exchange/fees.h"

enum { E6 = 6 };

static const struct stored_column columns[] = {
    {"venue", -8}, {"tier", -8}, {"maker", 8}, {"taker", 8}, {"who", -40},
};

static void print_tier(struct stored_list *list, const char *venue, const struct fee_tier *tier)
{
    char maker[STORED_CELL], taker[STORED_CELL];
    if (list->form == STORED_JSON) {
        cli_stored_object(list, json_pack("{s:s, s:s, s:o, s:o, s:s}", "venue", venue, "tier", tier->name,
                                          "maker", cli_stored_number(tier->rates.maker_e6, E6), "taker",
                                          cli_stored_number(tier->rates.taker_e6, E6), "who", tier->who));
        return;
    }
    const char *const cells[] = {venue, tier->name,
                                 cli_stored_decimal(list->form, maker, tier->rates.maker_e6, E6),
                                 cli_stored_decimal(list->form, taker, tier->rates.taker_e6, E6), tier->who};
    cli_stored_row(list, cells);
}

static int run(struct option_call *call)
{
    const struct fee_schedule *schedule;
    struct stored_list list = {.name = "fees",
                               .form = cli_stored_form(call),
                               .columns = columns,
                               .n_columns = sizeof columns / sizeof *columns};

    for (size_t i = 0; (schedule = fee_schedule(i)); i++)
        for (size_t t = 0; t < schedule->n; t++)
            print_tier(&list, schedule->venue, &schedule->tiers[t]);
    cli_stored_end(&list);
    return list.r < 0 ? option_fail(call, EXIT_ERROR, "it cannot be written") : EXIT_OK;
}

static const struct option_action actions[] = {{OPTION_LISTS, .run = run}};

CLI_VERB(cli_fees) = {
    .name = "fees",
    .words = "what venues charge, by tier",
    .about =
        "The tiers of fees that this program knows, by venue: shares of a fill's notional. An account is "
        "charged "
        "by one with `fees = TIER` in its section, `account create --fees TIER` and `backtest --fees TIER`.",
    .page = "accounts",
    OPTION_ACTIONS(actions),
};

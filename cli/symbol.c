#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/text.h"
#include "exchange/exit_status.h"

/* ---- the list ---- */

static const struct stored_column columns[] = {
    {"name", -16},
    {"venue", -12},
    {"streamed", -8},
    {"calendar", -12},
};

static void take(void *ctx, const struct db_symbol_row *row)
{
    const char *calendar = row->symbol.calendar;
    json_t *object = json_pack("{s:s, s:s, s:o, s:s?}", "name", row->symbol.name, "venue", row->venue,
                               "streamed", row->streamed < 0 ? json_null() : json_boolean(row->streamed),
                               "calendar", *calendar ? calendar : NULL);

    cli_answer_take(ctx, object);
}

static int read_symbols(struct db_reader *reader, struct answer_reading *reading)
{
    return db_reader_symbols(reader, take, reading);
}

static void prepare(enum stored_form form, json_t *row)
{
    const json_t *streamed = json_object_get(row, "streamed");

    (void)form;
    if (json_is_boolean(streamed))
        json_object_set_new(row, "streamed", json_string(json_is_true(streamed) ? "yes" : "no"));
}

static const struct answer_source source = {"symbol_list", "symbols", "symbol",
                                            read_symbols,  columns,   (int)(sizeof columns / sizeof *columns),
                                            prepare};

static int list(struct option_call *call)
{
    return cli_answer_list("symbol", call->state, &source, NULL, cli_stored_form(call));
}

/* ---- add, remove ---- */

static void print_done(const struct option_call *call, const json_t *result)
{
    const char *name = cli_answer_text(result, "symbol"), *venue = cli_answer_text(result, "venue");
    char symbol[SYMBOL_NAME_MAX];

    fprintf(call->out, "%s ", strcmp(call->word, "add") == 0 ? "added" : "removed");
    cli_text_print(call->out, *name ? name : cli_stored_symbol(call->arguments[0], symbol));
    if (*venue) {
        fputs(" of ", call->out);
        cli_text_print(call->out, venue);
    }
    fputs(json_is_true(json_object_get(result, "repeated")) ? " (done before)\n" : "\n", call->out);
    long long waiting = json_integer_value(json_object_get(result, "price_alerts"));
    if (waiting > 0)
        fprintf(call->out, "price alerts of it: %lld, which wait until it is streamed again\n", waiting);
}

static int change(struct option_call *call)
{
    char symbol[SYMBOL_NAME_MAX];
    json_t *result = NULL;

    if (!*call->arguments[0] || strlen(call->arguments[0]) >= sizeof symbol)
        return option_fail(call, EXIT_USAGE, "%.64s: a symbol's name has 1 to 23 characters",
                           call->arguments[0]);
    int r = cli_ask_args_put(call, "symbol", cli_stored_symbol(call->arguments[0], symbol));
    if (r == EXIT_OK)
        r = cli_ask_args_send(call, strcmp(call->word, "add") == 0 ? "symbol_add" : "symbol_remove", &result);
    return cli_ask_done(call, r, "papertape.symbol/1", result, print_done);
}

static const struct option_action actions[] = {
    {"list", NULL, "every symbol that is or was streamed, of which venue, in which calendar's sessions",
     .need = OPTION_NEEDS_EITHER, OPTION_LISTS, .run = list},
    {"add", "SYMBOL",
     "streams it once its venue has confirmed that it lists it; an unknown name is answered with the "
     "nearest",
     "SOLUSDT", OPTION_NEEDS_DAEMON, .acts = true, .run = change},
    {"remove", "SYMBOL", "refused while an account holds it, is short of it, or has an order in it",
     "SOLUSDT", OPTION_NEEDS_DAEMON, .acts = true, .run = change},
};

static const struct option_row options[] = {
    {"venue", "VENUE", "whose; left out: the venue whose names look like it, or the first",
     .take = cli_ask_args_take, .of = "add"},
    {"key", "K", "given again with the same key, the command is not executed twice",
     .take = cli_ask_args_take, .of = "add remove"},
};

static const struct option_refusal refused[] = {
    SELECTED_REFUSED_ALL("symbols are of the market, and listed as they are now")};

CLI_VERB(cli_symbol) = {
    .name = "symbol",
    .words = "what is streamed: list, add, remove",
    .about = "What the daemon streams, changed while it runs; it holds over restarts, whatever the "
             "configuration says.",
    .exits = "0 of add and remove once the daemon has committed it, 1 when it was refused, with the reason.",
    .page = "market",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_REFUSED(refused),
    ASK_ARGS,
};

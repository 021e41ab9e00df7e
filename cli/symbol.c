#include "cli/verbs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/text.h"
#include "cli/told.h"
#include "exchange/exit_status.h"

static const char help[] =
    "Usage: papertape symbol list [--csv|--json] [--state DIR]\n"
    "       papertape symbol add SYMBOL [--venue V] [--key K] [--state DIR]\n"
    "       papertape symbol remove SYMBOL [--key K] [--state DIR]\n"
    "\n"
    "What the daemon streams, changed while it runs; it holds over restarts, whatever the configuration "
    "says.\n"
    "Exit status 0 once the daemon has committed it, 1 when it was refused, with the reason.\n"
    "\n"
    "  list    every symbol that is or was streamed; without a daemon as the database last had them, exit\n"
    "          status 3\n"
    "  add     once its venue has confirmed that it lists it; an unknown name is answered with the nearest\n"
    "  remove  refused while an account holds it, owes it, or has an order in it\n"
    "\n"
    "  --venue V      whose; left out: the venue whose names look like it, or the first\n"
    "  --key K        given again with the same key, nothing is done twice\n"
    "  --csv, --json  papertape.symbols/1 of the list; what is not known is null\n"
    "  --state DIR    the daemon's state directory\n";

struct wish {
    const char *state, *venue, *key;
    bool csv, json;
};

/* ---- the list ---- */

static const struct stored_column columns[] = {
    {"name", -16}, {"venue", -12}, {"streamed", -8}, {"calendar", -12}};

struct reading {
    json_t *rows;
    int r;
};

static void take(void *ctx, const struct db_symbol_row *row)
{
    struct reading *reading = ctx;
    const char *calendar = row->symbol.calendar;
    json_t *object = json_pack("{s:s, s:s, s:o, s:s?}", "name", row->symbol.name, "venue", row->venue,
                               "streamed", row->streamed < 0 ? json_null() : json_boolean(row->streamed),
                               "calendar", *calendar ? calendar : NULL);

    if (json_array_append_new(reading->rows, object) < 0)
        reading->r = -ENOMEM;
}

static int read_symbols(struct db_reader *reader, int64_t now_ns, json_t *rows)
{
    struct reading reading = {.rows = rows};
    int r = db_reader_symbols(reader, take, &reading);

    (void)now_ns;
    return r < 0 ? r : reading.r;
}

static const struct told_source source = {"symbol_list", "symbols", "symbol", read_symbols};

static void print_row(struct stored_list *list, const json_t *row)
{
    const json_t *streamed = json_object_get(row, "streamed");
    const char *const cells[] = {
        told_text(row, "name"),
        told_text(row, "venue"),
        json_is_true(streamed)    ? "yes"
        : json_is_false(streamed) ? "no"
                                  : "",
        told_text(row, "calendar"),
    };
    stored_row(list, cells);
}

static int list_symbols(const struct wish *wish)
{
    enum stored_form form = wish->json ? STORED_JSON : wish->csv ? STORED_CSV : STORED_TABLE;
    struct stored_list list = {
        .name = "symbols", .form = form, .columns = columns, .n_columns = sizeof columns / sizeof *columns};

    return told_list("symbol", "papertape.symbols/1", wish->state, &source, &list, print_row);
}

/* ---- add, remove ---- */

/* The daemon speaks of args.NAME where the command line has words and options. */
static void say(const struct control_error *error)
{
    static const struct {
        const char *from, *to;
    } words[] = {{"args.symbol: ", ""}, {"args.venue", "--venue"}, {"args.key", "--key"}};
    struct control_error shown = *error;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(error->message, words[i].from, strlen(words[i].from)) == 0)
            snprintf(shown.message, sizeof shown.message, "%s%s", words[i].to,
                     error->message + strlen(words[i].from));
    ask_say("symbol", &shown);
}

static int change(const char *word, const char *symbol, const struct wish *wish)
{
    bool adds = strcmp(word, "add") == 0;
    json_t *result, *args = json_pack("{s:s}", "symbol", symbol);
    struct control_error error;

    if (args && wish->venue)
        json_object_set_new(args, "venue", json_string(wish->venue));
    if (args && wish->key)
        json_object_set_new(args, "key", json_string(wish->key));
    if (!args || (wish->venue && !json_object_get(args, "venue")) ||
        (wish->key && !json_object_get(args, "key"))) {
        json_decref(args);
        return ask_usage("symbol", "names must be UTF-8");
    }
    int r = ask_quietly(wish->state, adds ? "symbol_add" : "symbol_remove", args, &result, &error);
    if (r != EXIT_OK) {
        say(&error);
        return r;
    }
    const char *name = told_text(result, "symbol"), *venue = told_text(result, "venue");
    printf("%s ", adds ? "added" : "removed");
    text_print(stdout, *name ? name : symbol);
    if (*venue) {
        fputs(" of ", stdout);
        text_print(stdout, venue);
    }
    puts(json_is_true(json_object_get(result, "repeated")) ? " (done before)" : "");
    json_decref(result);
    return EXIT_OK;
}

static int unknown_action(const char *word)
{
    static const char *const actions[] = {"list", "add", "remove"};

    return ask_unknown_action("symbol", word, actions, sizeof actions / sizeof *actions, "symbols",
                              "list, add or remove");
}

/* Shells and people write names in either case; venues list them in the upper one. */
static bool upper(const char *word, char name[static SYMBOL_NAME_MAX])
{
    size_t n = strlen(word);

    if (n == 0 || n >= SYMBOL_NAME_MAX)
        return false;
    for (size_t i = 0; i <= n; i++)
        name[i] = (char)toupper((unsigned char)word[i]);
    return true;
}

static int act(char **words, int n, const struct wish *wish)
{
    const char *word = n > 0 ? words[0] : "";
    bool lists = strcmp(word, "list") == 0, adds = strcmp(word, "add") == 0;
    char name[SYMBOL_NAME_MAX];

    if (!lists && !adds && strcmp(word, "remove") != 0)
        return unknown_action(word);
    if ((wish->csv || wish->json) && !lists)
        return stored_fail(EXIT_USAGE, "symbol", wish->csv ? "--csv" : "--json", "an option of symbol list");
    if (wish->venue && !adds)
        return stored_fail(EXIT_USAGE, "symbol", "--venue", "an option of symbol add");
    if (wish->key && lists)
        return stored_fail(EXIT_USAGE, "symbol", "--key", "an option of symbol add and remove");
    if (n != (lists ? 1 : 2))
        return ask_usage("symbol", lists  ? "list takes no argument"
                                   : adds ? "one symbol is needed, as: symbol add SOLUSDT"
                                          : "one symbol is needed, as: symbol remove SOLUSDT");
    if (lists)
        return list_symbols(wish);
    if (!upper(words[1], name))
        return stored_fail(EXIT_USAGE, "symbol", words[1], "a symbol's name has 1 to 23 characters");
    return change(word, name, wish);
}

static int run_line(int argc, char **argv)
{
    struct wish wish = {0};
    const struct ask_option options[] = {
        {"state", &wish.state, NULL}, {"venue", &wish.venue, NULL}, {"key", &wish.key, NULL},
        {"csv", NULL, &wish.csv},     {"json", NULL, &wish.json},
    };
    char **words;
    int r = ask_parse(argc, argv, options, sizeof options / sizeof *options, help, &words);

    return r != EXIT_OK || !words ? r : act(words, argc - (int)(words - argv), &wish);
}

const struct option_verb cli_symbol = {
    .name = "symbol", .words = "what is streamed: list, add, remove", .run = run_line};

#include <stddef.h>
#include <stdio.h>

#include "cli/books/books.h"
#include "cli/ledger_anchors.h"
#include "cli/ledger_causes.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "db/tables.h"
#include "exchange/exit_status.h"

static const char *contra(const void *row, const struct record_context *context)
{
    (void)context;
    return ledger_contra_name(((const struct ledger_row *)row)->kind);
}

static const char *kind(const void *row, const struct record_context *context)
{
    (void)context;
    return ledger_row_word(row);
}

static const struct stored_column columns[] = {
    {"scale", STORED_NOWHERE},
    {"id", 6},
    {"ts_ns", -24},
    {"account", -10},
    {"asset", -5},
    {"kind", -8, .derived = kind},
    {"contra", -9, .derived = contra},
    {"amount", 16},
    {"balance", 18},
    {"order_id", 8},
    {"fill_id", 7},
};

struct stored_list cli_ledger_list(enum stored_form form, FILE *out)
{
    struct stored_list list =
        cli_stored_list_of(&record_ledger, columns, sizeof columns / sizeof *columns, form, out);
    list.name = "ledger_rows";
    return list;
}

void cli_ledger_row(struct stored_list *list, const struct ledger_row *row, const char *account)
{
    struct symbol scale = {.quote_scale = row->scale};
    cli_stored_record_row(list, row, &(struct record_context){&scale, account});
}

static void print_row(void *ctx, const struct db_ledger_row *entry)
{
    cli_ledger_row(ctx, &entry->row, entry->account->name);
}

static int read(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    (void)call;
    return db_reader_ledger(reader, print_row, list);
}

static const struct db_selected selected = {"ledger", "account", "ts_ns"};

static int list(struct option_call *call)
{
    struct stored_list list = cli_ledger_list(cli_stored_form(call), NULL);
    return cli_selected_print_list(call, "ledger", &list, call->into, &selected, read);
}

#define EXPORT "ledger export"

static int write_rows(struct option_call *call, FILE *out)
{
    struct stored_list list = cli_ledger_list(call->json ? STORED_JSON : STORED_CSV, out);
    return cli_selected_print_list(call, EXPORT, &list, call->into, &selected, read);
}

static int write_journal(struct option_call *call, FILE *out)
{
    const struct ledger_given *given = call->into;
    const struct db_selection *of = &given->selection;
    const struct db_books_query query = {.account = of->account,
                                         .from_ns = of->from_ns == INT64_MIN ? 0 : of->from_ns,
                                         .to_ns = of->to_ns == INT64_MAX ? 0 : of->to_ns};
    struct db_reader *reader;
    int status = cli_stored_open(EXPORT, call->state, &reader);
    if (status != EXIT_OK)
        return status;
    return cli_stored_close(EXPORT, reader,
                            given->hledger ? cli_books_hledger(reader, query, out ? out : stdout)
                                           : cli_books_beancount(reader, query, out ? out : stdout));
}

static int export(struct option_call *call)
{
    const struct ledger_given *given = call->into;
    struct output output = {0};
    int status = given->output ? cli_output_open(EXPORT, given->output, &output) : EXIT_OK;
    if (status != EXIT_OK)
        return status;
    status =
        given->hledger || given->beancount ? write_journal(call, output.file) : write_rows(call, output.file);
    if (status == EXIT_OK)
        return cli_output_commit(EXPORT, &output);
    cli_output_drop(&output);
    return status;
}

static const struct option_action actions[] = {
    {"list", NULL, "every row, oldest first", .need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = list},
    {"verify", NULL,
     "checks the record's tables" DB_SEALED_NAMES ": the seal of every row, and that no row is missing "
     "from those that are counted; the ledger's chain; every sum, every fill against its order, its ledger "
     "rows, its price times quantity and its fee, every order against what it "
     "asked for, every position, and the file itself. Bars, gaps, prices, samples and feed states are no "
     "part of the record and have no seal. Prints the ledger's hash and the balances; or, of each table, the "
     "first row found wrong, and exits 1. Of a database that was built again: when, why, from which event on "
     "the record is whole, and where the rows of each table are from. Rows whose events the log no longer has "
     "are named by their numbers: they rest on the database alone. With --anchor also whether the books still "
     "have what each anchor attests: names the first that does not hold, and exits 1; rows that none attests "
     "are named",
     .need = OPTION_NEEDS_STATE, .run = cli_ledger_verify},
    {"head", NULL,
     "one line of JSON, papertape.anchor/1, for a file that is kept elsewhere: how many rows each table has, "
     "the digest of all their seals, where the event log ends, and the time",
     .need = OPTION_NEEDS_STATE, .run = cli_ledger_head},
    {"causes", "[ACCOUNT]",
     "every row and what it is of: its fill; interest with symbol, quantity, price, rate, hours; a dividend's and a "
     "split's action; a transfer's other account; the command, its key and its client's user",
     .need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = cli_ledger_causes},
    {"accruals", NULL,
     "interest, and dividends of shorts, that the currency sufficed for nothing of: they have no row until a later one "
     "of cause arrears",
     .need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = cli_ledger_accruals},
    {"export", NULL,
     "every row, oldest first, as CSV with exact decimals, or as a journal of plain-text accounting",
     .need = OPTION_NEEDS_STATE, .csv = true, .run = export},
};

#define AT(member) offsetof(struct ledger_given, member)
static const struct option_row options[] = {
    {"hledger", NULL,
     "hledger's journal format: assets:NAME:ASSET, with every balance asserted, gains in income:gains:NAME, and "
     "prices; with --from what there was before is an opening balance",
     AT(hledger), .of = "export", .without = "csv json at beancount"},
    {"beancount", NULL,
     "beancount's: Assets:Name:ASSET, lots at their total cost in Assets:Name:ASSET:SYMBOL, gains in "
     "Income:Gains:Name, balances, and prices",
     AT(beancount), .of = "export", .without = "csv json at hledger"},
    {"output", "FILE", "to FILE, which is written whole or not at all", AT(output), .of = "export"},
    {"sign", "KEY", "signs the line by an Ed25519 key: a file of PEM that only its owner may read", AT(sign),
     .of = "head"},
    {"anchor", "FILE...", "files of such lines, oldest first: [ledger] anchor of papertaped, or your own",
     .take = cli_ledger_take_anchor, .of = "verify"},
    {"key", "PUB", "every anchor must be signed by this public key, a file of PEM", AT(key), .of = "verify",
     .with = "anchor"},
    {"tsa", "CERT", "every stamp must be of an authority that these certificates, a file of PEM, vouch for",
     AT(tsa), .of = "verify", .with = "anchor"},
    SELECTED_ALL("booked", .of = "list causes accruals export"),
};

CLI_VERB(cli_ledger) = {
    .name = "ledger",
    .words =
        "its rows: list, causes, accruals, export; verify: checks that everything adds up; head: for an anchor",
    .about = "The double-entry ledger. With --json papertape.ledger_rows/1, of verify papertape.ledger/1.",
    .exits = "1 of verify also where a check fails, or an anchor does not hold.",
    .page = "accounts",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct ledger_given),
    .init = cli_selected_init,
    .finish = cli_ledger_given_finish,
};

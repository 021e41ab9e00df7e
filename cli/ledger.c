#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/stored.h"
#include "cli/text.h"
#include "cli/verbs.h"
#include "db/rebuilt.h"
#include "db/tables.h"
#include "db/verify.h"
#include "exchange/exit_status.h"

#define VERIFY "ledger verify"

/* A failure may quote what was found in an altered database. */
static const char *cleaned(const char *failure, char words[static DB_ERROR_MAX])
{
    cli_text_clean(words, DB_ERROR_MAX, failure);
    return words;
}

static int print_json(const struct db_verified *v, const struct db_rebuilt *rebuilt)
{
    char hash[STORED_CELL], words[DB_ERROR_MAX];
    json_t *balances = json_array(), *failures = json_array();
    for (int i = 0; i < v->n_failures; i++)
        json_array_append_new(failures, json_string(cleaned(v->failures[i], words)));
    for (size_t i = 0; i < v->n_balances; i++) {
        const struct db_verified_balance *b = &v->balances[i];
        json_array_append_new(balances, json_pack("{s:s, s:s, s:o, s:o}", "account", b->account_name, "asset",
                                                  b->asset, "balance", decimal_json(b->total, b->scale),
                                                  "borrowed", decimal_json(b->borrowed, b->scale)));
    }
    return cli_stored_print(VERIFY,
                            json_pack("{s:s, s:b, s:s?, s:I, s:I, s:I, s:I, s:s, s:o, s:o, s:o}", "schema",
                                      "papertape.ledger/1", "ok", v->ok, "failure",
                                      v->ok ? NULL : cleaned(v->failure, words), "rows",
                                      (json_int_t)v->ledger_rows, "orders", (json_int_t)v->orders, "fills",
                                      (json_int_t)v->fills, "positions", (json_int_t)v->positions, "hash",
                                      cli_stored_hash(hash, v->hash), "balances", balances, "failures",
                                      failures, "rebuilt", rebuilt ? db_rebuilt_json(rebuilt) : json_null()),
                            15);
}

static void print_text(const struct db_verified *v)
{
    char hash[STORED_CELL], name[ACCOUNT_NAME_MAX], asset[ASSET_NAME_MAX], total[STORED_CELL];
    printf("ledger ok: %llu rows, %llu orders, %llu fills, %llu positions\n",
           (unsigned long long)v->ledger_rows, (unsigned long long)v->orders, (unsigned long long)v->fills,
           (unsigned long long)v->positions);
    printf("hash %s\n", cli_stored_hash(hash, v->hash));
    for (size_t i = 0; i < v->n_balances; i++) {
        const struct db_verified_balance *b = &v->balances[i];
        cli_text_clean(name, sizeof name, b->account_name);
        cli_text_clean(asset, sizeof asset, b->asset);
        printf("%-10s %24s %s\n", name, cli_stored_decimal(STORED_CSV, total, b->total, b->scale), asset);
    }
}

/* Where the rows are from, of a database that was built again. */
static void print_rebuilt(enum stored_form form, const struct db_rebuilt *rebuilt)
{
    char words[DB_ERROR_MAX], name[STORED_CELL], time[STORED_CELL];
    cli_text_clean(words, sizeof words, rebuilt->rebuild.why);
    printf("built again %s: %s\n", cli_stored_time(form, time, rebuilt->rebuild.ts_ns), words);
    if (rebuilt->rebuild.aside[0]) {
        cli_text_clean(words, sizeof words, rebuilt->rebuild.aside);
        printf("  the former file is %s\n", words);
    }
    printf("  whole from event %llu on\n", (unsigned long long)rebuilt->whole_from);
    for (int i = 0; i < rebuilt->n_sources; i++) {
        cli_text_clean(name, sizeof name, rebuilt->sources[i].table);
        cli_text_clean(words, sizeof words, rebuilt->sources[i].source);
        printf("  %-20s %s\n", name, words);
    }
}

static void print_also(const char *failure)
{
    fputs("also: ", stdout);
    cli_text_print(stdout, failure);
    putchar('\n');
}

static int verify(struct option_call *call)
{
    struct db_reader *reader;
    struct db_verified *verified = NULL;
    int status = cli_stored_open(VERIFY, call->state, &reader);
    if (status != EXIT_OK)
        return status;
    struct db_rebuilt *rebuilt = calloc(1, sizeof *rebuilt);
    int r = rebuilt ? db_verify(reader, &verified) : -ENOMEM;
    int found = r == 0 ? db_reader_rebuilt(reader, rebuilt) : 0;
    r = found < 0 ? found : r;
    int printed = EXIT_OK;
    if (r == 0 && call->json)
        printed = print_json(verified, found > 0 ? rebuilt : NULL);
    else if (r == 0 && verified->ok)
        print_text(verified);
    if (found > 0 && !call->json)
        print_rebuilt(STORED_TABLE, rebuilt);
    free(rebuilt);
    status = cli_stored_close(VERIFY, reader, r);
    status = status == EXIT_OK ? printed : status;
    for (int i = 1; r == 0 && !call->json && i < verified->n_failures; i++)
        print_also(verified->failures[i]);
    if (r == 0 && !verified->ok)
        status = cli_stored_fail(EXIT_ERROR, VERIFY, "", verified->failure);
    db_verified_destroy(verified);
    return status;
}

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

static int list(struct option_call *call)
{
    struct stored_list list = cli_ledger_list(cli_stored_form(call), NULL);
    return cli_stored_print_list(call, "ledger", &list, read);
}

static int export(struct option_call *call)
{
    struct db_reader *reader;
    struct stored_list list = cli_ledger_list(call->json ? STORED_JSON : STORED_CSV, NULL);
    if (!*(const bool *)call->into)
        return cli_stored_print_list(call, "ledger export", &list, read);
    int status = cli_stored_open("ledger export", call->state, &reader);
    return status == EXIT_OK ? cli_stored_close("ledger export", reader, cli_ledger_hledger(reader)) : status;
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
     "the record is whole, and where the rows of each table are from",
     .need = OPTION_NEEDS_STATE, .run = verify},
    {"export", NULL, "every row, oldest first, as CSV with exact decimals, or as a journal",
     .need = OPTION_NEEDS_STATE, .csv = true, .run = export},
};

static const struct option_row options[] = {
    {"hledger", NULL, "hledger's journal format: assets:NAME:ASSET, with every balance asserted", 0,
     .of = "export", .without = "csv json"},
};

CLI_VERB(cli_ledger) = {
    .name = "ledger",
    .words = "its rows: list, export; verify: checks that everything adds up",
    .about = "The double-entry ledger. With --json papertape.ledger_rows/1, of verify papertape.ledger/1.",
    .exits = "1 of verify also where a check fails.",
    .page = "accounts",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(bool),
};

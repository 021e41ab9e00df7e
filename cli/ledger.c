#include "cli/ledger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ledger_hledger.h"
#include "cli/stored.h"
#include "cli/text.h"
#include "cli/verbs.h"
#include "db/rebuilt.h"
#include "db/verify.h"
#include "exchange/exit_status.h"

static const char help[] =
    "Usage: papertape ledger verify [--json] [--state DIR]\n"
    "       papertape ledger export [--csv|--hledger] [--state DIR]\n"
    "\n"
    "verify: checks the seal of every row of accounts, symbols, orders, fills, positions, equity, commands,\n"
    "        alerts and meta, and that no row was taken out of them but meta; the ledger's chain; every\n"
    "        sum, every fill against its order, its ledger rows, its price times quantity and its fee,\n"
    "        every order against what it asked for, every position, and the file itself. Bars, gaps,\n"
    "        prices, telemetry and feed states are no part of the record and have no seal. Prints the\n"
    "        ledger's hash and the balances; or, of each table, the first row found wrong, and exits 1.\n"
    "export: every row, oldest first, as CSV with exact decimals, or as a journal.\n"
    "\n"
    "  --hledger    hledger's journal format: assets:NAME:ASSET, with every balance "
    "asserted\n"
    "  --json       papertape.ledger/1\n"
    "  --state DIR  the daemon's state directory\n";

enum { HASH_TEXT = 2 * LEDGER_HASH_SIZE + 1 };

static const char *hash_text(const uint8_t hash[static LEDGER_HASH_SIZE], char text[static HASH_TEXT])
{
    for (int i = 0; i < LEDGER_HASH_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", hash[i]);
    return text;
}

/* A failure may quote what was found in an altered database. */
static const char *cleaned(const char *failure, char words[static DB_ERROR_MAX])
{
    text_clean(words, DB_ERROR_MAX, failure);
    return words;
}

static int print_json(const struct db_verified *v, const struct db_rebuilt *rebuilt)
{
    char hash[HASH_TEXT], words[DB_ERROR_MAX];
    json_t *balances = json_array(), *failures = json_array();
    for (int i = 0; i < v->n_failures; i++)
        json_array_append_new(failures, json_string(cleaned(v->failures[i], words)));
    for (size_t i = 0; i < v->n_balances; i++) {
        const struct db_verified_balance *b = &v->balances[i];
        json_array_append_new(balances, json_pack("{s:s, s:s, s:o, s:o}", "account", b->account_name, "asset",
                                                  b->asset, "balance", stored_number(b->total, b->scale),
                                                  "borrowed", stored_number(b->borrowed, b->scale)));
    }
    json_t *object = json_pack(
        "{s:s, s:b, s:s?, s:I, s:I, s:I, s:I, s:s, s:o, s:o, s:o}", "schema", "papertape.ledger/1", "ok",
        v->ok, "failure", v->ok ? NULL : cleaned(v->failure, words), "rows", (json_int_t)v->ledger_rows,
        "orders", (json_int_t)v->orders, "fills", (json_int_t)v->fills, "positions", (json_int_t)v->positions,
        "hash", hash_text(v->hash, hash), "balances", balances, "failures", failures, "rebuilt",
        rebuilt ? db_rebuilt_json(rebuilt) : json_null());
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(object);
    if (!text)
        return -ENOMEM;
    puts(text);
    free(text);
    return 0;
}

static void print_text(const struct db_verified *v)
{
    char hash[HASH_TEXT], name[ACCOUNT_NAME_MAX], asset[ASSET_NAME_MAX], total[STORED_CELL];
    printf("ledger ok: %llu rows, %llu orders, %llu fills, %llu positions\n",
           (unsigned long long)v->ledger_rows, (unsigned long long)v->orders, (unsigned long long)v->fills,
           (unsigned long long)v->positions);
    printf("hash %s\n", hash_text(v->hash, hash));
    for (size_t i = 0; i < v->n_balances; i++) {
        const struct db_verified_balance *b = &v->balances[i];
        text_clean(name, sizeof name, b->account_name);
        text_clean(asset, sizeof asset, b->asset);
        printf("%-10s %24s %s\n", name, stored_decimal(STORED_CSV, total, b->total, b->scale), asset);
    }
}

/* Where the rows are from, of a database that was built again. */
static void print_rebuilt(enum stored_form form, const struct db_rebuilt *rebuilt)
{
    char words[DB_ERROR_MAX], name[STORED_CELL], time[STORED_CELL];
    text_clean(words, sizeof words, rebuilt->rebuild.why);
    printf("built again %s: %s\n", stored_time(form, time, rebuilt->rebuild.ts_ns), words);
    if (rebuilt->rebuild.aside[0]) {
        text_clean(words, sizeof words, rebuilt->rebuild.aside);
        printf("  the former file is %s\n", words);
    }
    printf("  whole from event %llu on\n", (unsigned long long)rebuilt->whole_from);
    for (int i = 0; i < rebuilt->n_sources; i++) {
        text_clean(name, sizeof name, rebuilt->sources[i].table);
        text_clean(words, sizeof words, rebuilt->sources[i].source);
        printf("  %-20s %s\n", name, words);
    }
}

static void print_also(const char *failure)
{
    fputs("also: ", stdout);
    text_print(stdout, failure);
    putchar('\n');
}

static int verify(const struct stored_options *options)
{
    struct db_reader *reader;
    struct db_verified *verified = NULL;
    int status = stored_open("ledger verify", options->state, &reader);
    if (status != EXIT_OK)
        return status;
    struct db_rebuilt *rebuilt = calloc(1, sizeof *rebuilt);
    int r = rebuilt ? db_verify(reader, &verified) : -ENOMEM;
    int found = r == 0 ? db_reader_rebuilt(reader, rebuilt) : 0;
    r = found < 0 ? found : r;
    if (r == 0 && options->form == STORED_JSON)
        r = print_json(verified, found > 0 ? rebuilt : NULL);
    else if (r == 0 && verified->ok)
        print_text(verified);
    if (found > 0 && options->form != STORED_JSON)
        print_rebuilt(options->form, rebuilt);
    free(rebuilt);
    status = stored_close("ledger verify", reader, r);
    for (int i = 1; r == 0 && options->form != STORED_JSON && i < verified->n_failures; i++)
        print_also(verified->failures[i]);
    if (r == 0 && !verified->ok)
        status = stored_fail(EXIT_ERROR, "ledger verify", "", verified->failure);
    db_verified_destroy(verified);
    return status;
}

static const struct stored_column columns[] = {
    {"id", 0},     {"ts_ns", 0},   {"account", 0},  {"asset", 0},   {"kind", 0}, {"contra", 0},
    {"amount", 0}, {"balance", 0}, {"order_id", 0}, {"fill_id", 0}, {"hash", 0},
};

struct stored_list ledger_list(FILE *out)
{
    struct stored_list list = {.name = "ledger",
                               .form = STORED_CSV,
                               .columns = columns,
                               .n_columns = sizeof columns / sizeof *columns,
                               .out = out};
    return list;
}

void ledger_list_row(struct stored_list *list, const struct ledger_row *row, const char *account)
{
    char id[STORED_CELL], time[STORED_CELL], amount[STORED_CELL], balance[STORED_CELL], order[STORED_CELL],
        fill[STORED_CELL], hash[HASH_TEXT];
    const char *const cells[] = {
        stored_integer(id, (long long)row->id),
        stored_time(list->form, time, row->ts_ns),
        account,
        row->asset,
        ledger_kind_name(row->kind),
        ledger_contra_name(row->kind),
        stored_decimal(list->form, amount, row->amount, row->scale),
        stored_decimal(list->form, balance, row->balance, row->scale),
        row->order_id ? stored_integer(order, (long long)row->order_id) : "",
        row->fill_id ? stored_integer(fill, (long long)row->fill_id) : "",
        hash_text(row->hash, hash),
    };
    stored_row(list, cells);
}

static void print_row(void *ctx, const struct db_ledger_row *entry)
{
    ledger_list_row(ctx, &entry->row, entry->account->name);
}

static int export(const struct stored_options *options)
{
    struct db_reader *reader;
    int status = stored_open("ledger export", options->state, &reader);
    if (status != EXIT_OK)
        return status;
    if (options->hledger)
        return stored_close("ledger export", reader, ledger_hledger(reader));
    struct stored_list list = ledger_list(NULL);
    stored_begin(&list);
    int r = db_reader_ledger(reader, print_row, &list);
    stored_end(&list);
    return stored_close("ledger export", reader, r < 0 ? r : list.r);
}

static int run_line(int argc, char **argv)
{
    struct stored_options options;
    int r = stored_options(argc, argv, "csv hledger json", help, &options);
    if (r != EXIT_OK || options.done)
        return r;
    const char *word = argc - options.first == 1 ? argv[options.first] : "";
    if (strcmp(word, "verify") == 0 && options.form != STORED_CSV && !options.hledger)
        return verify(&options);
    if (strcmp(word, "export") == 0 && options.form != STORED_JSON &&
        !(options.hledger && options.form == STORED_CSV))
        return export(&options);
    return stored_fail(EXIT_USAGE, "ledger", "", "verify [--json], or export [--csv|--hledger] is needed");
}

const struct option_verb cli_ledger = {
    .name = "ledger", .words = "verify: does everything add up? export: its rows", .run = run_line};

/* papertape ledger verify */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/ledger_anchors.h"
#include "cli/stored.h"
#include "cli/text.h"
#include "db/books/reach.h"
#include "db/rebuilt.h"
#include "db/verify.h"
#include "exchange/exit_status.h"

#define VERIFY "ledger verify"

/* A failure may quote what was found in an altered database. */
static const char *cleaned(const char *failure, char words[static DB_ERROR_MAX])
{
    cli_text_clean(words, DB_ERROR_MAX, failure);
    return words;
}

/* reach NULL: not known. */
static int print_json(const struct db_verified *v, const struct db_rebuilt *rebuilt,
                      const struct db_reach *reach, const struct ledger_attested *attested)
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
    char failed[DB_ERROR_MAX];
    const char *failure = v->ok ? cli_ledger_failed(attested, failed, sizeof failed) : v->failure;
    json_t *object = json_pack(
        "{s:s, s:b, s:s?, s:I, s:I, s:I, s:I, s:s, s:o, s:o, s:o, s:o}", "schema", "papertape.ledger/1", "ok",
        !failure, "failure", failure ? cleaned(failure, words) : NULL, "rows", (json_int_t)v->ledger_rows,
        "orders", (json_int_t)v->orders, "fills", (json_int_t)v->fills, "positions", (json_int_t)v->positions,
        "hash", cli_stored_hash(hash, v->hash), "balances", balances, "failures", failures, "rebuilt",
        rebuilt ? db_rebuilt_json(rebuilt) : json_null(), "rests_on_database",
        reach ? db_reach_json(reach) : json_null());
    if (object)
        cli_ledger_json_attested(attested, object);
    return cli_stored_print(VERIFY, object, 15);
}

static void print_text(const struct db_verified *v, const char *outcome)
{
    char hash[STORED_CELL], name[ACCOUNT_NAME_MAX], asset[ASSET_NAME_MAX], total[STORED_CELL];
    printf("ledger %s: %llu rows, %llu orders, %llu fills, %llu positions\n", outcome,
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

/* Where a part of it rests on the database alone, all of it adds up, and is not simply ok. A record that
 * never had a log, as a saved backtest, is what it is. */
static const char *outcome(const struct db_reach *reach)
{
    bool whole = true;
    for (size_t i = 0; reach && i < reach->n; i++)
        whole &= reach->ranges[i].why == DB_REACH_UNLOGGED;
    return whole ? "ok" : "adds up, but rests in part on the database alone";
}

/* reach NULL: for this reason. */
static void print_reach(const struct db_reach *reach, const char *why)
{
    char words[DB_REACH_WORDS_MAX];
    if (!reach)
        printf("whether rows rest on the database alone is not known: %s\n", why);
    for (size_t i = 0; reach && i < reach->n; i++) {
        db_reach_words(&reach->ranges[i], words);
        puts(words);
    }
}

/* The log of that state. NULL, with the reason, where it cannot be read. */
static struct db_reach *read_reach(const struct option_call *call, struct db_reader *reader,
                                   struct db_reach *ret, char *why, size_t size)
{
    struct state_dir dir;
    if (db_state_dir_resolve(call->state, &dir, why, size) < 0)
        return NULL;
    return db_reach_read(reader, dir.events, ret, why, size) < 0 ? NULL : ret;
}

static void print_also(const char *failure)
{
    fputs("also: ", stdout);
    cli_text_print(stdout, failure);
    putchar('\n');
}

/* Why it failed: of the books, of an anchor, or both; on stderr. */
static int report(const struct db_verified *verified, const struct ledger_attested *attested)
{
    char words[DB_ERROR_MAX];
    const char *failed = cli_ledger_failed(attested, words, sizeof words);
    int status = EXIT_OK;
    if (!verified->ok)
        status = cli_stored_fail(EXIT_ERROR, VERIFY, "", verified->failure);
    if (failed)
        status = cli_stored_fail(EXIT_ERROR, VERIFY, "", failed);
    return status;
}

struct verifying {
    struct db_verified *verified;
    struct db_rebuilt *rebuilt; /* NULL: it never was */
    struct db_reach *reach;     /* NULL: not known, for this reason */
    char why[DB_ERROR_MAX];
    struct ledger_attested attested;
};

static int print(const struct option_call *call, const struct verifying *of)
{
    char shown[DB_ERROR_MAX];
    if (call->json)
        return print_json(of->verified, of->rebuilt, of->reach, &of->attested);
    if (of->verified->ok && !of->attested.found.failed) {
        print_text(of->verified, outcome(of->reach));
        cli_ledger_print_attested(&of->attested);
    }
    print_reach(of->reach, cleaned(of->why, shown));
    if (of->rebuilt)
        print_rebuilt(STORED_TABLE, of->rebuilt);
    for (int i = 1; i < of->verified->n_failures; i++)
        print_also(of->verified->failures[i]);
    return EXIT_OK;
}

int cli_ledger_verify(struct option_call *call)
{
    struct db_reader *reader;
    struct db_reach reach = {0};
    struct verifying of = {.attested = {.anchors = {.n = 0}}};
    int status = cli_stored_open(VERIFY, call->state, &reader);
    if (status != EXIT_OK)
        return status;
    struct db_rebuilt *rebuilt = calloc(1, sizeof *rebuilt);
    int r = rebuilt ? db_verify(reader, &of.verified) : -ENOMEM;
    int found = r == 0 ? db_reader_rebuilt(reader, rebuilt) : 0;
    r = found < 0 ? found : r;
    of.rebuilt = found > 0 ? rebuilt : NULL;
    if (r == 0)
        status = cli_ledger_attest(call, reader, &of.attested);
    if (r == 0 && status == EXIT_OK) {
        of.reach = read_reach(call, reader, &reach, of.why, sizeof of.why);
        status = print(call, &of);
    }
    int closed = cli_stored_close(VERIFY, reader, r);
    status = closed != EXIT_OK ? closed : status;
    if (r == 0 && status == EXIT_OK)
        status = report(of.verified, &of.attested);
    db_reach_finish(&reach);
    free(rebuilt);
    cli_ledger_attested_finish(&of.attested);
    db_verified_destroy(of.verified);
    return status;
}

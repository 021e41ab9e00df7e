#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/stored.h"

enum {
    ROWS_MAX = 8, /* of one transaction: a fill has at most five */
    CONTRA_MAX = 32 + 2 * ACCOUNT_NAME_MAX,
    COMMODITY_MAX = ASSET_NAME_MAX + 2,
};

struct journal {
    struct db_ledger_row rows[ROWS_MAX]; /* of the transaction that is being gathered */
    size_t n;
    char (*seen)[CONTRA_MAX]; /* what was declared */
    size_t n_seen;
    int r;
};

/* A name as a part of an account's. */
static const char *part(const char *name, char buf[static ACCOUNT_NAME_MAX])
{
    size_t n = 0;
    for (; name[n] && n < ACCOUNT_NAME_MAX - 1; n++)
        buf[n] = isalnum((unsigned char)name[n]) || strchr("-_.", name[n]) ? name[n] : '_';
    buf[n] = '\0';
    return buf;
}

/* A commodity's symbol: in quotes where it is not letters alone. */
static const char *commodity(const char *asset, char buf[static COMMODITY_MAX])
{
    bool plain = true;
    for (const char *at = asset; *at; at++)
        plain &= isalpha((unsigned char)*at) != 0;
    snprintf(buf, COMMODITY_MAX, plain ? "%s" : "\"%s\"", asset);
    return buf;
}

static const char *held(const struct db_ledger_row *entry, char buf[static CONTRA_MAX])
{
    char name[ACCOUNT_NAME_MAX], asset[ACCOUNT_NAME_MAX];
    snprintf(buf, CONTRA_MAX, "assets:%s:%s", part(entry->account->name, name),
             part(entry->row.asset, asset));
    return buf;
}

/* The account that balances it; "" for a trade, whose two sides balance each other. */
static const char *contra(const struct db_ledger_row *entry, char buf[static CONTRA_MAX])
{
    char name[ACCOUNT_NAME_MAX], asset[ACCOUNT_NAME_MAX];
    part(entry->account->name, name);
    part(entry->row.asset, asset);
    buf[0] = '\0';
    switch (entry->row.kind) {
    case LEDGER_DEPOSIT:
        snprintf(buf, CONTRA_MAX, "equity:deposits:%s", name);
        break;
    case LEDGER_FEE:
        snprintf(buf, CONTRA_MAX, "expenses:fees:%s", name);
        break;
    case LEDGER_TRANSFER:
        snprintf(buf, CONTRA_MAX, "equity:transfers");
        break;
    case LEDGER_BORROW:
        snprintf(buf, CONTRA_MAX, "liabilities:loans:%s:%s", name, asset);
        break;
    case LEDGER_INTEREST:
        snprintf(buf, CONTRA_MAX, "expenses:interest:%s", name);
        break;
    case LEDGER_RESET:
        snprintf(buf, CONTRA_MAX, "equity:resets:%s", name);
        break;
    case LEDGER_SPLIT:
        snprintf(buf, CONTRA_MAX, "equity:splits:%s", name);
        break;
    case LEDGER_DIVIDEND:
        snprintf(buf, CONTRA_MAX, "income:dividends:%s", name);
        break;
    case LEDGER_TRADE:
    case LEDGER_KINDS:
        break;
    }
    return buf;
}

/* ---- declarations: a first pass ---- */

/* Was it declared already? If not, it is now. */
static bool declared(struct journal *j, const char *what)
{
    for (size_t i = 0; i < j->n_seen; i++)
        if (strcmp(j->seen[i], what) == 0)
            return true;
    char(*more)[CONTRA_MAX] = realloc(j->seen, (j->n_seen + 1) * sizeof *more);
    if (!more) {
        j->r = -ENOMEM;
        return true;
    }
    j->seen = more;
    snprintf(j->seen[j->n_seen++], CONTRA_MAX, "%s", what);
    return false;
}

static void declare(void *ctx, const struct db_ledger_row *entry)
{
    struct journal *j = ctx;
    char name[CONTRA_MAX], symbol[COMMODITY_MAX], sample[STORED_CELL];
    if (j->r < 0)
        return;
    commodity(entry->row.asset, symbol);
    if (!declared(j, symbol))
        printf("commodity %s%s %s\n", cli_stored_decimal(STORED_CSV, sample, 0, entry->row.scale),
               entry->row.scale == 0 ? "." : "", symbol);
    if (!declared(j, held(entry, name)))
        printf("account %s\n", name);
    if (*contra(entry, name) && !declared(j, name))
        printf("account %s\n", name);
}

/* ---- transactions ---- */

static void print_tags(const struct ledger_row *row)
{
    time_t s = row->ts_ns / 1000000000;
    struct tm utc;
    char time[64];
    gmtime_r(&s, &utc);
    strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &utc);
    printf("  ; time:%s.%09lldZ, ledger:%llu", time, (long long)(row->ts_ns % 1000000000),
           (unsigned long long)row->id);
    if (row->order_id)
        printf(", order:%llu", (unsigned long long)row->order_id);
    if (row->fill_id)
        printf(", fill:%llu", (unsigned long long)row->fill_id);
    putchar('\n');
}

/* One line of a transaction: what an account gets, at which cost, and what it then has. */
static void print_posting(const struct db_ledger_row *entry, const struct ledger_row *cost)
{
    const struct ledger_row *row = &entry->row;
    char name[CONTRA_MAX], amount[STORED_CELL], balance[STORED_CELL], symbol[COMMODITY_MAX],
        total[STORED_CELL], currency[COMMODITY_MAX];
    commodity(row->asset, symbol);
    printf("    %s  %s %s", held(entry, name),
           cli_stored_decimal(STORED_CSV, amount, row->amount, row->scale), symbol);
    if (cost)
        printf(" @@ %s %s",
               cli_stored_decimal(STORED_CSV, total,
                                  cost->amount < 0 ? -(int128_t)cost->amount : cost->amount, cost->scale),
               commodity(cost->asset, currency));
    printf(" = %s %s\n", cli_stored_decimal(STORED_CSV, balance, row->balance, row->scale), symbol);
    if (*contra(entry, name))
        printf("    %s  %s %s\n", name,
               cli_stored_decimal(STORED_CSV, amount, -(int128_t)row->amount, row->scale), symbol);
}

static void print_transaction(struct journal *j)
{
    const struct ledger_row *first = &j->rows[0].row, *base = NULL, *quote = NULL;
    for (size_t i = 0; i < j->n; i++) {
        const struct ledger_row *row = &j->rows[i].row;
        if (row->kind == LEDGER_TRADE && !base)
            base = row;
        else if (row->kind == LEDGER_TRADE)
            quote = row;
    }
    time_t s = first->ts_ns / 1000000000;
    struct tm utc;
    char date[32];
    gmtime_r(&s, &utc);
    strftime(date, sizeof date, "%Y-%m-%d", &utc);
    if (base)
        printf("\n%s * %s %s", date, base->amount > 0 ? "buy" : "sell", base->asset);
    else
        printf("\n%s * %s", date, ledger_row_word(first));
    print_tags(first);
    for (size_t i = 0; i < j->n; i++)
        print_posting(&j->rows[i], &j->rows[i].row == base ? quote : NULL);
    if (base && !quote) { /* worth less than a unit */
        char amount[STORED_CELL], symbol[COMMODITY_MAX];
        printf("    equity:conversion  %s %s\n",
               cli_stored_decimal(STORED_CSV, amount, -(int128_t)base->amount, base->scale),
               commodity(base->asset, symbol));
    }
    j->n = 0;
}

static void take(void *ctx, const struct db_ledger_row *entry)
{
    struct journal *j = ctx;
    const struct ledger_row *row = &entry->row, *first = &j->rows[0].row;
    bool more =
        j->n > 0 && j->n < ROWS_MAX && row->fill_id == first->fill_id &&
        (row->fill_id != 0 || (row->kind == LEDGER_TRANSFER && first->kind == LEDGER_TRANSFER && j->n == 1));
    if (j->n > 0 && !more)
        print_transaction(j);
    j->rows[j->n++] = *entry;
}

int cli_ledger_hledger(struct db_reader *reader)
{
    struct journal journal = {0};
    int r = db_reader_begin(reader);
    if (r < 0)
        return r;
    puts("; papertape ledger export --hledger: every row of the ledger, oldest first, times in UTC\n"
         "decimal-mark .\n"
         "account equity:conversion");
    r = db_reader_ledger(reader, declare, &journal);
    if (r == 0 && journal.r == 0)
        r = db_reader_ledger(reader, take, &journal);
    if (r == 0 && journal.n > 0)
        print_transaction(&journal);
    db_reader_end(reader);
    free(journal.seen);
    return r < 0 ? r : journal.r;
}

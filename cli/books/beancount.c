/* Grammar: https://beancount.github.io/docs/beancount_language_syntax.html */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/books/books.h"
#include "cli/books/names.h"
#include "exchange/decimal.h"

enum { ACCOUNT_MAX = 3 * CLI_BOOKS_NAME_MAX, COMMODITY_MAX = 24 /* characters of a currency */ };

/* The balance of an account's asset, which is asserted once its day is over. */
struct asserted {
    char account[ACCOUNT_MAX], commodity[COMMODITY_MAX + 1];
    int scale;
    int64_t balance;
    bool changed;
};

struct writing {
    FILE *out;
    struct cli_books_names parts, commodities, opened;
    struct {
        char commodity[COMMODITY_MAX + 1], from[ASSET_NAME_MAX];
        int scale;
    } * declared;
    size_t n_declared, cap_declared;
    struct asserted *balances;
    size_t n_balances, cap_balances;
    int64_t day; /* of the transaction that was written last */
    bool no_memory;
};

/* ---- names ---- */

/* A part of an account's name begins with a capital letter or a digit, and has letters, digits and '-'. */
static void form_part(const char *from, char to[static CLI_BOOKS_NAME_MAX])
{
    size_t n = 0;
    if (!isalnum((unsigned char)*from))
        to[n++] = 'X';
    for (; *from && n < CLI_BOOKS_NAME_MAX - 1; from++)
        to[n++] = isalnum((unsigned char)*from) ? *from : '-';
    to[n] = '\0';
    to[0] = (char)toupper((unsigned char)to[0]);
}

/* A currency has capital letters, digits and '._-, begins with a letter, ends with none of these signs, and
 * has two characters or more. */
static void form_commodity(const char *from, char to[static CLI_BOOKS_NAME_MAX])
{
    size_t n = 0;
    if (!isalpha((unsigned char)*from) || !from[1])
        to[n++] = 'X';
    for (; *from && n < ASSET_NAME_MAX + 1; from++)
        to[n++] =
            isalnum((unsigned char)*from) || strchr("._-", *from) ? (char)toupper((unsigned char)*from) : '-';
    if (n == 0 || !isalnum((unsigned char)to[n - 1]))
        to[n++] = 'X';
    to[n] = '\0';
}

static void form_same(const char *from, char to[static CLI_BOOKS_NAME_MAX])
{
    snprintf(to, CLI_BOOKS_NAME_MAX, "%s", from);
}

static const struct {
    const char *name;
    bool of_account, of_asset, of_symbol;
} places[DB_PLACES] = {
    [DB_PLACE_ASSETS] = {"Assets", true, true, false},
    [DB_PLACE_LOTS] = {"Assets", true, true, true},
    [DB_PLACE_LOANS] = {"Liabilities:Loans", true, true, false},
    [DB_PLACE_DEPOSITS] = {"Equity:Deposits", true, false, false},
    [DB_PLACE_TRANSFERS] = {"Equity:Transfers", false, false, false},
    [DB_PLACE_RESETS] = {"Equity:Resets", true, false, false},
    [DB_PLACE_SPLITS] = {"Equity:Splits", true, false, false},
    [DB_PLACE_DIVIDENDS] = {"Income:Dividends", true, false, false},
    [DB_PLACE_FEES] = {"Expenses:Fees", true, false, false},
    [DB_PLACE_INTEREST] = {"Expenses:Interest", true, false, false},
    [DB_PLACE_GAINS] = {"Income:Gains", true, false, false},
    [DB_PLACE_OPENING] = {"Equity:Opening", true, false, false},
    [DB_PLACE_CONVERSION] = {"Equity:Conversion", false, false, false},
};

static const char *account_of(struct writing *w, const struct db_books_posting *p, enum db_books_place place,
                              char buf[static ACCOUNT_MAX])
{
    size_t n = (size_t)snprintf(buf, ACCOUNT_MAX, "%s", places[place].name);
    const char *parts[] = {places[place].of_account ? p->account : NULL,
                           places[place].of_asset ? p->asset : NULL,
                           places[place].of_symbol ? p->symbol : NULL};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i])
            n += (size_t)snprintf(buf + n, ACCOUNT_MAX - n, ":%.100s", cli_books_name(&w->parts, parts[i]));
    return buf;
}

static const char *amount_text(char buf[static DECIMAL_TEXT_MAX], int128_t amount, int scale)
{
    decimal_format(amount, scale, buf);
    return buf;
}

static void put_text(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', out);
        putc((unsigned char)*text < ' ' ? '?' : *text, out);
    }
    putc('"', out);
}

static bool room(void **rows, size_t n, size_t *cap, size_t size, struct writing *w)
{
    if (n < *cap)
        return true;
    const size_t more = *cap ? 2 * *cap : 16;
    void *moved = realloc(*rows, more * size);
    if (!moved) {
        w->no_memory = true;
        return false;
    }
    *rows = moved;
    *cap = more;
    return true;
}

/* ---- declarations ---- */

static void declare_commodity(struct writing *w, const char *asset, int scale)
{
    const bool new = cli_books_name_new(&w->commodities, asset);
    if (!new || !room((void **)&w->declared, w->n_declared, &w->cap_declared, sizeof *w->declared, w))
        return;
    snprintf(w->declared[w->n_declared].commodity, COMMODITY_MAX + 1, "%s",
             cli_books_name(&w->commodities, asset));
    snprintf(w->declared[w->n_declared].from, ASSET_NAME_MAX, "%s", asset);
    w->declared[w->n_declared++].scale = scale;
}

static void declare(struct writing *w, const struct db_books_transaction *transaction)
{
    char name[ACCOUNT_MAX];
    for (size_t i = 0; i < transaction->n; i++) {
        const struct db_books_posting *p = &transaction->postings[i];
        declare_commodity(w, p->asset, p->scale);
        if (p->costed != DB_COST_NONE)
            declare_commodity(w, p->cost_asset, p->cost_scale);
        cli_books_name(&w->opened, account_of(w, p, p->place, name));
        if (p->place == DB_PLACE_LOTS) /* whose balance is asserted */
            cli_books_name(&w->opened, account_of(w, p, DB_PLACE_ASSETS, name));
    }
}

/* Half a unit of each: where a transaction has no amount to infer it from. */
static void put_tolerance(struct writing *w, const char *commodity, int scale)
{
    char half[DECIMAL_TEXT_MAX];
    fprintf(w->out, "option \"inferred_tolerance_default\" \"%s:%s\"\n", commodity,
            amount_text(half, 5, scale + 1));
}

static void take_declared(void *ctx, int64_t first_day)
{
    struct writing *w = ctx;
    char date[DB_BOOKS_DATE_MAX];
    db_books_date(date, first_day);
    for (size_t i = 0; i < w->n_declared; i++)
        put_tolerance(w, w->declared[i].commodity, w->declared[i].scale);
    putc('\n', w->out);
    for (size_t i = 0; i < w->n_declared; i++) {
        fprintf(w->out, "%s commodity %s\n", date, w->declared[i].commodity);
        if (strcmp(w->declared[i].commodity, w->declared[i].from) != 0) {
            fputs("  name: ", w->out);
            put_text(w->out, w->declared[i].from);
            putc('\n', w->out);
        }
    }
    for (size_t i = 0; i < w->opened.n; i++)
        fprintf(w->out, "%s open %s\n", date, w->opened.names[i].from);
}

/* ---- balances: of the day before, at the beginning of a day ---- */

static void take_balance(struct writing *w, const struct db_books_posting *p)
{
    char account[ACCOUNT_MAX];
    account_of(w, p, DB_PLACE_ASSETS, account);
    size_t i = 0;
    while (i < w->n_balances && strcmp(w->balances[i].account, account) != 0)
        i++;
    if (i == w->n_balances) {
        if (!room((void **)&w->balances, w->n_balances, &w->cap_balances, sizeof *w->balances, w))
            return;
        strcpy(w->balances[w->n_balances++].account, account);
    }
    struct asserted *balance = &w->balances[i];
    snprintf(balance->commodity, sizeof balance->commodity, "%s", cli_books_name(&w->commodities, p->asset));
    balance->scale = p->scale;
    balance->balance = p->balance;
    balance->changed = true;
}

static void put_balances(struct writing *w)
{
    char date[DB_BOOKS_DATE_MAX], amount[DECIMAL_TEXT_MAX];
    db_books_date(date, w->day + 1);
    for (size_t i = 0; i < w->n_balances; i++) {
        struct asserted *balance = &w->balances[i];
        if (balance->changed)
            fprintf(w->out, "\n%s balance %s  %s ~ 0 %s\n", date, balance->account,
                    amount_text(amount, balance->balance, balance->scale), balance->commodity);
        balance->changed = false;
    }
}

/* ---- transactions ---- */

static void put_posting(struct writing *w, const struct db_books_posting *p)
{
    char name[ACCOUNT_MAX], amount[DECIMAL_TEXT_MAX], date[DB_BOOKS_DATE_MAX];
    fprintf(w->out, "  %s  %s %s", account_of(w, p, p->place, name), amount_text(amount, p->amount, p->scale),
            cli_books_name(&w->commodities, p->asset));
    if (p->costed != DB_COST_NONE)
        fprintf(w->out, p->costed == DB_COST_LOT ? " {{%s %s" : " @@ %s %s",
                amount_text(amount, p->cost, p->cost_scale), cli_books_name(&w->commodities, p->cost_asset));
    if (p->costed == DB_COST_LOT)
        fprintf(w->out, ", %s, \"%s\"}}", db_books_date(date, p->opened_ns / (86400 * INT64_C(1000000000))),
                p->label);
    putc('\n', w->out);
    if (p->asserted)
        take_balance(w, p);
}

static void put_head(struct writing *w, const struct db_books_transaction *t)
{
    char date[DB_BOOKS_DATE_MAX], time[64];
    fprintf(w->out, "\n%s * ", db_books_date(date, t->day));
    put_text(w->out, t->words);
    fprintf(w->out, "\n  time: \"%s\"\n", db_books_time(time, sizeof time, t->ts_ns));
    if (t->ledger)
        fprintf(w->out, "  ledger: %llu\n", (unsigned long long)t->ledger);
    if (t->order)
        fprintf(w->out, "  order: %llu\n", (unsigned long long)t->order);
    if (t->fill)
        fprintf(w->out, "  fill: %llu\n", (unsigned long long)t->fill);
}

static void take_transaction(void *ctx, const struct db_books_transaction *transaction, bool declaring)
{
    struct writing *w = ctx;
    if (declaring) {
        declare(w, transaction);
        return;
    }
    if (transaction->day > w->day)
        put_balances(w);
    w->day = transaction->day;
    if (transaction->n == 1 && transaction->postings[0].amount == 0) { /* its lots have moved all of it */
        if (transaction->postings[0].asserted)
            take_balance(w, &transaction->postings[0]);
        return;
    }
    put_head(w, transaction);
    for (size_t i = 0; i < transaction->n; i++)
        put_posting(w, &transaction->postings[i]);
}

static void take_price(void *ctx, const struct db_books_price *price, bool declaring)
{
    struct writing *w = ctx;
    char date[DB_BOOKS_DATE_MAX], text[DECIMAL_TEXT_MAX];
    if (declaring)
        return;
    fprintf(w->out, "\n%s price %s  %s %s\n", db_books_date(date, price->day),
            cli_books_name(&w->commodities, price->asset), amount_text(text, price->price, price->scale),
            cli_books_name(&w->commodities, price->quote));
}

int cli_books_beancount(struct db_reader *reader, struct db_books_query query, FILE *out)
{
    struct writing w = {.out = out,
                        .parts = {.form = form_part, .between = "-"},
                        .commodities = {.form = form_commodity, .between = "-"},
                        .opened = {.form = form_same, .between = ""}};
    query.lots = true;
    fputs(";; papertape ledger export --beancount: the ledger, oldest row first, times in UTC\n"
          "option \"title\" \"papertape\"\n",
          out);
    int r = db_books_journal(reader, &query,
                             &(struct db_books_sink){&w, take_transaction, take_price, take_declared});
    if (r == 0)
        put_balances(&w);
    if (r == 0 && (w.no_memory || w.parts.no_memory || w.commodities.no_memory || w.opened.no_memory))
        r = -ENOMEM;
    cli_books_names_finish(&w.parts);
    cli_books_names_finish(&w.commodities);
    cli_books_names_finish(&w.opened);
    free(w.declared);
    free(w.balances);
    return r;
}

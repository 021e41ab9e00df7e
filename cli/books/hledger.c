#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "cli/books/books.h"
#include "cli/books/names.h"
#include "exchange/decimal.h"

enum { ACCOUNT_MAX = 4 * CLI_BOOKS_NAME_MAX, COMMODITY_MAX = ASSET_NAME_MAX + 2 };

struct writing {
    FILE *out;
    struct cli_books_names parts;    /* of accounts' names */
    struct cli_books_names declared; /* accounts and commodities */
};

/* A name as a part of an account's. */
static void form_part(const char *from, char to[static CLI_BOOKS_NAME_MAX])
{
    size_t n = 0;
    for (; from[n] && n < CLI_BOOKS_NAME_MAX - 1; n++)
        to[n] = isalnum((unsigned char)from[n]) || strchr("-_.", from[n]) ? from[n] : '_';
    to[n] = '\0';
}

static void form_same(const char *from, char to[static CLI_BOOKS_NAME_MAX])
{
    snprintf(to, CLI_BOOKS_NAME_MAX, "%s", from);
}

/* A commodity's symbol: in quotes where it is not letters alone. */
static const char *commodity(const char *asset, char buf[static COMMODITY_MAX + 1])
{
    bool plain = true;
    for (const char *at = asset; *at; at++)
        plain &= isalpha((unsigned char)*at) != 0;
    snprintf(buf, COMMODITY_MAX + 1, plain ? "%s" : "\"%s\"", asset);
    return buf;
}

static const char *amount_text(char buf[static DECIMAL_TEXT_MAX], int128_t amount, int scale)
{
    decimal_format(amount, scale, buf);
    return buf;
}

static const struct {
    const char *name;
    bool of_account, of_asset;
} places[DB_PLACES] = {
    [DB_PLACE_ASSETS] = {"assets", true, true},
    [DB_PLACE_LOTS] = {"assets", true, true},
    [DB_PLACE_LOANS] = {"liabilities:loans", true, true},
    [DB_PLACE_DEPOSITS] = {"equity:deposits", true, false},
    [DB_PLACE_TRANSFERS] = {"equity:transfers", false, false},
    [DB_PLACE_RESETS] = {"equity:resets", true, false},
    [DB_PLACE_SPLITS] = {"equity:splits", true, false},
    [DB_PLACE_DIVIDENDS] = {"income:dividends", true, false},
    [DB_PLACE_FEES] = {"expenses:fees", true, false},
    [DB_PLACE_INTEREST] = {"expenses:interest", true, false},
    [DB_PLACE_GAINS] = {"income:gains", true, false},
    [DB_PLACE_OPENING] = {"equity:opening", true, false},
    [DB_PLACE_CONVERSION] = {"equity:conversion", false, false},
};

static const char *account_of(struct writing *w, const struct db_books_posting *p,
                              char buf[static ACCOUNT_MAX])
{
    int n = snprintf(buf, ACCOUNT_MAX, "%s", places[p->place].name);
    if (places[p->place].of_account)
        n += snprintf(buf + n, ACCOUNT_MAX - (size_t)n, ":%s", cli_books_name(&w->parts, p->account));
    if (places[p->place].of_asset)
        snprintf(buf + n, ACCOUNT_MAX - (size_t)n, ":%s", cli_books_name(&w->parts, p->asset));
    return buf;
}

/* ---- declarations ---- */

static void declare_commodity(struct writing *w, const char *asset, int scale)
{
    char symbol[COMMODITY_MAX + 1], sample[DECIMAL_TEXT_MAX];
    if (cli_books_name_new(&w->declared, commodity(asset, symbol)))
        fprintf(w->out, "commodity %s%s %s\n", amount_text(sample, 0, scale), scale == 0 ? "." : "", symbol);
}

static void declare(struct writing *w, const struct db_books_transaction *transaction)
{
    char name[ACCOUNT_MAX];
    for (size_t i = 0; i < transaction->n; i++) {
        const struct db_books_posting *p = &transaction->postings[i];
        declare_commodity(w, p->asset, p->scale);
        if (p->costed != DB_COST_NONE)
            declare_commodity(w, p->cost_asset, p->cost_scale);
        if (cli_books_name_new(&w->declared, account_of(w, p, name)))
            fprintf(w->out, "account %s\n", name);
    }
}

/* ---- transactions ---- */

static void put_posting(struct writing *w, const struct db_books_posting *p)
{
    char name[ACCOUNT_MAX], amount[DECIMAL_TEXT_MAX], symbol[COMMODITY_MAX + 1];
    commodity(p->asset, symbol);
    fprintf(w->out, "    %s  %s %s", account_of(w, p, name), amount_text(amount, p->amount, p->scale),
            symbol);
    if (p->costed != DB_COST_NONE) {
        char cost_symbol[COMMODITY_MAX + 1];
        fprintf(w->out, " @@ %s %s", amount_text(amount, p->cost, p->cost_scale),
                commodity(p->cost_asset, cost_symbol));
    }
    if (p->asserted)
        fprintf(w->out, " = %s %s", amount_text(amount, p->balance, p->scale), symbol);
    putc('\n', w->out);
}

static void put_head(struct writing *w, const struct db_books_transaction *t)
{
    char date[DB_BOOKS_DATE_MAX], time[64];
    fprintf(w->out, "\n%s * %s  ; time:%s", db_books_date(date, t->day), t->words,
            db_books_time(time, sizeof time, t->ts_ns));
    if (t->ledger)
        fprintf(w->out, ", ledger:%llu", (unsigned long long)t->ledger);
    if (t->order)
        fprintf(w->out, ", order:%llu", (unsigned long long)t->order);
    if (t->fill)
        fprintf(w->out, ", fill:%llu", (unsigned long long)t->fill);
    putc('\n', w->out);
}

static void take_transaction(void *ctx, const struct db_books_transaction *transaction, bool declaring)
{
    struct writing *w = ctx;
    if (declaring) {
        declare(w, transaction);
        return;
    }
    put_head(w, transaction);
    for (size_t i = 0; i < transaction->n; i++)
        put_posting(w, &transaction->postings[i]);
}

static void take_price(void *ctx, const struct db_books_price *price, bool declaring)
{
    struct writing *w = ctx;
    char date[DB_BOOKS_DATE_MAX], symbol[COMMODITY_MAX + 1], quote[COMMODITY_MAX + 1], text[DECIMAL_TEXT_MAX];
    if (declaring)
        return;
    fprintf(w->out, "\nP %s %s %s %s\n", db_books_date(date, price->day), commodity(price->asset, symbol),
            amount_text(text, price->price, price->scale), commodity(price->quote, quote));
}

static void take_declared(void *ctx, int64_t first_day)
{
    (void)ctx;
    (void)first_day;
}

int cli_books_hledger(struct db_reader *reader, struct db_books_query query, FILE *out)
{
    struct writing w = {
        .out = out, .parts = {.form = form_part, .between = "_"}, .declared = {.form = form_same}};
    w.declared.between = "";
    query.lots = false;
    fputs("; papertape ledger export --hledger: the ledger, oldest row first, times in UTC\n"
          "decimal-mark .\n",
          out);
    int r = db_books_journal(reader, &query,
                             &(struct db_books_sink){&w, take_transaction, take_price, take_declared});
    if (r == 0 && (w.parts.no_memory || w.declared.no_memory))
        r = -ENOMEM;
    cli_books_names_finish(&w.parts);
    cli_books_names_finish(&w.declared);
    return r;
}

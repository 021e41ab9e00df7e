#include "db/books/totals.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/account.h"
#include "record/json.h"

enum { REAL_SCALE = 8 }; /* of figures that are not exact */

static struct db_total *find(struct db_totals *totals, const char *currency, int scale)
{
    for (int i = 0; i < totals->n; i++)
        if (strcmp(totals->list[i].currency, currency) == 0)
            return &totals->list[i];
    if (totals->n == DB_TOTALS_MAX) {
        totals->more = true;
        return NULL;
    }
    struct db_total *total = &totals->list[totals->n];
    *total = (struct db_total){.scale = scale, .rate = totals->n == 0 ? 1 : NAN};
    memcpy(total->currency, currency, strnlen(currency, sizeof total->currency - 1));
    totals->n++;
    return total;
}

void db_totals_add(struct db_totals *totals, const char *currency, int scale, bool known, int64_t equity,
                   int64_t deposits)
{
    struct db_total *total = find(totals, currency, scale);
    if (!total)
        return;
    for (; total->scale < scale; total->scale++) {
        total->equity *= 10;
        total->deposits *= 10;
    }
    int128_t unit = decimal_pow10(total->scale - scale);
    total->accounts++;
    total->unknown += !known;
    total->equity += known ? unit * equity : 0;
    total->deposits += unit * deposits;
}

void db_totals_add_real(struct db_totals *totals, const char *currency, double equity, double deposits)
{
    int64_t units = 0, put_in = 0;
    bool known = isfinite(equity) && decimal_from_double(equity, REAL_SCALE, &units) == 0;
    if (!isfinite(deposits) || decimal_from_double(deposits, REAL_SCALE, &put_in) < 0)
        put_in = 0;
    db_totals_add(totals, currency, REAL_SCALE, known, units, put_in);
}

/* ---- of what is stored ---- */

struct stored {
    struct {
        int number, scale;
        char currency[ASSET_NAME_MAX];
    } accounts[ACCOUNTS_MAX];
    int n;
    bool known; /* of the account that is read */
    int64_t equity, deposits;
};

static void take_account(void *ctx, const struct db_account_row *row)
{
    struct stored *stored = ctx;
    if (stored->n == ACCOUNTS_MAX)
        return;
    stored->accounts[stored->n].number = row->account.number;
    stored->accounts[stored->n].scale = row->account.currency_scale;
    memcpy(stored->accounts[stored->n].currency, row->account.currency, ASSET_NAME_MAX);
    stored->n++;
}

static void take_point(void *ctx, const struct db_equity_point *point)
{
    struct stored *stored = ctx;
    stored->known = true;
    stored->equity = point->equity;
}

static void take_flow(void *ctx, const struct db_flow *flow)
{
    struct stored *stored = ctx;
    stored->deposits = flow->kind == LEDGER_RESET ? 0 : stored->deposits + flow->amount;
}

int db_totals_read(struct db_reader *reader, bool flows, struct db_totals *totals)
{
    struct stored *stored = calloc(1, sizeof *stored);
    int r = stored ? db_reader_accounts(reader, take_account, stored) : -ENOMEM;
    for (int a = 0; r == 0 && a < stored->n; a++) {
        const int number = stored->accounts[a].number;
        stored->known = false;
        stored->equity = stored->deposits = 0;
        r = db_reader_equity(reader, number, INT64_MIN, 1, take_point, stored);
        if (r == 0 && flows)
            r = db_reader_flows(reader, number, stored->accounts[a].currency, 0, take_flow, stored);
        db_totals_add(totals, stored->accounts[a].currency, stored->accounts[a].scale, stored->known,
                      stored->equity, stored->deposits);
    }
    free(stored);
    return r;
}

/* ---- together ---- */

void db_totals_price(struct db_totals *totals, const struct symbol *symbol, int64_t price)
{
    const char *first = totals->list[0].currency;
    double rate = decimal_to_double(price, symbol->price_scale);
    for (int i = 1; i < totals->n && price > 0; i++) {
        struct db_total *total = &totals->list[i];
        bool direct = strcmp(symbol->base, total->currency) == 0 && strcmp(symbol->quote, first) == 0;
        bool inverse = strcmp(symbol->quote, total->currency) == 0 && strcmp(symbol->base, first) == 0;
        if ((!direct && !inverse) || total->rate_symbol[0])
            continue;
        total->rate = direct ? rate : 1 / rate;
        memcpy(total->rate_symbol, symbol->name, sizeof total->rate_symbol);
    }
}

double db_total_equity(const struct db_total *total)
{
    return total->unknown > 0 ? NAN : decimal_to_double(total->equity, total->scale);
}

double db_total_return_pct(const struct db_total *total)
{
    return account_return_pct(db_total_equity(total), decimal_to_double(total->deposits, total->scale));
}

double db_totals_converted(const struct db_totals *totals)
{
    double sum = totals->n == 0 || totals->more ? NAN : 0;
    for (int i = 0; i < totals->n; i++)
        sum += totals->list[i].rate * db_total_equity(&totals->list[i]);
    return sum;
}

json_t *db_totals_json(const struct db_totals *totals)
{
    json_t *list = json_array();
    for (int i = 0; list && i < totals->n; i++) {
        const struct db_total *total = &totals->list[i];
        json_array_append_new(
            list,
            json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:s?, s:o}", "currency", total->currency, "accounts",
                      total->accounts, "equity",
                      total->unknown > 0 ? json_null() : decimal_json(total->equity, total->scale),
                      "deposits", decimal_json(total->deposits, total->scale), "return_pct",
                      record_json_real(db_total_return_pct(total)), "rate", record_json_real(total->rate),
                      "rate_symbol", total->rate_symbol[0] ? total->rate_symbol : NULL, "converted",
                      record_json_real(total->rate * db_total_equity(total))));
    }
    return list;
}

#include "db/equity_curve.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/reader_query.h"
#include "exchange/decimal_json.h"
#include "exchange/fail.h"
#include "exchange/nearest.h"
#include "exchange/text.h"
#include "record/json.h"
#include "record/times.h"

enum { PAGE = 2048, PART = 48 * 1024 };

/* ---- pages ---- */

struct page {
    size_t n;
    struct db_equity_point points[PAGE];
};

static void take_point(void *ctx, const struct db_equity_point *point)
{
    struct page *page = ctx;
    if (page->n < PAGE)
        page->points[page->n++] = *point;
}

static int read_account(struct db_reader *reader, const struct db_account *account, struct page *page,
                        int (*row)(void *ctx, const struct db_curve_row *row), void *ctx)
{
    int64_t after_ns = 0;
    int r = 0;
    do {
        page->n = 0;
        r = db_reader_equity_after(reader, account->number, after_ns, PAGE, take_point, page);
        for (size_t i = 0; i < page->n && r == 0; i++) {
            const struct db_equity_point *point = &page->points[i];
            const double drawdown =
                point->peak > 0 ? (double)point->equity / (double)point->peak - 1 : (double)NAN;
            r = row(ctx, &(struct db_curve_row){account, *point, drawdown});
            after_ns = point->ts_ns;
        }
    } while (r == 0 && page->n == PAGE);
    return r;
}

/* Of accounts that are made meanwhile nothing is read. The reader's rows move when one is met, so that each
 * is copied. */
int db_equity_curve_read(struct db_reader *reader, const char *account,
                         int (*row)(void *ctx, const struct db_curve_row *row), void *ctx)
{
    struct page *page = malloc(sizeof *page);
    struct nearest nearest = {0};
    bool any = false;
    int r = page ? db_reader_load_accounts(reader) : -ENOMEM;
    for (size_t i = 0; i < reader->n_accounts && r == 0; i++) {
        const struct db_account one = reader->accounts[i].account;
        if (account && strcmp(one.name, account) != 0) {
            nearest_offer(&nearest, account, one.name);
            continue;
        }
        any = true;
        r = read_account(reader, &one, page, row, ctx);
    }
    free(page);
    if (r == 0 && account && !any) {
        snprintf(reader->error, sizeof reader->error, "\"%.64s\": " FAIL_NO_ACCOUNT "%s", account,
                 NEAREST_SUGGEST(nearest_meant(&nearest, account)));
        return -ENOENT;
    }
    return r;
}

/* ---- as text ---- */

static const char *const columns[] = {"account", "currency", "ts_ns", "equity", "cash", "peak"};
#define DRAWDOWN "drawdown_share"

struct writing {
    enum db_curve_form form;
    struct text text;
    bool any;
    int (*put)(void *ctx, const char *bytes, size_t n);
    void *ctx;
};

static int flush(struct writing *writing)
{
    if (!text_ok(&writing->text))
        return -ENOMEM;
    int r = writing->text.len > 0 ? writing->put(writing->ctx, writing->text.data, writing->text.len) : 0;
    text_clear(&writing->text);
    return r;
}

/* A name as JSON has it, and CSV too, which needs its quotes only for a comma or a quote: neither is in a
 * name. */
static void put_name(struct writing *writing, const char *name)
{
    json_t *value = writing->form == DB_CURVE_JSON ? record_json_text(name) : NULL;
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    text_str(&writing->text, text ? text : name);
    free(text);
    json_decref(value);
}

static void begin_cell(struct writing *writing, int column, const char *name)
{
    if (writing->form == DB_CURVE_JSON)
        text_format(&writing->text, "%s\"%s\":", column ? "," : "", name);
    else if (column)
        text_lit(&writing->text, ",");
}

static void put_drawdown(struct writing *writing, double value)
{
    if (!isnan(value))
        text_format(&writing->text, "%.15g", value);
    else if (writing->form == DB_CURVE_JSON)
        text_lit(&writing->text, "null");
}

static int put_row(void *ctx, const struct db_curve_row *row)
{
    struct writing *writing = ctx;
    const int64_t money[] = {row->point.equity, row->point.cash, row->point.peak};
    const bool json = writing->form == DB_CURVE_JSON;
    char decimal[DECIMAL_TEXT_MAX], iso[RECORD_TIME_ISO_MAX];
    if (json)
        text_str(&writing->text, writing->any ? ",{" : "{");
    writing->any = true;
    begin_cell(writing, 0, columns[0]);
    put_name(writing, row->account->name);
    begin_cell(writing, 1, columns[1]);
    put_name(writing, row->account->currency);
    begin_cell(writing, 2, columns[2]);
    text_int(&writing->text, row->point.ts_ns);
    for (int i = 0; i < 3; i++) {
        begin_cell(writing, 3 + i, columns[3 + i]);
        decimal_format(money[i], row->account->currency_scale, decimal);
        text_str(&writing->text, decimal);
    }
    begin_cell(writing, 6, DRAWDOWN);
    put_drawdown(writing, row->drawdown);
    if (!json)
        text_format(&writing->text, ",%s", record_time_iso(row->point.ts_ns, iso));
    text_str(&writing->text, json ? "}" : "\n");
    return writing->text.len >= PART ? flush(writing) : 0;
}

int db_equity_curve_write(struct db_reader *reader, const char *account, enum db_curve_form form,
                          int (*put)(void *ctx, const char *bytes, size_t n), void *ctx)
{
    struct writing writing = {.form = form, .put = put, .ctx = ctx};
    if (form == DB_CURVE_JSON)
        text_lit(&writing.text, "{\"schema\":\"papertape.equity/1\",\"equity\":[");
    for (size_t i = 0; form == DB_CURVE_CSV && i < sizeof columns / sizeof *columns; i++)
        text_format(&writing.text, "%s,", columns[i]);
    if (form == DB_CURVE_CSV)
        text_lit(&writing.text, DRAWDOWN ",ts_iso\n");
    int r = db_equity_curve_read(reader, account, put_row, &writing);
    if (form == DB_CURVE_JSON)
        text_lit(&writing.text, "]}\n");
    if (r == 0)
        r = flush(&writing);
    text_finish(&writing.text);
    return r;
}

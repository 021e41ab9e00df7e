#include "db/position_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/as_of.h"
#include "db/reader_query.h"
#include "record/account.h"
#include "record/print.h"

#define HELD(member, ...) RECORD_FIELD_(held.member, __VA_ARGS__)
#define ROW               struct db_position_shown
static const struct record_field fields[] = {PRINT_AS(ACCOUNT, REQUIRED, account, "account"),
                                             PRINT_AS(SYMBOL, REQUIRED, symbol, "symbol"),
                                             PRINT_AS(STRING, OPTIONAL, side, "side"),
                                             PRINT_PRICE_OR_NONE(entry, "entry"),
                                             PRINT_PRICE_OR_NONE(mark, "mark"),
                                             PRINT_AS(TIME, OPTIONAL, mark_ts_ns, "mark_ts_ns"),
                                             PRINT_AS(QUOTE, ABSENT, value, "value"),
                                             PRINT_AS(QUOTE, ABSENT, upnl, "upnl"),
                                             PRINT_AS(STRING, REQUIRED, quote, "quote"),
                                             PRINT_PRICE_OR_NONE(fifo_entry, "fifo_entry"),
                                             RECORD_HOLDING(HELD, HELD)};
const struct record db_positions_shown = RECORD_OF("positions", fields);
#undef ROW

struct position_reading {
    const char *account;
    bool all;
    void (*row)(void *ctx, const struct db_position_shown *row, const struct record_context *context);
    void *ctx;
    struct {
        char symbol[SYMBOL_NAME_MAX];
        int64_t mark, mark_ns;
    } marks[SYMBOLS_MAX];
    int n_marks;
};

static void take_mark(void *ctx, const struct db_price_row *row)
{
    struct position_reading *reading = ctx;
    if (reading->n_marks == SYMBOLS_MAX)
        return;
    strcpy(reading->marks[reading->n_marks].symbol, row->symbol->symbol.name);
    reading->marks[reading->n_marks].mark = row->price.mark;
    reading->marks[reading->n_marks++].mark_ns = row->price.mark_ns;
}

/* 0 where no price is known. */
static void set_mark(const struct position_reading *reading, const char *symbol,
                     struct db_position_shown *shown)
{
    for (int i = 0; i < reading->n_marks; i++)
        if (strcmp(reading->marks[i].symbol, symbol) == 0) {
            shown->mark = reading->marks[i].mark;
            shown->mark_ts_ns = reading->marks[i].mark_ns;
        }
}

static struct db_position_shown shown_of(const struct position_reading *reading,
                                         const struct db_position_row *row)
{
    const struct symbol *s = &row->symbol->symbol;
    const struct position *held = &row->position;
    int shift = s->price_scale + s->qty_scale - s->quote_scale;
    struct db_position_shown shown = {.side = held->qty < 0   ? "S"
                                              : held->qty > 0 ? "L"
                                                              : "",
                                      .quote = s->quote,
                                      .value = INT64_MIN,
                                      .upnl = INT64_MIN,
                                      .held = *held};
    set_mark(reading, s->name, &shown);
    if (held->qty == 0 || shift < 0 || shift > DECIMAL_SCALE_MAX)
        return shown;
    int128_t unit = decimal_pow10(shift), qty = held->qty < 0 ? -held->qty : held->qty;
    shown.entry = (int64_t)((held->cost * unit + qty / 2) / qty);
    shown.fifo_entry = (int64_t)((held->fifo_cost * unit + qty / 2) / qty);
    if (shown.mark != 0) {
        shown.value = (int64_t)((int128_t)shown.mark * held->qty / unit);
        shown.upnl = shown.value - (held->qty < 0 ? -held->cost : held->cost);
    }
    return shown;
}

static void take_position(void *ctx, const struct db_position_row *row)
{
    const struct position_reading *reading = ctx;
    if ((row->position.qty == 0 && !reading->all) ||
        (reading->account && strcmp(row->account->name, reading->account) != 0))
        return;
    const struct db_position_shown shown = shown_of(reading, row);
    reading->row(reading->ctx, &shown, &(struct record_context){&row->symbol->symbol, row->account->name});
}

int db_position_list_read(struct db_reader *reader, const char *account, bool all,
                          void (*row)(void *ctx, const struct db_position_shown *row,
                                      const struct record_context *context),
                          void *ctx)
{
    struct position_reading *reading = calloc(1, sizeof *reading);
    if (!reading)
        return -ENOMEM;
    reading->account = account;
    reading->all = all;
    reading->row = row;
    reading->ctx = ctx;
    const bool past = reader->as_of_ns > 0;
    int r = (past ? db_as_of_prices : db_reader_prices)(reader, take_mark, reading);
    if (r == 0)
        r = (past ? db_as_of_positions : db_reader_positions)(reader, take_position, reading);
    free(reading);
    return r;
}

/* ---- as JSON ---- */

struct writing {
    int (*put)(void *ctx, const char *bytes, size_t n);
    void *ctx;
    bool any;
    int r;
};

static void put(struct writing *writing, const char *text)
{
    if (writing->r == 0)
        writing->r = text ? writing->put(writing->ctx, text, strlen(text)) : -ENOMEM;
}

static void put_row(void *ctx, const struct db_position_shown *row, const struct record_context *context)
{
    struct writing *writing = ctx;
    json_t *object = record_json_object(&db_positions_shown, NULL, 0, row, context);
    char *text = decimal_json_text(object, 15);
    json_decref(object);
    if (writing->any)
        put(writing, ",");
    writing->any = true;
    put(writing, text);
    free(text);
}

int db_position_list_write(struct db_reader *reader, int (*to)(void *ctx, const char *bytes, size_t n),
                           void *ctx)
{
    struct writing writing = {.put = to, .ctx = ctx};
    int r = db_reader_begin(reader);
    if (r < 0)
        return r;
    put(&writing, "{\"schema\":\"papertape.positions/1\",\"positions\":[");
    r = db_position_list_read(reader, NULL, false, put_row, &writing);
    db_reader_end(reader);
    if (r == 0) /* what could not be read to its end has none */
        put(&writing, "]}\n");
    return r < 0 ? r : writing.r;
}

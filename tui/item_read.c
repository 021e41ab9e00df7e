/* What the database knows of an item: its row, and the rows that belong to it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/stored.h"
#include "db/list.h"
#include "db/records.h"
#include "exchange/filter_words.h"
#include "exchange/order_reason.h"
#include "record/order.h"
#include "tui/history_reader.h"
#include "tui/item.h"

enum { ROWS_MAX = 200, LEDGER_ROWS = 40 };

struct reading {
    struct item_page *page;
    char refusal[ITEM_REFUSAL_MAX];
    int rows;                /* one more than ROWS_MAX are read, to know whether there are more */
    struct ledger_row entry; /* whose page it is */
    struct order order;
    struct symbol symbol;           /* the order's; no name: unknown */
    char account[ACCOUNT_NAME_MAX]; /* likewise */
};

static const char *decimal(char buf[static STORED_CELL], int64_t units, int scale)
{
    return cli_stored_decimal(STORED_TABLE, buf, units, scale);
}

static void on_order(void *ctx, int at, const struct db_order_row *row)
{
    struct reading *reading = ctx;

    (void)at;
    reading->rows++;
    reading->order = row->order;
    reading->symbol = row->symbol ? row->symbol->symbol : (struct symbol){.name = ""};
    snprintf(reading->account, sizeof(reading->account), "%s", row->account ? row->account->name : "");
}

static void put_order(const struct reading *reading)
{
    const struct record_context context = {reading->symbol.name[0] ? &reading->symbol : NULL,
                                           reading->account[0] ? reading->account : NULL};
    const enum order_reason reason = reading->order.reason;

    if (reading->refusal[0])
        tui_item_text(reading->page, STYLE_BAD, reading->refusal);
    else if (reason != ORDER_OK)
        tui_item_line(reading->page, STYLE_BAD, "%s: %s", order_reason_name(reason),
                      order_reason_words(reason));
    tui_item_record(reading->page, &record_orders, &reading->order, &context, NULL);
}

/* With what was needed and available, or the bounds: the words of the answer to its command. */
static void on_refusal(void *ctx, const struct db_command *row)
{
    struct reading *reading = ctx;

    tui_history_refusal(reading->refusal, sizeof(reading->refusal), row->result);
}

static void on_reference(void *ctx, const struct bar *bar)
{
    ((struct filter_request *)ctx)->reference = bar->close;
}

/* The bounds of the order's filter. The market's price is known where a bar ended as the order was given, as
 * all orders are in runs over bars. */
static int read_filter(struct reading *reading, struct history_reader *reader)
{
    const struct order *order = &reading->order;
    struct filter_request request = {.side = order->side,
                                     .type = order->type,
                                     .qty = order->qty,
                                     .price = order->price,
                                     .stop_price = order->stop_price};
    char words[ORDER_WORDS_MAX];
    int64_t interval_ns, open_ns;

    if (order->reason == ORDER_OK || !reading->symbol.name[0])
        return 0;
    int r = db_reader_interval_after(reader->db, reading->symbol.name, 0, &interval_ns);
    if (r == 0) {
        open_ns = order->created_ns - interval_ns;
        r = db_reader_bars(reader->db, reading->symbol.name, interval_ns, BAR_VENUE, open_ns, open_ns,
                           on_reference, &request);
    }
    if (r < 0 && r != -ENOENT)
        return r;
    if (filter_words(&reading->symbol, &request, order->reason, words))
        snprintf(reading->refusal, sizeof(reading->refusal), "%s: %s", order_reason_name(order->reason),
                 words);
    return 0;
}

static void put_fill(struct reading *reading, const struct db_fill_row *row, const char *more)
{
    const struct fill *fill = &row->fill;
    const struct symbol *symbol = &row->symbol->symbol;
    char time[STORED_CELL], qty[STORED_CELL], price[STORED_CELL], fee[STORED_CELL];

    if (++reading->rows > ROWS_MAX)
        return;
    tui_item_line(reading->page, STYLE_NORMAL, "%s  fill %llu: %s %s at %s, fee %s %s, %s%s",
                  cli_stored_time(STORED_TABLE, time, fill->ts_ns), (unsigned long long)fill->id,
                  order_side_name(fill->side), decimal(qty, fill->qty, symbol->qty_scale),
                  decimal(price, fill->price, symbol->price_scale),
                  decimal(fee, fill->fee, symbol->quote_scale), symbol->quote,
                  fill->maker ? "maker" : "taker", more);
}

static void on_fill_line(void *ctx, const struct db_fill_row *row)
{
    put_fill(ctx, row, "");
}

static void on_trip_fill(void *ctx, const struct db_fill_row *row)
{
    char order[40];

    snprintf(order, sizeof(order), ", order %llu", (unsigned long long)row->fill.order_id);
    put_fill(ctx, row, order);
}

static void on_fill(void *ctx, int at, const struct db_fill_row *row)
{
    struct reading *reading = ctx;
    const struct record_context context = {&row->symbol->symbol, row->account->name};

    (void)at;
    reading->rows++;
    tui_item_record(reading->page, &record_fills, &row->fill, &context, NULL);
}

/* There is one. */
static void on_any_fill(void *ctx, int at, const struct db_fill_row *row)
{
    (void)at, (void)row;
    ((struct reading *)ctx)->rows++;
}

static void on_ledger(void *ctx, const struct db_ledger_row *entry)
{
    struct reading *reading = ctx;
    const struct ledger_row *row = &entry->row;
    char time[STORED_CELL], amount[STORED_CELL], balance[STORED_CELL];

    if (++reading->rows > ROWS_MAX)
        return;
    tui_item_line(reading->page, STYLE_NORMAL, "%s  entry %llu: %s %s%s %s, balance %s %s",
                  cli_stored_time(STORED_TABLE, time, row->ts_ns), (unsigned long long)row->id,
                  ledger_row_word(row), row->amount > 0 ? "+" : "", decimal(amount, row->amount, row->scale),
                  row->asset, decimal(balance, row->balance, row->scale), row->asset);
}

static void on_alert(void *ctx, int at, const struct db_alert *row)
{
    struct reading *reading = ctx;

    (void)at;
    reading->rows++;
    tui_item_text(reading->page, row->severity == DB_ERROR ? STYLE_BAD : STYLE_STRONG, row->text);
    tui_item_line(reading->page, STYLE_NORMAL, "%s", "");
    tui_item_record(reading->page, &db_record_alerts, row, NULL, "text");
}

static void on_command(void *ctx, int at, const struct db_command *row)
{
    struct reading *reading = ctx;

    (void)at;
    reading->rows++;
    tui_item_record(reading->page, &db_record_commands, row, NULL, NULL);
}

/* An entry of the ledger. */
static void on_entry(void *ctx, int at, const struct db_ledger_row *entry)
{
    struct reading *reading = ctx;
    const struct symbol own = {.quote_scale = entry->row.scale};
    const struct record_context context = {&own, entry->account->name};

    (void)at;
    reading->rows++;
    reading->entry = entry->row;
    tui_item_record(reading->page, &record_ledger, &entry->row, &context, NULL);
    tui_item_field(reading->page, "contra", STYLE_NORMAL, ledger_contra_name(entry->row.kind));
}

static void on_command_at(void *ctx, const struct db_command *row)
{
    on_command(ctx, 0, row);
}

/* Rows under a heading; "none" where there are none. */
static void begin(struct reading *reading, const char *heading)
{
    tui_item_heading(reading->page, heading);
    reading->rows = 0;
}

static void end(struct reading *reading)
{
    if (reading->rows == 0)
        tui_item_line(reading->page, STYLE_DIM, "none");
    else if (reading->rows > ROWS_MAX)
        tui_item_line(reading->page, STYLE_DIM, "and more: papertape fills and ledger list all");
}

static int read_order(struct reading *reading, struct history_reader *reader, int64_t id)
{
    int r = db_reader_order_refusal(reader->db, (uint64_t)id, on_refusal, reading);

    if (!reading->refusal[0])
        memcpy(reading->refusal, reading->page->refusal, sizeof(reading->refusal));
    if (r == 0)
        r = db_list_orders(reader->db, &id, 1, on_order, reading);
    if (r < 0 || reading->rows == 0)
        return r;
    if (!reading->refusal[0] && (r = read_filter(reading, reader)) < 0)
        return r;
    put_order(reading);
    begin(reading, "Fills");
    r = db_reader_order_fills(reader->db, (uint64_t)id, ROWS_MAX + 1, on_fill_line, reading);
    end(reading);
    begin(reading, "Ledger");
    if (r == 0)
        r = db_reader_order_ledger(reader->db, (uint64_t)id, ROWS_MAX + 1, on_ledger, reading);
    end(reading);
    return r < 0 ? r : 1;
}

static int read_fill(struct reading *reading, struct history_reader *reader, int64_t id)
{
    int r = db_list_fills(reader->db, &id, 1, on_fill, reading);

    if (r < 0 || reading->rows == 0)
        return r;
    begin(reading, "Ledger");
    r = db_reader_fill_ledger(reader->db, (uint64_t)id, ROWS_MAX + 1, on_ledger, reading);
    end(reading);
    return r < 0 ? r : 1;
}

/* What an entry is of: a fill and its order, or a command; and what else was written at that moment. */
static int read_entry(struct reading *reading, struct history_reader *reader, int64_t id)
{
    int r = db_list_ledger(reader->db, &id, 1, on_entry, reading);

    if (r < 0 || reading->rows == 0)
        return r;
    int64_t fill = (int64_t)reading->entry.fill_id, order = (int64_t)reading->entry.order_id;
    reading->page->item.order = order;
    begin(reading, fill > 0 ? "Its fill" : "The command that was carried out then");
    if (fill > 0)
        r = db_list_fills(reader->db, &fill, 1, on_fill, reading);
    else
        r = db_reader_command_at(reader->db, reading->entry.ts_ns, on_command_at, reading);
    end(reading);
    if (order > 0 && r == 0) {
        begin(reading, "Its order");
        r = db_list_orders(reader->db, &order, 1, on_order, reading);
        if (reading->rows > 0)
            put_order(reading);
        end(reading);
    }
    begin(reading, "Other entries of that moment");
    if (r == 0)
        r = db_reader_moment_ledger(reader->db, (uint64_t)id, LEDGER_ROWS, on_ledger, reading);
    end(reading);
    return r < 0 ? r : 1;
}

/* The account, and the asset whose entries are shown: its currency, or what a symbol is made of. */
struct holder {
    const char *account;
    int number;
    char asset[ASSET_NAME_MAX];
};

static void on_account(void *ctx, const struct db_account_row *row)
{
    struct holder *holder = ctx;

    if (strcmp(row->account.name, holder->account) != 0)
        return;
    holder->number = row->account.number;
    if (!holder->asset[0])
        snprintf(holder->asset, sizeof(holder->asset), "%s", row->account.currency);
}

static int read_trip(struct reading *reading, struct history_reader *reader, const struct item *item)
{
    int r;

    if (item->first < 0) { /* its row has not been read yet */
        r = db_list_fills(reader->db, &item->id, 1, on_any_fill, reading);
        return r < 0 ? r : reading->rows > 0;
    }
    begin(reading, "Fills");
    r = db_list_trip_fills(reader->db, item->id, item->first, ROWS_MAX + 1, on_trip_fill, reading);
    end(reading);
    return r < 0 ? r : 1;
}

static int read_ledger(struct reading *reading, struct history_reader *reader, const char *account,
                       const char *symbol)
{
    struct holder holder = {.account = account, .number = -1};
    struct db_symbol_row row;
    char heading[80];
    int r = symbol ? db_reader_symbol(reader->db, symbol, &row) : 0;

    if (r == 0 && symbol)
        memcpy(holder.asset, row.symbol.base, sizeof(holder.asset));
    if (r == 0)
        r = db_reader_accounts(reader->db, on_account, &holder);
    if (r < 0 || holder.number < 0)
        return r == -ENOENT ? 0 : r;
    snprintf(heading, sizeof(heading), "Ledger: the newest entries in %s", holder.asset);
    begin(reading, heading);
    r = db_reader_asset_ledger(reader->db, holder.number, holder.asset, LEDGER_ROWS, on_ledger, reading);
    end(reading);
    return r < 0 ? r : 1;
}

static int read_item(struct reading *reading, struct history_reader *reader)
{
    const struct item *item = &reading->page->item;
    int r = 0;

    switch (item->kind) {
    case ITEM_ORDER:
        return read_order(reading, reader, item->id);
    case ITEM_FILL:
        return read_fill(reading, reader, item->id);
    case ITEM_TRIP:
        return read_trip(reading, reader, item);
    case ITEM_LEDGER:
        return read_entry(reading, reader, item->id);
    case ITEM_ALERT:
        r = db_list_alerts(reader->db, &item->id, 1, on_alert, reading);
        break;
    case ITEM_COMMAND:
        r = db_list_commands(reader->db, &item->id, 1, on_command, reading);
        break;
    case ITEM_ACCOUNT:
        return read_ledger(reading, reader, item->name, NULL);
    case ITEM_POSITION:
        return read_ledger(reading, reader, item->account, item->name);
    default:
        return 1;
    }
    return r < 0 ? r : reading->rows > 0;
}

int tui_item_read(struct item_page *page, struct history_reader *reader)
{
    struct reading reading = {.page = page};
    int r = db_reader_begin(reader->db);

    if (r < 0)
        return r;
    r = read_item(&reading, reader);
    db_reader_end(reader->db);
    return r;
}

#include "tui/list_source.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "exchange/decimal.h"
#include "tui/history_reader.h"

void tui_list_rows_finish(struct list_rows *rows)
{
    free(rows->rows);
    free(rows->unread);
    db_trip_sums_finish(&rows->sums);
    *rows = (struct list_rows){0};
}

void tui_list_rows_keep_sums(struct list_rows *now, struct list_rows *before)
{
    if (now->summed)
        return;
    now->sums = before->sums;
    now->summed = before->summed;
    before->sums = (struct db_trip_sums){0};
}

size_t tui_list_row_size(enum db_list list)
{
    static const size_t sizes[DB_LISTS] = {
        [DB_LIST_ORDERS] = sizeof(struct status_order),   [DB_LIST_FILLS] = sizeof(struct history_fill),
        [DB_LIST_ALERTS] = sizeof(struct history_alert),  [DB_LIST_LOG] = sizeof(struct history_log),
        [DB_LIST_TRIPS] = sizeof(struct history_trip),    [DB_LIST_LEDGER] = sizeof(struct history_ledger),
        [DB_LIST_BARS] = sizeof(struct history_list_bar),
    };

    return sizes[list];
}

/* Where rows go: with the places that they have in the window, where those are not their own. */
struct taking {
    void *rows;
    const int *places;
    int n;
    bool tags;                       /* of other rows: their absence costs no row */
    char (*unread)[LIST_UNREAD_MAX]; /* made when there is one */
};

static void on_unread(void *ctx, int at, const char *words)
{
    struct taking *taking = ctx;

    if (taking->tags)
        return;
    if (!taking->unread)
        taking->unread = calloc((size_t)taking->n, sizeof(*taking->unread));
    if (taking->unread && at >= 0)
        cli_text_clean(taking->unread[taking->places ? taking->places[at] : at], LIST_UNREAD_MAX, words);
}

static void on_order(void *ctx, int at, const struct db_order_row *row)
{
    tui_history_take_order(row, &((struct status_order *)((struct taking *)ctx)->rows)[at]);
}

static void on_fill(void *ctx, int at, const struct db_fill_row *row)
{
    tui_history_take_fill(row, &((struct history_fill *)((struct taking *)ctx)->rows)[at]);
}

static void on_alert(void *ctx, int at, const struct db_alert *row)
{
    tui_history_take_alert(row, &((struct history_alert *)((struct taking *)ctx)->rows)[at]);
}

static void on_trip(void *ctx, int at, const struct db_trip *row)
{
    tui_history_take_trip(row, &((struct history_trip *)((struct taking *)ctx)->rows)[at]);
}

static void on_ledger(void *ctx, int at, const struct db_ledger_row *row)
{
    tui_history_take_ledger(row, &((struct history_ledger *)((struct taking *)ctx)->rows)[at]);
}

static void on_bar(void *ctx, int at, const struct bar *row, const struct db_symbol_row *symbol)
{
    const int price = symbol->symbol.price_scale, qty = symbol->symbol.qty_scale;
    const bool known = row->trades >= 0;

    ((struct history_list_bar *)((struct taking *)ctx)->rows)[at] = (struct history_list_bar){
        .bar = {.open_ns = row->open_ns,
                .open = decimal_to_double(row->open, price),
                .high = decimal_to_double(row->high, price),
                .low = decimal_to_double(row->low, price),
                .close = decimal_to_double(row->close, price),
                .volume = decimal_to_double(row->volume, qty)},
        .value = known ? decimal_to_double(row->quote_volume, price + qty) : NAN,
        .trades = row->trades,
        .session = row->session == BAR_SESSION_NONE ? "" : bar_session_names[row->session],
    };
}

static struct history_log *log_at(void *ctx, int at)
{
    const struct taking *taking = ctx;

    return &((struct history_log *)taking->rows)[taking->places[at]];
}

static void on_log_order(void *ctx, int at, const struct db_order_row *row)
{
    struct status_order order;

    tui_history_take_order(row, &order);
    tui_history_log_order(&order, log_at(ctx, at));
}

static void on_log_alert(void *ctx, int at, const struct db_alert *row)
{
    struct history_alert alert;

    tui_history_take_alert(row, &alert);
    tui_history_log_alert(&alert, log_at(ctx, at));
}

static void on_log_command(void *ctx, int at, const struct db_command *row)
{
    tui_history_log_command(row, log_at(ctx, at));
}

/* A fill's reason is its order's tag. */
static void on_tag(void *ctx, int at, const struct db_order_row *row)
{
    struct history_fill *fill = &((struct history_fill *)((struct taking *)ctx)->rows)[at];

    cli_text_clean(fill->tag, sizeof(fill->tag), row->order.tag);
}

static int read_fills(struct db_reader *db, const struct db_list_window *window, struct taking *taking)
{
    const struct history_fill *fills = taking->rows;
    int64_t orders[DB_LIST_WINDOW];
    int r = db_list_fills(db, window->ids, window->n, on_fill, taking);

    for (int i = 0; i < window->n; i++)
        orders[i] = (int64_t)fills[i].order;
    taking->tags = true;
    return r < 0 ? r : db_list_orders(db, orders, window->n, on_tag, taking);
}

/* The log's rows are of three tables. */
static int read_log(struct db_reader *db, const struct db_list_window *window, struct taking *taking)
{
    int64_t ids[DB_LIST_WINDOW], id;
    int places[DB_LIST_WINDOW], r = 0;

    taking->places = places;
    for (int kind = DB_LIST_LOG_ALERT; r == 0 && kind <= DB_LIST_LOG_COMMAND; kind++) {
        int n = 0;
        for (int i = 0; i < window->n; i++)
            if ((int)db_list_log_kind(window->ids[i], &id) == kind) {
                ids[n] = id;
                places[n++] = i;
            }
        r = kind == DB_LIST_LOG_ALERT   ? db_list_alerts(db, ids, n, on_log_alert, taking)
            : kind == DB_LIST_LOG_ORDER ? db_list_orders(db, ids, n, on_log_order, taking)
                                        : db_list_commands(db, ids, n, on_log_command, taking);
    }
    return r;
}

static int read_each(struct db_reader *db, const struct db_list_query *query,
                     const struct db_list_window *window, struct taking *taking)
{
    const enum db_list list = query->list;

    if (list == DB_LIST_ORDERS)
        return db_list_orders(db, window->ids, window->n, on_order, taking);
    if (list == DB_LIST_FILLS)
        return read_fills(db, window, taking);
    if (list == DB_LIST_ALERTS)
        return db_list_alerts(db, window->ids, window->n, on_alert, taking);
    if (list == DB_LIST_TRIPS)
        return db_list_trips(db, window->ids, window->n, on_trip, taking);
    if (list == DB_LIST_LEDGER)
        return db_list_ledger(db, window->ids, window->n, on_ledger, taking);
    if (list == DB_LIST_BARS)
        return db_list_bars(db, query, window->ids, window->n, on_bar, taking);
    return read_log(db, window, taking);
}

/* A row that cannot be read has its place, and says why. */
static int read_rows(struct db_reader *db, const struct db_list_query *query, struct list_rows *rows)
{
    struct taking taking = {.rows = rows->rows, .n = rows->window.n};

    db_reader_leave_out(db, on_unread, &taking);
    int r = read_each(db, query, &rows->window, &taking);
    db_reader_leave_out(db, NULL, NULL);
    rows->unread = taking.unread;
    return r;
}

static int read_found(struct db_reader *db, enum db_list list, const struct list_want *want, bool sums,
                      struct list_rows *ret)
{
    struct db_list_query query = want->query;
    struct list_rows rows = {
        .have = true, .at_ns = want->at_ns, .query = want->query, .answered = want->asked};
    int64_t id = want->id;
    int r = 0;

    memcpy(rows.without, want->without, sizeof(rows.without));
    query.without = want->without[0] ? want->without : NULL;
    if (want->asked && (r = db_list_find(db, &query, want->find, want->from, want->back, &id)) == 0)
        rows.result = id;
    if (r == 0 || r == -ENOENT)
        r = db_list_read(db, &query, id, want->at, &rows.window);
    if (r == 0 && !(rows.rows = calloc((size_t)rows.window.n + 1, tui_list_row_size(list))))
        r = -ENOMEM;
    if (r == 0)
        r = read_rows(db, &query, &rows);
    rows.summed = sums && list == DB_LIST_TRIPS;
    if (r == 0 && rows.summed)
        r = db_trips_sums(db, &rows.sums);
    if (r < 0) {
        free(rows.rows);
        free(rows.unread);
        return r;
    }
    *ret = rows;
    return 0;
}

int tui_list_source_read(struct db_reader *db, enum db_list list, const struct list_want *want, bool sums,
                         struct list_rows *ret)
{
    int r = db_reader_begin(db);

    if (r < 0)
        return r;
    r = read_found(db, list, want, sums, ret);
    db_reader_end(db);
    return r;
}

#include "tui/history.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "db/as_of.h"
#include "db/list.h"
#include "db/records.h"
#include "exchange/fail.h"
#include "record/order.h"
#include "tui/history_reader.h"
#include "tui/status_reader.h"

const struct record_key tui_history_order_keys[1] = {{"trail_percent", "trail_pct"}};

#define COPY(field, text) cli_text_clean(field, sizeof(field), text)

/* Where rows go while they are read. */
struct reading {
    struct history *history;
    const struct history_want *want;
    struct statistics *statistics;
    bool no_memory;
    int n_new; /* fills that came since the last call */
};

static int decimals_of(int64_t step, int scale)
{
    int n = scale;

    while (step > 0 && n > 0 && step % 10 == 0) {
        step /= 10;
        n--;
    }
    return step > 0 ? n : scale > 8 ? 8 : scale;
}

int tui_history_price_decimals(const struct db_symbol_row *row)
{
    return row ? decimals_of(row->symbol.filters.tick, row->symbol.price_scale) : 2;
}

int tui_history_qty_decimals(const struct db_symbol_row *row)
{
    return row ? decimals_of(row->symbol.filters.step, row->symbol.qty_scale) : 8;
}

int tui_history_open(const char *path, struct history_reader **ret, char *err, size_t err_size)
{
    char words[DB_ERROR_MAX];
    struct history_reader *reader = calloc(1, sizeof(*reader));

    if (reader)
        reader->statistics = tui_statistics_create();
    if (!reader || !reader->statistics) {
        free(reader);
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    }
    int r = db_reader_open(path, &reader->db, words, sizeof(words));
    if (r < 0) {
        cli_text_clean(err, err_size, words);
        tui_history_close(reader);
        return r;
    }
    *ret = reader;
    return 0;
}

int tui_history_open_at(const char *path, int64_t at_ns, struct history_reader **ret, char *err,
                        size_t err_size)
{
    struct history_reader *reader;
    int r = tui_history_open(path, &reader, err, err_size);

    if (r == 0 && at_ns > 0 && (r = db_reader_as_of(reader->db, at_ns)) < 0) {
        tui_history_failed(reader, r, err, err_size);
        tui_history_close(reader);
    }
    if (r < 0)
        return r;
    reader->at_ns = at_ns;
    *ret = reader;
    return 0;
}

void tui_history_close(struct history_reader *reader)
{
    if (!reader)
        return;
    tui_statistics_destroy(reader->statistics);
    if (reader->db)
        db_reader_close(reader->db);
    free(reader);
}

int tui_history_failed(struct history_reader *reader, int r, char *err, size_t err_size)
{
    cli_text_clean(err, err_size, db_reader_error(reader->db));
    return r;
}

static void on_unread(void *ctx, int at, const char *words)
{
    struct history_unread *unread = &((struct history_reader *)ctx)->unread;
    char text[HISTORY_UNREAD_TEXT_MAX];

    (void)at;
    COPY(text, words);
    for (int i = 0; i < unread->n; i++)
        if (strcmp(unread->words[i], text) == 0)
            return;
    if (unread->n < HISTORY_UNREAD_MAX)
        memcpy(unread->words[unread->n++], text, sizeof(text));
}

void tui_history_leave_out(struct history_reader *reader, bool leaves)
{
    db_reader_leave_out(reader->db, leaves ? on_unread : NULL, reader);
}

bool tui_history_unreadable(struct history_reader *reader, int r)
{
    if (r == -EBADMSG)
        on_unread(reader, -1, db_reader_error(reader->db));
    return r == -EBADMSG;
}

const char *tui_history_unread_text(const struct history_unread *unread,
                                    char ret[static HISTORY_UNREAD_SUM_MAX])
{
    const int more = unread->n - 1;

    ret[0] = '\0';
    if (unread->n == 0)
        return ret;
    int n = snprintf(ret, HISTORY_UNREAD_TEXT_MAX, "%s", unread->words[0]);
    if (more > 0)
        snprintf(ret + n, HISTORY_UNREAD_SUM_MAX - (size_t)n, "; %d%s more unreadable", more,
                 unread->n == HISTORY_UNREAD_MAX ? " or" : "");
    return ret;
}

RECORD_SHOWN_RECORD(fills, history_fill, RECORD_SHOWN_FILL);
RECORD_SHOWN_RECORD(orders, status_order, RECORD_SHOWN_ORDER);
RECORD_SHOWN_RECORD(alerts, history_alert, RECORD_SHOWN_ALERT);

/* What a row is shown with, also one of an unknown symbol or account. */
static struct record_context context_of(const struct db_symbol_row *symbol, const struct db_account *account)
{
    static const struct symbol unknown = {.name = "?", .price_scale = 8, .qty_scale = 8, .quote_scale = 8};

    return (struct record_context){symbol ? &symbol->symbol : &unknown, account ? account->name : "?"};
}

void tui_history_take_fill(const struct db_fill_row *row, struct history_fill *ret)
{
    const struct record_context context = context_of(row->symbol, row->account);

    *ret = (struct history_fill){.price_decimals = tui_history_price_decimals(row->symbol),
                                 .qty_decimals = tui_history_qty_decimals(row->symbol)};
    tui_status_stored(fills(), ret, &record_fills, &row->fill, NULL, 0, &context);
    COPY(ret->currency, row->symbol->symbol.quote);
    ret->value = decimal_to_double(row->fill.notional, row->symbol->symbol.quote_scale);
    ret->rate_pct = row->rate_known ? (double)row->fill.fee_e6 / 1e4 : NAN;
}

static void on_fill(void *ctx, const struct db_fill_row *row)
{
    struct history *h = ((struct reading *)ctx)->history;

    if (h->n_fills < HISTORY_ROWS_MAX)
        tui_history_take_fill(row, &h->fills[h->n_fills++]);
}

static double average_price(const struct order *order, const struct symbol *symbol)
{
    return decimal_to_double(order->cost, symbol->quote_scale) /
           decimal_to_double(order->filled, symbol->qty_scale);
}

/* `decimals`, or as many as the number was given with: a refused one is shown as it is, not rounded to one
 * that its venue would take. */
static int decimals_given(int decimals, int64_t number, int scale)
{
    int own = number > 0 ? decimals_of(number, scale) : 0;

    return own > decimals ? own : decimals;
}

void tui_history_take_order(const struct db_order_row *row, struct status_order *ret)
{
    const struct record_context context = context_of(row->symbol, row->account);

    *ret = (struct status_order){.price_decimals = tui_history_price_decimals(row->symbol),
                                 .qty_decimals = tui_history_qty_decimals(row->symbol)};
    tui_status_stored(orders(), ret, &record_orders, &row->order, tui_history_order_keys, 1, &context);
    if (row->symbol) {
        const struct symbol *symbol = &row->symbol->symbol;
        ret->price_decimals = decimals_given(ret->price_decimals, row->order.price, symbol->price_scale);
        ret->price_decimals = decimals_given(ret->price_decimals, row->order.stop_price, symbol->price_scale);
        ret->qty_decimals = decimals_given(ret->qty_decimals, row->order.qty, symbol->qty_scale);
    }
    ret->created_ns = row->order.created_ns;
    ret->average = row->symbol && row->order.filled > 0 && row->order.cost > 0
                       ? average_price(&row->order, &row->symbol->symbol)
                       : NAN;
    COPY(ret->client_id, row->order.client_id);
}

static void on_order(void *ctx, const struct db_order_row *row)
{
    struct history *h = ((struct reading *)ctx)->history;

    if (h->n_orders < HISTORY_ROWS_MAX)
        tui_history_take_order(row, &h->orders[h->n_orders++]);
}

const char *tui_history_alert_state(const struct history_alert *alert)
{
    return alert->closed_ns ? "closed" : alert->acked_ns ? "acknowledged" : "open";
}

static void finish_alert(struct history_alert *a, int64_t closed_ns)
{
    a->acked_ns = a->acked_ns > 0 ? a->acked_ns : 0;
    a->closed_ns = closed_ns;
    a->open = a->acked_ns == 0 && closed_ns == 0;
}

void tui_history_take_alert(const struct db_alert *row, struct history_alert *ret)
{
    static const struct record_key keys[] = {{"id", "alert"}};

    ret->unstored = false;
    tui_status_stored(alerts(), ret, &db_record_alerts, row, keys, 1, NULL);
    finish_alert(ret, row->closed_ns);
}

void tui_history_take_ledger(const struct db_ledger_row *entry, struct history_ledger *ret)
{
    const struct ledger_row *row = &entry->row;

    *ret = (struct history_ledger){.ts_ns = row->ts_ns,
                                   .id = (int64_t)row->id,
                                   .kind = ledger_row_word(row),
                                   .contra = ledger_contra_name(row->kind),
                                   .scale = row->scale,
                                   .amount = row->amount,
                                   .balance = row->balance,
                                   .order = (int64_t)row->order_id,
                                   .fill = (int64_t)row->fill_id};
    COPY(ret->account, entry->account->name);
    COPY(ret->asset, row->asset);
}

static void on_alert(void *ctx, const struct db_alert *row)
{
    struct history *h = ((struct reading *)ctx)->history;

    if (h->n_alerts < HISTORY_ROWS_MAX)
        tui_history_take_alert(row, &h->alerts[h->n_alerts++]);
}

static struct history_alert *alert_of(struct history *h, int64_t id)
{
    for (int i = 0; i < h->n_alerts; i++)
        if (h->alerts[i].id == id)
            return &h->alerts[i];
    if (h->n_alerts < HISTORY_ROWS_MAX) /* else the oldest goes */
        h->n_alerts++;
    memmove(&h->alerts[1], &h->alerts[0], (size_t)(h->n_alerts - 1) * sizeof(h->alerts[0]));
    return &h->alerts[0];
}

void tui_history_take_unstored(struct history *h, const json_t *status)
{
    const json_t *list = json_object_get(status, "alerts_unstored");

    for (size_t i = json_array_size(list); i-- > 0;) { /* the newest is to be the first */
        const json_t *object = json_array_get(list, i);
        int64_t id = tui_status_count(object, "alert");
        if (id < 1)
            continue;
        struct history_alert *a = alert_of(h, id);
        tui_status_read(alerts(), object, a);
        finish_alert(a, 0);
        a->unstored = true;
    }
}

void tui_history_begin_line(struct history_log *line, int64_t ts_ns, const char *kind, int64_t id, bool bad)
{
    *line = (struct history_log){.ts_ns = ts_ns, .id = id, .bad = bad};
    COPY(line->kind, kind);
}

void tui_history_log_alert(const struct history_alert *a, struct history_log *ret)
{
    tui_history_begin_line(ret, a->last_ns, "alert", (int64_t)a->id, strcmp(a->severity, "error") == 0);
    COPY(ret->text, a->text);
}

void tui_history_log_order(const struct status_order *o, struct history_log *ret)
{
    char text[STATUS_TEXT_MAX * 2];

    tui_history_begin_line(ret, o->updated_ns, "order", (int64_t)o->id, strcmp(o->state, "REJECTED") == 0);
    snprintf(text, sizeof(text), "%lld %s %s %s %.*f%s%s%s%s %s", (long long)o->id, o->side, o->type,
             o->symbol, o->qty_decimals, o->qty, o->tag[0] ? " " : "", o->tag, o->reason[0] ? " " : "",
             o->reason, o->state);
    COPY(ret->text, text);
}

static void on_command(void *ctx, const struct db_command *row)
{
    struct history *h = ((struct reading *)ctx)->history;

    if (h->n_log < HISTORY_ROWS_MAX)
        tui_history_log_command(row, &h->log[h->n_log++]);
}

/* Alerts and orders that have just been read, as lines of the log. */
static void log_rows(struct history *h)
{
    for (int i = 0; i < h->n_alerts && i < HISTORY_LOG_OTHERS && h->n_log < HISTORY_ROWS_MAX; i++)
        tui_history_log_alert(&h->alerts[i], &h->log[h->n_log++]);
    for (int i = 0; i < h->n_orders && i < HISTORY_LOG_ORDERS && h->n_log < HISTORY_ROWS_MAX; i++)
        tui_history_log_order(&h->orders[i], &h->log[h->n_log++]);
}

static int newer(const void *a, const void *b)
{
    int64_t at = ((const struct history_log *)a)->ts_ns, bt = ((const struct history_log *)b)->ts_ns;

    return at > bt ? -1 : at < bt;
}

/* A fill's reason is its order's tag. */
static void tag_fills(struct history *h)
{
    for (int i = 0; i < h->n_fills; i++)
        for (int k = 0; k < h->n_orders; k++)
            if (h->orders[k].id == h->fills[i].order) {
                memcpy(h->fills[i].tag, h->orders[k].tag, sizeof(h->fills[i].tag));
                break;
            }
}

static void on_new_fill(void *ctx, const struct db_fill_row *row)
{
    struct reading *reading = ctx;

    reading->n_new++;
    reading->no_memory |= tui_statistics_fill(reading->statistics, row) < 0;
}

static int read_statistics(struct history_reader *reader, struct reading *reading)
{
    struct history *h = reading->history;
    reading->statistics = reader->statistics;
    reading->n_new = 0;
    int r = db_reader_fills_after(reader->db, tui_statistics_last(reader->statistics), HISTORY_FILLS_A_READ,
                                  on_new_fill, reading);

    if (r == 0 && reading->no_memory)
        r = -ENOMEM;
    if ((h->fills_unread = tui_history_unreadable(reader, r)))
        r = 0;
    h->fills_left = r == 0 && reading->n_new == HISTORY_FILLS_A_READ;
    for (int i = 0; i < h->n_accounts; i++)
        tui_statistics_of(reader->statistics, h->accounts[i].account, &h->accounts[i].trades);
    return r;
}

const struct history_account *tui_history_account(const struct history *history, const char *name)
{
    for (int i = 0; i < history->n_accounts && !history->fills_unread; i++)
        if (strcmp(history->accounts[i].account, name) == 0)
            return &history->accounts[i];
    return NULL;
}

/* Has nothing changed since *h was read? Alerts that only a status had are to leave with it. */
static bool is_as_read(const struct history_reader *reader, int64_t version, const struct history *h)
{
    for (int i = 0; i < h->n_alerts; i++)
        if (h->alerts[i].unstored)
            return false;
    return reader->read && version == h->read_version;
}

static bool same_chart(const struct history_want *a, const struct history_want *b)
{
    return strcmp(a->symbol, b->symbol) == 0 && strcmp(a->interval, b->interval) == 0 &&
           a->bars_end_ns == b->bars_end_ns;
}

static bool same_past(const struct history_want *a, const struct history_want *b)
{
    return strcmp(a->account, b->account) == 0 && strcmp(a->training, b->training) == 0 &&
           a->span == b->span && strcmp(a->benchmark, b->benchmark) == 0 &&
           memcmp(a->compared, b->compared, sizeof(a->compared)) == 0;
}

bool tui_history_want_equal(const struct history_want *a, const struct history_want *b)
{
    return same_chart(a, b) && same_past(a, b);
}

/* What was read of a curve stays, where one before it is no longer wanted. */
static void move_compared(struct history *h, const struct history_want *want)
{
    for (int i = 0; i < HISTORY_COMPARED_MAX; i++)
        for (int k = i + 1; k < HISTORY_COMPARED_MAX && want->compared[i][0]; k++) {
            if (strcmp(h->compared[i].training, want->compared[i]) == 0 ||
                strcmp(h->compared[k].training, want->compared[i]) != 0)
                continue;
            h->compared[i] = h->compared[k];
            h->compared[k].training[0] = '\0';
        }
}

/* By time: the oldest makes room. */
static void on_action(void *ctx, const struct db_action_row *row)
{
    struct history *h = ((struct reading *)ctx)->history;
    const struct corporate_action *action = &row->action.action;

    if (action->kind != ACTION_SPLIT)
        return;
    if (h->n_splits == HISTORY_SPLITS_MAX)
        memmove(h->splits, h->splits + 1, (size_t)--h->n_splits * sizeof *h->splits);
    h->splits[h->n_splits] =
        (struct history_split){.ex_ns = action->ex_ns, .price = (double)action->per / (double)action->shares};
    COPY(h->splits[h->n_splits++].symbol, row->symbol->symbol.name);
}

/* The newest rows of each list. */
static int read_newest(struct history_reader *reader, struct reading *reading)
{
    struct history *h = reading->history;

    h->n_fills = h->n_orders = h->n_alerts = h->n_log = h->n_splits = 0;
    int r = db_reader_fills(reader->db, HISTORY_ROWS_MAX, on_fill, reading);
    if (r == 0)
        r = db_reader_actions(reader->db, NULL, on_action, reading);
    if (r == 0)
        r = db_reader_orders(reader->db, false, HISTORY_ROWS_MAX, on_order, reading);
    if (r == 0)
        r = db_reader_alerts(reader->db, DB_ALERTS_ALL, HISTORY_ROWS_MAX, on_alert, reading);
    if (r == 0)
        r = db_reader_alerts_open(reader->db, &h->alerts_open);
    if (r == 0)
        r = db_reader_commands(reader->db, HISTORY_LOG_OTHERS, on_command, reading);
    return r;
}

/* All except the bars, the devices and the statistics. */
static int read_stored(struct history_reader *reader, struct reading *reading, int64_t wall_ns)
{
    struct history *h = reading->history;

    h->read_version = 0;
    int r = read_newest(reader, reading);
    if (r == 0)
        r = tui_history_read_equity(reader, h, reading->want, wall_ns);
    if (r == 0)
        r = tui_history_read_benchmark(reader, h, reading->want->benchmark);
    if (r == 0)
        r = tui_history_read_training(reader, &h->training, reading->want->training);
    move_compared(h, reading->want);
    for (int i = 0; r == 0 && i < HISTORY_COMPARED_MAX; i++)
        r = tui_history_read_points(reader, &h->compared[i], reading->want->compared[i]);
    return r;
}

int tui_history_read(struct history_reader *reader, int64_t wall_ns, const struct history_want *want,
                     struct history *ret, char *err, size_t err_size)
{
    struct reading reading = {.history = ret, .want = want};
    struct history *h = ret;
    int64_t version;
    int r = db_reader_version(reader->db, &version);

    if (r == 0)
        r = db_reader_begin(reader->db);
    if (r < 0)
        return tui_history_failed(reader, r, err, err_size);
    const bool as_read = is_as_read(reader, version, h), past = !as_read || !same_past(want, &reader->want),
               chart = !as_read || !same_chart(want, &reader->want);
    reader->read = false;
    tui_history_leave_out(reader, true);
    if (past)
        r = read_stored(reader, &reading, wall_ns);
    if (r == 0 && chart)
        r = tui_history_read_bars(reader, h, want);
    if (r == 0)
        r = tui_history_read_devices(reader, wall_ns, &h->devices);
    tui_history_leave_out(reader, false);
    if (r == 0 && (past || h->fills_left)) /* of every fill, or not known */
        r = read_statistics(reader, &reading);
    h->unread = reader->unread;
    if (r < 0)
        r = tui_history_failed(reader, r, err, err_size);
    db_reader_end(reader->db);
    if (r < 0)
        return r;
    h->read_version = version;
    reader->want = *want;
    reader->read = true;
    if (!past)
        return 0;
    tag_fills(h);
    log_rows(h);
    qsort(h->log, (size_t)h->n_log, sizeof(h->log[0]), newer);
    return 0;
}

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "db/as_of.h"
#include "db/backtest.h"
#include "db/books/reach.h"
#include "db/books/totals.h"
#include "db/records.h"
#include "db/report/report.h"
#include "exchange/decimal.h"
#include "exchange/order_stop.h"
#include "record/order.h"
#include "tui/history_reader.h"
#include "tui/status_reader.h"

#define DAY_NS            (86400 * INT64_C(1000000000))
#define COPY(field, text) cli_text_clean(field, sizeof(field), text)

struct reading {
    struct status *status;
    int64_t wall_ns;
    struct db_account_row accounts[STATUS_ACCOUNTS_MAX];
    int64_t equity_ns[STATUS_ACCOUNTS_MAX];
    int64_t *stops; /* the nearest of each position, price_scale; 0: none */
    int at;         /* the account whose equity is read */
    bool past;      /* of a moment: its cash and deposits are read too */
    struct gains {
        int128_t realized, fees; /* of all positions in the account's currency */
        int64_t cash, deposits;
    } gains[ACCOUNTS_MAX];
};

static int64_t age_ms(const struct reading *reading, int64_t then_ns)
{
    if (then_ns <= 0)
        return -1;
    return then_ns < reading->wall_ns ? (reading->wall_ns - then_ns) / 1000000 : 0;
}

RECORD_SHOWN_RECORD(symbols, status_symbol, RECORD_SHOWN_SYMBOL);
RECORD_SHOWN_RECORD(bars, status_symbol, RECORD_SHOWN_BAR);
RECORD_SHOWN_RECORD(positions, status_position, RECORD_SHOWN_POSITION);
RECORD_SHOWN_RECORD(orders, status_order, RECORD_SHOWN_ORDER);
RECORD_SHOWN_RECORD(accounts, status_account, RECORD_SHOWN_ACCOUNT);

static void on_price(void *ctx, const struct db_price_row *row)
{
    struct reading *reading = ctx;
    struct status *s = reading->status;
    const struct record_context context = {&row->symbol->symbol, NULL};

    struct status_symbol *symbol = tui_status_add(s, STATUS_SYMBOLS);
    if (!symbol)
        return;
    symbol->limit_ms = -1;
    tui_status_read(bars(), NULL, symbol);
    tui_status_stored(symbols(), symbol, &db_record_prices, &row->price, NULL, 0, &context);
    symbol->age_ms = age_ms(reading, row->price.recv_wall_ns);
    symbol->price_decimals = tui_history_price_decimals(row->symbol);
    COPY(symbol->interval, "1m");
}

/* A symbol's interval is the least that bars are stored of: the market's, or a backtest's. */
static int read_intervals(struct history_reader *reader, struct status *status)
{
    int r = 0;

    for (int i = 0; i < status->n_symbols && r == 0; i++) {
        int64_t interval_ns;
        r = db_reader_interval_after(reader->db, status->symbols[i].symbol, 0, &interval_ns);
        const char *name = r == 0 ? bar_interval_name(interval_ns) : NULL;
        if (name)
            COPY(status->symbols[i].interval, name);
        r = r == -ENOENT ? 0 : r;
    }
    return r;
}

static void take_gains(struct reading *reading, const struct db_position_row *row)
{
    const struct db_account *account = row->account;

    if (account->number < 0 || account->number >= ACCOUNTS_MAX ||
        strcmp(row->symbol->symbol.quote, account->currency) != 0)
        return;
    reading->gains[account->number].realized += row->position.realized;
    reading->gains[account->number].fees += row->position.fees;
}

static void on_position(void *ctx, const struct db_position_row *row)
{
    struct reading *reading = ctx;
    struct status *s = reading->status;
    const struct symbol *symbol = &row->symbol->symbol;

    take_gains(reading, row);
    struct status_position *p = row->position.qty != 0 ? tui_status_add(s, STATUS_POSITIONS) : NULL;
    if (!p)
        return;
    double qty = decimal_to_double(row->position.qty, symbol->qty_scale);
    double cost = decimal_to_double(row->position.cost, symbol->quote_scale);
    double fifo_cost = decimal_to_double(row->position.fifo_cost, symbol->quote_scale);
    tui_status_read(positions(), NULL, p);
    p->qty = qty;
    p->entry = cost / fabs(qty);
    p->fifo_entry = fifo_cost > 0 ? fifo_cost / fabs(qty) : NAN;
    p->qty_decimals = tui_history_qty_decimals(row->symbol);
    COPY(p->account, row->account->name);
    COPY(p->symbol, symbol->name);
    COPY(p->side, qty < 0 ? "S" : "L");
    for (int i = 0; i < s->n_symbols; i++)
        if (strcmp(s->symbols[i].symbol, p->symbol) == 0) {
            p->mark = s->symbols[i].mark;
            p->mark_ts_ns = s->symbols[i].mark_ts_ns;
            p->upnl = qty < 0 ? cost + p->mark * qty : p->mark * qty - cost;
            p->age_ms = s->symbols[i].age_ms;
        }
}

static void on_live_order(void *ctx, const struct db_order_row *row)
{
    struct reading *reading = ctx;
    struct status *s = reading->status;
    const struct order *order = &row->order;

    if (!row->account || !row->symbol)
        return;
    const struct record_context context = {&row->symbol->symbol, row->account->name};
    struct status_order *o = tui_status_add(s, STATUS_ORDERS);
    if (!o)
        return;
    s->orders_total = s->n_orders;
    tui_status_stored(orders(), o, &record_orders, order, tui_history_order_keys, 1, &context);
    for (int i = 0; i < s->n_positions; i++) {
        struct status_position *p = &s->positions[i];
        bool is_long = strcmp(p->side, "S") != 0;
        if (strcmp(p->symbol, o->symbol) != 0 || strcmp(p->account, o->account) != 0)
            continue;
        int64_t nearest = order_nearer_stop(order, is_long ? ORDER_SELL : ORDER_BUY, reading->stops[i]);
        if (nearest == reading->stops[i])
            continue;
        reading->stops[i] = nearest;
        p->stop = o->stop;
    }
}

static void on_any_order(void *ctx, const struct db_order_row *row)
{
    ((struct reading *)ctx)->status->orders_total += row->account && row->symbol;
}

/* The newest that fit, of all that live. */
static int read_orders(struct history_reader *reader, struct reading *reading)
{
    struct status *s = reading->status;

    if (!(reading->stops = calloc((size_t)s->n_positions + 1, sizeof(*reading->stops))))
        return -ENOMEM;
    int r = db_reader_orders(reader->db, true, STATUS_ORDERS_MAX, on_live_order, reading);
    if (r < 0 || s->n_orders < STATUS_ORDERS_MAX)
        return r;
    s->orders_total = 0;
    return db_reader_orders(reader->db, true, 0, on_any_order, reading);
}

static void on_account(void *ctx, const struct db_account_row *row)
{
    struct reading *reading = ctx;
    struct status *s = reading->status;

    s->accounts_total++;
    struct status_account *a = tui_status_add(s, STATUS_ACCOUNTS);
    if (!a)
        return;
    reading->accounts[s->n_accounts - 1] = *row;
    tui_status_read(accounts(), NULL, a);
    a->max_drawdown_pct = a->interest = NAN;
    COPY(a->account, row->account.name);
    COPY(a->currency, row->account.currency);
    COPY(a->strategy, row->account.strategy);
    a->shorts = row->account.rules.shorts;
    a->killed = row->killed_ns != 0;
}

static void on_equity(void *ctx, const struct db_equity_point *row)
{
    struct reading *reading = ctx;
    const struct db_account_row *known = &reading->accounts[reading->at];
    struct status_account *account = &reading->status->accounts[reading->at];
    int scale = known->account.currency_scale;
    double peak = decimal_to_double(known->equity_peak, scale);

    account->equity = decimal_to_double(row->equity, scale);
    account->cash = decimal_to_double(row->cash, scale);
    account->drawdown_pct = peak > 0 ? 100 * (fmin(account->equity / peak, 1) - 1) : NAN;
    reading->equity_ns[reading->at] = row->ts_ns;
}

/* The gain of its last day, read where there is a newer point. */
static int read_day(struct history_reader *reader, struct reading *reading, int number)
{
    const struct db_account_row *known = &reading->accounts[reading->at];
    int64_t newest_ns = reading->equity_ns[reading->at];
    int128_t pnl, closing;
    int r = 0;
    if (newest_ns == 0)
        return 0;
    if (reader->day_ns[number] != newest_ns) {
        r = db_report_day_gain(reader->db, &known->account, newest_ns / DAY_NS, &pnl, &closing);
        if (tui_history_unreadable(reader, r)) /* not known */
            return 0;
        if (r < 0)
            return r;
        reader->day_ns[number] = newest_ns;
        reader->day_pnl[number] =
            pnl == DB_REPORT_UNKNOWN ? NAN : decimal_to_double(pnl, known->account.currency_scale);
    }
    reading->status->accounts[reading->at].day_pnl = reader->day_pnl[number];
    return 0;
}

static void show_gains(struct reading *reading, int number)
{
    struct status_account *account = &reading->status->accounts[reading->at];
    int scale = reading->accounts[reading->at].account.currency_scale;

    account->realized = decimal_to_double(reading->gains[number].realized, scale);
    account->fees = decimal_to_double(reading->gains[number].fees, scale);
}

/* The figures of the run's report: return and deepest drawdown from its opening cash on, interest. */
static int read_run(struct history_reader *reader, struct reading *reading, int number)
{
    const struct db_account *known = &reading->accounts[reading->at].account;
    struct status_account *account = &reading->status->accounts[reading->at];
    int64_t newest_ns = reading->equity_ns[reading->at];
    int r = 0;
    if (reader->drawdown_ns[number] != newest_ns) {
        int64_t interest = 0;
        r = db_reader_drawdown(reader->db, number, &reader->drawdown[number]);
        if (r == 0)
            r = db_reader_interest(reader->db, number, known->currency, &interest);
        reader->interest[number] = decimal_to_double(interest, known->currency_scale);
        if (r == 0)
            reader->drawdown_ns[number] = newest_ns;
    }
    if (r < 0 || newest_ns == 0)
        return r == -ENOENT ? 0 : r;
    show_gains(reading, number);
    account->deposits = decimal_to_double(known->cash, known->currency_scale);
    account->return_pct = account_return_pct(account->equity, account->deposits);
    account->max_drawdown_pct = 100 * reader->drawdown[number];
    account->interest = reader->interest[number];
    return 0;
}

static void on_flow(void *ctx, const struct db_flow *row)
{
    struct gains *gains = ctx;

    gains->deposits = row->kind == LEDGER_RESET ? 0 : gains->deposits + row->amount;
}

static void on_cash(void *ctx, const struct db_ledger_row *row)
{
    ((struct gains *)ctx)->cash = row->row.balance;
}

/* Of a moment: what the daemon's status has by what it remembers is summed up of the ledger. */
static int read_gains(struct history_reader *reader, struct reading *reading, int number)
{
    const struct db_account *known = &reading->accounts[reading->at].account;
    struct status_account *account = &reading->status->accounts[reading->at];
    struct gains *gains = &reading->gains[number];
    int scale = known->currency_scale;
    int r = db_reader_asset_ledger(reader->db, number, known->currency, 1, on_cash, gains);

    if (r == 0)
        r = db_reader_flows(reader->db, number, known->currency, 0, on_flow, gains);
    if (r < 0)
        return tui_history_unreadable(reader, r) ? 0 : r;
    account->cash = decimal_to_double(gains->cash, scale);
    show_gains(reading, number);
    if (gains->deposits > 0) {
        account->deposits = decimal_to_double(gains->deposits, scale);
        account->return_pct = account_return_pct(account->equity, account->deposits);
    }
    return 0;
}

/* The figures of the accounts that were read: each of every row of its, or not known. */
static int read_figures(struct history_reader *reader, struct reading *reading)
{
    int r = 0;

    for (reading->at = 0; r == 0 && reading->at < reading->status->n_accounts; reading->at++) {
        int number = reading->accounts[reading->at].account.number;
        if (number < 0 || number >= ACCOUNTS_MAX)
            continue;
        r = db_reader_equity(reader->db, number, reader->equity_ns[number], 1, on_equity, reading);
        reader->equity_ns[number] = reading->equity_ns[reading->at];
        if (r == 0)
            r = read_day(reader, reading, number);
        if (r == 0 && reading->status->saved)
            r = read_run(reader, reading, number);
        else if (r == 0 && reading->past)
            r = read_gains(reader, reading, number);
    }
    return r;
}

/* The daemon's stored result of the last comparison, by the keys of the table meta. */
static int read_parity(struct history_reader *reader, struct status_parity *ret)
{
    char days[24] = "", checked[24] = "", rows[24] = "";
    const struct {
        const char *key;
        char *buf;
        size_t size;
    } values[] = {
        {"parity_state", ret->state, sizeof(ret->state)},
        {"parity_detail", ret->detail, sizeof(ret->detail)},
        {"parity_days", days, sizeof(days)},
        {"parity_ns", checked, sizeof(checked)},
        {DB_REACH_ROWS_KEY, rows, sizeof(rows)},
    };

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char text[4 * STATUS_TEXT_MAX] = "";
        int r = db_reader_meta(reader->db, values[i].key, text, sizeof(text));
        if (r < 0 && r != -ENOENT && r != -ENOSPC)
            return r;
        cli_text_clean(values[i].buf, values[i].size, text);
    }
    ret->days = days[0] ? strtoll(days, NULL, 10) : -1;
    ret->database_rows = rows[0] ? strtoll(rows, NULL, 10) : -1;
    ret->checked_ns = checked[0] ? strtoll(checked, NULL, 10) : -1;
    return 0;
}

/* What has rows of its own: one that cannot be read is left out. */
static int read_rows(struct history_reader *reader, struct reading *reading)
{
    char saved[8];
    int r = db_reader_meta(reader->db, DB_BACKTEST_KEY, saved, sizeof(saved));
    if (r < 0 && r != -ENOENT)
        return r;
    reading->status->saved = r != -ENOENT;
    tui_history_leave_out(reader, true);
    if ((r = (reading->past ? db_as_of_prices : db_reader_prices)(reader->db, on_price, reading)) == 0 &&
        (r = read_intervals(reader, reading->status)) == 0 &&
        (r = (reading->past ? db_as_of_positions : db_reader_positions)(reader->db, on_position, reading)) ==
            0 &&
        (r = read_orders(reader, reading)) == 0)
        r = db_reader_accounts(reader->db, on_account, reading);
    tui_history_leave_out(reader, false);
    return r;
}

/* Of all accounts, also of those that the list has no room for. */
static int read_totals(struct history_reader *reader, struct status *status)
{
    struct db_totals sums = {0};
    bool all = status->accounts_total <= status->n_accounts;
    int r = all ? 0 : db_totals_read(reader->db, false, &sums);

    if (r == 0)
        tui_status_sum(status, all ? NULL : &sums);
    return r;
}

static int read_all(struct history_reader *reader, struct reading *reading)
{
    int r = read_rows(reader, reading);

    if (r == 0)
        r = read_figures(reader, reading);
    if (r == 0)
        r = read_totals(reader, reading->status);
    tui_history_leave_out(reader, true);
    if (r == 0) /* policies have their accounts' figures */
        r = tui_history_status_trainings(reader, reading->wall_ns, reading->status);
    tui_history_leave_out(reader, false);
    if (r == 0 && !reading->past) /* the last comparison alone is kept */
        r = read_parity(reader, &reading->status->parity);
    return r;
}

int tui_history_status(struct history_reader *reader, int64_t wall_ns, struct status *ret,
                       int64_t *ret_accounts_age_ms, char *err, size_t err_size)
{
    struct reading *reading = calloc(1, sizeof(*reading));
    struct status *status = malloc(sizeof(*status));
    int r = -ENOMEM;

    if (!reading || !status) {
        cli_text_clean(err, err_size, "out of memory");
    } else {
        tui_status_init(status);
        reading->status = status;
        reading->wall_ns = wall_ns;
        r = db_reader_begin(reader->db);
        if (r == 0) {
            reading->past = reader->at_ns > 0;
            r = read_all(reader, reading);
            db_reader_end(reader->db);
        }
        if (r < 0)
            tui_history_failed(reader, r, err, err_size);
    }
    if (r == 0) {
        *ret_accounts_age_ms = age_ms(reading, reading->equity_ns[0]);
        *ret = *status;
    } else if (reading && status) {
        tui_status_finish(status);
    }
    free(status);
    if (reading)
        free(reading->stops);
    free(reading);
    return r;
}

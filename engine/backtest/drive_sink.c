/* What the engine gives in a backtest: orders, fills, ledger rows, actions that took effect, decisions. */
#include <stdio.h>

#include "engine/backtest/drive.h"

static void count_refused(struct drive *drive, const struct order *order)
{
    const struct account *account = engine_account(drive->engine, order->account);
    const struct balance *cash = &account->assets[account->currency_at];
    struct engine_symbol_view view;
    engine_symbol_view(drive->engine, order->symbol, &view);
    const struct run_refusal refusal = {.listed = engine_symbol(drive->engine, order->symbol),
                                        .symbol = order->symbol,
                                        .last = view.last,
                                        .free_cash = cash->total - cash->reserved,
                                        .spec = &drive->config->accounts[drive->first + order->account]};
    backtest_run_refused(drive->books[order->account].ret, order->reason, 1, &refusal);
}

static void on_order(void *ctx, const struct order *order)
{
    struct drive *drive = ctx;
    if (order->state == ORDER_REJECTED)
        count_refused(drive, order);
    if (!drive->config->orders)
        return;
    if (order->id > drive->n_orders) { /* ids have no holes */
        struct order *moved =
            backtest_run_room(drive->orders, drive->n_orders, &drive->cap_orders, sizeof *drive->orders);
        if (!moved) {
            drive->out_of_memory = true;
            return;
        }
        drive->orders = moved;
        drive->n_orders++;
    }
    drive->orders[order->id - 1] = *order;
    drive->orders[order->id - 1].account += drive->first;
}

static void on_fill(void *ctx, const struct fill *fill)
{
    struct drive *drive = ctx;
    struct account_book *book = &drive->books[fill->account];
    struct fill *moved =
        backtest_run_room(book->ret->fills, book->ret->n_fills, &book->cap_fills, sizeof *moved);
    if (!moved) {
        drive->out_of_memory = true;
        return;
    }
    book->ret->fills = moved;
    moved[book->ret->n_fills] = *fill;
    moved[book->ret->n_fills++].account += drive->first;
}

static void on_ledger(void *ctx, const struct ledger_row *row)
{
    struct drive *drive = ctx;
    struct account_book *book = &drive->books[row->account];
    book->moved = true;
    book->split += row->kind == LEDGER_SPLIT ? row->amount : 0;
    book->dividend += row->kind == LEDGER_DIVIDEND ? row->amount : 0;
    if (!drive->config->ledger)
        return;
    struct ledger_row *moved =
        backtest_run_room(book->ret->ledger, book->ret->n_ledger, &book->cap_ledger, sizeof *moved);
    if (!moved) {
        drive->out_of_memory = true;
        return;
    }
    book->ret->ledger = moved;
    moved[book->ret->n_ledger++] = *row;
}

/* After the ledger's rows of it. */
static void on_action(void *ctx, int symbol, const struct corporate_action *action, int64_t ts_ns)
{
    struct drive *drive = ctx;
    for (int a = 0; a < drive->n; a++) {
        struct account_book *book = &drive->books[a];
        struct backtest_taken *moved =
            backtest_run_room(book->ret->taken, book->ret->n_taken, &book->cap_taken, sizeof *moved);
        if (!moved) {
            drive->out_of_memory = true;
            return;
        }
        book->ret->taken = moved;
        moved[book->ret->n_taken++] = (struct backtest_taken){.symbol = symbol,
                                                              .action = *action,
                                                              .ts_ns = ts_ns,
                                                              .input_seq = drive->event_seq,
                                                              .n_fills = book->ret->n_fills,
                                                              .change = book->split,
                                                              .paid = book->dividend};
        book->split = book->dividend = 0;
    }
}

/* After the ledger's row of it. A dividend is the action's from its ex-date on, though it is paid later. */
static void on_receivable(void *ctx, const struct receivable_row *row)
{
    struct drive *drive = ctx;
    struct account_book *book = &drive->books[row->account];
    struct receivable_row *moved = backtest_run_room(book->ret->receivables, book->ret->n_receivables,
                                                     &book->cap_receivables, sizeof *moved);
    if (!moved) {
        drive->out_of_memory = true;
        return;
    }
    book->ret->receivables = moved;
    moved[book->ret->n_receivables] = *row;
    moved[book->ret->n_receivables++].account += drive->first;
    book->moved = true;
    if (row->kind == RECEIVABLE_BOOKED)
        book->dividend += row->of.amount;
    else if (row->kind == RECEIVABLE_PAID && row->of.booked != 0)
        book->dividend -= row->paid;
}

static void on_fee_rate(void *ctx, const struct fee_rate_change *change)
{
    struct drive *drive = ctx;
    struct account_book *book = &drive->books[change->account];
    struct backtest_fee_rate *moved =
        backtest_run_room(book->ret->fee_rates, book->ret->n_fee_rates, &book->cap_fee_rates, sizeof *moved);
    if (!moved) {
        drive->out_of_memory = true;
        return;
    }
    book->ret->fee_rates = moved;
    struct backtest_fee_rate *to = &moved[book->ret->n_fee_rates++];
    *to = (struct backtest_fee_rate){.change = *change};
    to->change.account += drive->first;
    to->change.tiers = NULL;
    snprintf(to->tiers, sizeof to->tiers, "%s", change->tiers);
}

static void on_need_bars(void *ctx, int symbol, int64_t from_open_ns, int64_t to_open_ns)
{
    struct drive *drive = ctx;
    (void)from_open_ns;
    (void)to_open_ns;
    drive->waits[symbol] = 1;
    drive->any_waits = true;
}

static void on_decision(void *ctx, const struct engine_decision *decision)
{
    struct drive *drive = ctx;
    const struct market *market = drive->config->market;
    size_t row = (size_t)((decision->bar->open_ns - market->start_ns) / market->interval_ns);
    /* Not again, where what was kept is ordered. A round of several symbols may end with a later row. */
    if (!decision->kept && decision->acted && decision->n_intents > 0)
        drive->config->decided(drive->config->ctx, drive->first + decision->account, decision->symbol, row,
                               decision->intents, decision->n_intents);
}

struct engine_sink backtest_drive_sink(struct drive *drive)
{
    drive->trace = (struct engine_trace){.ctx = drive, .decision = on_decision};
    return (struct engine_sink){.ctx = drive,
                                .order = on_order,
                                .fill = on_fill,
                                .ledger = on_ledger,
                                .action = on_action,
                                .receivable = on_receivable,
                                .fee_rate = on_fee_rate,
                                .need_bars = on_need_bars,
                                .trace = drive->config->decided ? &drive->trace : NULL};
}

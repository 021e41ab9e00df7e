/* A tape of all outputs of an engine, as a running hash: two engines with the same outputs have the same
 * tape. Field by field, since structs have padding. */
#ifndef TESTS_ENGINE_TAPE_H
#define TESTS_ENGINE_TAPE_H

#include <string.h>

#include "engine/core.h"

struct tape {
    uint64_t hash, bars, orders, fills, rows, positions, points, alerts, wants, accounts, commands, revisions;
};

static inline void tape_put(struct tape *tape, uint64_t value)
{
    tape->hash = (tape->hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    tape->hash ^= tape->hash >> 29;
}

static inline void tape_bytes(struct tape *tape, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < len; i++)
        tape_put(tape, at[i]);
}

static inline void tape_text(struct tape *tape, const char *text)
{
    tape_bytes(tape, text, strlen(text) + 1);
}

#define TAPE(tape, ...) \
    do { \
        const int64_t tape_v_[] = {__VA_ARGS__}; \
        for (size_t tape_i_ = 0; tape_i_ < sizeof tape_v_ / sizeof *tape_v_; tape_i_++) \
            tape_put((tape), (uint64_t)tape_v_[tape_i_]); \
    } while (0)

static inline void tape_add_bar(struct tape *tape, const struct bar *bar)
{
    TAPE(tape, bar->open_ns, bar->open, bar->high, bar->low, bar->close, (int64_t)bar->volume,
         (int64_t)(bar->volume >> 64), (int64_t)bar->quote_volume, (int64_t)(bar->quote_volume >> 64),
         bar->trades, bar->first_trade_id, bar->last_trade_id);
}

static inline void tape_add_order(struct tape *tape, const struct order *o)
{
    TAPE(tape, (int64_t)o->id, o->account, o->symbol, o->side, o->type, o->tif, o->state, o->reason, o->qty,
         o->filled, o->price, o->stop_price, o->trail, o->trail_e6, o->peak, o->triggered, o->post_only,
         o->reduce_only, (int64_t)o->group, (int64_t)o->parent, o->cost, o->created_ns, o->effective_ns,
         o->updated_ns, o->expires_ns, (int64_t)o->input_seq, o->amends, o->by_hand);
    tape_text(tape, o->client_id);
    tape_text(tape, o->tag);
}

static inline void tape_add_position(struct tape *tape, const struct position *p)
{
    TAPE(tape, p->qty, p->cost, p->realized, p->fifo_cost, p->fifo_realized, p->fees, p->opened_ns,
         p->updated_ns, p->closed_ns);
}

static inline void tape_bar(void *ctx, int symbol, enum bar_source source, const struct bar *bar)
{
    struct tape *tape = ctx;
    tape->bars++;
    TAPE(tape, 1, symbol, source);
    tape_add_bar(tape, bar);
}

static inline void tape_order(void *ctx, const struct order *order)
{
    struct tape *tape = ctx;
    tape->orders++;
    TAPE(tape, 2);
    tape_add_order(tape, order);
}

static inline void tape_fill(void *ctx, const struct fill *f)
{
    struct tape *tape = ctx;
    tape->fills++;
    TAPE(tape, 3, (int64_t)f->id, (int64_t)f->order_id, f->account, f->symbol, f->side, f->ts_ns, f->price,
         f->qty, f->notional, f->fee, f->fee_e6, f->maker, (int64_t)f->input_seq);
}

static inline void tape_ledger(void *ctx, const struct ledger_row *row)
{
    struct tape *tape = ctx;
    tape->rows++;
    TAPE(tape, 4, (int64_t)row->id, row->ts_ns, row->account, row->scale, row->kind, row->amount,
         row->balance, (int64_t)row->order_id, (int64_t)row->fill_id);
    tape_text(tape, row->asset);
    tape_bytes(tape, row->hash, sizeof row->hash);
}

static inline void tape_position(void *ctx, int account, int symbol, const struct position *position,
                                 int64_t ts_ns)
{
    struct tape *tape = ctx;
    tape->positions++;
    TAPE(tape, 5, account, symbol, ts_ns);
    tape_add_position(tape, position);
}

static inline void tape_equity(void *ctx, const struct equity_point *point)
{
    struct tape *tape = ctx;
    tape->points++;
    TAPE(tape, 6, point->ts_ns, point->account, point->equity, point->cash, point->peak);
}

static inline void tape_alert(void *ctx, int64_t ts_ns, const char *code, const struct engine_subject *of,
                              const char *text)
{
    (void)of;
    struct tape *tape = ctx;
    tape->alerts++;
    TAPE(tape, 7, ts_ns);
    tape_text(tape, code);
    tape_text(tape, text);
}

static inline void tape_need_snapshot(void *ctx, int symbol)
{
    struct tape *tape = ctx;
    tape->wants++;
    TAPE(tape, 8, symbol);
}

static inline void tape_need_bars(void *ctx, int symbol, int64_t from_open_ns, int64_t to_open_ns)
{
    struct tape *tape = ctx;
    tape->wants++;
    TAPE(tape, 9, symbol, from_open_ns, to_open_ns);
}

static inline void tape_account(void *ctx, int account)
{
    struct tape *tape = ctx;
    tape->accounts++;
    TAPE(tape, 10, account);
}

static inline void tape_command(void *ctx, const struct event_command *command, enum order_reason reason,
                                uint64_t order_id)
{
    struct tape *tape = ctx;
    tape->commands++;
    TAPE(tape, 11, (int64_t)command->command_id, command->kind, reason, (int64_t)order_id);
}

static inline void tape_action(void *ctx, int symbol, const struct corporate_action *action, int64_t ts_ns)
{
    struct tape *tape = ctx;
    TAPE(tape, 12, symbol, action->kind, action->shares, action->per, action->cash, ts_ns);
}

static inline void tape_revision(void *ctx, const struct engine_revision *revision)
{
    struct tape *tape = ctx;
    const struct bar none = {0}, *old = revision->old ? revision->old : &none,
                     *now = revision->now ? revision->now : &none;
    tape->revisions += revision->applied;
    TAPE(tape, 14, revision->kind, revision->symbol, revision->ts_ns, revision->at_ns, revision->source,
         revision->applied, old->high, old->low, old->close, (int64_t)old->volume, now->high, now->low,
         now->close, (int64_t)now->volume);
}

static inline void tape_session(void *ctx, const struct market_session *session, int64_t ts_ns)
{
    struct tape *tape = ctx;
    TAPE(tape, 13, session->phase, session->next_ns, session->extended, ts_ns);
}

static inline struct engine_sink tape_sink(struct tape *tape)
{
    return (struct engine_sink){.ctx = tape,
                                .bar = tape_bar,
                                .order = tape_order,
                                .fill = tape_fill,
                                .ledger = tape_ledger,
                                .position = tape_position,
                                .equity = tape_equity,
                                .alert = tape_alert,
                                .need_snapshot = tape_need_snapshot,
                                .need_bars = tape_need_bars,
                                .account = tape_account,
                                .command_done = tape_command,
                                .revision = tape_revision,
                                .action = tape_action,
                                .session = tape_session};
}

static inline void tape_view_symbol(struct tape *tape, const struct engine *engine, int s)
{
    struct engine_symbol_view v;
    engine_symbol_view(engine, s, &v);
    TAPE(tape, v.last, v.bid, v.bid_qty, v.ask, v.ask_qty, v.mark, v.last_ns, v.change_open, v.book,
         (int64_t)v.book_gaps, (int64_t)v.bars, v.stale, v.phase, v.trading, v.bands.up, v.bands.down);
    const struct symbol *symbol = engine_symbol(engine, s);
    const struct symbol_filters *f = &symbol->filters;
    tape_text(tape, symbol->name);
    tape_text(tape, symbol->base);
    tape_text(tape, symbol->quote);
    TAPE(tape, symbol->price_scale, symbol->qty_scale, symbol->quote_scale, symbol->trading, f->price_min,
         f->price_max, f->tick, f->qty_min, f->qty_max, f->step, f->market_qty_min, f->market_qty_max,
         f->market_step, f->notional_min, f->notional_max, f->notional_min_market, f->notional_max_market,
         f->bid_up_e4, f->bid_down_e4, f->ask_up_e4, f->ask_down_e4, f->orders_max);
    const struct market_state *market = &engine->markets[s];
    TAPE(tape, (int64_t)market->quote.update_id, (int64_t)market->builder.gaps, market->builder.closed_ns,
         market->builder.complete, market->builder.first_unknown, (int64_t)market->book.resyncs,
         market->book.n_pending, market->n_held, market->recent.n, market->last_from);
    for (uint32_t i = 0; i < market->book.n_pending_levels; i++)
        TAPE(tape, market->book.pending_levels[i].price, market->book.pending_levels[i].qty);
    tape_add_bar(tape, &v.last_bar);
    tape_add_bar(tape, &v.forming);
    const struct book_level *level;
    for (uint32_t i = 0; (level = book_bid(engine_book(engine, s), i)); i++)
        TAPE(tape, level->price, level->qty);
    for (uint32_t i = 0; (level = book_ask(engine_book(engine, s), i)); i++)
        TAPE(tape, level->price, level->qty);
}

static inline void tape_view_rules(struct tape *tape, const struct account_rules *rules)
{
    TAPE(tape, rules->fees.maker_e6, rules->fees.taker_e6, rules->shorts, rules->collateral_e4,
         rules->maintenance_e4, rules->borrow_rate_e6, rules->risk.orders_per_second,
         (int64_t)(rules->risk.exposure_symbol * 1e6), (int64_t)(rules->risk.exposure_account * 1e6),
         (int64_t)(rules->risk.daily_loss * 1e6), (int64_t)(rules->risk.drawdown * 1e6),
         (int64_t)(rules->risk.price_band * 1e6), rules->risk.cooldown_ns, rules->risk.positions);
}

static inline void tape_view_spec(struct tape *tape, const struct account_spec *spec)
{
    tape_text(tape, spec->name);
    tape_text(tape, spec->currency);
    TAPE(tape, spec->currency_scale, spec->cash);
    tape_view_rules(tape, &spec->rules);
    tape_text(tape, spec->strategy ? spec->strategy->name : "");
    for (size_t i = 0; spec->strategy && i < spec->strategy->n_params; i++)
        tape_bytes(tape, &spec->params[i], sizeof spec->params[i]);
}

static inline void tape_view_account(struct tape *tape, const struct engine *engine, int a)
{
    const struct account *account = engine_account(engine, a);
    tape_view_rules(tape, &account->rules);
    tape_view_spec(tape, engine_account_spec(engine, a));
    tape_text(tape, account->name);
    tape_text(tape, account->currency);
    TAPE(tape, account->currency_scale, account->n_assets, account->deposits, account->equity,
         account->equity_peak, account->day, account->day_equity, account->point, account->day_base,
         account->opening_cash, account->interest_ns, account->unpaid_interest, account->margin_ns,
         account->started, account->killed_ns, engine_equity(engine, a));
    for (int i = 0; i < ORDER_REASONS; i++)
        TAPE(tape, (int64_t)account->refused[i]);
    for (int i = 0; i < RISK_RATE_MAX; i++)
        TAPE(tape, engine->rates[a].times_ns[i]);
    for (int i = 0; i < account->n_assets; i++) {
        const struct balance *balance = &account->assets[i];
        tape_text(tape, balance->asset);
        TAPE(tape, balance->scale, balance->total, balance->borrowed, balance->reserved);
    }
    for (int s = 0; s < engine_symbols(engine); s++) {
        const char *names[16];
        double values[16];
        tape_add_position(tape, &account->positions[s]);
        for (uint32_t i = account->lots[s].first; i < account->lots[s].n; i++)
            TAPE(tape, account->lots[s].lots[i].qty, account->lots[s].lots[i].cost,
                 account->lots[s].lots[i].opened_ns);
        size_t n = engine_indicators(engine, a, s, names, values, 16);
        for (size_t i = 0; i < n; i++) {
            tape_text(tape, names[i]);
            tape_bytes(tape, &values[i], sizeof values[i]);
        }
    }
}

/* What screens see of an engine, as one number. */
static inline uint64_t tape_view(const struct engine *engine)
{
    struct tape tape = {0};
    const struct engine_counters *counters = engine_counters(engine);
    TAPE(&tape, engine_now(engine), engine_paused(engine), engine_symbols(engine), engine_accounts(engine),
         (int64_t)counters->events, (int64_t)counters->decisions, (int64_t)counters->orders,
         (int64_t)counters->rejected, (int64_t)counters->fills, (int64_t)counters->impossible,
         engine->interest_due_ns, engine->next_equity_ns, (int64_t)engine->input_seq, engine->flattening,
         engine->storage_failing);
    for (int i = 0; i < ORDER_REASONS; i++)
        tape_put(&tape, counters->refused[i]);
    for (int a = 0; a < engine_accounts(engine); a++)
        tape_put(&tape, engine_account_daily_loss(engine, a));
    for (int s = 0; s < engine_symbols(engine); s++)
        tape_view_symbol(&tape, engine, s);
    for (int a = 0; a < engine_accounts(engine); a++)
        tape_view_account(&tape, engine, a);
    for (size_t i = 0; i < engine_orders(engine); i++) {
        const struct live_order *live = &engine->orders[i];
        tape_add_order(&tape, &live->order);
        TAPE(&tape, live->reserved, live->amends, live->cancel_queued, live->missed, live->queue_ahead);
    }
    return tape.hash;
}

#endif

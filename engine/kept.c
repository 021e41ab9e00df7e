/* Sessions of what trades for an account: which bars it sees, what is decided when its session is over, and
 * where its entries end.
 *
 * A decision on a session's last bar, or on a bar that closed while the market was closed, is kept and
 * ordered when the next session opens, with the account as it is then: with the event that says so, before
 * any later one. In the bar model only bars move time: there it is ordered before the first bar that opens
 * then or later, of any symbol, and dated by the opening, so that a backtest of the same bars orders the
 * same.
 *
 * An entry that its session did not fill ends with it, ORDER_SESSION_CLOSED. Exits and orders by hand stay.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/driver.h"
#include "engine/match.h"

bool engine_kept_takes(const struct engine *engine, int account, const struct bar *bar)
{
    return session_takes(engine->specs[account].session, bar->session);
}

bool engine_kept_waits(const struct engine *engine, int account, int symbol, int64_t end_ns,
                       int64_t *ret_since_ns)
{
    const struct trading_calendar *calendar = engine_calendar(engine, symbol);
    enum session_choice choice = engine->specs[account].session;
    struct session_span span;
    int64_t now_ns = engine->now_ns + engine_ahead_ns(engine, symbol);
    now_ns = now_ns > end_ns ? now_ns : end_ns;
    if (calendar->n == 0 || choice == SESSION_ALL || !trading_calendar_covers(calendar, now_ns, now_ns))
        return false;
    *ret_since_ns = now_ns;
    return !trading_span_at(calendar, choice, now_ns, &span) || span.open_ns > now_ns;
}

/* ---- what is kept ---- */

static void remove_at(struct strategy_runner *runner, uint32_t at)
{
    runner->n_kept--;
    memmove(&runner->kept[at], &runner->kept[at + 1], (runner->n_kept - at) * sizeof *runner->kept);
}

static bool orders_something(const struct kept_decision *decision)
{
    const struct policy_order *order = &decision->decided.order;
    return decision->of_policy ? order->qty != 0 || order->stop > 0 : decision->n_intents > 0;
}

void engine_kept_put(struct engine *engine, int account, const struct kept_decision *decision)
{
    struct strategy_runner *runner = &engine->runners[account];
    uint32_t at = 0;
    while (at < runner->n_kept && runner->kept[at].symbol < decision->symbol)
        at++;
    if (at < runner->n_kept && runner->kept[at].symbol == decision->symbol)
        remove_at(runner, at);
    if (!orders_something(decision))
        return;
    if (runner->n_kept == runner->cap_kept) {
        uint32_t cap = runner->cap_kept ? 2 * runner->cap_kept : 4;
        struct kept_decision *moved = realloc(runner->kept, cap * sizeof *moved);
        if (!moved) {
            engine->out_of_memory = true;
            return;
        }
        runner->kept = moved;
        runner->cap_kept = cap;
    }
    struct kept_decision *to = &runner->kept[at];
    memmove(to + 1, to, (runner->n_kept++ - at) * sizeof *to);
    *to = *decision;
    to->decided.policy = NULL; /* and what else is of the call only */
    to->decided.units = NULL;
    to->decided.votes = NULL;
    to->decided.why = NULL;
    for (uint32_t i = 0; i < to->n_intents; i++) {
        if (to->intents[i].why)
            snprintf(to->whys[i], sizeof to->whys[i], "%s", to->intents[i].why);
        to->intents[i].why = NULL;
    }
}

void engine_kept_drop(struct engine *engine, int account)
{
    engine->runners[account].n_kept = 0;
}

void engine_kept_drop_all(struct engine *engine)
{
    for (int a = 0; a < engine->n_accounts; a++)
        engine_kept_drop(engine, a);
}

void engine_kept_finish(struct strategy_runner *runner)
{
    free(runner->kept);
    runner->kept = NULL;
    runner->n_kept = runner->cap_kept = 0;
}

void engine_kept_split(struct engine *engine, int symbol, const struct stock_split *split)
{
    double ratio = (double)split->shares / (double)split->per;
    for (int a = 0; a < engine->n_accounts; a++) {
        struct strategy_runner *runner = &engine->runners[a];
        for (uint32_t k = 0; k < runner->n_kept; k++) {
            struct kept_decision *kept = &runner->kept[k];
            struct policy_order *order = &kept->decided.order;
            if (kept->symbol != symbol || kept->bar.open_ns >= split->ex_ns)
                continue;
            engine_split_bar(split, &kept->bar);
            for (uint32_t i = 0; i < kept->n_intents; i++) {
                kept->intents[i].stop /= ratio;
                kept->intents[i].profit /= ratio;
                kept->intents[i].limit /= ratio;
                kept->intents[i].trail /= ratio;
                kept->intents[i].qty *= ratio;
            }
            order->qty = (double)(int64_t)(order->qty * ratio);
            order->stop_qty = (double)(int64_t)(order->stop_qty * ratio);
            order->stop = (double)(int64_t)(order->stop / ratio + 0.5);
        }
    }
}

/* ---- openings ---- */

static bool is_of(enum session_choice choice, enum market_phase phase)
{
    return engine_hours_phase(phase, choice == SESSION_EXTENDED);
}

/* Has the session opened that the decision was kept for? *ret_open_ns: when; INT64_MIN where it is over, too.
 * Live the market must say so; it may do so a little before the clock does. */
static bool opened(const struct engine *engine, int account, const struct kept_decision *kept, int64_t now_ns,
                   int64_t *ret_open_ns)
{
    enum session_choice choice = engine->specs[account].session;
    bool live = engine->fill_model != FILL_BAR;
    struct session_span span;
    now_ns += engine_ahead_ns(engine, kept->symbol);
    if (!trading_span_at(engine_calendar(engine, kept->symbol), choice, kept->since_ns, &span) ||
        span.open_ns > now_ns + (live ? DELAY_ALLOWED_NS : 0) ||
        (live && !is_of(choice, engine->markets[kept->symbol].phase)))
        return false;
    *ret_open_ns = span.close_ns <= now_ns ? INT64_MIN : span.open_ns;
    return true;
}

/* Orders what is due; `calendar` NULL: of all. With FILL_BAR dated by the opening. */
static void order_due(struct engine *engine, const char *calendar, int64_t now_ns)
{
    int64_t before_ns = engine->now_ns, open_ns;
    for (int a = 0; a < engine->n_accounts; a++) {
        struct strategy_runner *runner = &engine->runners[a];
        for (uint32_t i = 0; i < runner->n_kept;) {
            const struct kept_decision kept = runner->kept[i];
            if ((calendar && strcmp(engine->markets[kept.symbol].symbol.calendar, calendar) != 0) ||
                !opened(engine, a, &kept, now_ns, &open_ns)) {
                i++;
                continue;
            }
            remove_at(runner, i);
            if (open_ns == INT64_MIN)
                continue;
            if (engine->fill_model == FILL_BAR)
                engine->now_ns = open_ns;
            if (kept.of_policy)
                engine_driver_order(engine, a, &kept);
            else if (runner->strategy)
                engine_runner_order(engine, a, &kept);
        }
    }
    engine->now_ns = before_ns;
}

/* ---- ends ---- */

/* A strategy's order that opens a position, and when the session ends that it was made in; false where it
 * knows none. */
static bool entry_end(const struct engine *engine, const struct order *order, int64_t *ret_end_ns)
{
    struct session_span span;
    if (order->by_hand || order->reduce_only || order->parent != 0 ||
        engine->specs[order->account].session == SESSION_ALL ||
        !trading_span_at(engine_calendar(engine, order->symbol), engine->specs[order->account].session,
                         order->created_ns + engine_ahead_ns(engine, order->symbol), &span))
        return false;
    *ret_end_ns = span.close_ns;
    return true;
}

/* Ends entries of sessions that are over by now_ns; symbol -1: of all symbols; `phases`: and of those whose
 * market is in no phase of its session. With FILL_BAR dated by the session's end. */
static void end_entries(struct engine *engine, int symbol, int64_t now_ns, bool phases)
{
    int64_t before_ns = engine->now_ns, end_ns;
    for (size_t i = 0; i < engine->n_orders;) {
        const struct order *order = &engine->orders[i].order;
        if ((symbol >= 0 && order->symbol != symbol) || engine_venue_asked(engine, &engine->orders[i]) ||
            !entry_end(engine, order, &end_ns) ||
            !(end_ns <= now_ns || (phases && !is_of(engine->specs[order->account].session,
                                                    engine->markets[order->symbol].phase)))) {
            i++;
            continue;
        }
        if (engine->fill_model == FILL_BAR)
            engine->now_ns = end_ns;
        engine_live_end(engine, order->id, ORDER_IS_CANCELED, ORDER_SESSION_CLOSED);
        i = 0; /* others may have ended with it */
    }
    engine->now_ns = before_ns;
}

/* ---- when ---- */

void engine_kept_session(struct engine *engine, const char *calendar)
{
    if (engine->n_calendars == 0)
        return;
    if (engine->fill_model == FILL_BAR) {
        engine_kept_timer(engine);
        return;
    }
    for (int s = 0; s < engine->n_symbols; s++)
        if (strcmp(engine->markets[s].symbol.calendar, calendar) == 0)
            end_entries(engine, s, engine_venue_ns(engine, s, engine->recv_ns), true);
    order_due(engine, calendar, engine->recv_ns);
}

void engine_kept_bar(struct engine *engine, int64_t open_ns)
{
    if (engine->n_calendars == 0)
        return;
    end_entries(engine, -1, open_ns, false);
    order_due(engine, NULL, open_ns);
}

void engine_kept_bar_over(struct engine *engine, int symbol, const struct bar *bar)
{
    if (engine->n_calendars > 0)
        end_entries(engine, symbol, engine_calendars_end(engine, symbol, bar->open_ns), false);
}

/* No bar of the session can come in time any more. */
void engine_kept_timer(struct engine *engine)
{
    if (engine->fill_model == FILL_BAR && engine->n_calendars > 0)
        end_entries(engine, -1, engine->recv_ns - engine->behind_ns - engine->interval_ns - DELAY_ALLOWED_NS,
                    false);
}

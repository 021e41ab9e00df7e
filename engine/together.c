/* Strategies that see other symbols' bars. Of each of the account's symbols they are shown the last closed
 * bar that they have seen, and the position. With `together` they are called once a round: the bars of one
 * open time, by the rules of policies' rounds (driver.c): when the last of them has closed; where some are
 * missing, once they were waited for long enough, at the first event that shows it, or as soon as a later bar
 * comes, before that takes effect, with FILL_BAR dated by the round's end. A bar that comes after its round
 * updates only what is shown.
 *
 * An outside strategy is asked of a round, and what follows waits for its decision (request.c). A round that
 * was waited for is asked of after the event that shows it, which nothing could hold back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "engine/driver.h"
#include "engine/together.h"
#include "exchange/decimal.h"

/* ---- what it is shown ---- */

int engine_together_open(struct engine *engine, int account)
{
    struct strategy_runner *runner = &engine->runners[account];
    struct strategy_round *round = &runner->round;
    *round = (struct strategy_round){.decided = true};
    if (!strategy_sees_peers(runner->strategy))
        return 0;
    size_t n = (size_t)engine->n_symbols;
    round->symbols = calloc(n, sizeof *round->symbols);
    round->peers = calloc(n, sizeof *round->peers);
    round->inputs = calloc(n, sizeof *round->inputs);
    round->intents = calloc(STRATEGY_INTENTS_MAX * n + STRATEGY_SAID_MAX, sizeof *round->intents);
    for (int s = 0; round->symbols && s < engine->n_symbols; s++)
        if (strcmp(engine->markets[s].symbol.quote, engine->accounts[account].currency) == 0)
            round->symbols[round->n++] = s;
    return round->symbols && round->peers && round->inputs && round->intents ? 0 : -ENOMEM;
}

void engine_together_close(struct strategy_runner *runner)
{
    struct strategy_round *round = &runner->round;
    free(round->symbols);
    free(round->peers);
    free(round->inputs);
    free(round->intents);
    *round = (struct strategy_round){0};
}

static int place_of(const struct strategy_round *round, int symbol)
{
    int k = 0;
    while (k < round->n && round->symbols[k] != symbol)
        k++;
    return k < round->n ? k : -1;
}

static void show(struct engine *engine, int account, int k)
{
    struct strategy_round *round = &engine->runners[account].round;
    int symbol = round->symbols[k];
    const struct strategy_slot *slot = &engine->runners[account].slots[symbol];
    struct strategy_input *in = &round->inputs[k];
    *in = engine_runner_look(engine, account, symbol, &slot->seen);
    if (!slot->saw)
        in->open = in->high = in->low = in->close = in->volume = NAN;
    round->peers[k] = (struct strategy_peer){.name = engine->markets[symbol].symbol.name,
                                             .symbol = symbol,
                                             .ts_ns = slot->saw ? in->ts_ns : 0,
                                             .fresh = slot->there,
                                             .open = in->open,
                                             .high = in->high,
                                             .low = in->low,
                                             .close = in->close,
                                             .volume = in->volume,
                                             .indicators = in->indicators,
                                             .qty = in->qty,
                                             .entry = in->entry,
                                             .stop = in->stop,
                                             .profit = in->profit,
                                             .live_orders = in->live_orders,
                                             .shorts = in->shorts,
                                             .orders = in->orders,
                                             .leverage = in->leverage,
                                             .record = in->record};
}

void engine_together_look(struct engine *engine, int account, int symbol, struct strategy_input *input)
{
    struct strategy_round *round = &engine->runners[account].round;
    for (int k = 0; k < round->n; k++)
        show(engine, account, k);
    input->peers = round->peers;
    input->n_peers = round->n;
    input->self = place_of(round, symbol);
}

/* The inputs of all symbols at the round's end. */
static void look_at_round(struct engine *engine, int account)
{
    struct strategy_round *round = &engine->runners[account].round;
    struct strategy_input counts = {0};
    account_mark(engine, account);
    engine_runner_count(engine, account, &counts);
    for (int k = 0; k < round->n; k++) {
        show(engine, account, k);
        round->inputs[k].positions = counts.positions;
        round->inputs[k].symbols = counts.symbols;
        round->inputs[k].peers = round->peers;
        round->inputs[k].n_peers = round->n;
        round->inputs[k].self = k;
    }
}

/* ---- what it answers ---- */

/* The intents of one symbol, in their order; NULL: how many. */
static size_t intents_of(const struct strategy_round *round, size_t n, int k, struct intent *ret)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (round->intents[i].symbol == k) {
            if (ret)
                ret[found] = round->intents[i];
            found++;
        }
    return found;
}

static bool first_of_symbol(const struct strategy_round *round, size_t i)
{
    size_t before = 0;
    while (before < i && round->intents[before].symbol != round->intents[i].symbol)
        before++;
    return before == i;
}

static bool too_many(const struct strategy_round *round, size_t n)
{
    if (n > STRATEGY_INTENTS_MAX * (size_t)round->n)
        return true;
    for (int k = 0; k < round->n; k++)
        if (intents_of(round, n, k, NULL) > STRATEGY_INTENTS_MAX)
            return true;
    return false;
}

/* Symbol by symbol, in the order in which it first names them. */
static void carry_out(struct engine *engine, int account, size_t n)
{
    struct strategy_runner *runner = &engine->runners[account];
    struct strategy_round *round = &runner->round;
    struct intent intents[STRATEGY_INTENTS_MAX];
    if (too_many(round, n)) {
        engine_intent_refuse(engine, account, round->symbols[0], INTENT_TOO_MANY, &round->intents[0],
                             &round->inputs[0]);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct intent *intent = &round->intents[i];
        int k = intent->symbol;
        bool known = k >= 0 && k < round->n;
        int symbol = round->symbols[known ? k : 0];
        if (!known || !runner->slots[symbol].fresh) {
            engine_intent_refuse(engine, account, symbol, known ? INTENT_NO_BAR : INTENT_BAD_SYMBOL, intent,
                                 &round->inputs[known ? k : 0]);
            continue;
        }
        if (!first_of_symbol(round, i))
            continue;
        const struct bar bar = runner->slots[symbol].seen;
        engine_runner_carry_out(engine, account, symbol, &bar,
                                engine_calendars_end(engine, symbol, bar.open_ns), &round->inputs[k], intents,
                                intents_of(round, n, k, intents));
    }
}

static void trace(const struct engine *engine, int account, size_t n)
{
    const struct strategy_runner *runner = &engine->runners[account];
    const struct strategy_round *round = &runner->round;
    struct intent intents[STRATEGY_INTENTS_MAX];
    if (!engine->sink.trace || !engine->sink.trace->decision || too_many(round, n))
        return;
    for (int k = 0; k < round->n; k++) {
        const struct strategy_slot *slot = &runner->slots[round->symbols[k]];
        if (slot->there)
            engine_runner_trace(engine, account, round->symbols[k], &slot->seen, slot->fresh, false,
                                &round->inputs[k], intents, intents_of(round, n, k, intents));
    }
}

/* ---- rounds ---- */

static bool any_fresh(const struct strategy_runner *runner)
{
    int k = 0;
    while (k < runner->round.n && !runner->slots[runner->round.symbols[k]].fresh)
        k++;
    return k < runner->round.n;
}

static bool all_there(const struct strategy_runner *runner)
{
    int k = 0;
    while (k < runner->round.n && runner->slots[runner->round.symbols[k]].there)
        k++;
    return k == runner->round.n;
}

/* Asks of the round. True: its decision is to be carried out. */
static bool ask(struct engine *engine, int account, bool acts, const struct strategy_input *input)
{
    struct strategy_runner *runner = &engine->runners[account];
    const struct strategy_slot *slot = &runner->slots[runner->round.symbols[0]];
    struct bar bar = slot->seen;
    bar.open_ns = runner->round.open_ns;
    return engine_request_put(engine, account, runner->round.symbols[0], &bar, acts, input, slot->n_values) &&
           acts;
}

/* True: an outside strategy is asked, and what follows waits for it. */
static bool decide(struct engine *engine, int account)
{
    struct strategy_runner *runner = &engine->runners[account];
    struct strategy_round *round = &runner->round;
    bool acts = any_fresh(runner);
    round->decided = true;
    round->since_ns = 0;
    if (acts && engine->fill_model == FILL_BAR)
        engine->now_ns = engine_calendars_end(engine, round->symbols[0], round->open_ns);
    if (acts && engine->to_begin)
        account_begin_all(engine);
    look_at_round(engine, account);
    struct strategy_input input = round->inputs[0];
    input.ts_ns = round->open_ns + engine->interval_ns;
    if (engine_request_asks(engine, account))
        return ask(engine, account, acts, &input);
    size_t n = strategy_on_bar(runner->strategy, runner->params, runner->slots[round->symbols[0]].state,
                               &input, round->intents);
    engine->counters.decisions++;
    trace(engine, account, n);
    if (acts)
        carry_out(engine, account, n);
    return false;
}

int engine_together_due(struct engine *engine, int account, int symbol, const struct bar *bar)
{
    for (int a = account; a < engine->n_accounts; a++) {
        const struct strategy_runner *runner = &engine->runners[a];
        if (runner->strategy && runner->strategy->together && !runner->round.decided &&
            bar->open_ns > runner->round.open_ns && place_of(&runner->round, symbol) >= 0 &&
            engine_kept_takes(engine, a, bar) && decide(engine, a))
            return a;
    }
    return -1;
}

static struct bar bar_of_peer(const struct engine *engine, int symbol, const struct strategy_peer *peer)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    struct bar bar = {.open_ns = peer->ts_ns - engine->interval_ns};
    int64_t volume = 0;
    (void)decimal_from_double(peer->open, listed->price_scale, &bar.open);
    (void)decimal_from_double(peer->high, listed->price_scale, &bar.high);
    (void)decimal_from_double(peer->low, listed->price_scale, &bar.low);
    (void)decimal_from_double(peer->close, listed->price_scale, &bar.close);
    (void)decimal_from_double(peer->volume, listed->qty_scale, &volume);
    bar.volume = volume;
    return bar;
}

/* Of history: what it was shown then. */
static void trace_history(const struct engine *engine, int account, const struct strategy_input *asked)
{
    const struct strategy_round *round = &engine->runners[account].round;
    for (int k = 0; k < asked->n_peers; k++) {
        const struct strategy_peer *peer = &asked->peers[k];
        struct strategy_input input = *asked;
        if (!peer->fresh)
            continue;
        input.self = k;
        input.open = peer->open;
        input.high = peer->high;
        input.low = peer->low;
        input.close = peer->close;
        input.volume = peer->volume;
        input.indicators = peer->indicators;
        input.qty = peer->qty;
        input.entry = peer->entry;
        input.stop = peer->stop;
        input.profit = peer->profit;
        input.live_orders = peer->live_orders;
        input.shorts = peer->shorts;
        input.orders = peer->orders;
        input.leverage = peer->leverage;
        input.record = peer->record;
        const struct bar bar = bar_of_peer(engine, round->symbols[k], peer);
        engine_runner_trace(engine, account, round->symbols[k], &bar, false, false, &input, round->intents,
                            0);
    }
}

void engine_together_decided(struct engine *engine, int account, bool acts,
                             const struct strategy_input *asked, const struct strategy_decision *decision)
{
    struct strategy_round *round = &engine->runners[account].round;
    size_t n = decision->n;
    engine->counters.decisions++;
    for (size_t i = 0; i < n && i < STRATEGY_DECISION_MAX; i++) {
        round->intents[i] = decision->intents[i];
        if (decision->intents[i].why)
            round->intents[i].why = decision->whys[i];
    }
    if (!acts) {
        trace_history(engine, account, asked);
        return;
    }
    look_at_round(engine, account); /* it is as it was asked of */
    if (n > STRATEGY_DECISION_MAX)
        n = SIZE_MAX; /* too many */
    trace(engine, account, n);
    carry_out(engine, account, n);
}

static bool waits(const struct engine *engine, const struct strategy_runner *runner)
{
    return engine->policy_wait_ns > 0 && runner->strategy && runner->strategy->together &&
           !runner->round.decided && runner->round.since_ns > 0;
}

static int64_t wait_end(const struct engine *engine, const struct strategy_runner *runner)
{
    int64_t end_ns;
    return __builtin_add_overflow(runner->round.since_ns, engine->policy_wait_ns, &end_ns) ? INT64_MAX
                                                                                           : end_ns;
}

void engine_together_find_waiting(struct engine *engine)
{
    for (int a = 0; a < engine->n_accounts; a++) {
        const struct strategy_runner *runner = &engine->runners[a];
        if (waits(engine, runner) && wait_end(engine, runner) < engine->wait_until_ns)
            engine->wait_until_ns = wait_end(engine, runner);
    }
}

static void forget_fresh(struct strategy_runner *runner)
{
    for (int k = 0; k < runner->round.n; k++)
        runner->slots[runner->round.symbols[k]].fresh = false;
}

/* Nothing came for so long after the wait that its bars are history by now; not in the bar model, as driver.c
 * explains. */
static void give_up(const struct engine *engine, struct strategy_runner *runner)
{
    int64_t late_ns = engine->recv_ns - wait_end(engine, runner);
    if (engine->fill_model != FILL_BAR && late_ns >= engine->interval_ns && late_ns >= DELAY_ALLOWED_NS)
        forget_fresh(runner);
}

/* Those that are asked, or those that are called. */
static int end_waiting(struct engine *engine, int account, bool asked)
{
    for (int a = account; a < engine->n_accounts; a++) {
        struct strategy_runner *runner = &engine->runners[a];
        if (!waits(engine, runner) || engine->recv_ns < wait_end(engine, runner) ||
            engine_request_asks(engine, a) != asked)
            continue;
        give_up(engine, runner);
        if (decide(engine, a))
            return a;
    }
    return -1;
}

void engine_together_wait(struct engine *engine)
{
    (void)end_waiting(engine, 0, false);
}

int engine_together_wait_asked(struct engine *engine, int account)
{
    int64_t now_ns = engine->now_ns;
    if (engine->recv_ns < engine->wait_until_ns)
        return -1;
    int asks = end_waiting(engine, account, true);
    if (engine->now_ns < now_ns)
        engine->now_ns = now_ns;
    engine_driver_find_waiting(engine);
    return asks;
}

static void begin_round(struct strategy_runner *runner, int64_t open_ns)
{
    struct strategy_round *round = &runner->round;
    round->open_ns = open_ns;
    round->decided = false;
    round->since_ns = 0;
    for (int k = 0; k < round->n; k++)
        runner->slots[round->symbols[k]].there = runner->slots[round->symbols[k]].fresh = false;
}

bool engine_together_bar(struct engine *engine, int account, int symbol, const struct bar *bar, bool fresh)
{
    struct strategy_runner *runner = &engine->runners[account];
    struct strategy_round *round = &runner->round;
    struct strategy_slot *slot = &runner->slots[symbol];
    if (place_of(round, symbol) < 0 || !engine_kept_takes(engine, account, bar))
        return false;
    const struct strategy_input input = engine_runner_look(engine, account, symbol, bar);
    engine_runner_update(engine, account, symbol, bar, &input);
    if (bar->open_ns < round->open_ns || (bar->open_ns == round->open_ns && round->decided))
        return false;
    if (bar->open_ns > round->open_ns)
        begin_round(runner, bar->open_ns);
    slot->there = true;
    slot->fresh = fresh;
    if (fresh && round->since_ns == 0) {
        round->since_ns = engine->recv_ns;
        engine_together_find_waiting(engine);
    }
    return all_there(runner) && decide(engine, account);
}

/* ---- history ---- */

/* The symbol whose next bar is the earliest, the first of several; -1: all are shown. */
static int next_symbol(const struct engine *engine, int account, const uint32_t *at,
                       const struct together_bounds *bounds)
{
    int next = -1;
    int64_t next_ns = 0;
    for (int s = 0; s < engine->n_symbols; s++) {
        const struct recent_bars *recent = &engine->markets[s].recent;
        if (at[s] == recent->n)
            continue;
        int64_t open_ns = engine_recent_bar(recent, at[s])->open_ns;
        int64_t before_ns = bounds->symbol < 0 || bounds->symbol == s ? bounds->before_ns : INT64_MAX;
        if (open_ns < engine_request_until(engine, account, s, before_ns) &&
            (next < 0 || open_ns < next_ns)) {
            next = s;
            next_ns = open_ns;
        }
    }
    return next;
}

/* A round of history that is not complete is over once a later bar is there. */
static void show_past(struct engine *engine, int account, int symbol, const struct bar *bar)
{
    struct strategy_runner *runner = &engine->runners[account];
    if (!runner->strategy->together) {
        engine_runner_decide(engine, account, symbol, bar, false);
        return;
    }
    if (!runner->round.decided && bar->open_ns > runner->round.open_ns)
        decide(engine, account);
    (void)engine_together_bar(engine, account, symbol, bar, false);
}

static void warm_until(struct engine *engine, int account, const struct together_bounds *bounds)
{
    uint32_t *at = calloc((size_t)engine->n_symbols, sizeof *at);
    if (!at) {
        engine->out_of_memory = true;
        return;
    }
    for (int s; (s = next_symbol(engine, account, at, bounds)) >= 0;)
        show_past(engine, account, s, engine_recent_bar(&engine->markets[s].recent, at[s]++));
    free(at);
}

void engine_together_warm(struct engine *engine, int account)
{
    warm_until(engine, account, &(const struct together_bounds){-1, INT64_MAX});
}

/* The last round of history, where it was over without some of its bars: it is asked of, as the others are,
 * unless `own`, the account's round, is still the same. */
static void end_history(struct engine *engine, int account, const struct strategy_round *own)
{
    const struct strategy_round *round = &engine->runners[account].round;
    if (!round->decided && (own->decided || round->open_ns < own->open_ns))
        (void)decide(engine, account);
}

static void close_slots(struct strategy_slot *slots, int n)
{
    for (int s = 0; slots && s < n; s++)
        engine_slot_close(&slots[s]);
    free(slots);
}

void engine_together_show(struct engine *engine, int account, const struct together_bounds *bounds)
{
    struct strategy_runner *runner = &engine->runners[account];
    struct strategy_round *round = &runner->round, own = *round;
    struct strategy_slot *slots = runner->slots;
    struct strategy_slot *fresh = calloc((size_t)engine->n_symbols, sizeof *fresh);
    bool opened = fresh != NULL;
    for (int s = 0; opened && s < engine->n_symbols; s++)
        opened = engine_slot_open(&fresh[s], runner->strategy, runner->params, engine->interval_ns) == 0;
    if (opened) {
        runner->slots = fresh;
        round->open_ns = round->since_ns = 0;
        round->decided = true;
        warm_until(engine, account, bounds);
        end_history(engine, account, &own);
        for (int s = 0; s < engine->n_symbols; s++)
            slots[s].shown = fresh[s].shown;
        runner->slots = slots;
        *round = own;
    }
    engine->out_of_memory |= !opened;
    close_slots(fresh, engine->n_symbols);
}

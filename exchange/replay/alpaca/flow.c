#include "exchange/replay/alpaca/flow.h"

#include <stdlib.h>

#include "exchange/replay/alpaca/eastern.h"
#include "exchange/replay/alpaca/sessions.h"

#define UPDATED_AFTER_NS (30 * MADE_SECOND)
#define IMBALANCE_NS     (10 * MADE_MINUTE) /* before the close */
#define CLOSING_NS       (MADE_SECOND / 5)  /* after it: the official price */

enum {
    EMPTY_MINUTES_MAX = 14 * 24 * 60,
    BANDS_PERCENT = 5,
};

void replay_flow_init(struct flow *flow, struct made *made, enum made_class class, enum made_feed feed,
                      int64_t delay_ns)
{
    *flow = (struct flow){.made = made, .class = class, .feed = feed, .delay_ns = delay_ns};
}

void replay_flow_finish(struct flow *flow)
{
    free(flow->heap);
    flow->heap = NULL;
    flow->n = flow->cap = 0;
}

static bool before(const struct flow_event *a, const struct flow_event *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->seq < b->seq;
}

static void push(struct flow *flow, struct flow_event event)
{
    if (flow->n == flow->cap) {
        size_t cap = flow->cap ? flow->cap * 2 : 256;
        struct flow_event *heap = reallocarray(flow->heap, cap, sizeof(*heap));
        if (!heap) {
            flow->failed = true;
            return;
        }
        flow->heap = heap;
        flow->cap = cap;
    }
    event.seq = flow->seq++;
    size_t at = flow->n++;
    for (; at > 0 && before(&event, &flow->heap[(at - 1) / 2]); at = (at - 1) / 2)
        flow->heap[at] = flow->heap[(at - 1) / 2];
    flow->heap[at] = event;
}

static void pop(struct flow *flow)
{
    struct flow_event last = flow->heap[--flow->n];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= flow->n)
            break;
        if (child + 1 < flow->n && before(&flow->heap[child + 1], &flow->heap[child]))
            child++;
        if (!before(&flow->heap[child], &last))
            break;
        flow->heap[at] = flow->heap[child];
        at = child;
    }
    if (flow->n > 0)
        flow->heap[at] = last;
}

static struct flow_event event_at(int64_t due_ns, enum flow_kind kind, int symbol)
{
    return (struct flow_event){.due_ns = due_ns, .kind = kind, .symbol = symbol};
}

static void push_tick(struct flow *flow, int64_t due_ns, enum flow_kind kind, int symbol,
                      const struct made_tick *tick)
{
    struct flow_event event = event_at(due_ns, kind, symbol);
    event.tick = *tick;
    push(flow, event);
}

static void push_bar(struct flow *flow, int64_t due_ns, enum flow_kind kind, int symbol,
                     const struct tally *bar)
{
    struct flow_event event = event_at(due_ns, kind, symbol);
    event.bar = *bar;
    push(flow, event);
}

static void push_trade(struct flow *flow, int symbol, const struct made_tick *tick)
{
    const struct made_trade *t = &tick->trade;
    push_tick(flow, t->reported_ns, FLOW_TRADE, symbol, tick);
    if (t->revision != MADE_STANDS)
        push_tick(flow, t->revised_ns, t->revision == MADE_CANCELLED ? FLOW_CANCEL : FLOW_CORRECTION, symbol,
                  tick);
}

static void tally_ticks(const struct flow *flow, const struct made_tick *ticks, size_t n, int64_t as_of_ns,
                        struct tally *ret)
{
    for (size_t i = 0; i < n; i++)
        if (ticks[i].traded && (flow->feed == MADE_FEED_ALL || ticks[i].iex))
            replay_tally_trade(ret, &ticks[i].trade, as_of_ns);
}

/* The day's bar up to this minute. */
static void begin_day(struct flow *flow, int symbol, int64_t begin_ns)
{
    struct flow_symbol *s = &flow->symbols[symbol];
    int64_t day_ns;
    if (begin_ns < s->day_end_ns)
        return;
    replay_tally_day(flow->made, symbol, begin_ns, &day_ns, &s->day_end_ns);
    replay_tally_span(flow->made, symbol, day_ns, begin_ns, flow->feed, TALLY_RAW,
                      begin_ns + UPDATED_AFTER_NS, &s->day);
}

static void make_bars(struct flow *flow, int symbol, int64_t begin_ns, const struct made_tick *ticks,
                      size_t n)
{
    int64_t end_ns = begin_ns + MADE_MINUTE;
    struct tally bar = {.begin_ns = begin_ns}, later = {.begin_ns = begin_ns};
    tally_ticks(flow, ticks, n, end_ns, &bar);
    tally_ticks(flow, ticks, n, end_ns + UPDATED_AFTER_NS, &later);
    if (n == 0 && replay_tally_quiet(flow->made, symbol, flow->minute, &bar))
        later = bar;
    if (tally_priced(&bar))
        push_bar(flow, end_ns + FLOW_BAR_AFTER_NS, FLOW_BAR, symbol, &bar);
    if (tally_priced(&later) && !replay_tally_same(&bar, &later))
        push_bar(flow, end_ns + UPDATED_AFTER_NS, FLOW_UPDATED, symbol, &later);
    struct tally *day = &flow->symbols[symbol].day, shown = *day;
    replay_tally_join(&shown, &bar);
    replay_tally_join(day, &later);
    if (tally_priced(&shown) &&
        (flow->class != MADE_STOCK || replay_sessions_phase(begin_ns) == MARKET_PHASE_OPEN))
        push_bar(flow, end_ns + FLOW_BAR_AFTER_NS, FLOW_DAY, symbol, &shown);
}

static void push_status(struct flow *flow, int symbol, int64_t ns, bool resumes, const struct made_halt *halt)
{
    struct flow_event event = event_at(ns, FLOW_STATUS, symbol);
    event.status.resumes = resumes;
    event.status.code = resumes ? "" : halt->code;
    event.status.reason = resumes ? "" : halt->reason;
    push(flow, event);
}

/* Halts, bands and imbalances of a stock's minute. */
static void make_notices(struct flow *flow, int symbol, int64_t begin_ns)
{
    struct made_halt halt;
    struct trading_day day;
    int64_t date = replay_eastern_date(begin_ns);
    if (replay_sessions_on(date, &day) == SESSIONS_CLOSED || begin_ns < day.open_ns ||
        begin_ns >= day.close_ns)
        return;
    for (int i = 0; replay_made_halt_on(flow->made, symbol, date, i, &halt); i++) {
        if (halt.from_ns == begin_ns)
            push_status(flow, symbol, begin_ns, false, &halt);
        if (halt.to_ns == begin_ns)
            push_status(flow, symbol, begin_ns, true, &halt);
    }
    if (!replay_made_trades_at(flow->made, symbol, begin_ns))
        return;
    int64_t price = replay_made_price(flow->made, symbol, begin_ns), tick = flow->made->symbols[symbol].tick;
    struct flow_event bands = event_at(begin_ns, FLOW_BANDS, symbol);
    bands.bands.up = price / 100 * (100 + BANDS_PERCENT) / tick * tick;
    bands.bands.down = price / 100 * (100 - BANDS_PERCENT) / tick * tick;
    push(flow, bands);
    if (begin_ns >= day.close_ns - IMBALANCE_NS) {
        struct flow_event imbalance = event_at(begin_ns, FLOW_IMBALANCE, symbol);
        imbalance.price = price / tick * tick;
        push(flow, imbalance);
    }
}

/* A stock's official closing price, by the exchange that lists it. It repeats what was traded, and is part of
 * no bar. */
static void make_closing(struct flow *flow, int symbol, int64_t begin_ns)
{
    struct made_tick tick = {.ts_ns = begin_ns + CLOSING_NS};
    int64_t price;
    if (flow->feed == MADE_FEED_IEX || !replay_made_closing(flow->made, symbol, begin_ns, &price))
        return;
    tick.trade = (struct made_trade){.ts_ns = tick.ts_ns,
                                     .reported_ns = tick.ts_ns,
                                     .id = (begin_ns / MADE_MINUTE + 1) * MADE_TICKS_MAX * 2 - 1,
                                     .price = price,
                                     .size = MADE_E9,
                                     .exchange = 'Q',
                                     .closing = true};
    push_trade(flow, symbol, &tick);
}

static void make_minute(struct flow *flow, int symbol)
{
    struct made_tick ticks[MADE_TICKS_MAX];
    int64_t begin_ns = flow->minute * MADE_MINUTE;
    size_t n = replay_made_minute(flow->made, symbol, flow->minute, ticks);
    begin_day(flow, symbol, begin_ns);
    if (flow->class == MADE_STOCK) {
        make_notices(flow, symbol, begin_ns);
        make_closing(flow, symbol, begin_ns);
    }
    for (size_t i = 0; i < n; i++) {
        if (flow->feed == MADE_FEED_IEX && !ticks[i].iex)
            continue;
        push_tick(flow, ticks[i].ts_ns, FLOW_QUOTE, symbol, &ticks[i]);
        if (flow->class == MADE_CRYPTO)
            push_tick(flow, ticks[i].ts_ns, FLOW_BOOK, symbol, &ticks[i]);
        if (ticks[i].traded)
            push_trade(flow, symbol, &ticks[i]);
    }
    make_bars(flow, symbol, begin_ns, ticks, n);
}

static void make_next(struct flow *flow)
{
    for (int i = 0; i < flow->made->n_symbols; i++)
        if (flow->made->symbols[i].class == flow->class &&
            replay_made_known_at(flow->made, i, flow->minute * MADE_MINUTE))
            make_minute(flow, i);
    flow->minute++;
}

/* Makes minutes until the first event is certain: a minute's events come at its start or later. */
static bool fill(struct flow *flow)
{
    if (!flow->running)
        return false;
    for (int i = 0; i < EMPTY_MINUTES_MAX; i++) {
        if (flow->n > 0 && flow->heap[0].due_ns < flow->minute * MADE_MINUTE)
            return true;
        make_next(flow);
    }
    return flow->n > 0;
}

void replay_flow_start(struct flow *flow, int64_t now_ns)
{
    int64_t from_ns = now_ns - flow->delay_ns;
    flow->running = true;
    flow->n = 0;
    for (int i = 0; i < MADE_SYMBOLS_MAX; i++)
        flow->symbols[i] = (struct flow_symbol){0};
    /* The minute before may still have late events. */
    flow->minute = from_ns / MADE_MINUTE - 1;
    while (fill(flow) && flow->heap[0].due_ns < from_ns)
        pop(flow);
}

void replay_flow_stop(struct flow *flow)
{
    flow->running = false;
    flow->n = 0;
}

int64_t replay_flow_due(struct flow *flow)
{
    return fill(flow) ? flow->heap[0].due_ns + flow->delay_ns : INT64_MAX;
}

void replay_flow_take(struct flow *flow, struct flow_event *ret)
{
    *ret = flow->heap[0];
    pop(flow);
}

/* How many orders an account has placed that nothing was filled of. */
#include "exchange/replay/binance/order_counts.h"

#include <stdio.h>

#include "exchange/replay/binance/order_call.h"

#define NS_PER_S 1000000000LL

const struct order_window replay_order_windows[ORDER_WINDOWS] = {
    {"SECOND", 10, 100, 10 * NS_PER_S, "x-mbx-order-count-10s:"},
    {"DAY", 1, 200000, 86400 * NS_PER_S, "x-mbx-order-count-1d:"},
};

/* The venue's clock, in whose whole seconds and days the windows begin. */
static int64_t now_ns(const struct binance_orders *o)
{
    return o->source->tape->now_ns + o->faults->clock_skew_ns;
}

static struct order_count *count_of(struct binance_orders *o, int account, int window)
{
    struct order_count *count = &o->counts[account][window];
    const int64_t index = now_ns(o) / replay_order_windows[window].length_ns;
    if (count->index != index)
        *count = (struct order_count){.index = index};
    return count;
}

int replay_order_unfilled(struct binance_orders *o, int account, int window)
{
    return count_of(o, account, window)->used;
}

void replay_order_count(struct binance_orders *o, int account, int by)
{
    for (int i = 0; i < ORDER_WINDOWS; i++) {
        struct order_count *count = count_of(o, account, i);
        count->used += by;
        if (count->used < 0)
            count->used = 0;
    }
}

int replay_order_rate(struct order_call *c)
{
    char msg[96];
    for (int i = 0; i < ORDER_WINDOWS; i++) {
        const struct order_window *w = &replay_order_windows[i];
        if (replay_order_unfilled(c->o, c->caller->account, i) < w->limit)
            continue;
        c->outcome->wait_ns = w->length_ns - now_ns(c->o) % w->length_ns;
        snprintf(msg, sizeof(msg), "Too many new orders; current limit is %d orders per %d %s.", w->limit,
                 w->num, w->interval);
        return replay_order_refuse(c->body, ORDER_CALL_TOO_MANY, -1015, msg);
    }
    return 0;
}

void replay_order_limits_write(struct text *out, struct binance_orders *o, int account)
{
    for (int i = 0; i < ORDER_WINDOWS; i++) {
        const struct order_window *w = &replay_order_windows[i];
        text_format(out,
                    "%s{\"rateLimitType\":\"ORDERS\",\"interval\":\"%s\",\"intervalNum\":%d,\"limit\":%d",
                    i > 0 ? "," : "", w->interval, w->num, w->limit);
        if (o)
            text_format(out, ",\"count\":%d", replay_order_unfilled(o, account, i));
        text_lit(out, "}");
    }
}

int replay_order_limits(struct order_call *c)
{
    text_lit(c->body, "[");
    replay_order_limits_write(c->body, c->o, c->caller->account);
    text_lit(c->body, "]");
    return ORDER_CALL_OK;
}

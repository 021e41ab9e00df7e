#include "exchange/replay/broker/in_flight.h"

#include <string.h>

static int64_t arrival(const struct replay_in_flight *f)
{
    const int64_t due_ns = replay_broker_due(f->broker);
    return due_ns == INT64_MAX ? INT64_MAX : due_ns + f->later_ns;
}

static int64_t due(struct replay_source *source)
{
    struct replay_in_flight *f = (struct replay_in_flight *)source;
    const int64_t market_ns = f->market->ops->due(f->market), order_ns = arrival(f);
    return order_ns < market_ns ? order_ns : market_ns;
}

/* What the market has at the same time comes first. */
static int step(struct replay_source *source)
{
    struct replay_in_flight *f = (struct replay_in_flight *)source;
    struct tape *tape = f->market->tape;
    const int64_t market_ns = f->market->ops->due(f->market);
    if (arrival(f) < market_ns) {
        const int64_t now_ns = replay_broker_due(f->broker);
        if (now_ns > tape->now_ns)
            tape->now_ns = now_ns;
        replay_broker_arrive(f->broker, now_ns);
        return 0;
    }
    const int rc = f->market->ops->step(f->market);
    f->later_ns = market_ns - tape->now_ns;
    if (rc < 0)
        memcpy(f->base.error, f->market->error, sizeof(f->base.error));
    return rc;
}

static bool book(struct replay_source *source, int symbol, struct source_book *ret)
{
    struct replay_source *market = ((struct replay_in_flight *)source)->market;
    return market->ops->book && market->ops->book(market, symbol, ret);
}

static void nothing(struct replay_source *source)
{
    (void)source; /* a part of the protocol */
}

void replay_in_flight_init(struct replay_in_flight *f, struct replay_source *market, struct broker *broker)
{
    static const struct source_ops ops = {.due = due, .step = step, .book = book, .destroy = nothing};
    *f = (struct replay_in_flight){
        .base = {.ops = &ops, .tape = market->tape}, .market = market, .broker = broker};
}

/* GET orders: which of them, and how many. */
#include <string.h>

#include "exchange/replay/alpaca/trading_call.h"

enum { LIST_USUAL = 50, LIST_MAX = 500 };

enum listed { OPEN, CLOSED, ALL };

struct query {
    int status, side, direction; /* side: -1: both; direction: 1: the oldest first */
    int64_t after_ns, until_ns;  /* both exclusive */
    size_t limit;
    const char *symbols; /* between commas; NULL: all */
};

static const char *arg(const struct trading_call *a, const char *name)
{
    const char *value = replay_request_arg(a->call->request, name);
    return value && *value ? value : NULL;
}

/* *ret keeps its value where it is not sent. */
static bool read_word(struct trading_call *a, const char *name, const char *const words[], const char *right,
                      int *ret)
{
    const char *value = arg(a, name);
    for (int i = 0; value && words[i]; i++)
        if (strcmp(value, words[i]) == 0) {
            *ret = i;
            return true;
        }
    return !value || replay_trading_refuse_value(a, name, right);
}

static bool read_limit(struct trading_call *a, size_t *ret)
{
    const char *value = arg(a, "limit");
    int64_t n = LIST_USUAL;
    if (value && (decimal_parse_str(value, 0, &n) != 0 || n < 1 || n > LIST_MAX))
        return replay_trading_refuse_value(a, "limit", "1 to 500");
    *ret = (size_t)n;
    return true;
}

static bool read_query(struct trading_call *a, struct query *ret)
{
    static const char *const statuses[] = {"open", "closed", "all", NULL},
                             *const sides[] = {"buy", "sell", NULL},
                             *const directions[] = {"desc", "asc", NULL};
    *ret = (struct query){
        .side = -1, .after_ns = INT64_MIN, .until_ns = INT64_MAX, .symbols = arg(a, "symbols")};
    return read_word(a, "status", statuses, "open, closed or all", &ret->status) &&
           read_word(a, "side", sides, "buy or sell", &ret->side) &&
           read_word(a, "direction", directions, "asc or desc", &ret->direction) &&
           replay_trading_time(a, "after", &ret->after_ns) &&
           replay_trading_time(a, "until", &ret->until_ns) && read_limit(a, &ret->limit);
}

/* Is the name in the list, between commas? Without one all are. */
static bool is_listed(const char *list, const char *name)
{
    const size_t len = strlen(name);
    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == len && memcmp(at, name, len) == 0)
            return true;
    return !list;
}

static bool is_wanted(const struct trading_call *a, const struct query *q, const struct broker_order *order)
{
    return order->terms.account == a->account &&
           (q->status == ALL || broker_is_open(order) == (q->status == OPEN)) &&
           (q->side < 0 || (order->terms.side == ORDER_SELL) == (q->side == 1)) &&
           order->time_ns > q->after_ns && order->time_ns < q->until_ns &&
           is_listed(q->symbols, a->o->alpaca->made[0].symbols[order->terms.symbol].name);
}

bool replay_trading_nested(struct trading_call *a)
{
    const char *value = arg(a, "nested");
    return value && strcasecmp(value, "true") == 0;
}

/* Is it in its group's first order, which is in the list too? */
static bool is_in_parent(const struct trading_call *a, const struct query *q,
                         const struct broker_order *order)
{
    const int64_t parent = a->o->own[order->id - 1].parent;
    return parent > a->o->wiped && is_wanted(a, q, replay_alpaca_order(a->o, parent));
}

void replay_trading_orders(struct trading_call *a)
{
    struct query q;
    size_t n;
    const struct broker_order *all = replay_broker_orders(a->o->broker, &n);
    if (!read_query(a, &q))
        return;
    const bool nested = replay_trading_nested(a);
    json_t *list = json_array();
    for (size_t i = 0; i < n && json_array_size(list) < q.limit; i++) {
        const struct broker_order *order = &all[q.direction ? i : n - 1 - i];
        if (is_wanted(a, &q, order) && !(nested && is_in_parent(a, &q, order)))
            json_array_append_new(list, replay_alpaca_order_json(a->o, order, nested));
    }
    replay_trading_send(a, list);
}

/* GET account/activities: fills, by pages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/alpaca/number.h"
#include "exchange/replay/alpaca/trading_call.h"
#include "exchange/replay/serve.h"

enum { ACTIVITIES_PAGE = 100, ACTIVITY_ID_MAX = 64 };

#define NS_PER_MS 1000000LL

/* "20190524113406977::8efc7b9a-…": when, and the execution. */
static void write_id(const struct broker_fill *fill, char ret[static ACTIVITY_ID_MAX])
{
    char uuid[37], time[ALPACA_TIME_TEXT_MAX], digits[20] = "";
    size_t n = 0;
    replay_alpaca_id(fill->id, 'f', uuid);
    alpaca_time_text(fill->time_ns / 1000000000 * 1000000000, time);
    for (const char *p = time; *p && n < 14; p++)
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    snprintf(ret, ACTIVITY_ID_MAX, "%s%03d::%s", digits, (int)(fill->time_ns / NS_PER_MS % 1000), uuid);
}

static json_t *decimal(int64_t units)
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format_short(units, MADE_SCALE, text);
    return json_string(text);
}

static json_t *activity(const struct alpaca_orders *o, const struct broker_fill *fills, size_t at)
{
    const struct broker_fill *fill = &fills[at];
    size_t n;
    const struct broker_order *order = &replay_broker_orders(o->broker, &n)[fill->order_id - 1 - o->wiped];
    char id[ACTIVITY_ID_MAX], order_id[37], time[ALPACA_TIME_TEXT_MAX];
    int64_t filled = 0;
    for (size_t i = 0; i <= at; i++)
        filled += fills[i].order_id == fill->order_id ? fills[i].qty : 0;
    write_id(fill, id);
    replay_alpaca_id(order->id, 'o', order_id);
    alpaca_time_text(fill->time_ns, time);
    const int64_t left = order->terms.qty - filled;
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:o, s:s, s:s, s:o, s:o, s:s, s:s}", "id", id, "activity_type", "FILL",
        "transaction_time", time, "type", left > 0 ? "partial_fill" : "fill", "price", decimal(fill->price),
        "qty", decimal(fill->qty), "side", order->terms.side == ORDER_BUY ? "buy" : "sell", "symbol",
        o->alpaca->made[0].symbols[fill->symbol].name, "leaves_qty", decimal(left), "cum_qty",
        decimal(filled), "order_id", order_id, "order_status", left > 0 ? "partially_filled" : "filled");
}

struct activities {
    bool rising;
    int64_t after_ns, until_ns;
    size_t most;
    const char *order_id, *token; /* NULL: any; from the start */
};

static bool read_page(struct trading_call *a, struct activities *ret)
{
    const struct replay_request *request = a->call->request;
    const char *direction = replay_request_arg(request, "direction"),
               *size = replay_request_arg(request, "page_size");
    *ret = (struct activities){
        .rising = direction && strcmp(direction, "asc") == 0,
        .after_ns = INT64_MIN,
        .until_ns = INT64_MAX,
        .most = size ? strtoul(size, NULL, 10) : ACTIVITIES_PAGE,
        .order_id = replay_request_arg(request, "order_id"),
        .token = replay_request_arg(request, "page_token"),
    };
    if (ret->most == 0 || ret->most > ACTIVITIES_PAGE)
        return replay_trading_refuse_value(a, "page_size", "1 to 100");
    return replay_trading_time(a, "after", &ret->after_ns) && replay_trading_time(a, "until", &ret->until_ns);
}

static bool is_wanted(const struct trading_call *a, const struct activities *page,
                      const struct broker_fill *fill)
{
    char order_id[37];
    replay_alpaca_id(fill->order_id, 'o', order_id);
    return fill->account == a->account && fill->time_ns > page->after_ns && fill->time_ns < page->until_ns &&
           (!page->order_id || strcmp(page->order_id, order_id) == 0);
}

void replay_trading_activities(struct trading_call *a, const char *list)
{
    struct activities page;
    size_t n;
    const struct broker_fill *fills = replay_broker_fills(a->o->broker, &n);
    if (!read_page(a, &page))
        return;
    json_t *ret = json_array();
    bool fill_types = !list || strstr(list, "FILL"), passed = !page.token || !*page.token;
    for (size_t i = 0; i < n && fill_types && json_array_size(ret) < page.most; i++) {
        const size_t at = page.rising ? i : n - 1 - i;
        char id[ACTIVITY_ID_MAX];
        write_id(&fills[at], id);
        if (passed && is_wanted(a, &page, &fills[at]))
            json_array_append_new(ret, activity(a->o, fills, at));
        passed |= page.token && strcmp(page.token, id) == 0;
    }
    if (passed) {
        replay_trading_send(a, ret);
        return;
    }
    json_decref(ret);
    replay_trading_refuse_value(a, "page_token", "the id of the last activity of the page before");
}

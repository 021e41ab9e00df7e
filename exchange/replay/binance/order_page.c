#include "exchange/replay/binance/order_page.h"

#include "exchange/replay/retime.h"

#define NS_PER_MS 1000000LL
#define DAY_NS    (24 * 3600 * 1000000000LL)

enum { LIST_MAX = 1000, LIST_USUAL = 500 };

int replay_page_bad(struct order_call *c)
{
    return replay_order_refuse(c->body, ORDER_CALL_BAD, -1128, "Combination of optional parameters invalid.");
}

/* To the end of its ms or µs. -1: not sent. */
static int read_time(struct order_call *c, const char *name, bool end, int64_t *ret_ns)
{
    int64_t value, next_ns;
    int status = replay_order_number(c, name, -1, &value);
    *ret_ns = -1;
    if (status != 0 || value < 0)
        return status;
    if (!replay_retime_ns(value, ret_ns) || !replay_retime_ns(value + 1, &next_ns))
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -1130, "Data sent for a time is not valid.");
    if (end)
        *ret_ns = next_ns - 1;
    *ret_ns -= c->caller->clock.skew_ns;
    *ret_ns = *ret_ns < 0 ? 0 : *ret_ns;
    return 0;
}

int replay_page_read(struct order_call *c, const char *id_name, struct order_page *ret)
{
    int status = replay_order_number(c, id_name, -1, &ret->from_id);
    if (status == 0)
        status = replay_order_number(c, "limit", LIST_USUAL, &ret->limit);
    if (status == 0)
        status = read_time(c, "startTime", false, &ret->from_ns);
    if (status == 0)
        status = read_time(c, "endTime", true, &ret->to_ns);
    if (status != 0)
        return status;
    if (ret->from_ns >= 0 && ret->to_ns >= 0 && ret->from_ns > ret->to_ns)
        return replay_page_bad(c);
    if (ret->from_ns >= 0 && ret->to_ns >= 0 &&
        ret->to_ns / NS_PER_MS - ret->from_ns / NS_PER_MS > DAY_NS / NS_PER_MS)
        return replay_order_refuse(c->body, ORDER_CALL_BAD, -1127,
                                   "More than 24 hours between startTime and endTime.");
    ret->last = ret->from_id < 0 && ret->from_ns < 0;
    ret->limit = ret->limit < LIST_MAX ? ret->limit : LIST_MAX;
    return 0;
}

bool replay_page_has(const struct order_page *page, int64_t id, int64_t ns)
{
    return id >= page->from_id && ns >= page->from_ns && (page->to_ns < 0 || ns <= page->to_ns);
}

void replay_page_find(const struct order_call *c, struct order_page *page, size_t n,
                      bool (*in_page)(const struct order_call *c, const struct order_page *page, size_t at))
{
    int64_t found = 0;
    page->first = page->last ? n : 0;
    page->end = page->last ? n : 0;
    if (page->last)
        for (size_t i = n; i-- > 0 && found < page->limit; page->first = i)
            found += in_page(c, page, i);
    else
        for (size_t i = 0; i < n && found < page->limit; page->end = ++i)
            found += in_page(c, page, i);
}

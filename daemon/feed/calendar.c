#include "daemon/feed/calendar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void feed_calendar_init(struct calendar *calendar, const char *name, bool extended)
{
    *calendar = (struct calendar){.extended = extended, .due_ns = INT64_MAX};
    snprintf(calendar->name, sizeof calendar->name, "%s", name);
}

void feed_calendar_finish(struct calendar *calendar)
{
    free(calendar->days);
    calendar->days = NULL;
    calendar->n = 0;
}

int feed_calendar_take(struct calendar *calendar, const struct trading_day *days, size_t n)
{
    size_t bad, before = 0, after = 0;
    if (n == 0)
        return 0;
    struct trading_day *all = calloc(calendar->n + n, sizeof *all);
    if (!all)
        return -ENOMEM;
    while (before < calendar->n && calendar->days[before].late_ns <= days[0].early_ns)
        before++;
    after = before;
    while (after < calendar->n && calendar->days[after].early_ns < days[n - 1].late_ns)
        after++;
    if (before > 0)
        memcpy(all, calendar->days, before * sizeof *all);
    memcpy(all + before, days, n * sizeof *all);
    if (after < calendar->n)
        memcpy(all + before + n, calendar->days + after, (calendar->n - after) * sizeof *all);
    size_t total = before + n + calendar->n - after;
    if (trading_days_check(all, total, &bad) < 0) {
        free(all);
        return -EINVAL;
    }
    calendar->changed |= total != calendar->n || memcmp(all, calendar->days, total * sizeof *all) != 0;
    free(calendar->days);
    calendar->days = all;
    calendar->n = total;
    calendar->due_ns = INT64_MIN; /* what was emitted may be wrong by now */
    return 0;
}

bool feed_calendar_days(struct calendar *calendar, struct trading_calendar *ret)
{
    if (!calendar->changed)
        return false;
    *ret = (struct trading_calendar){.days = calendar->days,
                                     .n = calendar->n,
                                     .from_ns = calendar->days[0].early_ns,
                                     .to_ns = calendar->days[calendar->n - 1].late_ns};
    memcpy(ret->name, calendar->name, sizeof ret->name);
    calendar->changed = false;
    return true;
}

bool feed_calendar_open(const struct calendar *calendar)
{
    enum market_phase phase = calendar->now.phase;
    return phase == MARKET_PHASE_OPEN ||
           (calendar->extended && (phase == MARKET_PHASE_EARLY || phase == MARKET_PHASE_LATE));
}

/* The first moment after the last change emitted that changes anything, at most now_ns. */
static int64_t next_moment(const struct calendar *calendar, int64_t now_ns)
{
    bool due = calendar->reported && calendar->now.next_ns != 0 && calendar->now.next_ns <= now_ns &&
               calendar->due_ns != INT64_MIN;
    return due ? calendar->now.next_ns : now_ns;
}

bool feed_calendar_step(struct calendar *calendar, int64_t now_ns, int64_t *ret_at_ns)
{
    while (calendar->due_ns <= now_ns) {
        struct trading_now before = calendar->now;
        int64_t at = next_moment(calendar, now_ns);
        trading_days_at(calendar->days, calendar->n, at, &calendar->now);
        calendar->due_ns = calendar->now.next_ns ? calendar->now.next_ns : INT64_MAX;
        bool changed = !calendar->reported || calendar->now.phase != before.phase ||
                       calendar->now.next_ns != before.next_ns;
        calendar->reported = true;
        *ret_at_ns = at;
        if (changed)
            return true;
    }
    return false;
}

int64_t feed_calendar_back(const struct calendar *calendar, int64_t now_ns, int64_t interval_ns, int64_t bars)
{
    int64_t left = bars * interval_ns, at = now_ns;
    for (size_t i = calendar->n; i-- > 0 && left > 0;) {
        const struct trading_day *day = &calendar->days[i];
        int64_t end = day->close_ns < now_ns ? day->close_ns : now_ns;
        if (end <= day->open_ns)
            continue;
        /* A day of which a bar is longer than the session still has one. */
        int64_t length = end - day->open_ns > interval_ns ? end - day->open_ns : interval_ns;
        at = left < length ? end - left : day->open_ns;
        left -= length;
    }
    return at - (at % interval_ns + interval_ns) % interval_ns;
}

bool feed_calendar_any(const struct calendar *calendar, int64_t from_ns, int64_t to_ns)
{
    for (size_t i = 0; i < calendar->n; i++)
        if (calendar->days[i].open_ns < to_ns && calendar->days[i].close_ns > from_ns)
            return true;
    return calendar->n == 0;
}

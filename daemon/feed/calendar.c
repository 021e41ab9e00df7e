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

int feed_calendar_begin(struct calendar *calendar, const struct trading_calendar *known)
{
    if (calendar->n > 0 || known->n == 0)
        return 0;
    struct trading_day *days = calloc(known->n, sizeof *days);
    if (!days)
        return -ENOMEM;
    memcpy(days, known->days, known->n * sizeof *days);
    calendar->days = days;
    calendar->n = known->n;
    calendar->changed = true;
    return 0;
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

struct trading_calendar feed_calendar_view(const struct calendar *calendar)
{
    struct trading_calendar view = {.days = calendar->days, .n = calendar->n};
    if (calendar->n > 0) {
        view.from_ns = calendar->days[0].early_ns;
        view.to_ns = calendar->days[calendar->n - 1].late_ns;
    }
    memcpy(view.name, calendar->name, sizeof view.name);
    return view;
}

bool feed_calendar_days(struct calendar *calendar, struct trading_calendar *ret)
{
    if (!calendar->changed)
        return false;
    *ret = feed_calendar_view(calendar);
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
    const struct trading_calendar view = feed_calendar_view(calendar);
    int64_t left = bars, at = now_ns, end_ns;
    for (size_t i = calendar->n; i-- > 0 && left > 0;) {
        const struct trading_day *day = &calendar->days[i];
        int64_t end = day->close_ns < now_ns ? day->close_ns : now_ns;
        if (end <= day->open_ns)
            continue;
        /* A session's last bar may be shorter than the others. */
        int64_t n = (end - day->open_ns + interval_ns - 1) / interval_ns;
        at = day->open_ns + (left < n ? n - left : 0) * interval_ns;
        left -= n;
    }
    trading_bar_span(&view, interval_ns, at, &at, &end_ns);
    return at;
}

bool feed_calendar_any(const struct calendar *calendar, int64_t from_ns, int64_t to_ns)
{
    for (size_t i = 0; i < calendar->n; i++)
        if (calendar->days[i].open_ns < to_ns && calendar->days[i].close_ns > from_ns)
            return true;
    return calendar->n == 0;
}

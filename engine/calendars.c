/* The calendars that an engine knows, and the sessions of its bars by them: exchange/trading_calendar.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core.h"
#include "engine/event.h"

static struct trading_calendar *find(const struct engine *engine, const char *name)
{
    for (int i = 0; i < engine->n_calendars; i++)
        if (strcmp(engine->calendars[i].name, name) == 0)
            return &engine->calendars[i];
    return NULL;
}

const struct trading_calendar *engine_calendar(const struct engine *engine, int symbol)
{
    static const struct trading_calendar none;
    const char *name = engine->markets[symbol].symbol.calendar;
    const struct trading_calendar *calendar = name[0] ? find(engine, name) : NULL;
    return calendar ? calendar : &none;
}

int engine_calendar_event(const struct trading_calendar *calendar, struct event *ret)
{
    struct event event = {.kind = EVENT_CALENDAR, .calendar = {.calendar = *calendar}};
    int r = trading_calendar_hash(calendar, event.calendar.hash);
    if (r == 0)
        *ret = event;
    return r;
}

int engine_calendars_put(struct engine *engine, const struct trading_calendar *calendar)
{
    struct trading_calendar taken = *calendar, *to = find(engine, calendar->name);
    if (!to) {
        struct trading_calendar *grown =
            realloc(engine->calendars, ((size_t)engine->n_calendars + 1) * sizeof *grown);
        if (!grown) {
            trading_calendar_forget(&taken);
            return -ENOMEM;
        }
        engine->calendars = grown;
        to = &grown[engine->n_calendars++];
    } else {
        trading_calendar_forget(to);
    }
    *to = taken;
    return 0;
}

void engine_calendars_finish(struct engine *engine)
{
    for (int i = 0; i < engine->n_calendars; i++)
        trading_calendar_forget(&engine->calendars[i]);
    free(engine->calendars);
    engine->calendars = NULL;
    engine->n_calendars = 0;
}

bool engine_calendars_sound(const struct trading_calendar *calendar)
{
    const int64_t most = INT64_MAX / 2; /* 2116: the look-ahead guard moves a run by 28 years */
    const struct trading_day *days = calendar->days;
    size_t n = calendar->n, bad;
    return calendar->name[0] != '\0' && memchr(calendar->name, 0, sizeof calendar->name) &&
           n <= CALENDAR_DAYS_MAX && calendar->from_ns > -most && calendar->to_ns < most &&
           calendar->from_ns <= calendar->to_ns && trading_days_check(days, n, &bad) == 0 &&
           (n == 0 || (days[0].early_ns > -most && days[n - 1].late_ns < most));
}

/* 0 or what is wrong with it. */
static int check(const struct engine *engine, const struct event_calendar *event)
{
    const struct trading_calendar *calendar = &event->calendar;
    uint8_t hash[CALENDAR_HASH_SIZE];
    if (!engine_calendars_sound(calendar) ||
        (engine->n_calendars == CALENDARS_MAX && !find(engine, calendar->name)))
        return -EINVAL;
    int r = trading_calendar_hash(calendar, hash);
    return r == 0 && memcmp(hash, event->hash, sizeof hash) != 0 ? -EINVAL : r;
}

int engine_calendars_take(struct engine *engine, const struct event_calendar *event)
{
    struct trading_calendar calendar;
    int r = check(engine, event);
    if (r < 0 || (r = trading_calendar_copy(&event->calendar, &calendar)) < 0)
        return r;
    r = engine_calendars_put(engine, &calendar);
    for (int s = 0; s < engine->n_symbols && r == 0; s++)
        if (strcmp(engine->markets[s].symbol.calendar, calendar.name) == 0)
            engine_calendars_date_again(engine, s);
    return r;
}

/* Whether a bar of a day or more is of the session only, a venue does not say. */
static enum bar_session session_of(const struct trading_calendar *calendar, int64_t open_ns,
                                   int64_t interval_ns)
{
    if (calendar->n == 0 || interval_ns >= HOURS_DAY_NS)
        return BAR_SESSION_NONE;
    return trading_session_of(calendar, open_ns, trading_bar_end(calendar, interval_ns, open_ns));
}

int64_t engine_calendars_end(const struct engine *engine, int symbol, int64_t open_ns)
{
    return trading_bar_end(engine_calendar(engine, symbol), engine->interval_ns, open_ns);
}

int64_t engine_calendars_open(const struct engine *engine, int symbol, int64_t ns)
{
    int64_t open_ns, end_ns;
    trading_bar_span(engine_calendar(engine, symbol), engine->interval_ns, ns, &open_ns, &end_ns);
    return open_ns;
}

struct bar engine_calendars_dated(const struct engine *engine, int symbol, const struct bar *bar)
{
    struct bar dated = *bar;
    dated.session = session_of(engine_calendar(engine, symbol), bar->open_ns, engine->interval_ns);
    return dated;
}

static void date(const struct engine *engine, int symbol, struct bar *bar)
{
    *bar = engine_calendars_dated(engine, symbol, bar);
}

void engine_calendars_date_again(struct engine *engine, int symbol)
{
    struct market_state *market = &engine->markets[symbol];
    for (uint32_t i = 0; i < market->recent.n; i++)
        date(engine, symbol, &market->recent.bars[i]);
    for (uint32_t i = 0; i < market->n_held; i++)
        date(engine, symbol, &market->held[i]);
    if (market->bars > 0)
        date(engine, symbol, &market->last_bar);
    if (market->forming.open_ns != 0)
        date(engine, symbol, &market->forming);
    bool outside = market->bars > 0 && engine_hours_bar_outside(&market->last_bar);
    market->outside = outside && engine->fill_model == FILL_BAR ? market->last_bar.close : 0;
}

#include "exchange/replay/candles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BARS_MIN = 64 }; /* that each base keeps at least */

/* The interval that a tier holds, and the most bars it keeps: enough for 1500 of each interval built from
 * it (of days and weeks: 1500 days). Above the bound the older half is dropped. */
static const struct {
    int interval;
    size_t max;
} tiers[CANDLE_TIERS] = {{0, 16384}, {1, 98304}, {6, 49152}, {12, 8192}};

/* The tier that an interval is joined from. */
static int tier_of(int interval)
{
    int tier = CANDLE_TIERS - 1;
    while (tiers[tier].interval > interval)
        tier--;
    return tier;
}

const char *replay_candle_interval_name(int interval)
{
    return interval == CANDLE_MONTH ? BAR_MONTH_REST : bar_intervals[interval].name;
}

int64_t replay_candle_interval_ns(int interval)
{
    return interval == CANDLE_MONTH ? BAR_MONTH_NS : bar_intervals[interval].ns;
}

int replay_candle_interval_find(const char *name, size_t len)
{
    for (int i = 0; i < CANDLE_INTERVALS; i++) {
        const char *known = replay_candle_interval_name(i);
        if (strlen(known) == len && memcmp(known, name, len) == 0)
            return i;
    }
    return -1;
}

int64_t replay_candle_open_time(int interval, int64_t ts_ns)
{
    return bar_open_time(ts_ns, replay_candle_interval_ns(interval));
}

int64_t replay_candle_end_time(int interval, int64_t open_ns)
{
    return bar_end_time(open_ns, replay_candle_interval_ns(interval));
}

void replay_candles_init(struct candles *candles)
{
    *candles = (struct candles){.last_id = -1, .whole = -1, .share = 1};
}

void replay_candles_finish(struct candles *candles)
{
    for (int t = 0; t < CANDLE_TIERS; t++)
        free(candles->tiers[t].bars);
    for (int i = 0; i < CANDLE_INTERVALS; i++)
        free(candles->given[i].bars);
    replay_candles_init(candles);
}

static size_t bars_max(const struct candles *candles, int tier)
{
    if (tiers[tier].interval == candles->whole)
        return SIZE_MAX / 2;
    size_t max = tiers[tier].max / candles->share;
    return max > BARS_MIN ? max : BARS_MIN;
}

int replay_candles_append(struct candles *candles, int tier, const struct candle *bar)
{
    struct candle_tier *t = &candles->tiers[tier];
    if (t->n == bars_max(candles, tier)) {
        size_t keep = t->n / 2;
        memmove(t->bars, t->bars + (t->n - keep), keep * sizeof(*t->bars));
        t->n = keep;
        t->cut = true;
    }
    if (t->n == t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 64;
        struct candle *bars = reallocarray(t->bars, cap, sizeof(*bars));
        if (!bars)
            return -ENOMEM;
        t->bars = bars;
        t->cap = cap;
    }
    t->bars[t->n++] = *bar;
    if (bar->last_id > candles->last_id)
        candles->last_id = bar->last_id;
    return 0;
}

static struct candle empty_candle(int64_t open_ns, int64_t price)
{
    return (struct candle){.open_ns = open_ns,
                           .open = price,
                           .high = price,
                           .low = price,
                           .close = price,
                           .first_id = -1,
                           .last_id = -1};
}

int replay_candles_begin(struct candles *candles, int64_t ts_ns, int64_t price)
{
    int rc = 0;
    for (int t = 0; t < CANDLE_TIERS && rc == 0; t++) {
        struct candle bar = empty_candle(replay_candle_open_time(tiers[t].interval, ts_ns), price);
        if (candles->tiers[t].n == 0)
            rc = replay_candles_append(candles, t, &bar);
    }
    return rc;
}

static int advance_tier(struct candles *candles, int tier, int64_t ts_ns)
{
    struct candle_tier *t = &candles->tiers[tier];
    int64_t length = bar_intervals[tiers[tier].interval].ns;
    if (t->n == 0)
        return 0;
    int64_t last = t->bars[t->n - 1].open_ns, close = t->bars[t->n - 1].close;
    int64_t open = replay_candle_open_time(tiers[tier].interval, ts_ns);
    if ((open - last) / length > (int64_t)bars_max(candles, tier)) /* more than is kept */
        t->n = 0;
    if (open > last && (t->n == 0 || candles->hole))
        last = open - length;
    for (int64_t next = last + length; next <= open; next += length) {
        struct candle bar = empty_candle(next, close);
        int rc = replay_candles_append(candles, tier, &bar);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int replay_candles_advance(struct candles *candles, int64_t ts_ns)
{
    for (int t = 0; t < CANDLE_TIERS; t++) {
        int rc = advance_tier(candles, t, ts_ns);
        if (rc < 0)
            return rc;
    }
    candles->hole = false;
    return 0;
}

void replay_candles_hole(struct candles *candles)
{
    candles->hole = true;
}

void replay_candle_join(struct candle *into, const struct candle *bar)
{
    if (bar->trades == 0)
        return;
    if (into->trades == 0) { /* a quiet candle carries the close before it: the first trade opens */
        int64_t open_ns = into->open_ns;
        *into = *bar;
        into->open_ns = open_ns;
        return;
    }
    if (bar->high > into->high)
        into->high = bar->high;
    if (bar->low < into->low)
        into->low = bar->low;
    into->close = bar->close;
    into->volume += bar->volume;
    into->taker_volume += bar->taker_volume;
    into->quote_volume += bar->quote_volume;
    into->taker_quote_volume += bar->taker_quote_volume;
    into->trades += bar->trades;
    into->last_id = bar->last_id;
}

int replay_candles_trade(struct candles *candles, const struct candle_trade *trade)
{
    int128_t quote = (int128_t)trade->price * trade->qty;
    struct candle bar = {
        .open = trade->price,
        .high = trade->price,
        .low = trade->price,
        .close = trade->price,
        .volume = trade->qty,
        .quote_volume = quote,
        .taker_volume = trade->buyer_maker ? 0 : trade->qty,
        .taker_quote_volume = trade->buyer_maker ? 0 : quote,
        .trades = trade->last_id - trade->first_id + 1,
        .first_id = trade->first_id,
        .last_id = trade->last_id,
    };
    if (trade->first_id <= candles->last_id)
        return 0;
    int rc = replay_candles_advance(candles, trade->ts_ns);
    if (rc < 0)
        return rc;
    for (int i = 0; i < CANDLE_TIERS; i++) {
        struct candle_tier *t = &candles->tiers[i];
        bar.open_ns = replay_candle_open_time(tiers[i].interval, trade->ts_ns);
        if (t->n > 0)
            replay_candle_join(&t->bars[t->n - 1], &bar);
        else if ((rc = replay_candles_append(candles, i, &bar)) < 0)
            return rc;
    }
    candles->last_id = trade->last_id;
    return 0;
}

/* First bar of a tier that opens at or after ts_ns. */
static size_t lower_bound(const struct candle_tier *tier, int64_t ts_ns)
{
    size_t lo = 0, hi = tier->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (tier->bars[mid].open_ns < ts_ns)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Puts a bar of an interval that is not a base at its place. */
static int give(struct candle_tier *given, const struct candle *bar)
{
    size_t i = lower_bound(given, bar->open_ns);
    if (i < given->n && given->bars[i].open_ns == bar->open_ns) {
        given->bars[i] = *bar;
        return 0;
    }
    if (given->n == given->cap) {
        size_t cap = given->cap ? given->cap * 2 : 64;
        struct candle *bars = reallocarray(given->bars, cap, sizeof(*bars));
        if (!bars)
            return -ENOMEM;
        given->bars = bars;
        given->cap = cap;
    }
    memmove(given->bars + i + 1, given->bars + i, (given->n - i) * sizeof(*given->bars));
    given->bars[i] = *bar;
    given->n++;
    return 0;
}

int replay_candles_put(struct candles *candles, int interval, const struct candle *bar)
{
    int tier = tier_of(interval);
    struct candle_tier *t = &candles->tiers[tier];
    if (tiers[tier].interval != interval)
        return give(&candles->given[interval], bar);
    size_t i = lower_bound(t, bar->open_ns);
    if (i < t->n && t->bars[i].open_ns == bar->open_ns) {
        t->bars[i] = *bar;
        return 0;
    }
    if (i < t->n)
        return 0; /* older than what is kept */
    return replay_candles_append(candles, tier, bar);
}

void replay_candles_keep_all(struct candles *candles, int interval)
{
    candles->whole = interval;
}

int replay_candles_keep(struct candles *candles, int interval, int64_t open_ns)
{
    struct candle bar;
    bool base = tiers[tier_of(interval)].interval == interval;
    return base || !replay_candles_get(candles, interval, open_ns, &bar)
               ? 0
               : give(&candles->given[interval], &bar);
}

bool replay_candles_get(const struct candles *candles, int interval, int64_t open_ns, struct candle *ret)
{
    const struct candle_tier *t = &candles->tiers[tier_of(interval)], *given = &candles->given[interval];
    int64_t end = replay_candle_end_time(interval, open_ns);
    size_t i = lower_bound(given, open_ns);
    if (i < given->n && given->bars[i].open_ns == open_ns) {
        *ret = given->bars[i];
        return true;
    }
    i = lower_bound(t, open_ns);
    if (i == t->n || t->bars[i].open_ns >= end)
        return false;
    *ret = t->bars[i];
    ret->open_ns = open_ns;
    for (i++; i < t->n && t->bars[i].open_ns < end; i++)
        replay_candle_join(ret, &t->bars[i]);
    return true;
}

/* Where the last `limit` intervals from `oldest` to `newest` begin, or all. */
static int64_t last_of(int interval, int64_t oldest, int64_t newest, size_t limit)
{
    int64_t first = newest;
    for (size_t i = 1; i < limit && first > oldest; i++)
        first = replay_candle_open_time(interval, first - 1);
    return first;
}

size_t replay_candles_query(const struct candles *candles, int interval, int64_t start_ns, int64_t end_ns,
                            size_t limit, struct candle *ret)
{
    const struct candle_tier *sources[] = {&candles->tiers[tier_of(interval)], &candles->given[interval]};
    int64_t oldest = INT64_MAX, newest = INT64_MIN;
    for (int k = 0; k < 2; k++) {
        const struct candle_tier *t = sources[k];
        if (t->n == 0)
            continue;
        int64_t from = replay_candle_open_time(interval, t->bars[0].open_ns);
        if (t->cut && from < t->bars[0].open_ns)
            from = replay_candle_end_time(interval, from);
        int64_t to = replay_candle_open_time(interval, t->bars[t->n - 1].open_ns);
        oldest = from < oldest ? from : oldest;
        newest = to > newest ? to : newest;
    }
    if (newest == INT64_MIN || limit == 0)
        return 0;
    if (end_ns >= 0 && end_ns < newest)
        newest = replay_candle_open_time(interval, end_ns);
    int64_t first = oldest;
    if (start_ns >= 0) {
        if (start_ns > first) {
            first = replay_candle_open_time(interval, start_ns);
            if (first < start_ns)
                first = replay_candle_end_time(interval, first);
        }
    } else {
        first = last_of(interval, oldest, newest, limit);
    }
    size_t n = 0;
    for (int64_t open = first, end; open <= newest && n < limit; open = end) {
        end = replay_candle_end_time(interval, open);
        if (replay_candles_get(candles, interval, open, &ret[n])) {
            n++;
            continue;
        }
        /* A hole: continue at the next bar that there is. */
        int64_t next = INT64_MAX;
        for (int k = 0; k < 2; k++) {
            size_t i = lower_bound(sources[k], end);
            if (i < sources[k]->n && sources[k]->bars[i].open_ns < next)
                next = sources[k]->bars[i].open_ns;
        }
        if (next == INT64_MAX)
            break;
        end = replay_candle_open_time(interval, next);
    }
    return n;
}

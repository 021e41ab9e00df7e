#include "exchange/trading_day.h"

#include <errno.h>

static int64_t length(const struct trading_day *day)
{
    return day->close_ns - day->open_ns;
}

static bool shorter_than_others(const struct trading_day *days, size_t n, size_t at)
{
    for (size_t i = 0; i < n; i++)
        if (length(&days[i]) > length(&days[at]))
            return true;
    return false;
}

size_t trading_days_find(const struct trading_day *days, size_t n, int64_t ns)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (days[middle].late_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void trading_days_at(const struct trading_day *days, size_t n, int64_t now_ns, struct trading_now *ret)
{
    size_t at = trading_days_find(days, n, now_ns);
    *ret = (struct trading_now){.phase = MARKET_PHASE_UNKNOWN};
    if (at == n)
        return;
    const struct trading_day *day = &days[at];
    bool started = day->early_ns <= now_ns;
    ret->open_ns = now_ns < day->close_ns ? day->open_ns : at + 1 < n ? days[at + 1].open_ns : 0;
    if (!started) {
        ret->phase = at == 0 ? MARKET_PHASE_UNKNOWN : MARKET_PHASE_CLOSED;
        ret->next_ns = day->early_ns < day->open_ns ? day->early_ns : day->open_ns;
        return;
    }
    ret->half = shorter_than_others(days, n, at);
    if (now_ns < day->open_ns) {
        ret->phase = MARKET_PHASE_EARLY;
        ret->next_ns = day->open_ns;
    } else if (now_ns < day->close_ns) {
        ret->phase = MARKET_PHASE_OPEN;
        ret->next_ns = day->close_ns;
    } else {
        ret->phase = MARKET_PHASE_LATE;
        ret->next_ns = day->late_ns;
    }
}

int trading_days_check(const struct trading_day *days, size_t n, size_t *ret_bad)
{
    for (size_t i = 0; i < n; i++) {
        const struct trading_day *day = &days[i];
        if (day->early_ns <= day->open_ns && day->open_ns < day->close_ns && day->close_ns <= day->late_ns &&
            (i == 0 || days[i - 1].late_ns <= day->early_ns))
            continue;
        *ret_bad = i;
        return -EINVAL;
    }
    return 0;
}

const char *market_phase_name(enum market_phase phase)
{
    static const char *const names[MARKET_PHASES] = {
        [MARKET_PHASE_UNKNOWN] = "unknown", [MARKET_PHASE_CLOSED] = "closed", [MARKET_PHASE_EARLY] = "pre",
        [MARKET_PHASE_OPEN] = "regular",    [MARKET_PHASE_LATE] = "post",
    };
    return names[phase];
}

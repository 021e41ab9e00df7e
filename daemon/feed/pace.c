#include "daemon/feed/pace.h"

bool feed_pace_due(const struct pace *pace, int64_t now_ms)
{
    return pace->delay_ms == 0 || now_ms >= pace->asked_ms + pace->delay_ms;
}

bool feed_pace_steady(const struct pace *pace, int64_t now_ms)
{
    return pace->delay_ms == 0 || now_ms >= pace->asked_ms + pace->delay_ms + PACE_STEADY_MS;
}

bool feed_pace_asked(struct pace *pace, int64_t now_ms)
{
    bool calm = feed_pace_steady(pace, now_ms);
    pace->delay_ms = calm ? PACE_MIN_MS : pace->delay_ms * 2 < PACE_MAX_MS ? pace->delay_ms * 2 : PACE_MAX_MS;
    pace->asked_ms = now_ms;
    pace->row = calm ? 1 : pace->row + 1;
    return pace->row == PACE_ALERT;
}

#include "daemon/notify/pace.h"

void daemon_notify_pace_failed(struct notify_pace *pace, int64_t retry_ns, int64_t started_ns, int64_t now_ns,
                               int64_t retry_after_ns)
{
    int64_t most_ns = NOTIFY_WAIT_RETRIES * retry_ns;
    if (!pace->failing) {
        pace->failing = true;
        pace->since_ns = pace->eager_ns = started_ns;
        pace->wait_ns = retry_ns;
    }
    pace->started_ns = started_ns;
    if (started_ns - pace->eager_ns < NOTIFY_EAGER_RETRIES * retry_ns)
        pace->wait_ns = retry_ns;
    else
        pace->wait_ns = pace->wait_ns < most_ns / 2 ? 2 * pace->wait_ns : most_ns;
    if (retry_after_ns > NOTIFY_RETRY_AFTER_MAX_NS)
        retry_after_ns = NOTIFY_RETRY_AFTER_MAX_NS;
    pace->until_ns = retry_after_ns >= 0 ? now_ns + retry_after_ns : 0;
}

void daemon_notify_pace_accepted(struct notify_pace *pace)
{
    *pace = (struct notify_pace){0};
}

void daemon_notify_pace_again(struct notify_pace *pace, int64_t retry_ns, int64_t now_ns)
{
    pace->eager_ns = now_ns;
    pace->wait_ns = retry_ns;
}

int64_t daemon_notify_pace_next(const struct notify_pace *pace)
{
    int64_t next_ns = pace->started_ns + pace->wait_ns;
    if (!pace->failing)
        return 0;
    return next_ns > pace->until_ns ? next_ns : pace->until_ns;
}

bool daemon_notify_quiet(int from, int to, int minute)
{
    if (from < 0)
        return false;
    return from <= to ? minute >= from && minute < to : minute >= from || minute < to;
}

#include "daemon/notify/backoff.h"

void daemon_notify_backoff_failed(struct notify_backoff *backoff, int64_t retry_ns, int64_t started_ns,
                                  int64_t now_ns, int64_t retry_after_ns)
{
    int64_t most_ns = NOTIFY_WAIT_RETRIES * retry_ns;
    if (!backoff->failing) {
        backoff->failing = true;
        backoff->since_ns = backoff->eager_ns = started_ns;
        backoff->wait_ns = retry_ns;
    }
    backoff->started_ns = started_ns;
    if (started_ns - backoff->eager_ns < NOTIFY_EAGER_RETRIES * retry_ns)
        backoff->wait_ns = retry_ns;
    else
        backoff->wait_ns = backoff->wait_ns < most_ns / 2 ? 2 * backoff->wait_ns : most_ns;
    if (retry_after_ns > NOTIFY_RETRY_AFTER_MAX_NS)
        retry_after_ns = NOTIFY_RETRY_AFTER_MAX_NS;
    backoff->until_ns = retry_after_ns >= 0 ? now_ns + retry_after_ns : 0;
}

void daemon_notify_backoff_accepted(struct notify_backoff *backoff)
{
    *backoff = (struct notify_backoff){0};
}

void daemon_notify_backoff_resume(struct notify_backoff *backoff, int64_t since_ns, int64_t now_ns)
{
    *backoff = (struct notify_backoff){
        .failing = true, .since_ns = since_ns < now_ns ? since_ns : now_ns, .eager_ns = now_ns};
}

void daemon_notify_backoff_again(struct notify_backoff *backoff, int64_t retry_ns, int64_t now_ns)
{
    backoff->eager_ns = now_ns;
    backoff->wait_ns = retry_ns;
}

int64_t daemon_notify_backoff_next(const struct notify_backoff *backoff)
{
    int64_t next_ns = backoff->started_ns + backoff->wait_ns;
    if (!backoff->failing)
        return 0;
    return next_ns > backoff->until_ns ? next_ns : backoff->until_ns;
}

bool daemon_notify_quiet(int from, int to, int minute)
{
    if (from < 0)
        return false;
    return from <= to ? minute >= from && minute < to : minute >= from || minute < to;
}

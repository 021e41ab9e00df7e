#include "daemon/feed/recovery.h"

static void await(struct feed_recovery *recovery, bool lost, uint64_t bars, int64_t now_ms)
{
    recovery->awaited = true;
    recovery->lost = lost;
    recovery->ended_ms = now_ms;
    recovery->bars = bars;
}

void feed_recovery_judge(struct feed_recovery *recovery, bool interrupted, uint64_t bars, int64_t now_ms)
{
    if (interrupted)
        *recovery = (struct feed_recovery){.interrupted = true};
    else if (recovery->interrupted) {
        recovery->interrupted = false;
        await(recovery, false, bars, now_ms);
    }
}

void feed_recovery_lost(struct feed_recovery *recovery, uint64_t bars, int64_t now_ms)
{
    if (!recovery->interrupted && !recovery->awaited)
        await(recovery, true, bars, now_ms);
}

void feed_recovery_none_lost(struct feed_recovery *recovery)
{
    if (recovery->awaited && recovery->lost)
        feed_recovery_drop(recovery);
}

bool feed_recovery_bars(struct feed_recovery *recovery, uint64_t bars, int64_t now_ms,
                        struct feed_recoveries *sum)
{
    if (!recovery->awaited || bars <= recovery->bars)
        return false;
    recovery->awaited = false;
    sum->n++;
    sum->last_ms = now_ms - recovery->ended_ms;
    sum->sum_ms += sum->last_ms;
    if (sum->last_ms > sum->worst_ms)
        sum->worst_ms = sum->last_ms;
    return true;
}

void feed_recovery_drop(struct feed_recovery *recovery)
{
    *recovery = (struct feed_recovery){0};
}

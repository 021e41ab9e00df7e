#include "daemon/loop_time.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { BINS_A_DOUBLING = 4, FIRST_NS = 1000 };

static int bin_of(int64_t ns)
{
    if (ns <= FIRST_NS)
        return 0;
    int bin = (int)(log2((double)ns / FIRST_NS) * BINS_A_DOUBLING);
    return bin < LOOP_TIME_BINS ? bin : LOOP_TIME_BINS - 1;
}

static double middle_ms(int bin)
{
    return FIRST_NS / 1e6 * exp2((bin + 0.5) / BINS_A_DOUBLING);
}

/* Empties the slices since the last; the one of now. */
static int advance(struct loop_time *time, int64_t now_ms)
{
    int64_t slice = now_ms / LOOP_TIME_SLICE_MS;
    if (time->began_ms == 0) {
        time->began_ms = now_ms;
        time->slice = slice;
    }
    for (int n = 0; time->slice < slice; n++) {
        time->slice = n < LOOP_TIME_SLICES ? time->slice + 1 : slice;
        int at = (int)(time->slice % LOOP_TIME_SLICES);
        memset(time->busy_ns[at], 0, sizeof time->busy_ns[at]);
        time->longest_ns[at] = 0;
        time->turns[at] = 0;
    }
    return (int)(time->slice % LOOP_TIME_SLICES);
}

void daemon_loop_time_turn(struct loop_time *time, int64_t now_ms, int64_t ns)
{
    int at = advance(time, now_ms);
    time->busy_ns[at][bin_of(ns)] += ns;
    time->turns[at]++;
    if (ns > time->longest_ns[at])
        time->longest_ns[at] = ns;
}

void daemon_loop_time_look(struct loop_time *time, int64_t now_ms, struct loop_times *ret)
{
    int64_t sums[LOOP_TIME_BINS] = {0}, busy = 0, longest = 0, longer = 0;
    uint64_t turns = 0;
    advance(time, now_ms);
    for (int slice = 0; slice < LOOP_TIME_SLICES; slice++) {
        for (int bin = 0; bin < LOOP_TIME_BINS; bin++) {
            sums[bin] += time->busy_ns[slice][bin];
            busy += time->busy_ns[slice][bin];
        }
        turns += time->turns[slice];
        longest = time->longest_ns[slice] > longest ? time->longest_ns[slice] : longest;
    }
    int64_t kept = now_ms % LOOP_TIME_SLICE_MS + (LOOP_TIME_SLICES - 1) * LOOP_TIME_SLICE_MS;
    int64_t since = now_ms - time->began_ms, span_ms = since < kept ? since : kept;
    double span_ns = (double)(span_ms < 1 ? 1 : span_ms) * 1e6;
    int bin = LOOP_TIME_BINS - 1;
    while (bin >= 0 && (double)(longer + sums[bin]) <= 0.01 * span_ns) /* a share of 1 % waits for longer */
        longer += sums[bin--];
    *ret = (struct loop_times){.turns_per_second = (double)turns * 1e9 / span_ns,
                               .busy = (double)busy / span_ns,
                               .wait_p99_ms = bin < 0 ? 0 : middle_ms(bin),
                               .longest_ms = (double)longest / 1e6};
}

static struct loop_time own;
static uv_prepare_t before_waiting;
static int64_t used_ns; /* by the thread when it waited last */

static int64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void waits(uv_prepare_t *prepare)
{
    int64_t now_ns = thread_ns();
    daemon_loop_time_turn(&own, (int64_t)uv_now(prepare->loop), now_ns - used_ns);
    used_ns = now_ns;
}

void daemon_loop_time_start(uv_loop_t *loop)
{
    used_ns = thread_ns();
    uv_prepare_init(loop, &before_waiting);
    uv_prepare_start(&before_waiting, waits);
    uv_unref((uv_handle_t *)&before_waiting);
}

void daemon_loop_time_now(uv_loop_t *loop, struct loop_times *ret)
{
    daemon_loop_time_look(&own, (int64_t)uv_now(loop), ret);
}

void daemon_loop_time_stop(void)
{
    uv_close((uv_handle_t *)&before_waiting, NULL);
}

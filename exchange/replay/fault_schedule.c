#include "exchange/replay/fault_schedule.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/fail.h"

static bool is_text(const struct fault_timed *timed, const char *text)
{
    return strcmp(timed->text, text) == 0;
}

static void apply(struct faults *faults, const struct fault_timed *timed)
{
    char error[FAULT_ERROR_MAX];
    faults->base_ns = timed->span.from_ns;
    faults->posted_ns = timed->posted_ns;
    replay_fault_parse(faults, timed->text, error); /* where no more of them fit: without it */
}

static void drop(struct fault_schedule *schedule, size_t at)
{
    memmove(&schedule->timed[at], &schedule->timed[at + 1],
            (schedule->n - at - 1) * sizeof(schedule->timed[0]));
    schedule->n--;
}

/* What is in effect. A wipe is in effect until it was carried out, which clears it. */
static void refresh(struct fault_schedule *schedule)
{
    const bool wipe = schedule->now.wipe || schedule->plain.wipe;
    schedule->plain.wipe = false;
    schedule->now = schedule->plain;
    for (size_t i = 0; i < schedule->n; i++)
        if (schedule->timed[i].on)
            apply(&schedule->now, &schedule->timed[i]);
    schedule->now.wipe = wipe;
}

static bool endless(const struct fault_timed *timed)
{
    return timed->span.to_ns == INT64_MAX;
}

/* It starts. True: it was done at once, and is not kept. */
static bool start(struct fault_schedule *schedule, size_t at, const struct fault_moment *moment)
{
    struct fault_timed *timed = &schedule->timed[at];
    timed->on = true;
    timed->posted_ns = moment->hr_ns - (moment->elapsed_ns - timed->span.from_ns);
    if (!is_text(timed, "none") && !is_text(timed, "wipe"))
        return false;
    apply(&schedule->plain, timed);
    if (is_text(timed, "none"))
        schedule->n = 0;
    else
        drop(schedule, at);
    return true;
}

int64_t replay_fault_schedule_run(struct fault_schedule *schedule, const struct fault_moment *at)
{
    int64_t next_ns = INT64_MAX;
    for (size_t i = 0; i < schedule->n;) {
        struct fault_timed *timed = &schedule->timed[i];
        if (timed->span.to_ns <= at->elapsed_ns)
            drop(schedule, i);
        else if (timed->on || timed->span.from_ns > at->elapsed_ns || !start(schedule, i, at))
            i++;
    }
    while (schedule->n > 0 && schedule->timed[0].on && endless(&schedule->timed[0])) {
        apply(&schedule->plain, &schedule->timed[0]);
        drop(schedule, 0);
    }
    for (size_t i = 0; i < schedule->n; i++) {
        const struct fault_timed *timed = &schedule->timed[i];
        const int64_t ns = timed->on ? timed->span.to_ns : timed->span.from_ns;
        next_ns = ns < next_ns ? ns : next_ns;
    }
    refresh(schedule);
    return next_ns;
}

/* The text before the last '@', where that is a fault by itself (*ret_one: that alone); and its time, where
 * that is one. */
static bool split(const char *spec, struct fault_timed *ret, struct faults *ret_one, bool *ret_time)
{
    char error[FAULT_ERROR_MAX];
    const char *at = strrchr(spec, '@');
    const size_t len = at ? (size_t)(at - spec) : 0;
    if (len == 0 || len >= sizeof(ret->text))
        return false;
    *ret = (struct fault_timed){.span.to_ns = INT64_MAX};
    memcpy(ret->text, spec, len);
    *ret_time = replay_fault_span_parse(at + 1, &ret->span);
    *ret_one = (struct faults){0};
    return replay_fault_parse(ret_one, ret->text, error) == 0;
}

/* Why it has no time; NULL: it may have one. */
static const char *refuse(const struct fault_timed *timed, const struct faults *one)
{
    if (one->tls_expired)
        return "the certificate is of the whole run: without a time";
    if (one->n_changes > 0)
        return "of a symbol, which has its own time: as status@30s:BTCUSDT=HALT";
    if (!endless(timed) && (one->wipe || is_text(timed, "none")))
        return "it happens at once, and has no end: as wipe@30s";
    if (!endless(timed) && timed->span.to_ns <= timed->span.from_ns)
        return "it would never be on: a length above 0";
    return NULL;
}

static int insert(struct fault_schedule *schedule, const struct fault_timed *timed, const char *spec,
                  char error[static FAULT_ERROR_MAX])
{
    size_t at = schedule->n;
    if (schedule->n == FAULT_TIMED_MAX)
        return fail_with(-EINVAL, error, FAULT_ERROR_MAX, "too many faults at a time: %.40s: %d of them",
                         spec, FAULT_TIMED_MAX);
    for (; at > 0 && schedule->timed[at - 1].span.from_ns > timed->span.from_ns; at--)
        schedule->timed[at] = schedule->timed[at - 1];
    schedule->timed[at] = *timed;
    schedule->n++;
    return 0;
}

/* Without a time. While others are on that end, it is one of them, so that it counts as the last one. */
static int add_plain(struct fault_schedule *schedule, const char *spec, const struct fault_moment *at,
                     char error[static FAULT_ERROR_MAX])
{
    struct fault_timed timed = {.span = {at->elapsed_ns, INT64_MAX}};
    const size_t len = strlen(spec);
    bool any_on = false;
    if (strcmp(spec, "none") == 0)
        schedule->n = 0;
    for (size_t i = 0; i < schedule->n; i++)
        any_on |= schedule->timed[i].on;
    if (any_on && len < sizeof(timed.text)) {
        memcpy(timed.text, spec, len);
        return insert(schedule, &timed, spec, error);
    }
    schedule->plain.base_ns = at->elapsed_ns;
    schedule->plain.posted_ns = at->hr_ns;
    return replay_fault_parse(&schedule->plain, spec, error);
}

int replay_fault_schedule_add(struct fault_schedule *schedule, const char *spec,
                              const struct fault_moment *at, char error[static FAULT_ERROR_MAX])
{
    struct faults all, one;
    struct fault_timed timed;
    bool has_time;
    replay_fault_schedule_all(schedule, &all);
    int rc = replay_fault_parse(&all, spec, error);
    if (rc == 0) {
        rc = add_plain(schedule, spec, at, error);
    } else if (split(spec, &timed, &one, &has_time)) {
        const char *why = has_time ? refuse(&timed, &one) : NULL;
        if (!has_time)
            return fail_with(-EINVAL, error, FAULT_ERROR_MAX,
                             "bad time of a fault: %.64s: as %.40s@30s or %.40s@30s+10s", spec, timed.text,
                             timed.text);
        if (why)
            return fail_with(-EINVAL, error, FAULT_ERROR_MAX, "no time of a fault: %.64s: %s", spec, why);
        if (replay_fault_parse(&all, timed.text, error) < 0)
            return -EINVAL;
        timed.span.from_ns += at->elapsed_ns;
        timed.span.to_ns += endless(&timed) ? 0 : at->elapsed_ns;
        rc = insert(schedule, &timed, spec, error);
    }
    return rc;
}

void replay_fault_schedule_all(const struct fault_schedule *schedule, struct faults *ret)
{
    *ret = schedule->plain;
    for (size_t i = 0; i < schedule->n; i++)
        if (!is_text(&schedule->timed[i], "none"))
            apply(ret, &schedule->timed[i]);
}

#include "exchange/replay/play.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    BATCH_STEPS = 256,
    CROWD_SYMBOLS = 32, /* so many would emit too much in one tick: they get shorter ones */
    CATCH_UP_NS = 250000000,
};

/* How often the play moves, and how long in one turn of the loop, before what it said is sent. */
static const struct pace {
    int tick_ns;
    unsigned work_ns;
} few = {5000000, 4000000}, crowd = {500000, 250000};

static const struct pace *pace_of(const struct play *play)
{
    const struct tape *tape = play->source->tape;
    return tape && tape->n_symbols > CROWD_SYMBOLS ? &crowd : &few;
}

/* Ends the play; the program says why. */
static void fail(struct play *play, const char *why)
{
    fprintf(stderr, "papertape-replay: %s\n", why);
    play->failed = true;
    uv_stop(play->loop);
}

static bool step(struct play *play)
{
    int rc = play->source->ops->step(play->source);
    bool failed = play->source->tape && play->source->tape->failed;
    if (rc < 0 || failed)
        fail(play, rc < 0 ? play->source->error : "out of memory");
    return rc == 0 && !failed;
}

/* Steps that are due by source time `until`, for so long; false when some are left. */
static bool play_until(struct play *play, int64_t until, unsigned work_ns)
{
    uint64_t begin = uv_hrtime();
    for (unsigned n = 1; play->source->ops->due(play->source) <= until; n++) {
        if (!step(play))
            return true;
        if (n % 16 == 0 && uv_hrtime() - begin > work_ns)
            return false;
    }
    return true;
}

/* Where the pace has come to. */
static int64_t paced_ns(const struct play *play)
{
    const double elapsed = (double)(uv_hrtime() - play->start_ns) * play->speed;
    return elapsed < 9e18 - (double)play->origin_ns ? play->origin_ns + (int64_t)elapsed : INT64_MAX - 1;
}

/* Lets it move after `ns` nanoseconds, at least 1. libuv's own timers count whole milliseconds. */
static void arm(struct play *play, int ns)
{
    const struct itimerspec at = {.it_value.tv_nsec = ns};
    play->armed = timerfd_settime(play->timer, 0, &at, NULL) == 0;
    if (!play->armed)
        fail(play, strerror(errno));
}

static void on_tick(uv_poll_t *poll, int status, int events)
{
    struct play *play = poll->data;
    uint64_t times;
    (void)events;
    if (status == 0 && read(play->timer, &times, sizeof(times)) < 0) {
        if (errno == EAGAIN || errno == EINTR)
            return;
        status = -errno;
    }
    if (status < 0) {
        fail(play, uv_strerror(status));
        return;
    }
    play->armed = false;
    bool all = play_until(play, paced_ns(play), pace_of(play)->work_ns);
    if (!play->failed && play->source->ops->due(play->source) != INT64_MAX)
        arm(play, all ? pace_of(play)->tick_ns : 1);
}

static void on_idle(uv_idle_t *idle)
{
    struct play *play = idle->data;
    for (int i = 0; i < BATCH_STEPS; i++) {
        if (!play->ready(play->user) || play->source->ops->due(play->source) == INT64_MAX || !step(play)) {
            uv_idle_stop(idle);
            return;
        }
    }
}

int replay_play_init(struct play *play, uv_loop_t *loop, struct replay_source *source, double speed,
                     bool (*ready)(void *user), void *user)
{
    *play = (struct play){.source = source, .speed = speed, .loop = loop, .ready = ready, .user = user};
    play->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int rc = play->timer < 0 ? -errno : uv_poll_init(loop, &play->poll, play->timer);
    if (rc == 0)
        rc = uv_poll_start(&play->poll, UV_READABLE, on_tick);
    if (rc == 0)
        rc = uv_idle_init(loop, &play->idle);
    play->poll.data = play->idle.data = play;
    return rc;
}

static void move(struct play *play)
{
    if (play->moving)
        return;
    play->moving = true;
    play->origin_ns = play->source->ops->due(play->source);
    play->start_ns = uv_hrtime();
    if (play->speed > 0)
        arm(play, 1);
    else
        uv_idle_start(&play->idle, on_idle);
}

void replay_play_start(struct play *play)
{
    if (play->started || play->source->ops->due(play->source) == INT64_MAX)
        return;
    play->started = true;
    play->played_from_ns = play->source->ops->due(play->source);
    play->played_hr_ns = uv_hrtime();
    move(play);
}

void replay_play_live(struct play *play)
{
    struct timespec now;
    if (play->speed != 1 || play->source->ops->due(play->source) == INT64_MAX)
        return;
    move(play);
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t late_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec - play->origin_ns;
    if (late_ns > 0) /* read after the wall clock: the play is never ahead of it */
        play->start_ns = uv_hrtime() - (uint64_t)late_ns;
}

int64_t replay_play_clock(const struct play *play, int64_t now_ns)
{
    if (!play->moving || play->speed == 0)
        return now_ns;
    const int64_t due_ns = play->source->ops->due(play->source), at_ns = paced_ns(play);
    if (due_ns == INT64_MAX || at_ns <= now_ns)
        return now_ns;
    return at_ns < due_ns ? at_ns : due_ns > now_ns ? due_ns : now_ns;
}

void replay_play_catch_up(struct play *play)
{
    if (!play->moving || play->speed == 0 || play->failed)
        return;
    play_until(play, paced_ns(play), CATCH_UP_NS);
}

void replay_play_poke(struct play *play)
{
    if (play->moving && play->speed > 0 && !play->failed && !play->armed &&
        play->source->ops->due(play->source) != INT64_MAX)
        arm(play, 1);
    if (play->started && play->speed == 0 && !play->failed && !uv_is_active((uv_handle_t *)&play->idle) &&
        play->ready(play->user) && play->source->ops->due(play->source) != INT64_MAX)
        uv_idle_start(&play->idle, on_idle);
}

bool replay_play_racing(const struct play *play)
{
    return uv_is_active((const uv_handle_t *)&play->idle);
}

int64_t replay_play_elapsed_ns(const struct play *play)
{
    return play->started ? (int64_t)(uv_hrtime() - play->played_hr_ns) : 0;
}

void replay_play_finish(struct play *play)
{
    uv_close((uv_handle_t *)&play->poll, NULL);
    uv_close((uv_handle_t *)&play->idle, NULL);
    close(play->timer);
}

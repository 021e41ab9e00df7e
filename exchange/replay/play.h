/* The position of the play: one for all clients, driven by a timer at a chosen speed, or as fast as
 * the clients read. */
#ifndef EXCHANGE_REPLAY_PLAY_H
#define EXCHANGE_REPLAY_PLAY_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "exchange/replay/source.h"

struct play {
    struct replay_source *source;
    double speed; /* market seconds in one second; 0: as fast as clients read */
    bool moving, started, failed;
    int64_t origin_ns, played_from_ns; /* source time when it began to move, and at the start of play */
    uint64_t start_ns, played_hr_ns;   /* uv_hrtime() then */
    uv_loop_t *loop;
    int timer; /* timerfd, which `poll` waits for */
    bool armed;
    uv_poll_t poll;
    uv_idle_t idle;
    /* At full speed: may the position move on? */
    bool (*ready)(void *user);
    void *user;
};

/* 0 or a negative errno. */
int replay_play_init(struct play *play, uv_loop_t *loop, struct replay_source *source, double speed,
                     bool (*ready)(void *user), void *user);

/* Is it at full speed, and moving? */
bool replay_play_racing(const struct play *play);

/* Starts the play if it has not started: the first client has subscribed. */
void replay_play_start(struct play *play);

/* The market is of now: at a speed of 1 it moves with the system's clock before anybody plays it. */
void replay_play_live(struct play *play);

/* The position in source time, from `now_ns`, the time of its last step, up to the next one; at full speed
 * and where the play stands still `now_ns`. */
int64_t replay_play_clock(const struct play *play, int64_t now_ns);

/* Plays what is due by now, for a quarter of a second at most: an answer must not lack what lies before the
 * time that it is given at. */
void replay_play_catch_up(struct play *play);

/* ready() may have changed, at full speed, or there is something to play again. */
void replay_play_poke(struct play *play);

/* Nanoseconds of wall time since the start; 0 before. */
int64_t replay_play_elapsed_ns(const struct play *play);

/* Closes the loop's handles. */
void replay_play_finish(struct play *play);

#endif

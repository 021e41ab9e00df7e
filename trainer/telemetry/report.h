/* A training's progress: JSON lines on stdout, or a bar where that and stderr are terminals (on stderr, so
 * that nothing but JSON is ever on stdout), and warnings on stderr. Schema papertape.training/1;
 * docs/training.md has the events. Any thread may call it. */
#ifndef TRAINER_TELEMETRY_REPORT_H
#define TRAINER_TELEMETRY_REPORT_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "trainer/telemetry/usage.h"

/* Decides which states are reported where rollouts and updates alternate faster than lines should. Each of
 * the two has an account of the seconds that it took but that were not reported as it; reported time is
 * subtracted from the account of the state that the line names, so that no account exceeds a few `every_s`,
 * however the two coincide with the times of the lines. Other states are reported at once, and exactly. Pure:
 * no clock. */

enum { TIMELINE_TURNS = 2 };

struct timeline {
    double every_s;                    /* 0: all is reported */
    const char *state, *reported;      /* the current state, and that of the last line; "" */
    double reported_s;                 /* time of the last line */
    double since_s;                    /* accounts are valid up to then */
    double unreported[TIMELINE_TURNS]; /* seconds of rollout and update; below 0: reported for too long */
};

void telemetry_timeline_begin(struct timeline *timeline, double every_s);

/* Enters `state`, a literal. Returns the state to report from now on, NULL: no line. That is `state` itself,
 * unless more than half of every_s is unreported of the other. Times never fall. */
const char *telemetry_timeline_enter(struct timeline *timeline, const char *state, double now_s);

/* Called as time passes, so that no lasting state is reported as another for long. Returns as
 * telemetry_timeline_enter(). */
const char *telemetry_timeline_tick(struct timeline *timeline, double now_s);

#define REPORT_SCHEMA "papertape.training/1"

struct report {
    bool lines, bar;    /* JSON lines; a bar */
    atomic_bool failed; /* the reader of the lines has gone */
    atomic_bool lost;   /* a line, or the rest of one, could not be written: a full disk */

    /* Under the lock. */
    pthread_mutex_t lock;
    bool torn;  /* the last line was written only in part */
    bool shown; /* the bar is on the screen */
    struct usage started;
    double drawn_s;
    double written_s; /* when a line was written last */
    const char *state;
    int64_t steps;
    double entered_s; /* when it went into `state` */
    struct timeline timeline;

    /* The heartbeat, and states that are reported late. */
    int heartbeat_ms; /* 0: none */
    pthread_t thread;
    pthread_cond_t ending;
    bool beats, ends;
};

/* `lines`: also on a terminal, as --json wants it. Its state is "loading", which no event reports until
 * telemetry_report_state() does. For telemetry_report_end(). */
void telemetry_report_begin(struct report *report, bool lines);
void telemetry_report_end(struct report *report); /* stops the heartbeat; fine on a zeroed one */

/* From now on alternating "rollout" and "update" are reported at most every `every_ms` (0: each), as struct
 * timeline has it, and a thread writes an event `heartbeat` whenever no line was written for `heartbeat_ms`
 * (0: never): the state, the steps, the state's duration, resident bytes. Only where there are lines; call it
 * before any state. 0, or -EAGAIN. */
int telemetry_report_pace(struct report *report, int every_ms, int heartbeat_ms);
/* Before a fork: the thread ends, and telemetry_report_heartbeat(), which must be called often, writes
 * heartbeats when due. telemetry_report_pace() starts the thread again. */
void telemetry_report_pace_end(struct report *report);
void telemetry_report_heartbeat(struct report *report);

/* Enters a state, which is a literal: an event `state`; entering the same one again writes nothing. */
void telemetry_report_state(struct report *report, const char *state, int64_t steps);

/* One line: schema, event, seconds since the start, and `fields`, which it takes (NULL: without memory). */
void telemetry_report_event(struct report *report, const char *event, json_t *fields);
/* The last line, `end`: the heartbeat stops before it. `fields` as with telemetry_report_event(). */
void telemetry_report_last(struct report *report, json_t *fields);

/* A sentence: an event of its own, and a line on stderr. `cause`: one word of docs/serve.md, or NULL. */
void telemetry_report_warning(struct report *report, const char *words);
void telemetry_report_warning_of(struct report *report, const char *cause, const char *words);

struct report_progress {
    const char *name;
    int64_t steps, total_steps;
    double steps_s, left_s, episode_return; /* NaN: not known */
};
void telemetry_report_bar(struct report *report,
                          const struct report_progress *progress); /* at most ten times a second */
/* The bar in `width` columns (10 or more): parts that do not fit are left out, first the steps, then the
 * return. */
void telemetry_report_bar_text(const struct report_progress *progress, int width, char *buf, size_t cap);
void telemetry_report_bar_words(struct report *report,
                                const char *words); /* a line on stderr that replaces the bar */
void telemetry_report_bar_clear(struct report *report);

#endif

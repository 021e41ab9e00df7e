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

/* Which states are reported where rollouts and updates follow one another faster than lines should. Each of
 * the two has an account of the seconds that it took and that were not reported of it; what is reported is
 * subtracted from the account of the state that the line names, so that no account is ever beyond a few
 * `every_s`, however the two fall together with the times of the lines. Other states are reported at once,
 * and exactly. Pure: no clock. */

enum { TIMELINE_TURNS = 2 };

struct timeline {
    double every_s;                    /* 0: all is reported */
    const char *state, *reported;      /* where it is, and what the last line said; "" */
    double reported_s;                 /* when it said that */
    double since_s;                    /* accounts hold till then */
    double unreported[TIMELINE_TURNS]; /* seconds of rollout and update; below 0: reported too long */
};

void telemetry_timeline_begin(struct timeline *timeline, double every_s);

/* It goes into `state`, a literal. Returns what is to be reported from now on, NULL: nothing. That is `state`
 * itself, unless more than half of every_s is unreported of the other. Times never fall. */
const char *telemetry_timeline_enter(struct timeline *timeline, const char *state, double now_s);

/* Time has passed: so that no state that lasts is reported as another for long. As
 * telemetry_timeline_enter(). */
const char *telemetry_timeline_tick(struct timeline *timeline, double now_s);

#define REPORT_SCHEMA "papertape.training/1"

struct report {
    bool lines, bar;    /* JSON lines; a bar */
    atomic_bool failed; /* no process reads the lines any more */
    atomic_bool lost;   /* a line could not be written, or only a part of one: a full disk */

    /* Under the lock. */
    pthread_mutex_t lock;
    bool torn;  /* a part of a line is the last that was written */
    bool shown; /* the bar is there */
    struct usage started;
    double drawn_s;   /* when it was drawn last */
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

/* From now on "rollout" and "update" after one another are reported at most every `every_ms` (0: each), as
 * struct timeline has it, and a thread writes an event `heartbeat` whenever nothing was written for
 * `heartbeat_ms` (0: none): the state, the steps, how long it has been in that, resident bytes. Only where
 * there are lines; before any state. 0, or -EAGAIN. */
int telemetry_report_pace(struct report *report, int every_ms, int heartbeat_ms);
/* For who forks: the thread ends, and heartbeats are written by telemetry_report_heartbeat() where one is
 * due, which is to be called often. telemetry_report_pace() begins it again. */
void telemetry_report_pace_end(struct report *report);
void telemetry_report_heartbeat(struct report *report);

/* It goes into a state, which is a literal: an event `state`; the same one again is none. */
void telemetry_report_state(struct report *report, const char *state, int64_t steps);

/* One line: schema, event, seconds since the beginning, and `fields`, which it takes (NULL: without memory).
 */
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
/* What it draws in `width` columns (10 or more), and not one beyond: what there is no room for is left out,
 * first the steps, then the return. */
void telemetry_report_bar_text(const struct report_progress *progress, int width, char *buf, size_t cap);
void telemetry_report_bar_words(struct report *report,
                                const char *words); /* a line of one's own in its place */
void telemetry_report_bar_clear(struct report *report);

#endif

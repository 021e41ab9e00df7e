/* A training's progress: JSON lines on stdout, or a bar where that and stderr are terminals (on stderr, so
 * that nothing but JSON is ever on stdout), and warnings on stderr. Schema papertape.training/1;
 * docs/training.md has the events. */
#ifndef TRAINER_TELEMETRY_REPORT_H
#define TRAINER_TELEMETRY_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "trainer/telemetry/usage.h"

#define REPORT_SCHEMA "papertape.training/1"

struct report {
    bool lines, bar; /* JSON lines; a bar */
    bool failed;     /* nobody reads the lines any more */
    bool lost;       /* a line could not be written, or only a part of one: a full disk */
    bool torn;       /* such a part is the last that was written */
    bool shown;      /* the bar is there */
    struct usage begun;
    double drawn_s; /* when it was drawn last */
};

/* `lines`: also on a terminal, as --json wants it. */
void report_begin(struct report *report, bool lines);

/* One line: schema, event, seconds since the beginning, and `fields`, which it takes (NULL: without memory).
 */
void report_event(struct report *report, const char *event, json_t *fields);

/* A sentence: an event of its own, and a line on stderr. */
void report_warning(struct report *report, const char *words);

struct report_progress {
    const char *name;
    int64_t steps, total_steps;
    double steps_s, left_s, episode_return; /* NaN: not known */
};
void report_bar(struct report *report,
                const struct report_progress *progress); /* at most ten times a second */
/* What it draws in `width` columns (10 or more), and not one beyond: what there is no room for is left out,
 * first the steps, then the return. */
void report_bar_text(const struct report_progress *progress, int width, char *buf, size_t cap);
void report_bar_clear(struct report *report);

/* A number, or null where it is none. */
json_t *report_number(double value);

#endif

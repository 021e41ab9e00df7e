/* The dashboard of an earlier moment: a model that is made of the database as it was then (db/as_of.h), so
 * that everything is drawn and chosen from it as from the daemon's. Read in a thread, or at once. */
#ifndef TUI_PAST_H
#define TUI_PAST_H

#include "tui/model.h"

struct past_want {
    unsigned visit; /* to the past; another one starts from now */
    bool jumps;     /* to at_ns; else from the moment that was read last */
    bool of_day; /* at_ns is a time of the day, on the clock that is shown, of the moment that was read last,
                    in the first jump of a visit of the newest that is recorded */
    int64_t
        at_ns;   /* 0 or below: so long before the newest that is recorded, where a replay's clock is, too */
    int steps;   /* then so many moments on, or back, below 0 */
    bool by_bar; /* to ends of bars of `want`'s symbol and interval, else to the next fill, change of an
                    order or alert */
    struct history_want want;
};

/* What was read. */
struct past_read {
    unsigned visit;
    struct model *model;         /* with its at_ns, the caller's; NULL */
    bool now;                    /* the steps led beyond the last moment: it is now */
    char words[STATUS_TEXT_MAX]; /* why it is not what was wanted; "" */
};

/* "11:30", "11:30:15": nanoseconds since midnight. False: it is none. */
bool tui_past_clock_parse(const char *text, int64_t *ret_ns);

struct tui_past_source;

/* Opens the database when it is needed. NULL without memory. */
struct tui_past_source *tui_past_source_create(const char *path);
void tui_past_source_destroy(struct tui_past_source *source);
/* False: it was stopped, and nothing was read. */
bool tui_past_source_read(struct tui_past_source *source, const struct past_want *want,
                          struct past_read *ret);
/* From another thread: a reading ends soon, and each that begins before it is no longer stopped. */
void tui_past_source_stop(struct tui_past_source *source, bool stop);

struct tui_past_reader;

/* The same in a thread. NULL without memory or a thread. */
struct tui_past_reader *tui_past_reader_create(const char *path);
void tui_past_reader_destroy(struct tui_past_reader *reader); /* does not wait for a long reading */

/* To poll for input: something was read. */
int tui_past_reader_fd(const struct tui_past_reader *reader);

/* Never waits; steps that were wanted before, and are not done yet, are done too. A jump or another visit
 * ends what is being read. */
void tui_past_reader_want(struct tui_past_reader *reader, const struct past_want *want);

/* False: nothing new. */
bool tui_past_reader_take(struct tui_past_reader *reader, struct past_read *ret);

#endif

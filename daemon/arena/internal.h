/* The arena's insides, shared by its own files: arena.c keeps the table, view.c tells of it, records.c reads
 * the accounts' days, judge.c says what follows from them and from the time. */
#ifndef DAEMON_ARENA_INTERNAL_H
#define DAEMON_ARENA_INTERNAL_H

#include "daemon/arena/arena.h"
#include "daemon/arena/evidence.h"

struct arena_seat {
    struct arena_row row;
    char *refused;    /* why it does not trade; NULL: it does */
    bool passed_over; /* it would be champion, and cannot: an alert said so */
};

/* An account's days. */
struct arena_record {
    char account[ACCOUNT_NAME_MAX];
    struct arena_days days;
    uint64_t flow; /* the newest of its ledger's that is in them; 0: none */
};

struct arena_reading;

struct arena {
    struct daemon *daemon;
    struct arena_seat *seats; /* by name */
    size_t n;
    struct arena_record *records;
    size_t n_records;
    struct arena_reading *reading; /* on its way; NULL: none */
    uint64_t read_ms;              /* uv_now() of the last one; 0: none yet */

    uv_timer_t tick;
    int64_t day;     /* that goes on, since 1970; 0: not known yet */
    uint64_t ticket; /* of the last row of the day before */
    bool due;        /* that day is to be judged, once it is on the disk, … */
    uint64_t due_ms; /* … and not before uv_now() is this */
    bool unread;     /* its accounts' days could not be read: a line of the log said so */
    int64_t until;   /* days before this one are read, whole; 0: none are yet */
};

/* records.c */
/* Of an account's days as they were last read; NaN. Asks for newer ones now and then. */
double arena_sharpe(struct arena *arena, const char *account);
void arena_records_finish(struct arena *arena);
/* Reads what is not known yet; `judges`: arena_judge() afterwards. False: not now. */
bool arena_read(struct arena *arena, bool judges);
const struct arena_days *arena_days(const struct arena *arena,
                                    const char *account); /* NULL: none are known */

/* judge.c */
void arena_tick(uv_timer_t *timer);
/* The days are read up to the one that has ended: who is crowned? */
void arena_judge(struct arena *arena);
/* It could not be looked at now: the same day is, in a while. */
void arena_judge_again(struct arena *arena);
/* What its days say against the champion's, or cash without one, or where it is the champion. */
struct arena_evidence arena_evidence(const struct arena *arena, const struct arena_row *row,
                                     const struct arena_row **ret_against);

#endif

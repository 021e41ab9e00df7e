/* The arena's insides, shared by its own files: arena.c keeps the table, view.c tells of it, records.c reads
 * the accounts' days, judge.c says what follows from them and from the time. */
#ifndef DAEMON_ARENA_INTERNAL_H
#define DAEMON_ARENA_INTERNAL_H

#include "daemon/arena/arena.h"
#include "daemon/arena/evidence.h"

struct arena_slot {
    struct arena_row row;
    char *refused;    /* why it does not trade; NULL: it does */
    bool passed_over; /* it would be champion, and cannot: an alert said so */
};

/* An account's days. */
struct arena_record {
    char account[ACCOUNT_NAME_MAX];
    struct arena_days days;
    uint64_t flow; /* the newest of its ledger's that is in them; 0: none */
    bool unread;   /* they could not be read when a day was to be judged, nor since */
};

struct arena_reading;

struct arena {
    struct daemon *daemon;
    struct arena_slot *slots; /* by name */
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
    int tries;       /* of that day, at which an account's days could not be read */
    int64_t until;   /* days before this one are read, whole, but of accounts that cannot be; 0: none */
};

/* records.c */
/* Of an account's days as they were last read; NaN. Asks for newer ones now and then. */
double arena_sharpe(struct arena *arena, const char *account);
void arena_records_finish(struct arena *arena);
/* Reads what is not known yet; `judges`: arena_judge() afterwards. False: not now. */
bool arena_read(struct arena *arena, bool judges);
const struct arena_days *arena_days(const struct arena *arena,
                                    const char *account); /* NULL: none are known */
/* Its newest days cannot be read, an alert said so: nothing is concluded from those before. */
bool arena_unread(const struct arena *arena, const char *account);

/* judge.c */
void arena_tick(uv_timer_t *timer);
/* The days are read up to the one that has ended: who is crowned? */
void arena_judge(struct arena *arena);
/* It can be champion, or is something else by now: the alert that it cannot is over. */
void arena_not_passed_over(struct arena *arena, struct arena_slot *slot);
/* It could not be looked at now: the same day is, in a while. */
void arena_judge_again(struct arena *arena);
/* What its days say against the champion's, or cash without one, or where it is the champion. */
struct arena_evidence arena_evidence(const struct arena *arena, const struct arena_row *row,
                                     const struct arena_row **ret_against);

#endif

/* The arena's internals, shared by its own files: arena.c keeps the table, view.c reports it, records.c
 * reads the accounts' days, judge.c decides what follows from them and from the time. */
#ifndef DAEMON_ARENA_INTERNAL_H
#define DAEMON_ARENA_INTERNAL_H

#include "daemon/arena/arena.h"
#include "daemon/arena/evidence.h"

struct arena_slot {
    struct arena_row row;
    char *refused;    /* why it does not trade; NULL: it does */
    bool passed_over; /* it would be champion but cannot: an alert was raised */
};

/* An account's days. */
struct arena_record {
    char account[ACCOUNT_NAME_MAX];
    struct arena_days days;
    uint64_t flow; /* the newest row of its ledger that is in them; 0: none */
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
    int64_t day;     /* the current one, since 1970; 0: not known yet */
    uint64_t ticket; /* of the last row of the day before */
    bool due;        /* that day is to be judged, once it is on the disk, … */
    uint64_t due_ms; /* … and not before uv_now() is this */
    int tries;       /* of that day, at which an account's days could not be read */
    int64_t
        until; /* days before this one are read, all of them, except accounts that cannot be read; 0: none */
};

/* records.c */
/* The Sharpe ratio of an account's days as they were last read; NaN. Reads newer ones now and then. */
double arena_sharpe(struct arena *arena, const char *account);
void arena_records_finish(struct arena *arena);
/* Reads what is not known yet; `judges`: arena_judge() afterwards. False: not now. */
bool arena_read_records(struct arena *arena, bool judges);
const struct arena_days *arena_days(const struct arena *arena,
                                    const char *account); /* NULL: no days are known */
/* Its newest days cannot be read, and an alert says so: no decision is made from older ones. */
bool arena_unread(const struct arena *arena, const char *account);

/* judge.c */
void arena_tick(uv_timer_t *timer);
/* The days are read up to the one that has ended: decides who is crowned. */
void arena_judge(struct arena *arena);
/* It can be champion, or has another role by now: closes the alert that it cannot. */
void arena_not_passed_over(struct arena *arena, struct arena_slot *slot);
/* The day could not be judged now: tries again in a while. */
void arena_judge_again(struct arena *arena);
/* The evidence of its days against the champion's, or against cash where there is no champion or it is the
 * champion. */
struct arena_evidence arena_evidence(const struct arena *arena, const struct arena_row *row,
                                     const struct arena_row **ret_against);

#endif

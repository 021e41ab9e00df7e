/* The arena's insides, shared by its own files: arena.c keeps the table, view.c tells of it, sharpe.c reads
 * the accounts' days. */
#ifndef DAEMON_ARENA_INTERNAL_H
#define DAEMON_ARENA_INTERNAL_H

#include "daemon/arena/arena.h"
#include "daemon/arena/days.h"

struct arena_seat {
    struct arena_row row;
    char *refused; /* why it does not trade; NULL: it does */
};

/* An account's days. */
struct arena_record {
    char account[ACCOUNT_NAME_MAX];
    struct arena_days days;
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
};

/* sharpe.c */
/* Of an account's days as they were last read; NaN. Asks for newer ones now and then. */
double arena_sharpe(struct arena *arena, const char *account);
void arena_records_finish(struct arena *arena);

#endif

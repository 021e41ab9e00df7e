/* The daemon's session, its event log and its database on a disk that loses power, all on one thread and a
 * clock of its own: one seed is one course of events, to the last call to the disk.
 *
 * sim.c lets time pass and steps what works; life.c begins and ends a process; client.c asks, repeats and
 * remembers what was answered; market.c is the venue; judge.c looks at what a restart found. */
#ifndef TESTS_SYSTEM_POWER_SIM_H
#define TESTS_SYSTEM_POWER_SIM_H

#include <jansson.h>

#include "daemon/command/command.h"
#include "daemon/recorder.h"
#include "daemon/session.h"
#include "exchange/net/control.h"
#include "tests/db/faulty_disk.h"
#include "tests/random.h"
#include "tests/scratch.h"

enum { ASKS_MAX = 512, TOKEN_MAX = 32, SYMBOLS = 2, WHY_MAX = 1024 };

/* A command of a client's, which it repeats by its key until it is answered, and sometimes after that. */
struct ask {
    const char *cmd;
    json_t *args;
    json_t *answer; /* the result that was acknowledged; NULL: no acknowledgement */
    bool in_flight;
    char token[TOKEN_MAX]; /* its key or client id, found in nothing else */
};

struct sim {
    uint64_t seed;
    struct random random; /* of what happens; the disk has its own */
    int64_t now_ns;       /* monotonic, through all lives */
    uint64_t trace;       /* a hash of all that happened */
    bool echo;            /* prints it too */
    char why[WHY_MAX];    /* the first fault found; "": none */

    struct state_dir state;
    struct symbol symbols[SYMBOLS];
    int64_t price[SYMBOLS], trades[SYMBOLS], minute;

    uv_loop_t loop;
    struct daemon daemon;
    bool lives; /* the session is open, and is not being closed */
    bool log_busy, db_busy;
    struct clock_stepped clock;

    struct ask asks[ASKS_MAX];
    int n_asks;
    int64_t begun_ns; /* when the session began: then clients repeat most of all */
    uint64_t lives_n, answers, repeats, calls, faults, cuts, kills, aside;
};

void sim_fail(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_trace(struct sim *sim, const char *what, const char *name, int64_t number, const void *bytes,
               size_t n);
/* What happens in a little while: the market moves, clients ask, what is due is written. */
void sim_turn(struct sim *sim, int64_t most_ns);
void sim_init(struct sim *sim, uint64_t seed);
void sim_finish(struct sim *sim);

/* Opens and begins. 0 or -errno: the disk failed meanwhile. */
int life_begin(struct sim *sim);
/* `clean`: as a stop does, all is stored; else as it is. */
void life_end(struct sim *sim, bool clean);

void market_move(struct sim *sim);
void market_symbols(struct sim *sim);
void client_act(struct sim *sim);

/* After a beginning without faults: is all that was acknowledged there, and does everything add up? */
void judge(struct sim *sim);

#endif

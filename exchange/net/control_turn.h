/* How the clients of a control socket share one turn of the loop: in rotation, each at most so many requests
 * and so long, all together so long. Pure: clients are numbers below 64, the clock is passed in. */
#ifndef EXCHANGE_NET_CONTROL_TURN_H
#define EXCHANGE_NET_CONTROL_TURN_H

#include <stdint.h>

enum {
    CONTROL_TURN_REQUESTS = 16,       /* of one client */
    CONTROL_TURN_CLIENT_NS = 1000000, /* of one client; the request that passes it is the last */
    CONTROL_TURN_NS = 2000000,        /* of all: the longest that a frame waits, except for one request */
};

/* The result of one step of a client. */
enum control_step {
    CONTROL_STEP_NONE,    /* nothing is left to do for it */
    CONTROL_STEP_MOVED,   /* bytes were read or sent */
    CONTROL_STEP_REQUEST, /* a request was carried out */
};

struct control_turn_hooks {
    int64_t (*now_ns)(void *ctx);
    enum control_step (*step)(void *ctx, unsigned client);
    void (*leave)(void *ctx, unsigned client); /* its part of the turn is over */
};

/* The first client of the mask after `last`, cyclically; 64 of an empty mask. */
unsigned control_turn_next(uint64_t ready, unsigned last);

/* Gives each ready client its part, from the one after *last on, until the turn's time is over. *last is the
 * client that was served last, from turn to turn; a first turn begins with 63. Returns the clients that this
 * turn did not come to, and those that have more. */
uint64_t control_turn_run(const struct control_turn_hooks *hooks, void *ctx, uint64_t ready, unsigned *last);

#endif

/* A recording as events in memory, parsed: what the engine's benchmarks begin with. */
#ifndef BENCH_REEL_H
#define BENCH_REEL_H

#include "bench/frames.h"
#include "engine/engine.h"

#define REEL_SECOND_NS 1000000000LL
#define REEL_START_NS  (1723161240 * REEL_SECOND_NS) /* 2024-08-08 23:54:00 */

struct reel {
    struct event *events; /* seq 1, 2, 3 …; their levels live as long */
    size_t n, cap;
};

/* Appends a copy; its levels stay the giver's. Exits without memory. */
void reel_put(struct reel *reel, const struct event *event);

/* Reads a recording of frames_symbol. Exits on any error. */
void reel_read(const char *path, struct reel *ret);

/* Frees the list; the levels stay till the program ends. */
void reel_finish(struct reel *reel);

#endif

/* Frames in memory, for the benchmarks: those of a recording as they stand, or those that papertape-replay
 * would serve of it (klines and tickers also) or of its synthetic market. */
#ifndef BENCH_FRAMES_H
#define BENCH_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/symbol.h"

struct frame_at {
    size_t offset;
    uint32_t len;
    bool snapshot; /* REST's depth reply instead of a stream's frame */
};

struct frames {
    char *text; /* FRAMES_PADDING bytes may be read behind the last one */
    size_t size;
    struct frame_at *list;
    size_t n, cap;
};

enum { FRAMES_PADDING = 64, FRAMES_LEVELS_MAX = 16384 /* a side of a snapshot */ };

/* BTCUSDT with its scales and the venue's filters of 2024: the symbol of every file here. */
extern const struct symbol frames_symbol;

/* Reads a recording of that symbol: lines of "NS {frame}", plain or gzip. On any error these programs say
 * what is wrong and exit: there is nothing to measure then. */
void frames_read(const char *path, struct frames *ret);

/* What a client hears that listens to the streams that papertaped subscribes to, with klines of one second.
 * path: a recording, or NULL for `seconds` of the synthetic market. */
void frames_serve(const char *path, int seconds, struct frames *ret);

/* Writes frames as a recording, a line each. */
void frames_write(const struct frames *frames, const char *path);

void frames_finish(struct frames *frames);

/* CLOCK_MONOTONIC, and the processor time of the calling thread: what other processes take does not count. */
int64_t frames_clock_ns(void);
int64_t frames_cpu_ns(void);

/* Keeps the calling thread on one core, the last that it may use; returns that core, or -1. */
int frames_pin(void);

#endif

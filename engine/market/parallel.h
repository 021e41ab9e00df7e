/* Pieces of work shared by threads. */
#ifndef ENGINE_MARKET_PARALLEL_H
#define ENGINE_MARKET_PARALLEL_H

#include <stddef.h>

/* Calls work(ctx, i) once for each i below n, on at most `threads` threads (0: one a core), this one among
 * them, and returns when all are done. Where a thread cannot be started, those that run do its share. */
void market_store_parallel(int threads, size_t n, void (*work)(void *ctx, size_t i), void *ctx);

#endif

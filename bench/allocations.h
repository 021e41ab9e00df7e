/* How often this program asked for memory so far. Programs that include this are linked with
 * bench/allocations.c and
 * --wrap for each of its functions: calls of ours and of the static libraries are seen, those within the C
 * library are not. */
#ifndef BENCH_ALLOCATIONS_H
#define BENCH_ALLOCATIONS_H

#include <stdint.h>

uint64_t allocations(void);

#endif

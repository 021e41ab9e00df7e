#include "daemon/memory.h"

#include <malloc.h>

/* Without this, glibc raises the threshold to the size of each mapping that is freed, up to 32 MiB: later
 * blocks of that size come from the heap, and stay there once smaller ones lie behind them. 64 reloads, each
 * of which reads policies, histories and indicators again, then keep 10 to 20 MiB that nothing uses. Fewer
 * arenas (M_ARENA_MAX) saved less than 1 MiB. */
void daemon_memory_begin(void)
{
    mallopt(M_MMAP_THRESHOLD, DAEMON_MEMORY_MAPPED);
}

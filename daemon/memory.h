/* How the process' memory is given back. */
#ifndef DAEMON_MEMORY_H
#define DAEMON_MEMORY_H

/* Blocks of this size and more are mappings of their own, which free() gives back at once. */
enum { DAEMON_MEMORY_MAPPED = 128 << 10 };

/* To be called before the first large block is allocated, and before there are threads. */
void daemon_memory_begin(void);

#endif

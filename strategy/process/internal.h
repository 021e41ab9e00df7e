/* What strategy/process/child.c and spawn.c share. */
#ifndef STRATEGY_PROCESS_INTERNAL_H
#define STRATEGY_PROCESS_INTERNAL_H

#include <sys/types.h>

/* Starts words[0] with these three as its standard input, output and error. 0 with *ret; a negative errno. */
int strategy_child_spawn(char *const words[], const int fds[static 3], pid_t *ret);

#endif

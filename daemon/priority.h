/* How the threads of a process share a core. The loop's thread decides on what comes in, and what is written
 * of it can wait for a while: so those that write run at a lower priority, and the loop's is asked for in
 * short time slices, which the kernel gives sooner. Neither is a promise: where it is refused, and slices are
 * before Linux 6.12, all run alike. */
#ifndef DAEMON_PRIORITY_H
#define DAEMON_PRIORITY_H

/* The calling thread runs for a short while at a time, soon after it is woken. Threads and processes that it
 * starts have the usual time slices, and no higher priority than nice 0. One at a real-time priority is left
 * alone. */
void daemon_priority_prompt(void);

/* The calling thread lets the others go first, as by nice 10. */
void daemon_priority_background(void);

#endif

/* This process as the system shows it to itself, which needs no other file system than /proc. */
#ifndef DAEMON_PROCESS_FIGURES_H
#define DAEMON_PROCESS_FIGURES_H

/* NaN: not known. */
struct process_figures {
    double cpu_s; /* user's and system's time */
    double resident_bytes, virtual_bytes;
    double open_fds, max_fds;
    double start_s; /* since 1970-01-01 UTC; the same at each call */
};

/* One thread at a time. */
void daemon_process_figures(struct process_figures *ret);

#endif

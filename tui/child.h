/* The papertape program itself as a child process, so that the screen keeps running: what it prints is read
 * without waiting. */
#ifndef TUI_CHILD_H
#define TUI_CHILD_H

#include <stddef.h>
#include <sys/types.h>

enum { CHILD_COMPLAINT_MAX = 512 };

struct tui_child {
    pid_t pid;    /* 0: none runs */
    int out, err; /* the ends of its pipes to be read, to poll for input; -1 */
    char *text;   /* its output as far as it has come, NUL-terminated; owned; NULL: nothing yet */
    size_t len, cap;
    char complaint[CHILD_COMPLAINT_MAX]; /* the beginning of its stderr */
    size_t n_complaint;
};

void tui_child_init(struct tui_child *child);
/* Kills the one that runs, waits for it, and frees what it printed. */
void tui_child_finish(struct tui_child *child);

/* Starts `papertape` with argv, NULL-terminated, argv[0] the program's name. 0; -EBUSY while one runs;
 * -errno. */
int tui_child_start(struct tui_child *child, char *const argv[]);

/* Reads what has come. 1 while it runs; then 0: it ended well; -ECHILD: it did not, the first line of
 * `complaint` says why; -errno, and it was killed: its output could not be read. */
int tui_child_io(struct tui_child *child);

#endif

/* Starts the co-process as a program: in a session of its own, so that it outlives the daemon. */
#ifndef DAEMON_TRAINING_SPAWN_H
#define DAEMON_TRAINING_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <uv.h>

enum { SPAWN_ARGUMENTS_MAX = 24, SPAWN_MARK_MAX = 64 };

struct spawn;

struct spawn_config {
    const char *program;          /* a path, or a name that is looked for in $PATH */
    const char *const *arguments; /* program first, NULL last */
    const char *log;              /* its stderr is appended there; truncated beyond a MiB */
    void *ctx;
    /* It ended while this process lived; `why` one line: its status and its last words. */
    void (*ended)(void *ctx, const char *why);
};

/* Starts it: own session, nothing of this process's open files, nothing that a service manager gave this
 * process, nice 10. 0, or -errno with one line. What config points to must outlive it. */
int daemon_training_spawn_start(uv_loop_t *loop, const struct spawn_config *config, struct spawn **ret,
                                char *err, size_t err_size);

pid_t daemon_training_spawn_pid(const struct spawn *spawn);

/* It was killed: waits for its end without a callback, then frees itself and sets *slot, its holder, to
 * NULL. */
void daemon_training_spawn_bury(struct spawn **slot);

/* Stops watching it; the process continues. Frees itself on the loop's next turns. NULL is fine. */
void daemon_training_spawn_forget(struct spawn *spawn);

/* Identifies a process, also from a later one with the same number: "4242 811223"; "" when there is none. */
void daemon_training_spawn_mark(pid_t pid, char ret[static SPAWN_MARK_MAX]);

/* SIGKILL for the process of that mark and for no other. 0; -ESRCH when it is gone; -errno. */
int daemon_training_spawn_kill(const char *mark);

/* Was this process started by systemd? Then only units start other processes. */
bool daemon_training_spawn_by_systemd(void);

#endif

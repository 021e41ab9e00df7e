/* What the daemon is made of, shared by its own files. One loop, one owner. */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include <uv.h>

#include "daemon/config.h"
#include "daemon/session.h"
#include "db/state.h"
#include "exchange/net/control.h"

struct feeds;
struct commands;
struct telemetry;
struct board;
struct compute;
struct parity;
struct trainings;
struct arena;

struct daemon {
    uv_loop_t *loop;
    struct daemon_config config;
    struct state_dir state;
    uint64_t started_ms; /* uv_now() */

    struct session *session;
    struct feeds *feeds;
    struct control *control;
    struct commands *commands;
    struct telemetry *telemetry;
    struct compute *compute;
    struct board *board; /* NULL once it is stopped */
    struct parity *parity;
    struct trainings *trainings; /* NULL once it stops */
    struct arena *arena;
    int lock;                     /* its descriptor */
    int lock_error, socket_error; /* why their files could not be put back; 0 */
    bool stopping;
};

/* One line on stderr: what begins with "[SECTION] KEY" with its place in the configuration's file, where
 * there is one. That is borrowed; NULL: none. */
void daemon_say(const char *words);
void daemon_config_is(const char *file);

/* Ends the daemon for a reason that waiting will not cure: one line on stderr, exit status 1 after the drain.
 */
void daemon_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for what another start will not cure either: exit status 2, after which systemd does not restart.
 */
void daemon_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* main.c's: ends the loop with that status. NULL, as at first: the two above only print. */
void daemon_on_fail(void (*end)(int status));

#endif

/* The daemon's parts, shared by its own files. One loop, one owner. */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include <uv.h>

#include "daemon/config.h"
#include "daemon/session.h"
#include "db/state.h"
#include "exchange/exit_status.h"
#include "exchange/net/control.h"

struct feeds;
struct commands;
struct telemetry;
struct board;
struct compute;
struct parity;
struct reach_watch;
struct column_files;
struct universe_watch;
struct trainings;
struct arena;
struct alert_watch;
struct notify;
struct daemon_http;
struct executions;
struct anchors;
struct daemon_config_given;

struct daemon {
    uv_loop_t *loop;
    const struct daemon_config_given *given; /* from which it is read again; NULL: it cannot be */
    struct daemon_config config;
    struct state_dir state;
    uint64_t started_ms; /* uv_now() */

    struct session *session;
    struct feeds *feeds;
    struct executions *executions; /* NULL once it is stopped */
    struct control *control;
    struct control *control_read; /* for who may only read (roles.h); NULL: there is none */
    struct commands *commands;
    struct telemetry *telemetry;
    struct compute *compute;
    struct board *board;        /* NULL once it is stopped, and between two */
    struct board *board_before; /* one that ends, and another begins; NULL */
    struct parity *parity;
    struct reach_watch *reach;
    struct column_files *columns;
    struct universe_watch *universe;
    struct trainings *trainings; /* NULL once it stops */
    struct arena *arena;
    struct alert_watch *watch;
    struct notify *notify;
    struct anchors *anchors;
    struct daemon_http *http;                        /* NULL once it is stopped */
    int lock;                                        /* its descriptor */
    int lock_error, socket_error, socket_read_error; /* why their files could not be put back; 0 */
    uint64_t keep_rows_ms; /* uv_now() of the database's next housekeeping; 0: now */
    bool stopping;
};

/* Prints one line on stderr, with the place in the configuration's file where it begins with "[SECTION]
 * KEY". The file is borrowed; NULL: none. */
void daemon_say(const char *words);
void daemon_config_is(const char *file);

/* Ends the daemon: one line on stderr, and that exit status after the drain. daemon_fail: for a cause that
 * waiting will not cure; daemon_refuse: another start will not cure it either, so systemd does not restart.
 */
void daemon_end(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define daemon_fail(...)   daemon_end(EXIT_ERROR, __VA_ARGS__)
#define daemon_refuse(...) daemon_end(EXIT_USAGE, __VA_ARGS__)

/* main.c's: ends the loop with that status. NULL, as at first: daemon_end() only prints. */
void daemon_on_fail(void (*end)(int status));

#endif

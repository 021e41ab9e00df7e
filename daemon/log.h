/* The daemon's log: one line a message to stderr, with the time in UTC; or, when stderr is the journal,
 * with the priority as sd-daemon(3) has it and no time, which the journal adds. Any thread may log: a line
 * is one write(). */
#ifndef DAEMON_LOG_H
#define DAEMON_LOG_H

#include "daemon/config.h"

enum { LOG_LINE_MAX = 2048 }; /* a longer message is cut, and ends in ... */

/* Drops messages above `level` from now on. Reads $JOURNAL_STREAM. Call before other threads log; until
 * then the level is info. */
void daemon_log_init(enum log_level level);

/* Another level from now on. Any thread may call it. */
void daemon_log_set_level(enum log_level level);

/* Control characters and bytes that are not UTF-8 are written as \n, \t or \xNN, so that a message is a line
 * and nothing from outside reaches the terminal. No newline at the end of `format`. errno is kept. */
void daemon_log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void daemon_log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void daemon_log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void daemon_log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

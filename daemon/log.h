/* The daemon's log: one line a message to stderr, with the time in UTC. When stderr is the journal
 * ($JOURNAL_STREAM) each is an entry of it with fields instead (docs/logging.md), which a thread sends: no
 * other thread waits for the journal (daemon/log_journal.h). Where the journal's socket is absent, a line to
 * stderr with the priority as sd-daemon(3) has it. Any thread may log: a line is one write(), or one entry.
 */
#ifndef DAEMON_LOG_H
#define DAEMON_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/config.h"
#include "daemon/log_kinds.h"

enum { LOG_LINE_MAX = 2048 }; /* a longer message is cut, and ends in ... */

/* Drops messages above `level` from now on. Reads $JOURNAL_STREAM. Call before other threads log; until
 * then the level is info, and lines go to stderr. For the journal it also catches signals of a crash, which
 * then sends what is queued, and ends the process as before. */
void daemon_log_init(enum log_level level);

/* Sends what is queued, for at most two seconds; later lines go to stderr. exit() calls it, _exit() does not.
 */
void daemon_log_finish(void);

/* Do lines go to the journal as entries? */
bool daemon_log_is_native(void);

/* Where lines go, "journal" or "stderr"; how many wait, and how many were lost since the start. */
const char *daemon_log_look(uint64_t *ret_queued, uint64_t *ret_lost);

/* Another level from now on. Any thread may call it. */
void daemon_log_set_level(enum log_level level);

/* Control characters and bytes that are not UTF-8 are written as \n, \t or \xNN, so that a message is a line
 * and nothing from outside reaches the terminal. No newline at the end of `format`. errno is kept. */
void daemon_log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void daemon_log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void daemon_log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void daemon_log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An event of that kind, at its usual level or at another: in the journal with its MESSAGE_ID and those of
 * the fields that are set; to stderr the same line without them. `fields` may be NULL:
 * daemon_log_event(LOG_FILL, LOG_OF(.symbol = name, .order = id), "fill %d", n). */
struct log_fields {
#define LOG_FIELD_(member, name, about) const char *member;
    LOG_FIELDS(LOG_FIELD_)
#undef LOG_FIELD_
    uint64_t order; /* ORDER; 0: none */
};
#define LOG_OF(...) (&(const struct log_fields){__VA_ARGS__})
void daemon_log_event(enum log_kind kind, const struct log_fields *fields, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void daemon_log_event_at(enum log_level level, enum log_kind kind, const struct log_fields *fields,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif

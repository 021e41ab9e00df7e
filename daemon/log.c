#include "daemon/log.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/log_journal.h"
#include "exchange/net/journald.h"
#include "exchange/utf8.h"

enum { FINISH_MS = 2000 };

static atomic_int log_level = LOG_LEVEL_INFO;
static atomic_bool to_journal;

static const struct {
    const char *name, *priority; /* syslog's: 3 error, 4 warning, 6 info, 7 debug */
} levels[] = {
    [LOG_LEVEL_ERROR] = {"error", "<3>"},
    [LOG_LEVEL_WARNING] = {"warning", "<4>"},
    [LOG_LEVEL_INFO] = {"info", "<6>"},
    [LOG_LEVEL_DEBUG] = {"debug", "<7>"},
};

static const int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS};

static void on_crash(int number)
{
    daemon_log_journal_crashed(number);
    raise(number); /* SA_RESETHAND: now it ends the process */
}

/* SIG_DFL only: a sanitizer's handler says more. */
static void catch_crashes(void)
{
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND}, before;
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (sigaction(crashes[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(crashes[i], &action, NULL);
}

void daemon_log_init(enum log_level level)
{
    static bool registered;
    daemon_log_journal_stop(FINISH_MS);
    atomic_store(&log_level, (int)level);
    atomic_store(&to_journal, net_journald_is_stderr());
    if (!atomic_load(&to_journal) || daemon_log_journal_start() < 0)
        return;
    catch_crashes();
    if (!registered)
        atexit(daemon_log_finish);
    registered = true;
}

void daemon_log_finish(void)
{
    daemon_log_journal_stop(FINISH_MS);
}

bool daemon_log_is_native(void)
{
    return daemon_log_journal_runs();
}

const char *daemon_log_look(uint64_t *ret_queued, uint64_t *ret_lost)
{
    daemon_log_journal_look(ret_queued, ret_lost);
    return daemon_log_journal_runs() ? "journal" : "stderr";
}

void daemon_log_set_level(enum log_level level)
{
    atomic_store(&log_level, (int)level);
}

/* Length of the UTF-8 character at s, 0 when it is none or a control character. */
static size_t plain_character(const char *s)
{
    uint32_t code;
    size_t n = utf8_character(s, UTF8_MAX, &code);
    return n > 0 && code >= ' ' && (code < 0x7f || code >= 0xa0) ? n : 0;
}

/* Appends the message, escaped, to line[at..LOG_LINE_MAX); returns the new end, with room for a newline left.
 */
static size_t append(char *line, size_t at, const char *message)
{
    static const char cut[] = "...";
    const size_t end = LOG_LINE_MAX - sizeof cut - 1; /* what fits before the cut mark and the newline */
    for (const char *s = message; *s;) {
        char escaped[5];
        const char *from = s;
        size_t n = plain_character(s), used = n;
        if (n == 0) {
            from = escaped;
            used = 1;
            if (*s == '\n' || *s == '\t')
                n = (size_t)snprintf(escaped, sizeof escaped, "\\%c", *s == '\n' ? 'n' : 't');
            else
                n = (size_t)snprintf(escaped, sizeof escaped, "\\x%02x", (unsigned char)*s);
        }
        if (at + n > end) {
            memcpy(line + at, cut, sizeof cut - 1);
            return at + sizeof cut - 1;
        }
        memcpy(line + at, from, n);
        at += n;
        s += used;
    }
    return at;
}

static size_t prefix(char *line, enum log_level level)
{
    if (atomic_load(&to_journal))
        return (size_t)snprintf(line, LOG_LINE_MAX, "%s", levels[level].priority);
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t n = strftime(line, LOG_LINE_MAX, "%Y-%m-%dT%H:%M:%S", &utc);
    return n + (size_t)snprintf(line + n, LOG_LINE_MAX - n, ".%03ldZ %-7s ", now.tv_nsec / 1000000,
                                levels[level].name);
}

static void write_line(enum log_level level, const char *message)
{
    char line[LOG_LINE_MAX];
    size_t n = append(line, prefix(line, level), message);
    line[n++] = '\n';
    ssize_t written;
    do
        written = write(STDERR_FILENO, line, n);
    while (written < 0 && errno == EINTR); /* for any other failure there is no place left to report it */
}

static void queue_line(enum log_level level, enum log_kind kind, const struct log_fields *fields,
                       const char *message)
{
    char line[LOG_LINE_MAX];
    line[append(line, 0, message)] = '\0';
    daemon_log_journal_put(level, kind, fields, line);
}

__attribute__((format(printf, 4, 0))) static void log_write(enum log_level level, enum log_kind kind,
                                                            const struct log_fields *fields,
                                                            const char *format, va_list args)
{
    if ((int)level > atomic_load(&log_level))
        return;
    int saved = errno;
    char message[LOG_LINE_MAX];
    vsnprintf(message, sizeof message, format, args);
    if (daemon_log_journal_runs())
        queue_line(level, kind, fields, message);
    else
        write_line(level, message);
    errno = saved;
}

#define LOG_FUNCTION(name, level) \
    void name(const char *format, ...) \
    { \
        va_list args; \
        va_start(args, format); \
        log_write(level, LOG_PLAIN, NULL, format, args); \
        va_end(args); \
    }

LOG_FUNCTION(daemon_log_error, LOG_LEVEL_ERROR)
LOG_FUNCTION(daemon_log_warning, LOG_LEVEL_WARNING)
LOG_FUNCTION(daemon_log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(daemon_log_debug, LOG_LEVEL_DEBUG)

void daemon_log_event(enum log_kind kind, const struct log_fields *fields, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    log_write(daemon_log_kinds[kind].level, kind, fields, format, args);
    va_end(args);
}

void daemon_log_event_at(enum log_level level, enum log_kind kind, const struct log_fields *fields,
                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    log_write(level, kind, fields, format, args);
    va_end(args);
}

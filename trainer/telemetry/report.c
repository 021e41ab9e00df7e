#include "trainer/telemetry/report.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { DIGITS = 12, CELLS = 30, CELLS_MIN = 4, COLUMNS = 80, COLUMNS_MAX = 256 };
enum { TICKS = 4 }; /* how often it looks for unreported states between two lines of states */

void telemetry_report_begin(struct report *report, bool lines)
{
    bool terminal = isatty(STDOUT_FILENO) == 1, bar = isatty(STDERR_FILENO) == 1;
    struct usage now = telemetry_usage_now();
    pthread_condattr_t clock;
    *report = (struct report){.lines = lines || !terminal || !bar,
                              .bar = bar && (!lines || !terminal),
                              .started = now,
                              .written_s = now.wall_s,
                              .state = "loading", /* a heartbeat may precede the first state event */
                              .entered_s = now.wall_s};
    telemetry_timeline_begin(&report->timeline, 0);
    pthread_mutex_init(&report->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC); /* as telemetry_usage_now() has it */
    pthread_cond_init(&report->ending, &clock);
    pthread_condattr_destroy(&clock);
}

/* All of it, or how much before -errno. */
static int write_all(const char *text, size_t n, size_t *ret_done)
{
    for (*ret_done = 0; *ret_done < n;) {
        ssize_t done = write(STDOUT_FILENO, text + *ret_done, n - *ret_done);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -errno;
        *ret_done += (size_t)done;
    }
    return 0;
}

static void clear_bar(struct report *report)
{
    if (report->shown)
        fputs("\r\033[K", stderr);
    report->shown = false;
}

/* Ends a line that was cut before, so that the next one is whole. */
static void write_line(struct report *report, const json_t *line)
{
    size_t done = 0;
    char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
    int r = text ? 0 : -ENOMEM;
    if (r == 0 && report->torn)
        r = write_all("\n", 1, &done);
    if (r == 0) {
        size_t n = strlen(text);
        text[n] = '\n'; /* replaces its terminating 0 */
        r = write_all(text, n + 1, &done);
        report->torn = r < 0 && done > 0;
    }
    free(text);
    if (r == -EPIPE) {
        report->failed = true;
    } else if (r < 0 && !report->lost) {
        report->lost = true;
        clear_bar(report);
        fprintf(stderr,
                "papertape-trainer: cannot write: stdout: %s: room for its lines; the training continues\n",
                strerror(-r));
    }
}

/* Under the lock, so that lines come in the order of their times. */
static void write_event(struct report *report, const char *event, json_t *fields)
{
    struct usage since = telemetry_usage_since(&report->started);
    json_t *line = report->lines && fields ? json_pack("{s:s, s:s, s:f}", "schema", REPORT_SCHEMA, "event",
                                                       event, "seconds_since_start", since.wall_s)
                                           : NULL;
    if (line && json_object_update(line, fields) == 0)
        write_line(report, line);
    else if (report->lines)
        report->lost = true; /* no memory */
    report->written_s = report->started.wall_s + since.wall_s;
    json_decref(line);
    json_decref(fields);
}

void telemetry_report_event(struct report *report, const char *event, json_t *fields)
{
    pthread_mutex_lock(&report->lock);
    write_event(report, event, fields);
    pthread_mutex_unlock(&report->lock);
}

void telemetry_report_last(struct report *report, json_t *fields)
{
    telemetry_report_pace_end(report);
    telemetry_report_event(report, "end", fields);
}

void telemetry_report_warning(struct report *report, const char *words)
{
    telemetry_report_warning_of(report, NULL, words);
}

void telemetry_report_warning_of(struct report *report, const char *cause, const char *words)
{
    pthread_mutex_lock(&report->lock);
    clear_bar(report);
    fprintf(stderr, "papertape-trainer: %s\n", words);
    write_event(report, "warning",
                cause ? json_pack("{s:s, s:s}", "message", words, "cause", cause)
                      : json_pack("{s:s}", "message", words));
    pthread_mutex_unlock(&report->lock);
}

/* ---- States and heartbeats. ---- */

static void write_state(struct report *report, const char *state)
{
    if (state)
        write_event(report, "state",
                    json_pack("{s:s, s:I}", "state", state, "steps", (json_int_t)report->steps));
}

void telemetry_report_state(struct report *report, const char *state, int64_t steps)
{
    pthread_mutex_lock(&report->lock);
    double now = telemetry_usage_now().wall_s;
    if (strcmp(report->state, state) != 0)
        report->entered_s = now;
    report->state = state;
    report->steps = steps;
    write_state(report, telemetry_timeline_enter(&report->timeline, state, now));
    pthread_mutex_unlock(&report->lock);
}

static void write_heartbeat(struct report *report, double now)
{
    size_t rss = telemetry_usage_rss();
    write_event(report, "heartbeat",
                json_pack("{s:s, s:I, s:f, s:o}", "state", report->state, "steps", (json_int_t)report->steps,
                          "state_seconds", now - report->entered_s, "rss_bytes",
                          rss > 0 ? json_integer((json_int_t)rss) : json_null()));
}

static void *run_pace(void *ctx)
{
    struct report *report = ctx;
    const double beat_s = report->heartbeat_ms > 0 ? report->heartbeat_ms * 1e-3 : INFINITY;
    const double every_s = report->timeline.every_s, tick_s = every_s > 0 ? every_s / TICKS : INFINITY;
    pthread_mutex_lock(&report->lock);
    while (!report->ends) {
        double now = telemetry_usage_now().wall_s;
        write_state(report, telemetry_timeline_tick(&report->timeline, now));
        if (now >= report->written_s + beat_s)
            write_heartbeat(report, now);
        double due = fmin(report->written_s + beat_s, now + tick_s);
        const struct timespec until = {(time_t)due, (long)((due - (double)(time_t)due) * 1e9)};
        pthread_cond_timedwait(&report->ending, &report->lock, &until);
    }
    pthread_mutex_unlock(&report->lock);
    return NULL;
}

int telemetry_report_pace(struct report *report, int every_ms, int heartbeat_ms)
{
    sigset_t all, before;
    telemetry_timeline_begin(&report->timeline, every_ms * 1e-3);
    if (!report->lines || (every_ms <= 0 && heartbeat_ms <= 0))
        return 0;
    report->heartbeat_ms = heartbeat_ms;
    sigfillset(&all); /* signals are for the training's thread */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int r = pthread_create(&report->thread, NULL, run_pace, report);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    report->beats = r == 0;
    return -r;
}

void telemetry_report_pace_end(struct report *report)
{
    if (!report->beats)
        return;
    pthread_mutex_lock(&report->lock);
    report->ends = true;
    pthread_cond_signal(&report->ending);
    pthread_mutex_unlock(&report->lock);
    pthread_join(report->thread, NULL);
    report->beats = report->ends = false;
}

void telemetry_report_heartbeat(struct report *report)
{
    pthread_mutex_lock(&report->lock);
    double now = telemetry_usage_now().wall_s;
    if (report->lines && report->heartbeat_ms > 0 && now >= report->written_s + report->heartbeat_ms * 1e-3)
        write_heartbeat(report, now);
    pthread_mutex_unlock(&report->lock);
}

void telemetry_report_end(struct report *report)
{
    if (!report->state)
        return;
    telemetry_report_pace_end(report);
    pthread_cond_destroy(&report->ending);
    pthread_mutex_destroy(&report->lock);
    report->state = NULL;
}

/* ---- The bar. ---- */

static void draw_time(char *to, size_t size, double seconds)
{
    long s = isfinite(seconds) && seconds < 1e8 ? (long)seconds : -1;
    if (s < 0)
        snprintf(to, size, "%s", "?");
    else if (s >= 3600)
        snprintf(to, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(to, size, "%ld:%02ld", s / 60, s % 60);
}

/* The last column stays free: terminals wrap once it is written. */
static int columns(void)
{
    struct winsize size;
    int n = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : COLUMNS;
    return n < COLUMNS_MAX ? n - 1 : COLUMNS_MAX - 1;
}

enum { PART_MAX = 48 };
enum report_part { SHARE, STEPS, RATE, RETURN, LEFT, PARTS }; /* from left to right */

static void write_parts(const struct report_progress *progress, char ret[static PARTS][PART_MAX])
{
    char left[32];
    double share = fmin(1, (double)progress->steps / (double)progress->total_steps);
    draw_time(left, sizeof left, progress->left_s);
    snprintf(ret[SHARE], PART_MAX, " %3.0f %%", 100 * share);
    snprintf(ret[STEPS], PART_MAX, "  %lld steps", (long long)progress->steps);
    snprintf(ret[RATE], PART_MAX, "  %.0f steps/s", progress->steps_s);
    ret[RETURN][0] = '\0';
    if (isfinite(progress->episode_return))
        snprintf(ret[RETURN], PART_MAX, "  return %.4g", progress->episode_return);
    snprintf(ret[LEFT], PART_MAX, "  %s left", left);
}

void telemetry_report_bar_text(const struct report_progress *progress, int width, char *buf, size_t cap)
{
    static const enum report_part wanted[PARTS] = {SHARE, LEFT, RATE, RETURN,
                                                   STEPS}; /* the first before the others */
    static const char full[] = "##############################";
    char parts[PARTS][PART_MAX], name[21];
    double share = fmin(1, (double)progress->steps / (double)progress->total_steps);
    bool has[PARTS] = {0};
    snprintf(name, sizeof name, "%.*s", width / 4, progress->name);
    int room = width - (int)strlen(name) - 3 - CELLS_MIN;
    write_parts(progress, parts);
    for (int i = 0; i < PARTS; i++) {
        int n = (int)strlen(parts[wanted[i]]);
        has[wanted[i]] = n <= room;
        room -= n <= room ? n : 0;
    }
    int cells = room < 0 ? 0 : room + CELLS_MIN < CELLS ? room + CELLS_MIN : CELLS;
    int done = (int)(share * cells);
    size_t at = (size_t)snprintf(buf, cap, "%s [%.*s%*s]", name, done, full, cells - done, "");
    for (int i = 0; i < PARTS && at < cap; i++)
        if (has[i])
            at += (size_t)snprintf(buf + at, cap - at, "%s", parts[i]);
    if (width >= 0 && (size_t)width < cap)
        buf[width] = '\0';
}

/* Is a redraw due? */
static bool draws(const struct report *report)
{
    return telemetry_usage_now().wall_s - report->drawn_s >= 0.1;
}

static void draw(struct report *report, const char *text)
{
    fprintf(stderr, "\r\033[K%s", text);
    report->drawn_s = telemetry_usage_now().wall_s;
    report->shown = true;
}

void telemetry_report_bar(struct report *report, const struct report_progress *progress)
{
    char text[COLUMNS_MAX];
    if (!report->bar)
        return;
    pthread_mutex_lock(&report->lock);
    if (draws(report)) {
        telemetry_report_bar_text(progress, columns(), text, sizeof text);
        draw(report, text);
    }
    pthread_mutex_unlock(&report->lock);
}

void telemetry_report_bar_words(struct report *report, const char *words)
{
    char text[COLUMNS_MAX];
    if (!report->bar)
        return;
    pthread_mutex_lock(&report->lock);
    if (draws(report)) {
        snprintf(text, sizeof text, "%.*s", columns(), words);
        draw(report, text);
    }
    pthread_mutex_unlock(&report->lock);
}

void telemetry_report_bar_clear(struct report *report)
{
    pthread_mutex_lock(&report->lock);
    clear_bar(report);
    pthread_mutex_unlock(&report->lock);
}

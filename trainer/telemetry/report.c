#include "trainer/telemetry/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIGITS = 12, CELLS = 30 };

void report_begin(struct report *report, bool lines)
{
    bool terminal = isatty(STDOUT_FILENO) == 1;
    *report = (struct report){.lines = lines || !terminal,
                              .bar = isatty(STDERR_FILENO) == 1 && (!lines || !terminal),
                              .begun = usage_now()};
}

json_t *report_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
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

/* A line that was cut before is ended first, so that the others stay whole. */
static void write_line(struct report *report, const json_t *line)
{
    size_t done = 0;
    char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
    int r = text ? 0 : -ENOMEM;
    if (r == 0 && report->torn)
        r = write_all("\n", 1, &done);
    if (r == 0) {
        size_t n = strlen(text);
        text[n] = '\n'; /* in the place of its end */
        r = write_all(text, n + 1, &done);
        report->torn = r < 0 && done > 0;
    }
    free(text);
    if (r == -EPIPE) {
        report->failed = true;
    } else if (r < 0 && !report->lost) {
        report->lost = true;
        report_bar_clear(report);
        fprintf(stderr,
                "papertape-trainer: cannot write: stdout: %s: room for its lines; the training goes on\n",
                strerror(-r));
    }
}

void report_event(struct report *report, const char *event, json_t *fields)
{
    double seconds = usage_since(&report->begun).wall_s;
    json_t *line = report->lines && fields ? json_pack("{s:s, s:s, s:f}", "schema", REPORT_SCHEMA, "event",
                                                       event, "seconds_since_start", seconds)
                                           : NULL;
    if (line && json_object_update(line, fields) == 0)
        write_line(report, line);
    else if (report->lines)
        report->lost = true; /* no memory */
    json_decref(line);
    json_decref(fields);
}

void report_warning(struct report *report, const char *words)
{
    report_bar_clear(report);
    fprintf(stderr, "papertape-trainer: %s\n", words);
    report_event(report, "warning", json_pack("{s:s}", "message", words));
}

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

void report_bar(struct report *report, const struct report_progress *progress)
{
    static const char full[] = "##############################";
    double now = usage_now().wall_s;
    if (!report->bar || now - report->drawn_s < 0.1)
        return;
    double share = fmin(1, (double)progress->steps / (double)progress->total_steps);
    int cells = (int)(share * CELLS);
    char left[32];
    draw_time(left, sizeof left, progress->left_s);
    fprintf(stderr, "\r\033[K%.20s [%.*s%*s] %3.0f %%  %lld steps  %.0f steps/s", progress->name, cells, full,
            CELLS - cells, "", 100 * share, (long long)progress->steps, progress->steps_s);
    if (isfinite(progress->episode_return))
        fprintf(stderr, "  return %.4g", progress->episode_return);
    fprintf(stderr, "  %s left ", left);
    report->drawn_s = now;
    report->shown = true;
}

void report_bar_clear(struct report *report)
{
    if (report->shown)
        fputs("\r\033[K", stderr);
    report->shown = false;
}

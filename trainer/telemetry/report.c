#include "trainer/telemetry/report.h"

#include <math.h>
#include <stdio.h>
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

void report_event(struct report *report, const char *event, json_t *fields)
{
    double seconds = usage_since(&report->begun).wall_s;
    json_t *line = report->lines && fields ? json_pack("{s:s, s:s, s:f}", "schema", REPORT_SCHEMA, "event",
                                                       event, "seconds_since_start", seconds)
                                           : NULL;
    if (line && json_object_update(line, fields) == 0) {
        if (json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)) < 0 ||
            putchar('\n') == EOF || fflush(stdout) != 0)
            report->failed = true;
    } else if (report->lines) {
        report->failed = true;
    }
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

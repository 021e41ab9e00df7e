#include "tui/history_samples.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define SECOND_NS   INT64_C(1000000000)
#define DAY_NS      (24 * 3600 * SECOND_NS)
#define NEWEST_NS   (65 * SECOND_NS) /* two samples at least: [gpu] sample_s is 60 at most */
#define INTERVAL_NS (2 * SECOND_NS)  /* of a single sample: [gpu] sample_s by default */

enum {
    GAPS_MAX = 256,
    PARTS_READ = 2 * HISTORY_MINUTE_PARTS, /* a part may have the value of a sample before the minute */
};

void tui_history_unknown(double *values, int n)
{
    for (int i = 0; i < n; i++)
        values[i] = NAN;
}

/* ---- the interval between samples ---- */

struct gaps {
    int64_t gap_ns[GAPS_MAX], before_ns;
    int n;
};

static void add_gap(struct gaps *gaps, int64_t period_s, int64_t ts_ns)
{
    if (period_s == 0 && gaps->before_ns > 0 && ts_ns > gaps->before_ns && gaps->n < GAPS_MAX)
        gaps->gap_ns[gaps->n++] = ts_ns - gaps->before_ns;
    gaps->before_ns = period_s == 0 ? ts_ns : 0;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The median: neither a stop of the daemon nor a late sample changes it. */
static int64_t interval(struct gaps *gaps)
{
    qsort(gaps->gap_ns, (size_t)gaps->n, sizeof(gaps->gap_ns[0]), compare);
    return gaps->n > 0 ? gaps->gap_ns[(gaps->n - 1) / 2] : INTERVAL_NS;
}

/* ---- the newest ---- */

struct newest_samples {
    struct history_device *device;
    struct history_process *process;
    int64_t now_ns;
    struct gaps gaps;
    double parts[PARTS_READ];
};

static void add_part(struct newest_samples *newest, int64_t period_s, int64_t ts_ns, double value)
{
    int64_t part = (newest->now_ns - ts_ns) / HISTORY_MINUTE_PART_NS;

    if (period_s == 0 && part >= 0 && part < PARTS_READ)
        newest->parts[PARTS_READ - 1 - part] = value;
}

static void on_newest(void *ctx, const struct db_device_sample *row)
{
    struct newest_samples *newest = ctx;
    struct history_device *d = newest->device;

    d->last = row->figures;
    add_gap(&newest->gaps, row->period_s, row->ts_ns);
    if (row->ts_ns > d->day_ns)
        db_span_add(&d->span, row->statistic, row->n, (const double *)&row->figures, DB_DEVICE_FIGURES);
    add_part(newest, row->period_s, row->ts_ns, row->figures.util_percent);
}

/* A part without a sample has the value of the one before it, but not longer than that is fresh. */
static void fill_minute(double *minute, int64_t interval_ns, const double *parts)
{
    int64_t stale =
        (HISTORY_FRESH_INTERVALS * interval_ns + HISTORY_MINUTE_PART_NS - 1) / HISTORY_MINUTE_PART_NS;
    double value = NAN;
    int64_t age = 0;

    for (int i = 0; i < PARTS_READ; i++) {
        age = isnan(parts[i]) ? age + 1 : 0;
        value = age == 0 ? parts[i] : age > stale ? NAN : value;
        if (i >= PARTS_READ - HISTORY_MINUTE_PARTS)
            minute[i - (PARTS_READ - HISTORY_MINUTE_PARTS)] = value;
    }
}

/* From where to read: what the day's figures do not have yet, but a minute at least. */
static int64_t newest_from(int64_t last_ns, int64_t day_ns)
{
    return day_ns > 0 && day_ns < last_ns - NEWEST_NS ? day_ns + 1 : last_ns - NEWEST_NS;
}

int tui_history_newest(struct db_reader *db, struct history_device *d, int64_t now_ns)
{
    const struct db_samples_wanted wanted = {
        d->key, newest_from(d->last_ns, d->day_ns), d->last_ns, INT64_MIN, INT64_MIN, false};
    struct newest_samples newest = {.device = d, .now_ns = now_ns};

    tui_history_unknown(newest.parts, PARTS_READ);
    int r = db_reader_device_samples(db, &wanted, on_newest, &newest);
    d->interval_ns = interval(&newest.gaps);
    d->day_ns = d->last_ns;
    db_span_figures(&d->span, DB_MEAN, (double *)&d->mean, DB_DEVICE_FIGURES);
    db_span_figures(&d->span, DB_MAX, (double *)&d->max, DB_DEVICE_FIGURES);
    fill_minute(d->minute, d->interval_ns, newest.parts);
    return r;
}

static void on_newest_of_process(void *ctx, const struct db_process_sample *row)
{
    struct newest_samples *newest = ctx;
    struct history_process *p = newest->process;

    p->last = row->figures;
    add_gap(&newest->gaps, row->period_s, row->ts_ns);
    if (row->ts_ns > p->day_ns)
        db_span_add(&p->span, row->statistic, row->n, (const double *)&row->figures, DB_PROCESS_FIGURES);
    add_part(newest, row->period_s, row->ts_ns, row->figures.cpu_percent);
}

int tui_history_newest_of_process(struct db_reader *db, struct history_process *p, int64_t now_ns)
{
    const struct db_samples_wanted wanted = {
        p->role, newest_from(p->last_ns, p->day_ns), p->last_ns, INT64_MIN, INT64_MIN, false};
    struct newest_samples newest = {.process = p, .now_ns = now_ns};

    tui_history_unknown(newest.parts, PARTS_READ);
    int r = db_reader_process_samples(db, &wanted, on_newest_of_process, &newest);
    p->interval_ns = interval(&newest.gaps);
    p->day_ns = p->last_ns;
    db_span_figures(&p->span, DB_MEAN, (double *)&p->mean, DB_PROCESS_FIGURES);
    db_span_figures(&p->span, DB_MAX, (double *)&p->max, DB_PROCESS_FIGURES);
    fill_minute(p->minute, p->interval_ns, newest.parts);
    return r;
}

/* ---- the day ---- */

struct reading {
    struct history_device *device;
    struct history_process *process;
    struct db_span parts[HISTORY_DAY_PARTS], memory[HISTORY_DAY_PARTS];
};

/* Which part of the day before last_ns a time is in; -1: none. */
static int day_part(int64_t last_ns, int64_t ts_ns)
{
    int64_t part = (last_ns - ts_ns) / (DAY_NS / HISTORY_DAY_PARTS);

    return part >= 0 && part < HISTORY_DAY_PARTS ? HISTORY_DAY_PARTS - 1 - (int)part : -1;
}

static void on_day(void *ctx, const struct db_device_sample *row)
{
    struct reading *reading = ctx;
    int part = day_part(reading->device->last_ns, row->ts_ns);

    db_span_add(&reading->device->span, row->statistic, row->n, (const double *)&row->figures,
                DB_DEVICE_FIGURES);
    if (part >= 0)
        db_span_add(&reading->parts[part], row->statistic, row->n, &row->figures.util_percent, 1);
}

int tui_history_day(struct db_reader *db, struct history_device *d)
{
    const struct db_samples_wanted wanted = {d->key,     d->last_ns - DAY_NS, d->last_ns,
                                             d->last_ns, d->last_ns,          true};
    struct reading *reading = calloc(1, sizeof(*reading));

    if (!reading)
        return -ENOMEM;
    reading->device = d;
    d->span = (struct db_span){0};
    int r = db_reader_device_samples(db, &wanted, on_day, reading);
    d->day_ns = d->last_ns;
    for (int i = 0; i < HISTORY_DAY_PARTS; i++)
        db_span_figures(&reading->parts[i], DB_MEAN, &d->day[i], 1);
    free(reading);
    return r;
}

static void on_day_of_process(void *ctx, const struct db_process_sample *row)
{
    struct reading *reading = ctx;
    int part = day_part(reading->process->last_ns, row->ts_ns);

    db_span_add(&reading->process->span, row->statistic, row->n, (const double *)&row->figures,
                DB_PROCESS_FIGURES);
    if (part < 0)
        return;
    db_span_add(&reading->parts[part], row->statistic, row->n, &row->figures.cpu_percent, 1);
    db_span_add(&reading->memory[part], row->statistic, row->n, &row->figures.resident_bytes, 1);
}

int tui_history_day_of_process(struct db_reader *db, struct history_process *p)
{
    const struct db_samples_wanted wanted = {p->role,    p->last_ns - DAY_NS, p->last_ns,
                                             p->last_ns, p->last_ns,          true};

    struct reading *reading = calloc(1, sizeof(*reading));

    if (!reading)
        return -ENOMEM;
    reading->process = p;
    p->span = (struct db_span){0};
    int r = db_reader_process_samples(db, &wanted, on_day_of_process, reading);
    p->day_ns = p->last_ns;
    for (int i = 0; i < HISTORY_DAY_PARTS; i++) {
        db_span_figures(&reading->parts[i], DB_MEAN, &p->day[i], 1);
        db_span_figures(&reading->memory[i], DB_MEAN, &p->memory_day[i], 1);
    }
    free(reading);
    return r;
}

/* The event log: each segment by itself, the newest first, as many as there is time for; their headers
 * always. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "cli/doctor/parts.h"
#include "exchange/clock.h"
#include "exchange/journal/journal.h"

enum { ERROR_MAX = 512, FAULTS_MAX = 8, SEGMENT_NAME_MAX = NAME_MAX + 1 };

struct segments {
    char (*names)[SEGMENT_NAME_MAX];
    size_t n, cap;
};

static int take(void *ctx, const struct journal_segment_info *info)
{
    struct segments *segments = ctx;
    if (segments->n == segments->cap) {
        size_t cap = segments->cap ? 2 * segments->cap : 64;
        void *more = realloc(segments->names, cap * sizeof *segments->names);
        if (!more)
            return -ENOMEM;
        segments->names = more;
        segments->cap = cap;
    }
    snprintf(segments->names[segments->n++], SEGMENT_NAME_MAX, "%s", info->name);
    return 0;
}

static void report_fault(const struct doctor *doctor, int r, const char *words,
                         struct doctor_results *results)
{
    bool denied = r == -EACCES || r == -EPERM;
    cli_doctor_add(results, denied ? DOCTOR_SKIPPED : DOCTOR_ERROR, "%s", words);
    if (!denied)
        cli_doctor_remedy(
            results, "papertape events verify; a copy of %s and of the backup before anything is changed",
            doctor->state.events);
}

/* Each segment is read whole, since its blocks are a chain of hashes. Returns how many were. */
static size_t read_segments(const struct doctor *doctor, const struct segments *segments,
                            struct doctor_results *results)
{
    int64_t until_ms = clock_now_ms() + DOCTOR_READ_MS;
    size_t read = 0;
    for (size_t i = segments->n; i-- > 0 && clock_now_ms() < until_ms; read++) {
        char path[STATE_PATH_MAX + SEGMENT_NAME_MAX + 2], err[ERROR_MAX];
        struct journal_summary sum;
        snprintf(path, sizeof path, "%s/%s", doctor->state.events, segments->names[i]);
        int r = journal_verify(path, &sum, err, sizeof err);
        if (r < 0 && r != -ENOENT &&
            json_array_size(results->list) < FAULTS_MAX) /* -ENOENT: it was too old */
            report_fault(doctor, r, err, results);
    }
    return read;
}

void cli_doctor_events(const struct doctor *doctor, struct doctor_results *results)
{
    struct segments segments = {0};
    char err[ERROR_MAX];
    int r = journal_list(doctor->state.events, take, &segments, err, sizeof err);
    bool none = r == -ENOENT || (r == 0 && segments.n == 0);
    if (none && !cli_doctor_gone(doctor, DOCTOR_events, results))
        cli_doctor_add(results, DOCTOR_SKIPPED, "there is no event log yet");
    if (none)
        return;
    if (r < 0)
        report_fault(doctor, r, err, results);
    size_t read = read_segments(doctor, &segments, results);
    if (json_array_size(results->list) == 0)
        cli_doctor_add(results, DOCTOR_OK, "%zu of %zu segments read, the newest first: no fault found%s",
                       read, segments.n, read < segments.n ? "; papertape events verify reads all" : "");
}

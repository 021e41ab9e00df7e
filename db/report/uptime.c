/* How long the daemon ran, by its runs. Between two runs whose numbers follow each other it did not run;
 * where a number is missing, and before the first one, it is not known. */
#include <stdio.h>

#include "db/records.h"
#include "db/report/internal.h"
#include "record/market.h"

/* What of [from_ns, to_ns) is in the period. */
static int64_t within(const struct db_report *report, int64_t from_ns, int64_t to_ns)
{
    from_ns = from_ns > report->from_ns ? from_ns : report->from_ns;
    to_ns = to_ns < report->to_ns ? to_ns : report->to_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

static void take_down(struct db_report *report, int64_t from_ns, int64_t to_ns)
{
    const int64_t down_ns = within(report, from_ns, to_ns);
    report->observed_ns += down_ns;
    report->outages += down_ns > 0;
}

/* A run and the one after it, NULL: there is none. Of one that has not ended nothing is known since it last
 * said that it runs: on a full disk it cannot say so. */
static void take_run(struct db_report *report, const struct db_run *run, const struct db_run *next)
{
    const int64_t up_ns = within(report, run->began_ns, run->alive_ns);
    const bool here = run->alive_ns >= report->from_ns && run->alive_ns < report->to_ns;
    report->observed_ns += up_ns;
    report->up_ns += up_ns;
    report->killed += here && run->state == DB_RUN_KILLED;
    if (next && next->run == run->run + 1)
        take_down(report, run->alive_ns, next->began_ns);
    else if (!next && run->state != DB_RUN_RUNNING)
        take_down(report, run->alive_ns, report->to_ns);
}

int db_report_uptime(struct db_reader *reader, struct db_report *report)
{
    sqlite3_stmt *stmt;
    struct db_run before = {0}, run;
    report->observed_ns = report->up_ns = 0;
    int r = db_query(reader, DB_SELECT("runs", RECORD_RUNS) "ORDER BY run", NULL, &stmt);
    while (r >= 0 && (r = db_query_row(reader, stmt, &db_record_runs, &run, NULL)) > 0) {
        if (before.run > 0)
            take_run(report, &before, &run);
        before = run;
    }
    if (r == 0 && before.run > 0)
        take_run(report, &before, NULL);
    if (report->first_ns > 0 && report->observed_ns < within(report, report->first_ns, report->to_ns))
        report->unknown_ns = within(report, report->first_ns, report->to_ns) - report->observed_ns;
    if (report->observed_ns == 0)
        report->observed_ns = report->up_ns = -1;
    return db_query_end(stmt, r);
}

const char *db_report_uptime_words(const struct db_report *report, char ret[static DB_REPORT_UPTIME_MAX])
{
    char down[DB_REPORT_DURATION_MAX], unknown[DB_REPORT_DURATION_MAX];
    int n = snprintf(ret, DB_REPORT_UPTIME_MAX, "down for %s, outages: %llu, runs killed: %llu",
                     db_report_duration(down, report->observed_ns - report->up_ns),
                     (unsigned long long)report->outages, (unsigned long long)report->killed);
    if (report->unknown_ns > 0)
        snprintf(ret + n, DB_REPORT_UPTIME_MAX - (size_t)n, "; of another %s nothing is known",
                 db_report_duration(unknown, report->unknown_ns));
    return ret;
}

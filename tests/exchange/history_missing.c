/* Why bars are missing: each minute of a week with a holiday against a rule written here. */
#include "exchange/history/missing.h"

#include <string.h>

#include "exchange/calendar_file.h"
#include "tests/check.h"
#include "tests/random.h"

#define MINUTE 60000000000LL
#define DAY    (1440 * MINUTE)

enum { MINUTES = 8 * 1440, RUNS_MAX = MINUTES };

static struct history_missing runs[RUNS_MAX];
static size_t n_runs;

static void found(void *ctx, const struct history_missing *run)
{
    (void)ctx;
    CHECK(n_runs < RUNS_MAX);
    runs[n_runs++] = *run;
}

/* In the order of time, without holes but those of bars, each run as long as can be. */
static void check(const struct trading_calendar *days, int64_t begin_ns, int64_t listed_ns, int64_t first_ns,
                  const bool *there)
{
    struct history_looking looking = {.interval_ns = MINUTE,
                                      .calendar = days,
                                      .listed_ns = listed_ns,
                                      .first_ns = first_ns,
                                      .found = found,
                                      .next_ns = begin_ns};
    n_runs = 0;
    for (int i = 0; i < MINUTES; i++)
        if (there[i])
            history_missing_bar(&looking, begin_ns + i * MINUTE);
    history_missing_end(&looking, begin_ns + MINUTES * MINUTE);
    size_t run = 0;
    int before = -1;
    for (int i = 0; i < MINUTES; i++) {
        int64_t open_ns = begin_ns + i * MINUTE;
        bool closed = trading_session_of(days, open_ns, open_ns + MINUTE) == BAR_SESSION_CLOSED;
        int why = there[i]              ? -1
                  : open_ns < listed_ns ? HISTORY_BEFORE
                  : open_ns < first_ns  ? HISTORY_BEFORE_BAR
                  : days->n == 0        ? HISTORY_GAP
                  : closed              ? HISTORY_CLOSED
                                        : HISTORY_NO_TRADE;
        if (why >= 0 && why != before) {
            CHECK(run < n_runs && runs[run].from_ns == open_ns && (int)runs[run].why == why);
            run++;
        }
        if (why >= 0)
            CHECK(open_ns < runs[run - 1].end_ns);
        if (why < 0 && run > 0)
            CHECK(open_ns >= runs[run - 1].end_ns);
        before = why;
    }
    CHECK_INT(run, n_runs);
    int64_t bars = 0, want = 0;
    for (size_t i = 0; i < n_runs; i++) {
        bars += runs[i].rows;
        CHECK_INT(runs[i].end_ns - runs[i].from_ns, runs[i].rows * MINUTE);
    }
    for (int i = 0; i < MINUTES; i++)
        want += !there[i];
    CHECK_INT(bars, want);
}

/* Months, of which each third lacks: one bar each, however long they are. */
static void check_months(const struct trading_calendar *always)
{
    const int64_t first_ns = 1709251200LL * 1000000000; /* 2024-03-01 */
    struct history_looking looking = {.interval_ns = BAR_MONTH_NS,
                                      .calendar = always,
                                      .listed_ns = first_ns,
                                      .first_ns = first_ns,
                                      .found = found,
                                      .next_ns = 1704067200LL * 1000000000}; /* 2024-01-01 */
    int64_t open_ns = first_ns;
    n_runs = 0;
    for (int i = 0; i < 24; i++, open_ns = bar_end_time(open_ns, BAR_MONTH_NS))
        if (i % 3 != 2)
            history_missing_bar(&looking, open_ns);
    history_missing_end(&looking, open_ns);
    CHECK_INT(n_runs, 9);
    CHECK_INT(runs[0].rows, 2); /* January and February */
    CHECK_INT(runs[0].end_ns, first_ns);
    CHECK_INT(runs[0].why, HISTORY_BEFORE);
    for (size_t i = 1; i < n_runs; i++) {
        CHECK_INT(runs[i].rows, 1);
        CHECK_INT(runs[i].end_ns, bar_end_time(runs[i].from_ns, BAR_MONTH_NS));
        CHECK_INT(runs[i].why, HISTORY_GAP);
    }
}

int main(void)
{
    static const struct trading_calendar always;
    static bool there[MINUTES];
    struct random random = random_seeded("history_missing", 29);
    struct calendar_file *file;
    char err[CALENDAR_ERROR_MAX];
    CHECK_INT(calendar_file_open("nyse", &file, err), 0);
    const int64_t begin_ns = 1764028800LL * 1000000000; /* 2025-11-25, two days before Thanksgiving */
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < MINUTES; i++)
            there[i] = i > 0 && random_chance(&random, 95) ? there[i - 1] : random_chance(&random, 50);
        int64_t first_ns = begin_ns + random_between(&random, 0, MINUTES / 2) * MINUTE;
        for (int64_t i = 0; begin_ns + i * MINUTE < first_ns; i++)
            there[i] = false;
        int64_t before_ns =
            round % 3 ? first_ns : first_ns - random_between(&random, 0, MINUTES / 4) * MINUTE;
        check(round % 2 ? calendar_file_view(file) : &always, begin_ns, round % 4 < 2 ? before_ns : INT64_MIN,
              round % 4 < 2 ? first_ns : INT64_MIN, there);
    }
    check_months(&always);
    calendar_file_close(file);
    return check_done("history_missing");
}

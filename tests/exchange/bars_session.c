/* Bars files of a market with a calendar: zones, sessions, and what is refused, by file and line. */
#include "exchange/bars_file.h"

#include <errno.h>

#include "exchange/calendar_file.h"
#include "exchange/clock.h"
#include "exchange/zone.h"
#include "tests/exchange/moment.h"
#include "tests/scratch.h"

static const int64_t second = 1000000000, minute = 60000000000, hour = 3600000000000;
static char error[BARS_FILE_ERROR_MAX];
static struct calendar_file *nyse;

/* A synthetic file of some days; volume is largest at the opening and the close. */
struct synthetic {
    const char *from, *to; /* days whose sessions open in it */
    int64_t interval_ns;
    bool extended, no_half_days, by_clock;
    const char *zone; /* times without a zone, of this one; NULL: epochs in s */
    int64_t late_ns;  /* added to the times */
};

static void put_row(FILE *out, const struct synthetic *s, const struct zone *zone, int64_t ns, double volume)
{
    char text[CLOCK_TEXT_MAX];
    ns += s->late_ns;
    if (zone) {
        clock_utc_text(ns + zone_offset(zone, ns / second) * second, text);
        fprintf(out, "%.10s %.8s", text, text + 11);
    } else {
        fprintf(out, "%lld", (long long)(ns / second));
    }
    fprintf(out, ",10,11,9,10,%g\n", volume);
}

static void put_session(FILE *out, const struct synthetic *s, const struct zone *zone, int64_t from_ns,
                        int64_t to_ns, const struct trading_day *day)
{
    int64_t first = s->by_clock ? from_ns - from_ns % s->interval_ns : from_ns;
    for (int64_t ns = first; ns < to_ns; ns += s->interval_ns) {
        bool peak = ns == day->open_ns || ns + s->interval_ns == day->close_ns;
        put_row(out, s, zone, ns, peak ? 900 : ns > day->open_ns && ns < day->close_ns ? 100 : 10);
    }
}

static const char *synthetic(const char *name, const struct synthetic *s)
{
    const struct trading_calendar *calendar = calendar_file_view(nyse);
    const char *path = scratch_path(name);
    struct zone *zone = NULL;
    FILE *out = fopen(path, "we");
    if (s->zone)
        CHECK_INT(zone_open(s->zone, &zone, error), 0);
    fprintf(out, "timestamp,open,high,low,close,volume\n");
    for (size_t i = 0; i < calendar->n; i++) {
        struct trading_day day = calendar->days[i];
        if (day.open_ns < at(s->from) || day.open_ns >= at(s->to))
            continue;
        if (s->no_half_days)
            day.close_ns = day.open_ns + 390 * minute;
        if (s->extended)
            put_session(out, s, zone, day.early_ns, day.open_ns, &day);
        put_session(out, s, zone, day.open_ns, day.close_ns, &day);
        if (s->extended)
            put_session(out, s, zone, day.close_ns, day.late_ns, &day);
    }
    fclose(out);
    zone_close(zone);
    return path;
}

/* With words: refused with them, else read. */
static struct bars_file reads(const char *path, struct bars_file_options options, const char *words)
{
    struct bars_file f = {0};
    error[0] = '\0';
    if (!options.calendar)
        options.calendar = calendar_file_view(nyse);
    int r = bars_file_read_with(path, &options, &f, error);
    CHECK_INT(r, words ? -EINVAL : 0);
    if (words && !strstr(error, words))
        fprintf(stderr, "\"%s\" is not in: %s\n", words, error);
    CHECK(!words || strstr(error, words));
    if (r == 0 && words)
        bars_file_finish(&f);
    return f;
}

static size_t count(const struct bars_file *f, enum bar_session session)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->session && f->session[i] == session;
    return n;
}

static const struct bars_file_options regular = {.session = SESSION_REGULAR},
                                      extended = {.session = SESSION_EXTENDED}, all = {0};

static struct bars_file_options of_zone(const char *zone, enum session_choice session)
{
    return (struct bars_file_options){.zone = zone, .session = session};
}

/* ---- Zones. ---- */

static void test_zone(void)
{
    struct bars_file f;
    const struct trading_calendar none = {.n = 0};
    struct bars_file_options options = {.zone = "America/New_York", .calendar = &none};
    /* Both clocks of a night; a time with a zone keeps it, an epoch too. */
    const char *path =
        scratch_write("SPY_1h.csv", "time,open,high,low,close,volume\n2025-11-02 00:30:00,1,1,1,1,1\n"
                                    "2025-11-02 01:30:00,1,1,1,1,1\n2025-11-02 01:30:00,1,1,1,1,1\n"
                                    "2025-11-02 02:30:00,1,1,1,1,1\n2025-11-02 08:30:00Z,1,1,1,1,1\n"
                                    "2025-11-02 09:30:00-01,1,1,1,1,1\n1762075800,1,1,1,1,1\n");
    static const char *const times[] = {
        "2025-11-02T04:30:00Z", "2025-11-02T05:30:00Z", "2025-11-02T06:30:00Z", "2025-11-02T07:30:00Z",
        "2025-11-02T08:30:00Z", "2025-11-02T10:30:00Z", "2025-11-02T09:30:00Z"};
    reads(path, options, "SPY_1h.csv:8: 2025-11-02T09:30:00Z");
    for (size_t n = 6; n > 0; n--) { /* without the last rows */
        FILE *out = fopen(path, "we");
        fprintf(out, "time,open,high,low,close,volume\n");
        for (size_t i = 0; i < n; i++)
            fprintf(out, "2025-11-02 %s,1,1,1,1,1\n",
                    ((const char *[]){"00:30:00", "01:30:00", "01:30:00", "02:30:00", "08:30:00Z",
                                      "09:30:00-01"})[i]);
        fclose(out);
        f = reads(path, options, NULL);
        CHECK_INT(f.n, n);
        for (size_t i = 0; i < f.n; i++)
            CHECK_INT(f.open_time_ns[i], at(times[i]));
        CHECK(!f.session);
        bars_file_finish(&f);
    }
    /* The hour that is left out. */
    path = scratch_write("SPY_1h.csv", "time,open,high,low,close,volume\n2025-03-09 01:30,1,1,1,1,1\n"
                                       "2025-03-09 02:30,1,1,1,1,1\n");
    f = reads(path, options, NULL);
    CHECK_INT(f.open_time_ns[1], at("2025-03-09T07:30:00Z"));
    bars_file_finish(&f);
    options.zone = "Mars/Olympus";
    CHECK_INT(bars_file_read_with(path, &options, &f, error), -ENOENT);
    CHECK(strstr(error, "--zone: Mars/Olympus: no such zone") == error);
}

/* Days have no zone: their dates stay, across a change of clocks too. */
static void test_dates(void)
{
    static const char *const texts[] = {"2025-10-31", "2025-11-03", "2025-11-04", "2025-11-05"};
    const struct trading_calendar none = {.n = 0};
    const struct bars_file_options options = {.zone = "America/New_York", .calendar = &none};
    for (int with_time = 0; with_time <= 1; with_time++) {
        FILE *out = fopen(scratch_path("SPY_1d.csv"), "we");
        fprintf(out, "date,open,high,low,close,volume\n");
        for (int i = 0; i < 4; i++)
            fprintf(out, "%s%s,1,1,1,1,1\n", texts[i], with_time ? " 00:00:00" : "");
        fclose(out);
        struct bars_file f = reads(scratch_path("SPY_1d.csv"), options, NULL);
        for (size_t i = 0; i < f.n; i++)
            CHECK_INT(f.open_time_ns[i], at(texts[i]));
        bars_file_finish(&f);
    }
}

/* ---- Sessions. ---- */

/* Half days and a change of clocks: 44 sessions of 2025-11 and 12, of which 3 are half ones. */
static void test_sessions(void)
{
    const struct synthetic one = {"2025-11-01", "2026-01-01", minute, .extended = true,
                                  .zone = "America/New_York"};
    const struct synthetic hours = {"2025-11-01", "2026-01-01", minute * 30};
    struct bars_file f =
        reads(synthetic("SPY_1m.csv", &one), of_zone("America/New_York", SESSION_EXTENDED), NULL);
    size_t days = 41, half = 2, regular_bars = (days - half) * 390 + half * 210;
    CHECK_INT(count(&f, BAR_SESSION_PRE), days * 330);
    CHECK_INT(count(&f, BAR_SESSION_REGULAR), regular_bars);
    CHECK_INT(count(&f, BAR_SESSION_POST), days * 240);
    CHECK_INT(f.n, days * 330 + regular_bars + days * 240);
    CHECK_STR(f.fits, "");
    bars_file_finish(&f);
    f = reads(synthetic("SPY_30m.csv", &hours), regular, NULL);
    CHECK_INT(count(&f, BAR_SESSION_REGULAR), f.n);
    CHECK_INT(f.n, (days - half) * 13 + half * 7);
    bars_file_finish(&f);
}

/* Bars of an hour from the opening on: the last one ends with the session. By the clock some straddle. */
static void test_straddle(void)
{
    struct synthetic s = {"2025-12-01", "2025-12-13", hour, .extended = true};
    struct bars_file_options keep = regular, keep_extended = extended;
    keep.keep_straddling = keep_extended.keep_straddling = true;
    struct bars_file f = reads(synthetic("SPY_1h.csv", &s), regular, NULL);
    CHECK_INT(count(&f, BAR_SESSION_REGULAR), 10 * 7);
    CHECK_INT(count(&f, BAR_SESSION_PRE), 10 * 6);
    CHECK_INT(count(&f, BAR_SESSION_MIXED), 0);
    bars_file_finish(&f);
    s.by_clock = true;
    s.extended = false;
    const char *path = synthetic("SPY_1h.csv", &s);
    reads(path, regular, "bar straddles sessions: ");
    CHECK(strstr(error, "SPY_1h.csv:2: ") && strstr(error, "2025-12-01T14:00:00Z") &&
          strstr(error, "--straddle keep"));
    f = reads(path, keep, NULL);
    CHECK_INT(count(&f, BAR_SESSION_REGULAR), f.n);
    CHECK_INT(f.n, 70);
    bars_file_finish(&f);
    f = reads(path, extended, NULL);
    CHECK_INT(count(&f, BAR_SESSION_MIXED), 10);
    bars_file_finish(&f);
    f = reads(path, keep_extended, NULL);
    CHECK_INT(count(&f, BAR_SESSION_MIXED), 10);
    bars_file_finish(&f);
    f = reads(path, all, NULL);
    CHECK_INT(count(&f, BAR_SESSION_MIXED), 10);
    bars_file_finish(&f);
    /* One of pre-market hours and none, which no regular hours are in, is only left out. */
    path = scratch_write("SPY_1h.csv", "time,open,high,low,close,volume\n2025-12-01 08:30,1,1,1,1,1\n"
                                       "2025-12-01 14:30,1,1,1,1,1\n2025-12-01 15:30,1,1,1,1,1\n");
    f = reads(path, regular, NULL);
    CHECK_INT(f.session[0], BAR_SESSION_MIXED);
    bars_file_finish(&f);
}

/* The column: of days it alone says that they are regular; below it must not contradict the calendar. */
static void test_column(void)
{
    static const char head[] = "open_time_ms,open,high,low,close,volume,trades,session\n";
    const struct trading_calendar none = {.n = 0};
    struct bars_file_options keep = regular, without = {.calendar = &none};
    char text[1024];
    struct bars_file f;
    keep.keep_straddling = true;
    snprintf(text, sizeof text, "%s%s", head,
             "1764547200000,1,1,1,1,1,5,regular\n1764633600000,1,1,1,1,1,5,regular\n");
    f = reads(scratch_write("SPY_1d.csv", text), regular, NULL);
    CHECK_INT(count(&f, BAR_SESSION_REGULAR), 2);
    bars_file_finish(&f);
    f = reads(scratch_path("SPY_1d.csv"), without, NULL);
    CHECK_INT(count(&f, BAR_SESSION_REGULAR), 2);
    bars_file_finish(&f);

    snprintf(text, sizeof text, "%s%s", head, "1764547200000,1,1,1,1,1,5,none\n1764633600000,1,1,1,1,1,5,\n");
    scratch_write("SPY_1d.csv", text);
    reads(scratch_path("SPY_1d.csv"), regular, "bar of a whole day: ");
    CHECK(strstr(error, "SPY_1d.csv:2: a column session with the word regular"));
    f = reads(scratch_path("SPY_1d.csv"), keep, NULL);
    CHECK_INT(count(&f, BAR_SESSION_REGULAR), 2);
    bars_file_finish(&f);
    f = reads(scratch_path("SPY_1d.csv"), extended, NULL);
    CHECK_INT(count(&f, BAR_SESSION_MIXED), 2);
    bars_file_finish(&f);
    f = reads(scratch_path("SPY_1d.csv"), without, NULL);
    CHECK(!f.session); /* the word none says nothing */
    bars_file_finish(&f);

    snprintf(text, sizeof text, "%s%s", head,
             "1764599400000,1,1,1,1,1,5,pre\n1764599460000,1,1,1,1,1,5,regular\n");
    reads(scratch_write("SPY_1m.csv", text), all, "session contradicts the calendar: ");
    CHECK(strstr(error, "SPY_1m.csv:2: regular, as nyse has 2025-12-01T14:30:00Z, not pre"));
    snprintf(
        text, sizeof text, "%s%s", head,
        "1764599400000,1,1,1,1,1,5,Regular\n1764599460000,1,1,1,1,1,5,regular\n1764599520000,1,1,1,1,1\n");
    f = reads(scratch_write("SPY_1m.csv", text), regular, NULL);
    CHECK_INT(count(&f, BAR_SESSION_REGULAR), 3);
    bars_file_finish(&f);
    f = reads(scratch_path("SPY_1m.csv"), without, NULL);
    CHECK(f.session && f.session[0] == BAR_SESSION_NONE && f.session[1] == BAR_SESSION_REGULAR &&
          f.session[2] == BAR_SESSION_NONE);
    bars_file_finish(&f);
}

/* ---- Bad input. ---- */

/* A night, a Sunday, a holiday. */
static void test_outside(void)
{
    static const char *const times[] = {"2025-12-02 01:30", "2025-12-07 15:00", "2025-12-25 15:00"};
    char text[256], words[80];
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        snprintf(
            text, sizeof text,
            "time,open,high,low,close,volume\n2025-12-01 15:00,1,1,1,1,1\n2025-12-01 15:01,1,1,1,1,1\n\n%s,1,1,1,1,1\n",
            times[i]);
        scratch_write("SPY_1m.csv", text);
        snprintf(words, sizeof words, "SPY_1m.csv:5: a time at which nyse is open, not %.10sT", times[i]);
        reads(scratch_path("SPY_1m.csv"), regular, words);
        CHECK(strstr(error, "bar is outside any session: ") == error);
        reads(scratch_path("SPY_1m.csv"), extended, words);
        struct bars_file f = reads(scratch_path("SPY_1m.csv"), all, NULL);
        CHECK_INT(count(&f, BAR_SESSION_CLOSED), 1);
        bars_file_finish(&f);
    }
    /* A day without a session. */
    reads(scratch_write("SPY_1d.csv",
                        "time,open,high,low,close,volume,session\n2025-12-24,1,1,1,1,1,regular\n"
                        "2025-12-25,1,1,1,1,1,\n2025-12-26,1,1,1,1,1,regular\n"),
          regular, "SPY_1d.csv:3: a time at which nyse is open, not 2025-12-25T");
}

static void test_range(void)
{
    static const struct {
        const char *first, *second;
        int line;
    } cases[] = {{"1999-12-31 14:30", "1999-12-31 14:31", 2}, {"2027-12-31 15:00", "2027-12-31 15:01", 4}};
    char text[256], words[80];
    for (size_t i = 0; i < 2; i++)
        for (int choice = 0; choice < SESSION_CHOICES; choice++) {
            snprintf(
                text, sizeof text,
                "time,open,high,low,close,volume\n%s,1,1,1,1,1\n%s,1,1,1,1,1\n2028-01-03 15:00,1,1,1,1,1\n",
                cases[i].first, cases[i].second);
            snprintf(words, sizeof words, "SPY_1m.csv:%d: ", cases[i].line);
            reads(scratch_write("SPY_1m.csv", text), of_zone(NULL, (enum session_choice)choice), words);
            CHECK(strstr(error, "beyond the calendar: ") == error);
            CHECK(strstr(error, "from 2000-01-01T05:00:00Z to 2028-01-01T05:00:00Z, which nyse knows"));
        }
}

/* Regular hours alone, in a zone that is not the one given: by what there is to say, a zone or hours. */
static void test_wrong_zone(void)
{
    static const struct {
        const char *file, *given, *words;
        int64_t late_ns;
    } cases[] = {
        {"America/New_York", NULL, "--zone America/New_York fits"},
        {"America/New_York", "America/Chicago", "--zone America/New_York fits"},
        {"America/Chicago", "America/New_York", "--zone America/Chicago fits"},
        {"UTC", "America/New_York", "--zone UTC fits"},
        {"Etc/GMT+5", "America/New_York", "--zone Etc/GMT+5 fits"}, /* no summer time, half of the year */
        {"America/New_York", "Etc/GMT+5", "--zone America/New_York fits"},
        {"Asia/Kolkata", "UTC", "--zone Asia/Kolkata fits"},
        {NULL, NULL, "times 1 h later fits", -1},
        {NULL, NULL, "times 1 h earlier fits", 1},
        {NULL, "America/New_York", "times 5 h later fits", -5},
    };
    static const int64_t intervals[] = {60000000000, 300000000000, 1800000000000, 3600000000000};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < sizeof intervals / sizeof *intervals; k++) {
            const struct synthetic s = {"2025-10-20", "2025-11-15", intervals[k], .zone = cases[i].file,
                                        .late_ns = cases[i].late_ns * hour};
            const char *path = synthetic("SPY.csv", &s);
            for (int choice = 0; choice < SESSION_CHOICES; choice++) {
                reads(path, of_zone(cases[i].given, (enum session_choice)choice), cases[i].words);
                CHECK(strstr(error, "times are of another zone: ") == error && strstr(error, "SPY.csv:"));
            }
            if (cases[i].file) { /* and in its own it is read */
                struct bars_file f = reads(path, of_zone(cases[i].file, SESSION_REGULAR), NULL);
                CHECK_INT(count(&f, BAR_SESSION_REGULAR), f.n);
                bars_file_finish(&f);
            }
        }
}

/* A zone that is wrong on a few days alone: those of summer time, those after a change of a vendor's. */
static void test_wrong_days(void)
{
    static const int64_t intervals[] = {60000000000, 300000000000, 1800000000000, 3600000000000};
    for (size_t k = 0; k < sizeof intervals / sizeof *intervals; k++) {
        struct synthetic s = {"2025-10-30", "2026-02-28", intervals[k], .zone = "America/New_York"};
        const char *path = synthetic("SPY.csv", &s); /* two days of summer time */
        for (int choice = 0; choice < SESSION_CHOICES; choice++) {
            reads(path, of_zone("EST", (enum session_choice)choice), "--zone America/New_York fits them");
            CHECK(strstr(error, "times are of another zone: ") == error);
        }
        /* Of epochs no zone is wrong: an hour: what fits that day. */
        s.zone = NULL;
        FILE *more = fopen(synthetic("SPY.csv", &s), "ae");
        for (int64_t ns = at("2026-03-02T15:30:00Z"); ns < at("2026-03-02T22:00:00Z"); ns += intervals[k])
            fprintf(more, "%lld,10,11,9,10,1\n", (long long)(ns / second));
        fclose(more);
        reads(scratch_path("SPY.csv"), regular, "Z is post in nyse: times 1 h earlier fits that day");
    }
    for (int64_t late = -1; late <= 1; late += 2) { /* half an hour, of shorter bars */
        const struct synthetic s = {"2025-10-20", "2025-11-15", 5 * minute, .late_ns = late * 30 * minute};
        reads(synthetic("SPY.csv", &s), regular,
              late < 0 ? "times 30 min later fits" : "times 30 min earlier fits");
    }
    const struct synthetic clock = {"2025-10-20", "2025-11-15", hour, .by_clock = true};
    reads(synthetic("SPY.csv", &clock), regular, "bar straddles sessions: ");
}

/* Extended hours: read, with what volume's peaks fit. */
static void test_peaks(void)
{
    static const struct {
        const char *file, *given, *fits;
        int64_t late_ns;
    } cases[] = {
        {"America/New_York", "America/New_York", "", 0},
        {"UTC", NULL, "", 0},
        {NULL, NULL, "", 0},
        {"America/Chicago", "America/New_York", "--zone America/Chicago", 0},
        {NULL, NULL, "times 1 h later", -1},
        {NULL, "Asia/Tokyo", "times 2 h earlier", 2},
    };
    static const int64_t intervals[] = {60000000000, 300000000000, 1800000000000};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < sizeof intervals / sizeof *intervals; k++) {
            const struct synthetic s = {"2025-10-20",     "2025-11-15",
                                        intervals[k],     .zone = cases[i].file,
                                        .extended = true, .late_ns = cases[i].late_ns * hour};
            const char *path = synthetic("SPY.csv", &s);
            struct bars_file f = reads(path, of_zone(cases[i].given, SESSION_ALL), NULL);
            CHECK_STR(f.fits, cases[i].fits);
            bars_file_finish(&f);
        }
    /* Of a few days nothing is said. */
    const struct synthetic few = {"2025-11-10", "2025-11-14", minute, .extended = true, .late_ns = hour};
    struct bars_file f = reads(synthetic("SPY.csv", &few), all, NULL);
    CHECK_STR(f.fits, "");
    bars_file_finish(&f);
}

static void test_half_day(void)
{
    static const int64_t intervals[] = {60000000000, 1800000000000, 3600000000000};
    for (size_t k = 0; k < sizeof intervals / sizeof *intervals; k++) {
        struct synthetic s = {"2025-11-24", "2025-12-31", intervals[k], .no_half_days = true};
        const char *path = synthetic("SPY.csv", &s);
        reads(path, regular, "a half day without its early close: ");
        CHECK(strstr(error, "since nyse closed at 2025-11-28T18:00:00Z") && strstr(error, "SPY.csv:"));
        reads(path, extended, "a half day without its early close: ");
        struct bars_file f = reads(path, all, NULL);
        bars_file_finish(&f);
        /* With extended hours such bars are of those. */
        s.no_half_days = false;
        s.extended = true;
        f = reads(synthetic("SPY.csv", &s), extended, NULL);
        bars_file_finish(&f);
    }
    /* One bar before the opening: a file with other hours too. */
    struct synthetic early = {"2025-11-24", "2025-12-31", minute, .no_half_days = true};
    FILE *more = fopen(synthetic("SPY.csv", &early), "ae");
    fprintf(more, "%lld,1,1,1,1,1\n", (long long)(at("2025-12-31T13:00:00Z") / second));
    fclose(more);
    struct bars_file other = reads(scratch_path("SPY.csv"), regular, NULL);
    bars_file_finish(&other);
    /* The bar of a closing auction, at the close, is fine. */
    const struct synthetic s = {"2025-11-24", "2025-12-31", minute};
    const char *path = synthetic("SPY.csv", &s);
    FILE *out = fopen(path, "ae");
    fprintf(out, "%lld,1,1,1,1,1\n", (long long)(at("2025-12-31T21:00:00Z") / second));
    fclose(out);
    struct bars_file f = reads(path, regular, NULL);
    CHECK_INT(count(&f, BAR_SESSION_POST), 1);
    bars_file_finish(&f);
}

/* A single row has no interval, in a session or in none, and where another zone would put it into one. */
static void test_one_row(void)
{
    static const char *const texts[] = {"2025-11-05 10:00", "2025-11-05 15:00", "2025-11-05 03:00"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *out = fopen(scratch_path("SPY.csv"), "we");
        fprintf(out, "time,open,high,low,close,volume\n%s,1,1,1,1,1\n", texts[i]);
        fclose(out);
        struct bars_file f = reads(scratch_path("SPY.csv"), all, NULL);
        CHECK_INT(f.n, 1);
        CHECK_INT(f.interval_ns, 0);
        CHECK_STR(f.fits, "");
        bars_file_finish(&f);
    }
}

int main(void)
{
    CHECK_INT(calendar_file_open("nyse", &nyse, error), 0);
    test_zone();
    test_dates();
    test_sessions();
    test_straddle();
    test_column();
    test_outside();
    test_range();
    test_wrong_zone();
    test_wrong_days();
    test_peaks();
    test_half_day();
    test_one_row();
    calendar_file_close(nyse);
    return check_done("bars_session");
}

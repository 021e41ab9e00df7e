/* Files of calendars: what they say, and what is refused, by file and line. */
#include "exchange/calendar_file.h"

#include <errno.h>

#include "tests/exchange/moment.h"
#include "tests/scratch.h"

#define HEADER \
    "name xetra\nzone Europe/Berlin\nfrom 2025-03-24\nto 2025-04-06\nweek Mon Tue Wed Thu Fri\n" \
    "hours 08:00 09:00 17:30 22:00\n"

static char err[CALENDAR_ERROR_MAX];

/* Half days, closed days, a Saturday with hours of its own; the change to summer time on 30 March. */
static void test_file(void)
{
    struct calendar_file *file = NULL;
    const char *path =
        scratch_write("own.calendar", "# a comment\n\n" HEADER "half 08:00 09:00 13:00 14:00\r\n"
                                      "2025-03-25 closed for a holiday\n2025-03-26 half before it\n"
                                      "2025-03-29 10:00 10:30 11:30 12:00 a test\n2025-04-04 half\n");
    CHECK_INT(calendar_file_open(path, &file, err), 0);
    if (!file) {
        fprintf(stderr, "%s\n", err);
        return;
    }
    const struct trading_calendar *c = calendar_file_view(file);
    CHECK_STR(c->name, "xetra");
    CHECK_INT(c->n, 10);
    CHECK_INT(c->from_ns, at("2025-03-23T23:00:00Z"));
    CHECK_INT(c->to_ns, at("2025-04-06T22:00:00Z"));
    CHECK_INT(c->days[0].early_ns, at("2025-03-24T07:00:00Z"));
    CHECK_INT(c->days[0].late_ns, at("2025-03-24T21:00:00Z"));
    CHECK_INT(c->days[1].open_ns, at("2025-03-26T08:00:00Z"));
    CHECK_INT(c->days[1].close_ns, at("2025-03-26T12:00:00Z"));
    CHECK_INT(c->days[4].open_ns, at("2025-03-29T09:30:00Z"));
    CHECK_INT(c->days[5].open_ns, at("2025-03-31T07:00:00Z"));
    CHECK_INT(c->days[9].late_ns, at("2025-04-04T12:00:00Z"));
    calendar_file_close(file);
}

static void test_refused(void)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "a line is missing: "},
        {"name x\nzone UTC\nfrom 2025-01-01\nto 2025-01-31\nweek Mon\n", "hours and four times that rise"},
        {"name averyverylongname\n", ":1: name and one word of at most 15 letters"},
        {"name x\nname y\n", "a key comes twice: "},
        {"name x\nzone Mars/Olympus\nfrom 2025-01-01\nto 2025-01-31\nweek Mon\nhours 01:00 02:00 03:00 04:00\n",
         "zone Mars/Olympus: no such zone"},
        {"zone\n", ":1: zone and a name as America/New_York"},
        {"from 2025-02-30\n", ":1: from and a date"},
        {"from 2025-01-01 00:00\n", ":1: from and a date"},
        {"to tomorrow\n", ":1: to and a date"},
        {"week Mon Tux\n", ":1: week and days of"},
        {"week\n", ":1: week and days of"},
        {"hours 04:00 09:30 16:00\n", ":1: hours and four times that rise"},
        {"hours 04:00 09:30 16:00 24:01\n", ":1: hours and four times"},
        {"hours 04:00 09:60 16:00 20:00\n", ":1: hours and four times"},
        {"hours 04:00 16:00 09:30 20:00\n", ":1: hours and four times"},
        {"hours 4:00 09:30 16:00 20:00\n", ":1: hours and four times"},
        {"half 04:00 13:00 13:00 17:00\n", ":1: half and four times"},
        {"holiday 2025-01-01\n", ":1: name, zone, from, to, week, hours, half, or a date"},
        {HEADER "2025-03-25 half\n", ":7: a line half"},
        {HEADER "2025-03-25\n", "bad day: "},
        {HEADER "2025-03-25 open\n", ":7: a date and closed, half or four times"},
        {HEADER "2025-03-26 closed\n2025-03-25 closed\n", ":8: one line a day, in the order of dates"},
        {HEADER "2025-03-26 closed\n2025-03-26 closed\n", ":8: one line a day"},
        {HEADER "2025-04-07 closed\n", "days beyond the range: "},
        {"name x\nzone UTC\nfrom 2025-02-01\nto 2025-01-31\nweek Mon\nhours 01:00 02:00 03:00 04:00\n",
         "from, then every date, then to"},
        {"name x\nzone UTC\nfrom 2025-01-07\nto 2025-01-08\nweek Mon\nhours 01:00 02:00 03:00 04:00\n",
         "a day with a session in its range"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct calendar_file *file = NULL;
        const char *path = scratch_write("bad.calendar", cases[i].text);
        err[0] = '\0';
        CHECK_INT(calendar_file_open(path, &file, err), -EINVAL);
        CHECK(!file && strstr(err, cases[i].words) && strstr(err, path));
        if (!strstr(err, cases[i].words))
            fprintf(stderr, "case %zu: %s\n", i, err);
    }
    struct calendar_file *file = NULL;
    CHECK_INT(calendar_file_open(scratch_path("absent.calendar"), &file, err), -ENOENT);
    CHECK(strstr(err, "nyse, 24x7 or a file"));
    CHECK_INT(calendar_file_open(scratch_root(), &file, err), -EINVAL);
    FILE *out = fopen(scratch_path("zero.calendar"), "we");
    fwrite(HEADER "\0", 1, sizeof HEADER, out);
    fclose(out);
    CHECK_INT(calendar_file_open(scratch_path("zero.calendar"), &file, err), -EINVAL);
    CHECK(strstr(err, "zero.calendar: a text in ASCII"));
    CHECK(!file);
}

/* Every beginning of a good text is read or refused, and more than that never happens. */
static void test_cut(void)
{
    static const char text[] = HEADER "half 08:00 09:00 13:00 14:00\n2025-03-25 closed\n2025-03-26 half\n";
    char part[sizeof text];
    size_t good = 0;
    for (size_t n = 0; n < sizeof text; n++) {
        struct calendar_file *file = NULL;
        snprintf(part, n + 1, "%s", text);
        int r = calendar_file_open(scratch_write("cut.calendar", part), &file, err);
        CHECK((r == 0) == (file != NULL));
        good += r == 0;
        calendar_file_close(file);
    }
    CHECK(good > 0);
}

/* In capitals or not, and by the name that venues have for it; a path stays a path. */
static void test_words(void)
{
    static const struct {
        const char *word, *name;
    } words[] = {
        {"nyse", "nyse"}, {"NYSE", "nyse"}, {"us-equity", "nyse"}, {"US-Equity", "nyse"}, {"24X7", "24x7"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct calendar_file *file = NULL;
        CHECK_STR(calendar_file_name(words[i].word), words[i].name);
        CHECK_INT(calendar_file_open(words[i].word, &file, err), 0);
        if (file)
            CHECK_STR(calendar_file_view(file)->name, words[i].name);
        calendar_file_close(file);
    }
    CHECK_STR(calendar_file_name("./NYSE"), "./NYSE");
}

int main(void)
{
    test_words();
    test_file();
    test_refused();
    test_cut();
    return check_done("calendar_file");
}

#include "exchange/calendar_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "exchange/calendar_table.h"
#include "exchange/fail.h"
#include "exchange/whole_file.h"
#include "exchange/zone.h"

enum { FILE_MOST = 1 << 20, DAY_S = 86400, THURSDAY = 4 }; /* 1970-01-01 was a Thursday */

#define NS_PER_S INT64_C(1000000000)

struct calendar_file {
    struct trading_calendar view;
    struct trading_day *days; /* the view's */
};

const char *calendar_file_name(const char *word)
{
    static const struct {
        const char *word, *name;
    } words[] = {{"nyse", "nyse"}, {"us-equity", "nyse"}, {"24x7", "24x7"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(word, words[i].word) == 0)
            return words[i].name;
    return word;
}

static int64_t local_ns(const struct zone *zone, int32_t day, int minute)
{
    return zone_utc(zone, (int64_t)day * DAY_S + minute * 60) * NS_PER_S;
}

static struct trading_day day_of(const struct zone *zone, int32_t day, const struct calendar_hours *hours)
{
    return (struct trading_day){.early_ns = local_ns(zone, day, hours->early),
                                .open_ns = local_ns(zone, day, hours->open),
                                .close_ns = local_ns(zone, day, hours->close),
                                .late_ns = local_ns(zone, day, hours->late)};
}

/* Days of the range, room for each of which there is. */
static void make_days(struct calendar_file *file, const struct calendar_table *table, const struct zone *zone)
{
    size_t at = 0;
    for (int32_t day = table->from; day <= table->to; day++) {
        int weekday = ((day + THURSDAY) % CALENDAR_WEEK + CALENDAR_WEEK) % CALENDAR_WEEK;
        const struct calendar_hours *hours = table->week[weekday] ? &table->hours : NULL;
        if (at < table->n && table->days[at].day == day) {
            hours = table->days[at].closed ? NULL : &table->days[at].hours;
            at++;
        }
        if (hours)
            file->days[file->view.n++] = day_of(zone, day, hours);
    }
}

static int make(const char *path, const struct calendar_table *table, struct calendar_file *file,
                char err[static CALENDAR_ERROR_MAX])
{
    char why[ZONE_ERROR_MAX];
    struct zone *zone;
    size_t bad, most = (size_t)(table->to - table->from) + 1;
    int r = zone_open(table->zone, &zone, why);
    if (r < 0)
        return fail_line(r == -ENOMEM ? r : -EINVAL, err, CALENDAR_ERROR_MAX, path, "zone %s", why);
    memcpy(file->view.name, table->name, sizeof file->view.name);
    file->view.from_ns = local_ns(zone, table->from, 0);
    file->view.to_ns = local_ns(zone, table->to + 1, 0);
    file->view.days = file->days = calloc(most, sizeof *file->days);
    if (file->days)
        make_days(file, table, zone);
    zone_close(zone);
    if (!file->days)
        return fail_with(-ENOMEM, err, CALENDAR_ERROR_MAX, "out of memory");
    if (file->view.n == 0)
        return fail_line(-EINVAL, err, CALENDAR_ERROR_MAX, path,
                         "a day with a session in its range; a market without is 24x7");
    if (trading_days_check(file->days, file->view.n, &bad) < 0)
        return fail_line(-EINVAL, err, CALENDAR_ERROR_MAX, path, "hours that are there on each day");
    return 0;
}

static int read_text(const char *path, char *text, struct calendar_file *file,
                     char err[static CALENDAR_ERROR_MAX])
{
    struct calendar_table table;
    int r = calendar_table_read(path, text, &table, err);
    if (r < 0)
        return r;
    r = make(path, &table, file, err);
    calendar_table_finish(&table);
    return r;
}

/* The text of a built-in calendar, or of a file: for free(). */
static int find_text(const char *name, char **ret, char err[static CALENDAR_ERROR_MAX])
{
    char *text;
    size_t len;
    for (size_t i = 0; i < calendar_built_ins_n; i++) {
        if (strcmp(name, calendar_built_ins[i].name) != 0)
            continue;
        if ((*ret = strdup(calendar_built_ins[i].text)))
            return 0;
        return fail_with(-ENOMEM, err, CALENDAR_ERROR_MAX, "out of memory");
    }
    int r = whole_file_read(name, FILE_MOST, &text, &len);
    if (r < 0)
        return fail_line(r, err, CALENDAR_ERROR_MAX, "cannot read the calendar",
                         "%.300s: " CALENDAR_NAMES " (%s)", name, strerror(-r));
    if (strlen(text) == len) {
        *ret = text;
        return 0;
    }
    free(text);
    return fail_line(-EINVAL, err, CALENDAR_ERROR_MAX, "no calendar", "%.300s: a text in ASCII", name);
}

bool calendar_file_zone(const char *word, char ret[static CALENDAR_ZONE_MAX])
{
    const char *name = calendar_file_name(word);
    char err[CALENDAR_ERROR_MAX];
    for (size_t i = 0; i < calendar_built_ins_n; i++) {
        struct calendar_table table;
        char *text =
            strcmp(name, calendar_built_ins[i].name) == 0 ? strdup(calendar_built_ins[i].text) : NULL;
        if (text && calendar_table_read(name, text, &table, err) == 0) {
            memcpy(ret, table.zone, sizeof table.zone);
            calendar_table_finish(&table);
            free(text);
            return true;
        }
        free(text);
    }
    return false;
}

int calendar_file_open(const char *name_or_path, struct calendar_file **ret,
                       char err[static CALENDAR_ERROR_MAX])
{
    char *text = NULL;
    const char *name = calendar_file_name(name_or_path);
    struct calendar_file *file = calloc(1, sizeof *file);
    if (!file)
        return fail_with(-ENOMEM, err, CALENDAR_ERROR_MAX, "out of memory");
    int r = 0;
    if (strcmp(name, "24x7") == 0) {
        strcpy(file->view.name, "24x7");
        file->view.from_ns = INT64_MIN;
        file->view.to_ns = INT64_MAX;
    } else if ((r = find_text(name, &text, err)) == 0) {
        r = read_text(name, text, file, err);
    }
    free(text);
    if (r < 0)
        calendar_file_close(file);
    else
        *ret = file;
    return r;
}

void calendar_file_close(struct calendar_file *file)
{
    if (file)
        free(file->days);
    free(file);
}

const struct trading_calendar *calendar_file_view(const struct calendar_file *file)
{
    return &file->view;
}

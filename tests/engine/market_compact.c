/* A market without its nights: its rows are those of the days, by a search through every row; what is
 * missing stays missing, days begin and end where they do; and what has no such rows is refused in words. */
#include "engine/market/compact.h"

#include <errno.h>

#include "tests/engine/market_files.h"

enum { BARS = 250, DAYS = 3 };

static const int64_t minute = 60000000000, step = 900000000000,
                     epoch = 1672531200000000000; /* midnight UTC */
static char err[MARKET_ERROR_MAX];
static struct made_file file;

static int64_t at(int day, int minutes)
{
    return epoch + (day * 1440 + minutes) * minute;
}

/* Two whole days and a half one, with the hours before and after. */
static const struct trading_day *days_of(void)
{
    static struct trading_day days[DAYS];
    for (int i = 0; i < DAYS; i++)
        days[i] = (struct trading_day){at(i, 540), at(i, 870), at(i, i == 1 ? 1080 : 1260),
                                       at(i, i == 1 ? 1320 : 1440)};
    return days;
}

static struct market *open_market(struct random *random, int64_t interval_ns, size_t n)
{
    struct market_options options = {.no_cache = true, .interval_ns = interval_ns};
    struct market *market = NULL;
    const char *path;
    made_draw(random, &file, n, epoch, interval_ns, 20);
    made_write(random, &file, "ONEUSDT");
    path = file.path;
    CHECK_INT(market_store_load_files(&path, 1, &options, &market, NULL, err), 0);
    return market;
}

static bool within(const struct trading_day *day, enum session_choice choice, int64_t ns)
{
    return choice == SESSION_REGULAR ? ns >= day->open_ns && ns < day->close_ns
                                     : ns >= day->early_ns && ns < day->late_ns;
}

static void check_rows(const struct market *all, const struct trading_calendar *calendar,
                       enum session_choice choice)
{
    struct market *market;
    size_t row = 0;
    CHECK_INT(market_store_compact(all, calendar, choice, &market, err), 0);
    for (size_t from = 0; from < all->rows; from++) {
        int64_t ns = market_open_ns(all, from);
        const struct trading_day *day = NULL;
        for (int i = 0; i < DAYS; i++)
            day = within(&calendar->days[i], choice, ns) ? &calendar->days[i] : day;
        if (!day)
            continue;
        int64_t begin_ns = choice == SESSION_REGULAR ? day->open_ns : day->early_ns,
                end_ns = choice == SESSION_REGULAR ? day->close_ns : day->late_ns;
        const struct market_series *a = &all->series[0], *b = &market->series[0];
        CHECK_INT(market_open_ns(market, row), ns);
        CHECK_INT(market_present(b, row), market_present(a, from));
        CHECK(!market_present(b, row) ||
              (a->close[from] == b->close[row] && a->volume[from] == b->volume[row]));
        CHECK(market_present(b, row) || b->volume[row] == 0);
        CHECK(market_present(b, row) || row <= b->first || b->open[row] == b->close[row - 1]);
        CHECK_INT(market->marks[row] & MARKET_ROW_BEGINS, ns == begin_ns ? MARKET_ROW_BEGINS : 0);
        CHECK_INT(market->marks[row] & MARKET_ROW_ENDS, ns + step == end_ns ? MARKET_ROW_ENDS : 0);
        CHECK_INT(market->marks[row] & MARKET_ROW_LEAVES, ns + 2 * step == end_ns ? MARKET_ROW_LEAVES : 0);
        CHECK_INT(market_store_row_at(market, ns), row);
        CHECK_INT(market_store_row_at(market, ns - 1), row);
        row++;
    }
    CHECK_INT(market->rows, row);
    CHECK_INT(market_open_ns(market, row), market_open_ns(market, row - 1) + step);
    market_store_close(market);
}

static void refused(const struct market *all, const struct trading_calendar *calendar,
                    enum session_choice choice, const char *words)
{
    struct market *market = NULL;
    CHECK_INT(market_store_compact(all, calendar, choice, &market, err), -EINVAL);
    CHECK(strstr(err, words) && !market);
}

int main(void)
{
    struct random random = random_seeded("market_compact", 20261125);
    scratch_in_memory();
    struct trading_calendar calendar = {"test", days_of(), DAYS, epoch, at(20, 0)};
    struct market *all = open_market(&random, step, BARS);
    check_rows(all, &calendar, SESSION_REGULAR);
    check_rows(all, &calendar, SESSION_EXTENDED);
    refused(all, &calendar, SESSION_ALL, "session: all: one of a calendar with days is right");
    refused(all, &(struct trading_calendar){"24x7"}, SESSION_REGULAR, "session: regular: one of a calendar");
    calendar.to_ns = at(1, 0);
    refused(all, &calendar, SESSION_REGULAR, "calendar: test: its days are of ");
    calendar.to_ns = at(400, 0);
    calendar.n = 0;
    refused(all, &calendar, SESSION_REGULAR, "one of a calendar with days");
    calendar.n = DAYS;
    market_store_close(all);

    all = open_market(&random, 60 * minute, 72); /* 14:30 is no hour */
    refused(all, &calendar, SESSION_REGULAR, "bars of 1h do not begin where the sessions");
    market_store_close(all);
    all = open_market(&random, 1440 * minute, 60);
    refused(all, &calendar, SESSION_REGULAR, "bars of a day or more have none");
    market_store_close(all);
    return check_done("engine/market_compact");
}

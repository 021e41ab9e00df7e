/* The axes of charts, checked against times and prices computed here: 1 to 400 bars with random gaps. */
#include <float.h>
#include <time.h>

#include "cli/format.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tui/axis.h"

static const int64_t second = 1000000000, day = 86400 * INT64_C(1000000000);
static struct random random_state;

static int draw(int below)
{
    return (int)random_between(&random_state, 0, below - 1);
}

/* n bars of the interval; one in `often` is followed by a gap of up to `longest` bars; 0: no gap. */
static void make(struct history_bar *bars, int n, int64_t interval, int often, int longest)
{
    int64_t at = (INT64_C(1723161240) * second / interval - draw(2000)) * interval;

    for (int i = 0; i < n; i++) {
        bars[i] = (struct history_bar){.open_ns = at};
        at += interval;
        if (often && draw(often) == 0)
            at += (1 + draw(longest)) * interval;
    }
}

/* Where the moment is, in columns from the left edge. */
static double place(const struct history_bar *bars, int n, int64_t interval, int columns, int64_t ts)
{
    long double from = bars[0].open_ns, to = bars[n - 1].open_ns + interval;

    return (double)(((long double)ts - from) * columns / (to - from));
}

static void check_columns(const struct time_axis *axis)
{
    const struct history_bar *bars = axis->bars;
    int64_t interval = axis->interval_ns;
    int n = axis->n, columns = axis->columns, before = -1;

    for (int i = 0; i < n; i++) {
        int column = tui_axis_column(axis, i);
        double real = place(bars, n, interval, columns, bars[i].open_ns + interval / 2);
        CHECK(column >= 0 && column < columns && fabs(column + 0.5 - real) <= 0.5 + 1e-6);
        if (i > 0) {
            double gap = place(bars, n, interval, columns, bars[i].open_ns) -
                         place(bars, n, interval, columns, bars[i - 1].open_ns);
            CHECK(fabs(column - before - gap) <= 1 + 1e-6);
            double missing = gap - place(bars, n, interval, columns, bars[0].open_ns + interval);
            int blank = column - before - 1; /* columns between the two where bars share columns */
            if (tui_axis_slot(axis) > 0) {
                int first, last, next, end;
                tui_axis_cells(axis, i - 1, &first, &last);
                tui_axis_cells(axis, i, &next, &end);
                CHECK(first <= before && last >= before && next <= column && end >= column);
                CHECK(first >= 0 && end < columns && fabs(next - last - 1 - missing) <= 1 + 1e-6);
                CHECK(missing > 1e-6 || next == last + 1);
            }
            if (tui_axis_slot(axis) == 0)
                CHECK(blank >= (int)floor(missing + 1e-6) - 1 && blank <= (int)floor(missing + 1e-6) + 1);
        }
        CHECK_INT(tui_axis_bar_at(axis, bars[i].open_ns), i);
        CHECK_INT(tui_axis_bar_at(axis, bars[i].open_ns + interval - 1), i);
        before = column;
    }
    CHECK_INT(tui_axis_bar_at(axis, bars[0].open_ns - 1), -1);
    CHECK_INT(tui_axis_bar_at(axis, bars[n - 1].open_ns + interval), -1);
}

/* The label's text is the part of the tick's time that its form names, and what it leaves out at the end is
 * the beginning of a minute, day, month or year. */
static bool says(const struct time_tick *tick)
{
    static const char begins[] = "0000-01-01 00:00:00";
    time_t at = (time_t)(tick->ts_ns / second);
    size_t len = strlen(tick->text), from = tick->text[2] == ':' ? 11 : tick->text[2] == '-' ? 5 : 0;
    char whole[40];
    struct tm tm;

    localtime_r(&at, &tm);
    strftime(whole, sizeof(whole), "%Y-%m-%d %H:%M:%S", &tm);
    return memcmp(whole + from, tick->text, len) == 0 && strcmp(whole + from + len, begins + from + len) == 0;
}

static void check_times(const struct time_axis *axis, bool wide)
{
    struct time_tick ticks[AXIS_TICKS_MAX];
    const struct history_bar *bars = axis->bars;
    int n = tui_axis_times(axis, axis->columns, ticks), end = -1;

    CHECK(n <= AXIS_TICKS_MAX);
    for (int i = 0; i < n; i++) {
        int64_t ts = ticks[i].ts_ns;
        double real = place(bars, axis->n, axis->interval_ns, axis->columns, ts) - 0.5;
        for (int k = 0; k < axis->n; k++)
            if (ts >= bars[k].open_ns && ts - bars[k].open_ns < axis->interval_ns)
                real = place(bars, axis->n, axis->interval_ns, axis->columns,
                             bars[k].open_ns + axis->interval_ns / 2) -
                       0.5;
        CHECK(fabs(ticks[i].column - real) <= 1);
        CHECK(ticks[i].column > end); /* a blank stands between two labels */
        end = ticks[i].column + 1 + (int)strlen(ticks[i].text);
        CHECK(end <= axis->columns);
        CHECK(says(&ticks[i]));
    }
    if (wide && axis->n >= 8)
        CHECK(n >= 4);
}

static void check_bars(void)
{
    static const int widths[] = {80, 120, 200};
    static const int64_t intervals[] = {1, 60, 300, 3600, 14400, 86400, 604800};
    static struct history_bar bars[HISTORY_BARS_MAX];

    for (int n = 1; n <= HISTORY_BARS_MAX; n++)
        for (int w = 0; w < 3 * 2; w++) { /* each width with gaps, and without */
            int64_t interval = n % 3 ? 60 * second : intervals[draw(7)] * second;
            struct time_axis axis;
            make(bars, n, interval, w < 3 ? 2 + draw(30) : 0, 1 + draw(200));
            CHECK(tui_axis_init(&axis, bars, n, interval, widths[w % 3] - 13, false));
            check_columns(&axis);
            check_times(&axis, true);
            CHECK(tui_axis_init(&axis, bars, n, interval, 1 + draw(60), false));
            check_columns(&axis);
            check_times(&axis, false);
        }
}

static void in_zone(const char *tz)
{
    setenv("TZ", tz, 1);
    tzset();
    cli_format_local(strcmp(tz, "UTC") != 0);
}

/* A zone's ticks are round on its clock: those of UTC, where bars have the same times there. */
static void check_zones(void)
{
    static const struct {
        const char *tz;
        int ahead_s;
    } zones[] = {{"XST-5:30", 19800}, {"XWT+3:30", -12600}, {"XFT-12:45", 45900}, {"XHT+11", -39600}};
    static const int64_t intervals[] = {1, 60, 300, 3600, 14400, 86400, 604800};
    static struct history_bar bars[HISTORY_BARS_MAX];
    struct time_tick utc[AXIS_TICKS_MAX], local[AXIS_TICKS_MAX];
    struct time_axis axis;

    for (int i = 0; i < 2000; i++) {
        int n = 1 + draw(HISTORY_BARS_MAX), columns = 20 + draw(200), zone = i % 4;
        int64_t interval = intervals[draw(7)] * second;
        make(bars, n, interval, 2 + draw(60), 1 + draw(100));
        CHECK(tui_axis_init(&axis, bars, n, interval, columns, i & 1));
        int wanted = tui_axis_times(&axis, columns, utc);
        for (int k = 0; k < n; k++)
            bars[k].open_ns -= zones[zone].ahead_s * second;
        in_zone(zones[zone].tz);
        CHECK_INT(tui_axis_times(&axis, columns, local), wanted);
        for (int k = 0; k < wanted; k++) {
            CHECK_INT(local[k].column, utc[k].column);
            CHECK_STR(local[k].text, utc[k].text);
            CHECK_INT(local[k].ts_ns, utc[k].ts_ns - zones[zone].ahead_s * second);
        }
        in_zone("UTC");
    }
}

/* Days are from midnight to midnight, also where one has 23 hours or 25; an hour that comes twice or never is
 * no reason to be out of order. */
static void check_summer_time(void)
{
    static struct history_bar bars[HISTORY_BARS_MAX];
    struct time_tick ticks[AXIS_TICKS_MAX];
    struct time_axis axis;

    in_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    for (int i = 0; i < 400; i++) { /* around 2024-03-31 and 2024-10-27 */
        int64_t interval = (i & 2 ? 900 : 3600) * second, from = (i & 1 ? 1711846800 : 1729990800) * second;
        int n = 20 + draw(380), midnights = 0;
        from -= draw(20 + n) * interval;
        for (int k = 0; k < n; k++)
            bars[k] = (struct history_bar){.open_ns = from + k * interval};
        CHECK(tui_axis_init(&axis, bars, n, interval, 80 + draw(120), false));
        int labels = tui_axis_times(&axis, axis.columns, ticks);
        for (int k = 0; k < labels; k++) {
            CHECK(says(&ticks[k]));
            CHECK(k == 0 || ticks[k].ts_ns > ticks[k - 1].ts_ns);
            midnights += ticks[k].text[2] == '-' && strlen(ticks[k].text) == 5;
        }
        CHECK(labels > 0 && (n * interval < 3 * day || midnights > 0));
    }
    in_zone("UTC");
}

/* Eight bars fill the width, and bars that are many have the columns of all. */
static void check_few(void)
{
    struct history_bar bars[8];
    struct time_axis axis;
    struct time_tick ticks[AXIS_TICKS_MAX];

    make(bars, 8, 60 * second, 0, 0);
    CHECK(tui_axis_init(&axis, bars, 8, 60 * second, 104, false));
    CHECK(tui_axis_column(&axis, 0) < 26);
    CHECK(tui_axis_column(&axis, 7) >= 78);
    CHECK_INT(tui_axis_slot(&axis), 13);
    CHECK(tui_axis_times(&axis, 104, ticks) >= 4);
    CHECK(!tui_axis_init(&axis, bars, 0, 60 * second, 104, false));
    CHECK(!tui_axis_init(&axis, bars, 8, 0, 104, false));
    CHECK(!tui_axis_init(&axis, bars, 8, 60 * second, 0, false));
}

/* Ten sessions of 6.5 hours from 13:30 on, weekends off: a night takes about a column, times are at the bars
 * that hold them, and dates at the first bar of their day. */
static void check_sessions(void)
{
    static struct history_bar bars[HISTORY_BARS_MAX];
    struct time_tick ticks[AXIS_TICKS_MAX];
    struct time_axis axis;
    int n = 0;

    for (int d = 0; d < 12; d++)
        for (int i = 0; i < 26 && d % 7 < 5; i++) /* from a Monday on */
            bars[n++].open_ns = 19940 * day + d * day + (13 * 60 + 30 + i * 15) * 60 * second;
    for (int width = 60; width <= 400; width += 17) {
        CHECK(tui_axis_init(&axis, bars, n, 900 * second, width, true));
        for (int i = 0; i + 1 < n; i++) {
            int columns = tui_axis_column(&axis, i + 1) - tui_axis_column(&axis, i);
            double slot = (width - 9) / (double)n;
            CHECK_INT(tui_axis_closed(&axis, i), i % 26 == 25);
            CHECK(fabs(columns - slot - (i % 26 == 25)) <= 1);
            if (i % 26 == 25)
                CHECK(tui_axis_closed_column(&axis, i) >= tui_axis_column(&axis, i) &&
                      tui_axis_closed_column(&axis, i) <= tui_axis_column(&axis, i + 1));
        }
        CHECK_INT(tui_axis_column(&axis, 0), (int)((width - 9) / (double)n / 2));
        CHECK(tui_axis_column(&axis, n - 1) >= width - 2);
        int labels = tui_axis_times(&axis, width, ticks), end = -1;
        CHECK(labels >= 4);
        for (int k = 0; k < labels; k++) {
            int at = 0;
            while (at < n && bars[at].open_ns + 900 * second <= ticks[k].ts_ns)
                at++;
            CHECK(at < n && abs(ticks[k].column - tui_axis_column(&axis, at)) <= 1);
            CHECK(bars[at].open_ns <= ticks[k].ts_ns ||
                  (ticks[k].ts_ns % day == 0 && bars[at].open_ns - ticks[k].ts_ns < day));
            CHECK(ticks[k].column > end);
            CHECK(says(&ticks[k]));
            end = ticks[k].column + 1 + (int)strlen(ticks[k].text);
        }
    }
}

/* A line is straight between neighbours, and is not drawn where bars are missing. */
static void check_spread(void)
{
    const double values[] = {0, 4, NAN, 2, 6};
    static const int at[] = {0, 1, 2, 3, 6};
    struct history_bar bars[5];
    struct time_axis axis;
    double line[28];

    for (int i = 0; i < 5; i++)
        bars[i] = (struct history_bar){.open_ns = day + at[i] * 60 * second};
    CHECK(tui_axis_init(&axis, bars, 5, 60 * second, 14, false));
    tui_axis_spread(&axis, values, line, 28); /* four points a bar, its own the third */
    for (int i = 0; i < 28; i++)
        if (i >= 2 && i <= 6)
            CHECK_NEAR(line[i], i - 2, 1e-12);
        else if (i == 14 || i == 26)
            CHECK_NEAR(line[i], i == 14 ? 2 : 6, 0);
        else
            CHECK(isnan(line[i]));
}

static bool multiple(double price, double step)
{
    return fabs(price / step - round(price / step)) <= 1e-6 + 1e-12 * price / step;
}

/* Are the ticks multiples of 1, 2, 2.5 or 5 × 10^k, the closest of them at most four of that apart? Few rows
 * have room for few. */
static bool round_steps(const struct price_tick *ticks, int n)
{
    static const double digits[] = {1, 2, 2.5, 5};
    double smallest = DBL_MAX;

    for (int k = 1; k < n; k++)
        smallest = fmin(smallest, ticks[k].price - ticks[k - 1].price);
    for (int i = 0; i < 8 && n > 1; i++) { /* of this power of ten and the one before */
        double step = digits[i % 4] * pow(10, floor(log10(smallest) + 1e-9) - i / 4);
        bool all = step < smallest * 1.000001 && step > smallest / 4.000001;
        for (int k = 0; k < n && all; k++)
            all = multiple(ticks[k].price, step);
        if (all)
            return true;
    }
    return n < 2;
}

/* Are they 1, 2 or 5 × 10^k? */
static bool decade_digits(const struct price_tick *ticks, int n)
{
    for (int k = 0; k < n; k++) {
        double digit = ticks[k].price / pow(10, floor(log10(ticks[k].price) + 1e-9));
        if (fabs(digit - 1) > 1e-6 && fabs(digit - 2) > 1e-6 && fabs(digit - 5) > 1e-6)
            return false;
    }
    return true;
}

static void check_prices(void)
{
    struct price_tick ticks[AXIS_TICKS_MAX];
    struct price_axis axis;
    int decades = 0, few = 0;

    for (int i = 0; i < 20000; i++) {
        double low = pow(10, draw(9000) / 1000.0 - 4), range = low * pow(10, draw(5000) / 1000.0 - 3);
        int rows = 1 + draw(60), taken = draw(2) ? draw(rows) : -1, decimals = draw(13);
        bool log_scale = draw(2);
        CHECK(tui_axis_price_init(&axis, low, low + range, rows, log_scale));
        int n = tui_axis_prices(&axis, taken, decimals, ticks);
        for (int k = 0; k < n; k++) {
            double share = log_scale ? log(ticks[k].price / low) / log((low + range) / low)
                                     : (ticks[k].price - low) / range;
            CHECK(fabs((rows - 1 - ticks[k].row) + 0.25 - share * (rows - 0.5)) <= 0.76);
            CHECK(ticks[k].row != taken && ticks[k].row >= 0 && ticks[k].row < rows);
            CHECK(k == 0 || ticks[k].row < ticks[k - 1].row);
            CHECK(multiple(ticks[k].price, pow(10, -decimals))); /* no digit that is not shown */
        }
        bool decade = log_scale && range > 9 * low && decade_digits(ticks, n);
        decades += decade && n > 1;
        CHECK(decade || round_steps(ticks, n));
        double finest = pow(10, -decimals);
        few += range < 10 * finest;
        if (rows >= 10 && range >= 10 * finest)
            CHECK(n >= 4);
    }
    CHECK(decades > 300 && few > 1000);
    CHECK(tui_axis_price_init(&axis, 5, 5, 10, false)); /* flat */
    CHECK(axis.low < 5 && axis.high > 5);
    CHECK(!tui_axis_price_init(&axis, NAN, 5, 10, false));
    CHECK(!tui_axis_price_init(&axis, 6, 5, 10, false));
    CHECK(tui_axis_price_init(&axis, -1, 5, 10, true) && !axis.log);
    CHECK(tui_axis_price_init(&axis, 100, 103, 20, false));
    CHECK_INT(tui_axis_prices(&axis, -1, 0, ticks), 4); /* 100, 101, 102, 103 and nothing between them */
    CHECK_INT(tui_axis_row(&axis, 103), 0);
    CHECK_INT(tui_axis_row(&axis, 100), 19);
    CHECK_INT(tui_axis_row(&axis, 103.1), -1);
    CHECK(tui_axis_price_init(&axis, 1, 1000, 40, true));
    CHECK_INT(tui_axis_row(&axis, 10), 39 - (int)lround(79 / 3.0) / 2);
}

int main(void)
{
    random_state = random_seeded("tui/axis", 20240808);
    in_zone("UTC");
    check_bars();
    check_zones();
    check_summer_time();
    check_few();
    check_sessions();
    check_spread();
    check_prices();
    return check_done("tui/axis");
}

#include "tui/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/format.h"
#include "tui/chart.h"

enum {
    TICKS_WANTED = 4,
    COLUMNS_A_TICK = 20, /* more ticks where the chart is wider than four of these */
    ROWS_A_TICK = 4,
    ROWS_FOR_ALL = 6, /* fewer have half as many ticks as rows */
};

static const int64_t second_ns = 1000000000, day_s = 86400,
                     monday_s = 4 * 86400; /* the first one, 1970-01-05 */

/* Widths of the time axis' ticks: seconds, else months. */
static const struct step {
    int32_t seconds, months;
} steps[] = {
    {0, 120},    {0, 60},     {0, 24},    {0, 12},    {0, 6},     {0, 3},     {0, 1},
    {604800, 0}, {172800, 0}, {86400, 0}, {43200, 0}, {28800, 0}, {21600, 0}, {14400, 0},
    {10800, 0},  {7200, 0},   {3600, 0},  {1800, 0},  {900, 0},   {600, 0},   {300, 0},
    {120, 0},    {60, 0},     {30, 0},    {15, 0},    {10, 0},    {5, 0},     {1, 0},
};

static int64_t gap_ns(const struct time_axis *axis, int i)
{
    return axis->bars[i + 1].open_ns - axis->bars[i].open_ns - axis->interval_ns;
}

bool tui_axis_closed(const struct time_axis *axis, int i)
{
    if (!axis->sessions || i < 0 || i + 1 >= axis->n)
        return false;
    int64_t gap = gap_ns(axis, i), hour_ns = 3600 * second_ns;
    if (axis->interval_ns >= day_s * second_ns)
        return gap > 0 && gap <= 4 * day_s * second_ns;
    return gap >= 4 * hour_ns;
}

bool tui_axis_init(struct time_axis *ret, const struct history_bar *bars, int n, int64_t interval_ns,
                   int columns, bool sessions)
{
    int64_t open_ns = interval_ns; /* in all */
    int closed = 0;

    if (n < 1 || n > HISTORY_BARS_MAX || columns < 1 || interval_ns < 1)
        return false;
    ret->bars = bars;
    ret->n = n;
    ret->columns = columns;
    ret->interval_ns = interval_ns;
    ret->sessions = sessions;
    ret->forming = false;
    for (int i = 0; i + 1 < n; i++) {
        bool is = tui_axis_closed(ret, i);
        open_ns += interval_ns + (is ? 0 : gap_ns(ret, i));
        closed += is;
    }
    ret->closed_ns = closed < columns / 2 ? open_ns / (columns - closed) : interval_ns;
    ret->place_ns[0] = 0;
    for (int i = 0; i + 1 < n; i++)
        ret->place_ns[i + 1] =
            ret->place_ns[i] + interval_ns + (tui_axis_closed(ret, i) ? ret->closed_ns : gap_ns(ret, i));
    return true;
}

static int64_t span_ns(const struct time_axis *axis)
{
    return axis->place_ns[axis->n - 1] + axis->interval_ns;
}

/* The last bar that opens then or before; -1: none does. */
static int before(const struct time_axis *axis, int64_t ts_ns)
{
    int low = 0, high = axis->n;

    while (low < high) {
        int at = (low + high) / 2;
        if (axis->bars[at].open_ns <= ts_ns)
            low = at + 1;
        else
            high = at;
    }
    return low - 1;
}

/* The moment on the axis, from its left edge. */
static int64_t place(const struct time_axis *axis, int64_t ts_ns)
{
    int bar = before(axis, ts_ns);

    if (bar < 0)
        return ts_ns - axis->bars[0].open_ns;
    int64_t since = ts_ns - axis->bars[bar].open_ns;
    if (tui_axis_closed(axis, bar) && since > axis->interval_ns)
        since = axis->interval_ns + axis->closed_ns / 2;
    return axis->place_ns[bar] + since;
}

/* The point of a place, of `points` over the axis. */
static int point(const struct time_axis *axis, int64_t place_ns, int points)
{
    double share = (double)place_ns / (double)span_ns(axis);

    return (int)floor(fmax(-1e6, fmin(1e6, share * points)));
}

static int middle(const struct time_axis *axis, int i, int points)
{
    return point(axis, axis->place_ns[i] + axis->interval_ns / 2, points);
}

int tui_axis_column(const struct time_axis *axis, int i)
{
    return middle(axis, i, axis->columns);
}

int tui_axis_closed_column(const struct time_axis *axis, int i)
{
    return point(axis, axis->place_ns[i] + axis->interval_ns + axis->closed_ns / 2, axis->columns);
}

static int edge(const struct time_axis *axis, int64_t place_ns)
{
    return (int)lround((double)place_ns / (double)span_ns(axis) * axis->columns);
}

void tui_axis_cells(const struct time_axis *axis, int i, int *ret_first, int *ret_last)
{
    *ret_first = edge(axis, axis->place_ns[i]);
    *ret_last = edge(axis, axis->place_ns[i] + axis->interval_ns) - 1;
}

int tui_axis_slot(const struct time_axis *axis)
{
    return (int)((double)axis->interval_ns / (double)span_ns(axis) * axis->columns);
}

int tui_axis_bar_at(const struct time_axis *axis, int64_t ts_ns)
{
    int at = before(axis, ts_ns);

    return at >= 0 && ts_ns - axis->bars[at].open_ns < axis->interval_ns ? at : -1;
}

int tui_axis_column_at(const struct time_axis *axis, int64_t ts_ns)
{
    int bar = tui_axis_bar_at(axis, ts_ns);

    return bar >= 0 ? tui_axis_column(axis, bar) : point(axis, place(axis, ts_ns), axis->columns);
}

void tui_axis_spread(const struct time_axis *axis, const double *values, double *ret, int n)
{
    for (int i = 0; i < n; i++)
        ret[i] = NAN;
    for (int i = 0; i < axis->n; i++) {
        int at = middle(axis, i, n);
        if (!isfinite(values[i]) || at < 0 || at >= n)
            continue;
        ret[at] = values[i];
        if (i == 0 || !isfinite(values[i - 1]) ||
            axis->bars[i].open_ns - axis->bars[i - 1].open_ns > axis->interval_ns)
            continue;
        int from = middle(axis, i - 1, n);
        for (int k = from + 1; k < at; k++)
            ret[k] = values[i - 1] + (values[i] - values[i - 1]) * (k - from) / (at - from);
    }
}

/* Ticks are round on the clock of the zone that times are shown in: what it shows at a moment, both in
 * seconds since 1970, and the moment when it shows that. */
static int64_t shown_s(int64_t s)
{
    return s + cli_format_utc_offset_s(s * second_ns);
}

static int64_t moment_s(int64_t shown)
{
    int64_t s =
        shown - cli_format_utc_offset_s(shown * second_ns); /* about: the zone may change in between */

    return shown - cli_format_utc_offset_s(s * second_ns);
}

/* The first tick of the step at or after what the clock shows; the one after a tick. */
static int64_t first_tick(const struct step *step, int64_t from_s)
{
    if (step->seconds) {
        int64_t shift = step->seconds > 2 * day_s ? monday_s : 0;
        int64_t n = (from_s - shift) / step->seconds * step->seconds + shift;
        return n < from_s ? n + step->seconds : n;
    }
    time_t at = (time_t)from_s;
    struct tm tm;
    gmtime_r(&at, &tm);
    int months = tm.tm_year * 12 + tm.tm_mon;
    months = months / step->months * step->months;
    struct tm start = {.tm_year = months / 12, .tm_mon = months % 12, .tm_mday = 1};
    int64_t n = timegm(&start);
    if (n >= from_s)
        return n;
    start = (struct tm){.tm_year = months / 12, .tm_mon = months % 12 + step->months, .tm_mday = 1};
    return timegm(&start);
}

static int64_t next_tick(const struct step *step, int64_t s)
{
    return step->seconds ? s + step->seconds : first_tick(step, s + 1);
}

/* A part of "2024-08-08 22:30:00". */
static void label(char text[static AXIS_TEXT_MAX], const struct step *step, int64_t s, bool dated)
{
    bool midnight = shown_s(s) % day_s == 0, fine = step->seconds > 0 && step->seconds < 60;
    char whole[FORMAT_MAX];
    int from = 11, to = fine ? 19 : 16;

    if (step->months) {
        from = 0;
        to = step->months >= 12 ? 4 : 7;
    } else if (step->seconds >= day_s || (midnight && !dated)) {
        from = dated ? 0 : 5;
        to = 10;
    } else if (dated && !fine) {
        from = 5;
    }
    cli_format_time(whole, s * second_ns);
    snprintf(text, AXIS_TEXT_MAX, "%.*s", to - from, whole + from);
}

static int label_end(const struct time_tick *tick)
{
    return tick->column + 1 + (int)strlen(tick->text);
}

/* False for one in closed hours, except the beginning of a day, month or year whose first bar is the next. */
static bool tick_column(const struct time_axis *axis, const struct step *step, int64_t shown, int *ret)
{
    int64_t ts_ns = moment_s(shown) * second_ns;
    int last = before(axis, ts_ns);
    const struct step day = {(int32_t)day_s, 0}, *whole = step->months ? step : &day;

    *ret = tui_axis_column_at(axis, ts_ns);
    if (tui_axis_bar_at(axis, ts_ns) >= 0 || !tui_axis_closed(axis, last))
        return true;
    if (shown % day_s != 0 || moment_s(next_tick(whole, shown)) * second_ns <= axis->bars[last + 1].open_ns)
        return false;
    *ret = tui_axis_column(axis, last + 1);
    return true;
}

/* The ticks of one step, those that have room; 0 for a step that bars do not have or that is far too fine. */
static int ticks_of(const struct time_axis *axis, const struct step *step, int width,
                    struct time_tick ret[static AXIS_TICKS_MAX])
{
    int64_t step_ns = (step->seconds ? step->seconds : step->months * 28 * day_s) * second_ns;
    int64_t from_ns = axis->bars[0].open_ns, to_ns = axis->bars[axis->n - 1].open_ns + axis->interval_ns;
    int n = 0;

    if (step_ns < axis->interval_ns || (to_ns - from_ns) / step_ns > axis->columns ||
        (step->seconds && step->seconds < day_s && step_ns % axis->interval_ns != 0))
        return 0;
    int64_t shown = first_tick(step, shown_s(from_ns / second_ns + (from_ns % second_ns > 0)));
    for (int64_t s; (s = moment_s(shown)) * second_ns < to_ns && n < AXIS_TICKS_MAX;
         shown = next_tick(step, shown)) {
        struct time_tick *tick = &ret[n];
        tick->ts_ns = s * second_ns;
        if (s * second_ns < from_ns || !tick_column(axis, step, shown, &tick->column))
            continue;
        label(tick->text, step, s, false);
        if (label_end(tick) <= width && (n == 0 || tick->column > label_end(&ret[n - 1])))
            n++;
    }
    return n;
}

/* The first label says the date where it has room, also that of the second where labels remain enough. */
static int dated(const struct step *step, int width, struct time_tick *ticks, int n)
{
    struct time_tick whole = ticks[0];
    int next = 1;

    label(whole.text, step, whole.ts_ns / second_ns, true);
    if (n > TICKS_WANTED && ticks[1].column <= label_end(&whole))
        next = 2;
    if (label_end(&whole) > width || (next < n && ticks[next].column <= label_end(&whole)))
        return n;
    ticks[0] = whole;
    if (next == 1)
        return n;
    memmove(ticks + 1, ticks + 2, (size_t)(n - 2) * sizeof(*ticks));
    return n - 1;
}

int tui_axis_times(const struct time_axis *axis, int width, struct time_tick ret[static AXIS_TICKS_MAX])
{
    int wanted = axis->columns / COLUMNS_A_TICK, most = 0;
    const struct step *best = NULL;

    wanted = wanted > TICKS_WANTED ? wanted : TICKS_WANTED;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && most < wanted; i++) {
        int n = ticks_of(axis, &steps[i], width, ret);
        if (n > most) {
            most = n;
            best = &steps[i];
        }
    }
    if (!best)
        return 0;
    most = ticks_of(axis, best, width, ret);
    return dated(best, width, ret, most);
}

bool tui_axis_price_init(struct price_axis *ret, double low, double high, int rows, bool log)
{
    if (!isfinite(low) || !isfinite(high) || low > high || rows < 1)
        return false;
    tui_chart_range((const double[]){low, high}, 2, &low, &high);
    *ret = (struct price_axis){low, high, rows, log && low > 0};
    return true;
}

int tui_axis_level(const struct price_axis *axis, double price, int levels)
{
    if (!(price >= axis->low && price <= axis->high))
        return -1;
    double share = axis->log ? log(price / axis->low) / log(axis->high / axis->low)
                             : (price - axis->low) / (axis->high - axis->low);
    return (int)lround(share * (levels - 1));
}

int tui_axis_row(const struct price_axis *axis, double price)
{
    int level = tui_axis_level(axis, price, 2 * axis->rows);

    return level < 0 ? -1 : axis->rows - 1 - level / 2;
}

/* Adds the price where its row is free, the rows going up. */
static int add_price(const struct price_axis *axis, int taken, double price, struct price_tick *ret, int n)
{
    int row = tui_axis_row(axis, price);

    if (row < 0 || row == taken || n == AXIS_TICKS_MAX || (n > 0 && ret[n - 1].row == row))
        return n;
    ret[n] = (struct price_tick){price, row};
    return n + 1;
}

static int prices_of(const struct price_axis *axis, int taken, double step, struct price_tick *ret)
{
    double from = ceil(axis->low / step - 1e-9), to = floor(axis->high / step + 1e-9);
    int n = 0;

    for (double i = from; i <= to; i++)
        n = add_price(axis, taken, i * step, ret, n);
    return n;
}

/* Of the decades, with the first `k` of these digits. */
static int decades_of(const struct price_axis *axis, int taken, int k, int decimals, struct price_tick *ret)
{
    static const double digits[][3] = {{1}, {1, 5}, {1, 2, 5}};
    int n = 0, first = (int)floor(log10(axis->low));

    for (int e = first < -decimals ? -decimals : first; e <= (int)floor(log10(axis->high)); e++)
        for (int i = 0; i < k; i++)
            n = add_price(axis, taken, digits[k - 1][i] * pow(10, e), ret, n);
    return n;
}

int tui_axis_prices(const struct price_axis *axis, int taken, int decimals,
                    struct price_tick ret[static AXIS_TICKS_MAX])
{
    static const double digits[] = {5, 2.5, 2, 1};
    int wanted = axis->rows / ROWS_A_TICK, most = 0;
    double best = 0;

    wanted = wanted > TICKS_WANTED ? wanted : axis->rows < ROWS_FOR_ALL ? axis->rows / 2 : TICKS_WANTED;
    if (axis->log && axis->high > 10 * axis->low)
        for (int k = 1; k <= 3; k++) {
            int n = decades_of(axis, taken, k, decimals, ret);
            if (n >= wanted)
                return n;
        }
    int exponent = (int)floor(log10(axis->high - axis->low));
    for (int e = exponent; e >= -decimals && e > exponent - 4 && most < wanted; e--)
        for (int i = 0; i < 4 && most < wanted; i++) {
            if (e == -decimals && digits[i] == 2.5)
                continue;
            double step = digits[i] * pow(10, e);
            if ((axis->high - axis->low) / step > 8.0 * axis->rows)
                break;
            int n = prices_of(axis, taken, step, ret);
            if (n > most) {
                most = n;
                best = step;
            }
        }
    return best > 0 ? prices_of(axis, taken, best, ret) : 0;
}

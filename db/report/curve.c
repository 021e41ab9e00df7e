/* A curve of equity with money that comes and goes: time-weighted returns. Between two points equity gains (E
 * - F) / E₋₁ - 1, where F is what was put in after the point before, up to this one. There is a point at
 * every movement of money, so that F never is in the middle of a gain. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "db/report/internal.h"
#include "exchange/clock.h"

enum { DAY_S = 86400 };

static int64_t day_of(const struct report_curve *curve, int64_t ns)
{
    int64_t s = clock_whole_s(ns);
    return (s + (curve->zone ? zone_offset(curve->zone, s) : 0)) / DAY_S;
}

void db_report_curve_begin(struct report_curve *curve, const struct db_equity_point *before)
{
    struct db_report_account *into = curve->into;
    curve->index = curve->peak = 1;
    curve->every = 1;
    into->created = !before;
    into->opening = into->closing = into->cash = into->peak = into->pnl = DB_REPORT_UNKNOWN;
    into->total_return = into->max_drawdown = into->drawdown = into->exposure = NAN;
    if (!before)
        return;
    curve->start_ns = into->from_ns;
    curve->last_ns = into->opening_ns = into->closing_ns = before->ts_ns;
    curve->last = before->equity;
    curve->day_equity = before->day_equity;
    curve->holds = before->equity != before->cash;
    into->opening = into->closing = before->equity;
    into->cash = before->cash;
    into->peak = before->peak;
    while (curve->at < curve->n_flows && curve->flows[curve->at].ts_ns <= before->ts_ns)
        curve->at++;
}

/* ---- rows ---- */

static int push_hour(struct report_curve *curve)
{
    if (curve->n_hours == curve->cap_hours) {
        size_t cap = curve->cap_hours ? 2 * curve->cap_hours : 64;
        double *hours = reallocarray(curve->hours, cap, sizeof *hours);
        if (!hours)
            return -ENOMEM;
        curve->hours = hours;
        curve->cap_hours = cap;
    }
    curve->hours[curve->n_hours++] = 0;
    return 0;
}

/* The days up to that one, each with the equity of the one before. */
static int reach_day(struct report_curve *curve, int64_t day)
{
    struct db_report_account *into = curve->into;
    int64_t next = into->n_days ? into->days[into->n_days - 1].day + 1 : day_of(curve, curve->start_ns);
    for (; next <= day; next++) {
        if (into->n_days == curve->cap_days) {
            size_t cap = curve->cap_days ? 2 * curve->cap_days : 32;
            struct db_report_day *days = reallocarray(into->days, cap, sizeof *days);
            if (!days)
                return -ENOMEM;
            into->days = days;
            curve->cap_days = cap;
        }
        into->days[into->n_days++] = (struct db_report_day){
            .day = next, .closing = curve->last, .pnl = DB_REPORT_UNKNOWN, .total_return = NAN};
    }
    return 0;
}

/* Of so many points every second is removed once there is no more room. */
static void halve(struct db_report_account *into)
{
    size_t kept = 0;
    for (size_t i = 0; i < into->n_chart; i += 2, kept++) {
        into->chart_ns[kept] = into->chart_ns[i];
        into->chart_equity[kept] = into->chart_equity[i];
        into->chart_drawdown[kept] = into->chart_drawdown[i];
        into->chart_exposure[kept] = into->chart_exposure[i];
    }
    into->n_chart = kept;
}

static void draw_at(struct report_curve *curve, size_t at, const struct db_equity_point *point)
{
    struct db_report_account *into = curve->into;
    into->chart_ns[at] = point->ts_ns;
    into->chart_equity[at] = decimal_to_double(point->equity, into->account.currency_scale);
    into->chart_drawdown[at] = 100 * (curve->index / curve->peak - 1);
    into->chart_exposure[at] =
        point->equity > 0 ? 100 * (double)(point->equity - point->cash) / (double)point->equity : NAN;
}

/* The newest point is always there: the next one takes its place, unless it is one of those that are kept. */
static int draw(struct report_curve *curve, const struct db_equity_point *point)
{
    struct db_report_account *into = curve->into;
    if (!into->chart_ns) {
        into->chart_ns = calloc(DB_REPORT_POINTS_MAX, sizeof *into->chart_ns);
        into->chart_equity = calloc(DB_REPORT_POINTS_MAX, sizeof *into->chart_equity);
        into->chart_drawdown = calloc(DB_REPORT_POINTS_MAX, sizeof *into->chart_drawdown);
        into->chart_exposure = calloc(DB_REPORT_POINTS_MAX, sizeof *into->chart_exposure);
        if (!into->chart_ns || !into->chart_equity || !into->chart_drawdown || !into->chart_exposure)
            return -ENOMEM;
    }
    const bool kept = curve->seen++ % curve->every == 0;
    if (!curve->newest_kept && into->n_chart > 0)
        into->n_chart--;
    if (into->n_chart == DB_REPORT_POINTS_MAX) {
        halve(into);
        curve->every *= 2;
    }
    curve->newest_kept = kept;
    draw_at(curve, into->n_chart++, point);
    return 0;
}

/* ---- points ---- */

/* What came and went since the point before, and was equity reset? */
struct moved {
    int128_t flow;
    bool reset;
};

static void count_flow(struct db_report_account *into, const struct report_flow *flow)
{
    into->flows++;
    if (flow->kind == LEDGER_TRANSFER)
        into->transfers += flow->amount;
    else if (flow->amount < 0)
        into->withdrawals += flow->amount;
    else
        into->deposits += flow->amount;
}

/* A reset writes off and deposits at one time: what is deposited with it is no deposit. */
static struct moved take_flows(struct report_curve *curve, int64_t until_ns)
{
    struct moved moved = {0};
    int64_t reset_ns = INT64_MIN;
    for (; curve->at < curve->n_flows && curve->flows[curve->at].ts_ns <= until_ns; curve->at++) {
        const struct report_flow *flow = &curve->flows[curve->at];
        if (flow->kind == LEDGER_RESET) {
            curve->into->resets += flow->ts_ns != reset_ns;
            reset_ns = flow->ts_ns;
            moved.reset = true;
        } else if (flow->ts_ns != reset_ns) {
            moved.flow += flow->amount;
            count_flow(curve->into, flow);
        }
    }
    return moved;
}

/* The gain as a share; NaN where there was nothing to gain with. */
static double gain_of(struct report_curve *curve, const struct db_equity_point *point,
                      const struct moved *moved)
{
    int128_t before = curve->last_ns ? curve->last : moved->flow;
    int128_t after = curve->last_ns ? point->equity - moved->flow : point->equity;
    if (moved->reset) {
        curve->into->reset += after - before;
        return 0;
    }
    return before > 0 ? (double)(after - before) / (double)before : NAN;
}

/* A record that was rebuilt from a later state has no ledger row of what was there first. */
static void start_here(struct report_curve *curve, const struct db_equity_point *point)
{
    curve->last = point->equity;
    curve->last_ns = curve->into->opening_ns = point->ts_ns;
    curve->into->opening = point->equity;
}

static int begin_rows(struct report_curve *curve, int64_t ts_ns)
{
    if (!curve->last_ns)
        curve->start_ns = ts_ns;
    if (curve->n_hours > 0)
        return 0;
    curve->first_hour = curve->start_ns / REPORT_HOUR_NS;
    return push_hour(curve);
}

/* The rows up to the point's hour. Those without a point have a return of 0, and what was held before. */
static int reach_hour(struct report_curve *curve, int64_t ts_ns)
{
    int64_t row = ts_ns / REPORT_HOUR_NS - curve->first_hour;
    int r = 0;
    while (r == 0 && (int64_t)curve->n_hours <= row) {
        curve->held += curve->holds;
        r = push_hour(curve);
    }
    return r;
}

static void mark(struct report_curve *curve, const struct db_equity_point *point, double gain)
{
    struct db_report_account *into = curve->into;
    struct db_report_day *day = &into->days[into->n_days - 1];
    double *hour = &curve->hours[curve->n_hours - 1];
    into->unmeasured += isnan(gain);
    if (!isnan(gain)) {
        *hour = (1 + *hour) * (1 + gain) - 1;
        day->total_return = (1 + (isnan(day->total_return) ? 0 : day->total_return)) * (1 + gain) - 1;
        curve->index *= 1 + gain;
    }
    curve->peak = curve->index > curve->peak ? curve->index : curve->peak;
    double drawdown = curve->index / curve->peak - 1;
    into->max_drawdown =
        isnan(into->max_drawdown) || drawdown < into->max_drawdown ? drawdown : into->max_drawdown;
    into->drawdown = point->peak > 0 ? (double)point->equity / (double)point->peak - 1 : (double)NAN;
    into->total_return = curve->index - 1;
}

/* A fill at a closed bar's prices has the bar's time, and so has the point after it: it may hold what came in
 * later. Such a point's day_equity is not that of the points around it. The state that it shows is seen again
 * at the next one. */
static bool is_early(const struct report_curve *curve, const struct db_equity_point *point)
{
    const bool same_day = point->ts_ns / REPORT_DAY_NS == curve->last_ns / REPORT_DAY_NS;
    const bool moved = curve->at < curve->n_flows && curve->flows[curve->at].ts_ns <= point->ts_ns;
    if (!curve->last_ns)
        return !moved && !curve->based; /* of before the account's first deposit */
    return same_day && !moved && point->day_equity != curve->day_equity;
}

int db_report_curve_add(struct report_curve *curve, const struct db_equity_point *point)
{
    struct db_report_account *into = curve->into;
    if (is_early(curve, point))
        return 0;
    int r = begin_rows(curve, point->ts_ns);
    r = r < 0 ? r : reach_hour(curve, point->ts_ns);
    r = r < 0 ? r : reach_day(curve, day_of(curve, point->ts_ns));
    if (r < 0)
        return r;
    struct db_report_day *day = &into->days[into->n_days - 1];
    const int128_t reset_before = into->reset;
    const struct moved moved = take_flows(curve, point->ts_ns);
    if (!curve->last_ns && moved.flow == 0 && !moved.reset)
        start_here(curve, point);
    const int128_t before = curve->last_ns ? curve->last : 0;
    const double gain = gain_of(curve, point, &moved);
    const int128_t flow = moved.flow + into->reset - reset_before;
    day->flow += flow;
    day->pnl = (day->pnl == DB_REPORT_UNKNOWN ? 0 : day->pnl) + point->equity - before - flow;
    day->closing = point->equity;
    day->points++;
    mark(curve, point, gain);
    into->pnl = (into->pnl == DB_REPORT_UNKNOWN ? 0 : into->pnl) + point->equity - before - flow;
    into->points++;
    into->closing = point->equity;
    into->closing_ns = point->ts_ns;
    into->cash = point->cash;
    into->peak = point->peak;
    curve->last = point->equity;
    curve->last_ns = point->ts_ns;
    curve->day_equity = point->day_equity;
    curve->holds = point->equity != point->cash;
    return draw(curve, point);
}

int db_report_curve_end(struct report_curve *curve)
{
    struct db_report_account *into = curve->into;
    struct metrics *m = &into->metrics;
    const struct metrics_series series = metrics_returns(curve->hours, curve->n_hours);
    metrics_compute(&series, metrics_periods_per_year(REPORT_HOUR_NS), m);
    into->hours = curve->n_hours;
    if (curve->n_hours > 0)
        into->exposure = (double)(curve->held + curve->holds) / (double)curve->n_hours;
    if (curve->n_hours < REPORT_HOURS_LEAST)
        m->cagr = m->volatility = m->downside = m->sharpe = m->sortino = m->calmar = m->omega = m->skew =
            m->kurtosis = NAN;
    return curve->last_ns ? reach_day(curve, day_of(curve, into->to_ns - 1)) : 0;
}

void db_report_curve_finish(struct report_curve *curve)
{
    free(curve->hours);
    curve->hours = NULL;
}

#include "daemon/alert_figures.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/arena/arena.h"
#include "daemon/arena/days.h"
#include "daemon/feed/feeds.h"
#include "daemon/notify/notify.h"
#include "exchange/decimal.h"
#include "strategy/metrics.h"
#include "strategy/metrics/deflate.h"

enum { LOOKED_AT = 16 }; /* accounts whose positions are looked at in a turn: each has one a symbol */

/* What an account holds, and its days, as last looked at. */
struct alert_held {
    bool known;
    double largest; /* NaN: not known */
    int largest_symbol;
    int64_t trade_ns;
    double sharpe_p, sharpe;
    int days;
};

void daemon_alert_figures_finish(struct alert_figures *figures)
{
    free(figures->accounts);
    free(figures->held);
    *figures = (struct alert_figures){0};
}

/* Accounts are only added. */
static int make_room(struct alert_figures *figures, int n)
{
    if (n <= figures->n_accounts)
        return 0;
    struct alert_account *accounts = reallocarray(figures->accounts, (size_t)n, sizeof *accounts);
    if (accounts)
        figures->accounts = accounts;
    struct alert_held *held = reallocarray(figures->held, (size_t)n, sizeof *held);
    if (held)
        figures->held = held;
    if (!accounts || !held)
        return -ENOMEM;
    size_t more = (size_t)(n - figures->n_accounts);
    memset(&accounts[figures->n_accounts], 0, more * sizeof *accounts);
    memset(&held[figures->n_accounts], 0, more * sizeof *held);
    figures->n_accounts = n;
    return 0;
}

/* ---- positions and days ---- */

static double value_of(const struct engine *engine, int account, int s, const struct position *position)
{
    const struct symbol *symbol = engine_symbol(engine, s);
    int64_t price = engine_price(engine, account, s);
    return price > 0 ? fabs(decimal_to_double(position->qty, symbol->qty_scale)) *
                           decimal_to_double(price, symbol->price_scale)
                     : decimal_to_double(position->cost, symbol->quote_scale);
}

static void look_at_positions(const struct engine *engine, int a, struct alert_held *held)
{
    const struct account *account = engine_account(engine, a);
    held->largest = 0;
    held->largest_symbol = -1;
    held->trade_ns = 0;
    for (int s = 0; s < engine_symbols(engine); s++) {
        const struct position *position = &account->positions[s];
        if (position->updated_ns > held->trade_ns)
            held->trade_ns = position->updated_ns;
        if (position->qty == 0 || strcmp(engine_symbol(engine, s)->quote, account->currency) != 0)
            continue;
        double value = value_of(engine, a, s, position);
        if (value > held->largest) {
            held->largest = value;
            held->largest_symbol = s;
        }
    }
}

/* The probability that days with these returns are of an account whose Sharpe ratio (annualised) is
 * `expected` or more. NaN: too few days. */
static double probability(const struct arena_days *days, double expected, struct alert_held *held)
{
    double *returns = calloc(days->n + 1, sizeof *returns), p = NAN;
    double year = sqrt(metrics_periods_per_year(ARENA_DAY_NS));
    struct deflated of;
    size_t n = 0;
    for (size_t i = 0; returns && i + 1 < days->n; i++) { /* the newest has not ended */
        double gain = arena_days_return(days, days->first + (int64_t)i);
        if (isfinite(gain))
            returns[n++] = gain;
    }
    if (n >= ALERT_SHARPE_DAYS_MIN && overfit_deflated_sharpe(returns, n, 1, 0, &of) == 0 &&
        isfinite(of.scale)) {
        p = 0.5 * erfc(-(of.sharpe - expected / year) * of.scale * M_SQRT1_2);
        held->sharpe = of.sharpe * year;
        held->days = (int)n;
    }
    free(returns);
    return p;
}

static void look_at_days(struct daemon *daemon, const char *account, double expected, struct alert_held *held)
{
    held->sharpe_p = NAN;
    if (!(expected > 0))
        return;
    const struct arena_days *days = arena_account_days(daemon->arena, account);
    if (days)
        held->sharpe_p = probability(days, expected, held);
}

/* ---- accounts ---- */

static void read_account(struct alert_figures *figures, struct daemon *daemon, int a,
                         struct alert_rules *rules, int64_t now_ns, const struct alert_sink *sink)
{
    const struct engine *engine = daemon_session_engine(daemon->session);
    const struct account *account = engine_account(engine, a);
    const struct account_spec *spec = engine_account_spec(engine, a);
    const struct alert_held *held = &figures->held[a];
    int scale = account->currency_scale;
    const struct account_seen seen = {
        .name = account->name,
        .equity = decimal_to_double(account->equity, scale),
        .peak = decimal_to_double(account->equity_peak, scale),
        .day_equity = decimal_to_double(account->day_equity, scale),
        .drawdown_limit = account->rules.risk.drawdown,
        .daily_loss_limit = account->rules.risk.daily_loss,
        .refused = account->refused,
        .largest = held->known ? held->largest : NAN,
        .largest_symbol = held->known && held->largest_symbol >= 0
                              ? engine_symbol(engine, held->largest_symbol)->name
                              : NULL,
        .trades = spec->strategy || spec->policy,
        .trade_ns = held->trade_ns,
        .now_ns = daemon_session_now(daemon->session),
        .sharpe_p = held->known ? held->sharpe_p : NAN,
        .sharpe = held->sharpe,
        .backtest_sharpe = daemon_config_backtest_sharpe(&daemon->config, account->name),
        .days = held->days,
    };
    if (account->day_equity > 0 || account->equity != 0) /* it has been valued */
        daemon_alert_read_account(rules, &figures->accounts[a], &seen, now_ns, sink);
}

static void read_accounts(struct alert_figures *figures, struct daemon *daemon, struct alert_rules *rules,
                          int64_t now_ns, const struct alert_sink *sink)
{
    const struct engine *engine = daemon_session_engine(daemon->session);
    int n = engine ? engine_accounts(engine) : 0;
    if (make_room(figures, n) < 0)
        return;
    for (int i = 0; i < n && i < LOOKED_AT; i++) {
        int a = figures->next = (figures->next + 1) % n;
        const char *name = engine_account(engine, a)->name;
        look_at_positions(engine, a, &figures->held[a]);
        look_at_days(daemon, name, daemon_config_backtest_sharpe(&daemon->config, name), &figures->held[a]);
        figures->held[a].known = true;
    }
    for (int a = 0; a < n; a++)
        read_account(figures, daemon, a, rules, now_ns, sink);
}

/* ---- venues' clocks, sinks ---- */

static void read_clocks(struct daemon *daemon, struct alert_rules *rules, int64_t now_ns,
                        const struct alert_sink *sink)
{
    for (size_t v = 0; daemon->config.clock == CLOCK_WALL && v < feeds_count(daemon->feeds); v++) {
        struct feed *feed = feeds_at(daemon->feeds, v);
        struct feed_view view;
        char detail[64];
        feed_view(feed, &view);
        snprintf(detail, sizeof detail, "(%.3f s, the venue's clock less ours)", view.clock_offset_ms / 1000);
        const struct alert_reading reading = {ALERT_CLOCK_OFFSET, feed_venue(feed)->format->name,
                                              fabs(view.clock_offset_ms) / 1000, detail};
        daemon_alert_read(rules, &reading, now_ns, sink);
    }
}

static bool is_viewed(const struct notify_sink_view *views, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(views[i].name, name) == 0)
            return true;
    return false;
}

static void read_sinks(struct daemon *daemon, struct alert_rules *rules, int64_t now_ns,
                       const struct alert_sink *sink)
{
    struct notify_sink_view views[NOTIFY_SINKS_MAX];
    const struct notify_config *config = &daemon->config.notify;
    int n = daemon_notify_view(daemon->notify, views);
    for (int i = 0; i < n; i++) {
        const struct notify_sink_view *view = &views[i];
        char detail[NOTIFY_DETAIL_MAX + 40];
        if (view->failing)
            snprintf(detail, sizeof detail, "(%lld pending): %.150s", (long long)view->pending, view->detail);
        else
            snprintf(detail, sizeof detail, "it accepts again");
        const struct alert_reading reading = {ALERT_SINK_FAILING, view->name,
                                              view->failing ? (double)view->failing_ns * 1e-9 : 0, detail};
        daemon_alert_read(rules, &reading, now_ns, sink);
    }
    for (int i = 0; i < config->n_sinks; i++) /* whose thread is not there yet: it is not over */
        if (!is_viewed(views, n, config->sinks[i].name))
            daemon_alert_read(rules,
                              &(struct alert_reading){ALERT_SINK_FAILING, config->sinks[i].name, NAN, ""},
                              now_ns, sink);
}

void daemon_alert_figures_read(struct alert_figures *figures, struct daemon *daemon,
                               struct alert_rules *rules, int64_t now_ns, const struct alert_sink *sink)
{
    read_accounts(figures, daemon, rules, now_ns, sink);
    read_clocks(daemon, rules, now_ns, sink);
    read_sinks(daemon, rules, now_ns, sink);
}

/* ---- the summary ---- */

/* At its newest point of equity, as a report of the day so far. */
static size_t put_account(const struct engine *engine, int a, char *ret, size_t size)
{
    const struct account *account = engine_account(engine, a);
    int scale = account->currency_scale;
    double equity = decimal_to_double(account->point, scale),
           day = decimal_to_double(engine_day_base(engine, a), scale);
    double lost = account->equity_peak > 0 ? 1 - (double)account->point / (double)account->equity_peak : 0;
    int n = snprintf(ret, size, "%s %.2f %s (%+.2f today, %.1f %% below its highest); ", account->name,
                     equity, account->currency, equity - day, 100 * lost);
    return n > 0 ? (size_t)n : 0;
}

void daemon_alert_summary(const struct daemon *daemon, char *ret, size_t size)
{
    enum { SHOWN = 4 };
    const struct engine *engine = daemon_session_engine(daemon->session);
    double up_h = (double)(uv_now(daemon->loop) - daemon->started_ms) / 3600e3;
    int n = engine ? engine_accounts(engine) : 0;
    size_t at = 0;
    for (int a = 0; a < n && a < SHOWN && at < size; a++)
        at += put_account(engine, a, ret + at, size - at);
    if (n > SHOWN && at < size)
        at += (size_t)snprintf(ret + at, size - at, "%d more accounts; ", n - SHOWN);
    if (at < size)
        snprintf(ret + at, size - at, "%llu fills since the start, %zu alerts open, up %.1f h",
                 (unsigned long long)daemon_session_fills(daemon->session),
                 daemon_session_alerts_open(daemon->session), up_h);
}

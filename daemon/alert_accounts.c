#include "daemon/alert_accounts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)

static void read_figure(struct alert_rules *rules, enum alert_rule_id rule, const char *where, double value,
                        const char *detail, int64_t now_ns, const struct alert_sink *sink)
{
    daemon_alert_read(rules, &(struct alert_reading){rule, where, value, detail}, now_ns, sink);
}

/* ---- refused orders, of the last minute ---- */

static void take_refused(struct alert_account *kept, const uint64_t *refused, int64_t now_ns)
{
    int64_t slice = now_ns / (ALERT_REFUSED_SLICE_S * NS_PER_S), fresh = slice - kept->slice;
    if (!kept->known) {
        memcpy(kept->before, refused, sizeof kept->before);
        fresh = ALERT_REFUSED_SLICES;
    }
    if (fresh > ALERT_REFUSED_SLICES)
        fresh = ALERT_REFUSED_SLICES;
    for (int64_t i = 1; i <= fresh; i++) /* slices that are new begin with what was counted before them */
        memcpy(kept->refused[(slice + ALERT_REFUSED_SLICES - fresh + i) % ALERT_REFUSED_SLICES], kept->before,
               sizeof kept->before);
    memcpy(kept->before, refused, sizeof kept->before);
    kept->slice = slice;
    kept->known = true;
}

/* How many since a minute ago, and the reason of most. */
static uint64_t count_refused(const struct alert_account *kept, const uint64_t *refused,
                              enum order_reason *ret_most)
{
    const uint64_t *then = kept->refused[(kept->slice + 1) % ALERT_REFUSED_SLICES];
    uint64_t sum = 0, most = 0;
    for (int reason = ORDER_OK + 1; reason < ORDER_REASONS; reason++) {
        uint64_t n = refused[reason] >= then[reason] ? refused[reason] - then[reason] : 0;
        sum += n;
        if (n > most)
            *ret_most = (enum order_reason)reason;
        most = n > most ? n : most;
    }
    return sum;
}

static void read_refused(struct alert_rules *rules, struct alert_account *kept,
                         const struct account_seen *seen, int64_t now_ns, const struct alert_sink *sink)
{
    enum order_reason most = ORDER_OK;
    char detail[96] = "within a minute";
    take_refused(kept, seen->refused, now_ns);
    uint64_t n = count_refused(kept, seen->refused, &most);
    if (n > 0)
        snprintf(detail, sizeof detail, "within a minute, most %s", order_reason_name(most));
    read_figure(rules, ALERT_ORDERS_REFUSED, seen->name, (double)n, detail, now_ns, sink);
}

/* ---- losses ---- */

static void read_losses(struct alert_rules *rules, const struct account_seen *seen, int64_t now_ns,
                        const struct alert_sink *sink)
{
    double drawdown = seen->peak > 0 ? fmax(0, (seen->peak - seen->equity) / seen->peak) : NAN;
    double loss = seen->day_equity > 0 ? fmax(0, (seen->day_equity - seen->equity) / seen->day_equity) : NAN;
    char detail[96];
    read_figure(rules, ALERT_DRAWDOWN, seen->name, drawdown, "of the highest equity", now_ns, sink);
    snprintf(detail, sizeof detail, "of it (%.3g %% of %.3g %%)", 100 * drawdown, 100 * seen->drawdown_limit);
    read_figure(rules, ALERT_DRAWDOWN_LIMIT, seen->name,
                seen->drawdown_limit > 0 ? drawdown / seen->drawdown_limit : 0, detail, now_ns, sink);
    snprintf(detail, sizeof detail, "of it (%.3g %% of %.3g %%)", 100 * loss, 100 * seen->daily_loss_limit);
    read_figure(rules, ALERT_DAILY_LOSS, seen->name,
                seen->daily_loss_limit > 0 ? loss / seen->daily_loss_limit : 0, detail, now_ns, sink);
}

/* ---- what it holds and does ---- */

static void read_concentration(struct alert_rules *rules, const struct account_seen *seen, int64_t now_ns,
                               const struct alert_sink *sink)
{
    char detail[96];
    snprintf(detail, sizeof detail, "of the equity in %s",
             seen->largest_symbol ? seen->largest_symbol : "nothing");
    read_figure(rules, ALERT_CONCENTRATION, seen->name, seen->equity > 0 ? seen->largest / seen->equity : NAN,
                detail, now_ns, sink);
}

static void read_trades(struct alert_rules *rules, const struct alert_account *kept,
                        const struct account_seen *seen, int64_t now_ns, const struct alert_sink *sink)
{
    int64_t from_ns = seen->trade_ns > 0 ? seen->trade_ns : kept->since_ns;
    int64_t ns = seen->now_ns > from_ns ? seen->now_ns - from_ns : 0;
    if (seen->trades)
        read_figure(rules, ALERT_NO_TRADES, seen->name, (double)ns / NS_PER_S, NULL, now_ns, sink);
}

static void read_sharpe(struct alert_rules *rules, const struct account_seen *seen, int64_t now_ns,
                        const struct alert_sink *sink)
{
    char detail[128];
    if (!(seen->backtest_sharpe > 0))
        return;
    snprintf(detail, sizeof detail, "probability of its days (%.2f live over %d days, %.2f in the backtest)",
             seen->sharpe, seen->days, seen->backtest_sharpe);
    read_figure(rules, ALERT_SHARPE_LOW, seen->name, seen->sharpe_p, detail, now_ns, sink);
}

void daemon_alert_read_account(struct alert_rules *rules, struct alert_account *kept,
                               const struct account_seen *seen, int64_t now_ns, const struct alert_sink *sink)
{
    if (!kept->known)
        kept->since_ns = seen->now_ns;
    read_refused(rules, kept, seen, now_ns, sink);
    read_losses(rules, seen, now_ns, sink);
    read_concentration(rules, seen, now_ns, sink);
    read_trades(rules, kept, seen, now_ns, sink);
    read_sharpe(rules, seen, now_ns, sink);
}

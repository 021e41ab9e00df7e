/* The figures of the alert rules (alert_rules.h) that watch accounts. Pure: the engine's figures and the time
 * are passed in. */
#ifndef DAEMON_ALERT_ACCOUNTS_H
#define DAEMON_ALERT_ACCOUNTS_H

#include "daemon/alert_subjects.h"
#include "exchange/order.h"

enum { ALERT_REFUSED_SLICES = 12, ALERT_REFUSED_SLICE_S = 5, ALERT_SHARPE_DAYS_MIN = 20 };

/* An account as it is now. */
struct account_seen {
    const char *name;
    double equity, peak, day_equity;         /* of its currency */
    double drawdown_limit, daily_loss_limit; /* shares; 0: none */
    const uint64_t *refused;                 /* [ORDER_REASONS]; those of ORDER_OK were not */
    double largest;                          /* the largest position's value; NaN: not known */
    const char *largest_symbol;
    bool trades;      /* by a strategy or a policy */
    int64_t trade_ns; /* its last fill; 0: none. Of the session's clock, as is … */
    int64_t now_ns;   /* … the time */
    /* Its days against a backtest: the probability that it is as good; NaN: not known. */
    double sharpe_p, sharpe, backtest_sharpe;
    int days;
};

/* What is kept of an account; all zero: nothing yet. */
struct alert_account {
    bool known;
    int64_t since_ns;                                      /* the session's clock at the first look */
    int64_t slice;                                         /* the newest slice's number */
    uint64_t refused[ALERT_REFUSED_SLICES][ORDER_REASONS]; /* at the end of each slice */
    uint64_t before[ORDER_REASONS];                        /* at the last look */
};

/* Reads one account's rules. now_ns as daemon_alert_rules_read(). */
void daemon_alert_read_account(struct alert_rules *rules, struct alert_account *kept,
                               const struct account_seen *seen, int64_t now_ns,
                               const struct alert_sink *sink);

#endif

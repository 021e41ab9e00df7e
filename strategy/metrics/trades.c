#include <math.h>

#include "strategy/metrics.h"

void metrics_trades_add(struct metrics_trades *trades, double profit, int64_t held_ns)
{
    trades->n++;
    if (profit > 0) {
        trades->wins++;
        trades->won += profit;
        trades->losing = 0;
    } else {
        trades->losses++;
        trades->lost += profit;
        if (++trades->losing > trades->longest_losing_run)
            trades->longest_losing_run = trades->losing;
    }
    if (profit > trades->largest_win)
        trades->largest_win = profit;
    if (profit < trades->largest_loss)
        trades->largest_loss = profit;
    trades->held_ns += (double)held_ns;
    double off = profit - trades->mean;
    trades->mean += off / (double)trades->n;
    trades->m2 += off * (profit - trades->mean);
}

/* Means and squares as Chan, Golub and LeVeque (1979) combine them. */
void metrics_trades_merge(struct metrics_trades *to, const struct metrics_trades *more)
{
    const double n = (double)to->n, m = (double)more->n, off = more->mean - to->mean;
    if (more->n == 0)
        return;
    to->m2 += more->m2 + off * off * n * m / (n + m);
    to->mean += off * m / (n + m);
    to->n += more->n;
    to->wins += more->wins;
    to->losses += more->losses;
    to->won += more->won;
    to->lost += more->lost;
    to->held_ns += more->held_ns;
    to->largest_win = fmax(to->largest_win, more->largest_win);
    to->largest_loss = fmin(to->largest_loss, more->largest_loss);
}

struct metrics_trade_ratios metrics_trade_ratios(const struct metrics_trades *trades)
{
    double n = (double)trades->n, average_win = trades->won / (double)trades->wins;
    double average_loss = trades->lost / (double)trades->losses;
    return (struct metrics_trade_ratios){
        .win_rate = (double)trades->wins / n,
        .profit_factor = trades->won / fabs(trades->lost),
        .expectancy = (trades->won + trades->lost) / n,
        .sqn = trades->n < 2 ? NAN : sqrt(n) * trades->mean / sqrt(trades->m2 / (n - 1)),
        .average_win = average_win,
        .average_loss = average_loss,
        .payoff = average_win / fabs(average_loss),
        .average_held_ns = trades->held_ns / n,
    };
}

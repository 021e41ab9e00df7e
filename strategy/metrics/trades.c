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

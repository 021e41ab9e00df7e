#include <math.h>

#include "strategy/policy/ensemble_internal.h"

static float mean_of(int n, struct policy_vote *votes)
{
    double sum = 0;
    for (int m = 0; m < n; m++) {
        sum += (double)votes[m].action;
        votes[m].weight = 1.0 / n;
    }
    return (float)(sum / n);
}

/* 1 to buy, -1 to sell, 0 for nothing. */
static int side_of(float action, double unit, double least)
{
    double qty = (double)action * unit;
    return (qty > least) - (qty < -least);
}

/* The side with the most votes; 0 where that is nothing, or two have as many. */
static int winner_of(int n, const struct policy_vote *votes, double unit, double least, int *ret_votes)
{
    int counts[3] = {0}, side = 0;
    for (int m = 0; m < n; m++)
        counts[1 + side_of(votes[m].action, unit, least)]++;
    if (counts[0] > counts[1] && counts[0] > counts[2])
        side = -1;
    else if (counts[2] > counts[1] && counts[2] > counts[0])
        side = 1;
    *ret_votes = counts[1 + side];
    return side;
}

static float majority_of(int n, struct policy_vote *votes, double unit, double least)
{
    int k, side = winner_of(n, votes, unit, least, &k);
    double sum = 0;
    for (int m = 0; m < n; m++) {
        bool counts = side != 0 && side_of(votes[m].action, unit, least) == side;
        votes[m].weight = counts ? 1.0 / k : 0;
        sum += counts ? (double)votes[m].action : 0;
        if (!isfinite(votes[m].action))
            return votes[m].action;
    }
    return side != 0 ? (float)(sum / k) : 0;
}

static double worth(const struct policy_vote *vote)
{
    return vote->sharpe > 0 ? vote->sharpe : 0; /* NaN, too */
}

static float by_sharpe(int n, struct policy_vote *votes)
{
    double sum = 0, action = 0;
    for (int m = 0; m < n; m++)
        sum += worth(&votes[m]);
    if (!(sum > 0 && isfinite(sum)))
        return mean_of(n, votes);
    for (int m = 0; m < n; m++) {
        votes[m].weight = worth(&votes[m]) / sum;
        action += votes[m].weight * (double)votes[m].action;
    }
    return (float)action;
}

float ensemble_vote(enum ensemble_combine combine, int n, struct policy_vote *votes, double unit,
                    double least)
{
    switch (combine) {
    case ENSEMBLE_MAJORITY:
        return majority_of(n, votes, unit, least);
    case ENSEMBLE_SHARPE:
        return by_sharpe(n, votes);
    default:
        return mean_of(n, votes);
    }
}

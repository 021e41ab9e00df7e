/* What a rule's indicators say of a bar, in bits of lanes: the same whatever the accounts hold. */
#ifndef ENGINE_BACKTEST_SCREEN_SIGNS_H
#define ENGINE_BACKTEST_SCREEN_SIGNS_H

#include "engine/backtest/screen/account.h"

enum screen_rule {
    SCREEN_CROSS,      /* in on the cross upward, out below it */
    SCREEN_CROSS_RSI,  /* the same with a level of the RSI and a stop */
    SCREEN_CROSS_RISK, /* the same, sized by the stop, with a profit */
    SCREEN_TRIPLE,     /* averages, RSI and MACD agree */
    SCREEN_RULES,
};

/* Columns that a rule reads at each bar. The crosses read the RSI at entries only. */
enum screen_role { ROLE_FAST, ROLE_SLOW, ROLE_RSI, ROLE_HIST, SCREEN_ROLES };

/* A role's values in a stretch of bars: one for all lanes, or one each. */
struct screen_view {
    const float *values; /* [bar] or [bar][SCREEN_LANES], from the stretch's first bar on */
    bool all;
};

/* Bars [from, to) of `bars`, at most SCREEN_STRETCH, which the views begin at. */
struct screen_stretch {
    const struct screen_terms *terms;
    const struct screen_bars *bars;
    size_t from, to;
    int block;           /* of block_sum; -1: of none */
    double reference;    /* a close of these bars, in units */
    const float *closes; /* [to - from] less the reference */
    struct screen_view views[SCREEN_ROLES];
};

/* Which of the lanes have all their indicators at a bar. */
SCREEN_RULE unsigned screen_known(const struct screen_group *g, size_t bar, int lane)
{
    unsigned bits = 0;
    if (bar >= g->warm)
        return (1u << LANES_WIDE) - 1;
    for (int k = 0; k < LANES_WIDE; k++)
        bits |= (unsigned)(bar >= g->first[lane + k]) << k;
    return bits;
}

/* Which average is the higher one, in bits. */
struct screen_sides {
    unsigned up, down;
};

/* The reference's mean at a bar, to the bit. */
SCREEN_RULE double screen_mean(const struct screen_bars *bars, size_t i, uint32_t period)
{
    const double *close = bars->real + i + 1 - period;
    double sum = 0;
    for (uint32_t k = 0; k < period; k++)
        sum += close[k];
    return sum / period;
}

/* Simple averages that are equal as floats: the last bit of the doubles decides, as it does exactly. */
SCREEN_APART struct screen_sides screen_ties(const struct screen_bars *bars, size_t i,
                                             const struct screen_group *g, int lane, unsigned bits)
{
    struct screen_sides sides = {0, 0};
    for (; bits != 0; bits &= bits - 1) {
        int k = lanes_first(bits);
        uint32_t fast = bars->periods[g->column[ROLE_FAST][lane + k]];
        uint32_t slow = bars->periods[g->column[ROLE_SLOW][lane + k]];
        if (fast == 0 || slow == 0)
            continue;
        double a = screen_mean(bars, i, fast), b = screen_mean(bars, i, slow);
        sides.up |= (unsigned)(a > b) << k;
        sides.down |= (unsigned)(b > a) << k;
    }
    return sides;
}

/* What is decided by: the condition to enter is met; it certainly is not; that to leave is (the crosses leave
 * while they are below). */
struct screen_conditions {
    unsigned up, down, out;
};

/* Averages, RSI between least and most, and MACD, of the lanes whose indicators are `known`. */
SCREEN_RULE struct screen_conditions screen_agree(struct screen_sides sides, lanes_vector least,
                                                  lanes_vector most, lanes_vector rsi, lanes_vector hist,
                                                  unsigned known)
{
    const lanes_vector zero = lanes_all(0);
    unsigned low = lanes_above(least, rsi), high = lanes_above(rsi, most);
    unsigned falling = lanes_above(zero, hist), rising = lanes_above(hist, zero);
    unsigned agree = sides.up & ~low & ~high & rising & known;
    unsigned out = ((sides.down & low) | (sides.down & falling) | (low & falling)) & known;
    struct screen_conditions sign = {agree, known & ~agree, out};
    return sign;
}

#endif

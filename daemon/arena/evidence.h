/* Has a challenger done better, and is it more than luck? A test that may be looked at every day, for ever.
 *
 * d_1, d_2, … are differences of daily returns, those of 0 left out. Two e-processes are kept, and the
 * lesser counts: it reaches 1 / alpha on any day, ever, with a probability of at most alpha (Ville's
 * inequality) where either of two conditions holds.
 *
 * 1. Each difference is as likely above zero as below it, given all that was before and how large it is (it
 *    is symmetric about 0). With x_i = d_i / sqrt((d_1² + … + d_i²) / i), which is symmetric as well, for
 *    each lambda exp(lambda S - lambda² V / 2), S = x_1 + … + x_n, V = x_1² + … + x_n² is a nonnegative
 *    supermartingale that begins at 1, since cosh(a) <= exp(a² / 2) (de la Peña, "A general class of
 *    exponential inequalities for martingales and ratios", 1999). So is its mean over lambda > 0,
 *    distributed as the absolute value of a normal of deviation T: with A = V + 1 / T² e = 2 / (T sqrt(A))
 *    · exp(S² / (2 A)) · Phi(S / sqrt(A)).
 *
 * 2. Each has a mean of at most 0, given all that was before, however it leans, and none loses more than L
 *    times what the differences before it have been. With y_i = d_i / sqrt((d_1² + … + d_(i-1)²) / (i -
 *    1)), from the sixth one on, the wealth (1 + b y_6) · … · (1 + b y_n) of a bettor who stakes the share
 *    b on each is a nonnegative supermartingale (a larger loss counts as L).
 *
 * Neither holds where good days follow good ones (autocorrelation), and losses that are rarer than there
 * are days cannot be seen: docs/policies.md says how often such challengers are crowned. A wild day widens
 * the measure of all that follow, and so delays. Pure. */
#ifndef DAEMON_ARENA_EVIDENCE_H
#define DAEMON_ARENA_EVIDENCE_H

#include "daemon/arena/days.h"

/* T, in the differences' own standard deviations: it detects a Sharpe ratio of about 6 a year fastest. A
 * smaller T finds smaller edges, later. */
#define ARENA_EVIDENCE_SPREAD 0.3
/* L; b, below 1 / L; and how many differences come first, which are used only for their size. */
#define ARENA_EVIDENCE_LOSS  10.0
#define ARENA_EVIDENCE_BET   0.09
#define ARENA_EVIDENCE_BEGIN 5

struct arena_evidence {
    int days;             /* differences, those of 0 among them */
    int n;                /* that are not 0 */
    double squares;       /* of the differences */
    double sum, variance; /* S, V */
    double wealth;        /* its logarithm */
};

void arena_evidence_add(struct arena_evidence *evidence, double difference);
/* Logarithms of the two; 0 before the first difference. */
double arena_evidence_symmetric(const struct arena_evidence *evidence);
double arena_evidence_bounded(const struct arena_evidence *evidence);
/* The lesser of the two, at most 1e300; 1 before the first difference. */
double arena_evidence_value(const struct arena_evidence *evidence);

/* The evidence of one account's days over another's (NULL: over cash): the days after `after` and before
 * `until` (since 1970) on which both have a return. */
struct arena_evidence arena_evidence_of(const struct arena_days *days, const struct arena_days *against,
                                        int64_t after, int64_t until);

#endif

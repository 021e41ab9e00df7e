/* Has a challenger done better, and is it more than luck? A test that may be looked at every day, for ever.
 *
 * d_1, d_2, … are differences of daily returns. The null hypothesis: each is as likely above zero as below
 * it, given all that was before and how large it is (it is symmetric about 0). Each is taken in units of what
 * the differences so far have been, x_i = d_i / sqrt((d_1² + … + d_i²) / i): that depends on sizes alone, so
 * x_i is symmetric as well, and one wild day counts little. Then, for each lambda, exp(lambda S - lambda² V /
 * 2),  S = x_1 + … + x_n,  V = x_1² + … + x_n² is a nonnegative supermartingale that begins at 1, since
 * cosh(a) <= exp(a² / 2) (de la Peña, "A general class of exponential inequalities for martingales and
 * ratios", 1999). So is its mean over lambda > 0, distributed as the absolute value of a normal of deviation
 * T: with A = V + 1 / T² e = 2 / (T sqrt(A)) · exp(S² / (2 A)) · Phi(S / sqrt(A)). By Ville's inequality a
 * policy that is no better reaches e >= 1 / alpha on any day, ever, with a probability of at most alpha.
 * Pure. */
#ifndef DAEMON_ARENA_EVIDENCE_H
#define DAEMON_ARENA_EVIDENCE_H

#include "daemon/arena/days.h"

/* T, in differences' own deviations: it is quickest for a Sharpe ratio of about 6 a year. Smaller finds
 * smaller edges, later. */
#define ARENA_EVIDENCE_SPREAD 0.3

struct arena_evidence {
    int days;             /* differences, those of 0 among them */
    int n;                /* that are not 0 */
    double squares;       /* of the differences */
    double sum, variance; /* S, V */
};

void arena_evidence_add(struct arena_evidence *evidence, double difference);
double arena_evidence_value(const struct arena_evidence *evidence); /* e; 1 before the first difference */

/* Of one account's days less another's (NULL: less nothing, cash), the days after `after` and before `until`
 * (since 1970) on which both have a return. */
struct arena_evidence arena_evidence_of(const struct arena_days *days, const struct arena_days *against,
                                        int64_t after, int64_t until);

#endif

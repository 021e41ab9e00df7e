#include "daemon/arena/evidence.h"

#include <math.h>

void arena_evidence_add(struct arena_evidence *evidence, double difference)
{
    evidence->days++;
    if (difference == 0)
        return;
    if (evidence->n >= ARENA_EVIDENCE_BEGIN) {
        double y = difference / sqrt(evidence->squares / evidence->n);
        evidence->wealth += log1p(ARENA_EVIDENCE_BET * fmax(y, -ARENA_EVIDENCE_LOSS));
    }
    evidence->n++;
    evidence->squares += difference * difference;
    double x = difference / sqrt(evidence->squares / evidence->n);
    evidence->sum += x;
    evidence->variance += x * x;
}

/* log(exp(z² / 2) Phi(z)); far below 0 by the series of Mills' ratio, as Phi itself ends at -38. */
static double log_tail(double z)
{
    if (z > -30)
        return 0.5 * z * z + log(0.5 * erfc(-z / sqrt(2)));
    double r = 1 / (z * z);
    return log1p(-r * (1 - 3 * r * (1 - 5 * r * (1 - 7 * r)))) - log(-z) - 0.5 * log(2 * M_PI);
}

double arena_evidence_symmetric(const struct arena_evidence *evidence)
{
    double a = evidence->variance + 1 / (ARENA_EVIDENCE_SPREAD * ARENA_EVIDENCE_SPREAD);
    return log(2 / (ARENA_EVIDENCE_SPREAD * sqrt(a))) + log_tail(evidence->sum / sqrt(a));
}

double arena_evidence_bounded(const struct arena_evidence *evidence)
{
    return evidence->wealth;
}

double arena_evidence_value(const struct arena_evidence *evidence)
{
    double least = fmin(arena_evidence_symmetric(evidence), arena_evidence_bounded(evidence));
    return fmin(exp(least), 1e300);
}

struct arena_evidence arena_evidence_of(const struct arena_days *days, const struct arena_days *against,
                                        int64_t after, int64_t until)
{
    struct arena_evidence evidence = {0};
    int64_t from = after + 1 > days->first ? after + 1 : days->first;
    int64_t end = days->first + (int64_t)days->n;
    for (int64_t day = from; day < until && day < end; day++) {
        double other = against ? arena_days_return(against, day) : 0;
        double difference = arena_days_return(days, day) - other;
        if (isfinite(difference))
            arena_evidence_add(&evidence, difference);
    }
    return evidence;
}

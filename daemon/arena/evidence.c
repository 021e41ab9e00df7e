#include "daemon/arena/evidence.h"

#include <math.h>

void arena_evidence_add(struct arena_evidence *evidence, double difference)
{
    evidence->days++;
    if (difference == 0)
        return;
    evidence->n++;
    evidence->squares += difference * difference;
    double x = difference / sqrt(evidence->squares / evidence->n);
    evidence->sum += x;
    evidence->variance += x * x;
}

double arena_evidence_value(const struct arena_evidence *evidence)
{
    double a = evidence->variance + 1 / (ARENA_EVIDENCE_SPREAD * ARENA_EVIDENCE_SPREAD);
    double z = evidence->sum / sqrt(a), phi = 0.5 * erfc(-z / sqrt(2));
    return 2 / (ARENA_EVIDENCE_SPREAD * sqrt(a)) * exp(0.5 * z * z) * phi;
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

/* What a mind remembers, taken down by its visit() and given to another of the same policy. */
#ifndef TESTS_STRATEGY_MIND_TAPE_H
#define TESTS_STRATEGY_MIND_TAPE_H

#include <string.h>

#include "indicators_gpu/indicators.h"
#include "strategy/policy/policy.h"
#include "tests/check.h"

struct mind_tape {
    double numbers[400000];
    size_t n, at;
    bool reading;
};

static inline void mind_tape_number(void *ctx, double *value)
{
    struct mind_tape *tape = ctx;
    if (tape->reading)
        *value = tape->numbers[tape->at++];
    else
        tape->numbers[tape->n++] = *value;
}

static inline void mind_tape_count(void *ctx, uint64_t *value, uint64_t most)
{
    double number;
    memcpy(&number, value, sizeof number);
    mind_tape_number(ctx, &number);
    memcpy(value, &number, sizeof number);
    CHECK(*value <= most);
}

/* Takes down anew, or reads what was taken down. */
static inline struct indicator_stream_fields mind_tape_fields(struct mind_tape *tape, bool reading)
{
    tape->reading = reading;
    if (!reading)
        tape->n = 0;
    tape->at = 0;
    return (struct indicator_stream_fields){tape, mind_tape_number, mind_tape_count};
}

/* Into another mind that was just made; the first is gone. */
static inline struct policy_mind *mind_moved(const struct policy *policy, struct policy_mind *mind)
{
    static struct mind_tape tape;
    struct indicator_stream_fields fields = mind_tape_fields(&tape, false);
    struct policy_mind *other;
    policy->mind->visit(mind, &fields);
    policy->mind->destroy(mind);
    CHECK_INT(policy->mind->create(policy, &other), 0);
    fields = mind_tape_fields(&tape, true);
    policy->mind->visit(other, &fields);
    CHECK_INT(tape.at, tape.n);
    return other;
}

#endif
